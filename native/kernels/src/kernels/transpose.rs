//! Transposition: rows become columns.
//!
//! ```text
//! for some rows, and for each strip of N columns, N lanes of 16 bytes being a register:
//!     load N rows of the strip
//!     log2(N) times: zip the first half of the registers with the second
//!     store the N registers: each is a part of a column
//! ```
//!
//! Registers with two parts transpose two squares at once, one below the other: the results lie side by side. The last strip and
//! the last square overlap those before them. A row that is shorter than a register is read together with the bytes behind it.
//! The last such rows are left to the caller.

use crate::vector::Register;
use crate::vector::extent::Readable;
use std::hint::black_box;

/// A register of 16 bytes, and the next wider register, if there is one.
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
    /// Number of rows, at least those of a square.
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

/// Rows that all strips process before the next rows, if rows are long and far apart: each cache line is then read to its end
/// while it is cached. Sixteen lines that are a large power of two apart fit the second-level cache. Narrow elements take four
/// squares instead, because starting a strip takes as long as one square.
const BLOCK: usize = 16;

/// Bytes of the smallest page of any system: readable memory begins and ends at multiples of it.
const PAGE: usize = 4096;

/// How many of `rows` rows of `len` bytes, counted from the first, may be read as if they had `whole >= len` bytes. The bytes
/// behind such a row belong to later rows, or to a gap before a later row, in the same page as one of the ends of the gap.
#[inline(never)]
fn rows_read_beyond(rows: usize, stride: isize, len: usize, whole: usize) -> usize {
    match usize::try_from(stride) {
        _ if whole <= len => rows,
        Ok(stride @ 1..) if stride < len + PAGE => rows.saturating_sub((whole - len).div_ceil(stride)),
        _ => 0,
    }
}

impl Transpose {
    /// Transposes elements of `SIZE` bytes by squares of `N` lanes; returns how many rows are done, from the first on.
    ///
    /// # Safety
    /// The rows may be read and the columns written; `pairs` needs AVX2 on x86-64.
    #[inline(always)]
    pub unsafe fn run<const SIZE: usize, const N: usize>(self) -> usize {
        let Self { stride, len, step, .. } = self;
        let rows = rows_read_beyond(self.rows, stride, len * SIZE, N * SIZE);
        if rows < N {
            return 0;
        }
        let pairs = self.pairs && Two::BYTES > One::BYTES;
        // Finish first what is farther apart: the rows, or else the columns. Columns in scratch memory are in the cache.
        let far = len > 4 * N && stride.unsigned_abs() > step;
        let block = if pairs || far { BLOCK.max(4 * N) } else { rows };
        for top in (0..rows).step_by(block) {
            let end = rows.min(top + block);
            for column in (0..len).step_by(N) {
                let column = column.min(len.saturating_sub(N));
                let mut row = top;
                // SAFETY: the squares end inside the rows, or inside the readable bytes behind short rows.
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

    /// What may be read of rows of elements of `size` bytes, by squares of `lanes` lanes: the rows, and, where rows are shorter
    /// than a register, the gaps between them that [`rows_read_beyond`] allows.
    ///
    /// # Safety
    /// The rows may be read.
    #[inline(always)]
    unsafe fn readable(&self, size: usize, lanes: usize) -> Readable {
        let Self { from, stride, rows, len, .. } = *self;
        // SAFETY: the caller's promise, and that of `rows_read_beyond`.
        unsafe {
            match usize::try_from(stride) {
                Ok(step) if len < lanes => Readable::bytes(from, step * (rows - 1) + len * size),
                _ => Readable::lines(from, stride, rows, len * size),
            }
        }
    }

    /// Transposes one square for each part of the register.
    ///
    /// # Safety
    /// The rows of `N` elements may be read, and the columns written.
    #[inline(always)]
    unsafe fn square<V: Register, const SIZE: usize, const N: usize>(&self, row: usize, column: usize) {
        // SAFETY: the caller's promise.
        let from = unsafe { self.readable(SIZE, N) };
        let corner = from.wrapping_add(column * SIZE).wrapping_offset(self.stride * row as isize);
        let to = self.to.wrapping_add(column * self.step + row * SIZE);
        // If the compiler knew the stride, it would store all its multiples and load one for each register.
        let stride = if N > 2 { black_box(self.stride) } else { self.stride };
        // SAFETY: the caller's promise.
        unsafe {
            let mut all = [V::read_parts(corner, stride * N as isize); N];
            for (row, register) in all.iter_mut().enumerate().skip(1) {
                *register = V::read_parts(corner.offset(stride * row as isize), stride * N as isize);
            }
            let mut lanes = N;
            while lanes > 1 {
                all = zip::<V, SIZE, N>(all);
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
unsafe fn zip<V: Register, const SIZE: usize, const N: usize>(registers: [V; N]) -> [V; N] {
    let mut all = registers;
    for pair in 0..N / 2 {
        // SAFETY: the caller's promise.
        (all[2 * pair], all[2 * pair + 1]) = unsafe { registers[pair].zip::<SIZE>(registers[pair + N / 2]) };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{PAGE, rows_read_beyond};

    /// Checks each byte that is read: it is part of a row, or in a gap that is too small for a page.
    fn may_be_read(row: usize, rows: usize, stride: usize, len: usize, whole: usize) -> bool {
        (stride * row..stride * row + whole).all(|byte| {
            let behind = (0..rows).any(|row| byte < stride * row + len);
            let inside = (0..rows).any(|row| (stride * row..stride * row + len).contains(&byte));
            inside || (behind && stride < len + PAGE)
        })
    }

    #[test]
    fn no_row_is_read_beyond_what_is_there() {
        // Miri would take minutes for the larger numbers.
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
