//! Rows that follow one another and fill one, two, four or eight registers: a batch has many of them.
//!
//! ```text
//! for each batch of as many rows as a register has words of four bytes:
//!     for each row: read its registers, and keep the largest lane of each position
//!     join two registers at a time, until the largest lanes of all rows lie side by side in one (of 64-bit lanes in two); store them
//!     answer the batch before:
//!         values: they are these lanes
//!         places: for each row, copy its lane from memory to all lanes, compare its registers with them, pack the comparisons to a word,
//!             count zero bits
//! ```
//!
//! Nothing waits here, so the number of instructions decides: the processor starts about five in each cycle. Every address is a constant
//! away from the first of the batch, no register overlaps another, and many rows share what a batch costs. `thresholds` has the figures.
//!
//! Not done (Xeon, family 6, model 167, 256 KB):
//! - as long batches for rows of any length and stride: they take 0.8 to 1.1 times as long as [batches of four](super::batched), and all
//!   code grows by a twelfth;
//! - several rows in one register: places of rows of 16 and 32 bytes take 1.0 to 1.8 times as long as [transposed](super::transposed),
//!   values 0.6 to 2.0 times;
//! - answering the batch before the last one: 0.9 to 1.07 times.
//!
//! With AVX-512 a register of 64 bytes is as long as a line, and crosses one in most rows. Where rows are long, the next are prefetched:
//! 256 KB of rows of 256 bytes take 0.83 to 0.98 times as long, but shorter ones 0.94 to 1.07 times, and with AVX2 0.91 to 1.08 times.

use crate::isa::Task;
use crate::kernels::by_integers::is_undecided;
use crate::kernels::lanes::{LINE, prefetch_rows, read_bits, write_bits};
use crate::kernels::short_rows::{
    AsIntegersMode, FlipMode, Job, Mode, PlainAsIntegersMode, PlainMode, TRANSPOSED_PART_BYTES,
};
use crate::thresholds::{Answer, Limits, PREFETCHED_TRANSPOSED_LEAST_ARRAY_BYTES, kind_number};
use crate::vector::extent::Readable;
use crate::vector::{Kind, Lanes, MOST_GROUPS, Mask, Register, fold_groups, place_of_hit, splat, unroll};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Bytes between a batch and what is prefetched meanwhile: where the caches hold the rows, and where memory does.
const AHEAD_BYTES: usize = 2 << 10;
const AHEAD_OF_MEMORY_BYTES: usize = 12 << 10;

/// Rows that zips join at once.
const GROUP_ROWS: usize = 4;

/// Registers whose comparisons are packed to one word.
const MOST_WORD_REGISTERS: usize = 4;

/// Rows of a batch: as many as a register has words of four bytes.
const fn batch_rows<V: Register>() -> usize {
    V::BYTES / 4
}

/// Returns the number of rows done: the next have NaN among them or, of 16-bit floats, integers do not decide them.
///
/// # Safety
/// As for [`ShortRows::run`](super::ShortRows::run), of which this is a part: the rows [fill registers](super::ShortRows::fill_registers).
pub unsafe fn run<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, job: &Job) -> usize {
    debug_assert!(job.rows >= batch_rows::<I::Register>() && job.lines.mask.is_null() && job.other.is_null());
    debug_assert!(!job.ignore_nan && !job.minus_one_for_identity, "rows that have other options");
    match job.len / <I::Register as Lanes<K>>::LANES {
        1 => registers::<I, K, 1>(set, job),
        2 => registers::<I, K, 2>(set, job),
        4 => registers::<I, K, 4>(set, job),
        count => {
            debug_assert_eq!(count, 8, "registers of a row");
            registers::<I, K, 8>(set, job)
        }
    }
}

/// Chooses the mode.
///
/// # Safety
/// As for [`run`].
unsafe fn registers<I: Limits<Register: Lanes<K>>, K: Kind, const N: usize>(set: I, job: &Job) -> usize {
    // Rows of other lengths are never read here: this code is not needed.
    if !I::whole_registers_are_fastest(const { kind_number(K::SIZE, K::FLOAT) }, Answer::Values, N * I::Register::BYTES)
    {
        return 0;
    }
    match (const { K::KEYS }, job.flip == 0) {
        (false, true) => set.run(Batches::<K, I::Register, PlainMode, N>(job, PhantomData)),
        (false, false) => set.run(Batches::<K, I::Register, FlipMode, N>(job, PhantomData)),
        (true, true) => set.run(Batches::<K, I::Register, PlainAsIntegersMode, N>(job, PhantomData)),
        (true, false) => set.run(Batches::<K, I::Register, AsIntegersMode, N>(job, PhantomData)),
    }
}

/// Reads rows of `N` registers, batch after batch.
struct Batches<'a, K, V, M, const N: usize>(&'a Job, PhantomData<(K, V, M)>);

/// What is known of a batch once it is read.
#[repr(C)]
struct Best<V> {
    /// The extrema of its rows as they are in memory, one after the other: each fills four bytes, or eight.
    lanes: [V; 2],
    /// Whether they are the answers: false where there is NaN, or integers do not decide. It is kept in memory, too: otherwise the
    /// compiler looks for NaN after the batch before is answered, and keeps all elements until then.
    decided: bool,
}

impl<K: Kind, V: Lanes<K>, M: Mode, const N: usize> Task for Batches<'_, K, V, M, N> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        // A copy: otherwise the compiler has to assume that writes may change the job itself.
        let job = *self.0;
        Batches::<K, V, M, N>(&job, PhantomData).read()
    }
}

impl<K: Kind, V: Lanes<K>, M: Mode, const N: usize> Batches<'_, K, V, M, N> {
    /// Rows of a batch, and elements and bytes of a row.
    const ROWS: usize = batch_rows::<V>();
    const LEN: usize = N * V::LANES;
    const WIDTH: usize = N * V::BYTES;
    /// Bytes of a row's lane in [`Best`].
    const WORD: usize = if K::SIZE == 8 { 8 } else { 4 };

    /// Rows whose comparisons are packed to one word: of up to two registers with AVX2, which packs four as fast as one.
    const WORD_ROWS: usize =
        if V::BYTES == 32 && K::SIZE > 1 && N < MOST_WORD_REGISTERS { MOST_WORD_REGISTERS / N } else { 1 };

    /// Reads each batch, and answers the one before it meanwhile. Returns the number of rows done.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn read(&self) -> usize {
        let job = self.0;
        let mut kept = [const { MaybeUninit::<Best<V>>::uninit() }; 2];
        let kept = kept.as_mut_ptr().cast::<Best<V>>();
        let from_memory = job.bytes >= PREFETCHED_TRANSPOSED_LEAST_ARRAY_BYTES;
        let prefetches = V::BYTES == LINE && N >= 4 || from_memory;
        let ahead = if from_memory { AHEAD_OF_MEMORY_BYTES } else { AHEAD_BYTES };
        // The last batch overlaps the one before it, and writes the same results again. It is read twice, so that one loop is enough.
        let last = job.rows - Self::ROWS;
        let mut first = 0;
        let mut before = usize::MAX;
        let mut turn = 0;
        loop {
            let from = job.row(first);
            if prefetches {
                prefetch_rows(from.address().wrapping_add(ahead), 0, 1, Self::ROWS * Self::WIDTH);
            }
            self.reduce(from, kept.add(turn));
            if before != usize::MAX {
                self.answer(before, kept.add(turn ^ 1));
            }
            if !(*kept.add(turn)).decided {
                return first;
            }
            if before == last {
                return job.rows;
            }
            before = first;
            first = (first + Self::ROWS).min(last);
            turn ^= 1;
        }
    }

    /// Reads a batch and keeps its largest lanes.
    ///
    /// # Safety
    /// As for [`run`]; the rows of the batch may be read from `from` on.
    #[inline(always)]
    unsafe fn reduce(&self, from: Readable, kept: *mut Best<V>) {
        let constants = self.0.constants::<K, V>();
        let mut nans = V::no_nan();
        let mut groups = [[constants.flip; GROUP_ROWS]; MOST_GROUPS];
        unroll!(@ V::BYTES / TRANSPOSED_PART_BYTES, group, {
            let mut ones = [constants.flip; GROUP_ROWS];
            unroll!(@ GROUP_ROWS, row, {
                let from = from.add((group * GROUP_ROWS + row) * Self::WIDTH);
                let mut read = [constants.flip; N];
                for at in 0..N {
                    read[at] = M::elements::<K, V>(constants, V::load(from.add(at * V::BYTES)));
                    let lanes = M::lanes::<K, V>(constants, read[at]);
                    groups[group][row] = if at == 0 { lanes } else { lanes.max(groups[group][row]) };
                }
                // One comparison notes the NaN of two registers: of one row, or of two.
                for at in (1..N).step_by(2) {
                    V::note_nan(&mut nans, read[at - 1], read[at]);
                }
                ones[row] = read[0];
            }, 0 1 2 3);
            if N == 1 {
                V::note_nan(&mut nans, ones[0], ones[1]);
                V::note_nan(&mut nans, ones[2], ones[3]);
            }
        }, 0 1 2 3);
        let best = fold_groups::<K, V>(groups);
        let has_nan = V::has_nan(nans, best[0], constants.infinity);
        let decided = !(has_nan || M::AS_INTEGERS && is_undecided::<K, V>(best[0]));
        // Flipped back here, once for all rows, they are compared with elements as they are.
        let lanes = [M::elements::<K, V>(constants, best[0]), M::elements::<K, V>(constants, best[1])];
        kept.write(Best { lanes, decided });
    }

    /// Writes the answers of a batch: the places of the extrema, or the values alone.
    ///
    /// # Safety
    /// As for [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn answer(&self, first: usize, best: *const Best<V>) {
        match (self.0.to.wants_places(), self.0.last) {
            (false, _) => self.values(first, best),
            (true, false) => self.places::<false>(first, best),
            (true, true) => self.places::<true>(first, best),
        }
    }

    /// The extremum of a row.
    ///
    /// # Safety
    /// `best` has it.
    #[inline(always)]
    unsafe fn lane(best: *const Best<V>, row: usize) -> *const u8 {
        best.cast::<u8>().add(row * Self::WORD)
    }

    /// Writes the values of a batch.
    ///
    /// # Safety
    /// As for [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn values(&self, first: usize, best: *const Best<V>) {
        let job = self.0;
        let zero = splat::<K, V>(0);
        let [low, high] = (*best).lanes;
        // A lane of zero does not say which of the two zeros it is. 16-bit floats have none: integers do not decide them.
        if K::FLOAT && !K::KEYS && (low.any_eq(zero) || K::SIZE == 8 && high.any_eq(zero)) {
            for row in 0..Self::ROWS {
                let place = match job.last {
                    true => self.place::<true>(first, best, row),
                    false => self.place::<false>(first, best, row),
                };
                job.put_element::<K>(first + row, place);
            }
            return;
        }
        let to = job.values::<K>().add(first * K::SIZE);
        if K::SIZE >= 4 {
            low.store(to);
            if K::SIZE == 8 {
                high.store(to.add(V::BYTES));
            }
        } else {
            for row in 0..Self::ROWS {
                let bits = read_bits(Self::lane(best, row), K::SIZE);
                write_bits(to.add(row * K::SIZE).write(K::SIZE), bits, K::SIZE);
            }
        }
    }

    /// Writes the places of a batch, and the elements there if they are wanted.
    ///
    /// # Safety
    /// As for [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn places<const LAST: bool>(&self, first: usize, best: *const Best<V>) {
        let job = self.0;
        let index = job.to.places_of(job.rows);
        for row in (0..Self::ROWS).step_by(Self::WORD_ROWS) {
            if const { Self::WORD_ROWS == 1 } {
                let place = self.place::<LAST>(first, best, row);
                index.element::<i64>(first + row).write_unaligned(place as i64);
            } else {
                let hits = self.hits::<LAST>(first, best, row);
                for at in 0..Self::WORD_ROWS {
                    let bits = Self::LEN * V::BITS;
                    let place = if LAST {
                        Self::LEN - 1 - (hits << (64 - (at + 1) * bits)).leading_zeros() as usize / V::BITS
                    } else {
                        (hits >> (at * bits)).trailing_zeros() as usize / V::BITS
                    };
                    index.element::<i64>(first + row + at).write_unaligned(place as i64);
                }
            }
        }
        if job.to.wants_values() {
            for row in 0..Self::ROWS {
                let place = index.element::<i64>(first + row).read_unaligned();
                job.put_element::<K>(first + row, place as usize);
            }
        }
    }

    /// Which lanes of [`WORD_ROWS`](Self::WORD_ROWS) rows are the largest, in a word. Where memory has changed and there is none, the
    /// last (or first) is.
    ///
    /// # Safety
    /// As for [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn hits<const LAST: bool>(&self, first: usize, best: *const Best<V>, row: usize) -> u64 {
        let bits = Self::LEN * V::BITS;
        let mut guard = 0;
        for at in 0..Self::WORD_ROWS {
            guard |= 1 << (at * bits + if LAST { 0 } else { bits - 1 });
        }
        let mut masks = [V::Mask::none(); MOST_WORD_REGISTERS];
        for at in 0..Self::WORD_ROWS * N {
            let from = self.0.row(first).add((row * N + at) * V::BYTES);
            masks[at] = V::load(from).eq(self.needle(best, row + at / N));
        }
        let mask = |at: usize| masks[at];
        guard
            | match K::SIZE {
                2 => V::Mask::word::<2>(Self::WORD_ROWS * N, mask),
                4 => V::Mask::word::<4>(Self::WORD_ROWS * N, mask),
                _ => V::Mask::word::<8>(Self::WORD_ROWS * N, mask),
            }
    }

    /// The extremum of a row in all lanes. A port that loads copies it, where those that shuffle are busy.
    ///
    /// # Safety
    /// As for [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn needle(&self, best: *const Best<V>, row: usize) -> V {
        let lane = Self::lane(best, row);
        match K::SIZE {
            8 => V::splat::<8>(read_bits(lane, 8) as i64),
            _ => V::splat::<4>(read_bits(lane, 4) as i64),
        }
    }

    /// The place of the extremum of a row, the one of number `row` of a batch.
    ///
    /// # Safety
    /// As for [`reduce`](Self::reduce).
    #[inline(always)]
    unsafe fn place<const LAST: bool>(&self, first: usize, best: *const Best<V>, row: usize) -> usize {
        let from = self.0.row(first).add(row * Self::WIDTH);
        let needle = self.needle(best, row);
        let mut read = [needle; N];
        for at in 0..N {
            read[at] = V::load(from.add(at * V::BYTES));
        }
        // Where memory has changed, no lane may be equal.
        place_of_hit::<K, V, N, LAST>(&read, needle) % Self::LEN
    }
}
