//! Floats of which NaN loses to all numbers, as batches compare them.

use crate::kernels::batches::kind::Kind;
use std::arch::x86_64::*;

/// The same kind, NaN being the infinity that loses: where one of two lanes is NaN, the larger is said to be the second.
#[derive(Clone, Copy)]
pub struct Numbers<K>(pub K);

impl<K: Kind> Kind for Numbers<K> {
    const SIZE: usize = K::SIZE;
    #[inline(always)]
    unsafe fn worst(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { self.0.worst() }
    }
    #[inline(always)]
    unsafe fn lanes(self, elements: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { K::larger(self.0.lanes(elements), self.0.lanes(self.0.worst())) }
    }
    #[inline(always)]
    unsafe fn elements(self, lanes: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { self.0.elements(lanes) }
    }
    #[inline(always)]
    unsafe fn untold(self, lanes: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { self.0.untold(lanes) }
    }
    #[inline(always)]
    unsafe fn is_larger(a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { K::is_larger(a, b) }
    }
    #[inline(always)]
    unsafe fn larger_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { K::larger_in(mask, a, b) }
    }
    #[inline(always)]
    unsafe fn smaller_in(mask: u64, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { K::smaller_in(mask, a, b) }
    }
    #[inline(always)]
    unsafe fn equal(mask: u64, a: __m512i, b: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512.
        unsafe { K::equal(mask, a, b) }
    }
}
