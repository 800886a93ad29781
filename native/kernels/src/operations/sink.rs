//! Where the results of a reduction go.

use crate::layout::reduction::{ReductionAxis, ReductionOffsets};

/// Where finished tiles go.
pub trait Sink {
    /// The output itself, where the indices of a tile may be written to it straight away.
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Option<*mut i64>;

    /// Takes the indices of a tile of `index.len()` positions that starts at `at` and runs along `axis`.
    ///
    /// # Safety
    /// The position lies in the layout that the sink was made for.
    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, index: &[i64]);
}
