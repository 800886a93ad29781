//! Batches where there is no AVX-512: none.

use crate::kernels::batches::batch::Batches;

/// Never.
pub fn pay(_: usize, _: usize, _: usize, _: bool) -> bool {
    false
}

/// Nor these.
pub fn pay_masked(_: usize, _: usize, _: usize, _: bool) -> bool {
    false
}

impl Batches {
    /// No row is done.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn run(&self) -> usize {
        0
    }
}
