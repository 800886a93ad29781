//! A narrow kept axis, where the reduced axis goes on where it ends: neighbouring rows are read as one wide row.

use crate::kernels::source::Lines;
use crate::operations::block::{Asked, Blocks};
use crate::operations::results::Results;

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reads `interleaved` neighbouring rows of `len` columns as one wide row, then combines the columns that belong
    /// together.
    ///
    /// # Safety
    /// As for [`read`](Self::read), of so many rows of `len` columns, each of which begins where the last one ends; of `N`
    /// ends, without a mask.
    #[inline(never)]
    pub(super) unsafe fn interleaved<const N: usize>(
        &self,
        (inputs, against, to): Asked,
        lines: Lines,
        rows: usize,
        len: usize,
        interleaved: usize,
    ) {
        let (wide, rest) = (rows / interleaved, rows % interleaved);
        let last = self.last();
        let size = inputs[0].element.size();
        let mut totals = [const { Results::new() }; N];
        let mut parts = [const { Results::new() }; N];
        // SAFETY: the caller's; each part is filled before it is read, and there is room for `len` results.
        unsafe {
            if wide > 0 {
                let into = Results::outputs(&mut parts);
                self.columns((inputs, against, &into), lines.every(interleaved as isize), wide, len * interleaved);
                for ((total, part), input) in totals.iter_mut().zip(&mut parts).zip(inputs) {
                    for (column, index) in part.index_slice(len * interleaved).iter_mut().enumerate() {
                        *index = *index * interleaved as i64 + (column / len) as i64;
                    }
                    total.copy(part, len, size);
                    for neighbour in 1..interleaved {
                        total.combine(len, part, neighbour * len, input, last);
                    }
                }
            }
            if rest > 0 {
                let start = wide * interleaved;
                let into = Results::outputs(if wide > 0 { &mut parts } else { &mut totals });
                self.columns((inputs, against, &into), lines.from(start as isize), rest, len);
                for ((total, part), input) in totals.iter_mut().zip(&mut parts).zip(inputs) {
                    let into = if wide > 0 { &mut *part } else { &mut *total };
                    for index in into.index_slice(len) {
                        *index += start as i64;
                    }
                    if wide > 0 {
                        total.combine(len, part, 0, input, last);
                    }
                }
            }
            for (total, to) in totals.iter_mut().zip(to) {
                if !to.values.is_null() {
                    for (column, &row) in total.index_slice(len).iter().enumerate() {
                        let from = lines.from(row as isize).data.wrapping_add(column * size);
                        to.values.add(column * size).copy_from_nonoverlapping(from, size);
                    }
                }
                let (keys, index) = total.pointers();
                if !to.keys.is_null() {
                    to.keys.copy_from_nonoverlapping(keys, len * size);
                }
                if !to.index.is_null() {
                    // (They may be the output's, which are not aligned.)
                    to.index.cast::<u8>().copy_from_nonoverlapping(index.cast(), len * 8);
                }
            }
        }
    }
}
