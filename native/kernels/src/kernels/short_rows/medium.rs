//! Rows of one register to 2048, four at a time.
//!
//! ```text
//! for each batch of four rows:
//!     read it: the largest lane of each row in all lanes of a register
//!     find the places in the batch before it:
//!         read it again (from the first-level cache), compare with the largest, pack the comparisons to a word, count zero bits
//! ```
//!
//! The search needs nothing of the batch that is read at the same time, so that the processor does both at once: on Zen 4 with
//! AVX2, rows of 16 binary32 went from 25 to 39 GB/s by that. The last register of a row overlaps the one before it.
//!
//! Up to eight registers the loop over a row is unrolled. Longer rows are read in chunks of four registers. The largest of each
//! chunk is kept, the chunk found by it, and that chunk alone is read again. Rows of more than 1 KiB are read one at a time, in
//! chunks of eight registers: four rows of 8 KiB throw each other out of the first-level cache. (Xeon, family 6, model 167, AVX2:
//! rows of 256 to 4096 64-bit elements 1.08 to 1.26 times as fast as in chunks of four and with 2 KiB for the limit.)
//!
//! Left out: to fetch memory ahead, which gained 10 % from the third-level cache and lost as much in the second.

use crate::isa::Task;
use crate::kernels::short_rows::{BOTH, Constants, FLIPPED, Job, NUMBERS, PLAIN, Set, Unpacked, longest_turned};
use crate::vector::{Kind, Lanes, place, splat, spread, spread_four};
use std::hint::select_unpredictable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Rows of a batch.
pub const BATCH: usize = 4;

/// Registers of a chunk of a row that is read one at a time, and of a shorter row; chunks of the longest row there is.
const LONG_CHUNK: usize = 8;
const CHUNK: usize = 4;
const CHUNKS: usize = 512;

/// Registers of the longest row whose loop is unrolled.
pub const UNROLLED: usize = 8;

/// Bytes from which on rows are read one at a time.
const LONG: usize = 1024;

/// Returns the number of rows done.
pub unsafe fn run<I: Set<Register: Lanes<K>>, K: Kind>(job: &Job) -> usize {
    let lanes = <I::Register as Lanes<K>>::LANES;
    match job.len.div_ceil(lanes) {
        count if count >= CHUNK && job.len * K::SIZE > LONG => batches::<I, K, 0, 1, LONG_CHUNK>(job),
        _ if job.rows < BATCH => 0,
        1 => batches::<I, K, 1, BATCH, CHUNK>(job),
        2 => batches::<I, K, 2, BATCH, CHUNK>(job),
        3 => batches::<I, K, 3, BATCH, CHUNK>(job),
        4 => batches::<I, K, 4, BATCH, CHUNK>(job),
        5 | 6 => batches::<I, K, 6, BATCH, CHUNK>(job),
        7 | 8 => batches::<I, K, 8, BATCH, CHUNK>(job),
        _ => batches::<I, K, 0, BATCH, CHUNK>(job),
    }
}

/// Rows of at most `N` registers, of more than four where `N` is 0.
unsafe fn batches<I: Set<Register: Lanes<K>>, K: Kind, const N: usize, const ROWS: usize, const CHUNK: usize>(
    job: &Job,
) -> usize {
    // Shorter rows are turned: there is no need for the code.
    if N > 0 && (N * <I::Register as Lanes<K>>::LANES * K::SIZE <= longest_turned::<I>(K::SIZE)) {
        return 0;
    }
    if const { N > 0 && !K::KEYED } && !job.other.is_null() {
        I::run(Medium::<K, I::Register, N, ROWS, CHUNK, BOTH>(job, PhantomData))
    } else if const { K::FLOAT } && job.numbers {
        I::run(Medium::<K, I::Register, N, ROWS, CHUNK, NUMBERS>(job, PhantomData))
    } else if const { !K::KEYED } && job.flip == 0 {
        // To flip nothing takes a tenth of the time: ports that compare are busy.
        I::run(Medium::<K, I::Register, N, ROWS, CHUNK, PLAIN>(job, PhantomData))
    } else {
        I::run(Medium::<K, I::Register, N, ROWS, CHUNK, FLIPPED>(job, PhantomData))
    }
}

struct Medium<'a, K, V, const N: usize, const ROWS: usize, const CHUNK: usize, const MODE: u8>(
    &'a Job,
    PhantomData<(K, V)>,
);

impl<K: Kind, V: Lanes<K>, const N: usize, const ROWS: usize, const CHUNK: usize, const MODE: u8> Task
    for Medium<'_, K, V, N, ROWS, CHUNK, MODE>
{
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let job = self.0;
        let constants = job.constants::<K, V>();
        let turned = job.turned::<K>();
        // What is kept of a batch while the next one is read.
        let mut kept = [const { MaybeUninit::<V>::uninit() }; 2 * CHUNKS];
        let kept = kept.as_mut_ptr().cast::<V>();
        let half = |batch: usize| kept.add(batch % 2 * CHUNKS);
        let first = |batch: usize| (batch * ROWS).min(job.rows - ROWS);
        let batches = job.rows.div_ceil(ROWS);
        let mut now = self.reduce(0, constants, half(0));
        for batch in 0..batches {
            if now.2 {
                return first(batch);
            }
            // (The last batch is read twice: a branch here would be in the way.)
            let next =
                if batch + 1 < batches { self.reduce(first(batch + 1), constants, half(batch + 1)) } else { now };
            self.answer(first(batch), constants, half(batch), now.0);
            if MODE == BOTH {
                let other = Medium::<K, V, N, ROWS, CHUNK, MODE>(&turned, PhantomData);
                other.answer(first(batch), turned.constants::<K, V>(), half(batch), now.1);
            }
            now = next;
        }
        job.rows
    }
}

impl<K: Kind, V: Lanes<K>, const N: usize, const ROWS: usize, const CHUNK: usize, const MODE: u8>
    Medium<'_, K, V, N, ROWS, CHUNK, MODE>
{
    /// Where a register of a row begins: the last overlaps the one before, and is read twice where their number is rounded up.
    #[inline(always)]
    fn start(len: usize, at: usize) -> usize {
        if at > 0 && (at + 1 == N || at + 2 == N && N > 4) {
            (at * V::LANES).min(len - V::LANES)
        } else {
            at * V::LANES
        }
    }

    /// The largest lane of each row of a batch, in all lanes, that of the other end of the order, and whether there is NaN.
    #[inline(always)]
    unsafe fn reduce(&self, first: usize, constants: Constants<V>, kept: *mut V) -> ([V; ROWS], [V; ROWS], bool) {
        let (job, flip) = (self.0, constants.flip);
        let mut seen = V::unseen();
        let (mut best, mut least) = ([flip; ROWS], [flip; ROWS]);
        for row in 0..ROWS {
            let from = job.row(first + row);
            if N > 0 {
                let mut read = [flip; N];
                for at in 0..N {
                    read[at] = constants.lanes::<K, MODE>(V::load(from.add(Self::start(job.len, at) * K::SIZE)));
                    best[row] = if at == 0 { read[0] } else { read[at].larger(best[row]) };
                    if MODE == BOTH {
                        let turned = read[at].xor(splat::<K, V>(Job::turn::<K>()));
                        least[row] = if at == 0 { turned } else { turned.larger(least[row]) };
                    }
                    if K::KEYED {
                        kept.add(row * N + at).write(read[at]);
                    }
                }
                if N > 1 {
                    for at in (0..N).step_by(2) {
                        V::see(&mut seen, read[at], read[(at + 1).min(N - 1)]);
                    }
                }
            } else {
                let last = job.len - CHUNK * V::LANES;
                for chunk in 0..job.len.div_ceil(CHUNK * V::LANES) {
                    let from = from.add((chunk * CHUNK * V::LANES).min(last) * K::SIZE);
                    let mut read = [flip; CHUNK];
                    for at in 0..CHUNK {
                        read[at] = constants.lanes::<K, MODE>(V::load(from.add(at * V::BYTES)));
                    }
                    let mut most = read[0].larger(read[1]);
                    for at in (0..CHUNK).step_by(2) {
                        V::see(&mut seen, read[at], read[at + 1]);
                        most = if at > 0 { most.larger(read[at].larger(read[at + 1])) } else { most };
                    }
                    kept.add(chunk * ROWS + row).write(most);
                    best[row] = if chunk == 0 { most } else { most.larger(best[row]) };
                }
            }
        }
        if N == 1 {
            for row in (0..ROWS).step_by(2) {
                V::see(&mut seen, best[row], best[(row + 1).min(ROWS - 1)]);
            }
        }
        let needle = Self::spread(best);
        let mut all = needle[0];
        for row in 1..ROWS {
            all = all.larger(needle[row]);
        }
        let least = if MODE == BOTH { Self::spread(least) } else { needle };
        (needle, least, MODE != NUMBERS && V::saw_nan(seen, all, constants.infinity))
    }

    /// The largest lane of each of some registers, in all lanes.
    #[inline(always)]
    unsafe fn spread(mut best: [V; ROWS]) -> [V; ROWS] {
        if ROWS == BATCH {
            let four = spread_four::<K, V>([best[0], best[1 % ROWS], best[2 % ROWS], best[3 % ROWS]]);
            #[allow(clippy::manual_memcpy, reason = "a copy of memory is none of registers")]
            for row in 0..ROWS {
                best[row] = four[row];
            }
        } else {
            for row in 0..ROWS {
                best[row] = spread::<K, V>(best[row]);
            }
        }
        best
    }

    /// Writes the answers of a batch.
    #[inline(always)]
    unsafe fn answer(&self, first: usize, constants: Constants<V>, kept: *const V, needle: [V; ROWS]) {
        let placed = MODE != BOTH && !self.0.to.index.is_null();
        if placed || !self.write(first, needle) {
            match self.0.last {
                true => self.find::<true>(first, constants, kept, needle),
                false => self.find::<false>(first, constants, kept, needle),
            }
        }
    }

    /// Writes the values of a batch, which need no place unless one is a zero of a float: false then, and nothing is written.
    #[inline(always)]
    unsafe fn write(&self, first: usize, needle: [V; ROWS]) -> bool {
        let mut lanes = [0; ROWS];
        for row in 0..ROWS {
            lanes[row] = Unpacked::new(needle[row]).0[0];
        }
        if K::FLOAT && lanes.iter().any(|lane| lane << (65 - 8 * K::SIZE) == 0) {
            return false;
        }
        for (row, &lane) in lanes.iter().enumerate() {
            let bits =
                if K::KEYED && (lane as i16) < 0 { u64::from(lane as u16).wrapping_neg() ^ (1 << 15) } else { lane };
            self.0.put_bits::<K>(first + row, bits ^ self.0.flip as u64);
        }
        true
    }

    /// Finds the places of the largest lanes of a batch.
    #[inline(always)]
    unsafe fn find<const LAST: bool>(&self, first: usize, constants: Constants<V>, kept: *const V, needle: [V; ROWS]) {
        let (job, flip) = (self.0, constants.flip);
        for row in 0..ROWS {
            let from = job.row(first + row);
            // Equal lanes are equal bits, and NaN equals none: the needle is flipped, and not what is read.
            let bits = if K::KEYED || MODE == PLAIN { needle[row] } else { needle[row].xor(flip) };
            let found = if N > 0 {
                let mut read = [flip; N];
                for at in 0..N {
                    read[at] = match K::KEYED {
                        true => *kept.add(row * N + at),
                        false => V::load(from.add(Self::start(job.len, at) * K::SIZE)),
                    };
                }
                place::<K, V, N, LAST>(&read, bits, job.len)
            } else {
                let chunks = job.len.div_ceil(CHUNK * V::LANES);
                let mut found = 0;
                for step in 0..chunks {
                    let chunk = if LAST { step } else { chunks - 1 - step };
                    let any = (*kept.add(chunk * ROWS + row)).meets(needle[row]);
                    found = select_unpredictable(any, chunk, found);
                }
                let start = (found * CHUNK * V::LANES).min(job.len - CHUNK * V::LANES);
                let mut read = [flip; CHUNK];
                for at in 0..CHUNK {
                    let elements = V::load(from.add(start * K::SIZE + at * V::BYTES));
                    read[at] = if K::KEYED { elements.lanes(flip) } else { elements };
                }
                start + place::<K, V, CHUNK, LAST>(&read, bits, CHUNK * V::LANES)
            };
            // (As an index that is -1.)
            let marked = job.marks && needle[row].meets(constants.least);
            job.put::<K>(first + row, select_unpredictable(marked, usize::MAX, found));
        }
    }
}
