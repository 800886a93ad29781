//! Blocks of rows of a few columns: the extremum of each column of each block, as for axis 1 of (100, 64, 8).
//!
//! ```text
//! for each block, for each strip of one or two registers of its columns:
//!     cut the rows into four chains
//!     for each row of a chain: where it is larger, it becomes the best of the chain, and its number the place
//!     combine the chains, the first rows first
//!     store the bests and the places
//! ```
//!
//! Best and place stay in registers, and no comparison waits for the one before it. A kernel for wide columns keeps both in
//! memory, and is called again for each block. (100, 64, 8) of binary64 took 81 us that way on Zen 4 with AVX2, and takes 10.5.
//!
//! The last strip overlaps the one before. Where 2, 4 or 8 bytes make a row, 16 bytes are several rows, and the lanes of a column
//! are combined at the end of a block. A block with NaN is left to the caller: the number of blocks before it is returned.
//!
//! Left out: other columns that do not fill 16 bytes, bools, and NaN that loses.

#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "one condition for all: the blocks, the results and the instruction set are there"
)]

use crate::element::ElementType;
use crate::isa::Task;
use crate::kernels::short_rows::{Set, Unpacked, store_places, values, with_kind, with_set};
use crate::vector::{Kind, Lanes, Register, splat};
use std::marker::PhantomData;

/// Finds the extremum of each column of several blocks.
#[derive(Clone, Copy)]
pub struct Down {
    /// The first element.
    pub data: *const u8,
    /// Bytes from one block to the next.
    pub block: isize,
    /// Number of blocks.
    pub blocks: usize,
    /// Bytes from one row to the next.
    pub row: isize,
    /// Rows of a block, as many as [serve].
    pub rows: usize,
    /// Columns of a block, which lie side by side, as many as [serve].
    pub columns: usize,
    /// The element type.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Receives the row of each extremum, block after block; null where nobody wants it. Alignment is not needed.
    pub index: *mut i64,
    /// Receives the extremum itself, likewise.
    pub values: *mut u8,
}

/// Bytes of the narrowest register.
const NARROWEST: usize = 16;

/// Bytes of the longest block of which 16 bytes are several rows.
const SEVERAL: usize = 4096;

/// Columns from which on tiles of columns are faster.
const WIDE: usize = 128;

/// Whether blocks of so many rows and columns are read so, of which the rows may `follow` one another. A lane holds the number of a
/// row.
pub fn serve(element: ElementType, rows: usize, columns: usize, follow: bool) -> bool {
    let size = element.size();
    let bytes = columns * size;
    let counted = size > 2 || rows <= 1 << (8 * size);
    let several = follow && NARROWEST.is_multiple_of(bytes) && (NARROWEST..=SEVERAL).contains(&(rows * bytes));
    element != ElementType::Bool
        && rows >= 2
        && counted
        && columns < WIDE
        && (bytes >= NARROWEST || several)
        && with_set!(I => I::TURNED[0] > 0, false)
}

impl Down {
    /// Returns the number of blocks done: there is NaN in the one that follows them.
    ///
    /// # Safety
    /// To read them so is [served](serve), and there are as many as there are said to be, with room for as many results.
    pub unsafe fn run(&self) -> usize {
        with_set!(I => with_kind!(self.element, self.largest, K, flip, infinity => self.by_width::<I, K>(flip, infinity)), 0)
    }

    unsafe fn by_width<I: Set<Register: Lanes<K>, Half: Lanes<K>, Narrow: Lanes<K>>, K: Kind>(
        &self,
        flip: i64,
        infinity: i64,
    ) -> usize {
        let bytes = self.columns * K::SIZE;
        if bytes >= <I::Register as Register>::BYTES {
            I::run(Strips::<K, I::Register>(self, flip, infinity, PhantomData))
        } else if bytes >= <I::Half as Register>::BYTES {
            I::run(Strips::<K, I::Half>(self, flip, infinity, PhantomData))
        } else if bytes >= NARROWEST {
            I::run(Strips::<K, I::Narrow>(self, flip, infinity, PhantomData))
        } else {
            I::run(Several::<K, I::Narrow>(self, flip, infinity, PhantomData))
        }
    }
}

/// Chains of rows that are compared side by side.
const CHAINS: usize = 4;

struct Strips<'a, K, V>(&'a Down, i64, i64, PhantomData<(K, V)>);

impl<K: Kind, V: Lanes<K>> Task for Strips<'_, K, V> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let job = self.0;
        for block in 0..job.blocks {
            let mut column = 0;
            while column < job.columns {
                let left = job.columns - column;
                let done = if left >= 2 * V::LANES {
                    self.strip::<2>(block, column)
                } else {
                    column = column.min(job.columns - V::LANES);
                    self.strip::<1>(block, column)
                };
                if !done {
                    return block;
                }
                column += if left >= 2 * V::LANES { 2 * V::LANES } else { V::LANES };
            }
        }
        job.blocks
    }
}

impl<K: Kind, V: Lanes<K>> Strips<'_, K, V> {
    /// Reads `N` registers of columns of a block; false where a lane was NaN.
    #[inline(always)]
    unsafe fn strip<const N: usize>(&self, block: usize, column: usize) -> bool {
        let job = self.0;
        let (flip, infinity) = (splat::<K, V>(self.1), splat::<K, V>(self.2));
        let from = job.data.wrapping_offset(job.block * block as isize).wrapping_add(column * K::SIZE);
        let load = |row: usize, at: usize| {
            V::load(from.wrapping_offset(job.row * row as isize).wrapping_add(at * V::BYTES)).lanes(flip)
        };
        let length = job.rows.div_ceil(CHAINS);
        let row = |chain, step| first_row((job.rows, 1), job.last, chain, step);
        let mut seen = V::unseen();
        let (mut best, mut place) = ([[flip; CHAINS]; N], [[flip; CHAINS]; N]);
        for chain in 0..CHAINS {
            let first = row(chain, 0);
            for at in 0..N {
                best[at][chain] = load(first, at);
                place[at][chain] = splat::<K, V>(first as i64);
                V::see(&mut seen, best[at][chain], best[at][chain]);
            }
        }
        for step in 1..length {
            for chain in (0..CHAINS).step_by(2) {
                let (one, other) = (row(chain, step), row(chain + 1, step));
                let (number, next) = (splat::<K, V>(one as i64), splat::<K, V>(other as i64));
                for at in 0..N {
                    let (a, b) = (load(one, at), load(other, at));
                    V::see(&mut seen, a, b);
                    a.take(number, &mut best[at][chain], &mut place[at][chain]);
                    b.take(next, &mut best[at][chain + 1], &mut place[at][chain + 1]);
                }
            }
        }
        for at in 0..N {
            let (most, rows) = combined(best[at], place[at]);
            if V::saw_nan(seen, most, infinity) {
                return false;
            }
            let result = block * job.columns + column + at * V::LANES;
            if !job.index.is_null() {
                store_places::<K, V>(rows, job.index.add(result));
            }
            if !job.values.is_null() {
                let element = |lane: usize, row: usize| {
                    from.wrapping_offset(job.row * row as isize).wrapping_add(at * V::BYTES + lane * K::SIZE)
                };
                values::<K, V>(most, rows, flip, element, job.values.add(result * K::SIZE));
            }
        }
        true
    }
}

/// The best of four chains, of which the first wins a tie.
#[inline(always)]
unsafe fn combined<K: Kind, V: Lanes<K>>(best: [V; CHAINS], place: [V; CHAINS]) -> (V, V) {
    let (mut most, mut rows) = (best[0], place[0]);
    for chain in 1..CHAINS {
        best[chain].take(place[chain], &mut most, &mut rows);
    }
    (most, rows)
}

/// The first row that a chain reads at a step, of `count` that are read `each` at a time in order of comparison: chains overlap.
#[inline(always)]
fn first_row((count, each): (usize, usize), last: bool, chain: usize, step: usize) -> usize {
    let reads = count.div_ceil(each);
    let length = reads.div_ceil(CHAINS);
    let row = (((chain * length).min(reads - length) + step) * each).min(count - each);
    if last { count - each - row } else { row }
}

/// Blocks of which a register holds several rows.
struct Several<'a, K, V>(&'a Down, i64, i64, PhantomData<(K, V)>);

impl<K: Kind, V: Lanes<K>> Task for Several<'_, K, V> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(job, flip, infinity, _) = self;
        let (flip, infinity) = (splat::<K, V>(flip), splat::<K, V>(infinity));
        let width = job.columns * K::SIZE;
        let each = V::BYTES / width;
        // The number of its row for each element of a block.
        let mut numbers = [0u8; SEVERAL];
        for at in 0..job.rows * job.columns {
            let number = (at / job.columns).to_le_bytes();
            numbers[at * K::SIZE..][..K::SIZE].copy_from_slice(&number[..K::SIZE]);
        }
        for block in 0..job.blocks {
            let from = job.data.wrapping_offset(job.block * block as isize);
            let mut seen = V::unseen();
            let (mut best, mut place) = ([flip; CHAINS], [flip; CHAINS]);
            for step in 0..job.rows.div_ceil(each).div_ceil(CHAINS) {
                for chain in 0..CHAINS {
                    let at = first_row((job.rows, each), job.last, chain, step) * width;
                    let (lanes, rows) = (V::load(from.add(at)).lanes(flip), V::load(numbers.as_ptr().add(at)));
                    V::see(&mut seen, lanes, lanes);
                    if step == 0 {
                        (best[chain], place[chain]) = (lanes, rows);
                    } else {
                        lanes.take(rows, &mut best[chain], &mut place[chain]);
                    }
                }
            }
            let (most, rows) = combined(best, place);
            if V::saw_nan(seen, most, infinity) {
                return block;
            }
            let (most, rows) = (Unpacked::new(most), Unpacked::new(rows));
            for column in 0..job.columns {
                let lanes = (column..V::LANES).step_by(job.columns);
                let key = |lane: usize| (most.rank::<K>(lane), rows.get::<K>(lane) as i64);
                let wins = |(rank, row): (i64, i64)| (rank, if job.last { row } else { -row });
                let row = lanes.map(key).max_by_key(|&key| wins(key)).map_or(0, |(_, row)| row);
                let result = block * job.columns + column;
                if !job.index.is_null() {
                    job.index.add(result).write_unaligned(row);
                }
                if !job.values.is_null() {
                    let from = from.add(row as usize * width + column * K::SIZE);
                    job.values.add(result * K::SIZE).copy_from_nonoverlapping(from, K::SIZE);
                }
            }
        }
        job.blocks
    }
}
