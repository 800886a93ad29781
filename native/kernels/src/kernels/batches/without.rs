//! Batches where there is no AVX-512: none.

use crate::kernels::batches::batch::Batches;
use crate::kernels::batches::period::Periods;

/// Never.
pub fn pay(_: usize, _: usize, _: usize, _: bool) -> bool {
    false
}

/// Nor do any share a vector.
pub fn share(_: usize, _: usize) -> bool {
    false
}

/// Nor these.
pub fn pay_at_both_ends(_: usize, _: usize, _: usize) -> bool {
    false
}

/// Nor blocks.
pub fn pay_down(_: usize, _: usize, _: usize) -> bool {
    false
}

impl Periods {
    /// No block is done.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn run(&self) -> usize {
        0
    }
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
