//! Short rows under a mask: they are copied without what it leaves out, a group at a time, and read in batches. To look at the mask
//! while rows are compared takes longer, and twice as much code.

use crate::element::ElementType;
use crate::kernels::batches::batch::{CopyRows, ROWS};
use crate::kernels::cache_line::Aligned;
use crate::kernels::source::Lines;
use crate::operations::block::{Asked, Blocks};
use crate::operations::input::Input;
use std::mem::MaybeUninit;

/// Bytes of rows that are copied together, at most: those of a batch of the longest rows.
const SCRATCH: usize = 1 << 15;

/// Bytes of shorter rows and their mask, which stay in the first-level cache beside what follows them.
const GROUP: usize = 1 << 14;

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads rows in batches.
    ///
    /// # Safety
    /// As for [`row_batches`](Self::row_batches), of one end and under a mask.
    #[inline(never)]
    pub(super) unsafe fn masked_rows(&self, (inputs, against, to): Asked, lines: Lines, rows: usize, len: usize) {
        let Input { element, largest, .. } = inputs[0];
        let (size, fill) = (element.size(), element.loser(largest));
        let mut scratch = Aligned([const { MaybeUninit::<u64>::uninit() }; SCRATCH / 8]);
        let copy = scratch.0.as_mut_ptr().cast::<u8>();
        let most = (GROUP / (len * (size + 1))).max(ROWS.min(SCRATCH / (len * size)));
        // As long as one another: the last would else be less than a batch.
        let group = rows.div_ceil(rows.div_ceil(most));
        for start in (0..rows).step_by(group) {
            let (lines, rows, to) = (lines.from(start as isize), group.min(rows - start), to[0].from(start, size));
            // SAFETY: the caller's; so many rows fit the copy.
            unsafe {
                let doubtful = CopyRows { lines, rows, len, size, fill, to: copy }.run();
                let copied = Lines::plain(copy, (len * size) as isize);
                self.row_batches_unmasked((inputs, against, &[to]), copied, rows, len);
                // (Any byte but 0 is true.)
                if doubtful || element == ElementType::Bool {
                    to.doubt(rows);
                }
            }
        }
    }
}
