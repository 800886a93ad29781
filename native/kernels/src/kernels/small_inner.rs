//! Blocks of rows of a few columns: the extremum of each column of each block, as for axis 1 of (100, 64, 8).
//!
//! ```text
//! for each block, for each strip of four, two or one registers of its columns:
//!     cut the rows into one, two or four chains
//!     for each row of a chain: where it is larger, it becomes the best of the chain, and its number the place
//!     combine the chains, the first rows first
//!     store the bests and the places
//! ```
//!
//! Four bests and four places stay in registers, and no comparison waits for the one before it. (Eight of each do not fit the
//! sixteen registers of AVX2: (40, 50, 64) of binary64 took 48 us that way, and takes 26, on a Xeon of family 6, model 167.) The
//! kernel for wide columns keeps both in memory and is called again for each block: (100, 64, 8) of binary64 took 81 us that way
//! on Zen 4 with AVX2, and takes 10.5 in registers.
//!
//! Where memory holds the blocks, they are prefetched in the order of addresses, a few lines for each step: strips alone would read
//! 256 bytes here and there. 64 MB of 16-bit elements along a middle axis take 0.4 to 0.5 times as long with it.
//!
//! The last strip overlaps the one before, and the second the first where a row is long and does not begin at a cache line: then no
//! other strip crosses lines. Where a register holds several rows, the lanes of a column are combined at the end of a block: first to
//! the best lane, then to the row number of the lanes that equal it. The kernel stops at a block with NaN, which it leaves to the
//! caller, and returns the number of blocks before it.
//!
//! Not done: two rows compared first, as for columns. Four bests and places and the elements of two rows do not fit sixteen registers
//! (16-bit floats and binary32 take up to 1.25 times as long with AVX2, integers 0.8 to 0.9 times), and strips of two registers have twice
//! the ends (up to 1.5 times with SSE4.2: Xeon, family 6, model 167).
//!
//! Not supported: other columns that do not fill 16 bytes, bools, and NaN that loses.

#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel's body: each access goes through a pointer that knows its extent")]

use crate::element::ElementType;
use crate::isa::{Set, Task, with_set};
use crate::kernels::by_integers::{in_turns, is_undecided};
use crate::kernels::lanes::{LINE, Outputs, prefetch_rows, write_bits};
use crate::thresholds::{
    SMALL_INNER_ALIGNED_LEAST_REGISTERS, SMALL_INNER_MOST_ROW_REGISTERS, SMALL_INNER_MOST_SHARED_BYTES,
    TILES_LEAST_COLUMNS,
};
use crate::vector::extent::{Readable, Writable};
use crate::vector::{Kind, Lanes, Mask, NARROWEST, Register, Unpacked, fold, splat, store_places, values, with_kind};
use std::marker::PhantomData;

/// Finds the extremum of each column of several blocks.
#[derive(Clone, Copy, Debug)]
pub struct SmallInner {
    /// The first element.
    pub data: *const u8,
    /// Bytes from one block to the next.
    pub block: isize,
    /// Number of blocks.
    pub blocks: usize,
    /// Bytes from one row to the next.
    pub row: isize,
    /// Rows of a block, a number that [supports] accepts.
    pub rows: usize,
    /// Columns of a block, which are adjacent in memory; a number that [supports] accepts.
    pub columns: usize,
    /// The element type.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equal elements wins.
    pub last: bool,
    /// Bytes from a block to what is prefetched while it is read; 0 to prefetch nothing.
    pub ahead: usize,
    /// Receives the row of each extremum and the extremum itself, block after block.
    pub to: Outputs,
}

/// Whether one register holds several rows of `bytes` bytes, which it does only where they `follow` one another without a gap.
fn several(rows: usize, bytes: usize, follow: bool) -> bool {
    follow && bytes >= 2 && bytes.is_power_of_two() && rows * bytes <= SMALL_INNER_MOST_SHARED_BYTES
}

/// Whether this kernel reads blocks of this shape; rows may `follow` one another. A lane has to hold the number of a row.
pub fn supports(element: ElementType, rows: usize, columns: usize, follow: bool) -> bool {
    let size = element.size();
    let bytes = columns * size;
    let fits = size > 2 || rows <= 1 << (8 * size);
    element != ElementType::Bool
        && rows >= 2
        && fits
        && (bytes >= NARROWEST || columns >= 2 && several(rows, bytes, follow) && rows * bytes >= NARROWEST)
        && with_set!(I => {
            let register = <<I as Set>::Register as Register>::BYTES;
            let fills_few = register > NARROWEST && bytes <= SMALL_INNER_MOST_ROW_REGISTERS * register;
            columns < TILES_LEAST_COLUMNS || fills_few
        }, false)
}

impl SmallInner {
    /// Returns the number of blocks done. If blocks remain, the next one contains NaN.
    ///
    /// # Safety
    /// [`supports`] accepts the blocks; the memory holds all of them, and has room for their results.
    pub unsafe fn run(&self) -> usize {
        debug_assert!(
            supports(self.element, self.rows, self.columns, self.row == (self.columns * self.element.size()) as isize),
            "{self:?} is not supported"
        );
        with_set!(I, set => with_kind!(self.element, self.largest, K, flip, infinity => {
            self.by_width::<I, K>(set, flip, infinity)
        }), 0)
    }

    /// Where a block begins. Only the elements of its rows may be read from there.
    ///
    /// # Safety
    /// As for [`run`](Self::run), which makes these pointers from the shape of the blocks.
    #[inline(always)]
    unsafe fn rows_of<K: Kind>(&self, block: usize) -> Readable {
        debug_assert!(block < self.blocks);
        let data = self.data.wrapping_offset(self.block * block as isize);
        Readable::lines(data, self.row, self.rows, self.columns * K::SIZE)
    }

    /// Where the rows of all extrema are written.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn places(&self) -> Writable {
        self.to.places_of(self.blocks * self.columns)
    }

    /// Where all extrema are written.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn extrema<K: Kind>(&self) -> Writable {
        self.to.values_of(self.blocks * self.columns, K::SIZE)
    }

    /// Chooses the registers, and whether a register holds several rows.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn by_width<I: Set<Register: Lanes<K>, Half: Lanes<K>, Narrow: Lanes<K>>, K: Kind>(
        &self,
        set: I,
        flip: i64,
        infinity: i64,
    ) -> usize {
        let bytes = self.columns * K::SIZE;
        let block = if several(self.rows, bytes, self.row == bytes as isize) { self.rows * bytes } else { 0 };
        // Where the columns do not fill the widest register but the block does, whole rows share it: no lane is idle. Otherwise
        // the widest register that the columns fill takes them, and the last strip overlaps the one before.
        if bytes < <I::Register as Register>::BYTES && block >= <I::Register as Register>::BYTES {
            set.run(Several::<K, I::Register> { job: self, flip, infinity, kind: PhantomData })
        } else if bytes >= <I::Register as Register>::BYTES {
            self.in_strips::<I, K, I::Register>(set, flip, infinity)
        } else if bytes >= <I::Half as Register>::BYTES {
            self.in_strips::<I, K, I::Half>(set, flip, infinity)
        } else if bytes >= NARROWEST {
            self.in_strips::<I, K, I::Narrow>(set, flip, infinity)
        } else {
            set.run(Several::<K, I::Narrow> { job: self, flip, infinity, kind: PhantomData })
        }
    }

    /// Reads blocks whose columns fill a register.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn in_strips<I: Set, K: Kind, V: Lanes<K>>(&self, set: I, flip: i64, infinity: i64) -> usize {
        if const { K::KEYS } {
            in_turns(
                self.blocks,
                1,
                |first, blocks| self.part::<K>(first, blocks).in_strips_of::<I, K, V, true>(set, flip, infinity),
                |first, blocks| {
                    let job = &self.part::<K>(first, blocks);
                    set.run(Strips::<K, V, false, true, true> { job, flip, infinity, kind: PhantomData })
                },
            )
        } else {
            self.in_strips_of::<I, K, V, false>(set, flip, infinity)
        }
    }

    /// Reads blocks whose columns fill a register with the code of what is wanted alone: the ports that compare are busy.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn in_strips_of<I: Set, K: Kind, V: Lanes<K>, const AS_INTEGERS: bool>(
        &self,
        set: I,
        flip: i64,
        infinity: i64,
    ) -> usize {
        let job = self;
        if !self.to.wants_places() {
            set.run(Strips::<K, V, AS_INTEGERS, true, false> { job, flip, infinity, kind: PhantomData })
        } else if flip != 0 {
            set.run(Strips::<K, V, AS_INTEGERS, true, true> { job, flip, infinity, kind: PhantomData })
        } else {
            set.run(Strips::<K, V, AS_INTEGERS, false, true> { job, flip, infinity, kind: PhantomData })
        }
    }

    /// Some of the blocks, from number `first` on.
    fn part<K: Kind>(&self, first: usize, blocks: usize) -> Self {
        debug_assert!(first + blocks <= self.blocks);
        let data = self.data.wrapping_offset(self.block * first as isize);
        Self { data, blocks, to: self.to.from(first * self.columns, K::SIZE), ..*self }
    }
}

/// Registers that are compared in parallel, and chains of rows where the columns fill only one register.
const CHAINS: usize = 4;

/// Blocks whose columns fill a register. With `AS_INTEGERS`, 16-bit floats are integers, up to a block that those do not decide. Where
/// `FLIPS` is not set, there are no bits to flip; where `PLACES` is not set, values alone are wanted, and lanes decide them.
struct Strips<'a, K, V, const AS_INTEGERS: bool, const FLIPS: bool, const PLACES: bool> {
    job: &'a SmallInner,
    /// Bits to flip, so that the largest of the kind is wanted, and the infinity of 16-bit floats.
    flip: i64,
    infinity: i64,
    kind: PhantomData<(K, V)>,
}

impl<K: Kind, V: Lanes<K>, const AS_INTEGERS: bool, const FLIPS: bool, const PLACES: bool> Task
    for Strips<'_, K, V, AS_INTEGERS, FLIPS, PLACES>
{
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        // A copy: otherwise the compiler has to assume that writes may change the job itself.
        let job = *self.job;
        Strips { job: &job, ..self }.read()
    }
}

impl<K: Kind, V: Lanes<K>, const AS_INTEGERS: bool, const FLIPS: bool, const PLACES: bool>
    Strips<'_, K, V, AS_INTEGERS, FLIPS, PLACES>
{
    /// Reads all blocks, up to one with NaN. Returns the number of those before it.
    ///
    /// # Safety
    /// As for [`SmallInner::run`].
    #[inline(always)]
    unsafe fn read(&self) -> usize {
        let job = self.job;
        debug_assert!(job.columns >= V::LANES && job.rows >= 2);
        for block in 0..job.blocks {
            let from = job.data.wrapping_offset(job.block * block as isize);
            let mut next = from.wrapping_add(job.ahead);
            let mut column = 0;
            // Of a long row, one register is read twice so that the others do not cross cache lines. Where places are wanted, narrower
            // registers, half of which cross lines, wait for the comparisons anyway.
            let head = from.addr().wrapping_neg() % V::BYTES / K::SIZE;
            let is_long = job.columns >= SMALL_INNER_ALIGNED_LEAST_REGISTERS * V::LANES;
            let are_alike = job.row % V::BYTES as isize == 0;
            if head > 0 && is_long && are_alike && (V::BYTES == LINE || !PLACES) {
                if !self.strip::<4>(block, 0, &mut next) {
                    return block;
                }
                column = head;
            }
            while column < job.columns {
                let left = (job.columns - column) / V::LANES;
                let (done, registers) = match left {
                    4.. => (self.strip::<1>(block, column, &mut next), 4),
                    2.. => (self.strip::<2>(block, column, &mut next), 2),
                    _ => {
                        // The last register overlaps the one before, and writes the same results again.
                        column = column.min(job.columns - V::LANES);
                        (self.strip::<4>(block, column, &mut next), 1)
                    }
                };
                if !done {
                    return block;
                }
                column += registers * V::LANES;
            }
        }
        job.blocks
    }

    /// Reads `4 / EACH` registers of columns of a block in `EACH` chains of rows; false where a lane was NaN. Prefetches as many bytes
    /// as it reads from `next` on, and moves that behind them.
    ///
    /// # Safety
    /// As for [`SmallInner::run`]; the block has these columns from `column` on.
    #[inline(always)]
    unsafe fn strip<const EACH: usize>(&self, block: usize, column: usize, next: &mut *const u8) -> bool {
        let job = self.job;
        let flip = splat::<K, V>(self.flip);
        let infinity = splat::<K, V>(self.infinity);
        let from = job.rows_of::<K>(block).wrapping_add(column * K::SIZE);
        debug_assert!(column + CHAINS / EACH * V::LANES <= job.columns, "a strip ends inside the columns");
        let mut nans = V::no_nan();
        let mut best = [flip; CHAINS];
        let mut place = [flip; CHAINS];
        let chains = Chains::<EACH>::new(from, job.rows, job.row, job.last);
        // Four comparisons at a time, of four registers of columns, or of four chains of rows: none waits for another.
        for step in 0..chains.length {
            if job.ahead > 0 {
                prefetch_rows(*next, 0, 1, CHAINS * V::BYTES);
                *next = next.wrapping_add(CHAINS * V::BYTES);
            }
            let mut read = [flip; CHAINS];
            let mut rows = [flip; CHAINS];
            for at in 0..CHAINS {
                let (row, start) = chains.read(at % EACH, step);
                let start = start.wrapping_add(at / EACH * V::BYTES);
                let elements = V::load(start);
                read[at] = if FLIPS { elements.xor(flip) } else { elements };
                rows[at] = splat::<K, V>(row as i64);
            }
            // One comparison notes the NaN of two registers.
            V::note_nan(&mut nans, read[0], read[1]);
            V::note_nan(&mut nans, read[2], read[3]);
            if !AS_INTEGERS {
                read = [read[0].lanes(), read[1].lanes(), read[2].lanes(), read[3].lanes()];
            }
            // The first rows are the best so far, whatever they hold: nothing has to lose to all elements.
            if step == 0 {
                (best, place) = (read, rows);
            } else {
                for at in 0..CHAINS {
                    read[at].update_max(rows[at], &mut best[at], &mut place[at]);
                }
            }
        }
        // The chains of a column are stretches of its rows, in the order of comparison: the first wins a tie.
        for at in 0..CHAINS / EACH {
            let (most, rows) = combine::<K, V>(&best[at * EACH..][..EACH], &place[at * EACH..][..EACH]);
            if V::has_nan(nans, most, infinity) || AS_INTEGERS && is_undecided::<K, V>(most) {
                return false;
            }
            let result = block * job.columns + column + at * V::LANES;
            let extrema = job.extrema::<K>();
            if !PLACES {
                most.xor(flip).store(extrema.add(result * K::SIZE));
                continue;
            }
            if job.to.wants_places() {
                store_places::<K, V, false>(rows, job.places().add(result * size_of::<i64>()));
            }
            if job.to.wants_values() {
                let element = |lane: usize, row: usize| {
                    let row = from.wrapping_offset(job.row * row as isize);
                    row.wrapping_add(at * V::BYTES + lane * K::SIZE).read(K::SIZE)
                };
                values::<K, V>(most, rows, flip, element, extrema.add(result * K::SIZE));
            }
        }
        true
    }
}

/// The best of several chains; the first wins a tie.
///
/// # Safety
/// The registers belong to the instruction set in force.
#[inline(always)]
unsafe fn combine<K: Kind, V: Lanes<K>>(best: &[V], place: &[V]) -> (V, V) {
    let mut most = best[0];
    let mut rows = place[0];
    for chain in 1..best.len() {
        best[chain].update_max(place[chain], &mut most, &mut rows);
    }
    (most, rows)
}

/// Stretches of `count` reads, walked in parallel in the order of comparison. They overlap where `N` does not divide `count`.
struct Chains<const N: usize> {
    /// The number of the first read of each stretch, and where it reads.
    first: [(isize, Readable); N],
    /// Reads of each stretch.
    length: usize,
    /// From one read to the next, in numbers and in bytes.
    next: (isize, isize),
}

impl<const N: usize> Chains<N> {
    #[inline(always)]
    fn new(data: Readable, count: usize, stride: isize, last: bool) -> Self {
        let length = count.div_ceil(N);
        let (start, by) = if last { (count as isize - 1, -1) } else { (0, 1) };
        let mut first = [(0, data); N];
        for chain in 0..N {
            let number = start + by * (chain * length).min(count - length) as isize;
            first[chain] = (number, data.wrapping_offset(number * stride));
        }
        Self { first, length, next: (by, by * stride) }
    }

    /// The number of a read, and where it reads.
    #[inline(always)]
    fn read(&self, chain: usize, step: usize) -> (isize, Readable) {
        let (number, data) = self.first[chain];
        (number + self.next.0 * step as isize, data.wrapping_offset(self.next.1 * step as isize))
    }
}

/// Blocks whose rows share a register.
struct Several<'a, K, V> {
    job: &'a SmallInner,
    /// As for [`Strips`].
    flip: i64,
    infinity: i64,
    kind: PhantomData<(K, V)>,
}

impl<K: Kind, V: Lanes<K>> Task for Several<'_, K, V> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        // A copy, as in `Strips`.
        let job = *self.job;
        let flip = splat::<K, V>(self.flip);
        let infinity = splat::<K, V>(self.infinity);
        let width = job.columns * K::SIZE;
        debug_assert!(
            job.row == width as isize
                && job.rows * width >= V::BYTES
                && job.rows * width <= SMALL_INNER_MOST_SHARED_BYTES
        );
        // A number for each element of a block: in a tie, the row with the larger number wins (compared as lanes).
        let least = match (K::FLOAT && !K::KEYS, K::SIZE) {
            (false, size) => 1 << (8 * size - 1),
            (true, 4) => u64::from(1f32.to_bits()),
            _ => 1f64.to_bits(),
        };
        let number = |row: usize| least ^ if job.last { row } else { job.rows - 1 - row } as u64;
        let mut numbers = [0u8; SMALL_INNER_MOST_SHARED_BYTES];
        for row in 0..job.rows {
            for column in 0..job.columns {
                let to = numbers.as_mut_ptr().add(row * width + column * K::SIZE);
                write_bits(to, number(row), K::SIZE);
            }
        }
        let numbers = Readable::bytes(numbers.as_ptr(), job.rows * width);
        // A block is read as one line of registers, of which the last may overlap the one before: it ends where the block does.
        let reads = job.rows.div_ceil(V::BYTES / width);
        let end = job.rows * width - V::BYTES;
        let length = reads.div_ceil(CHAINS);
        for block in 0..job.blocks {
            let from = job.rows_of::<K>(block);
            let mut nans = V::no_nan();
            let mut best = [flip; CHAINS];
            let mut place = [flip; CHAINS];
            for step in 0..length {
                // Chains overlap where four do not divide the reads. Equal elements of the same number do no harm.
                for chain in 0..CHAINS {
                    let at = (((chain * length).min(reads - length) + step) * V::BYTES).min(end);
                    // The order of comparison runs from the end whose ties win, so the first of equal lanes is right.
                    let at = if job.last { end - at } else { at };
                    let read = V::load(from.add(at)).xor(flip);
                    let rows = V::load(numbers.add(at));
                    V::note_nan(&mut nans, read, read);
                    let lanes = read.lanes();
                    if step == 0 {
                        (best[chain], place[chain]) = (lanes, rows);
                    } else {
                        lanes.update_max(rows, &mut best[chain], &mut place[chain]);
                    }
                }
            }
            let (most, rows) = combine::<K, V>(&best, &place);
            if V::has_nan(nans, most, infinity) {
                return block;
            }
            // The best lane of each column, then the number of the row that wins among the lanes that equal it.
            let needle = fold::<K, V>(most, width);
            let rows = fold::<K, V>(needle.eq(most).select(rows, splat::<K, V>(least as i64)), width);
            let rows = Unpacked::new(rows);
            for column in 0..job.columns {
                let row = rows.get::<K>(column) ^ least as usize;
                let row = if job.last { row } else { job.rows - 1 - row };
                let result = block * job.columns + column;
                if job.to.wants_places() {
                    job.places().element::<i64>(result).write_unaligned(row as i64);
                }
                if job.to.wants_values() {
                    let from = from.add(row * width + column * K::SIZE);
                    let to = job.extrema::<K>().add(result * K::SIZE).write(K::SIZE);
                    to.copy_from_nonoverlapping(from.read(K::SIZE), K::SIZE);
                }
            }
        }
        job.blocks
    }
}
