//! Rows of 1 to 2048 registers, four at a time.
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
//! The loop over a row of up to eight registers is unrolled. Longer rows are read in chunks of four registers: the kernel keeps
//! the largest lanes of each chunk, uses them to find the chunk with the extremum, and reads only that chunk again. Rows of more
//! than 1 KiB are read one at a time, in chunks of eight registers, because four rows of 8 KiB evict each other from the
//! first-level cache. (Xeon, family 6, model 167, AVX2: rows of 256 to 4096 64-bit elements are 1.08 to 1.26 times as fast as
//! with chunks of four and a limit of 2 KiB. Their chunks begin at cache lines: NumPy's larger arrays begin 16 bytes after one,
//! so half of the loads would touch two lines, and all loads with AVX-512 (1.2 to 1.35 times as fast from 1000 elements on).)
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
//! registers: rows of more than 512 bytes are 1.05 to 1.2 times as fast (Xeon, family 6, model 207). Rows of eight such registers
//! are read in chunks too: the search then reads half as much (rows of 64 64-bit elements 1.1 times as fast, of 200 16-bit floats
//! 0.9 times).
//!
//! Not done: prefetching for other rows or narrower registers (0.95 to 1.05 times as fast).

use crate::isa::Task;
use crate::kernels::lanes::{LINE, prefetch};
use crate::kernels::short_rows::{BOTH, Constants, FLIP, Job, Limits, MASKED, NUMBERS, PLAIN, RAW, turn_limit};
use crate::vector::extent::Readable;
use crate::vector::set::Unpacked;
use crate::vector::{Kind, Lanes, Mask, Register, fold_four, place, splat, spread, spread_four};
use std::hint::select_unpredictable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Rows of a batch.
pub const BATCH: usize = 4;

/// Registers in a chunk of a row that is read alone, and of a shorter row; chunks in the longest row.
const LONG_CHUNK: usize = 8;
const CHUNK: usize = 4;
const CHUNKS: usize = 512;

/// Registers of the longest row whose loop is unrolled.
pub const UNROLL: usize = 8;

/// Rows of more bytes than this are read one at a time.
const LONG: usize = 1024;

/// Bytes from a register to the line that is prefetched with it.
const AHEAD: usize = 4096;

/// Returns the number of rows done.
pub unsafe fn run<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, job: &Job) -> usize {
    match job.len.div_ceil(<I::Register as Lanes<K>>::LANES) {
        count if !job.lines.mask.is_null() => masked::<I, K>(set, job, count),
        count if count >= CHUNK && job.len * K::SIZE > LONG => batches::<I, K, 0, 1, LONG_CHUNK>(set, job),
        _ if job.rows < BATCH => 0,
        1 => batches::<I, K, 1, BATCH, CHUNK>(set, job),
        2 => batches::<I, K, 2, BATCH, CHUNK>(set, job),
        3 => batches::<I, K, 3, BATCH, CHUNK>(set, job),
        4 => batches::<I, K, 4, BATCH, CHUNK>(set, job),
        5 | 6 => batches::<I, K, 6, BATCH, CHUNK>(set, job),
        7 | 8 => batches::<I, K, UNROLL, BATCH, CHUNK>(set, job),
        _ => batches::<I, K, 0, BATCH, CHUNK>(set, job),
    }
}

/// Reads rows of `count` registers, with their mask.
unsafe fn masked<I: Limits<Register: Lanes<K>>, K: Kind>(set: I, job: &Job, count: usize) -> usize {
    if const { I::Register::BYTES == 16 } {
        0 // Masks are not read.
    } else {
        match count {
            ..=4 => set.run(Medium::<K, I::Register, 4, BATCH, CHUNK, MASKED>(job, PhantomData)),
            5 | 6 => set.run(Medium::<K, I::Register, 6, BATCH, CHUNK, MASKED>(job, PhantomData)),
            _ => set.run(Medium::<K, I::Register, UNROLL, BATCH, CHUNK, MASKED>(job, PhantomData)),
        }
    }
}

/// Reads rows of at most `N` registers; where `N` is 0, rows of more than four.
unsafe fn batches<I: Limits<Register: Lanes<K>>, K: Kind, const N: usize, const ROWS: usize, const CHUNK: usize>(
    set: I,
    job: &Job,
) -> usize {
    // Rows this short are transposed instead, so this code is not needed.
    if N > 0 && N * <I::Register as Lanes<K>>::LANES * K::SIZE <= turn_limit::<I>(K::SIZE) {
        0
    } else if const { N > 0 && !K::KEYS } && !job.other.is_null() {
        set.run(Medium::<K, I::Register, N, ROWS, CHUNK, BOTH>(job, PhantomData))
    } else if const { N == UNROLL && I::Register::BYTES == LINE } {
        batches::<I, K, 0, ROWS, CHUNK>(set, job)
    } else if const { K::FLOAT } && job.numbers {
        set.run(Medium::<K, I::Register, N, ROWS, CHUNK, NUMBERS>(job, PhantomData))
    } else if const { K::KEYS } {
        let done = set.run(Medium::<K, I::Register, N, ROWS, CHUNK, RAW>(job, PhantomData));
        if done == job.rows {
            return done;
        }
        let done = done.min(job.rows - ROWS);
        done + set.run(Medium::<K, I::Register, N, ROWS, CHUNK, FLIP>(&job.after::<K>(done), PhantomData))
    } else if const { !K::KEYS } && job.flip == 0 {
        // Flipping no bits would still take a tenth of the time: the ports that compare are busy.
        set.run(Medium::<K, I::Register, N, ROWS, CHUNK, PLAIN>(job, PhantomData))
    } else {
        set.run(Medium::<K, I::Register, N, ROWS, CHUNK, FLIP>(job, PhantomData))
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
        // A copy: otherwise the compiler has to assume that writes may change the job itself.
        let job = *self.0;
        let medium = Medium::<K, V, N, ROWS, CHUNK, MODE>(&job, PhantomData);
        // Memory that a short row does not need would only have to be probed.
        if N > 0 { medium.batches::<{ BATCH * UNROLL }>() } else { medium.batches::<CHUNKS>() }
    }
}

impl<K: Kind, V: Lanes<K>, const N: usize, const ROWS: usize, const CHUNK: usize, const MODE: u8>
    Medium<'_, K, V, N, ROWS, CHUNK, MODE>
{
    /// Returns the number of rows done.
    #[inline(always)]
    unsafe fn batches<const SPILL: usize>(&self) -> usize {
        let job = self.0;
        let constants = job.constants::<K, V>();
        let opposite = job.opposite::<K>();
        // Registers that a batch keeps while the next batch is read.
        let mut spill = [const { [const { MaybeUninit::<V>::uninit() }; SPILL] }; 2];
        let spill = spill.as_mut_ptr().cast::<V>();
        let half = |batch: usize| spill.add(batch % 2 * SPILL);
        let first = |batch: usize| (batch * ROWS).min(job.rows - ROWS);
        let batches = job.rows.div_ceil(ROWS);
        let (mut needle, mut least, mut nan) = self.reduce(0, constants, half(0));
        for batch in 0..batches {
            if nan {
                return first(batch);
            }
            // Without the branch the compiler would move comparisons to where their operands are in memory.
            let next = if batch + 1 < batches {
                self.reduce(first(batch + 1), constants, half(batch + 1))
            } else {
                (needle, least, nan)
            };
            self.answer(first(batch), constants, half(batch), needle);
            if MODE == BOTH {
                let other = Medium::<K, V, N, ROWS, CHUNK, MODE>(&opposite, PhantomData);
                other.answer(first(batch), opposite.constants::<K, V>(), half(batch), least);
            }
            (needle, least, nan) = next;
        }
        job.rows
    }

    /// Whether keys are compared.
    const KEYS: bool = K::KEYS && MODE != RAW;
    /// Whether the lanes of a row are kept for the search where its loop is unrolled.
    const KEPT: bool = Self::KEYS || MODE == MASKED;

    /// The elements of a register that begins some bytes after its row, masked ones replaced by the element that loses to all.
    #[inline(always)]
    unsafe fn masked(&self, elements: V, loser: V, row: usize, after: usize) -> V {
        let mask = self.0.mask(row).add(after / K::SIZE).read(V::LANES);
        match K::SIZE {
            1 => elements.under::<1>(mask, loser),
            2 => elements.under::<2>(mask, loser),
            4 => elements.under::<4>(mask, loser),
            _ => elements.under::<8>(mask, loser),
        }
    }

    /// Whether an element of a batch, masked or not, equals the one that loses to all.
    #[inline(always)]
    unsafe fn fills(&self, first: usize, loser: V) -> bool {
        let mut fills = V::Mask::none();
        for row in first..first + ROWS {
            for at in 0..N {
                let elements = V::read(self.0.row(row).add(Self::start(self.0.len, at) * K::SIZE));
                fills = fills.or(elements.equal(loser));
            }
        }
        fills.any()
    }

    /// The number of chunks of a row, 0 where the loop over the row is unrolled; and, where rows are read one at a time, the
    /// bytes by which all chunks but the first and the last begin earlier, so that they begin at a cache line.
    #[inline(always)]
    fn chunks(job: &Job, from: Readable) -> (usize, usize) {
        let count = if N > 0 { 0 } else { (job.len * K::SIZE).div_ceil(CHUNK * V::BYTES) };
        if ROWS > 1 {
            return (count, 0);
        }
        let spare = count * CHUNK * V::BYTES - job.len * K::SIZE;
        let skew = from.address() as usize % LINE / K::SIZE * K::SIZE;
        // An additional chunk costs a shorter row more.
        let skew = if skew <= spare || count >= 8 { skew } else { 0 };
        (count + usize::from(skew > spare), skew)
    }

    /// Where a chunk begins, in bytes: the last overlaps the one before.
    #[inline(always)]
    fn chunk(job: &Job, chunk: usize, skew: usize) -> usize {
        (chunk * CHUNK * V::BYTES).saturating_sub(skew).min(job.len * K::SIZE - CHUNK * V::BYTES)
    }

    /// Where a register of a row begins: the last overlaps the one before, and is read twice where `N` is rounded up.
    #[inline(always)]
    fn start(len: usize, at: usize) -> usize {
        if at > 0 && (MODE == MASKED || at + 1 == N || at + 2 == N && N > 4) {
            (at * V::LANES).min(len - V::LANES)
        } else {
            at * V::LANES
        }
    }

    /// For each row of a batch, in all lanes: the largest lane; for `BOTH`, as [`fold`](Self::fold) joins them, that lane and that
    /// of the other end of the order. Also whether this kernel cannot decide, because there is NaN or, for `RAW`, a row with
    /// nothing above zero.
    #[inline(always)]
    unsafe fn reduce(&self, first: usize, constants: Constants<V>, spill: *mut V) -> ([V; ROWS], [V; ROWS], bool) {
        let (job, flip) = (self.0, constants.flip);
        let mut nans = V::no_nan();
        let (mut best, mut least, mut only) = ([flip; ROWS], [flip; ROWS], [flip; ROWS]);
        let loser = splat::<K, V>(job.loser);
        let start = job.row(first);
        let row_at = |row: usize| start.wrapping_offset(job.lines.stride * row as isize);
        if N > 0 {
            for row in 0..ROWS {
                let mut read = [flip; N];
                for at in 0..N {
                    let after = Self::start(job.len, at) * K::SIZE;
                    let mut elements = V::read(row_at(row).add(after));
                    if MODE == MASKED {
                        elements = self.masked(elements, loser, first + row, after);
                    }
                    read[at] = constants.elements::<K, MODE>(elements);
                    let lanes = constants.lanes::<K, MODE>(read[at]);
                    best[row] = if at == 0 { lanes } else { lanes.larger(best[row]) };
                    if MODE == BOTH {
                        least[row] = if at == 0 { lanes } else { lanes.smaller(least[row]) };
                    }
                    if Self::KEPT {
                        spill.add(row * N + at).write(lanes);
                    }
                }
                least[row] = least[row].xor(splat::<K, V>(Job::turn::<K>()));
                only[row] = read[0];
                if N > 1 {
                    for at in (0..N).step_by(2) {
                        V::see(&mut nans, read[at], read[(at + 1).min(N - 1)]);
                    }
                }
            }
        }
        let (chunks, skew) = Self::chunks(job, start);
        let (mut offset, mut next) = (0, (CHUNK * V::BYTES).wrapping_sub(skew));
        for chunk in 0..chunks {
            for row in 0..ROWS {
                let mut read = [flip; CHUNK];
                for at in 0..CHUNK {
                    let from = row_at(row).add(offset + at * V::BYTES);
                    if V::BYTES == LINE {
                        prefetch::<LINE>(from.address().wrapping_add(AHEAD));
                    }
                    read[at] = constants.elements::<K, MODE>(V::read(from));
                }
                for at in (0..CHUNK).step_by(2) {
                    V::see(&mut nans, read[at], read[at + 1]);
                }
                for at in 0..CHUNK {
                    read[at] = constants.lanes::<K, MODE>(read[at]);
                }
                let mut most = read[0].larger(read[1]);
                for at in (2..CHUNK).step_by(2) {
                    most = most.larger(read[at].larger(read[at + 1]));
                }
                spill.add(chunk * ROWS + row).write(most);
                best[row] = if chunk == 0 { most } else { most.larger(best[row]) };
            }
            offset = next.min((job.len * K::SIZE).wrapping_sub(CHUNK * V::BYTES));
            next += CHUNK * V::BYTES;
        }
        if N == 1 {
            for row in (0..ROWS).step_by(2) {
                V::see(&mut nans, only[row], only[(row + 1).min(ROWS - 1)]);
            }
        }
        if MODE == BOTH {
            return (Self::fold(best), Self::fold(least), V::has_nan(nans, flip, flip));
        }
        let needle = Self::spread(Self::fold(best));
        let mut all = needle[0];
        for row in 1..ROWS {
            all = all.larger(needle[row]);
        }
        let mut other = MODE != NUMBERS && V::has_nan(nans, all, constants.infinity);
        if MODE == RAW {
            let (one, mut none) = (splat::<K, V>(1), V::Mask::none());
            for row in 0..ROWS {
                none = none.or(one.above(needle[row]));
            }
            other |= none.any();
        }
        (needle, needle, other)
    }

    /// The largest lanes of a batch, joined in two registers.
    #[inline(always)]
    unsafe fn fold(mut best: [V; ROWS]) -> [V; ROWS] {
        if ROWS == BATCH {
            [best[0], best[1 % ROWS]] = fold_four::<K, V>([best[0], best[1 % ROWS], best[2 % ROWS], best[3 % ROWS]]);
        }
        best
    }

    /// The largest lane of each row in all lanes of a register.
    #[inline(always)]
    unsafe fn spread(mut best: [V; ROWS]) -> [V; ROWS] {
        if ROWS == BATCH {
            let four = spread_four::<K, V>([best[0], best[1 % ROWS]]);
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
    unsafe fn answer(&self, first: usize, constants: Constants<V>, spill: *const V, needle: [V; ROWS]) {
        let has_places = MODE != BOTH && !self.0.to.index.is_null();
        if has_places || !self.write(first, needle) {
            let needle = if MODE == BOTH { Self::spread(needle) } else { needle };
            let mut places = match self.0.last {
                true => self.find::<true>(first, constants, spill, needle),
                false => self.find::<false>(first, constants, spill, needle),
            };
            if self.0.marks {
                let mut lost = false;
                for row in 0..ROWS {
                    let loses = needle[row].meets(constants.least);
                    // `usize::MAX` becomes the index -1.
                    places[row] = select_unpredictable(loses, usize::MAX, places[row]);
                    lost |= loses;
                }
                if MODE == MASKED && lost && self.fills(first, splat::<K, V>(self.0.loser)) {
                    *self.0.fills = true;
                }
            }
            self.0.put::<K, ROWS>(first, places);
        }
    }

    /// Writes the values of a batch without places. A zero of a float needs its place: then returns false and writes nothing.
    #[inline(always)]
    unsafe fn write(&self, first: usize, needle: [V; ROWS]) -> bool {
        let mut lanes = [0; ROWS];
        for row in 0..ROWS {
            lanes[row] = match K::SIZE {
                _ if MODE != BOTH => Unpacked::new(needle[row]).whole(0),
                8 => Unpacked::new(needle[row / 2 % ROWS]).whole(row % 2),
                size => Unpacked::new(needle[0]).get::<K>(row * 4 / size) as u64,
            };
        }
        if K::FLOAT && lanes.iter().any(|lane| lane << (65 - 8 * K::SIZE) == 0) {
            return false;
        }
        for (row, &lane) in lanes.iter().enumerate() {
            let bits =
                if Self::KEYS && (lane as i16) < 0 { u64::from(lane as u16).wrapping_neg() ^ (1 << 15) } else { lane };
            self.0.put_bits::<K>(first + row, bits ^ self.0.flip as u64);
        }
        true
    }

    /// Finds the places of the largest lanes of a batch.
    #[inline(always)]
    unsafe fn find<const LAST: bool>(
        &self,
        first: usize,
        constants: Constants<V>,
        spill: *const V,
        needle: [V; ROWS],
    ) -> [usize; ROWS] {
        let (job, flip) = (self.0, constants.flip);
        let (start, mut places) = (job.row(first), [0; ROWS]);
        let (chunks, skew) = Self::chunks(job, start);
        for step in 0..chunks {
            let chunk = if LAST { step } else { chunks - 1 - step };
            for row in 0..ROWS {
                let any = (*spill.add(chunk * ROWS + row)).meets(needle[row]);
                places[row] = select_unpredictable(any, chunk, places[row]);
            }
        }
        for row in 0..ROWS {
            let from = start.wrapping_offset(job.lines.stride * row as isize);
            // Equal lanes have equal bits, and NaN equals nothing. So the needle is flipped instead of the elements.
            let lanes = Self::KEPT || MODE == PLAIN;
            let bits = if lanes { needle[row] } else { needle[row].xor(flip) };
            if N > 0 {
                let mut read = [flip; N];
                for at in 0..N {
                    read[at] = match Self::KEPT {
                        true => *spill.add(row * N + at),
                        false => V::read(from.add(Self::start(job.len, at) * K::SIZE)),
                    };
                }
                places[row] = place::<K, V, N, LAST>(&read, bits, job.len);
            } else {
                let start = Self::chunk(job, places[row], skew);
                let mut read = [flip; CHUNK];
                for at in 0..CHUNK {
                    let elements = V::read(from.add(start + at * V::BYTES));
                    read[at] = if Self::KEYS { elements.xor(flip).lanes() } else { elements };
                }
                places[row] = start / K::SIZE + place::<K, V, CHUNK, LAST>(&read, bits, CHUNK * V::LANES);
            }
        }
        places
    }
}
