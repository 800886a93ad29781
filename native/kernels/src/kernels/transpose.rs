//! Transposition: rows become columns.
//!
//! ```text
//! for some rows, and for each strip of N columns, N lanes of 16 bytes being a register:
//!     load N rows of the strip
//!     log2(N) times: zip the first half of the registers with the second
//!     store the N registers: each is a part of a column
//! ```
//!
//! Where registers have two parts, two squares, one below the other, are transposed at once: what they become lies side by side.
//! The last strip and the last square overlap those before them. Rows that are shorter than a register are read with what lies behind
//! them, but for the last ones, which are left to the caller.

use crate::vector::Register;
use std::hint::black_box;

/// A register of 16 bytes, and the next wider one, where there is one.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod registers {
    pub use std::arch::x86_64::{__m128i as One, __m256i as Two};
}
#[cfg(all(target_arch = "aarch64", not(miri)))]
mod registers {
    pub use std::arch::aarch64::{uint8x16_t as One, uint8x16_t as Two};
}
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod registers {
    pub use crate::vector::portable::{Part as One, Part as Two};
}
use registers::{One, Two};

/// Rows of contiguous elements, and where they become columns.
#[derive(Clone, Copy)]
pub struct Transpose {
    /// The first row.
    pub from: *const u8,
    /// Bytes from one row to the next.
    pub stride: isize,
    /// Number of rows: those of a square at least.
    pub rows: usize,
    /// Elements in a row.
    pub len: usize,
    /// The first column.
    pub to: *mut u8,
    /// Bytes from one column to the next.
    pub step: usize,
    /// Whether two squares are transposed at once.
    pub pairs: bool,
}

/// Rows that all strips take before the next ones, where rows are long and far apart: a line of the cache is read to its end
/// while it is there. Sixteen lines with a large power of two between them fit the second-level cache. (Or four squares, of narrow
/// elements: what comes before a strip takes as long as one.)
const BLOCK: usize = 16;

/// Bytes of the smallest page of any system: where memory begins or ends to be readable is a multiple of it.
const PAGE: usize = 4096;

/// How many of `rows` rows of `len` bytes, the first ones, may be read as if they had `whole >= len` bytes: what is read behind a row
/// belongs to later rows, or lies in the gap before one of them and in the page of one of its ends.
#[inline(never)]
fn rows_read_beyond(rows: usize, stride: isize, len: usize, whole: usize) -> usize {
    match usize::try_from(stride) {
        _ if whole <= len => rows,
        Ok(stride @ 1..) if stride < len + PAGE => rows.saturating_sub((whole - len).div_ceil(stride)),
        _ => 0,
    }
}

impl Transpose {
    /// Transposes elements of `SIZE` bytes by squares of `N` lanes; returns how many rows, the first ones.
    ///
    /// # Safety
    /// The rows may be read and the columns written; there is AVX2 where there are pairs.
    #[inline(always)]
    pub unsafe fn run<const SIZE: usize, const N: usize>(self) -> usize {
        let Self { stride, len, step, .. } = self;
        let rows = rows_read_beyond(self.rows, stride, len * SIZE, N * SIZE);
        if rows < N {
            return 0;
        }
        let pairs = self.pairs && Two::BYTES > One::BYTES;
        // What is farther apart is finished first: the rows, or else the columns; those of scratch memory are in the cache.
        let far = len > 4 * N && stride.unsigned_abs() > step;
        let block = if pairs || far { BLOCK.max(4 * N) } else { rows };
        for top in (0..rows).step_by(block) {
            let end = rows.min(top + block);
            for column in (0..len).step_by(N) {
                let column = column.min(len.saturating_sub(N));
                let mut row = top;
                // SAFETY: the squares end inside the rows, and where those are short inside what may be read.
                unsafe {
                    while pairs && row + 2 * N <= end {
                        self.square::<Two, SIZE, N>(row, column);
                        row += 2 * N;
                    }
                    while row < end {
                        self.square::<One, SIZE, N>(row.min(rows - N), column);
                        row += N;
                    }
                }
            }
        }
        rows
    }

    /// Transposes one square, or as many at once as a register has parts.
    ///
    /// # Safety
    /// The rows of `N` elements may be read, and the columns written.
    #[inline(always)]
    unsafe fn square<V: Register, const SIZE: usize, const N: usize>(&self, row: usize, column: usize) {
        let corner = self.from.wrapping_add(column * SIZE).wrapping_offset(self.stride * row as isize);
        let to = self.to.wrapping_add(column * self.step + row * SIZE);
        // Multiples of a stride that is known from one square to the next would be kept, one and all, and fetched for each register.
        let stride = if N > 2 { black_box(self.stride) } else { self.stride };
        // SAFETY: the caller's.
        unsafe {
            let mut all = [V::load_parts(corner, stride * N as isize); N];
            for (row, register) in all.iter_mut().enumerate().skip(1) {
                *register = V::load_parts(corner.offset(stride * row as isize), stride * N as isize);
            }
            let mut lanes = N;
            while lanes > 1 {
                all = zipped::<V, SIZE, N>(all);
                lanes /= 2;
            }
            for (column, register) in all.into_iter().enumerate() {
                if column < self.len {
                    register.store(to.add(column * self.step));
                }
            }
        }
    }
}

/// Interleaves the first half of the registers with the second.
///
/// # Safety
/// The registers belong to an instruction set in force.
#[inline(always)]
unsafe fn zipped<V: Register, const SIZE: usize, const N: usize>(registers: [V; N]) -> [V; N] {
    let mut all = registers;
    for pair in 0..N / 2 {
        // SAFETY: the caller's.
        (all[2 * pair], all[2 * pair + 1]) = unsafe { registers[pair].zip::<SIZE>(registers[pair + N / 2]) };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{PAGE, rows_read_beyond};

    /// Byte by byte: what is read of a row is part of a row, or in a gap that no page fits into.
    fn may_be_read(row: usize, rows: usize, stride: usize, len: usize, whole: usize) -> bool {
        (stride * row..stride * row + whole).all(|byte| {
            let behind = (0..rows).any(|row| byte < stride * row + len);
            let inside = (0..rows).any(|row| (stride * row..stride * row + len).contains(&byte));
            inside || (behind && stride < len + PAGE)
        })
    }

    #[test]
    fn no_row_is_read_beyond_what_is_there() {
        // (An interpreter would take minutes for the larger ones.)
        for rows in [0, 1, 2, 5, 16, 17, 40].into_iter().take(if cfg!(miri) { 3 } else { 7 }) {
            for stride in [0, 1, 2, 7, 8, 12, 15, 16, 17, 24, 100, 4100, 4110, 4111, 4112, 8192] {
                for (len, whole) in [(1, 16), (12, 16), (15, 16), (16, 16), (17, 32), (24, 32)] {
                    let safe = rows_read_beyond(rows, stride as isize, len, whole);
                    let all = (0..rows).take_while(|&row| may_be_read(row, rows, stride, len, whole)).count();
                    assert_eq!(safe, all, "{rows} {stride} {len} {whole}");
                    let backwards = rows_read_beyond(rows, -(stride as isize), len, whole);
                    assert_eq!(backwards, if len == whole { rows } else { 0 });
                }
            }
        }
    }
}
