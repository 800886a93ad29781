//! Short rows that are read in batches, and those that batches leave out.

use crate::element::order::Ends;
use crate::isa::InstructionSet;
use crate::kernels::batches::batch::{Batches, ROWS};
use crate::kernels::outputs::UNKNOWN;
use crate::kernels::short_rows::ShortRows;
use crate::kernels::source::Lines;
use crate::operations::block::{Asked, Blocks};
use crate::operations::input::{Input, with_sources};
use std::ptr;

/// Bytes of rows that batches read for one end of the order, then for the other: they stay in the first-level cache.
const TWICE: usize = 1 << 14;

/// Rows that batches leave out at once, at most.
const WITHOUT: usize = 16 * ROWS;

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads rows in batches: values alone of both ends at once where all elements take part, else some rows for one end, then
    /// for the other.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of so many rows of `len` elements.
    pub unsafe fn row_batches(&self, ends: Asked, lines: Lines, rows: usize, len: usize) {
        let (inputs, against, to) = ends;
        let values_alone = to.iter().all(|to| to.keys.is_null() && to.index.is_null());
        let at_once = InstructionSet::current() == InstructionSet::Avx512 && values_alone;
        if inputs.len() == 1 || at_once && lines.mask.is_null() && !inputs[0].numbers {
            // SAFETY: the caller's.
            return unsafe { self.row_batches_of(ends, lines, rows, len) };
        }
        let size = inputs[0].element.size();
        let group = (TWICE / (len * size)).next_multiple_of(ROWS).max(ROWS);
        for start in (0..rows).step_by(group) {
            for end in 0..inputs.len() {
                let ends = (&inputs[end..=end], &against[end..=end], &[to[end].from(start, size)][..]);
                // SAFETY: the caller's.
                unsafe { self.row_batches_of(ends, lines.from(start as isize), group.min(rows - start), len) };
            }
        }
    }

    /// Reads rows in batches, and those that batches leave out one by one.
    ///
    /// # Safety
    /// As for [`row_batches`](Self::row_batches), of one end, or of values alone.
    pub(super) unsafe fn row_batches_of(&self, (inputs, _, to): Asked, lines: Lines, rows: usize, len: usize) {
        let Input { element, largest, numbers, .. } = inputs[0];
        let (size, last) = (element.size(), self.last());
        let (mut done, mut without) = (0, ROWS);
        while done < rows {
            let (lines, left) = (lines.from(done as isize), rows - done);
            let (into, other) =
                (to[0].from(done, size), to.get(1).map_or(ptr::null_mut(), |to| to.from(done, size).values));
            // SAFETY: the caller's; each is run where the plan may have chosen it.
            let found = unsafe {
                match InstructionSet::current() {
                    InstructionSet::Avx512 => {
                        Batches { lines, rows: left, len, element, largest, numbers, last, to: into, other }.run()
                    }
                    _ if !lines.mask.is_null() || numbers => 0,
                    _ => {
                        let found = ShortRows { lines, rows: left, len, element, largest, last, to: into }.run();
                        if !into.notes.is_null() {
                            into.notes.write_bytes(UNKNOWN, found);
                        }
                        found
                    }
                }
            };
            if !into.keys.is_null() {
                // SAFETY: the batches have found a place in each of these rows; the keys have room for them.
                with_sources!(inputs, lines, S, X, _dispatch => unsafe {
                    lines.write_keys::<S, <X as Ends>::First>(found, into.index, into.keys)
                })
            }
            done += found;
            // Where NaN follows NaN, batches are not tried in vain each time.
            without = if found > 0 { ROWS } else { (2 * without).min(WITHOUT) };
            let rest = without.min(left - found);
            if rest > 0 {
                let both = [to[0].from(done, size), to[to.len() - 1].from(done, size)];
                let ends = (inputs, &[ptr::null(); 2][..to.len()], &both[..to.len()]);
                // SAFETY: the caller's; so many rows are left.
                unsafe {
                    self.rows(ends, lines.from(found as isize), rest, len);
                    if !both[0].notes.is_null() {
                        both[0].notes.write_bytes(UNKNOWN, rest);
                    }
                }
                done += rest;
            }
        }
        if lines.mask.is_null() {
            // What loses to all others may be there.
            // SAFETY: the caller's; so many rows are noted, if they are.
            unsafe { to[0].doubt(rows) };
        }
    }
}
