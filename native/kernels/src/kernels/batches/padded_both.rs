//! Batches of rows of a few narrow elements, of which values at both ends of the order are wanted.
//!
//! After one step half the lanes of a row suffice for each end, so that both go on in the same vector.

use crate::isa::{Task, avx512_vbmi};
use crate::kernels::batches::batch::Batches;
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::padded::Rows;
use crate::kernels::batches::spread::{HALF, MOST, ROWS, gathered, together};
use std::arch::x86_64::*;

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`padded`](Self::padded), where both ends are wanted.
    pub unsafe fn padded_at_both_ends<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.len {
                ..=HALF => avx512_vbmi::run(Both::<K, HALF>(self, kind)),
                _ => avx512_vbmi::run(Both::<K, MOST>(self, kind)),
            }
        }
    }
}

/// One batch after the other, of which values at both ends are wanted.
struct Both<'a, K, const LANES: usize>(&'a Batches, K);

impl<K: Kind, const LANES: usize> Task for Both<'_, K, LANES> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        for start in batches.starts(ROWS) {
            // SAFETY: the caller vouches for the rows and the results: no more are read and written.
            unsafe {
                let (to, other) = (batches.to.from(start, K::SIZE).values, batches.other.add(start * K::SIZE));
                let mut rows = Rows::<K, LANES, false>::new(batches, kind, start);
                let mut both = _mm512_setzero_si512();
                for number in 0..ROWS * LANES / K::LANES {
                    let lanes = rows.lanes();
                    rows.unordered |= kind.unordered(lanes, lanes);
                    both = together::<K, LANES>(number, extremes::<K, LANES>(lanes), both);
                }
                let both = gathered::<K, LANES>(both);
                // Those at the other end are complements still.
                let others = if K::SIZE == 1 { 0b1100 } else { 0b1111_0000 };
                let both = _mm512_mask_xor_epi32(both, others, both, _mm512_set1_epi32(-1));
                let (elements, untold) = (kind.elements(both), kind.untold(both));
                if rows.unordered != 0 {
                    return start;
                }
                let low = _mm512_castsi512_si128(elements);
                match K::SIZE {
                    1 => {
                        _mm_storel_epi64(to.cast(), low);
                        _mm_storel_epi64(other.cast(), _mm_unpackhi_epi64(low, low));
                    }
                    _ => {
                        _mm_storeu_epi8(to.cast(), low);
                        _mm_storeu_epi8(other.cast(), _mm512_extracti32x4_epi32::<1>(elements));
                    }
                }
                let told = |lanes: u64| lanes & (u64::MAX >> (64 - ROWS)) == 0;
                if !told(untold) {
                    batches.look_for(start, ROWS, batches.largest, to);
                }
                if !told(untold >> ROWS) {
                    batches.look_for(start, ROWS, !batches.largest, other);
                }
            }
        }
        batches.rows
    }
}

/// The largest of each `LANES` neighbouring lanes, in the first half of them, and the complement of the smallest in the
/// other: complements are in order the other way round, so that both go the same way.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn extremes<K: Kind, const LANES: usize>(lanes: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        let (other, second) = match LANES * K::SIZE {
            32 => (_mm512_shuffle_i64x2::<0b10_11_00_01>(lanes, lanes), 0xf0f0),
            16 => (_mm512_shuffle_epi32::<0b01_00_11_10>(lanes), 0xcccc),
            _ => (_mm512_rol_epi64::<32>(lanes), 0xaaaa),
        };
        let (largest, smallest) = (K::larger(lanes, other), K::smaller(lanes, other));
        let mut best = _mm512_mask_xor_epi32(largest, second, smallest, _mm512_set1_epi32(-1));
        if LANES * K::SIZE >= 32 {
            best = K::larger(best, _mm512_shuffle_epi32::<0b01_00_11_10>(best));
        }
        if LANES * K::SIZE >= 16 {
            best = K::larger(best, _mm512_rol_epi64::<32>(best));
        }
        best = K::larger(best, _mm512_rol_epi32::<16>(best));
        if K::SIZE == 1 {
            best = K::larger(best, _mm512_rol_epi32::<8>(best));
        }
        best
    }
}
