//! Batches of rows of two to five elements, one after the other in memory, with AVX-512.
//!
//! As many vectors as a row has elements hold as many rows as a vector has lanes. Permutations of two vectors
//! at a time gather each column; then the columns are compared, and the places leave as they were found.

use crate::isa::{Task, avx512};
use crate::kernels::batches::batch::{AHEAD, Batches, ROWS, VECTOR};
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::masked::{present, present_rows};
use crate::kernels::batches::wanted::Wanted;
use crate::kernels::prefetch::prefetch;
use crate::kernels::source::Lines;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Elements of the longest row.
const FEW: usize = 5;

/// For each step, which looks at one column, and each vector after the first, which lanes of what is gathered so far and of
/// that vector are wanted: those of the vector follow those gathered.
type Permutations = [[[i32; 16]; FEW - 1]; FEW];

/// The permutations for rows of `len` elements in vectors of `lanes` lanes of four bytes, or of eight, from the first column
/// on or from the last.
const fn permutations(len: usize, lanes: usize, last: bool) -> Permutations {
    let mut all = [[[0; 16]; FEW - 1]; FEW];
    let mut column = 0;
    while column < len {
        let mut vector = 1;
        while vector < len {
            let mut row = 0;
            while row < lanes {
                let element = row * len + column;
                let (home, lane) = (element / lanes, element % lanes);
                let wanted = if home == vector {
                    lanes + lane
                } else if vector == 1 {
                    lane
                } else {
                    row
                };
                // A number of eight bytes is a small one of four, and zero.
                let step = if last { len - 1 - column } else { column };
                all[step][vector - 1][row * (16 / lanes)] = wanted as i32;
                row += 1;
            }
            vector += 1;
        }
        column += 1;
    }
    all
}

/// Whether this is the way for rows of `len` elements.
pub fn serves(len: usize) -> bool {
    (2..=FEW).contains(&len)
}

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`Batches::run`], of rows of a length that is [served](serves) and that follow one another.
    pub unsafe fn few<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.places_alone() {
                true => self.few_by_len::<K, false, false>(kind),
                false => self.few_by_len::<K, true, false>(kind),
            }
        }
    }

    /// The same of rows under a mask, which follow one another in it as well.
    ///
    /// # Safety
    /// As for [`few`](Self::few).
    pub unsafe fn few_under_mask<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe { self.few_by_len::<K, true, true>(kind) }
    }

    /// # Safety
    /// As for [`few`](Self::few).
    unsafe fn few_by_len<K: Kind, const VALUES: bool, const MASKED: bool>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.len {
                2 => avx512::run(Few::<K, 2, VALUES, MASKED>(self, kind)),
                3 => avx512::run(Few::<K, 3, VALUES, MASKED>(self, kind)),
                4 => avx512::run(Few::<K, 4, VALUES, MASKED>(self, kind)),
                _ => avx512::run(Few::<K, FEW, VALUES, MASKED>(self, kind)),
            }
        }
    }

    /// The same at both ends.
    ///
    /// # Safety
    /// As for [`few`](Self::few), where both ends are wanted.
    pub unsafe fn few_at_both_ends<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.len {
                2 => avx512::run(Both::<K, 2>(self, kind)),
                3 => avx512::run(Both::<K, 3>(self, kind)),
                4 => avx512::run(Both::<K, 4>(self, kind)),
                _ => avx512::run(Both::<K, FEW>(self, kind)),
            }
        }
    }
}

/// One batch after the other, of rows of `LEN` elements.
struct Few<'a, K, const LEN: usize, const VALUES: bool, const MASKED: bool>(&'a Batches, K);

impl<K: Kind, const LEN: usize, const VALUES: bool, const MASKED: bool> Task for Few<'_, K, LEN, VALUES, MASKED> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        let wanted = Wanted::new::<VALUES>(batches);
        // From the end whose ties win, so that "larger" is the only comparison. (Known before the first batch: a copy for each
        // end would be no faster.)
        let permutations =
            &const { [permutations(LEN, K::WIDE, false), permutations(LEN, K::WIDE, true)] }[batches.last as usize];
        // SAFETY: the caller has AVX-512.
        let places: [__m512i; LEN] = std::array::from_fn(|step| unsafe {
            _mm512_set1_epi32(if batches.last { LEN - 1 - step } else { step } as i32)
        });
        for start in batches.starts(K::WIDE) {
            // SAFETY: the caller vouches for the rows and the results: no more are read and written.
            unsafe {
                let Some(vectors) = read::<K, LEN, MASKED>(batches, kind, start) else { return start };
                let mut best = column::<K, LEN>(&vectors, permutations, 0);
                let mut place = places[0];
                for step in 1..LEN {
                    let lanes = column::<K, LEN>(&vectors, permutations, step);
                    let larger = K::is_larger(lanes, best);
                    best = K::select(larger, lanes, best);
                    place = K::select(larger, places[step], place);
                }
                if wanted.notes {
                    let found = K::is_larger(best, K::widen(kind.losers()));
                    let there = if MASKED { rows::<K, LEN>(batches, start) } else { 0 };
                    batches.note(start, found, there);
                }
                let (values, index) = batches.room::<VALUES>(wanted, start, K::WIDE, K::SIZE);
                let told = !wanted.values || kind.write(values, best);
                if told && !wanted.index {
                    continue;
                }
                let mut places = MaybeUninit::<[i64; ROWS]>::uninit();
                let index = if wanted.index { index } else { places.as_mut_ptr().cast() };
                if K::WIDE == 8 {
                    let low = _mm512_set1_epi64(u32::MAX.into());
                    _mm512_storeu_epi64(index, _mm512_and_si512(place, low));
                } else {
                    let (low, high) = (_mm512_castsi512_si256(place), _mm512_extracti64x4_epi64::<1>(place));
                    _mm512_storeu_epi64(index, _mm512_cvtepi32_epi64(low));
                    _mm512_storeu_epi64(index.add(8), _mm512_cvtepi32_epi64(high));
                }
                if !told {
                    batches.fetch_by(K::SIZE, start, K::WIDE, index);
                }
            }
        }
        batches.rows
    }
}

/// One batch after the other, of which values at both ends are wanted.
struct Both<'a, K, const LEN: usize>(&'a Batches, K);

impl<K: Kind, const LEN: usize> Task for Both<'_, K, LEN> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        let permutations = const { &permutations(LEN, K::WIDE, false) };
        for start in batches.starts(K::WIDE) {
            // SAFETY: the caller vouches for the rows and the results: no more are read and written.
            unsafe {
                let Some(vectors) = read::<K, LEN, false>(batches, kind, start) else { return start };
                let mut largest = column::<K, LEN>(&vectors, permutations, 0);
                let mut smallest = largest;
                for step in 1..LEN {
                    let lanes = column::<K, LEN>(&vectors, permutations, step);
                    largest = K::larger(lanes, largest);
                    smallest = K::smaller(lanes, smallest);
                }
                batches.write_both(kind, start, largest, smallest);
            }
        }
        batches.rows
    }
}

/// The widened lanes of a batch as they lie in memory; none where one of them is NaN.
///
/// # Safety
/// AVX-512 is in force, and there are so many rows.
#[inline(always)]
unsafe fn read<K: Kind, const LEN: usize, const MASKED: bool>(
    batches: &Batches,
    kind: K,
    start: usize,
) -> Option<[__m512i; LEN]> {
    // SAFETY: the caller's.
    unsafe {
        let Lines { data, mask, .. } = batches.lines.from(start as isize);
        let mut vectors = [_mm512_setzero_si512(); LEN];
        let mut unordered = 0;
        for (at, vector) in vectors.iter_mut().enumerate() {
            let from = data.add(at * K::WIDE * K::SIZE);
            prefetch::<VECTOR>(from.wrapping_add(AHEAD));
            let elements = match MASKED {
                false => K::read(from),
                true => {
                    let mask = mask.add(at * K::WIDE);
                    prefetch::<1>(mask.wrapping_add(AHEAD / K::SIZE));
                    K::load(kind.worst(), present(K::WIDE, u64::MAX, mask), from)
                }
            };
            let lanes = kind.lanes(elements);
            unordered |= kind.unordered(lanes, lanes);
            *vector = K::widen(lanes);
        }
        (unordered == 0).then_some(vectors)
    }
}

/// The element of each row of a batch at which a step looks.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn column<K: Kind, const LEN: usize>(
    vectors: &[__m512i; LEN],
    permutations: &Permutations,
    step: usize,
) -> __m512i {
    let mut gathered = vectors[0];
    for vector in 1..LEN {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let permutation = _mm512_loadu_epi32(permutations[step][vector - 1].as_ptr());
            gathered = K::permute(gathered, permutation, vectors[vector]);
        }
    }
    gathered
}

/// In which rows of a batch an element takes part.
///
/// # Safety
/// AVX-512 is in force, and there are so many rows under a mask.
#[inline(always)]
unsafe fn rows<K: Kind, const LEN: usize>(batches: &Batches, start: usize) -> u64 {
    let Lines { mask, .. } = batches.lines.from(start as isize);
    // SAFETY: the caller's.
    let eight = |from: usize| unsafe { present_rows(LEN, mask.add(from * LEN)) << from };
    (0..K::WIDE).step_by(8).fold(0, |rows, from| rows | eight(from))
}
