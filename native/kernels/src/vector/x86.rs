//! Registers of 128 bits with SSE4.2, of 256 bits with AVX2 and of 512 bits with AVX-512.
//!
//! Up to AVX2 a comparison gives a register. Those of up to four are packed to bytes before they become bits, which takes nine
//! instructions for four registers in place of fourteen. With AVX-512 a comparison gives a bit for each lane.

use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Kind, Lanes, Register};
use std::arch::x86_64::*;

macro_rules! register {
    ($register:ty, $bytes:literal, $load:ident $store:ident $xor:ident $shuffle:ident,
     [$splat1:ident $splat2:ident $splat4:ident $splat8:ident],
     [$low1:ident $high1:ident $low2:ident $high2:ident $low4:ident $high4:ident $low8:ident $high8:ident],
     |$from:ident, $stride:ident| $parts:expr, |$table:ident| $wide:expr, |$self:ident| $exchange:expr) => {
        impl Register for $register {
            const BYTES: usize = $bytes;
            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                $load(from.cast())
            }
            #[inline(always)]
            unsafe fn load_parts($from: *const u8, $stride: isize) -> Self {
                $parts
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u8) {
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
        }
    };
}

register! { __m128i, 16, _mm_loadu_si128 _mm_storeu_si128 _mm_xor_si128 _mm_shuffle_epi8,
[_mm_set1_epi8 _mm_set1_epi16 _mm_set1_epi32 _mm_set1_epi64x],
[_mm_unpacklo_epi8 _mm_unpackhi_epi8 _mm_unpacklo_epi16 _mm_unpackhi_epi16
 _mm_unpacklo_epi32 _mm_unpackhi_epi32 _mm_unpacklo_epi64 _mm_unpackhi_epi64],
|from, _stride| _mm_loadu_si128(from.cast()), |table| table, |register| register }
register! { __m256i, 32, _mm256_loadu_si256 _mm256_storeu_si256 _mm256_xor_si256 _mm256_shuffle_epi8,
[_mm256_set1_epi8 _mm256_set1_epi16 _mm256_set1_epi32 _mm256_set1_epi64x],
[_mm256_unpacklo_epi8 _mm256_unpackhi_epi8 _mm256_unpacklo_epi16 _mm256_unpackhi_epi16
 _mm256_unpacklo_epi32 _mm256_unpackhi_epi32 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64],
|from, stride| _mm256_loadu2_m128i(from.wrapping_offset(stride).cast(), from.cast()),
|table| _mm256_broadcastsi128_si256(table), |register| _mm256_permute4x64_epi64::<0b01_00_11_10>(register) }

register! { __m512i, 64, _mm512_loadu_si512 _mm512_storeu_si512 _mm512_xor_si512 _mm512_shuffle_epi8,
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
} }

/// Comparisons as bits.
trait Packed: Sized {
    /// One bit for each lane of the first `count` of four comparisons, two for lanes of 8 bytes; others of those bits are unknown.
    unsafe fn packed<const SIZE: usize>(comparisons: [Self; 4], count: usize) -> u64;
}

impl Packed for __m128i {
    #[inline(always)]
    unsafe fn packed<const SIZE: usize>([a, b, c, d]: [Self; 4], count: usize) -> u64 {
        let bits = |bytes| u64::from(_mm_movemask_epi8(bytes) as u16);
        let halves = |a, b| bits(_mm_packs_epi16(a, b));
        let none = _mm_setzero_si128();
        let words = match SIZE {
            1 | 2 => none,
            _ => _mm_packs_epi32(a, if count > 1 { b } else { none }),
        };
        match (SIZE, count) {
            (1, 1) => bits(a),
            (1, 2) => bits(a) | bits(b) << 16,
            (1, 3) => bits(a) | bits(b) << 16 | bits(c) << 32,
            (1, _) => bits(a) | bits(b) << 16 | (bits(c) | bits(d) << 16) << 32,
            (2, 1) => halves(a, none),
            (2, 2) => halves(a, b),
            (2, 3) => halves(a, b) | halves(c, none) << 16,
            (2, _) => halves(a, b) | halves(c, d) << 16,
            (_, 1 | 2) => halves(words, none),
            (_, 3) => halves(words, _mm_packs_epi32(c, none)),
            _ => halves(words, _mm_packs_epi32(c, d)),
        }
    }
}

impl Packed for __m256i {
    #[inline(always)]
    unsafe fn packed<const SIZE: usize>([a, b, c, d]: [Self; 4], count: usize) -> u64 {
        let bits = |bytes| u64::from(_mm256_movemask_epi8(bytes) as u32);
        let none = _mm256_setzero_si256();
        // Packs work in each half of a register: what belongs together is brought together again.
        let halves = |a, b| bits(_mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(a, b)));
        let words = |a, b, c, d| {
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            let packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
            bits(_mm256_permutevar8x32_epi32(packed, order))
        };
        match (SIZE, count) {
            (1, 1) => bits(a),
            (1, _) => bits(a) | bits(b) << 32,
            (2, 1) => halves(a, none),
            (2, 2) => halves(a, b),
            (2, 3) => halves(a, b) | halves(c, none) << 32,
            (2, _) => halves(a, b) | halves(c, d) << 32,
            (_, 1) => words(a, none, none, none),
            (_, 2) => words(a, b, none, none),
            (_, 3) => words(a, b, c, none),
            _ => words(a, b, c, d),
        }
    }
}

/// Which lanes of a group of registers equal those sought.
macro_rules! hits {
    ($kind:ty, |$a:ident, $b:ident| $equal:expr) => {
        #[inline(always)]
        unsafe fn hits(registers: &[Self], sought: Self) -> u64 {
            let end = registers.len() - 1;
            let compared = |at: usize| {
                let ($a, $b) = (registers[at.min(end)], sought);
                $equal
            };
            let all = [compared(0), compared(1), compared(2), compared(3)];
            <Self as Packed>::packed::<{ <$kind as Kind>::SIZE }>(all, registers.len())
        }
        #[inline(always)]
        unsafe fn meets(self, other: Self) -> bool {
            let ($a, $b) = (self, other);
            <Self as Any>::any($equal)
        }
    };
}

/// Whether a comparison holds in any lane.
trait Any {
    unsafe fn any(self) -> bool;
}

impl Any for __m128i {
    #[inline(always)]
    unsafe fn any(self) -> bool {
        _mm_movemask_epi8(self) != 0
    }
}

impl Any for __m256i {
    #[inline(always)]
    unsafe fn any(self) -> bool {
        _mm256_movemask_epi8(self) != 0
    }
}

/// Bits of a lane, and registers of a group, of lanes of so many bytes in registers of so many.
const fn bits(size: usize) -> usize {
    if size == 8 { 2 } else { 1 }
}
const fn group(size: usize, bytes: usize) -> usize {
    if size == 1 && bytes == 32 { 2 } else { 4 }
}

macro_rules! integers {
    ($($kind:ident $register:ty, |$a:ident, $b:ident| $larger:expr, $above:ident $equal:ident $blend:ident;)*) => {$(
        impl Lanes<$kind> for $register {
            const BITS: usize = bits(<$kind as Kind>::SIZE);
            const GROUP: usize = group(<$kind as Kind>::SIZE, <$register as Register>::BYTES);
            type Seen = ();
            #[inline(always)]
            unsafe fn larger(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $larger
            }
            #[inline(always)]
            unsafe fn take(self, number: Self, best: &mut Self, place: &mut Self) {
                let above = $above(self, *best);
                *best = Lanes::<$kind>::larger(self, *best);
                *place = $blend(*place, number, above);
            }
            hits! { $kind, |a, b| $equal(a, b) }
            #[inline(always)]
            unsafe fn unseen() {}
            #[inline(always)]
            unsafe fn see(_: &mut (), _: Self, _: Self) {}
            #[inline(always)]
            unsafe fn saw_nan(_: (), _: Self, _: Self) -> bool {
                false
            }
        }
    )*};
}

integers! {
    Int8 __m128i, |a, b| _mm_max_epi8(a, b), _mm_cmpgt_epi8 _mm_cmpeq_epi8 _mm_blendv_epi8;
    Int16 __m128i, |a, b| _mm_max_epi16(a, b), _mm_cmpgt_epi16 _mm_cmpeq_epi16 _mm_blendv_epi8;
    Int32 __m128i, |a, b| _mm_max_epi32(a, b), _mm_cmpgt_epi32 _mm_cmpeq_epi32 _mm_blendv_epi8;
    Int64 __m128i, |a, b| _mm_blendv_epi8(b, a, _mm_cmpgt_epi64(a, b)), _mm_cmpgt_epi64 _mm_cmpeq_epi64 _mm_blendv_epi8;
    Int8 __m256i, |a, b| _mm256_max_epi8(a, b), _mm256_cmpgt_epi8 _mm256_cmpeq_epi8 _mm256_blendv_epi8;
    Int16 __m256i, |a, b| _mm256_max_epi16(a, b), _mm256_cmpgt_epi16 _mm256_cmpeq_epi16 _mm256_blendv_epi8;
    Int32 __m256i, |a, b| _mm256_max_epi32(a, b), _mm256_cmpgt_epi32 _mm256_cmpeq_epi32 _mm256_blendv_epi8;
    Int64 __m256i, |a, b| _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b)),
        _mm256_cmpgt_epi64 _mm256_cmpeq_epi64 _mm256_blendv_epi8;
}

/// No instruction compares these floats: sign and magnitude become two's complement, where both zeros are 0 and NaN lies beyond
/// the infinities. So the smallest and the largest key say whether there was NaN.
macro_rules! floats_of_16_bits {
    ($($register:ty, $larger:ident $smaller:ident $above:ident $equal:ident $blend:ident $and:ident $sign:ident $abs:ident
       $set:ident;)*) => {$(
        impl Lanes<Float16> for $register {
            const BITS: usize = bits(2);
            const GROUP: usize = group(2, <$register as Register>::BYTES);
            type Seen = Self;
            #[inline(always)]
            unsafe fn lanes(self, flip: Self) -> Self {
                let bits = self.xor(flip);
                $sign($and(bits, $set(i16::MAX)), bits)
            }
            #[inline(always)]
            unsafe fn larger(self, other: Self) -> Self {
                $larger(self, other)
            }
            #[inline(always)]
            unsafe fn take(self, number: Self, best: &mut Self, place: &mut Self) {
                let above = $above(self, *best);
                *best = $larger(self, *best);
                *place = $blend(*place, number, above);
            }
            hits! { Float16, |a, b| $equal(a, b) }
            #[inline(always)]
            unsafe fn unseen() -> Self {
                $set(0)
            }
            #[inline(always)]
            unsafe fn see(seen: &mut Self, one: Self, other: Self) {
                *seen = $smaller($smaller(one, other), *seen);
            }
            #[inline(always)]
            unsafe fn saw_nan(seen: Self, best: Self, infinity: Self) -> bool {
                $above($larger($abs(seen), $abs(best)), infinity).any()
            }
        }
    )*};
}

floats_of_16_bits! {
    __m128i, _mm_max_epi16 _mm_min_epi16 _mm_cmpgt_epi16 _mm_cmpeq_epi16 _mm_blendv_epi8 _mm_and_si128 _mm_sign_epi16
        _mm_abs_epi16 _mm_set1_epi16;
    __m256i, _mm256_max_epi16 _mm256_min_epi16 _mm256_cmpgt_epi16 _mm256_cmpeq_epi16 _mm256_blendv_epi8 _mm256_and_si256
        _mm256_sign_epi16 _mm256_abs_epi16 _mm256_set1_epi16;
}

macro_rules! floats {
    ($($kind:ident $register:ty, $float:ident $bits:ident $max:ident $or:ident $zero:ident $blend:ident,
       |$a:ident, $b:ident| $above:expr, $equal:expr, $unordered:expr;)*) => {$(
        impl Lanes<$kind> for $register {
            const BITS: usize = bits(<$kind as Kind>::SIZE);
            const GROUP: usize = 4;
            type Seen = Self;
            #[inline(always)]
            unsafe fn larger(self, other: Self) -> Self {
                $bits($max($float(self), $float(other)))
            }
            #[inline(always)]
            unsafe fn take(self, number: Self, best: &mut Self, place: &mut Self) {
                let ($a, $b) = ($float(self), $float(*best));
                let above = $above;
                // Of two zeros the instruction gives the second.
                *best = $bits($max($a, $b));
                *place = $bits($blend($float(*place), $float(number), above));
            }
            hits! { $kind, |a, b| {
                let ($a, $b) = ($float(a), $float(b));
                $bits($equal)
            } }
            #[inline(always)]
            unsafe fn unseen() -> Self {
                $zero()
            }
            #[inline(always)]
            unsafe fn see(seen: &mut Self, one: Self, other: Self) {
                let ($a, $b) = ($float(one), $float(other));
                *seen = $or(*seen, $bits($unordered));
            }
            #[inline(always)]
            unsafe fn saw_nan(seen: Self, _: Self, _: Self) -> bool {
                seen.any()
            }
        }
    )*};
}

floats! {
    Float32 __m128i, _mm_castsi128_ps _mm_castps_si128 _mm_max_ps _mm_or_si128 _mm_setzero_si128 _mm_blendv_ps,
        |a, b| _mm_cmpgt_ps(a, b), _mm_cmpeq_ps(a, b), _mm_cmpunord_ps(a, b);
    Float64 __m128i, _mm_castsi128_pd _mm_castpd_si128 _mm_max_pd _mm_or_si128 _mm_setzero_si128 _mm_blendv_pd,
        |a, b| _mm_cmpgt_pd(a, b), _mm_cmpeq_pd(a, b), _mm_cmpunord_pd(a, b);
    Float32 __m256i, _mm256_castsi256_ps _mm256_castps_si256 _mm256_max_ps _mm256_or_si256 _mm256_setzero_si256
        _mm256_blendv_ps, |a, b| _mm256_cmp_ps::<_CMP_GT_OQ>(a, b), _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b),
        _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b);
    Float64 __m256i, _mm256_castsi256_pd _mm256_castpd_si256 _mm256_max_pd _mm256_or_si256 _mm256_setzero_si256
        _mm256_blendv_pd, |a, b| _mm256_cmp_pd::<_CMP_GT_OQ>(a, b), _mm256_cmp_pd::<_CMP_EQ_OQ>(a, b),
        _mm256_cmp_pd::<_CMP_UNORD_Q>(a, b);
}

macro_rules! masks {
    ($($kind:ident $float:ident $bits:ident $max:ident $blend:ident $keys:ident, |$a:ident, $b:ident| $above:expr, $equal:expr,
       $seen:ty = $unseen:expr, |$now:ident, $one:ident, $other:ident| $see:expr, |$all:ident, $best:ident, $infinity:ident| $saw:expr;)*) => {$(
        impl Lanes<$kind> for __m512i {
            const BITS: usize = 1;
            const GROUP: usize = <$kind as Kind>::SIZE;
            type Seen = $seen;
            #[inline(always)]
            unsafe fn lanes(self, flip: Self) -> Self {
                $keys(self.xor(flip))
            }
            #[inline(always)]
            unsafe fn larger(self, other: Self) -> Self {
                $bits($max($float(self), $float(other)))
            }
            #[inline(always)]
            unsafe fn take(self, number: Self, best: &mut Self, place: &mut Self) {
                let ($a, $b) = ($float(self), $float(*best));
                let above = $above;
                // Of two zeros the instruction gives the second.
                *best = $bits($max($a, $b));
                *place = $blend(above, *place, number);
            }
            #[inline(always)]
            unsafe fn meets(self, other: Self) -> bool {
                let ($a, $b) = ($float(self), $float(other));
                $equal != 0
            }
            #[inline(always)]
            unsafe fn hits(registers: &[Self], sought: Self) -> u64 {
                let mut word = 0;
                for (at, register) in registers.iter().enumerate() {
                    let ($a, $b) = ($float(*register), $float(sought));
                    word |= ($equal as u64) << (at * <Self as Lanes<$kind>>::LANES);
                }
                word
            }
            #[inline(always)]
            unsafe fn unseen() -> $seen {
                $unseen
            }
            #[inline(always)]
            unsafe fn see(seen: &mut $seen, one: Self, other: Self) {
                let ($one, $other) = ($float(one), $float(other));
                *seen = {
                    let $now = *seen;
                    $see
                };
            }
            #[inline(always)]
            unsafe fn saw_nan($all: $seen, $best: Self, $infinity: Self) -> bool {
                $saw
            }
        }
    )*};
}

#[inline(always)]
fn same<T>(register: T) -> T {
    register
}

/// The keys of 16-bit floats, as above: no instruction of AVX-512 takes the sign of another lane.
#[inline(always)]
unsafe fn keys(bits: __m512i) -> __m512i {
    _mm512_mask_sub_epi16(bits, _mm512_movepi16_mask(bits), _mm512_set1_epi16(i16::MIN), bits)
}

masks! {
    Int8 same same _mm512_max_epi8 _mm512_mask_blend_epi8 same, |a, b| _mm512_cmpgt_epi8_mask(a, b),
        _mm512_cmpeq_epi8_mask(a, b), () = (), |now, _one, _other| now, |_all, _best, _infinity| false;
    Int16 same same _mm512_max_epi16 _mm512_mask_blend_epi16 same, |a, b| _mm512_cmpgt_epi16_mask(a, b),
        _mm512_cmpeq_epi16_mask(a, b), () = (), |now, _one, _other| now, |_all, _best, _infinity| false;
    Int32 same same _mm512_max_epi32 _mm512_mask_blend_epi32 same, |a, b| _mm512_cmpgt_epi32_mask(a, b),
        _mm512_cmpeq_epi32_mask(a, b), () = (), |now, _one, _other| now, |_all, _best, _infinity| false;
    Int64 same same _mm512_max_epi64 _mm512_mask_blend_epi64 same, |a, b| _mm512_cmpgt_epi64_mask(a, b),
        _mm512_cmpeq_epi64_mask(a, b), () = (), |now, _one, _other| now, |_all, _best, _infinity| false;
    Float16 same same _mm512_max_epi16 _mm512_mask_blend_epi16 keys, |a, b| _mm512_cmpgt_epi16_mask(a, b),
        _mm512_cmpeq_epi16_mask(a, b), __m512i = _mm512_setzero_si512(),
        |now, one, other| _mm512_min_epi16(_mm512_min_epi16(one, other), now),
        |all, best, infinity| _mm512_cmpgt_epi16_mask(_mm512_max_epi16(_mm512_abs_epi16(all), _mm512_abs_epi16(best)), infinity) != 0;
    Float32 _mm512_castsi512_ps _mm512_castps_si512 _mm512_max_ps _mm512_mask_blend_epi32 same,
        |a, b| _mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b), _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b), __mmask16 = 0,
        |now, one, other| now | _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(one, other), |all, _best, _infinity| all != 0;
    Float64 _mm512_castsi512_pd _mm512_castpd_si512 _mm512_max_pd _mm512_mask_blend_epi64 same,
        |a, b| _mm512_cmp_pd_mask::<_CMP_GT_OQ>(a, b), _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b), __mmask8 = 0,
        |now, one, other| now | _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(one, other), |all, _best, _infinity| all != 0;
}
