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
//! the last square overlap those before them. A row that is shorter than a register is read together with the rows behind it, and
//! the last such rows are left to the caller. Where there are gaps between such rows, which no load may touch, strips are
//! 8, 4 or 2 bytes wide.
//!
//! Not done: registers that get such a row from two loads that overlap, so that one strip is enough. Rows of 2 to 7 bytes take 1.15
//! to 1.8 times as long then, rows of 9 to 14 bytes 0.95 to 1.15 times with AVX-512, 1.02 to 1.24 with AVX2 (EPYC, family 26,
//! model 2).

use crate::kernels::lanes::read_bits;
use crate::vector::Register;
use crate::vector::extent::{Readable, Writable};
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
const BLOCK_ROWS: usize = 16;

/// Bytes of the narrowest register, which a row of a square fills.
const NARROWEST_REGISTER_BYTES: usize = 16;

/// How many of `rows` rows of `len` bytes, counted from the first, may be read as if they had `whole > len` bytes: the bytes behind
/// such a row belong to later rows. None where there are gaps between rows, or later rows do not lie behind.
#[inline(never)]
fn rows_read_beyond(rows: usize, stride: isize, len: usize, whole: usize) -> usize {
    match usize::try_from(stride) {
        Ok(stride @ 1..) if stride <= len => rows.saturating_sub((whole - len).div_ceil(stride)),
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
        const { assert!(SIZE * N == NARROWEST_REGISTER_BYTES) };
        let Self { stride, len, step, .. } = self;
        let is_short = len < N;
        let has_gaps = stride.unsigned_abs() > len * SIZE;
        if is_short && has_gaps && self.rows >= N && len * SIZE > 1 {
            // SAFETY: the caller's promise.
            unsafe { self.rows_with_gaps::<SIZE, N>() };
            return self.rows;
        }
        let rows = if is_short {
            rows_read_beyond(self.rows, stride, len * SIZE, NARROWEST_REGISTER_BYTES)
        } else {
            self.rows
        };
        if rows < N {
            return 0;
        }
        let pairs = self.pairs && Two::BYTES > One::BYTES;
        // Finish first what is farther apart: the rows, or else the columns. Columns in scratch memory are in the cache.
        let far = len > 4 * N && stride.unsigned_abs() > step;
        let block = if pairs || far { BLOCK_ROWS.max(4 * N) } else { rows };
        for top in (0..rows).step_by(block) {
            let end = rows.min(top + block);
            for column in (0..len).step_by(N) {
                let column = column.min(len.saturating_sub(N));
                let mut row = top;
                // SAFETY: the squares end inside the rows, or inside later rows.
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

    /// Transposes rows that are shorter than a register and have gaps between them, which no load touches.
    ///
    /// # Safety
    /// As for [`run`](Self::run); there are at least `N` rows.
    #[inline(always)]
    unsafe fn rows_with_gaps<const SIZE: usize, const N: usize>(&self) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.len * SIZE {
                8.. => self.narrow_strips::<8, SIZE, N>(),
                4.. => self.narrow_strips::<4, SIZE, N>(),
                _ => self.narrow_strips::<2, SIZE, N>(),
            }
        }
    }

    /// Transposes such rows by one strip of `WIDTH` bytes, or two that overlap: each load repeats the bytes of a row in a register,
    /// and only the first columns that come out are stored.
    ///
    /// # Safety
    /// As for [`rows_with_gaps`](Self::rows_with_gaps); a row has `WIDTH` bytes to twice as many.
    #[inline(always)]
    unsafe fn narrow_strips<const WIDTH: usize, const SIZE: usize, const N: usize>(&self) {
        let Self { stride, len, rows, .. } = *self;
        let columns = WIDTH / SIZE;
        debug_assert!(columns <= len && len <= 2 * columns && rows >= N);
        let strips = if len > columns { 2 } else { 1 };
        // SAFETY: the caller's promise.
        let from = unsafe { Readable::lines(self.from, stride, rows, len * SIZE) };
        for row in (0..rows).step_by(N) {
            let row = row.min(rows - N);
            for strip in 0..strips {
                let column = strip * (len - columns);
                let corner = from.wrapping_offset(stride * row as isize).wrapping_add(column * SIZE);
                // SAFETY: as above. (A closure would be compiled without the instruction set.)
                unsafe {
                    let mut all = [One::splat::<WIDTH>(0); N];
                    for (line, register) in all.iter_mut().enumerate() {
                        let from = corner.wrapping_offset(stride * line as isize).read(WIDTH);
                        *register = One::splat::<WIDTH>(read_bits(from, WIDTH) as i64);
                    }
                    self.store_columns::<One, SIZE, N>(all, row, column, columns);
                }
            }
        }
    }

    /// Zips the rows of a square until they are columns, and stores the first `count` of them, from number `column` on.
    ///
    /// # Safety
    /// The columns may be written.
    #[inline(always)]
    unsafe fn store_columns<V: Register, const SIZE: usize, const N: usize>(
        &self,
        mut all: [V; N],
        row: usize,
        column: usize,
        count: usize,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let to = Writable::lines(self.to, self.step as isize, self.len, self.rows * SIZE);
            let to = to.wrapping_add(column * self.step + row * SIZE);
            let mut lanes = N;
            while lanes > 1 {
                all = zip::<V, SIZE, N>(all);
                lanes /= 2;
            }
            for (column, register) in all.into_iter().enumerate() {
                if column < count {
                    register.store(to.add(column * self.step));
                }
            }
        }
    }

    /// Transposes one square for each part of the register.
    ///
    /// # Safety
    /// The rows of `N` elements may be read, and the columns written.
    #[inline(always)]
    unsafe fn square<V: Register, const SIZE: usize, const N: usize>(&self, row: usize, column: usize) {
        // SAFETY: the caller's promise. Rows that follow one another are read across their ends.
        let from = unsafe { Readable::lines(self.from, self.stride, self.rows, self.len * SIZE) };
        let corner = from.wrapping_add(column * SIZE).wrapping_offset(self.stride * row as isize);
        // If the compiler knew the stride, it would store all its multiples and load one for each register: rows of three 32-bit
        // integers with gaps take 1.06 to 1.09 times as long then, others 0.94 to 1.04 times (EPYC, family 26, model 2, AVX-512 and
        // AVX2).
        let stride = if N > 2 { black_box(self.stride) } else { self.stride };
        // SAFETY: the caller's promise.
        unsafe {
            let mut all = [V::load_parts(corner, stride * N as isize); N];
            for (row, register) in all.iter_mut().enumerate().skip(1) {
                *register = V::load_parts(corner.offset(stride * row as isize), stride * N as isize);
            }
            self.store_columns::<V, SIZE, N>(all, row, column, self.len);
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
    use super::rows_read_beyond;

    /// Checks that each byte that is read is part of a row.
    fn may_be_read(row: usize, rows: usize, stride: usize, len: usize, whole: usize) -> bool {
        (stride * row..stride * row + whole)
            .all(|byte| (0..rows).any(|row| (stride * row..stride * row + len).contains(&byte)))
    }

    #[test]
    fn no_row_is_read_beyond_what_is_there() {
        // Miri would take minutes for the larger numbers.
        for rows in [0, 1, 2, 5, 16, 17, 40].into_iter().take(if cfg!(miri) { 3 } else { 7 }) {
            for stride in [0, 1, 2, 7, 8, 12, 15, 16, 17, 24, 100] {
                for (len, whole) in [(1, 16), (12, 16), (15, 16)] {
                    let safe = rows_read_beyond(rows, stride as isize, len, whole);
                    let all = (0..rows).take_while(|&row| may_be_read(row, rows, stride, len, whole)).count();
                    assert_eq!(safe, all, "{rows} {stride} {len} {whole}");
                    assert_eq!(rows_read_beyond(rows, -(stride as isize), len, whole), 0);
                }
            }
        }
    }
}
