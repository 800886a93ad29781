//! Rows of one register to 224 KiB, four at a time, or one at a time if they are long.
//!
//! ```text
//! for each batch of four rows:
//!     read it: the largest lane of each row in all lanes of a register
//!     find the places in the batch before it:
//!         read it again (from the first-level cache), compare with the largest, pack the comparisons to a word, count zero bits
//! ```
//!
//! The search does not depend on the batch that is read at the same time, so the processor does both at once: on Zen 4 with AVX2,
//! this raised rows of 16 binary32 from 25 to 39 GB/s. The last register of a row overlaps the one before it.
//!
//! The loop over a row of up to eight registers is [unrolled](super::unrolled). Longer rows are read in [chunks](super::chunked) of
//! four registers: the kernel keeps the largest lanes of each chunk, uses them to find the chunk with the extremum, and reads only
//! that chunk again. Still longer rows are read one at a time, in chunks of eight registers, which begin at cache lines: NumPy's
//! larger arrays begin 16 bytes after one, so half of the loads would touch two lines, and all loads with AVX-512 (1.2 to 1.35
//! times as fast from 1000 elements on: Xeon, family 6, model 167). The limits stand in `thresholds`.
//!
//! Rows of up to eight registers can have a mask: masked elements are replaced as they are loaded, and the search reads the
//! replaced lanes from a copy on the stack instead of the row and its mask.
//!
//! 16-bit floats are first compared as integers, not as keys. Above zero, integers have the order of the floats, so a row whose
//! extremum is above zero and that has no NaN needs no keys. The first other row sends the remaining rows to the keys (1.2 to
//! 1.45 times as fast with AVX2, 1.25 with AVX-512, 1.6 with SSE4.2: rows of 80 to 1000 on the same Xeon).
//!
//! A register of 64 bytes straddles two cache lines in most rows. A load that misses the first-level cache and straddles lines takes
//! twice as long (75 GB/s from the second-level cache instead of 140), so each chunk prefetches the line 4 KiB after each of its
//! registers: rows of more than 512 bytes are 1.05 to 1.2 times as fast (Xeon, family 6, model 207).
//!
//! Rows of up to eight registers are prefetched 12 KiB ahead: 64 MB of rows of 64 were 1.2 to 1.6 times as fast with prefetches of 6
//! KiB ahead, with AVX-512, and 12 KiB are 1.1 to 1.3 times as fast as that (EPYC, family 26, model 2). Not done: prefetching where
//! places go. Longer rows are prefetched too, with narrower registers where memory holds them (see `thresholds`).

use crate::isa::Task;
use crate::kernels::lanes::{Aligned, prefetch_rows};
use crate::kernels::short_rows::chunked::Chunked;
use crate::kernels::short_rows::unrolled::Unrolled;
use crate::kernels::short_rows::{
    AsIntegersMode, BATCH_ROWS, Batch, BothMode, Constants, FlipMode, IgnoreNanMode, Job, MaskedMode, Mode,
    PlainAsIntegersMode, PlainMode, Reduced, SPILLED_BYTES, spread_rows, with_keys,
};
use crate::thresholds::{
    Limits, PREFETCHED_UNROLLED_LEAST_ARRAY_BYTES, SHORT_ROWS_MOST_BYTES, UNROLLED_MOST_REGISTERS, kind_number,
};
use crate::vector::{Kind, Lanes, Register, Unpacked, WIDEST, splat};
use std::hint::select_unpredictable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Registers in a chunk of a row that is read alone, and of a shorter row.
const ALONE_CHUNK_REGISTERS: usize = 8;
const BATCHED_CHUNK_REGISTERS: usize = 4;

/// Bytes of the registers that a batch of short rows keeps.
const SPILLED_SHORT_BYTES: usize = BATCH_ROWS * UNROLLED_MOST_REGISTERS * WIDEST;

/// Bytes between a batch of short rows and the batch that is prefetched meanwhile.
const UNROLLED_AHEAD_BYTES: usize = 12 << 10;

/// Reads rows of up to eight registers. Returns the number of rows done.
///
/// # Safety
/// As for [`ShortRows::run`](super::ShortRows::run), of which this is a part.
pub unsafe fn unrolled<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, job: &Job) -> usize {
    debug_assert!(job.rows >= BATCH_ROWS && job.len >= <I::Register as Lanes<K>>::LANES, "{} rows", job.rows);
    match job.len.div_ceil(<I::Register as Lanes<K>>::LANES) {
        // A row of one register is read twice.
        1 | 2 => in_registers::<I, K, 2>(set, job),
        3 => in_registers::<I, K, 3>(set, job),
        4 => in_registers::<I, K, 4>(set, job),
        5 | 6 => in_registers::<I, K, 6>(set, job),
        count => {
            debug_assert!(count <= UNROLLED_MOST_REGISTERS, "rows of {count} registers");
            in_registers::<I, K, UNROLLED_MOST_REGISTERS>(set, job)
        }
    }
}

/// Reads rows of up to eight registers, with their mask.
///
/// # Safety
/// As for [`unrolled`].
pub unsafe fn masked<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, job: &Job) -> usize {
    let count = job.len.div_ceil(<I::Register as Lanes<K>>::LANES);
    debug_assert!(count <= UNROLLED_MOST_REGISTERS && job.rows >= BATCH_ROWS);
    if const { I::Register::BYTES == 16 } {
        0 // Masks are not read.
    } else {
        match count {
            ..=4 => set.run(Batches::<K, I::Register, Unrolled<MaskedMode, 4>, BATCH_ROWS>::new(job)),
            5 | 6 => set.run(Batches::<K, I::Register, Unrolled<MaskedMode, 6>, BATCH_ROWS>::new(job)),
            _ => {
                set.run(Batches::<K, I::Register, Unrolled<MaskedMode, UNROLLED_MOST_REGISTERS>, BATCH_ROWS>::new(job))
            }
        }
    }
}

/// Reads rows of at most `N` registers.
///
/// # Safety
/// As for [`unrolled`].
unsafe fn in_registers<I: Limits<Register: Lanes<K>>, K: Kind, const N: usize>(set: I, job: &Job) -> usize {
    let most_bytes = N * <I::Register as Lanes<K>>::LANES * K::SIZE;
    // Rows this short are transposed instead, and longer ones are read in chunks: this code is not needed.
    if most_bytes <= I::always_transposed_most_bytes(const { kind_number(K::SIZE, K::FLOAT) }) {
        0
    } else if const { !K::KEYS } && !job.other.is_null() {
        set.run(Batches::<K, I::Register, Unrolled<BothMode, N>, BATCH_ROWS>::new(job))
    } else if most_bytes > I::unrolled_most_bytes(false) {
        0
    } else if const { K::FLOAT } && job.ignore_nan {
        set.run(Batches::<K, I::Register, Unrolled<IgnoreNanMode, N>, BATCH_ROWS>::new(job))
    } else if const { K::KEYS } {
        with_keys::<K>(
            job,
            BATCH_ROWS,
            |job| match job.flip == 0 {
                true => set.run(Batches::<K, I::Register, Unrolled<PlainAsIntegersMode, N>, BATCH_ROWS>::new(job)),
                false => set.run(Batches::<K, I::Register, Unrolled<AsIntegersMode, N>, BATCH_ROWS>::new(job)),
            },
            |job| set.run(Batches::<K, I::Register, Unrolled<FlipMode, N>, BATCH_ROWS>::new(job)),
        )
    } else if const { !K::KEYS } && job.flip == 0 {
        // Flipping no bits would still take a tenth of the time: the ports that compare are busy.
        set.run(Batches::<K, I::Register, Unrolled<PlainMode, N>, BATCH_ROWS>::new(job))
    } else {
        set.run(Batches::<K, I::Register, Unrolled<FlipMode, N>, BATCH_ROWS>::new(job))
    }
}

/// Reads longer rows four at a time.
///
/// # Safety
/// As for [`unrolled`].
pub unsafe fn chunked<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, job: &Job) -> usize {
    in_chunks::<I, K, BATCH_ROWS, BATCHED_CHUNK_REGISTERS>(set, job)
}

/// Reads still longer rows one at a time.
///
/// # Safety
/// As for [`unrolled`].
pub unsafe fn alone<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, job: &Job) -> usize {
    in_chunks::<I, K, 1, ALONE_CHUNK_REGISTERS>(set, job)
}

/// Reads rows of more than `CHUNK` registers, `ROWS` at a time.
///
/// # Safety
/// As for [`unrolled`].
unsafe fn in_chunks<I: Limits<Register: Lanes<K>>, K: Kind, const ROWS: usize, const CHUNK: usize>(
    set: I,
    job: &Job,
) -> usize {
    debug_assert!(job.rows >= ROWS && job.len >= CHUNK * <I::Register as Lanes<K>>::LANES, "rows of {}", job.len);
    debug_assert!(job.len * K::SIZE <= SHORT_ROWS_MOST_BYTES && job.lines.mask.is_null() && job.other.is_null());
    if const { K::FLOAT } && job.ignore_nan {
        set.run(Batches::<K, I::Register, Chunked<IgnoreNanMode, CHUNK>, ROWS>::new(job))
    } else if const { K::KEYS } {
        with_keys::<K>(
            job,
            ROWS,
            |job| match job.flip == 0 {
                true => set.run(Batches::<K, I::Register, Chunked<PlainAsIntegersMode, CHUNK>, ROWS>::new(job)),
                false => set.run(Batches::<K, I::Register, Chunked<AsIntegersMode, CHUNK>, ROWS>::new(job)),
            },
            |job| set.run(Batches::<K, I::Register, Chunked<FlipMode, CHUNK>, ROWS>::new(job)),
        )
    } else if const { !K::KEYS } && job.flip == 0 {
        // As above.
        set.run(Batches::<K, I::Register, Chunked<PlainMode, CHUNK>, ROWS>::new(job))
    } else {
        set.run(Batches::<K, I::Register, Chunked<FlipMode, CHUNK>, ROWS>::new(job))
    }
}

/// Reads all rows of a job, batch after batch.
struct Batches<'a, K, V, B, const ROWS: usize> {
    job: &'a Job,
    batch: PhantomData<(K, V, B)>,
}

impl<'a, K: Kind, V: Lanes<K>, B: Batch<K, V, ROWS>, const ROWS: usize> Batches<'a, K, V, B, ROWS> {
    #[inline(always)]
    fn new(job: &'a Job) -> Self {
        debug_assert!(job.rows >= ROWS);
        Self { job, batch: PhantomData }
    }
}

impl<K: Kind, V: Lanes<K>, B: Batch<K, V, ROWS>, const ROWS: usize> Task for Batches<'_, K, V, B, ROWS> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        // A copy: otherwise the compiler has to assume that writes may change the job itself.
        let job = *self.job;
        let batches = Batches::<K, V, B, ROWS>::new(&job);
        // Memory that a short row does not need would only have to be probed.
        if B::IS_SHORT {
            batches.read::<{ SPILLED_SHORT_BYTES / 8 }>()
        } else {
            batches.read::<{ SPILLED_BYTES / 8 }>()
        }
    }
}

impl<K: Kind, V: Lanes<K>, B: Batch<K, V, ROWS>, const ROWS: usize> Batches<'_, K, V, B, ROWS> {
    /// Returns the number of rows done. Each of two batches keeps registers in memory of `SPILL` words.
    ///
    /// # Safety
    /// As for [`unrolled`].
    #[inline(always)]
    unsafe fn read<const SPILL: usize>(&self) -> usize {
        let job = self.job;
        let constants = job.constants::<K, V>();
        let opposite = job.opposite::<K>();
        // Registers that a batch keeps while the next batch is read.
        let mut spill = [const { Aligned([const { MaybeUninit::<u64>::uninit() }; SPILL]) }; 2];
        let spill = spill.as_mut_ptr();
        // Two halves in turn: a batch is searched while the next one is read.
        let half = |batch: usize| spill.add(batch % 2).cast::<V>();
        // The last batch overlaps the one before it, and writes the same results again.
        let first = |batch: usize| (batch * ROWS).min(job.rows - ROWS);
        let batches = job.rows.div_ceil(ROWS);
        let width = job.len * K::SIZE;
        let prefetches = B::IS_SHORT && job.bytes >= PREFETCHED_UNROLLED_LEAST_ARRAY_BYTES;
        let ahead = job.lines.stride * (ROWS * (UNROLLED_AHEAD_BYTES / (ROWS * width)).max(1)) as isize;
        // Three variables: the compiler would keep what one value holds in memory.
        let Reduced { mut best, mut other_end, mut undecided } = B::reduce(job, 0, constants, half(0));
        for batch in 0..batches {
            // Nothing of this batch is written: the caller decides it, from its first row on.
            if undecided {
                return first(batch);
            }
            // The next batch is read before this one is searched, so that the processor does both at once.
            // Without the branch the compiler would move comparisons to where their operands are in memory.
            if prefetches {
                prefetch_rows(job.row(first(batch)).address().wrapping_offset(ahead), job.lines.stride, ROWS, width);
            }
            let next = if batch + 1 < batches {
                B::reduce(job, first(batch + 1), constants, half(batch + 1))
            } else {
                Reduced { best, other_end, undecided }
            };
            self.answer(first(batch), constants, half(batch), best);
            if B::Mode::BOTH {
                let other = Batches::<K, V, B, ROWS>::new(&opposite);
                other.answer(first(batch), opposite.constants::<K, V>(), half(batch), other_end);
            }
            Reduced { best, other_end, undecided } = next;
        }
        job.rows
    }

    /// Writes the answers of a batch.
    ///
    /// # Safety
    /// As for [`Batch::find`], and there is room for the results.
    #[inline(always)]
    unsafe fn answer(&self, first: usize, constants: Constants<V>, spill: *const V, best: [V; ROWS]) {
        let job = self.job;
        let has_places = !B::Mode::BOTH && job.to.wants_places();
        // Values alone need no search: a lane other than zero says which element it was.
        if !has_places && self.write(first, best) {
            return;
        }
        let needle = if B::Mode::BOTH { spread_rows(best) } else { best };
        let mut places = match job.last {
            true => B::find::<true>(job, first, constants, spill, needle),
            false => B::find::<false>(job, first, constants, spill, needle),
        };
        if job.minus_one_for_identity {
            let mut lost = false;
            for row in 0..ROWS {
                let loses = needle[row].any_eq(constants.least);
                // `usize::MAX` becomes the index -1.
                places[row] = select_unpredictable(loses, usize::MAX, places[row]);
                lost |= loses;
            }
            // The index does not say whether such a row has no element, or elements that equal what replaces masked ones.
            if B::Mode::MASKED && lost && B::has_identity(job, first, splat::<K, V>(job.identity)) {
                *job.identity_seen = true;
            }
        }
        job.put::<K, ROWS>(first, places);
    }

    /// Writes the values of a batch without places. A zero of a float needs its place: then returns false and writes nothing.
    ///
    /// # Safety
    /// As for [`answer`](Self::answer).
    #[inline(always)]
    unsafe fn write(&self, first: usize, best: [V; ROWS]) -> bool {
        // `decide` has spread the lanes, or for both ends of the order left them where `fold_four` puts them: four bytes apart, or
        // two to a register where they have eight bytes.
        let mut lanes = [0; ROWS];
        for row in 0..ROWS {
            lanes[row] = match K::SIZE {
                _ if !B::Mode::BOTH => Unpacked::new(best[row]).whole(0),
                8 => Unpacked::new(best[row / 2 % ROWS]).whole(row % 2),
                size => Unpacked::new(best[0]).get::<K>(row * 4 / size) as u64,
            };
        }
        // Lanes of zeros do not say which of the two zeros it is.
        if K::FLOAT && lanes.iter().any(|lane| lane << (65 - 8 * K::SIZE) == 0) {
            return false;
        }
        // A negative key is the two's complement of the magnitude; its float has the sign bit in place of that.
        let from_key = |lane: u64| u64::from(lane as u16).wrapping_neg() ^ (1 << 15);
        for (row, &lane) in lanes.iter().enumerate() {
            let is_negative_key = B::Mode::has_keys::<K>() && (lane as i16) < 0;
            let bits = if is_negative_key { from_key(lane) } else { lane };
            self.job.put_bits::<K>(first + row, bits ^ self.job.flip as u64);
        }
        true
    }
}
