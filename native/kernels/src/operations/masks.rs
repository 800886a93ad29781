//! Blocks whose mask does not lie as their elements do: it is copied, and they are read where they lie.

use crate::isa::dispatch;
use crate::kernels::cache_line::Aligned;
use crate::kernels::mask::{CopyMask, MASK_SCRATCH, MASK_SLACK};
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
}
