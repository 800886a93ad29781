//! A batch of rows: what every way to read one has in common.

// Where there is no AVX-512, nothing reads batches.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

use crate::element::ElementType;
use crate::kernels::outputs::Outputs;
use crate::kernels::source::Lines;

/// Rows of a batch, at most.
pub const ROWS: usize = 16;

/// Bytes of a vector.
pub const VECTOR: usize = 64;

/// How many bytes ahead memory is asked for. Measured from the third-level cache: 2 KiB gain less, and without
/// the hint it takes 10 to 25 % longer.
pub const AHEAD: usize = 4096;

/// Finds the extremum of each of several rows.
pub struct Batches {
    /// The rows, and their mask where there is one.
    pub lines: Lines,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row, at least one and at most 4096 bytes.
    pub len: usize,
    /// The element type.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether NaN loses to all numbers, where there is no mask; otherwise a batch with NaN is not done.
    pub numbers: bool,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Receives the extremum itself and its place in the row, but no key.
    pub to: Outputs,
    /// Receives the extremum at the other end of the order, where that is wanted too: values alone, under no mask. Else null.
    pub other: *mut u8,
}

impl Batches {
    /// Where the batches of `size` rows begin, of which there is one at least; the last overlaps the one before.
    #[inline(always)]
    pub fn starts(&self, size: usize) -> impl Iterator<Item = usize> {
        let last = self.rows - size;
        (0..self.rows).step_by(size).map(move |start| start.min(last))
    }

    /// Copies elements of `size` bytes.
    ///
    /// # Safety
    /// As for [`fetch`](Self::fetch).
    #[inline(always)]
    pub unsafe fn fetch_by(&self, size: usize, start: usize, rows: usize, places: *const i64) {
        // SAFETY: the caller's.
        unsafe {
            match size {
                1 => self.fetch::<1>(start, rows, places),
                2 => self.fetch::<2>(start, rows, places),
                4 => self.fetch::<4>(start, rows, places),
                _ => self.fetch::<8>(start, rows, places),
            }
        }
    }

    /// Copies the elements at the places in some of the rows to where they are wanted.
    ///
    /// # Safety
    /// There are such rows with such places, of elements of `SIZE` bytes, and values are wanted.
    #[inline(always)]
    unsafe fn fetch<const SIZE: usize>(&self, start: usize, rows: usize, places: *const i64) {
        for row in 0..rows {
            // SAFETY: the caller's; alignment is not needed.
            unsafe {
                let place = places.add(row).read_unaligned() as usize;
                let line = self.lines.from((start + row) as isize);
                let from = line.data.add(place * SIZE);
                let to = self.to.values.add((start + row) * SIZE);
                to.cast::<[u8; SIZE]>().write(from.cast::<[u8; SIZE]>().read());
            }
        }
    }

    /// Whether the rows follow one another in memory, and in the mask where there is one.
    pub fn follow(&self) -> bool {
        let Lines { stride, mask, mask_stride, .. } = self.lines;
        stride == (self.len * self.element.size()) as isize && (mask.is_null() || mask_stride == self.len as isize)
    }
}
