//! Batches of rows of any length, with AVX-512: each row is read in chunks of whole vectors.

use crate::isa::{Task, avx512};
use crate::kernels::batches::batch::{AHEAD, Batches, ROWS, VECTOR};
use crate::kernels::batches::hits::{EIGHT, Hits};
use crate::kernels::batches::join::extreme_of_row;
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::masked::present;
use crate::kernels::batches::single::Single;
use crate::kernels::batches::wanted::Wanted;
use crate::kernels::batches::watch::Watch;
use crate::kernels::prefetch::prefetch;
use crate::kernels::source::Lines;
use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// Bytes of the longest row.
const LONGEST: usize = 4096;

/// Vectors of a chunk of a row that has many.
const CHUNK: usize = 4;

/// Chunks of a row that is kept in registers.
const MOST: usize = 8;

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
                1 => avx512::run(Single::<K, LAST, VALUES, MASKED>(self, kind)),
                2 => avx512::run(Chunked::<K, 2, LAST, VALUES, MASKED>(self, kind)),
                3 => avx512::run(Chunked::<K, 3, LAST, VALUES, MASKED>(self, kind)),
                4 => avx512::run(Chunked::<K, 4, LAST, VALUES, MASKED>(self, kind)),
                5 | 6 => avx512::run(Chunked::<K, 6, LAST, VALUES, MASKED>(self, kind)),
                7 | 8 => avx512::run(Chunked::<K, 8, LAST, VALUES, MASKED>(self, kind)),
                _ => avx512::run(Chunked::<K, 0, LAST, VALUES, MASKED>(self, kind)),
            }
        }
    }
}

/// One batch after the other, of rows that are read as `CHUNKS` chunks of a vector each, or, where `CHUNKS` is 0, as many as it
/// takes of several vectors. The last chunk overlaps the one before, or the last word of [hits](Hits) does.
struct Chunked<'a, K, const CHUNKS: usize, const LAST: bool, const VALUES: bool, const MASKED: bool>(&'a Batches, K);

impl<K: Kind, const CHUNKS: usize, const LAST: bool, const VALUES: bool, const MASKED: bool> Task
    for Chunked<'_, K, CHUNKS, LAST, VALUES, MASKED>
{
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let batches = self.0;
        let wanted = Wanted::new::<VALUES>(batches);
        // Memory of which the compiler knows nothing: it would put what is there together in registers, bit by bit, and repeat
        // what is done for a row as often as there are rows.
        let mut hits = Hits::new();
        let hits = black_box(&mut hits);
        let rows = black_box(K::ROWS);
        for start in batches.starts(K::ROWS) {
            // SAFETY: the caller vouches for the rows and the results.
            unsafe {
                if !self.read(start, rows, hits) {
                    return start;
                }
                self.write(wanted, start, hits);
            }
        }
        batches.rows
    }
}

impl<K: Kind, const CHUNKS: usize, const LAST: bool, const VALUES: bool, const MASKED: bool>
    Chunked<'_, K, CHUNKS, LAST, VALUES, MASKED>
{
    const LONG: bool = CHUNKS == 0;
    /// Vectors of a chunk.
    const VECTORS: usize = if Self::LONG { CHUNK } else { 1 };
    /// Vectors that are compared with the extreme of their row: those of a chunk, or else all.
    const SOUGHT: usize = if Self::LONG { CHUNK } else { CHUNKS };
    /// Vectors of a word of hits.
    const EACH: usize = 64 / K::LANES;
    const WORDS: usize = Self::SOUGHT.div_ceil(Self::EACH);

    /// Where a chunk begins.
    #[inline(always)]
    fn start(len: usize, chunk: usize) -> usize {
        if Self::LONG || Self::WORDS == 1 {
            return (chunk * Self::VECTORS * K::LANES).min(len - Self::VECTORS * K::LANES);
        }
        let word = chunk / Self::EACH;
        let vectors = Self::EACH.min(CHUNKS - word * Self::EACH);
        (word * 64).min(len - vectors * K::LANES) + chunk % Self::EACH * K::LANES
    }

    /// Which of the elements of a vector of a row are there.
    ///
    /// # Safety
    /// As for [`Batches::run`], of a row that has the vector.
    #[inline(always)]
    unsafe fn there(from: Lines, at: usize) -> u64 {
        let all = u64::MAX >> (64 - K::LANES);
        // SAFETY: the caller's.
        unsafe { if MASKED { present(K::LANES, all, from.mask.add(at)) } else { all } }
    }

    /// The lanes of a vector of a row, and which of them are there.
    ///
    /// # Safety
    /// As for [`there`](Self::there).
    #[inline(always)]
    unsafe fn lanes(&self, from: Lines, at: usize) -> (__m512i, u64) {
        let &Self(_, kind) = self;
        let data = from.data.wrapping_add(at * K::SIZE);
        // SAFETY: the caller's; what a mask excludes is not read.
        unsafe {
            let there = Self::there(from, at);
            let elements = match MASKED {
                true => K::load(kind.worst(), there, data),
                false => _mm512_loadu_epi8(data.cast()),
            };
            (kind.lanes(elements), there)
        }
    }

    /// Reads a batch and marks the places of its extremes; false where a lane was NaN. Each row is kept in registers, or a chunk of
    /// it is read again.
    ///
    /// # Safety
    /// As for [`Batches::run`], of as many rows as the kind has in a batch.
    #[inline(always)]
    unsafe fn read(&self, start_row: usize, rows: usize, hits: &mut Hits) -> bool {
        let &Self(batches, kind) = self;
        let (lines, len) = (batches.lines.from(start_row as isize), batches.len);
        let chunks = if Self::LONG { len.div_ceil(CHUNK * K::LANES) } else { CHUNKS };
        // SAFETY: the rows are readable, and there is room for what is known of them.
        unsafe {
            let mut watch = Watch::new(kind);
            let mut largest = kind.lanes(kind.worst());
            for row in 0..rows {
                let from = lines.from(row as isize);
                let mut read = [(_mm512_setzero_si512(), 0); MOST];
                let mut best_of_chunks = MaybeUninit::<[__m512i; LONGEST / VECTOR / CHUNK]>::uninit();
                let best_of_chunks = best_of_chunks.as_mut_ptr().cast::<__m512i>();
                let mut best = kind.lanes(kind.worst());
                for chunk in 0..if MASKED { chunks } else { 0 } {
                    prefetch::<1>(from.mask.wrapping_add(Self::start(len, chunk) + AHEAD / K::SIZE));
                }
                if Self::LONG {
                    for chunk in 0..chunks {
                        let mut best_of_chunk = best;
                        for vector in 0..CHUNK {
                            let at = Self::start(len, chunk) + vector * K::LANES;
                            prefetch::<VECTOR>(from.data.wrapping_add(at * K::SIZE + AHEAD));
                            read[vector] = self.lanes(from, at);
                            let lanes = read[vector].0;
                            best_of_chunk = if vector == 0 { lanes } else { K::larger(lanes, best_of_chunk) };
                        }
                        watch.see(kind, [read[0].0, read[1].0]);
                        watch.see(kind, [read[2].0, read[3].0]);
                        best_of_chunks.add(chunk).write(best_of_chunk);
                        best = if chunk == 0 { best_of_chunk } else { K::larger(best_of_chunk, best) };
                    }
                } else {
                    for chunk in 0..CHUNKS {
                        let at = Self::start(len, chunk);
                        prefetch::<VECTOR>(from.data.wrapping_add(at * K::SIZE + AHEAD));
                        read[chunk] = self.lanes(from, at);
                        best = if chunk == 0 { read[chunk].0 } else { K::larger(read[chunk].0, best) };
                    }
                    for chunk in (0..CHUNKS).step_by(2) {
                        watch.see(kind, [read[chunk].0, read[(chunk + 1).min(CHUNKS - 1)].0]);
                    }
                }
                largest = K::larger(best, largest);
                if Self::LONG && watch.any(kind, largest) {
                    // (Long rows after NaN would be read in vain.)
                    return false;
                }
                let extreme = extreme_of_row::<K>(best);
                if VALUES {
                    hits.set_extreme::<K>(row, extreme);
                }
                let mut first = 0;
                if Self::LONG {
                    for step in 0..chunks {
                        // From the end that loses ties; chosen without a branch, which nobody could predict.
                        let chunk = if LAST { step } else { chunks - 1 - step };
                        first = match K::equal(u64::MAX, *best_of_chunks.add(chunk), extreme) {
                            0 => first,
                            _ => chunk,
                        };
                    }
                    first = Self::start(len, first);
                    hits.start(row, first);
                    for vector in 0..CHUNK {
                        // (What is left out needs no stand-in here.)
                        let at = first + vector * K::LANES;
                        let elements = _mm512_loadu_epi8(from.data.wrapping_add(at * K::SIZE).cast());
                        read[vector] = (kind.lanes(elements), Self::there(from, at));
                    }
                }
                let mut word = 0;
                for vector in 0..Self::SOUGHT {
                    let (lanes, there) = read[vector];
                    let these = K::equal(there, lanes, extreme);
                    match Self::WORDS {
                        1 if Self::LONG => word |= these << (vector * K::LANES),
                        1 => word |= these << Self::start(len, vector),
                        _ => hits.set_part::<K>(vector, Self::SOUGHT, row, these),
                    }
                }
                if Self::WORDS == 1 {
                    hits.set(0, row, word);
                }
            }
            !watch.any(kind, largest)
        }
    }

    /// Writes the results of a batch.
    ///
    /// # Safety
    /// As for [`read`](Self::read), which has been there.
    #[inline(always)]
    unsafe fn write(&self, wanted: Wanted, start_row: usize, hits: &Hits) {
        let &Self(batches, kind) = self;
        let (values, index) = batches.room::<VALUES>(wanted, start_row, K::ROWS, K::SIZE);
        // SAFETY: the caller's.
        unsafe {
            let extremes = if VALUES { hits.extremes() } else { _mm512_setzero_si512() };
            if wanted.notes && (!MASKED || Self::LONG) {
                // (Narrow lanes fill four bytes, all alike: these are as large as they are.)
                let larger = K::is_larger(extremes, kind.losers());
                batches.note(start_row, larger, if MASKED { u64::MAX } else { 0 });
            }
            let told = !wanted.values || kind.write(values, extremes);
            let mut places = MaybeUninit::<[i64; ROWS]>::uninit();
            let index = if wanted.index { index } else { places.as_mut_ptr().cast() };
            let (all, last_word) = match Self::LONG {
                true => (CHUNK * K::LANES, (Self::WORDS - 1) * 64),
                false => (batches.len, Self::start(batches.len, (Self::WORDS - 1) * Self::EACH)),
            };
            let far = if LAST { 1 } else { 1 << (all - 1 - last_word) };
            let mut there = 0;
            for eight in (0..K::ROWS).step_by(EIGHT) {
                let (places, any) = match Self::LONG {
                    false => hits.places::<LAST, false>(eight, Self::WORDS, last_word, far),
                    true => hits.places::<LAST, true>(eight, Self::WORDS, last_word, far),
                };
                _mm512_storeu_epi64(index.add(eight), places);
                there |= u64::from(any) << eight;
            }
            if wanted.notes && MASKED && !Self::LONG {
                batches.note(start_row, there, 0);
            }
            if !told {
                batches.fetch_by(K::SIZE, start_row, K::ROWS, index);
            }
        }
    }
}
