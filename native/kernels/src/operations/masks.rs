//! Blocks that are read where they lie, under a mask of their own: one that does not lie as their elements do is copied. Rows of
//! bytes with gaps between them are read whole, what lies in the gaps left out; to gather the elements takes up to 2.4 times as
//! long (Xeon of family 6, model 167, AVX-512: every third byte of rows of 1000).

use crate::isa::dispatch;
use crate::kernels::cache_line::Aligned;
use crate::kernels::mask::{CopyMask, MASK_SCRATCH, MASK_SLACK, gaps};
use crate::kernels::source::Lines;
use crate::operations::block::{Asked, Blocks};
use crate::operations::plan::Form;
use std::mem::MaybeUninit;

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads a block of `len` positions and `height` elements of each, given as rows and as columns.
    ///
    /// Not inlined, so that other blocks do not pay for the scratch memory.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of a plan that copies masks.
    #[inline(never)]
    pub unsafe fn masked(&self, ends: Asked, (rows, columns): (Lines, Lines), len: usize, height: usize) {
        let mut scratch = Aligned([const { MaybeUninit::<u64>::uninit() }; (MASK_SCRATCH + MASK_SLACK) / 8]);
        let to = scratch.0.as_mut_ptr().cast::<u8>();
        let down = matches!(self.plan.form, Form::Columns { .. });
        let (kept, reduced) = ((len, self.plan.kept.strides.mask), (height, self.plan.reduced.strides.mask));
        let (outer, inner) = if down { (reduced, kept) } else { (kept, reduced) };
        let (lines, number) = if down { (columns, len) } else { (rows, height) };
        let lines = Lines { mask: to, mask_stride: number as isize, ..lines };
        // SAFETY: the caller's; the copy is as large as the block.
        unsafe {
            dispatch(CopyMask { mask: rows.mask, outer, inner, to });
            match self.plan.form {
                Form::Columns { .. } => self.columns(ends, lines, height, len),
                _ => self.rows(ends, lines, len, height),
            }
        }
    }

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
