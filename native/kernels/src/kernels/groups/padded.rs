//! Groups of rows of a few narrow elements, one after the other in memory, with AVX-512.
//!
//! Several rows share a vector: each is spread over a power of two lanes, the rest of which hold the worst element.
//! Lanes are exchanged within each row until all of them hold its extreme; the bits of a comparison with it are
//! then the places of the row. No element is read twice, so that there is a place whatever other threads write.

use super::Groups;
use super::avx512::{AHEAD, VECTOR};
use super::kinds::Kind;
use crate::kernels::prefetch::prefetch;
use std::arch::x86_64::*;

/// Rows of a group.
const ROWS: usize = 8;

/// Lanes of the longest row.
const MOST: usize = 16;

/// Whether this is the way for rows of `len` elements of `size` bytes. What spreads them is no part of the instruction
/// set: processors have it since Ice Lake and Zen 4.
pub fn serves(size: usize, len: usize) -> bool {
    size <= 2 && (6..=MOST).contains(&len) && is_x86_feature_detected!("avx512vbmi2")
}

impl Groups {
    /// Does the groups one after the other.
    ///
    /// # Safety
    /// As for [`Groups::run`], of rows of a length that is [served](serves) and that follow one another.
    pub unsafe fn padded<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (self.len > MOST / 2, self.last) {
                (false, false) => self.padded_to::<K, { MOST / 2 }, false>(kind),
                (false, true) => self.padded_to::<K, { MOST / 2 }, true>(kind),
                (true, false) => self.padded_to::<K, MOST, false>(kind),
                (true, true) => self.padded_to::<K, MOST, true>(kind),
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn padded_to<K: Kind, const LANES: usize, const LAST: bool>(&self, kind: K) -> usize {
        let row = u64::MAX >> (64 - self.len);
        let mask = (0..K::LANES / LANES).fold(0, |mask, at| mask | row << (at * LANES));
        let step = K::LANES / LANES * self.len * K::SIZE;
        for start in self.starts(ROWS) {
            // SAFETY: the caller's: as many elements are read, and as many results written, as there are.
            unsafe {
                let mut from = self.data.add(start * self.len * K::SIZE);
                let mut unordered = 0;
                let mut lanes = || {
                    let lanes = kind.lanes(K::spread(kind.worst(), mask, from));
                    prefetch::<VECTOR>(from.wrapping_add(AHEAD));
                    from = from.add(step);
                    lanes
                };
                // (A word at a time: an array of them would be written and read in pieces of different size.)
                let mut word = || {
                    let low = lanes();
                    let mut hits = K::equal(mask, low, extreme::<K, LANES>(low));
                    if K::LANES < 64 {
                        let high = lanes();
                        hits |= K::equal(mask, high, extreme::<K, LANES>(high)) << K::LANES;
                        unordered |= kind.unordered(low, high);
                    }
                    hits as i64
                };
                let hits = if LANES == 8 {
                    _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(word()))
                } else {
                    let low = word();
                    _mm512_cvtepu16_epi64(_mm_set_epi64x(word(), low))
                };
                if unordered != 0 {
                    return start;
                }
                let hit =
                    if LAST { hits } else { _mm512_and_si512(hits, _mm512_sub_epi64(_mm512_setzero_si512(), hits)) };
                let place = _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(hit));
                _mm512_storeu_epi64(self.index.add(start), place);
            }
        }
        self.rows
    }
}

/// The largest of each `LANES` neighbouring lanes, in all of them.
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
