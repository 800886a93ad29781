//! The k best elements of each of many adjacent lines, for a small k.
//!
//! ```text
//! each lane keeps its best in order; a row of lanes moves to its place where one beats its k-th best
//! ```
//!
//! Columns with NaN are compared once more, by masks. Ascending columns take up to 2.6 times as long as random columns: each row
//! moves to its place (Xeon, family 6, model 167).
//!
//! Each row waits for its predecessor where a comparison is guessed wrong, so rows are prefetched a few rows ahead. With wide tiles,
//! 64 MB of 32 or 100 rows take 0.3 to 0.7 times as long for k 5, and 0.7 to 0.9 times for k 16; arrays in the caches take 0.9 to
//! 1.15 times as long (EPYC, family 26, model 2, AVX-512 and AVX2).

#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel's body: each access goes through a pointer that knows its extent")]

use crate::isa::Task;
use crate::kernels::lanes::prefetch_rows;
use crate::kernels::top_k::Destination;
use crate::vector::extent::{Readable, Writable};
use crate::vector::{Kind, Lanes, Mask, splat, store_places, values};
use std::marker::PhantomData;

/// Rows between the one that is read and the one that is prefetched. Few: rows a power of two apart evict each other.
const PREFETCHED_ROWS_AHEAD: usize = 4;

/// Moves rows of lanes to their places among the best of each lane.
pub struct Insert<K, V> {
    /// The first of the rows, and bytes from one to the next.
    pub from: *const u8,
    pub pitch: isize,
    pub rows: usize,
    /// Lanes of a row, at least those of one register.
    pub columns: usize,
    pub k: usize,
    /// Bits to flip, and the infinity of 16-bit floats.
    pub flip: i64,
    pub infinity: i64,
    /// Whether NaN comes before every number, or after.
    pub nan_first: bool,
    /// Whether NaN is expected.
    pub nans: bool,
    /// Room for `2 * k` times the registers that the columns fill.
    pub best: *mut u8,
    /// Receives the results; those of adjacent columns are adjacent.
    pub to: Destination,
    pub kind: PhantomData<(K, V)>,
}

impl<K: Kind, V: Lanes<K>> Insert<K, V> {
    /// Where a register of columns begins: the last one overlaps the one before.
    #[inline(always)]
    fn column(&self, group: usize) -> usize {
        (group * V::LANES).min(self.columns - V::LANES)
    }

    /// Where the best of a register of columns are kept, followed by their rows.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn state(&self, group: usize, at: usize) -> Writable {
        let groups = self.columns.div_ceil(V::LANES);
        let all = Writable::bytes(self.best, groups * 2 * self.k * V::BYTES);
        all.wrapping_add((group * 2 * self.k + at) * V::BYTES)
    }

    /// Where lanes come before their own best, in an order in which all NaN are equal. `nan` is where those lanes are NaN.
    ///
    /// # Safety
    /// The registers belong to the instruction set in force.
    #[inline(always)]
    unsafe fn beats(&self, lanes: V, own: V, nan: V::Mask, [infinity, least]: [V; 2]) -> V::Mask {
        let above = lanes.gt(own);
        let own = own.nan(infinity, least);
        if self.nan_first { above.or(nan).without(own) } else { above.or(own).without(nan) }
    }

    /// Prefetches what is read some rows later: a row of these columns, or of the next ones.
    #[inline(always)]
    fn prefetch_after(&self, row: usize) {
        let width = self.columns * K::SIZE;
        let later = row + PREFETCHED_ROWS_AHEAD;
        let (columns, row) = if later < self.rows { (0, later) } else { (width, later - self.rows) };
        let from = self.from.wrapping_offset(self.pitch * row as isize).wrapping_add(columns);
        prefetch_rows(from, 0, 1, width);
    }

    /// Compares all rows; returns whether NaN was seen. Where `NANS` does not hold, it must not have been.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn rows<const NANS: bool>(&self) -> bool {
        let Self { from, pitch, rows, columns, k, .. } = *self;
        let flip = splat::<K, V>(self.flip);
        let infinity = splat::<K, V>(self.infinity);
        let limits = [infinity, splat::<K, V>(self.infinity | 0x8000).lanes()];
        let mut nans = V::no_nan();
        let groups = columns.div_ceil(V::LANES);
        let mut seen = V::Mask::none();
        let from = Readable::lines(from, pitch, rows, columns * K::SIZE);
        debug_assert!(k > 0 && columns >= V::LANES, "{k} best of {columns} columns");
        // Row after row, each lane is inserted among the best of its column, which are in order.
        for row in 0..rows {
            let count = k.min(row);
            self.prefetch_after(row);
            let from = from.wrapping_offset(pitch * row as isize);
            for group in 0..groups {
                let read = V::load(from.wrapping_add(self.column(group) * K::SIZE)).xor(flip);
                let lanes = read.lanes();
                let mut nan = V::Mask::none();
                if NANS {
                    nan = lanes.nan(limits[0], limits[1]);
                    seen = seen.or(nan);
                } else {
                    V::note_nan(&mut nans, read, read);
                }
                let beats = |own: V| if NANS { self.beats(lanes, own, nan, limits) } else { lanes.gt(own) };
                // Most rows beat no k-th best: one comparison is all that they cost.
                if count == k && !beats(V::load(self.state(group, k - 1).readable())).any() {
                    continue;
                }
                let mut carry = lanes;
                let mut number = splat::<K, V>(row as i64);
                // Where a lane beats one of the best, it takes that place, and carries the one that was there to the next. Equal lanes
                // stay: the row above comes first.
                for at in 0..count {
                    let best = self.state(group, at);
                    let places = self.state(group, k + at);
                    let own = V::load(best.readable());
                    let place = V::load(places.readable());
                    let above = beats(own);
                    above.select(carry, own).store(best);
                    above.select(number, place).store(places);
                    (carry, number) = (above.select(own, carry), above.select(place, number));
                }
                if count < k {
                    carry.store(self.state(group, count));
                    number.store(self.state(group, k + count));
                }
            }
        }
        // A NaN that has a key may be the best of any column.
        let mut best = V::load(self.state(0, 0).readable());
        for group in 1..groups {
            best = best.max(V::load(self.state(group, 0).readable()));
        }
        if NANS { seen.any() } else { V::has_nan(nans, best, infinity) }
    }
}

impl<K: Kind, V: Lanes<K>> Task for Insert<K, V> {
    /// Whether there is NaN.
    type Output = bool;
    #[inline(always)]
    unsafe fn run(self) -> bool {
        let Self { from, pitch, rows, columns, k, to, nans, .. } = self;
        let flip = splat::<K, V>(self.flip);
        let groups = columns.div_ceil(V::LANES);
        let mut seen = K::FLOAT && nans || self.rows::<false>();
        if K::FLOAT && seen {
            seen = self.rows::<true>();
        }
        let from = Readable::lines(from, pitch, rows, columns * K::SIZE);
        let element =
            |column: usize, row: usize| from.wrapping_offset(pitch * row as isize).wrapping_add(column * K::SIZE);
        // A line of results for each of the best, `along` results apart.
        let places_to = Writable::lines(to.indices.cast(), 8 * to.along, k, 8 * columns);
        let values_to = Writable::lines(to.values, K::SIZE as isize * to.along, k, columns * K::SIZE);
        for group in 0..groups {
            let column = self.column(group);
            for at in 0..k {
                let lanes = V::load(self.state(group, at).readable());
                let places = V::load(self.state(group, k + at).readable());
                let result = to.along * at as isize + column as isize;
                store_places::<K, V, false>(places, places_to.wrapping_offset(8 * result));
                let element = |lane: usize, row: usize| element(column + lane, row).read(K::SIZE);
                values::<K, V>(lanes, places, flip, element, values_to.wrapping_offset(result * K::SIZE as isize));
            }
        }
        seen
    }
}
