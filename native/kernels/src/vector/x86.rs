//! Registers of 128 bits with SSE4.2, of 256 bits with AVX2 and of 512 bits with AVX-512.
//!
//! Up to AVX2 a comparison gives a register. Up to four such registers are packed to bytes before they become bits, which takes
//! nine instructions for four registers instead of fourteen. With AVX-512 a comparison gives one bit per lane.

use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Lanes, Mask, Register};
use std::arch::asm;
use std::arch::x86_64::*;
use std::convert::identity;

/// The words of registers of two and of four parts whose blocks are exchanged. The compiler may not know them: it would join the
/// permutation with the shuffles around it, and has no single instruction for what comes of it (`argmax` of rows of 16 8-bit integers
/// took 1.3 times as long with AVX-512: Xeon, family 6, model 167).
static EXCHANGED_BLOCKS_OF_TWO: [u32; 8] = [0, 1, 4, 5, 2, 3, 6, 7];
static EXCHANGED_BLOCKS_OF_FOUR: [u32; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];

/// Where a table is, which hides what it holds from the compiler.
#[inline(always)]
fn hidden<T>(table: &'static T) -> *const T {
    let mut address: *const T = table;
    // SAFETY: no instruction is emitted.
    #[allow(clippy::pointers_in_nomem_asm_block, reason = "nothing is read")]
    unsafe {
        asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags));
    }
    address
}

macro_rules! register {
    ($register:ty, $bytes:literal $hits:expr, $load:ident $store:ident $xor:ident $shuffle:ident,
     $max_u16:ident $max_i16:ident $max_i32:ident,
     [$splat1:ident $splat2:ident $splat4:ident $splat8:ident],
     [$low1:ident $high1:ident $low2:ident $high2:ident $low4:ident $high4:ident $low8:ident $high8:ident],
     |$from:ident, $stride:ident| $parts:expr, |$table:ident| $wide:expr, |$self:ident| $exchange:expr,
     $exchange_blocks:expr, $complement:expr
     $(, |$one:ident, $next:ident| $even:expr, $odd:expr)?
     $(, under |$mask:ident, $other:ident| [$under1:expr, $under2:expr, $under4:expr, $under8:expr])?) => {
        impl Register for $register {
            const BYTES: usize = $bytes;
            const EQ_BITS: [(usize, usize); 4] = $hits;
            #[inline(always)]
            unsafe fn load_raw(from: *const u8) -> Self {
                $load(from.cast())
            }
            #[inline(always)]
            unsafe fn load_parts_raw($from: *const u8, $stride: isize) -> Self {
                $parts
            }
            #[inline(always)]
            unsafe fn store_raw(self, to: *mut u8) {
                $store(to.cast(), self)
            }
            #[inline(always)]
            unsafe fn xor(self, other: Self) -> Self {
                $xor(self, other)
            }
            #[inline(always)]
            unsafe fn splat<const SIZE: usize>(bits: i64) -> Self {
                match SIZE {
                    1 => $splat1(bits as i8),
                    2 => $splat2(bits as i16),
                    4 => $splat4(bits as i32),
                    _ => $splat8(bits),
                }
            }
            #[inline(always)]
            unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
                match SIZE {
                    1 => ($low1(self, other), $high1(self, other)),
                    2 => ($low2(self, other), $high2(self, other)),
                    4 => ($low4(self, other), $high4(self, other)),
                    _ => ($low8(self, other), $high8(self, other)),
                }
            }
            #[inline(always)]
            unsafe fn shuffle(self, table: &[u8; 16]) -> Self {
                let $table = _mm_loadu_si128(table.as_ptr().cast());
                $shuffle(self, $wide)
            }
            #[inline(always)]
            unsafe fn exchange<const PARTS: usize>(self) -> Self {
                let $self = self;
                $exchange
            }
            #[inline(always)]
            unsafe fn exchange_blocks(self) -> Self {
                let $self = self;
                $exchange_blocks
            }
            #[inline(always)]
            unsafe fn complement(self) -> Self {
                let $self = self;
                $complement
            }
            #[inline(always)]
            unsafe fn max_u16(self, other: Self) -> Self {
                $max_u16(self, other)
            }
            #[inline(always)]
            unsafe fn max_pairs<const SIZE: usize>(self, other: Self) -> Self {
                match SIZE {
                    1 => $max_i16(self, other),
                    _ => $max_i32(self, other),
                }
            }
            $(#[inline(always)]
            unsafe fn deal_parts(self, $next: Self) -> (Self, Self) {
                let $one = self;
                ($even, $odd)
            })?
            $(#[inline(always)]
            unsafe fn select_by_bytes<const SIZE: usize>(self, $mask: *const u8, $other: Self) -> Self {
                let $self = self;
                match SIZE {
                    1 => $under1,
                    2 => $under2,
                    4 => $under4,
                    _ => $under8,
                }
            })?
        }
    };
}

register! { __m128i, 16 [(1, 4), (1, 4), (1, 4), (2, 4)],
_mm_loadu_si128 _mm_storeu_si128 _mm_xor_si128 _mm_shuffle_epi8,
_mm_max_epu16 _mm_max_epi16 _mm_max_epi32,
[_mm_set1_epi8 _mm_set1_epi16 _mm_set1_epi32 _mm_set1_epi64x],
[_mm_unpacklo_epi8 _mm_unpackhi_epi8 _mm_unpacklo_epi16 _mm_unpackhi_epi16
 _mm_unpacklo_epi32 _mm_unpackhi_epi32 _mm_unpacklo_epi64 _mm_unpackhi_epi64],
|from, _stride| _mm_loadu_si128(from.cast()), |table| table, |register| register, register,
_mm_sign_epi16(_mm_and_si128(register, _mm_set1_epi16(i16::MAX)), register) }

register! { __m256i, 32 [(1, 2), (1, 4), (1, 4), (2, 4)],
_mm256_loadu_si256 _mm256_storeu_si256 _mm256_xor_si256 _mm256_shuffle_epi8,
_mm256_max_epu16 _mm256_max_epi16 _mm256_max_epi32,
[_mm256_set1_epi8 _mm256_set1_epi16 _mm256_set1_epi32 _mm256_set1_epi64x],
[_mm256_unpacklo_epi8 _mm256_unpackhi_epi8 _mm256_unpacklo_epi16 _mm256_unpackhi_epi16
 _mm256_unpacklo_epi32 _mm256_unpackhi_epi32 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64],
|from, stride| _mm256_loadu2_m128i(from.wrapping_offset(stride).cast(), from.cast()),
|table| _mm256_broadcastsi128_si256(table), |register| _mm256_permute4x64_epi64::<0b01_00_11_10>(register),
_mm256_permutevar8x32_epi32(register, _mm256_loadu_si256(hidden(&EXCHANGED_BLOCKS_OF_TWO).cast())),
_mm256_sign_epi16(_mm256_and_si256(register, _mm256_set1_epi16(i16::MAX)), register),
|register, next| _mm256_permute2x128_si256::<0x20>(register, next), _mm256_permute2x128_si256::<0x31>(register, next),
under |mask, other| [
    _mm256_blendv_epi8(register, other, _mm256_cmpeq_epi8(_mm256_loadu_si256(mask.cast()), _mm256_setzero_si256())),
    _mm256_blendv_epi8(register, other, _mm256_cvtepi8_epi16(zeros(_mm_loadu_si128(mask.cast())))),
    _mm256_blendv_epi8(register, other, _mm256_cvtepi8_epi32(zeros(_mm_loadl_epi64(mask.cast())))),
    _mm256_blendv_epi8(register, other, _mm256_cvtepi8_epi64(zeros(_mm_loadu_si32(mask))))
] }

/// Which bytes are 0.
#[inline(always)]
unsafe fn zeros(bytes: __m128i) -> __m128i {
    _mm_cmpeq_epi8(bytes, _mm_setzero_si128())
}

register! { __m512i, 64 [(1, 1), (1, 2), (1, 4), (1, 8)],
_mm512_loadu_si512 _mm512_storeu_si512 _mm512_xor_si512 _mm512_shuffle_epi8,
_mm512_max_epu16 _mm512_max_epi16 _mm512_max_epi32,
[_mm512_set1_epi8 _mm512_set1_epi16 _mm512_set1_epi32 _mm512_set1_epi64],
[_mm512_unpacklo_epi8 _mm512_unpackhi_epi8 _mm512_unpacklo_epi16 _mm512_unpackhi_epi16
 _mm512_unpacklo_epi32 _mm512_unpackhi_epi32 _mm512_unpacklo_epi64 _mm512_unpackhi_epi64],
|from, stride| {
    let part = |at: isize| from.wrapping_offset(at * stride).cast::<__m128i>();
    let pair = |at: isize| _mm256_loadu2_m128i(part(at + 1), part(at));
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(pair(0)), pair(2))
},
|table| _mm512_broadcast_i32x4(table),
|register| if PARTS == 1 {
    _mm512_shuffle_i64x2::<0b10_11_00_01>(register, register)
} else {
    _mm512_shuffle_i64x2::<0b01_00_11_10>(register, register)
},
_mm512_permutexvar_epi32(_mm512_loadu_si512(hidden(&EXCHANGED_BLOCKS_OF_FOUR).cast()), register),
_mm512_mask_sub_epi16(register, _mm512_movepi16_mask(register), _mm512_set1_epi16(i16::MIN), register),
|register, next| _mm512_shuffle_i64x2::<0b10_00_10_00>(register, next),
_mm512_shuffle_i64x2::<0b11_01_11_01>(register, next),
under |mask, other| [
    {
        let bytes = _mm512_loadu_si512(mask.cast());
        _mm512_mask_blend_epi8(_mm512_test_epi8_mask(bytes, bytes), other, register)
    },
    {
        let bytes = _mm256_loadu_si256(mask.cast());
        _mm512_mask_blend_epi16(_mm256_test_epi8_mask(bytes, bytes), other, register)
    },
    {
        let bytes = _mm_loadu_si128(mask.cast());
        _mm512_mask_blend_epi32(_mm_test_epi8_mask(bytes, bytes), other, register)
    },
    {
        let bytes = _mm_loadl_epi64(mask.cast());
        _mm512_mask_blend_epi64(_mm_test_epi8_mask(bytes, bytes) as u8, other, register)
    }
] }

/// Implements [`Mask`] for registers: up to four of them are packed to bytes before they become bits.
macro_rules! masks {
    ($register:ty, $zero:ident $or:ident $and_not:ident $blend:ident, |$bytes:ident| $bits:expr,
     |$at:ident, $count:ident| $word2:expr, $word4:expr) => {
        impl Mask<Self> for $register {
            #[inline(always)]
            unsafe fn none() -> Self {
                $zero()
            }
            #[inline(always)]
            unsafe fn or(self, other: Self) -> Self {
                $or(self, other)
            }
            #[inline(always)]
            unsafe fn without(self, other: Self) -> Self {
                $and_not(other, self)
            }
            #[inline(always)]
            unsafe fn any(self) -> bool {
                let $bytes = self;
                $bits != 0
            }
            #[inline(always)]
            unsafe fn select(self, yes: Self, no: Self) -> Self {
                $blend(no, yes, self)
            }
            #[inline(always)]
            unsafe fn word<const SIZE: usize>($count: usize, mask: impl Fn(usize) -> Self) -> u64 {
                let bits = |$bytes| u64::from($bits);
                let $at = |at: usize| if at < $count { mask(at) } else { $zero() };
                // Wider lanes are packed first, each to a byte that is all ones or all zeros: then one instruction takes a bit of each.
                match SIZE {
                    1 => {
                        let mut word = 0;
                        for at in 0..$count {
                            word |= bits(mask(at)) << (at * Self::BYTES);
                        }
                        word
                    }
                    2 => {
                        let two = |at: usize| {
                            let $at = |next: usize| $at(at + next);
                            bits($word2)
                        };
                        two(0) | if $count > 2 { two(2) << Self::BYTES } else { 0 }
                    }
                    _ => bits($word4),
                }
            }
        }
    };
}

masks! { __m128i, _mm_setzero_si128 _mm_or_si128 _mm_andnot_si128 _mm_blendv_epi8, |bytes| _mm_movemask_epi8(bytes) as u16,
|at, count| _mm_packs_epi16(at(0), at(1)),
{
    let far = if count > 2 { _mm_packs_epi32(at(2), at(3)) } else { _mm_setzero_si128() };
    _mm_packs_epi16(_mm_packs_epi32(at(0), at(1)), far)
} }

// Packs work within each half of a register: the permutations restore the order of the lanes.
masks! { __m256i, _mm256_setzero_si256 _mm256_or_si256 _mm256_andnot_si256 _mm256_blendv_epi8,
|bytes| _mm256_movemask_epi8(bytes) as u32,
|at, count| _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(at(0), at(1))),
{
    let near = _mm256_packs_epi32(at(0), at(1));
    let far = _mm256_packs_epi32(at(2), at(3));
    _mm256_permutevar8x32_epi32(_mm256_packs_epi16(near, far), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7))
} }

/// Implements [`Mask`] for the bits that a comparison gives with AVX-512.
macro_rules! bits {
    ($($mask:ty, $blend:ident;)*) => {$(
        impl Mask<__m512i> for $mask {
            #[inline(always)]
            unsafe fn none() -> Self {
                0
            }
            #[inline(always)]
            unsafe fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            unsafe fn without(self, other: Self) -> Self {
                self & !other
            }
            #[inline(always)]
            unsafe fn any(self) -> bool {
                self != 0
            }
            #[inline(always)]
            unsafe fn select(self, yes: __m512i, no: __m512i) -> __m512i {
                $blend(self, no, yes)
            }
            #[inline(always)]
            unsafe fn word<const SIZE: usize>(count: usize, mask: impl Fn(usize) -> Self) -> u64 {
                // One shift after the other: independent shifts would make the compiler move the bits into a vector register.
                let mut word = u64::from(mask(count - 1));
                for at in (0..count - 1).rev() {
                    word = word.wrapping_shl(Self::BITS) | u64::from(mask(at));
                }
                // Opaque: otherwise the compiler also joins the words of two rows in a vector register, which takes up to 1.3 times
                // as long (rows of 64 64-bit elements, Xeon, family 6, model 207). On an EPYC of family 26, model 2, argmax of rows of
                // 48 64-bit elements takes 1.14 to 1.2 times as long without this, of 128 16-bit integers 1.14 times, and of most
                // others 0.95 to 1.09 times.
                asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags));
                word
            }
        }
    )*};
}

bits! {
    u64, _mm512_mask_blend_epi8;
    u32, _mm512_mask_blend_epi16;
    u16, _mm512_mask_blend_epi32;
    u8, _mm512_mask_blend_epi64;
}

lanes! { __m128i:
    Int8 Self, identity identity identity, _mm_max_epi8, _mm_min_epi8, _mm_cmpgt_epi8, _mm_cmpeq_epi8;
    Int16 Self, identity identity identity, _mm_max_epi16, _mm_min_epi16, _mm_cmpgt_epi16, _mm_cmpeq_epi16;
    Int32 Self, identity identity identity, _mm_max_epi32, _mm_min_epi32, _mm_cmpgt_epi32, _mm_cmpeq_epi32;
    Int64 Self, identity identity identity, |a, b| _mm_blendv_epi8(b, a, _mm_cmpgt_epi64(a, b)),
        |a, b| _mm_blendv_epi8(b, a, _mm_cmpgt_epi64(b, a)),
        _mm_cmpgt_epi64, _mm_cmpeq_epi64;
    Float16 Self, identity identity identity, _mm_max_epi16, _mm_min_epi16, _mm_cmpgt_epi16, _mm_cmpeq_epi16;
    Float32 Self, _mm_castsi128_ps _mm_castps_si128 _mm_castps_si128, _mm_max_ps, _mm_min_ps,
        _mm_cmpgt_ps, _mm_cmpeq_ps, _mm_cmpunord_ps;
    Float64 Self, _mm_castsi128_pd _mm_castpd_si128 _mm_castpd_si128, _mm_max_pd, _mm_min_pd,
        _mm_cmpgt_pd, _mm_cmpeq_pd, _mm_cmpunord_pd;
}

lanes! { __m256i:
    Int8 Self, identity identity identity, _mm256_max_epi8, _mm256_min_epi8, _mm256_cmpgt_epi8, _mm256_cmpeq_epi8;
    Int16 Self, identity identity identity, _mm256_max_epi16, _mm256_min_epi16, _mm256_cmpgt_epi16, _mm256_cmpeq_epi16;
    Int32 Self, identity identity identity, _mm256_max_epi32, _mm256_min_epi32, _mm256_cmpgt_epi32, _mm256_cmpeq_epi32;
    Int64 Self, identity identity identity, |a, b| _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)),
        |a, b| _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(b, a)),
        _mm256_cmpgt_epi64, _mm256_cmpeq_epi64;
    Float16 Self, identity identity identity, _mm256_max_epi16, _mm256_min_epi16,
        _mm256_cmpgt_epi16, _mm256_cmpeq_epi16;
    Float32 Self, _mm256_castsi256_ps _mm256_castps_si256 _mm256_castps_si256, _mm256_max_ps, _mm256_min_ps,
        _mm256_cmp_ps::<_CMP_GT_OQ>, _mm256_cmp_ps::<_CMP_EQ_OQ>, _mm256_cmp_ps::<_CMP_UNORD_Q>;
    Float64 Self, _mm256_castsi256_pd _mm256_castpd_si256 _mm256_castpd_si256, _mm256_max_pd, _mm256_min_pd,
        _mm256_cmp_pd::<_CMP_GT_OQ>, _mm256_cmp_pd::<_CMP_EQ_OQ>, _mm256_cmp_pd::<_CMP_UNORD_Q>;
}

lanes! { __m512i:
    Int8 u64, identity identity identity, _mm512_max_epi8, _mm512_min_epi8,
        _mm512_cmpgt_epi8_mask, _mm512_cmpeq_epi8_mask;
    Int16 u32, identity identity identity, _mm512_max_epi16, _mm512_min_epi16,
        _mm512_cmpgt_epi16_mask, _mm512_cmpeq_epi16_mask;
    Int32 u16, identity identity identity, _mm512_max_epi32, _mm512_min_epi32,
        _mm512_cmpgt_epi32_mask, _mm512_cmpeq_epi32_mask;
    Int64 u8, identity identity identity, _mm512_max_epi64, _mm512_min_epi64,
        _mm512_cmpgt_epi64_mask, _mm512_cmpeq_epi64_mask;
    Float16 u32, identity identity identity, _mm512_max_epi16, _mm512_min_epi16,
        _mm512_cmpgt_epi16_mask, _mm512_cmpeq_epi16_mask;
    Float32 u16, _mm512_castsi512_ps _mm512_castps_si512 identity, _mm512_max_ps, _mm512_min_ps,
        _mm512_cmp_ps_mask::<_CMP_GT_OQ>, _mm512_cmp_ps_mask::<_CMP_EQ_OQ>, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>;
    Float64 u8, _mm512_castsi512_pd _mm512_castpd_si512 identity, _mm512_max_pd, _mm512_min_pd,
        _mm512_cmp_pd_mask::<_CMP_GT_OQ>, _mm512_cmp_pd_mask::<_CMP_EQ_OQ>, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>;
}
