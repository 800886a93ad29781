//! Marks: a bit for each element of a block of rows, and the place of the first or last one in each column.
//!
//! Eight rows of eight columns are a square of bits. Turned round, it has the marks of a column side by side, and the place
//! of the first of them is a count of zero bits, which is as wide as an index already.

use crate::kernels::batches::batch::VECTOR;
use std::arch::x86_64::*;

/// Rows and columns of a square.
const SIDE: usize = 8;

/// Squares of a vector.
const SQUARES: usize = VECTOR / SIDE;

/// For each byte of a vector, which byte of another one it has.
type Permutation = [u8; VECTOR];

/// What brings the bytes of squares together, for rows of 1, 2, 4 and 8 bytes of marks: those of the first eight columns
/// before those of the next; and the same with the last row first.
static SQUARED: [[Permutation; 2]; 4] = [squared(1), squared(2), squared(4), squared(8)];

/// What gives each of the first eight columns its marks in one number, from its highest bit on.
static COLUMN: [Permutation; 4] = [column(1), column(2), column(4), column(8)];

const fn squared(width: usize) -> [Permutation; 2] {
    let mut all = [[0; VECTOR]; 2];
    let rows = VECTOR / width;
    let mut at = 0;
    while at < VECTOR {
        let (column, row) = (at / rows, at % rows);
        all[0][at] = (row * width + column) as u8;
        all[1][at] = ((rows - 1 - row) * width + column) as u8;
        at += 1;
    }
    all
}

const fn column(width: usize) -> Permutation {
    let mut all = [0; VECTOR];
    let mut at = 0;
    while at < SQUARES / width * SIDE {
        let (square, column) = (at / SIDE, at % SIDE);
        all[column * SIDE + SIDE - 1 - square] = at as u8;
        at += 1;
    }
    all
}

/// Blocks of equally many rows, of marks that lie side by side.
pub struct Marks {
    /// Bytes of a row.
    width: usize,
    /// Bytes of a block.
    bytes: usize,
    last: bool,
    squared: __m512i,
    columns: [__m512i; SQUARES],
    /// Which bytes of a column's number are marks.
    held: u64,
    /// What makes a place of a count.
    flip: __m512i,
    /// Marks of the row that loses to all others, in the vector that holds it.
    loser: __m512i,
}

impl Marks {
    /// Marks of so many columns: 8, 16, 32 or 64.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    pub unsafe fn new(rows: usize, columns: usize, last: bool) -> Self {
        let width = columns / SIDE;
        let (squares, at) = (SQUARES / width, width.ilog2() as usize);
        // SAFETY: the caller has AVX-512; the permutations are vectors.
        unsafe {
            let squared = _mm512_loadu_epi8(SQUARED[at][last as usize].as_ptr().cast());
            let mut columns = [_mm512_loadu_epi8(COLUMN[at].as_ptr().cast()); SQUARES];
            let next = _mm512_set1_epi8((squares * SIDE) as i8);
            for at in 1..SQUARES {
                columns[at] = _mm512_add_epi8(columns[at - 1], next);
            }
            let held = (0xff << (SIDE - squares) & 0xff) * 0x0101_0101_0101_0101;
            let flip = _mm512_set1_epi64(if last { (squares * SIDE) as i64 - 1 } else { 0 });
            let bytes = rows * width;
            let at = if last { 0 } else { (bytes - width) % VECTOR };
            let loser = _mm512_movm_epi8((u64::MAX >> (64 - width)) << at);
            Self { width, bytes, last, squared, columns, held, flip, loser }
        }
    }

    /// Finds the place in each column of some blocks. Where a column has no mark, that is the row that loses: another thread may
    /// have written since the extremes were found.
    ///
    /// # Safety
    /// AVX-512 with VBMI and GFNI is in force; there are so many blocks, and room for a place of each column.
    #[inline(always)]
    pub unsafe fn places(&self, blocks: usize, marks: *const u8, to: *mut i64) {
        for block in 0..blocks {
            // SAFETY: the caller's.
            unsafe {
                let (marks, to) = (marks.add(block * self.bytes), to.add(block * self.width * SIDE));
                match self.bytes <= VECTOR {
                    true => self.short(marks, to),
                    false => self.long(marks, to),
                }
            }
        }
    }

    /// # Safety
    /// As for [`places`](Self::places), of one block that fits a vector.
    #[inline(always)]
    unsafe fn short(&self, marks: *const u8, to: *mut i64) {
        // SAFETY: the caller's.
        unsafe {
            let squares = self.squares(marks, self.bytes, self.loser);
            for at in 0..self.width {
                let (_, places) = self.eight(squares, at);
                _mm512_storeu_epi64(to.add(at * SIDE), places);
            }
        }
    }

    /// # Safety
    /// As for [`places`](Self::places), of one block.
    #[inline(always)]
    unsafe fn long(&self, marks: *const u8, to: *mut i64) {
        let steps = self.bytes.div_ceil(VECTOR);
        // SAFETY: the caller's.
        unsafe {
            let mut others = self.loser;
            // What wins is looked at last.
            for step in 0..steps {
                let start = if self.last { step } else { steps - 1 - step } * VECTOR;
                let squares = self.squares(marks.add(start), self.bytes - start, others);
                others = _mm512_setzero_si512();
                let first = _mm512_set1_epi64((start / self.width) as i64);
                for at in 0..self.width {
                    let (column, places) = self.eight(squares, at);
                    let found = _mm512_test_epi64_mask(column, column);
                    _mm512_mask_storeu_epi64(to.add(at * SIDE), found, _mm512_add_epi64(places, first));
                }
            }
        }
    }

    /// The squares of so many bytes of marks, as far as a vector goes, and of others, turned round.
    ///
    /// # Safety
    /// As for [`places`](Self::places).
    #[inline(always)]
    unsafe fn squares(&self, marks: *const u8, bytes: usize, others: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let there = u64::MAX >> VECTOR.saturating_sub(bytes);
            let marks = _mm512_or_si512(_mm512_maskz_loadu_epi8(there, marks.cast()), others);
            // The product of a square and the one that has a bit in every row and column.
            let identity = _mm512_set1_epi64(0x8040_2010_0804_0201_u64.cast_signed());
            _mm512_gf2p8affine_epi64_epi8::<0>(identity, _mm512_permutexvar_epi8(self.squared, marks))
        }
    }

    /// The marks of eight columns, a number each, and their places, where there is one.
    ///
    /// # Safety
    /// As for [`places`](Self::places).
    #[inline(always)]
    unsafe fn eight(&self, squares: __m512i, at: usize) -> (__m512i, __m512i) {
        // SAFETY: the caller's.
        unsafe {
            let column = _mm512_maskz_permutexvar_epi8(self.held, self.columns[at], squares);
            (column, _mm512_xor_si512(_mm512_lzcnt_epi64(column), self.flip))
        }
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use crate::isa::{Task, avx512_vbmi};

    /// Looks for places where there is no mark: what is left when another thread writes in between.
    struct Vain {
        rows: usize,
        columns: usize,
        last: bool,
    }

    impl Task for Vain {
        type Output = Vec<i64>;
        #[inline(always)]
        unsafe fn run(self) -> Vec<i64> {
            let Self { rows, columns, last } = self;
            let marks = vec![0; 2 * rows * columns / 8];
            let mut places = vec![-1; 2 * columns];
            // SAFETY: there are two blocks of marks, and as many places.
            unsafe { Marks::new(rows, columns, last).places(2, marks.as_ptr(), places.as_mut_ptr()) };
            places
        }
    }

    #[test]
    fn a_mark_that_is_gone_is_a_row_of_its_block() {
        if !avx512_vbmi::is_available() {
            return;
        }
        for columns in [8, 16, 32, 64] {
            for rows in 1..=300 {
                for last in [false, true] {
                    // SAFETY: the processor has what it takes.
                    let places = unsafe { avx512_vbmi::run(Vain { rows, columns, last }) };
                    let loser = if last { 0 } else { rows as i64 - 1 };
                    assert!(places.iter().all(|&place| place == loser), "{rows} {columns} {last} {places:?}");
                }
            }
        }
    }
}
