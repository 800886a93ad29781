//! How a tile of columns is cut: its rows into passes, and the columns of a pass into stretches.
//!
//! Vectors that cross cache lines and miss the first-level cache take up to 1.7 times as long, and NumPy's large arrays begin 16 bytes
//! behind a line: so [`Stretches`] of long rows begin at a line. A bare loop of 512-bit vectors reads 256 KB at 167 GB/s from lines and
//! at 97 beside them, one that counts rows too at 100 and 79 (Xeon, family 6, model 167). Columns behind the last whole vector would be
//! compared one by one, which takes longer than that vector once more.

use crate::kernels::lanes::{LINE, Lines};
use crate::thresholds::CUT_TAIL_LEAST_COLUMNS;

/// Bytes of elements that a tile holds side by side.
pub const TILE_BYTES: usize = 8192;

/// The same for an array that memory holds.
pub const TILE_OF_MEMORY_BYTES: usize = if cfg!(debug_assertions) { 2 * TILE_BYTES } else { 1 << 17 };

/// How the rows of a tile are cut into passes, and what is prefetched while a pass is read.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    /// Rows of a pass, while as many are left: 8, 4 or 2.
    pub height: usize,
    /// Rows from a row to the one that is prefetched.
    pub ahead_rows: isize,
    /// Bytes along a row to those that are prefetched.
    pub ahead_bytes: isize,
    /// Bytes of each row that are read, and prefetched, at a time.
    pub stretch: usize,
    /// Bytes of a row from which on its vectors do not cross cache lines.
    pub aligned_from: usize,
}

impl Passes {
    /// For what the caches hold: the highest passes, and nothing is prefetched.
    pub const OF_CACHES: Self =
        Self { height: 8, ahead_rows: 0, ahead_bytes: 0, stretch: TILE_BYTES, aligned_from: usize::MAX };

    /// Whether anything is prefetched.
    #[inline(always)]
    pub fn prefetches(&self) -> bool {
        (self.ahead_rows, self.ahead_bytes) != (0, 0)
    }
}

/// Cuts the columns of a pass into stretches of whole cache lines, of which the last, of one line, overlaps the one before: the compiler
/// would compare columns behind the last whole vector one by one. Where the first column does not begin a line, the second stretch does,
/// so that no vector behind it crosses lines; the first stretch is one line then, and overlaps the second.
#[derive(Clone, Copy, Debug)]
pub struct Stretches {
    columns: usize,
    /// The most columns of a stretch.
    most: usize,
    /// Columns of a cache line.
    line: usize,
    /// Columns before the first that begins a line; 0 where lines do not matter.
    pub head: usize,
}

impl Stretches {
    /// How the columns of each pass over these lines are cut, of elements of `size` bytes.
    #[inline(always)]
    pub fn new(passes: Passes, lines: Lines, columns: usize, size: usize) -> Self {
        let most = passes.stretch / size;
        let whole = Self { columns, most: columns, line: 1, head: 0 };
        if columns * size < LINE {
            return whole;
        }
        let are_alike = lines.stride % LINE as isize == 0 && columns * size >= passes.aligned_from;
        let head = if are_alike { lines.data.address().addr().wrapping_neg() % LINE / size } else { 0 };
        let has_short_tail = columns % (LINE / size) < CUT_TAIL_LEAST_COLUMNS;
        if head == 0 && !passes.prefetches() && columns <= most && has_short_tail {
            return whole;
        }
        Self { columns, most, line: LINE / size, head }
    }

    /// The stretch that follows `from` columns: where it begins and ends, and behind which columns the next one follows.
    #[inline(always)]
    pub fn after(self, from: usize) -> (usize, usize, usize) {
        let Self { columns, most, line, head } = self;
        if from == 0 && head > 0 {
            (0, line, head)
        } else if columns - from < line {
            (columns - line, columns, columns)
        } else {
            let to = from + most.min((columns - from) / line * line);
            (from, to, to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stretches;

    #[test]
    fn stretches_reach_every_column_and_keep_to_lines() {
        let line = 16;
        for columns in [32, 33, 47, 48, 100, 512] {
            for most in [32, 64] {
                for head in 0..line {
                    let stretches = Stretches { columns, most, line, head };
                    let mut reached = 0;
                    let mut from = 0;
                    while from < columns {
                        let (start, to, next) = stretches.after(from);
                        assert!(start <= reached && start < to && to <= columns && to - start <= most);
                        assert!(next > from && next <= to, "{stretches:?} after {from}");
                        // What lies between the first and the last stretch begins at a line.
                        assert!(start == 0 || to == columns || start % line == head);
                        reached = to;
                        from = next;
                    }
                    assert_eq!(reached, columns, "{stretches:?}");
                }
            }
        }
    }
}
