//! Bools, as batches compare them.

use crate::kernels::batches::kind::Kind;
use std::arch::x86_64::*;

/// Bytes that are 0 or 1, the bits of `xor_mask` flipped. NumPy takes any other byte for true, too: those count as NaN, and
/// their rows are not done in batches.
#[derive(Clone, Copy)]
pub struct Bools {
    pub xor_mask: i8,
}

impl Kind for Bools {
    const SIZE: usize = 1;
    const NAN_IS_EXTREME: bool = true;
    const EXACT: bool = true;
    #[inline(always)]
    unsafe fn worst(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_set1_epi8(self.xor_mask & 1) }
    }
    #[inline(always)]
    unsafe fn lanes(self, elements: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_xor_si512(elements, _mm512_set1_epi8(self.xor_mask)) }
    }
    #[inline(always)]
    unsafe fn elements(self, lanes: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_xor_si512(lanes, _mm512_set1_epi8(self.xor_mask)) }
    }
    #[inline(always)]
    unsafe fn unordered(self, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let any = _mm512_or_si512(self.elements(a), self.elements(b));
            _mm512_test_epi8_mask(any, _mm512_set1_epi8(!1))
        }
    }
    #[inline(always)]
    unsafe fn larger_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mask_max_epi8(a, mask, a, b) }
    }
    #[inline(always)]
    unsafe fn smaller_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mask_min_epi8(a, mask, a, b) }
    }
    #[inline(always)]
    unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mask_cmpeq_epi8_mask(mask, a, b) }
    }
}
