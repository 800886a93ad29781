//! Whether a lane of a batch was NaN.

use crate::kernels::batches::kind::Kind;
use std::arch::x86_64::*;

/// What has been seen of the lanes.
pub struct Watch {
    unordered: u64,
    smallest: __m512i,
}

impl Watch {
    /// Nothing has been seen.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    pub unsafe fn new<K: Kind>(kind: K) -> Self {
        // SAFETY: the caller has AVX-512.
        Self { unordered: 0, smallest: unsafe { kind.lanes(kind.worst()) } }
    }

    /// One comparison notices NaN in two vectors, or one of the extremes in all of them.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    pub unsafe fn see<K: Kind>(&mut self, kind: K, [one, other]: [__m512i; 2]) {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match K::NAN_IS_EXTREME {
                true => self.smallest = K::smaller(K::smaller(one, other), self.smallest),
                false => self.unordered |= kind.unordered(one, other),
            }
        }
    }

    /// Whether there was NaN, given the largest of all lanes.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    pub unsafe fn any<K: Kind>(&self, kind: K, largest: __m512i) -> bool {
        match K::NAN_IS_EXTREME {
            // SAFETY: the caller has AVX-512.
            true => unsafe { kind.unordered(self.smallest, largest) != 0 },
            false => self.unordered != 0,
        }
    }
}
