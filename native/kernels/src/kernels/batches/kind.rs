//! What the ways to read batches ask of an element type.

use crate::kernels::batches::batch::{ROWS, VECTOR};
use std::arch::x86_64::*;

/// Vectors of lanes of which the largest is wanted.
pub trait Kind: Copy {
    /// Bytes of a lane.
    const SIZE: usize;
    /// Lanes of a vector.
    const LANES: usize = VECTOR / Self::SIZE;
    /// Rows whose extremes fill a vector, one every four bytes at least.
    const ROWS: usize = if Self::SIZE == 8 { 8 } else { ROWS };
    /// Whether a lane of NaN is beyond all others, so that it is an extreme of any lanes that it is among.
    const NAN_IS_EXTREME: bool = false;
    /// Whether equal lanes are those of equal bits.
    const EXACT: bool = false;
    /// Lanes of a vector of widened lanes, which fill four bytes at least.
    const WIDE: usize = Self::ROWS;

    /// An element that no other loses to, as bits.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn worst(self) -> __m512i;
    /// The lanes of elements that lose to all others that may take part.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn losers(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { self.lanes(self.worst()) }
    }
    /// The lanes of a vector of elements.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn lanes(self, elements: __m512i) -> __m512i;
    /// The elements that a vector of lanes, none of them NaN, are those of.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn elements(self, lanes: __m512i) -> __m512i;
    /// Which lanes do not say which element they are the lanes of.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn untold(self, _: __m512i) -> u64 {
        0
    }
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
    /// Widened lanes, side by side again, the first of a vector.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn narrow(lanes: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match Self::SIZE {
                1 => _mm512_zextsi128_si512(_mm512_cvtepi32_epi8(lanes)),
                2 => _mm512_zextsi256_si512(_mm512_cvtepi32_epi16(lanes)),
                _ => lanes,
            }
        }
    }
    /// Writes the elements of as many widened lanes as a vector has; whether they say which those are.
    ///
    /// # Safety
    /// AVX-512 is in force, and there is room for so many elements.
    #[inline(always)]
    unsafe fn write(self, to: *mut u8, widened: __m512i) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let lanes = Self::narrow(widened);
            let elements = self.elements(lanes);
            match Self::SIZE {
                1 => _mm_storeu_epi8(to.cast(), _mm512_castsi512_si128(elements)),
                2 => _mm256_storeu_epi8(to.cast(), _mm512_castsi512_si256(elements)),
                _ => _mm512_storeu_epi8(to.cast(), elements),
            }
            self.untold(lanes) & (u64::MAX >> (64 - Self::WIDE)) == 0
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
    /// Which lanes have their highest bit set.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn signs(lanes: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match Self::SIZE {
                1 => _mm512_movepi8_mask(lanes),
                2 => _mm512_movepi16_mask(lanes).into(),
                4 => _mm512_movepi32_mask(lanes).into(),
                _ => _mm512_movepi64_mask(lanes).into(),
            }
        }
    }
    /// The larger lanes where the mask has them, else those of `a`; none is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn larger_in(mask: u64, a: __m512i, b: __m512i) -> __m512i;
    /// The smaller lanes where the mask has them, else those of `a`; none is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn smaller_in(mask: u64, a: __m512i, b: __m512i) -> __m512i;
    /// The larger lanes, or the smaller ones, where the mask has them, else those of `a`; none is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn extreme<const LARGEST: bool>(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { if LARGEST { Self::larger_in(mask, a, b) } else { Self::smaller_in(mask, a, b) } }
    }
    /// The larger lanes, none of which is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn larger(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { Self::larger_in(u64::MAX, a, b) }
    }
    /// The smaller lanes, none of which is NaN.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn smaller(a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { Self::smaller_in(u64::MAX, a, b) }
    }
    /// Which of the lanes that the mask selects are equal.
    ///
    /// # Safety
    /// AVX-512 is in force.
    unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64;
}
