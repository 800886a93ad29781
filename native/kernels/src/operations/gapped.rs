//! Rows of bytes with gaps between them: read whole, what lies in the gaps left out as a mask leaves it out. To gather
//! the elements takes several times as long.

use crate::kernels::gaps::gaps;
use crate::kernels::source::Lines;
use crate::operations::block::{Asked, Blocks};

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads rows of which every so manieth element counts. Where none of those beats what stands in for a gap, all of them are
    /// equal: the first (or last) of them is also the first of all that are read, and is found.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of so many rows of `len` elements that are `step` apart.
    #[inline(never)]
    pub(super) unsafe fn gapped(
        &self,
        (inputs, against, to): Asked,
        rows: Lines,
        number: usize,
        len: usize,
        step: usize,
    ) {
        let lines = Lines { mask: gaps(step), mask_stride: 0, ..rows };
        let span = (len - 1) * step + 1;
        for end in 0..inputs.len() {
            let ends = (&inputs[end..=end], &against[end..=end], &to[end..=end]);
            // SAFETY: the caller's; the mask is as long as the longest chunk of a plan with gaps.
            unsafe {
                self.rows(ends, lines, number, span);
                if !to[end].index.is_null() {
                    for row in 0..number {
                        let index = to[end].index.add(row);
                        index.write_unaligned(index.read_unaligned() / step as i64);
                    }
                }
            }
        }
    }
}
