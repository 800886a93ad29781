//! Batches of rows of any length, with AVX-512: each row is read in chunks of whole vectors.

use crate::isa::{Task, avx512};
use crate::kernels::batches::batch::{AHEAD, Batches, ROWS, VECTOR};
use crate::kernels::batches::join::Join;
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::masked::present;
use crate::kernels::batches::wanted::Wanted;
use crate::kernels::cache_line::Aligned;
use crate::kernels::prefetch::prefetch;
use crate::kernels::source::Lines;
use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Bytes of the longest row.
const LONGEST: usize = 4096;

/// Vectors of a chunk of a row that has many.
const CHUNK: usize = 4;

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`Batches::run`].
    pub unsafe fn in_chunks<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (self.places_alone(), self.last) {
                (true, false) => self.in_chunks_of::<K, false, false, false>(kind),
                (true, true) => self.in_chunks_of::<K, true, false, false>(kind),
                (false, false) => self.in_chunks_of::<K, false, true, false>(kind),
                (false, true) => self.in_chunks_of::<K, true, true, false>(kind),
            }
        }
    }

    /// The same of rows under a mask.
    ///
    /// # Safety
    /// As for [`Batches::run`].
    pub unsafe fn in_chunks_under_mask<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.last {
                false => self.in_chunks_of::<K, false, true, true>(kind),
                true => self.in_chunks_of::<K, true, true, true>(kind),
            }
        }
    }

    /// # Safety
    /// As for [`Batches::run`].
    unsafe fn in_chunks_of<K: Kind, const LAST: bool, const VALUES: bool, const MASKED: bool>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.len.div_ceil(K::LANES) {
                1 => avx512::run(Chunked::<K, 1, LAST, VALUES, MASKED>(self, kind)),
                2 => avx512::run(Chunked::<K, 2, LAST, VALUES, MASKED>(self, kind)),
                3 => avx512::run(Chunked::<K, 3, LAST, VALUES, MASKED>(self, kind)),
                4 => avx512::run(Chunked::<K, 4, LAST, VALUES, MASKED>(self, kind)),
                5 | 6 => avx512::run(Chunked::<K, 6, LAST, VALUES, MASKED>(self, kind)),
                7 | 8 => avx512::run(Chunked::<K, 8, LAST, VALUES, MASKED>(self, kind)),
                _ => avx512::run(Chunked::<K, 0, LAST, VALUES, MASKED>(self, kind)),
            }
        }
    }

    /// Does one batch; false where a lane was NaN, and nothing was done.
    ///
    /// A row is read as `CHUNKS` chunks of a vector each, or, where `CHUNKS` is 0, as many as it takes of several
    /// vectors. The last chunk overlaps the one before; the only chunk is cut off where the row ends.
    ///
    /// # Safety
    /// As for [`Batches::run`], of as many rows and results as the kind has in a batch.
    #[inline(always)]
    unsafe fn batch<K: Kind, const CHUNKS: usize, const LAST: bool, const VALUES: bool, const MASKED: bool>(
        &self,
        kind: K,
        wanted: Wanted,
        start_row: usize,
    ) -> bool {
        let (values, index) = self.room::<VALUES>(wanted, start_row, K::ROWS, K::SIZE);
        let lines = self.lines.from(start_row as isize);
        let long = CHUNKS == 0;
        let vectors = if long { CHUNK } else { 1 };
        let chunks = if long { self.len.div_ceil(CHUNK * K::LANES) } else { CHUNKS };
        let all = u64::MAX >> (64 - K::LANES);
        let mask = if CHUNKS == 1 { u64::MAX >> (64 - self.len) } else { all };
        let start = |chunk: usize| match CHUNKS {
            1 => 0,
            _ => (chunk * vectors * K::LANES).min(self.len - vectors * K::LANES),
        };
        // SAFETY: the rows are readable; what a mask excludes is not read.
        unsafe {
            let worst = kind.worst();
            let row = |row: usize| lines.from(row as isize);
            // Which of the elements of a vector are there.
            let there = |row: Lines, at: usize| if MASKED { present(K::LANES, mask, row.mask.add(at)) } else { mask };
            let lanes = |row: Lines, at: usize| {
                let from = row.data.add(at * K::SIZE);
                if MASKED {
                    kind.lanes(K::load(worst, there(row, at), from))
                } else if CHUNKS == 1 {
                    kind.lanes(K::load(worst, mask, from))
                } else {
                    kind.lanes(_mm512_loadu_epi8(from.cast()))
                }
            };
            let mut unordered = 0;
            let mut best_of_rows = [_mm512_setzero_si512(); ROWS];
            let mut best_of_chunks = [const { MaybeUninit::<[__m512i; LONGEST / VECTOR / CHUNK]>::uninit() }; ROWS];
            for at in 0..K::ROWS {
                let from = row(at);
                for chunk in 0..chunks {
                    let start = start(chunk);
                    prefetch::<VECTOR>(from.data.wrapping_add(start * K::SIZE + AHEAD));
                    if MASKED {
                        prefetch::<1>(from.mask.wrapping_add(start + AHEAD / K::SIZE));
                    }
                    let mut best = lanes(from, start);
                    if CHUNKS != 1 {
                        unordered |= kind.unordered(best, best);
                    }
                    for vector in 1..vectors {
                        prefetch::<VECTOR>(from.data.wrapping_add(start * K::SIZE + vector * VECTOR + AHEAD));
                        let lanes = lanes(from, start + vector * K::LANES);
                        unordered |= kind.unordered(lanes, lanes);
                        best = K::larger(lanes, best);
                    }
                    if long {
                        best_of_chunks[at].as_mut_ptr().cast::<__m512i>().add(chunk).write(best);
                    }
                    best_of_rows[at] = if chunk == 0 { best } else { K::larger(best, best_of_rows[at]) };
                }
            }
            if CHUNKS == 1 {
                unordered = best_of_rows.chunks_exact(2).fold(0, |any, pair| any | kind.unordered(pair[0], pair[1]));
            }
            if unordered != 0 {
                return false;
            }
            let mut pairs = [_mm512_setzero_si512(); ROWS / 2];
            for (at, rows) in best_of_rows.chunks_exact(2).enumerate() {
                pairs[at] = Join::WHOLE.pair::<K, true>(rows[0], rows[1]);
            }
            let extremes_of_rows = Join::WHOLE.all::<K, true>(pairs);
            // Where each row is looked at under its mask, it is seen whether there is an element.
            let seen = MASKED && !long;
            if wanted.notes && !seen {
                // (Narrow lanes fill four bytes, all alike: these are as large as they are.)
                let larger = K::is_larger(extremes_of_rows, kind.losers());
                self.note(start_row, larger, if MASKED { u64::MAX } else { 0 });
            }
            let told = !wanted.values || kind.write(values, extremes_of_rows);
            if told && !wanted.index && !(wanted.notes && seen) {
                return true;
            }
            let mut places = MaybeUninit::<[i64; ROWS]>::uninit();
            let index = if wanted.index { index } else { places.as_mut_ptr().cast() };
            // By way of memory: to broadcast from there is part of a comparison, from a register it is not.
            let mut extremes = Aligned([0u8; VECTOR]);
            _mm512_storeu_epi8(extremes.0.as_mut_ptr().cast(), extremes_of_rows);
            let extremes = black_box(extremes.0.as_ptr());
            for at in 0..K::ROWS {
                let from = row(at);
                let extreme = K::splat(extremes.add(at * K::SIZE.max(4)));
                // (What is left out needs no stand-in here.)
                let hits_at = |at: usize| {
                    let lanes = if MASKED {
                        kind.lanes(_mm512_loadu_epi8(from.data.add(at * K::SIZE).cast()))
                    } else {
                        lanes(from, at)
                    };
                    K::equal(there(from, at), lanes, extreme)
                };
                let hits_in = |chunk: usize| match CHUNKS {
                    0 => K::equal(all, *best_of_chunks[at].as_ptr().cast::<__m512i>().add(chunk), extreme),
                    1 => K::equal(there(from, 0), best_of_rows[at], extreme),
                    _ => hits_at(start(chunk)),
                };
                // From the end that loses ties; chosen without a branch, which nobody could predict.
                let order = |step: usize, steps: usize| if LAST { step } else { steps - 1 - step };
                let (mut place, mut hits) = (start(order(0, chunks)), hits_in(order(0, chunks)));
                for step in 1..chunks {
                    let chunk = order(step, chunks);
                    let these = hits_in(chunk);
                    (place, hits) = if these != 0 { (start(chunk), these) } else { (place, hits) };
                }
                if long {
                    let start = place;
                    for step in 0..vectors {
                        let at = start + order(step, vectors) * K::LANES;
                        let these = hits_at(at);
                        (place, hits) = if these != 0 { (at, these) } else { (place, hits) };
                    }
                }
                if wanted.notes && seen {
                    self.to.notes.add(start_row + at).write(if hits == 0 { 0 } else { u8::MAX });
                }
                // Only rows of several single vectors are read again; the others are compared as they were read first. Under a mask
                // there may be none.
                let hits = if CHUNKS > 1 || MASKED { hits | far_lane(mask, LAST) } else { hits };
                index.add(at).write_unaligned((place + lane(hits, LAST)) as i64);
            }
            if !told {
                self.fetch_by(K::SIZE, start_row, K::ROWS, index);
            }
        }
        true
    }
}

/// One batch after the other, their rows read in `CHUNKS` chunks.
struct Chunked<'a, K, const CHUNKS: usize, const LAST: bool, const VALUES: bool, const MASKED: bool>(&'a Batches, K);

impl<K: Kind, const CHUNKS: usize, const LAST: bool, const VALUES: bool, const MASKED: bool> Task
    for Chunked<'_, K, CHUNKS, LAST, VALUES, MASKED>
{
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        let wanted = Wanted::new::<VALUES>(batches);
        for start in batches.starts(K::ROWS) {
            // SAFETY: the caller vouches for the rows and the results.
            unsafe {
                if !batches.batch::<K, CHUNKS, LAST, VALUES, MASKED>(kind, wanted, start) {
                    return start;
                }
            }
        }
        batches.rows
    }
}

/// The first (or last) of the lanes that were hit.
#[inline(always)]
fn lane(hits: u64, last: bool) -> usize {
    let lane = if last { 63 - hits.leading_zeros() } else { hits.trailing_zeros() };
    lane as usize
}

/// The lane of the mask that is the last to be asked, as a mask. It counts as hit, so that there is a lane where no other
/// is: another thread may write a row between both looks at it.
#[inline(always)]
fn far_lane(mask: u64, last: bool) -> u64 {
    if last { 1 } else { (mask >> 1) + 1 }
}

#[cfg(test)]
mod tests {
    use super::{far_lane, lane};

    #[test]
    fn a_lane_is_one_of_the_mask_even_if_none_was_hit() {
        for lanes in 1..=64 {
            let mask = u64::MAX >> (64 - lanes);
            for hits in (0..lanes).map(|hit| 1 << hit).chain([mask]) {
                for last in [false, true] {
                    assert_eq!(lane(hits | far_lane(mask, last), last), lane(hits, last));
                }
            }
            assert_eq!((lane(far_lane(mask, false), false), lane(far_lane(mask, true), true)), (lanes - 1, 0));
        }
    }
}
