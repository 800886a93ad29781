//! Batches of rows of a few narrow elements, of which values alone are wanted, at one end of the order or at both.
//!
//! After one step half the lanes of a row suffice for each end, so that both go on in the same vector.

use crate::isa::{Task, avx512_vbmi};
use crate::kernels::batches::batch::{Batches, VECTOR};
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::padded::{Rows, extreme};
use crate::kernels::batches::spread::{HALF, MOST, gathered, together, value_rows};
use crate::kernels::batches::wanted::ask_for_room;
use std::arch::x86_64::*;

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`padded`](Self::padded), where values alone are wanted.
    pub unsafe fn padded_values<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (self.len, self.other.is_null()) {
                (..=HALF, true) => avx512_vbmi::run(Values::<K, HALF, false>(self, kind)),
                (..=HALF, false) => avx512_vbmi::run(Values::<K, HALF, true>(self, kind)),
                (_, true) => avx512_vbmi::run(Values::<K, MOST, false>(self, kind)),
                (_, false) => avx512_vbmi::run(Values::<K, MOST, true>(self, kind)),
            }
        }
    }
}

/// One batch after the other, of which values at one end are wanted, or at `BOTH`.
struct Values<'a, K, const LANES: usize, const BOTH: bool>(&'a Batches, K);

impl<K: Kind, const LANES: usize, const BOTH: bool> Task for Values<'_, K, LANES, BOTH> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        let rows_of_a_batch = const { value_rows(K::SIZE) };
        for start in batches.starts(rows_of_a_batch) {
            // SAFETY: the caller vouches for the rows and the results: no more are read and written.
            unsafe {
                let place = |to: *mut u8| to.wrapping_add(start * K::SIZE);
                let (to, other) = (place(batches.to.values), place(batches.other));
                ask_for_room(to, VECTOR / 4);
                let mut rows = Rows::<K, LANES, false>::new(batches, kind, start);
                let mut found = _mm512_setzero_si512();
                for number in 0..rows_of_a_batch * LANES / K::LANES {
                    let lanes = rows.lanes();
                    rows.unordered |= kind.unordered(lanes, lanes);
                    let best = if BOTH { extremes::<K, LANES>(lanes) } else { extreme::<K, LANES>(lanes) };
                    found = together::<K, LANES>(number, best, found);
                }
                let mut found = gathered::<K, LANES>(found);
                if BOTH {
                    // Those at the other end are complements still.
                    found = _mm512_mask_xor_epi32(found, 0b1111_0000, found, _mm512_set1_epi32(-1));
                }
                let (elements, untold) = (kind.elements(found), kind.untold(found));
                if rows.unordered != 0 {
                    return start;
                }
                _mm_storeu_epi8(to.cast(), _mm512_castsi512_si128(elements));
                let told = |lanes: u64| lanes & (u64::MAX >> (64 - rows_of_a_batch)) == 0;
                if !told(untold) {
                    batches.look_for(start, rows_of_a_batch, batches.largest, to);
                }
                if BOTH {
                    ask_for_room(other, VECTOR / 4);
                    _mm_storeu_epi8(other.cast(), _mm512_extracti32x4_epi32::<1>(elements));
                    if !told(untold >> rows_of_a_batch) {
                        batches.look_for(start, rows_of_a_batch, !batches.largest, other);
                    }
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
