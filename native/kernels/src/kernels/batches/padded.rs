//! Batches of rows of a few elements of up to four bytes, one after the other in memory, with AVX-512.
//!
//! Several rows share a vector: each is spread over a power of two lanes, the rest of which hold its last element once more.
//! Lanes are exchanged within each row until all of them hold its extreme; the bits of a comparison with it are
//! then the places of the row. No element is read twice, so that there is a place whatever other threads write.

use crate::isa::{Task, avx512_vbmi};
use crate::kernels::batches::batch::{AHEAD, Batches, VECTOR};
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::masked::present;
use crate::kernels::batches::spread::{HALF, MOST, ROWS, extreme, gathered, spread, spread_in, spread_mask, together};
use crate::kernels::batches::wanted::Wanted;
use crate::kernels::prefetch::prefetch;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Whether this is the way for rows of `len` elements of `size` bytes. What spreads them is no part of the instruction
/// set.
pub fn serves(size: usize, len: usize) -> bool {
    let lens = match size {
        1 | 2 => 6..=MOST,
        4 => 6..=HALF,
        _ => return false,
    };
    lens.contains(&len) && avx512_vbmi::is_available()
}

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`Batches::run`], of rows of a length that is [served](serves) and that follow one another.
    pub unsafe fn padded<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (self.places_alone(), self.last) {
                (true, false) => self.padded_by_len::<K, false, false, false>(kind),
                (true, true) => self.padded_by_len::<K, true, false, false>(kind),
                (false, false) => self.padded_by_len::<K, false, true, false>(kind),
                (false, true) => self.padded_by_len::<K, true, true, false>(kind),
            }
        }
    }

    /// The same of rows under a mask, which follow one another in it as well.
    ///
    /// # Safety
    /// As for [`padded`](Self::padded).
    pub unsafe fn padded_under_mask<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.last {
                false => self.padded_by_len::<K, false, true, true>(kind),
                true => self.padded_by_len::<K, true, true, true>(kind),
            }
        }
    }

    /// # Safety
    /// As for [`padded`](Self::padded).
    unsafe fn padded_by_len<K: Kind, const LAST: bool, const VALUES: bool, const MASKED: bool>(
        &self,
        kind: K,
    ) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (self.len > HALF, self.len.is_multiple_of(HALF)) {
                (false, false) => avx512_vbmi::run(Padded::<K, HALF, false, LAST, VALUES, MASKED>(self, kind)),
                (false, true) => avx512_vbmi::run(Padded::<K, HALF, true, LAST, VALUES, MASKED>(self, kind)),
                _ if K::SIZE > 2 => unreachable!("rows of wider elements have half the lanes at most"),
                (true, false) => avx512_vbmi::run(Padded::<K, MOST, false, LAST, VALUES, MASKED>(self, kind)),
                (true, true) => avx512_vbmi::run(Padded::<K, MOST, true, LAST, VALUES, MASKED>(self, kind)),
            }
        }
    }
}

/// One batch after the other, of rows that fill `LANES` lanes each once they are read: by themselves where they are `WHOLE`,
/// else spread over them.
struct Padded<'a, K, const LANES: usize, const WHOLE: bool, const LAST: bool, const VALUES: bool, const MASKED: bool>(
    &'a Batches,
    K,
);

impl<K: Kind, const LANES: usize, const WHOLE: bool, const LAST: bool, const VALUES: bool, const MASKED: bool> Task
    for Padded<'_, K, LANES, WHOLE, LAST, VALUES, MASKED>
{
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        let wanted = Wanted::new::<VALUES>(batches);
        for start in batches.starts(ROWS) {
            // SAFETY: the caller vouches for the rows and the results: no more are read and written.
            unsafe {
                let (values, index) = batches.room::<VALUES>(wanted, start, ROWS, K::SIZE);
                let mut rows = Rows::<K, LANES, WHOLE>::new(batches, kind, start);
                let low = rows.word::<VALUES, MASKED>(0);
                // (Where eight bits are a row, each becomes a byte: to widen them would send them through memory.)
                let hits = if LANES == 8 {
                    _mm512_movm_epi8(low)
                } else {
                    _mm512_cvtepu16_epi64(_mm_set_epi64x(rows.word::<VALUES, MASKED>(64 / K::LANES) as i64, low as i64))
                };
                if rows.unordered != 0 {
                    return start;
                }
                let there = _mm512_test_epi64_mask(hits, hits);
                if wanted.notes {
                    batches.note(start, if MASKED { there.into() } else { !rows.lost }, 0);
                }
                let hit =
                    if LAST { hits } else { _mm512_and_si512(hits, _mm512_sub_epi64(_mm512_setzero_si512(), hits)) };
                let bit = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(hit));
                let place = if LANES == 8 { _mm512_srli_epi64::<3>(bit) } else { bit };
                // (Where nothing takes part, the first.)
                let place = if MASKED { _mm512_maskz_mov_epi64(there, place) } else { place };
                let mut places = MaybeUninit::<[i64; ROWS]>::uninit();
                let index = if wanted.index { index } else { places.as_mut_ptr().cast() };
                _mm512_storeu_epi64(index, place);
                if wanted.values && !rows.write(values) {
                    batches.fetch_by(K::SIZE, start, ROWS, index);
                }
            }
        }
        batches.rows
    }
}

/// The rows of a batch as they are read. (Not closures: those are not always inlined, and then know no instruction set.)
pub struct Rows<K, const LANES: usize, const WHOLE: bool> {
    kind: K,
    /// Elements of a row.
    len: usize,
    /// The lanes of a vector that elements fill.
    mask: u64,
    /// Bytes of the rows of a vector.
    step: usize,
    /// The next row.
    from: *const u8,
    /// Its place in the mask, where there is one.
    mask_from: *const u8,
    /// Not zero where a lane was NaN.
    pub unordered: u64,
    /// The extremes of all rows.
    extremes: __m512i,
    /// Whether it is asked which rows have nothing but what loses to all others, and a bit for each that has not more.
    noted: bool,
    lost: u64,
}

impl<K: Kind, const LANES: usize, const WHOLE: bool> Rows<K, LANES, WHOLE> {
    /// The rows from one on.
    #[inline(always)]
    ///
    /// # Safety
    /// AVX-512 is in force.
    pub unsafe fn new(batches: &Batches, kind: K, start: usize) -> Self {
        let row = u64::MAX >> (64 - batches.len);
        let mask = (0..K::LANES / LANES).fold(0, |mask, at| mask | row << (at * LANES));
        let step = K::LANES / LANES * batches.len * K::SIZE;
        let from = batches.lines.data.wrapping_add(start * batches.len * K::SIZE);
        // SAFETY: the caller has AVX-512.
        let extremes = unsafe { _mm512_setzero_si512() };
        Self {
            kind,
            len: batches.len,
            mask,
            step,
            from,
            mask_from: batches.lines.mask.wrapping_add(start * batches.len),
            unordered: 0,
            extremes,
            noted: !batches.to.notes.is_null(),
            lost: 0,
        }
    }

    /// The next rows, as many as a vector has room for.
    ///
    /// # Safety
    /// AVX-512 with VBMI is in force, and there are so many rows.
    #[inline(always)]
    pub unsafe fn lanes(&mut self) -> __m512i {
        // SAFETY: the caller's; no more is read than the rows.
        unsafe {
            let from = self.from;
            prefetch::<VECTOR>(from.wrapping_add(AHEAD));
            self.from = from.add(self.step);
            self.kind.lanes(match WHOLE {
                true => _mm512_loadu_epi8(from.cast()),
                false => spread::<K>(_mm512_maskz_loadu_epi8(u64::MAX >> (VECTOR - self.step), from.cast()), self.len),
            })
        }
    }

    /// The same under a mask, and which of them take part.
    ///
    /// # Safety
    /// As for [`lanes`](Self::lanes).
    #[inline(always)]
    unsafe fn masked_lanes(&mut self) -> (__m512i, u64) {
        // SAFETY: the caller's; no more is read than the rows and their mask.
        unsafe {
            let (from, mask) = (self.from, self.mask_from);
            prefetch::<VECTOR>(from.wrapping_add(AHEAD));
            prefetch::<1>(mask.wrapping_add(AHEAD / K::SIZE));
            self.from = from.add(self.step);
            self.mask_from = mask.add(self.step / K::SIZE);
            let (worst, bytes) = (self.kind.worst(), u64::MAX >> (VECTOR - self.step));
            let within = u64::MAX >> (VECTOR - self.step / K::SIZE);
            match WHOLE {
                true => {
                    let there = present(K::LANES, u64::MAX, mask);
                    (self.kind.lanes(K::load(worst, there, from)), there & self.mask)
                }
                false => {
                    let there = spread_mask::<K>(_mm512_maskz_loadu_epi8(within, mask.cast()), self.len);
                    let elements = _mm512_maskz_loadu_epi8(bytes, from.cast());
                    (self.kind.lanes(spread_in::<K>(worst, there, elements, self.len)), there & self.mask)
                }
            }
        }
    }

    /// Writes the extreme element of each row; whether the lanes tell which element that is.
    ///
    /// # Safety
    /// AVX-512 with VBMI is in force, and there is room for so many elements.
    #[inline(always)]
    unsafe fn write(&self, to: *mut u8) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let lanes = gathered::<K, LANES>(self.extremes);
            let elements = self.kind.elements(lanes);
            match K::SIZE {
                1 => _mm_storel_epi64(to.cast(), _mm512_castsi512_si128(elements)),
                2 => _mm_storeu_epi8(to.cast(), _mm512_castsi512_si128(elements)),
                _ => _mm256_storeu_epi8(to.cast(), _mm512_castsi512_si256(elements)),
            }
            self.kind.untold(lanes) & (u64::MAX >> (64 - ROWS)) == 0
        }
    }

    /// The lanes of the next rows that hold the extreme of their row, 64 lanes in all, the first of which are in vector number
    /// `first`; where `VALUES`, the extremes are taken together.
    ///
    /// (A word at a time: an array of them would be written and read in pieces of different size.)
    ///
    /// # Safety
    /// As for [`lanes`](Self::lanes).
    #[inline(always)]
    unsafe fn word<const VALUES: bool, const MASKED: bool>(&mut self, first: usize) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            let mut read = [_mm512_setzero_si512(); 4];
            let mut hits = 0;
            for at in 0..64 / K::LANES {
                let there;
                (read[at], there) = if MASKED { self.masked_lanes() } else { (self.lanes(), self.mask) };
                let best = extreme::<K, LANES>(read[at]);
                hits |= K::equal(there, read[at], best) << (at * K::LANES);
                if VALUES && !MASKED && self.noted {
                    let losers = self.kind.losers();
                    let lost = K::equal(self.mask, K::larger(best, losers), losers);
                    let row = u64::MAX / ((1 << LANES) - 1);
                    self.lost |= _pext_u64(lost, row) << ((first + at) * K::LANES / LANES);
                }
                if VALUES {
                    self.extremes = together::<K, LANES>(first + at, best, self.extremes);
                }
            }
            for pair in read[..64 / K::LANES].chunks(2) {
                self.unordered |= self.kind.unordered(pair[0], pair[pair.len() - 1]);
            }
            hits
        }
    }
}
