//! One vector for each row, combined until the extremes of all rows of a batch lie side by side.

use crate::kernels::batches::batch::{ROWS, VECTOR};
use crate::kernels::batches::kind::Kind;
use std::arch::x86_64::*;

/// How two vectors become one, step by step, where rows may leave the end of their vectors empty: for each step, in which
/// lanes the second half of the rows holds elements. The first half always does where the second one does.
#[derive(Clone, Copy)]
pub struct Join([u64; 4]);

impl Join {
    /// For rows that fill their vectors.
    pub const WHOLE: Self = Self([u64::MAX; 4]);

    /// For rows of `len` elements.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    pub unsafe fn new<K: Kind>(len: usize) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe {
            // Bytes that are there, taken the way of the elements.
            let mut row = _mm512_movm_epi8(u64::MAX >> VECTOR.saturating_sub(len * K::SIZE));
            let mut steps = [0; 4];
            if K::SIZE < 8 {
                (row, steps[0]) = Self::held::<K, 0>(row);
            }
            (row, steps[1]) = Self::held::<K, 1>(row);
            (row, steps[2]) = Self::held::<K, 2>(row);
            (_, steps[3]) = Self::held::<K, 3>(row);
            Self(steps)
        }
    }

    /// The first half of what is left of rows, and in which lanes the second one holds something.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn held<K: Kind, const STEP: usize>(row: __m512i) -> (__m512i, u64) {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let (first, second) = halves::<STEP>(row, row);
            (first, K::signs(second))
        }
    }

    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn step<K: Kind, const LARGEST: bool, const STEP: usize>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let (first, second) = halves::<STEP>(a, b);
            K::extreme::<LARGEST>(self.0[STEP], first, second)
        }
    }

    /// The extremes of two rows, in lanes that alternate between them every four bytes (or eight, of 64-bit elements).
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    pub unsafe fn pair<K: Kind, const LARGEST: bool>(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { if K::SIZE < 8 { self.step::<K, LARGEST, 0>(a, b) } else { self.step::<K, LARGEST, 1>(a, b) } }
    }

    /// The extremes of as many pairs of rows as a batch has, side by side; narrow ones fill four bytes each.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    pub unsafe fn all<K: Kind, const LARGEST: bool>(self, mut pairs: [__m512i; ROWS / 2]) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            if K::SIZE < 8 {
                for at in 0..4 {
                    pairs[at] = self.step::<K, LARGEST, 1>(pairs[2 * at], pairs[2 * at + 1]);
                }
            }
            for at in 0..2 {
                pairs[at] = self.step::<K, LARGEST, 2>(pairs[2 * at], pairs[2 * at + 1]);
            }
            let mut best = self.step::<K, LARGEST, 3>(pairs[0], pairs[1]);
            // What is left of each row are four bytes, which all rows have.
            if K::SIZE <= 2 {
                best = K::extreme::<LARGEST>(u64::MAX, best, _mm512_srli_epi32::<16>(best));
            }
            if K::SIZE == 1 {
                best = K::extreme::<LARGEST>(u64::MAX, best, _mm512_srli_epi32::<8>(best));
            }
            // The lowest lane of the four bytes everywhere in them: to broadcast four bytes from memory is free.
            match K::SIZE {
                1 => _mm512_shuffle_epi8(best, _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0)),
                2 => _mm512_shuffle_epi8(best, _mm512_set4_epi32(0x0d0c0d0c, 0x09080908, 0x05040504, 0x01000100)),
                _ => best,
            }
        }
    }
}

/// The first and the second half of what is left of each row in two vectors.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
pub unsafe fn halves<const STEP: usize>(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller has AVX-512.
    unsafe {
        match STEP {
            0 => (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)),
            1 => (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)),
            2 => (_mm512_shuffle_i64x2::<0b01_00_01_00>(a, b), _mm512_shuffle_i64x2::<0b11_10_11_10>(a, b)),
            _ => (_mm512_shuffle_i64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b)),
        }
    }
}

/// The extreme of all lanes of a row, in all of them.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
pub unsafe fn extreme_of_row<K: Kind>(best: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let best = K::larger(best, _mm512_shuffle_i64x2::<0b01_00_11_10>(best, best));
        let best = K::larger(best, _mm512_shuffle_i64x2::<0b10_11_00_01>(best, best));
        // Narrow lanes are integers; one instruction finds the least of eight unsigned ones.
        match K::SIZE {
            1 => {
                let last = _mm_set1_epi8(i8::MAX);
                let bytes = _mm_xor_si128(_mm512_castsi512_si128(best), last);
                let least = _mm_minpos_epu16(_mm_min_epu8(bytes, _mm_srli_epi16::<8>(bytes)));
                _mm512_broadcastb_epi8(_mm_xor_si128(least, last))
            }
            2 => {
                let last = _mm_set1_epi16(i16::MAX);
                let least = _mm_minpos_epu16(_mm_xor_si128(_mm512_castsi512_si128(best), last));
                _mm512_broadcastw_epi16(_mm_xor_si128(least, last))
            }
            4 => {
                let best = K::larger(best, _mm512_shuffle_epi32::<0b01_00_11_10>(best));
                K::larger(best, _mm512_shuffle_epi32::<0b10_11_00_01>(best))
            }
            _ => K::larger(best, _mm512_shuffle_epi32::<0b01_00_11_10>(best)),
        }
    }
}
