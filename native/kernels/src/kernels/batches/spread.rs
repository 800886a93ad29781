//! Several short rows of elements of up to four bytes in one vector: each spread over a power of two lanes, their extremes, and one lane of each.

use crate::kernels::batches::batch::VECTOR;
use crate::kernels::batches::kind::Kind;
use std::arch::x86_64::*;

/// Rows of a batch.
pub const ROWS: usize = 8;

/// Rows of a batch of which values alone are wanted, of elements of `size` bytes in so many lanes each: those of both ends
/// fill a vector, or half of one where there are lanes to spare.
pub const fn value_rows(size: usize, lanes: usize) -> usize {
    if lanes == LEAST || size == 4 { VECTOR / 2 / size } else { VECTOR / 4 / size }
}

/// Lanes of the longest row.
pub const MOST: usize = 16;

/// Lanes of a row that half as many suffice for.
pub const HALF: usize = MOST / 2;

/// Lanes of the shortest rows.
pub const LEAST: usize = HALF / 2;

/// For each vector of lanes, which lane of another one it has.
type Permutation = [u8; VECTOR];

/// What spreads rows of each length, of elements of one byte, of two and of four.
static SPREAD: [[Permutation; MOST + 1]; 3] = [spreading(1), spreading(2), spreading(4)];

/// What brings a lane of each row together, and then one of the second half of each, by the lanes that a row fills: of
/// elements of one byte, of two and of four, of which rows fill as many as half a vector has.
static GATHER: [[Permutation; 3]; 3] = [
    [gathering(1, LEAST), gathering(1, HALF), gathering(1, MOST)],
    [gathering(2, LEAST), gathering(2, HALF), gathering(2, MOST)],
    [[0; VECTOR], gathering(4, HALF), [0; VECTOR]],
];

/// How many lanes a row of `len` elements has.
pub const fn lanes(len: usize) -> usize {
    if len <= LEAST {
        LEAST
    } else if len <= HALF {
        HALF
    } else {
        MOST
    }
}

const fn spreading(size: usize) -> [Permutation; MOST + 1] {
    let mut all = [[0; VECTOR]; MOST + 1];
    let mut len = 1;
    while len <= MOST {
        let lanes = lanes(len);
        let mut lane = 0;
        while lane < VECTOR / size {
            let (row, at) = (lane / lanes, lane % lanes);
            all[len][lane * size] = (row * len + if at < len { at } else { len - 1 }) as u8;
            lane += 1;
        }
        len += 1;
    }
    all
}

const fn gathering(size: usize, lanes: usize) -> Permutation {
    let mut all = [0; VECTOR];
    let rows = VECTOR / size / lanes;
    let (all_rows, mut row) = (value_rows(size, lanes), 0);
    while row < all_rows {
        let lane = row % rows * lanes + row / rows;
        all[row * size] = lane as u8;
        all[(all_rows + row) * size] = (lane + lanes / 2) as u8;
        row += 1;
    }
    all
}

/// Rows of `len` elements that follow one another, spread; what is left of their lanes has their last element.
///
/// # Safety
/// AVX-512 with VBMI is in force.
#[inline(always)]
pub unsafe fn spread<K: Kind>(elements: __m512i, len: usize) -> __m512i {
    // SAFETY: the caller has both.
    unsafe { permuted::<K>(&SPREAD[K::SIZE / 2][len], elements) }
}

/// The same where they are `there`; `other` lanes elsewhere.
///
/// # Safety
/// AVX-512 with VBMI is in force.
#[inline(always)]
pub unsafe fn spread_in<K: Kind>(other: __m512i, there: u64, elements: __m512i, len: usize) -> __m512i {
    // SAFETY: the caller has both.
    unsafe {
        let permutation = _mm512_loadu_epi8(SPREAD[K::SIZE / 2][len].as_ptr().cast());
        match K::SIZE {
            1 => _mm512_mask_permutexvar_epi8(other, there, permutation, elements),
            _ => _mm512_mask_permutexvar_epi16(other, there as u32, permutation, elements),
        }
    }
}

/// Which lanes of rows of `len` elements take part once they are spread, given the bytes of a mask.
///
/// # Safety
/// AVX-512 with VBMI is in force.
#[inline(always)]
pub unsafe fn spread_mask<K: Kind>(mask: __m512i, len: usize) -> u64 {
    // SAFETY: the caller has both.
    unsafe {
        // (The first lanes of bytes are as many as those of two.)
        let permutation = _mm512_loadu_epi8(SPREAD[0][len].as_ptr().cast());
        match K::SIZE {
            1 => {
                let bytes = _mm512_permutexvar_epi8(permutation, mask);
                _mm512_test_epi8_mask(bytes, bytes)
            }
            _ => {
                let bytes = _mm256_permutexvar_epi8(_mm512_castsi512_si256(permutation), _mm512_castsi512_si256(mask));
                _mm256_test_epi8_mask(bytes, bytes).into()
            }
        }
    }
}

/// The extreme of each `LANES` neighbouring lanes, in all of them.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
pub unsafe fn extreme<K: Kind, const LANES: usize>(mut best: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        if LANES * K::SIZE >= 32 {
            best = K::larger(best, _mm512_shuffle_i64x2::<0b10_11_00_01>(best, best));
        }
        if LANES * K::SIZE >= 16 {
            best = K::larger(best, _mm512_shuffle_epi32::<0b01_00_11_10>(best));
        }
        if LANES * K::SIZE >= 8 {
            best = K::larger(best, _mm512_rol_epi64::<32>(best));
        }
        if K::SIZE <= 2 {
            best = K::larger(best, _mm512_rol_epi32::<16>(best));
        }
        if K::SIZE == 1 {
            best = K::larger(best, _mm512_rol_epi32::<8>(best));
        }
        best
    }
}

/// The vector of lanes of which each `LANES` are a row, taken together with those `before` it so that one vector holds all
/// rows of a batch: its own rows go to the lane of their `number`.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
pub unsafe fn together<K: Kind, const LANES: usize>(number: usize, lanes: __m512i, before: __m512i) -> __m512i {
    let one = u64::MAX / ((1 << LANES) - 1);
    let own = (one | one << (LANES / 2)) << number;
    // SAFETY: the caller has AVX-512.
    unsafe {
        match K::SIZE {
            // (What the first has in other lanes is never looked at, or those of others come there.)
            _ if number == 0 => lanes,
            1 => _mm512_mask_mov_epi8(before, own, lanes),
            2 => _mm512_mask_mov_epi16(before, own as u32, lanes),
            _ => _mm512_mask_mov_epi32(before, own as u16, lanes),
        }
    }
}

/// One lane of each row that was taken [`together`], side by side, and then one of the second half of each.
///
/// # Safety
/// AVX-512 with VBMI is in force.
#[inline(always)]
pub unsafe fn gathered<K: Kind, const LANES: usize>(lanes: __m512i) -> __m512i {
    // SAFETY: the caller has both.
    unsafe { permuted::<K>(&GATHER[K::SIZE / 2][LANES / HALF], lanes) }
}

/// The narrow lanes of a vector, moved about.
///
/// # Safety
/// AVX-512 with VBMI is in force.
#[inline(always)]
unsafe fn permuted<K: Kind>(permutation: &Permutation, lanes: __m512i) -> __m512i {
    // SAFETY: the caller has both.
    unsafe {
        let permutation = _mm512_loadu_epi8(permutation.as_ptr().cast());
        match K::SIZE {
            1 => _mm512_permutexvar_epi8(permutation, lanes),
            2 => _mm512_permutexvar_epi16(permutation, lanes),
            _ => _mm512_permutexvar_epi32(permutation, lanes),
        }
    }
}
