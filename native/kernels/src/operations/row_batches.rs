//! Short rows, and those with NaN among them.

use crate::element::order::Ends;
use crate::kernels::omit::OMIT_SCRATCH;
use crate::kernels::outputs::Outputs;
use crate::kernels::short_rows::ShortRows;
use crate::kernels::source::Lines;
use crate::layout::reduction::ReductionOffsets;
use crate::operations::block::{Asked, Blocks};
use crate::operations::input::{Input, with_sources};
use crate::operations::plan::SHORT;
use std::ptr;

/// Bytes of rows that are read for one end of the order, then for the other: they stay in the first-level cache.
const TWICE: usize = 1 << 14;

/// Rows that are read otherwise where there is NaN, as columns or one by one: those of a batch, and at most so many where NaN follows
/// NaN, so that batches are not tried in vain each time.
const BATCH: usize = 16;
const MOST: usize = 16 * BATCH;

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads short rows: some for one end of the order, then for the other.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of so many rows of `len` elements, under no mask.
    pub unsafe fn row_batches(&self, (inputs, _, to): Asked, lines: Lines, rows: usize, len: usize) {
        let size = inputs[0].element.size();
        let group = match inputs {
            [_] => rows,
            _ => (TWICE / (len * size)).next_multiple_of(BATCH).max(BATCH),
        };
        for start in (0..rows).step_by(group) {
            for end in 0..inputs.len() {
                let (input, to) = (&inputs[end..=end], to[end].from(start, size));
                // SAFETY: the caller's.
                unsafe { self.row_batches_of(input, to, lines.from(start as isize), group.min(rows - start), len) };
            }
        }
    }

    /// Reads short rows for one end.
    ///
    /// # Safety
    /// As for [`row_batches`](Self::row_batches).
    unsafe fn row_batches_of(&self, inputs: &[Input], to: Outputs, lines: Lines, rows: usize, len: usize) {
        let Input { element, largest, .. } = inputs[0];
        let size = element.size();
        let most = if len < SHORT { (OMIT_SCRATCH / size / len) & !(BATCH - 1) } else { MOST };
        let (mut done, mut singly) = (0, BATCH);
        while done < rows {
            let (lines, to) = (lines.from(done as isize), to.from(done, size));
            // SAFETY: the caller's; the keys have room for the rows, in each of which a place has been found.
            let found = unsafe {
                let rows = rows - done;
                let found = ShortRows { lines, rows, len, element, largest, last: self.last(), to }.run();
                if !to.keys.is_null() {
                    with_sources!(inputs, lines, S, X, _dispatch => {
                        lines.write_keys::<S, <X as Ends>::First>(found, to.index, to.keys)
                    })
                }
                found
            };
            done += found;
            singly = if found > 0 { BATCH } else { (2 * singly).min(most) };
            let rest = singly.min(rows - done);
            if rest > 0 {
                let (ends, lines) =
                    ((inputs, &[ptr::null()][..], &[to.from(found, size)][..]), lines.from(found as isize));
                // SAFETY: the caller's; so many rows are left, and the scratch memory has room for short ones.
                unsafe {
                    if len < SHORT {
                        let kept = ReductionOffsets { input: lines.stride, ..ReductionOffsets::default() };
                        let columns = Lines::plain(lines.data, size as isize);
                        self.packed(None, columns, len, (rest, &kept), |lines| self.columns(ends, lines, len, rest));
                    } else {
                        self.rows(ends, lines, rest, len);
                    }
                }
                done += rest;
            }
        }
    }
}
