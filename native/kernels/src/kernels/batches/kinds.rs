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
    pub infinity: i16,
    pub xor_mask: i16,
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
    #[inline(always)]
    unsafe fn worst(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_set1_epi16(self.infinity ^ i16::MIN ^ self.xor_mask) }
    }
    /// Sign and magnitude to two's complement: both zeros become 0, and NaN lies beyond the infinities.
    #[inline(always)]
    unsafe fn lanes(self, elements: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let flipped = _mm512_xor_si512(elements, _mm512_set1_epi16(self.xor_mask));
            let negative = _mm512_movepi16_mask(flipped);
            _mm512_mask_sub_epi16(flipped, negative, _mm512_set1_epi16(i16::MIN), flipped)
        }
    }
    /// The way there is the way back.
    #[inline(always)]
    unsafe fn elements(self, lanes: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let negative = _mm512_movepi16_mask(lanes);
            let flipped = _mm512_mask_sub_epi16(lanes, negative, _mm512_set1_epi16(i16::MIN), lanes);
            _mm512_xor_si512(flipped, _mm512_set1_epi16(self.xor_mask))
        }
    }
    /// Zeros: of which sign?
    #[inline(always)]
    unsafe fn untold(self, lanes: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_testn_epi16_mask(lanes, lanes).into() }
    }
    #[inline(always)]
    unsafe fn unordered(self, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let magnitude = _mm512_max_epi16(_mm512_abs_epi16(a), _mm512_abs_epi16(b));
            _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(self.infinity)).into()
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
