//! Batches of rows of some narrow elements, of which values alone are wanted, at one end of the order or at both.
//!
//! After one step half the lanes of a row suffice for each end, so that both go on in the same vector.

use crate::isa::{Task, avx512_vbmi};
use crate::kernels::batches::batch::{Batches, VECTOR};
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::padded::Rows;
use crate::kernels::batches::spread::{HALF, LEAST, MOST, extreme, gathered, lanes, together, value_rows};
use crate::kernels::batches::wanted::ask_for_room;
use std::arch::x86_64::*;

/// Whether this is the way for so many rows of `len` elements of `size` bytes. (Of two bytes, some rows leave too many lanes
/// unused: two elements and five are faster gathered.)
pub fn serves(size: usize, rows: usize, len: usize) -> bool {
    let fills = match size {
        1 => (2..=MOST).contains(&len),
        2 => matches!(len, 3..=LEAST | 6..=MOST),
        _ => false,
    };
    fills && rows >= value_rows(size, lanes(len)) && avx512_vbmi::is_available()
}

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`Batches::run`], of values alone, and of rows that are [served](serves) and follow one another.
    pub unsafe fn padded_values<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (lanes(self.len), self.other.is_null()) {
                (LEAST, true) => avx512_vbmi::run(Values::<K, LEAST, false>(self, kind)),
                (LEAST, false) => avx512_vbmi::run(Values::<K, LEAST, true>(self, kind)),
                (HALF, true) => avx512_vbmi::run(Values::<K, HALF, false>(self, kind)),
                (HALF, false) => avx512_vbmi::run(Values::<K, HALF, true>(self, kind)),
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
        let rows_of_a_batch = const { value_rows(K::SIZE, LANES) };
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
                    let others = if LANES == LEAST { 0xff00 } else { 0x00f0 };
                    found = _mm512_mask_xor_epi32(found, others, found, _mm512_set1_epi32(-1));
                }
                let (elements, untold) = (kind.elements(found), kind.untold(found));
                if rows.unordered != 0 {
                    return start;
                }
                store::<LANES>(to, elements);
                let told = |lanes: u64| lanes & (u64::MAX >> (64 - rows_of_a_batch)) == 0;
                if !told(untold) {
                    batches.look_for(start, rows_of_a_batch, batches.largest, to);
                }
                if BOTH {
                    ask_for_room(other, VECTOR / 4);
                    store::<LANES>(other, second::<LANES>(elements));
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
            32 => (_mm512_shuffle_i64x2::<0b10_11_00_01>(lanes, lanes), _mm512_maskz_set1_epi32(0xf0f0, -1)),
            16 => (_mm512_shuffle_epi32::<0b01_00_11_10>(lanes), _mm512_maskz_set1_epi32(0xcccc, -1)),
            8 => (_mm512_rol_epi64::<32>(lanes), _mm512_maskz_set1_epi32(0xaaaa, -1)),
            _ => (_mm512_rol_epi32::<16>(lanes), _mm512_set1_epi32(-1 << 16)),
        };
        let (largest, smallest) = (K::larger(lanes, other), K::smaller(lanes, other));
        // In the second half of each row the complement of the smallest, in the first the largest.
        let mut best = _mm512_ternarylogic_epi32::<0b0111_0010>(largest, smallest, second);
        if LANES * K::SIZE >= 32 {
            best = K::larger(best, _mm512_shuffle_epi32::<0b01_00_11_10>(best));
        }
        if LANES * K::SIZE >= 16 {
            best = K::larger(best, _mm512_rol_epi64::<32>(best));
        }
        if LANES * K::SIZE >= 8 {
            best = K::larger(best, _mm512_rol_epi32::<16>(best));
        }
        match K::SIZE {
            1 if LANES == LEAST => K::larger(best, _mm512_shuffle_epi8(best, pairs_swapped())),
            1 => K::larger(best, _mm512_rol_epi32::<8>(best)),
            _ => best,
        }
    }
}

/// Where each byte of a 128-bit lane goes, to change places with its neighbour.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn pairs_swapped() -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe { _mm512_broadcast_i32x4(_mm_set_epi64x(0x0e0f_0c0d_0a0b_0809, 0x0607_0405_0203_0001)) }
}

/// Writes the elements of a batch at one end, which fill the first quarter of a vector, or the first half where rows have
/// the `LEAST` lanes.
///
/// # Safety
/// AVX-512 is in force, and there is room for them.
#[inline(always)]
unsafe fn store<const LANES: usize>(to: *mut u8, elements: __m512i) {
    // SAFETY: the caller's.
    unsafe {
        match LANES {
            LEAST => _mm256_storeu_epi8(to.cast(), _mm512_castsi512_si256(elements)),
            _ => _mm_storeu_epi8(to.cast(), _mm512_castsi512_si128(elements)),
        }
    }
}

/// The elements of a batch at the other end, which follow those at the first, brought to where those are.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn second<const LANES: usize>(elements: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        match LANES {
            LEAST => _mm512_castsi256_si512(_mm512_extracti64x4_epi64::<1>(elements)),
            _ => _mm512_castsi128_si512(_mm512_extracti32x4_epi32::<1>(elements)),
        }
    }
}
