//! The element types as the groups compare them. The lanes of every [`Kind`] are turned so that the largest is
//! wanted: seven kinds stand for all element types and both orders.

use super::ROWS;
use super::avx512::VECTOR;
use std::arch::x86_64::*;

/// Vectors of lanes of which the largest is wanted.
pub trait Kind: Copy {
    /// Bytes of a lane.
    const SIZE: usize;
    /// Lanes of a vector.
    const LANES: usize = VECTOR / Self::SIZE;
    /// Rows whose extremes fill a vector, one every four bytes at least.
    const ROWS: usize = if Self::SIZE == 8 { 8 } else { ROWS };
    /// Lanes of a vector of widened lanes, which fill four bytes at least.
    const WIDE: usize = Self::ROWS;

    /// An element that no other loses to, as bits.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn worst(self) -> __m512i;
    /// The lanes of a vector of elements.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn lanes(self, elements: __m512i) -> __m512i;
    /// In which lanes one of the two is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn unordered(self, _: __m512i, _: __m512i) -> u64 {
        0
    }
    /// The elements that the mask selects; those of `other` elsewhere.
    ///
    /// # Safety
    /// AVX-512 is in force, and the elements that the mask selects may be read.
    #[inline(always)]
    unsafe fn load(other: __m512i, mask: u64, from: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            match Self::SIZE {
                1 => _mm512_mask_loadu_epi8(other, mask, from.cast()),
                2 => _mm512_mask_loadu_epi16(other, mask as u32, from.cast()),
                4 => _mm512_mask_loadu_epi32(other, mask as u16, from.cast()),
                _ => _mm512_mask_loadu_epi64(other, mask as u8, from.cast()),
            }
        }
    }
    /// The elements from `from` on in the lanes that the mask selects; those of `other` elsewhere. Narrow ones only.
    ///
    /// # Safety
    /// AVX-512 with VBMI2 is in force, and as many elements may be read as the mask selects.
    #[inline(always)]
    unsafe fn spread(other: __m512i, mask: u64, from: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            match Self::SIZE {
                _ if mask == u64::MAX >> (64 - Self::LANES) => _mm512_loadu_epi8(from.cast()),
                1 => _mm512_mask_expandloadu_epi8(other, mask, from.cast()),
                _ => _mm512_mask_expandloadu_epi16(other, mask as u32, from.cast()),
            }
        }
    }
    /// As many elements as a vector of widened lanes has.
    ///
    /// # Safety
    /// AVX-512 is in force, and the elements may be read.
    #[inline(always)]
    unsafe fn read(from: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            match Self::SIZE {
                1 => _mm512_zextsi128_si512(_mm_loadu_epi8(from.cast())),
                2 => _mm512_zextsi256_si512(_mm256_loadu_epi8(from.cast())),
                _ => _mm512_loadu_epi8(from.cast()),
            }
        }
    }
    /// The first lanes, widened.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn widen(lanes: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match Self::SIZE {
                1 => _mm512_cvtepi8_epi32(_mm512_castsi512_si128(lanes)),
                2 => _mm512_cvtepi16_epi32(_mm512_castsi512_si256(lanes)),
                _ => lanes,
            }
        }
    }
    /// Widened lanes of two vectors.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn permute(a: __m512i, permutation: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match Self::SIZE {
                8 => _mm512_permutex2var_epi64(a, permutation, b),
                _ => _mm512_permutex2var_epi32(a, permutation, b),
            }
        }
    }
    /// The widened lanes of `a` where the mask has them, else those of `b`.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn select(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match Self::SIZE {
                8 => _mm512_mask_mov_epi64(b, mask as u8, a),
                _ => _mm512_mask_mov_epi32(b, mask as u16, a),
            }
        }
    }
    /// In which widened lanes `a` is larger; none of them is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn is_larger(a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match Self::SIZE {
                8 => _mm512_cmpgt_epi64_mask(a, b).into(),
                _ => _mm512_cmpgt_epi32_mask(a, b).into(),
            }
        }
    }
    /// The lane at `from`, which fills four bytes at least, everywhere.
    ///
    /// # Safety
    /// AVX-512 is in force, and the lane may be read.
    #[inline(always)]
    unsafe fn splat(from: *const u8) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            match Self::SIZE {
                8 => _mm512_set1_epi64(from.cast::<i64>().read_unaligned()),
                _ => _mm512_set1_epi32(from.cast::<i32>().read_unaligned()),
            }
        }
    }
    /// The larger lanes, none of which is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn larger(a: __m512i, b: __m512i) -> __m512i;
    /// Which of the lanes that the mask selects are equal.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64;
}

/// 8-bit integers and bool: bytes above `most` (as unsigned) count as `most`, then the bits of `turn` are turned.
#[derive(Clone, Copy)]
pub struct Bytes {
    pub worst: i8,
    pub most: u8,
    pub turn: i8,
}

/// 16-bit integers, the bits of `turn` turned.
#[derive(Clone, Copy)]
pub struct Words {
    pub turn: i16,
}

/// 32-bit integers, the bits of `turn` turned.
#[derive(Clone, Copy)]
pub struct Longs {
    pub turn: i32,
}

/// 64-bit integers, the bits of `turn` turned.
#[derive(Clone, Copy)]
pub struct Quads {
    pub turn: i64,
}

/// 16-bit floats by their keys, the bits of `turn` turned before.
#[derive(Clone, Copy)]
pub struct Halves {
    pub infinity: i16,
    pub turn: i16,
}

/// 32-bit floats, the bits of `turn` turned.
#[derive(Clone, Copy)]
pub struct Singles {
    pub turn: i32,
}

/// 64-bit floats, the bits of `turn` turned.
#[derive(Clone, Copy)]
pub struct Doubles {
    pub turn: i64,
}

macro_rules! integers {
    ($($kind:ident, $type:ty, $splat:ident, $larger:ident, $equal:ident, $mask:ty,
       |$own:ident, $elements:ident| $worst:expr, $lanes:expr;)*) => {$(
        impl Kind for $kind {
            const SIZE: usize = size_of::<$type>();
            #[inline(always)]
            unsafe fn worst($own) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $splat($worst) }
            }
            #[inline(always)]
            unsafe fn lanes($own, $elements: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $lanes }
            }
            #[inline(always)]
            unsafe fn larger(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $larger(a, b) }
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
    Bytes, i8, _mm512_set1_epi8, _mm512_max_epi8, _mm512_mask_cmpeq_epi8_mask, u64, |self, elements| self.worst, {
        let within = _mm512_min_epu8(elements, _mm512_set1_epi8(self.most as i8));
        _mm512_xor_si512(within, _mm512_set1_epi8(self.turn))
    };
    Words, i16, _mm512_set1_epi16, _mm512_max_epi16, _mm512_mask_cmpeq_epi16_mask, u32, |self, elements| i16::MIN ^ self.turn, {
        _mm512_xor_si512(elements, _mm512_set1_epi16(self.turn))
    };
    Longs, i32, _mm512_set1_epi32, _mm512_max_epi32, _mm512_mask_cmpeq_epi32_mask, u16, |self, elements| i32::MIN ^ self.turn, {
        _mm512_xor_si512(elements, _mm512_set1_epi32(self.turn))
    };
    Quads, i64, _mm512_set1_epi64, _mm512_max_epi64, _mm512_mask_cmpeq_epi64_mask, u8, |self, elements| i64::MIN ^ self.turn, {
        _mm512_xor_si512(elements, _mm512_set1_epi64(self.turn))
    };
}

impl Kind for Halves {
    const SIZE: usize = 2;
    #[inline(always)]
    unsafe fn worst(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_set1_epi16(self.infinity ^ i16::MIN ^ self.turn) }
    }
    /// Sign and magnitude to two's complement: both zeros become 0, and NaN lies beyond the infinities.
    #[inline(always)]
    unsafe fn lanes(self, elements: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let turned = _mm512_xor_si512(elements, _mm512_set1_epi16(self.turn));
            let negative = _mm512_movepi16_mask(turned);
            _mm512_mask_sub_epi16(turned, negative, _mm512_set1_epi16(i16::MIN), turned)
        }
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
    unsafe fn larger(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_max_epi16(a, b) }
    }
    #[inline(always)]
    unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mask_cmpeq_epi16_mask(mask as u32, a, b).into() }
    }
}

macro_rules! floats {
    ($($kind:ident, $type:ty, $splat:ident, $float:ident, $bits:ident, $larger:ident, $compare:ident, $equal:ident, $mask:ty;)*) => {$(
        impl Kind for $kind {
            const SIZE: usize = size_of::<$type>();
            #[inline(always)]
            unsafe fn worst(self) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $splat(<$type>::NEG_INFINITY.to_bits().cast_signed() ^ self.turn) }
            }
            #[inline(always)]
            unsafe fn lanes(self, elements: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { _mm512_xor_si512(elements, $splat(self.turn)) }
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
            unsafe fn larger(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: the caller has AVX-512.
                unsafe { $bits($larger($float(a), $float(b))) }
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
    Singles, f32, _mm512_set1_epi32, _mm512_castsi512_ps, _mm512_castps_si512, _mm512_max_ps,
        _mm512_cmp_ps_mask, _mm512_mask_cmp_ps_mask, u16;
    Doubles, f64, _mm512_set1_epi64, _mm512_castsi512_pd, _mm512_castpd_si512, _mm512_max_pd,
        _mm512_cmp_pd_mask, _mm512_mask_cmp_pd_mask, u8;
}
