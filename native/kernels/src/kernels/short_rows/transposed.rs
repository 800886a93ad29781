//! Short rows: one for each lane of a register, transposed in registers and compared column by column.
//!
//! ```text
//! for each batch of as many rows as lanes:
//!     for each 16 bytes of the rows (the last overlap the ones before):
//!         load them of all rows, and transpose them by log2(lanes of 16 bytes) rounds of zips: registers of columns
//!         for each column: where it is larger, it becomes the best, and its number the place
//!     the bests and the places of all rows lie side by side: store them
//! ```
//!
//! Rows of 13 elements and more of 8 bits, and of 9 and more of 16 bits, have no columns: an element and its place are one lane of twice
//! the bits, the element in the high half, and in the low half its rank, which is the larger the earlier ties win:
//!
//! ```text
//! for each batch:
//!     for each 16 bytes of each row: zip them with their ranks, and join both halves: the larger of each two lanes
//!     for each round of zips until two registers are left: join each two at once, so that half of them are left
//!     shuffle the two that are left, and zip them: the ranks of all rows, and their elements
//! ```
//!
//! 256 KB of such rows take 0.6 (32 elements, AVX2) to 0.95 times as long that way with 8 bits (EPYC, family 26, model 2), and with 16
//! bits 0.7 to 0.8 times with AVX2, 0.85 with SSE4.2, 0.9 to 1 with AVX-512 (Xeon, family 6, model 167).
//!
//! Where values alone are wanted, of integers and 16-bit floats, columns need not be told apart:
//!
//! ```text
//! for each batch:
//!     join the 16 bytes of each row, lane by lane: the larger of each two lanes
//!     for each round of zips: join each two registers at once, so that half of them are left
//! ```
//!
//! 256 KB of rows of 16 take 0.6 (8 bits, AVX2) to 0.9 times as long that way, of 2 to 5 elements 0.85 to 1.06 times; 16-bit floats of
//! which every fourth row is all zeros take 1.18 times as long with AVX2 (EPYC, family 26, model 2).
//!
//! There is no search, and the length of a row makes no difference: with AVX2 rows of 2 to 32 binary64 are read at 40 to 50 GB/s
//! on Zen 4. Where several rows fit into 16 bytes they are read together, and a shuffle spreads each to a power of two of lanes.
//! Where the last of equal elements wins, the same shuffle mirrors the rows.
//!
//! A register has as many parts of 16 bytes as it loads from rows that lie apart. Where rows fill 16 or 32 bytes and follow one another, it
//! is loaded at once, and the results are brought into the order of the rows at the end: 256 KB of rows of 16 bytes take 0.65 to 0.95 times
//! as long, of 32 bytes 0.77 to 0.93 times, with 32-bit elements 0.67 to 0.92 times with AVX-512. Not done: the same for wider elements, and
//! for 32-bit elements with other sets (0.89 to 1.06 times; Xeon, family 6, model 167).
//!
//! Where loads would read beyond the rows, the batch is copied first: at most one batch, the last.
//!
//! A batch touches a line in each of its rows, waits for all of them, and is too long for the next batch to start. So each batch
//! prefetches the rows 12 KiB further on. Rows of 16 elements in 64 MB took 0.3 to 0.75 times as long with prefetches of six batches
//! ahead, which are 6 KiB with AVX-512 and 3 with AVX2; 12 KiB are 1.09 and 1.33 times as fast as that (EPYC, family 26, model 2), and
//! with 32 KiB rows in 4 MB take up to 1.5 times as long. A batch of several parts prefetches as many lines with each part as it reads:
//! with those of a whole batch at once, 64 MB of rows of 24 to 63 bytes take 1.0 to 1.8 times as long with AVX-512, and 0.9 to 1.2 times
//! with AVX2. Not done: prefetching where places go (0.92 to 1.09 times as fast).
//!
//! Rows that are a copy in the first-level cache are compared while memory would be idle: each batch prefetches as many bytes of
//! what is copied next. 4 MB of rows of 10 binary32 under a mask take 0.75 to 0.9 times as long with AVX-512, 0.93 with AVX2 (Xeon,
//! family 6, model 207).

use crate::isa::{Set, Task};
use crate::kernels::by_integers::is_undecided;
use crate::kernels::lanes::{LINE, prefetch_rows, write_bits};
use crate::kernels::short_rows::zips::{apart, best_pairs, in_order, max_of_pairs, transpose, zip_pairs, zips};
use crate::kernels::short_rows::{
    AsIntegersMode, BothMode, Constants, FlipMode, IgnoreNanMode, Job, Mode, PlainAsIntegersMode, PlainMode, with_keys,
};
use crate::thresholds::PREFETCHED_TRANSPOSED_LEAST_ARRAY_BYTES;
use crate::vector::extent::Readable;
use crate::vector::{Kind, Lanes, Mask, Nans, WIDEST, splat, store_places, unroll, values, zip};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes of rows that are transposed at a time.
pub const TRANSPOSED_PART_BYTES: usize = 16;

/// Bytes between the rows that are compared and those that are prefetched.
const TRANSPOSED_AHEAD_BYTES: usize = 12 << 10;

/// Elements of the longest row that is transposed, or paired with places, and lanes of the widest register.
const MOST_ELEMENTS: usize = 63;
const MOST_PAIRS: usize = 128;
const MOST_LANES: usize = WIDEST;

/// Returns the number of rows done.
///
/// # Safety
/// As for [`ShortRows::run`](super::ShortRows::run), of which this is a part: there are as many rows as lanes in a register.
pub unsafe fn run<I: Set<Register: Lanes<K>>, K: Kind>(set: I, job: &Job) -> usize {
    let lanes = TRANSPOSED_PART_BYTES / K::SIZE;
    match job.len {
        2 => columns::<I, K, 2, true, false>(set, job),
        3 | 4 if lanes >= 4 => columns::<I, K, 4, true, false>(set, job),
        5..=8 if lanes >= 8 => columns::<I, K, 8, true, false>(set, job),
        9..=12 if lanes >= 16 => columns::<I, K, 16, true, false>(set, job),
        13..=16 if lanes >= 16 => columns::<I, K, 16, true, true>(set, job),
        _ if lanes == 2 => columns::<I, K, 2, false, false>(set, job),
        _ if lanes == 4 => columns::<I, K, 4, false, false>(set, job),
        _ if lanes == 8 => columns::<I, K, 8, false, true>(set, job),
        _ => columns::<I, K, 16, false, true>(set, job),
    }
}

/// Chooses the mode.
///
/// # Safety
/// As for [`run`].
unsafe fn columns<I: Set<Register: Lanes<K>>, K: Kind, const Q: usize, const ONE: bool, const PAIRS: bool>(
    set: I,
    job: &Job,
) -> usize {
    if const { Q * K::SIZE > TRANSPOSED_PART_BYTES } {
        0
    } else if const { K::FLOAT } && job.ignore_nan {
        set.run(PerLane::<K, I::Register, IgnoreNanMode, Q, ONE, PAIRS>(job, PhantomData))
    } else if const { !K::KEYS } && !job.other.is_null() {
        set.run(PerLane::<K, I::Register, BothMode, Q, ONE, PAIRS>(job, PhantomData))
    } else if const { K::KEYS && !ONE } {
        with_keys::<K>(
            job,
            <I::Register as Lanes<K>>::LANES,
            |job| match job.flip == 0 {
                true => set.run(PerLane::<K, I::Register, PlainAsIntegersMode, Q, ONE, PAIRS>(job, PhantomData)),
                false => set.run(PerLane::<K, I::Register, AsIntegersMode, Q, ONE, PAIRS>(job, PhantomData)),
            },
            |job| set.run(PerLane::<K, I::Register, FlipMode, Q, ONE, PAIRS>(job, PhantomData)),
        )
    } else if const { PAIRS } && job.flip == 0 {
        // Flipping no bits would take pairs 1.05 to 1.25 times as long.
        set.run(PerLane::<K, I::Register, PlainMode, Q, ONE, PAIRS>(job, PhantomData))
    } else {
        set.run(PerLane::<K, I::Register, FlipMode, Q, ONE, PAIRS>(job, PhantomData))
    }
}

/// Reads rows in parts of `Q` columns, a power of two: `ONE` part, or parts that fill 16 bytes each. `PAIRS` are compared where rows of
/// 8- and 16-bit elements fill most of a part at least: rows of 9 to 12 elements of 8 bits take 0.9 to 1.25 times as long as pairs.
struct PerLane<'a, K, V, M, const Q: usize, const ONE: bool, const PAIRS: bool>(&'a Job, PhantomData<(K, V, M)>);

/// The rows of a batch.
#[derive(Clone, Copy)]
struct BatchRows {
    /// Where they begin: in memory, or in a copy.
    from: Readable,
    /// The number of the first.
    first: usize,
    /// What is prefetched part by part, or null.
    ahead: *const u8,
}

/// The best lanes of a batch so far, and the numbers of their columns; for both ends of the order also the least lanes.
struct Champions<V> {
    best: V,
    place: V,
    least: V,
}

/// How rows become parts of registers.
trait Reading {
    /// How many parts a row has, if registers are loaded whole.
    const WHOLE: usize = 0;
    /// Whether a shuffle spreads each row over a power of two of lanes, or mirrors it.
    const SPREAD: bool = false;
}

/// Each part is loaded from where its rows are.
struct Apart;
/// The same, and rows are spread or mirrored.
struct Spread;
/// Rows fill `PARTS` parts and follow one another: a register is loaded whole, so that its parts are neighbours.
struct Whole<const PARTS: usize>;

impl Reading for Apart {}
impl Reading for Spread {
    const SPREAD: bool = true;
}
impl<const PARTS: usize> Reading for Whole<PARTS> {
    const WHOLE: usize = PARTS;
}

impl<K: Kind, V: Lanes<K>, M: Mode, const Q: usize, const ONE: bool, const PAIRS: bool> Task
    for PerLane<'_, K, V, M, Q, ONE, PAIRS>
{
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        // Few calls want both ends, so one loop is enough for them. Lanes behind the only row of a part are not compared.
        let is_padded = ONE && self.0.len < Q && (Self::EACH > 1 || Self::HAS_PAIRS || self.are_values_alone());
        // With constants, so that the compiler knows the stride.
        let is_whole = |parts| self.0.len == parts * Q && self.0.lines.stride == (parts * Q * K::SIZE) as isize;
        if M::BOTH || self.0.last || is_padded {
            self.batches::<Spread>()
        } else if const { ONE && Self::FILLS_PARTS } && is_whole(1) {
            self.batches::<Whole<1>>()
        } else if const { !ONE && Self::FILLS_PARTS } && is_whole(2) {
            self.batches::<Whole<2>>()
        } else {
            self.batches::<Apart>()
        }
    }
}

impl<K: Kind, V: Lanes<K>, M: Mode, const Q: usize, const ONE: bool, const PAIRS: bool>
    PerLane<'_, K, V, M, Q, ONE, PAIRS>
{
    /// Rows in 16 bytes.
    const EACH: usize = TRANSPOSED_PART_BYTES / K::SIZE / Q;

    /// Whether rows may be loaded as [`Whole`] registers. [`in_order`] moves no less than one of them. Of rows of 8-bit elements, those that
    /// fill a part have pairs; columns of two parts are faster that way in the widest registers alone.
    const FILLS_PARTS: bool =
        V::BYTES / TRANSPOSED_PART_BYTES <= Q && (PAIRS || Q < TRANSPOSED_PART_BYTES && (ONE || V::BYTES == LINE));

    /// Whether each part prefetches as many bytes as it reads, instead of each batch. 64-bit elements have too few in a part.
    const PREFETCHES_PARTS: bool = !ONE && Q >= 4;

    /// Whether elements are paired with their places: those of both ends of the order are not.
    const HAS_PAIRS: bool = PAIRS && !M::BOTH;

    /// Whether values alone are wanted, and the lanes tell them. Wider floats have two zeros, and rows of zeros are common.
    #[inline(always)]
    fn are_values_alone(&self) -> bool {
        let tells = const { !M::BOTH && !M::IGNORES_NAN && (!K::FLOAT || K::KEYS) };
        tells && !self.0.to.wants_places()
    }

    /// The shuffle that spreads each of the `EACH` rows of a part over `Q` lanes: its elements, then the last of them again. Rows
    /// are mirrored where the last of equal elements wins, so that it comes first.
    fn table(len: usize, last: bool) -> [u8; TRANSPOSED_PART_BYTES] {
        let len = len.min(Q);
        std::array::from_fn(|at| {
            let row = at / (Q * K::SIZE);
            let column = (at / K::SIZE % Q).min(len - 1);
            let byte = at % K::SIZE;
            let column = if last { len - 1 - column } else { column };
            ((row * len + column) * K::SIZE + byte) as u8
        })
    }

    /// Does the batches one after the other; the last overlaps the one before.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn batches<R: Reading>(&self) -> usize {
        let job = self.0;
        let constants = job.constants::<K, V>();
        let table = Self::table(job.len, job.last);
        // The places of the columns, in the order of comparison; of pairs, what stands for them in each part.
        let mut numbers = [const { MaybeUninit::<V>::uninit() }; MOST_ELEMENTS];
        let place = |step: usize| if job.last { (job.len - 1).saturating_sub(step) } else { step };
        let (count, most) = if Self::HAS_PAIRS { (self.parts(), MOST_PAIRS) } else { (job.len.max(Q), MOST_ELEMENTS) };
        debug_assert!(count <= MOST_ELEMENTS && job.len <= most, "rows of {}", job.len);
        for number in 0..count {
            let lanes = if Self::HAS_PAIRS {
                let mut ranks = [0u8; TRANSPOSED_PART_BYTES];
                for at in 0..TRANSPOSED_PART_BYTES / K::SIZE {
                    let place = place(self.start(number) + at);
                    let rank = if job.last { place } else { !place };
                    write_bits(ranks.as_mut_ptr().add(at * K::SIZE), rank as u64, K::SIZE);
                }
                V::load_parts(Readable::bytes(ranks.as_ptr(), ranks.len()), 0)
            } else {
                splat::<K, V>(place(number) as i64)
            };
            numbers.as_mut_ptr().add(number).write(MaybeUninit::new(lanes));
        }
        let numbers = numbers.as_ptr().cast::<V>();
        let width = job.len * K::SIZE;
        // Bytes that a batch reads beyond its rows.
        let beyond = if ONE { TRANSPOSED_PART_BYTES.saturating_sub(Self::EACH * width) } else { 0 };
        let are_values_alone = self.are_values_alone();
        let prefetches = job.bytes >= PREFETCHED_TRANSPOSED_LEAST_ARRAY_BYTES;
        let mut start = 0;
        while start < job.rows {
            let first = start.min(job.rows - V::LANES);
            let mut ahead = ptr::null();
            if !job.ahead.is_null() {
                self.prefetch(job.ahead.wrapping_add(first * width), &mut ahead);
            } else if prefetches {
                // A distance in rows would suit rows with gaps, but takes a register: batches of 64-bit lanes took 1.1 times as long.
                self.prefetch(job.row(first).address().wrapping_add(TRANSPOSED_AHEAD_BYTES), &mut ahead);
            }
            let done = if (job.rows - V::LANES - first) * width >= beyond {
                let rows = BatchRows { from: job.row(first), first, ahead };
                self.answer::<R>(rows, constants, &table, numbers, are_values_alone)
            } else {
                let mut copy = [0u8; (MOST_LANES + 1) * TRANSPOSED_PART_BYTES];
                let rows = job.row(first).read(V::LANES * width);
                rows.copy_to_nonoverlapping(copy.as_mut_ptr(), V::LANES * width);
                let rows = BatchRows { from: Readable::bytes(copy.as_ptr(), copy.len()), first, ahead };
                self.answer::<R>(rows, constants, &table, numbers, are_values_alone)
            };
            if !done {
                return first;
            }
            start += V::LANES;
        }
        job.rows
    }

    /// Prefetches as many bytes as a batch reads, or leaves that to its parts.
    #[inline(always)]
    fn prefetch(&self, from: *const u8, ahead: &mut *const u8) {
        if Self::PREFETCHES_PARTS {
            *ahead = from;
        } else {
            prefetch_rows(from, 0, 1, V::LANES * self.0.len * K::SIZE);
        }
    }

    /// Does one batch; returns false, with nothing written, where a lane was NaN: an element, or one that follows the rows.
    ///
    /// # Safety
    /// As for [`run`]; the rows of the batch, and the bytes that its loads read beyond them, may be read from `from` on.
    #[inline(always)]
    unsafe fn answer<R: Reading>(
        &self,
        rows: BatchRows,
        constants: Constants<V>,
        table: &[u8; TRANSPOSED_PART_BYTES],
        numbers: *const V,
        are_values_alone: bool,
    ) -> bool {
        // Where the values alone do not decide, the columns do, unless keys will.
        if are_values_alone && self.values::<R>(rows, constants, table) {
            true
        } else if M::AS_INTEGERS && are_values_alone {
            false
        } else if Self::HAS_PAIRS {
            self.pairs::<R>(rows, constants, table, numbers)
        } else {
            self.columns::<R>(rows, constants, table, numbers)
        }
    }

    /// Writes the values of a batch, without places; returns false, with nothing written, where a lane was NaN or a zero of a float.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    #[inline(always)]
    unsafe fn values<R: Reading>(
        &self,
        rows: BatchRows,
        constants: Constants<V>,
        table: &[u8; TRANSPOSED_PART_BYTES],
    ) -> bool {
        let job = self.0;
        let mut nans = V::no_nan();
        let mut columns = [constants.flip; Q];
        if R::WHOLE == 2 {
            unroll!(Q, at => {
                let [low, high] = self.two_parts(rows, at, constants, &mut nans);
                columns[at] = low.max(high);
            });
        } else {
            columns = self.part::<R>(rows, 0, constants, table, &mut nans);
            for number in 1..self.parts() {
                let more = self.part::<R>(rows, number, constants, table, &mut nans);
                unroll!(Q, at => columns[at] = columns[at].max(more[at]));
            }
        }
        // First the rows that share 16 bytes come apart, then each round joins the two halves of every row.
        unroll!(@ Self::EACH.trailing_zeros() as usize, _round, columns = zips::<K, V, Q>(columns), 0 1 2 3);
        unroll!(@ Q.trailing_zeros() as usize, round, {
            let half = Q >> (round + 1);
            unroll!(Q / 2, at => if at < half {
                let (low, high) = zip::<K, V>(columns[at], columns[at + half]);
                columns[at] = low.max(high);
            });
        }, 0 1 2 3);
        let best = columns[0];
        if Self::is_undecided(nans, best, constants) || K::FLOAT && best.any_eq(splat::<K, V>(0)) {
            return false;
        }
        debug_assert!(rows.first + V::LANES <= job.rows);
        Self::ordered::<R>(best).lanes().xor(constants.flip).store(job.values::<K>().add(rows.first * K::SIZE));
        true
    }

    /// Compares elements of a batch, paired with their ranks, and writes its results; returns false, with nothing written, where a lane
    /// was NaN or, as integers, not above zero.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    #[inline(always)]
    unsafe fn pairs<R: Reading>(
        &self,
        rows: BatchRows,
        constants: Constants<V>,
        table: &[u8; TRANSPOSED_PART_BYTES],
        ranks: *const V,
    ) -> bool {
        let job = self.0;
        let mut nans = V::no_nan();
        let mut best = [constants.flip; Q];
        if R::WHOLE == 2 {
            unroll!(Q, at => {
                let [low, high] = self.two_parts(rows, at, constants, &mut nans);
                let low = best_pairs::<K, V>(*ranks, low);
                let high = best_pairs::<K, V>(*ranks.add(1), high);
                best[at] = max_of_pairs::<K, V>(low, high);
            });
        } else {
            let lanes = self.part::<R>(rows, 0, constants, table, &mut nans);
            unroll!(Q, at => best[at] = best_pairs::<K, V>(*ranks, lanes[at]));
            for number in 1..self.parts() {
                let lanes = self.part::<R>(rows, number, constants, table, &mut nans);
                let ranks = *ranks.add(number);
                unroll!(Q, at => best[at] = max_of_pairs::<K, V>(best[at], best_pairs::<K, V>(ranks, lanes[at])));
            }
        }
        // Each round joins the two halves of every row. Then the first register has every other row, the second the rows between.
        unroll!(@ Q.trailing_zeros() as usize - 1, round, {
            let half = Q >> (round + 1);
            unroll!(Q / 2, at => if at < half {
                let (low, high) = zip_pairs::<K, V>(best[at], best[at + half]);
                best[at] = max_of_pairs::<K, V>(low, high);
            });
        }, 0 1 2);
        let (ranks, best) = apart::<K, V>(best[0], best[1 % Q]);
        if Self::is_undecided(nans, best, constants) {
            return false;
        }
        // Only then are the bits flipped: the compiler would bring them into the order of the rows too.
        let ranks = Self::ordered::<R>(ranks);
        let places = if job.last { ranks } else { ranks.xor(splat::<K, V>(-1)) };
        self.write::<R>(rows.first, best, places, constants);
        true
    }

    /// Compares the columns of a batch, and writes its results; returns false, with nothing written, where a lane was NaN.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    #[inline(always)]
    unsafe fn columns<R: Reading>(
        &self,
        rows: BatchRows,
        constants: Constants<V>,
        table: &[u8; TRANSPOSED_PART_BYTES],
        numbers: *const V,
    ) -> bool {
        let job = self.0;
        let mut nans = V::no_nan();
        let mut champions;
        if R::WHOLE == 2 {
            let mut low = [constants.flip; Q];
            let mut high = low;
            unroll!(Q, at => [low[at], high[at]] = self.two_parts(rows, at, constants, &mut nans));
            champions = self.first_champions(transpose::<K, V, Q>(low), numbers);
            self.compare::<0>(transpose::<K, V, Q>(high), numbers.add(Q), &mut champions);
        } else {
            let columns = transpose::<K, V, Q>(self.part::<R>(rows, 0, constants, table, &mut nans));
            champions = self.first_champions(columns, numbers);
            for number in 1..self.parts() {
                let columns = transpose::<K, V, Q>(self.part::<R>(rows, number, constants, table, &mut nans));
                self.compare::<0>(columns, numbers.add(self.start(number)), &mut champions);
            }
        }
        let Champions { best, place, least } = champions;
        // Bytes behind the last row may look like NaN too: then the caller reads the batch in vain, but rightly.
        if Self::is_undecided(nans, best, constants) {
            return false;
        }
        if M::BOTH {
            let first = rows.first;
            debug_assert!(first + V::LANES <= job.rows);
            // Each end keeps the first of equal lanes, with its bits: places are not needed.
            best.xor(constants.flip).store(job.values::<K>().add(first * K::SIZE));
            least.xor(constants.flip).store(job.other.add(first * K::SIZE));
        } else {
            self.write::<R>(rows.first, best, Self::ordered::<R>(place), constants);
        }
        true
    }

    /// The best of the columns of the first part.
    ///
    /// # Safety
    /// As for [`columns`](Self::columns).
    #[inline(always)]
    unsafe fn first_champions(&self, columns: [V; Q], numbers: *const V) -> Champions<V> {
        let mut champions = Champions { best: columns[0], place: *numbers, least: columns[0] };
        self.compare::<1>(columns, numbers, &mut champions);
        champions
    }

    /// Compares the columns of a part, from number `FROM` on, with the best so far.
    ///
    /// # Safety
    /// As for [`columns`](Self::columns).
    #[inline(always)]
    unsafe fn compare<const FROM: usize>(&self, columns: [V; Q], numbers: *const V, champions: &mut Champions<V>) {
        unroll!(Q, step => if step >= FROM && (!ONE || step < self.0.len) {
            columns[step].update_max(*numbers.add(step), &mut champions.best, &mut champions.place);
            if M::BOTH {
                champions.least = columns[step].min(champions.least);
            }
        });
    }

    /// How many parts a row has.
    #[inline(always)]
    fn parts(&self) -> usize {
        if ONE { 1 } else { self.0.len.div_ceil(Q) }
    }

    /// Where a part begins, in the order of comparison: the last overlaps the one before.
    #[inline(always)]
    fn start(&self, part: usize) -> usize {
        if ONE { 0 } else { (part * Q).min(self.0.len - Q) }
    }

    /// The lanes of a part of a batch that begins at `from`, before they are transposed.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    #[inline(always)]
    unsafe fn part<R: Reading>(
        &self,
        rows: BatchRows,
        number: usize,
        constants: Constants<V>,
        table: &[u8; TRANSPOSED_PART_BYTES],
        nans: &mut Nans<K, V>,
    ) -> [V; Q] {
        let job = self.0;
        let start = self.start(number);
        // The lines of a whole batch are more than the processor waits for at the same time.
        if Self::PREFETCHES_PARTS && !rows.ahead.is_null() {
            prefetch_rows(rows.ahead.wrapping_add(number * Q * V::BYTES), 0, 1, Q * V::BYTES);
        }
        let from = rows.from.add(if job.last && !ONE { job.len - Q - start } else { start } * K::SIZE);
        let step = Self::EACH as isize * job.lines.stride;
        // Each load takes 16 bytes of as many rows as a register has parts, so that after the zips a lane stands for a row.
        let mut lanes = [constants.flip; Q];
        unroll!(Q, at => {
            let bytes = if R::WHOLE == 1 {
                V::load(from.wrapping_add(at * V::BYTES))
            } else {
                V::load_parts(from.wrapping_offset(at as isize * step), Q as isize * step)
            };
            let bytes = if R::SPREAD { bytes.shuffle(table) } else { bytes };
            lanes[at] = M::elements::<K, V>(constants, bytes);
            if at % 2 == 1 {
                if !M::IGNORES_NAN {
                    V::note_nan(nans, lanes[at - 1], lanes[at]);
                }
                lanes[at - 1] = M::lanes::<K, V>(constants, lanes[at - 1]);
                lanes[at] = M::lanes::<K, V>(constants, lanes[at]);
            }
        });
        lanes
    }

    /// The lanes of both parts of some rows, of which there are as many as a register has parts.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer); the rows are [`Whole`], of two parts.
    #[inline(always)]
    unsafe fn two_parts(&self, rows: BatchRows, at: usize, constants: Constants<V>, nans: &mut Nans<K, V>) -> [V; 2] {
        let start = at * 2 * V::BYTES;
        if Self::PREFETCHES_PARTS && !rows.ahead.is_null() {
            prefetch_rows(rows.ahead.wrapping_add(start), 0, 1, 2 * V::BYTES);
        }
        let from = rows.from.add(start);
        let (low, high) = V::load(from).deal_parts(V::load(from.add(V::BYTES)));
        let low = M::elements::<K, V>(constants, low);
        let high = M::elements::<K, V>(constants, high);
        if !M::IGNORES_NAN {
            V::note_nan(nans, low, high);
        }
        [M::lanes::<K, V>(constants, low), M::lanes::<K, V>(constants, high)]
    }

    /// Whether a lane was NaN that counts, or integers do not decide.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    #[inline(always)]
    unsafe fn is_undecided(nans: Nans<K, V>, best: V, constants: Constants<V>) -> bool {
        !M::IGNORES_NAN && V::has_nan(nans, best, constants.infinity) || M::AS_INTEGERS && is_undecided::<K, V>(best)
    }

    /// Lanes in the order of the rows.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn ordered<R: Reading>(lanes: V) -> V {
        if R::WHOLE > 0 { in_order::<V, Q>(lanes) } else { lanes }
    }

    /// Writes the results of a batch: the places are in the order of the rows, the best lanes are not yet.
    ///
    /// # Safety
    /// As for [`run`].
    #[inline(always)]
    unsafe fn write<R: Reading>(&self, first: usize, best: V, place: V, constants: Constants<V>) {
        let job = self.0;
        let Constants { flip, least, .. } = constants;
        debug_assert!(first + V::LANES <= job.rows);
        if job.to.wants_places() {
            let mut places = place;
            if job.minus_one_for_identity {
                places = Self::ordered::<R>(best).eq(least).select(splat::<K, V>(-1), place);
            }
            let to = job.to.places_of(job.rows).add(first * size_of::<i64>());
            store_places::<K, V, true>(places, to);
        }
        if job.to.wants_values() {
            let element = |lane: usize, place: usize| job.row(first + lane).wrapping_add(place * K::SIZE).read(K::SIZE);
            values::<K, V>(Self::ordered::<R>(best), place, flip, element, job.values::<K>().add(first * K::SIZE));
        }
    }
}
