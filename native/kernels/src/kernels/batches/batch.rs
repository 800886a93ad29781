//! A batch of rows: what every way to read one has in common.

// Where there is no AVX-512, nothing reads batches.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

use crate::element::ElementType;

/// Rows of a batch, at most.
pub const ROWS: usize = 16;

/// Bytes of a vector.
pub const VECTOR: usize = 64;

/// How many bytes ahead memory is asked for. Measured from the third-level cache: 2 KiB gain less, and without
/// the hint it takes 10 to 25 % longer.
pub const AHEAD: usize = 4096;

/// Finds the extremum of each of several rows.
pub struct Batches {
    /// The first element of the first row.
    pub data: *const u8,
    /// Bytes from one row to the next.
    pub stride: isize,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row, at least one and at most 4096 bytes.
    pub len: usize,
    /// The element type.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether NaN of float32 or float64 loses to all numbers; otherwise a batch with NaN is not done.
    pub numbers: bool,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Receives the position in the row.
    pub index: *mut i64,
}

impl Batches {
    /// Where the batches of `size` rows begin, of which there is one at least; the last overlaps the one before.
    #[inline(always)]
    pub fn starts(&self, size: usize) -> impl Iterator<Item = usize> {
        let last = self.rows - size;
        (0..self.rows).step_by(size).map(move |start| start.min(last))
    }

    /// Whether the rows follow one another in memory.
    pub fn follow(&self) -> bool {
        self.stride == (self.len * self.element.size()) as isize
    }
}
