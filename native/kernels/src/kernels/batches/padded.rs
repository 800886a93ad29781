//! Batches of rows of a few narrow elements, one after the other in memory, with AVX-512.
//!
//! Several rows share a vector: each is spread over a power of two lanes, the rest of which hold the worst element.
//! Lanes are exchanged within each row until all of them hold its extreme; the bits of a comparison with it are
//! then the places of the row. No element is read twice, so that there is a place whatever other threads write.

use crate::isa::{Task, avx512_vbmi2};
use crate::kernels::batches::batch::{AHEAD, Batches, VECTOR};
use crate::kernels::batches::kind::Kind;
use crate::kernels::outputs::Outputs;
use crate::kernels::prefetch::prefetch;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Rows of a batch.
const ROWS: usize = 8;

/// Lanes of the longest row.
const MOST: usize = 16;

/// Whether this is the way for rows of `len` elements of `size` bytes. What spreads them is no part of the instruction
/// set.
pub fn serves(size: usize, len: usize) -> bool {
    size <= 2 && (6..=MOST).contains(&len) && avx512_vbmi2::is_available()
}

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`Batches::run`], of rows of a length that is [served](serves) and that follow one another.
    pub unsafe fn padded<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (self.len > MOST / 2, self.last) {
                (false, false) => avx512_vbmi2::run(Padded::<K, { MOST / 2 }, false>(self, kind)),
                (false, true) => avx512_vbmi2::run(Padded::<K, { MOST / 2 }, true>(self, kind)),
                (true, false) => avx512_vbmi2::run(Padded::<K, MOST, false>(self, kind)),
                (true, true) => avx512_vbmi2::run(Padded::<K, MOST, true>(self, kind)),
            }
        }
    }
}

/// One batch after the other, of rows that are spread over `LANES` lanes each.
struct Padded<'a, K, const LANES: usize, const LAST: bool>(&'a Batches, K);

impl<K: Kind, const LANES: usize, const LAST: bool> Task for Padded<'_, K, LANES, LAST> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        let row = u64::MAX >> (64 - batches.len);
        let mask = (0..K::LANES / LANES).fold(0, |mask, at| mask | row << (at * LANES));
        let step = K::LANES / LANES * batches.len * K::SIZE;
        for start in batches.starts(ROWS) {
            // SAFETY: the caller vouches for the rows and the results: no more are read and written.
            unsafe {
                let from = batches.lines.data.add(start * batches.len * K::SIZE);
                let mut rows = Rows::<K, LANES> { kind, mask, step, from, unordered: 0 };
                let hits = if LANES == 8 {
                    _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(rows.word()))
                } else {
                    let low = rows.word();
                    _mm512_cvtepu16_epi64(_mm_set_epi64x(rows.word(), low))
                };
                if rows.unordered != 0 {
                    return start;
                }
                let hit =
                    if LAST { hits } else { _mm512_and_si512(hits, _mm512_sub_epi64(_mm512_setzero_si512(), hits)) };
                let place = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(hit));
                let Outputs { values, index, .. } = batches.to.from(start, K::SIZE);
                let mut places = MaybeUninit::<[i64; ROWS]>::uninit();
                let index = if index.is_null() { places.as_mut_ptr().cast() } else { index };
                _mm512_storeu_epi64(index, place);
                if !values.is_null() {
                    batches.fetch_by(K::SIZE, start, ROWS, index);
                }
            }
        }
        batches.rows
    }
}

/// The rows of a batch as they are read. (Not closures: those are not always inlined, and then know no instruction set.)
struct Rows<K, const LANES: usize> {
    kind: K,
    /// The lanes of a vector that rows fill.
    mask: u64,
    /// Bytes of the rows of a vector.
    step: usize,
    /// The next row.
    from: *const u8,
    /// Not zero where a lane was NaN.
    unordered: u64,
}

impl<K: Kind, const LANES: usize> Rows<K, LANES> {
    /// The next rows, as many as a vector has room for.
    ///
    /// # Safety
    /// AVX-512 with VBMI2 is in force, and there are so many rows.
    #[inline(always)]
    unsafe fn lanes(&mut self) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let lanes = self.kind.lanes(K::spread(self.kind.worst(), self.mask, self.from));
            prefetch::<VECTOR>(self.from.wrapping_add(AHEAD));
            self.from = self.from.add(self.step);
            lanes
        }
    }

    /// The lanes of the next rows that hold the extreme of their row, 64 lanes in all.
    ///
    /// (A word at a time: an array of them would be written and read in pieces of different size.)
    ///
    /// # Safety
    /// As for [`lanes`](Self::lanes).
    #[inline(always)]
    unsafe fn word(&mut self) -> i64 {
        // SAFETY: the caller's.
        unsafe {
            let low = self.lanes();
            let mut hits = K::equal(self.mask, low, extreme::<K, LANES>(low));
            if K::LANES < 64 {
                let high = self.lanes();
                hits |= K::equal(self.mask, high, extreme::<K, LANES>(high)) << K::LANES;
                self.unordered |= self.kind.unordered(low, high);
            }
            hits as i64
        }
    }
}

/// The largest of each `LANES` neighbouring lanes, in all of them.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn extreme<K: Kind, const LANES: usize>(mut best: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        if LANES * K::SIZE >= 32 {
            best = K::larger(best, _mm512_shuffle_i64x2::<0b10_11_00_01>(best, best));
        }
        if LANES * K::SIZE >= 16 {
            best = K::larger(best, _mm512_shuffle_epi32::<0b01_00_11_10>(best));
        }
        best = K::larger(best, _mm512_rol_epi64::<32>(best));
        best = K::larger(best, _mm512_rol_epi64::<16>(best));
        if K::SIZE == 1 {
            best = K::larger(best, _mm512_rol_epi64::<8>(best));
        }
        best
    }
}
