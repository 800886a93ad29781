//! Transposition: rows become columns.
//!
//! ```text
//! for some rows, and for each strip of N columns, N lanes of 16 bytes being a register:
//!     load N rows of the strip
//!     log2(N) times: zip the first half of the registers with the second
//!     store the N registers, each of which is a part of a column
//! ```
//!
//! Where registers have two parts, two squares, one below the other, are transposed at once: what they become lies side by side.
//! Rows that end before a register does are read with what lies behind them where that is there, else from a copy.

use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::prefetch::prefetch;
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
    /// The first column: there is room for whole squares.
    pub to: *mut u8,
    /// Bytes from one column to the next.
    pub step: usize,
    /// Whether two squares are transposed at once.
    pub pairs: bool,
    /// Whether rows that are far apart are asked for before.
    pub ahead: bool,
}

/// Bytes of a part of a register.
const PART: usize = 16;

/// Rows that all strips take before the next ones, where rows are long and far apart: a line of the cache is read to its end
/// while it is there. Sixteen lines with a large power of two between them fit the second-level cache. (Or four squares, of narrow
/// elements: what comes before a strip takes as long as one.)
const BLOCK: usize = 16;

/// Bytes of the longest row that is asked for at once.
const SHORT: usize = 512;

/// Bytes of the smallest page of any system: where memory begins or ends to be readable is a multiple of it.
const PAGE: usize = 4096;

/// How many of `rows` rows of `len` bytes, the first ones, may be read as if they had `whole >= len` bytes: what is read behind a row
/// belongs to later rows, or lies in the gap before one of them and in the page of one of its ends.
#[inline(never)]
fn rows_read_beyond(rows: usize, stride: isize, len: usize, whole: usize) -> usize {
    match usize::try_from(stride) {
        _ if whole == len => rows,
        Ok(stride @ 1..) if stride < len + PAGE => rows.saturating_sub((whole - len).div_ceil(stride)),
        _ => 0,
    }
}

impl Transpose {
    /// Transposes elements of `SIZE` bytes by squares of `N` lanes.
    ///
    /// # Safety
    /// The rows may be read and the columns written; there is AVX2 where there are pairs.
    #[inline(always)]
    pub unsafe fn run<const SIZE: usize, const N: usize>(self) {
        let Self { from, stride, rows, len, to, step, .. } = self;
        let safe = rows_read_beyond(rows, stride, len * SIZE, len.next_multiple_of(N) * SIZE);
        let whole = safe - safe % N;
        let pairs = self.pairs && Two::BYTES > One::BYTES;
        // What is farther apart is finished first: the rows, or else the columns; those of scratch memory are in the cache.
        let far = len > 4 * N && stride.unsigned_abs() > step;
        let block = if pairs || far { BLOCK.max(4 * N) } else { usize::MAX };
        // The processor does not foresee where the next of short rows lies.
        let ahead = self.ahead && far && len * SIZE <= SHORT;
        let mut row = 0;
        while row < rows {
            let squares = block.min(whole - row.min(whole));
            let height = if squares > 0 { squares } else { rows - row };
            if ahead {
                // The next ones, which may be those of the next tile.
                for row in row + height..row + 2 * height {
                    let from = from.wrapping_offset(stride * row as isize);
                    let (from, head) = (from.wrapping_sub(from.addr() % LINE), from.addr() % LINE);
                    (0..head + len * SIZE).step_by(LINE).for_each(|at| prefetch::<LINE>(from.wrapping_add(at)));
                }
            }
            for column in (0..len).step_by(N) {
                let width = N.min(len - column);
                // SAFETY: the strip's squares end inside the rows.
                unsafe {
                    let strip = Strip {
                        from: from.add(column * SIZE).offset(stride * row as isize),
                        stride,
                        rows: height,
                        to: to.add(column * step + row * SIZE),
                        step,
                        width,
                    };
                    // Columns that nobody asked for are not even computed.
                    match width {
                        _ if squares == 0 => strip.copied::<SIZE, N>(),
                        ..=2 => strip.run::<SIZE, N, 2>(pairs),
                        3..=4 => strip.run::<SIZE, N, 4>(pairs),
                        5..=8 => strip.run::<SIZE, N, 8>(pairs),
                        _ => strip.run::<SIZE, N, 16>(pairs),
                    }
                }
            }
            row += height;
        }
    }
}

/// Rows that become up to `N` columns, `width` of which are stored.
#[derive(Clone, Copy)]
struct Strip {
    from: *const u8,
    stride: isize,
    rows: usize,
    to: *mut u8,
    step: usize,
    width: usize,
}

impl Strip {
    /// Transposes whole squares, and stores `width <= W` columns.
    ///
    /// # Safety
    /// The rows may be read in whole registers, and there is room for the columns; there is AVX2 where there are `pairs`.
    #[inline(always)]
    unsafe fn run<const SIZE: usize, const N: usize, const W: usize>(&self, pairs: bool) {
        let mut row = 0;
        // SAFETY: the caller's.
        unsafe {
            // (Where not all columns are asked for, most of the time is not spent here.)
            while pairs && W >= N && row + 2 * N <= self.rows {
                self.square::<Two, SIZE, N, W>(row);
                row += 2 * N;
            }
            while row < self.rows {
                self.square::<One, SIZE, N, W>(row);
                row += N;
            }
        }
    }

    /// Transposes rows by way of a copy that has room behind it.
    ///
    /// # Safety
    /// The rows may be read, and there is room for the columns of whole squares.
    #[inline(never)]
    unsafe fn copied<const SIZE: usize, const N: usize>(self) {
        for start in (0..self.rows).step_by(N) {
            let mut copy = Aligned([[0u8; PART]; N]);
            for (row, line) in (start..self.rows).zip(&mut copy.0) {
                // SAFETY: `width` elements of a row that exists; a line has room for `N`.
                unsafe {
                    let row = self.from.offset(self.stride * row as isize);
                    row.copy_to_nonoverlapping(line.as_mut_ptr(), self.width * SIZE);
                }
            }
            let (from, to) = (copy.0.as_ptr().cast(), self.to.wrapping_add(start * SIZE));
            // SAFETY: the copy is a whole square.
            unsafe { Self { from, stride: PART as isize, to, ..self }.square::<One, SIZE, N, 16>(0) };
        }
    }

    /// Transposes one square from a row on, or as many at once as a register has parts.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of so many rows.
    #[inline(always)]
    unsafe fn square<V: Register, const SIZE: usize, const N: usize, const W: usize>(&self, row: usize) {
        let corner = self.from.wrapping_offset(self.stride * row as isize);
        let to = self.to.wrapping_add(row * SIZE);
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
            for (column, register) in all.into_iter().enumerate().take(W) {
                if column < self.width {
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
