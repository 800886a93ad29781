//! Batches of longer rows, in chunks of `CHUNK` registers.
//!
//! ```text
//! for each chunk, for each row of the batch: keep the largest lane of each position of the chunk, and of the row
//! join the lanes: the largest lane of each row
//! to find a place: the first (or last) chunk whose kept lanes hold it, then the place in that chunk, which is read again
//! ```
//!
//! The last chunk overlaps the one before it.

use crate::kernels::lanes::{LINE, prefetch};
use crate::kernels::short_rows::{Batch, Constants, Job, Mode, Reduced, SPILLED_BYTES, decide};
use crate::thresholds::PREFETCHED_CHUNKS_LEAST_ARRAY_BYTES;
use crate::vector::extent::Readable;
use crate::vector::{Kind, Lanes, place};
use std::hint::select_unpredictable;
use std::marker::PhantomData;

/// Bytes from a register to the line that is prefetched with it: twice as many where memory holds the rows (64 MB of rows of 1024 take
/// 0.8 to 1 times as long, of 64 64-bit elements 0.75 to 0.9 times: EPYC, family 26, model 2).
const CHUNKED_AHEAD_BYTES: usize = 4096;

/// Rows that are read in chunks of `CHUNK` registers, and compared in the mode `M`.
pub struct Chunked<M, const CHUNK: usize>(PhantomData<M>);

impl<M: Mode, const CHUNK: usize> Chunked<M, CHUNK> {
    /// The number of chunks of a row; the bytes by which all of its registers but the first begin earlier, so that none of them crosses
    /// cache lines, where rows are read one at a time; and whether the chunks then end too early, so that one more register follows.
    #[inline(always)]
    fn chunks<K: Kind, V: Lanes<K>, const ROWS: usize>(job: &Job, from: Readable) -> (usize, usize, bool) {
        let bytes = job.len * K::SIZE;
        debug_assert!(bytes >= CHUNK * V::BYTES, "a row of {bytes} bytes has no chunk of {CHUNK} registers");
        let count = bytes.div_ceil(CHUNK * V::BYTES);
        if ROWS > 1 {
            return (count, 0, false);
        }
        let skew = from.address() as usize % V::BYTES / K::SIZE * K::SIZE;
        (count, skew, skew > count * CHUNK * V::BYTES - bytes)
    }

    /// Where a chunk begins, in bytes: the last overlaps the one before.
    #[inline(always)]
    fn chunk<K: Kind, V: Lanes<K>>(job: &Job, chunk: usize, skew: usize) -> usize {
        (chunk * CHUNK * V::BYTES).saturating_sub(skew).min(job.len * K::SIZE - CHUNK * V::BYTES)
    }
}

impl<K: Kind, V: Lanes<K>, M: Mode, const CHUNK: usize, const ROWS: usize> Batch<K, V, ROWS> for Chunked<M, CHUNK> {
    type Mode = M;
    const IS_SHORT: bool = false;

    #[inline(always)]
    unsafe fn reduce(job: &Job, first: usize, constants: Constants<V>, spill: *mut V) -> Reduced<V, ROWS> {
        let mut nans = V::no_nan();
        let mut best = [constants.flip; ROWS];
        let start = job.row(first);
        let (chunks, skew, has_rest) = Self::chunks::<K, V, ROWS>(job, start);
        debug_assert!((chunks + usize::from(has_rest)) * ROWS * V::BYTES <= SPILLED_BYTES);
        // The same places as those of `chunk`, without a multiplication. Of the first chunk, the first register alone begins with the
        // row.
        let mut offset = 0;
        let mut back = skew;
        let mut next = (CHUNK * V::BYTES).wrapping_sub(skew);
        let from_memory = job.bytes >= PREFETCHED_CHUNKS_LEAST_ARRAY_BYTES;
        let prefetches = V::BYTES == LINE || from_memory;
        let ahead = if from_memory { 2 * CHUNKED_AHEAD_BYTES } else { CHUNKED_AHEAD_BYTES };
        for chunk in 0..chunks {
            for row in 0..ROWS {
                let from = start.wrapping_offset(job.lines.stride * row as isize);
                let mut read = [constants.flip; CHUNK];
                for at in 0..CHUNK {
                    let from = from.add(offset + at * V::BYTES - if at > 0 { back } else { 0 });
                    // One line at a time. Registers as wide as a line mostly touch two: see `batched` for what this gains.
                    if prefetches && at % (LINE / V::BYTES) == 0 {
                        prefetch::<LINE>(from.address().wrapping_add(ahead));
                    }
                    read[at] = M::elements::<K, V>(constants, V::load(from));
                }
                // One comparison notes the NaN of two registers.
                for at in (0..CHUNK).step_by(2) {
                    V::note_nan(&mut nans, read[at], read[at + 1]);
                }
                for at in 0..CHUNK {
                    read[at] = M::lanes::<K, V>(constants, read[at]);
                }
                // Pairs first: no comparison waits for the one before it.
                let mut most = read[0].max(read[1]);
                for at in (2..CHUNK).step_by(2) {
                    most = most.max(read[at].max(read[at + 1]));
                }
                // The search looks here for the chunk.
                spill.add(chunk * ROWS + row).write(most);
                best[row] = if chunk == 0 { most } else { most.max(best[row]) };
            }
            offset = next.min((job.len * K::SIZE).wrapping_sub(CHUNK * V::BYTES));
            next += CHUNK * V::BYTES;
            back = 0;
        }
        if has_rest {
            let rest = M::elements::<K, V>(constants, V::load(start.add(job.len * K::SIZE - V::BYTES)));
            V::note_nan(&mut nans, rest, rest);
            let rest = M::lanes::<K, V>(constants, rest);
            spill.add(chunks).write(rest);
            best[0] = rest.max(best[0]);
        }
        decide::<K, V, M, ROWS>(best, best, nans, constants)
    }

    #[inline(always)]
    unsafe fn find<const LAST: bool>(
        job: &Job,
        first: usize,
        constants: Constants<V>,
        spill: *const V,
        needle: [V; ROWS],
    ) -> [usize; ROWS] {
        let flip = constants.flip;
        let start = job.row(first);
        let (chunks, skew, has_rest) = Self::chunks::<K, V, ROWS>(job, start);
        let chunks = chunks + usize::from(has_rest);
        // The chunk whose ties win comes last, and replaces the others without a branch.
        let mut chunk_of = [0; ROWS];
        for step in 0..chunks {
            let chunk = if LAST { step } else { chunks - 1 - step };
            for row in 0..ROWS {
                let any = (*spill.add(chunk * ROWS + row)).any_eq(needle[row]);
                chunk_of[row] = select_unpredictable(any, chunk, chunk_of[row]);
            }
        }
        let mut places = [0; ROWS];
        for row in 0..ROWS {
            let from = start.wrapping_offset(job.lines.stride * row as isize);
            // Equal lanes have equal bits, and NaN equals nothing. So the needle is flipped instead of the elements.
            let as_lanes = M::has_keys::<K>() || !M::FLIPS;
            let bits = if as_lanes { needle[row] } else { needle[row].xor(flip) };
            let start = Self::chunk::<K, V>(job, chunk_of[row], skew);
            let mut read = [flip; CHUNK];
            for at in 0..CHUNK {
                let elements = V::load(from.add(start + at * V::BYTES));
                read[at] = if M::has_keys::<K>() { elements.xor(flip).lanes() } else { elements };
            }
            places[row] = start / K::SIZE + place::<K, V, CHUNK, LAST>(&read, bits, CHUNK * V::LANES);
        }
        places
    }
}
