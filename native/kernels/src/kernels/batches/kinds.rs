//! The element types as batches compare them. The lanes of every [`Kind`] are mapped so that the largest is
//! wanted: seven kinds, and one of [bools](crate::kernels::batches::bools), stand for all element types and both orders.

use crate::kernels::batches::kind::Kind;
use std::arch::x86_64::*;

/// 8-bit integers, the bits of `xor_mask` flipped.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub xor_mask: i8,
}

/// 16-bit integers, the bits of `xor_mask` flipped.
#[derive(Clone, Copy)]
pub struct Words {
    pub xor_mask: i16,
}

/// 32-bit integers, the bits of `xor_mask` flipped.
#[derive(Clone, Copy)]
pub struct Longs {
    pub xor_mask: i32,
}

/// 64-bit integers, the bits of `xor_mask` flipped.
#[derive(Clone, Copy)]
pub struct Quads {
    pub xor_mask: i64,
}

/// 16-bit floats by their keys, the bits of `xor_mask` flipped before.
#[derive(Clone, Copy)]
pub struct Float16Bits {
    /// The largest magnitude of a lane that is not NaN.
    most: i16,
    /// The bits of the element with the least lane.
    worst: i16,
    /// The bits of the infinity that loses to all others but NaN.
    loser: i16,
    xor_mask: i16,
    /// What is added to keys.
    turn: i16,
}

impl Float16Bits {
    /// Floats whose infinity has these bits, of which NaN loses to all `numbers`, or else is noticed.
    pub fn new(infinity: i16, xor_mask: i16, numbers: bool) -> Self {
        let loser = infinity ^ i16::MIN ^ xor_mask;
        match numbers {
            false => Self { most: infinity, worst: loser, loser, xor_mask, turn: 0 },
            // Turned round until infinity is the last of all keys, and NaN of both signs begin them.
            true => {
                let worst = (infinity + 1) ^ xor_mask;
                Self { most: i16::MAX, worst, loser, xor_mask, turn: i16::MAX - infinity }
            }
        }
    }
}

/// 32-bit floats, the bits of `xor_mask` flipped.
#[derive(Clone, Copy)]
pub struct Singles {
    pub xor_mask: i32,
}

/// 64-bit floats, the bits of `xor_mask` flipped.
#[derive(Clone, Copy)]
pub struct Doubles {
    pub xor_mask: i64,
}

macro_rules! integers {
    ($($kind:ident, $type:ty, $splat:ident, $larger:ident, $smaller:ident, $equal:ident, $mask:ty;)*) => {$(
        impl Kind for $kind {
            const SIZE: usize = size_of::<$type>();
            const EXACT: bool = true;
            #[inline(always)]
            unsafe fn worst(self) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $splat(<$type>::MIN ^ self.xor_mask) }
            }
            #[inline(always)]
            unsafe fn lanes(self, elements: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { _mm512_xor_si512(elements, $splat(self.xor_mask)) }
            }
            #[inline(always)]
            unsafe fn elements(self, lanes: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { _mm512_xor_si512(lanes, $splat(self.xor_mask)) }
            }
            #[inline(always)]
            unsafe fn larger_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $larger(a, mask as $mask, a, b) }
            }
            #[inline(always)]
            unsafe fn smaller_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $smaller(a, mask as $mask, a, b) }
            }
            #[inline(always)]
            unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64 {
                // SAFETY: the caller has AVX-512.
                unsafe { $equal(mask as $mask, a, b).into() }
            }
        }
    )*};
}

integers! {
    Bytes, i8, _mm512_set1_epi8, _mm512_mask_max_epi8, _mm512_mask_min_epi8, _mm512_mask_cmpeq_epi8_mask, u64;
    Words, i16, _mm512_set1_epi16, _mm512_mask_max_epi16, _mm512_mask_min_epi16, _mm512_mask_cmpeq_epi16_mask, u32;
    Longs, i32, _mm512_set1_epi32, _mm512_mask_max_epi32, _mm512_mask_min_epi32, _mm512_mask_cmpeq_epi32_mask, u16;
    Quads, i64, _mm512_set1_epi64, _mm512_mask_max_epi64, _mm512_mask_min_epi64, _mm512_mask_cmpeq_epi64_mask, u8;
}

impl Kind for Float16Bits {
    const SIZE: usize = 2;
    const NAN_IS_EXTREME: bool = true;
    #[inline(always)]
    unsafe fn worst(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_set1_epi16(self.worst) }
    }
    #[inline(always)]
    unsafe fn losers(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { self.lanes(_mm512_set1_epi16(self.loser)) }
    }
    /// Sign and magnitude to two's complement: both zeros become 0, and NaN lies beyond the infinities.
    #[inline(always)]
    unsafe fn lanes(self, elements: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let flipped = _mm512_xor_si512(elements, _mm512_set1_epi16(self.xor_mask));
            let negative = _mm512_movepi16_mask(flipped);
            let turned = _mm512_add_epi16(flipped, _mm512_set1_epi16(self.turn));
            _mm512_mask_sub_epi16(turned, negative, _mm512_set1_epi16(i16::MIN.wrapping_add(self.turn)), flipped)
        }
    }
    /// The way there is the way back.
    #[inline(always)]
    unsafe fn elements(self, lanes: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let keys = _mm512_sub_epi16(lanes, _mm512_set1_epi16(self.turn));
            let negative = _mm512_movepi16_mask(keys);
            let flipped = _mm512_mask_sub_epi16(keys, negative, _mm512_set1_epi16(i16::MIN), keys);
            _mm512_xor_si512(flipped, _mm512_set1_epi16(self.xor_mask))
        }
    }
    /// Zeros: of which sign?
    #[inline(always)]
    unsafe fn untold(self, lanes: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_cmpeq_epi16_mask(lanes, _mm512_set1_epi16(self.turn)).into() }
    }
    #[inline(always)]
    unsafe fn unordered(self, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let magnitude = _mm512_max_epi16(_mm512_abs_epi16(a), _mm512_abs_epi16(b));
            _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(self.most)).into()
        }
    }
    #[inline(always)]
    unsafe fn larger_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mask_max_epi16(a, mask as u32, a, b) }
    }
    #[inline(always)]
    unsafe fn smaller_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mask_min_epi16(a, mask as u32, a, b) }
    }
    #[inline(always)]
    unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mask_cmpeq_epi16_mask(mask as u32, a, b).into() }
    }
}

macro_rules! floats {
    ($($kind:ident, $type:ty, $splat:ident, $float:ident, $bits:ident, $larger:ident, $smaller:ident, $compare:ident, $equal:ident, $mask:ty;)*) => {$(
        impl Kind for $kind {
            const SIZE: usize = size_of::<$type>();
            #[inline(always)]
            unsafe fn worst(self) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $splat(<$type>::NEG_INFINITY.to_bits().cast_signed() ^ self.xor_mask) }
            }
            #[inline(always)]
            unsafe fn lanes(self, elements: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { _mm512_xor_si512(elements, $splat(self.xor_mask)) }
            }
            #[inline(always)]
            unsafe fn elements(self, lanes: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { _mm512_xor_si512(lanes, $splat(self.xor_mask)) }
            }
            /// Zeros: of which sign?
            #[inline(always)]
            unsafe fn untold(self, lanes: __m512i) -> u64 {
                // SAFETY: the caller has AVX-512.
                unsafe { $compare::<_CMP_EQ_OQ>($float(lanes), $float(_mm512_setzero_si512())).into() }
            }
            #[inline(always)]
            unsafe fn unordered(self, a: __m512i, b: __m512i) -> u64 {
                // SAFETY: the caller has AVX-512.
                unsafe { $compare::<_CMP_UNORD_Q>($float(a), $float(b)).into() }
            }
            #[inline(always)]
            unsafe fn is_larger(a: __m512i, b: __m512i) -> u64 {
                // SAFETY: the caller has AVX-512.
                unsafe { $compare::<_CMP_GT_OQ>($float(a), $float(b)).into() }
            }
            #[inline(always)]
            unsafe fn larger_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $bits($larger($float(a), mask as $mask, $float(a), $float(b))) }
            }
            #[inline(always)]
            unsafe fn smaller_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $bits($smaller($float(a), mask as $mask, $float(a), $float(b))) }
            }
            #[inline(always)]
            unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64 {
                // SAFETY: the caller has AVX-512.
                unsafe { $equal::<_CMP_EQ_OQ>(mask as $mask, $float(a), $float(b)).into() }
            }
        }
    )*};
}

floats! {
    Singles, f32, _mm512_set1_epi32, _mm512_castsi512_ps, _mm512_castps_si512, _mm512_mask_max_ps,
        _mm512_mask_min_ps, _mm512_cmp_ps_mask, _mm512_mask_cmp_ps_mask, u16;
    Doubles, f64, _mm512_set1_epi64, _mm512_castsi512_pd, _mm512_castpd_si512, _mm512_mask_max_pd,
        _mm512_mask_min_pd, _mm512_cmp_pd_mask, _mm512_mask_cmp_pd_mask, u8;
}
