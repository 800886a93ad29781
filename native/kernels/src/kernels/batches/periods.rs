//! Blocks of rows of a few columns, with AVX-512: each column's extremum, one block after the other.
//!
//! A vector holds as many neighbouring rows as there is room for, a power of two of them. Its lanes are compared down the
//! block, each with the row where its best stood beside it; what is left of each column is combined by halves. Columns
//! that no vector has room for are taken a vector's width at a time.

use crate::isa::{Task, avx512, avx512_vbmi};
use crate::kernels::batches::batch::{AHEAD, VECTOR};
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::period::{COLUMNS, Periods};
use crate::kernels::cache_line::Aligned;
use crate::kernels::prefetch::prefetch;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

impl Periods {
    /// Does the blocks one after the other.
    ///
    /// # Safety
    /// As for [`Periods::run`].
    pub unsafe fn by<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's; what is asked of narrow elements is there where they are served.
        unsafe {
            let done = if self.are_kept::<K>() { self.in_registers(kind) } else { 0 };
            let rest = self.from(done);
            done + match (rest.blocks, K::SIZE) {
                (0, _) => 0,
                (_, 1) => avx512_vbmi::run(Walk(&rest, kind)),
                _ => avx512::run(Walk(&rest, kind)),
            }
        }
    }
}

/// One block after the other.
struct Walk<'a, K>(&'a Periods, K);

impl<K: Kind> Task for Walk<'_, K> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(periods, kind) = self;
        let &Periods { columns, blocks, values, places, index, .. } = periods;
        // A vector is stored whole: what comes after its columns is written over by the next.
        let mut rows = Aligned([MaybeUninit::<u8>::uninit(); COLUMNS * 8 + VECTOR]);
        let mut best = Aligned([MaybeUninit::<u8>::uninit(); COLUMNS * 8 + VECTOR]);
        let (rows, best) = (rows.0.as_mut_ptr().cast::<u8>(), best.0.as_mut_ptr().cast::<u8>());
        let mut done = 0;
        let width = match columns % K::LANES {
            0 => K::LANES,
            width => width,
        };
        let follow = periods.row == (columns * K::SIZE) as isize && columns == width;
        let most = if follow { (K::LANES / width).min(periods.rows) } else { 1 };
        // SAFETY: the caller's; the columns of all blocks fit the memory, with a vector after them.
        unsafe {
            let (whole, rest) = (Together::new::<K>(1, K::LANES), Together::new::<K>(most, width));
            while done < blocks {
                let from = periods.data.wrapping_offset(periods.block * done as isize);
                let mut open = false;
                let mut ordered = true;
                for column in (0..columns).step_by(K::LANES) {
                    let together = if columns - column <= width { &rest } else { &whole };
                    let from = from.add(column * K::SIZE);
                    let (lanes, places) = match periods.last {
                        false => periods.stripe::<K, false>(kind, from, together, &mut ordered),
                        true => periods.stripe::<K, true>(kind, from, together, &mut ordered),
                    };
                    let at = (done * columns + column) * K::SIZE;
                    _mm512_storeu_epi8(rows.add(at).cast(), places);
                    if !values.is_null() {
                        _mm512_storeu_epi8(best.add(at).cast(), kind.elements(lanes));
                        open |= kind.untold(lanes) & (u64::MAX >> (64 - together.width)) != 0;
                    }
                }
                if !ordered {
                    break;
                }
                if open {
                    for column in 0..columns {
                        let row = place::<K>(rows, done * columns + column);
                        let element = from.wrapping_offset(periods.row * row as isize).add(column * K::SIZE);
                        let to = best.add((done * columns + column) * K::SIZE);
                        to.copy_from_nonoverlapping(element, K::SIZE);
                    }
                }
                done += 1;
            }
            for at in 0..if places { done * columns } else { 0 } {
                index.add(at).write_unaligned(place::<K>(rows, at));
            }
            if !values.is_null() {
                values.copy_from_nonoverlapping(best, done * columns * K::SIZE);
            }
        }
        done
    }
}

/// A row that is kept as an unsigned integer as wide as an element.
///
/// # Safety
/// There are so many.
#[inline(always)]
unsafe fn place<K: Kind>(rows: *const u8, at: usize) -> i64 {
    // SAFETY: the caller's.
    unsafe {
        match K::SIZE {
            1 => rows.add(at).read() as i64,
            2 => rows.cast::<u16>().add(at).read() as i64,
            4 => rows.cast::<u32>().add(at).read() as i64,
            _ => rows.cast::<i64>().add(at).read(),
        }
    }
}

/// Neighbouring rows in one vector: a power of two of them, which may leave the end of it empty.
struct Together {
    /// Rows of a vector.
    rows: usize,
    /// Columns of a row.
    width: usize,
    /// The lanes that they fill.
    mask: u64,
    /// The row of each lane, from the vector's first on.
    within: __m512i,
}

impl Together {
    /// So many rows of no more columns than a vector has lanes.
    ///
    /// # Safety
    /// AVX-512 is in force.
    #[inline(always)]
    unsafe fn new<K: Kind>(most: usize, width: usize) -> Self {
        let rows = 1 << most.ilog2();
        // SAFETY: the caller has AVX-512.
        unsafe {
            let mut within = _mm512_setzero_si512();
            for row in 1..rows {
                within = blend::<K>(u64::MAX << (row * width), within, added::<K>(1, within));
            }
            Self { rows, width, mask: u64::MAX >> (64 - rows * width), within }
        }
    }
}

impl Periods {
    /// The extremes of a few columns of a block, and their rows.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of one block, the columns beginning at a place.
    #[inline(always)]
    unsafe fn stripe<K: Kind, const LAST: bool>(
        &self,
        kind: K,
        from: *const u8,
        together: &Together,
        ordered: &mut bool,
    ) -> (__m512i, __m512i) {
        let &Together { rows, width, mask, within } = together;
        let far = self.rows - rows;
        // SAFETY: the caller's; no more is read than rows that exist.
        unsafe {
            let read = |step: usize| {
                let first = if LAST { far.saturating_sub(step * rows) } else { far.min(step * rows) };
                let at = from.wrapping_offset(self.row * first as isize);
                prefetch::<VECTOR>(at.wrapping_add(AHEAD));
                (kind.lanes(K::load(_mm512_setzero_si512(), mask, at)), added::<K>(first, within))
            };
            let (mut best, mut places) = read(0);
            let mut unordered = kind.unordered(best, best);
            // The last vector overlaps the one before, to which it loses where they are equal.
            for step in 1..self.rows.div_ceil(rows) {
                let (lanes, here) = read(step);
                unordered |= kind.unordered(lanes, lanes);
                let champion = K::larger(lanes, best);
                places = blend::<K>(K::equal(mask, champion, best), here, places);
                best = champion;
            }
            // (What is no column may look like NaN.)
            *ordered &= unordered & mask == 0;
            let mut half = rows / 2;
            while half > 0 {
                let other = added::<K>(half * width, numbers::<K>());
                let (other, other_places) = (permuted::<K>(other, best), permuted::<K>(other, places));
                let champion = K::larger(other, best);
                let kept = K::equal(mask, champion, best);
                let ties = K::equal(kept, other, best);
                places = earlier::<K, LAST>(ties, blend::<K>(kept, other_places, places), other_places);
                best = champion;
                half /= 2;
            }
            (best, places)
        }
    }
}

/// The number of each lane.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn numbers<K: Kind>() -> __m512i {
    static NUMBERS: Aligned<[u8; VECTOR]> = Aligned({
        let mut all = [0; VECTOR];
        let mut at = 0;
        while at < VECTOR {
            all[at] = at as u8;
            at += 1;
        }
        all
    });
    // SAFETY: the caller has AVX-512; the numbers are a vector.
    unsafe {
        let numbers = NUMBERS.0.as_ptr();
        match K::SIZE {
            1 => _mm512_loadu_epi8(numbers.cast()),
            2 => _mm512_cvtepu8_epi16(_mm256_loadu_si256(numbers.cast())),
            4 => _mm512_cvtepu8_epi32(_mm_loadu_si128(numbers.cast())),
            _ => _mm512_cvtepu8_epi64(_mm_loadu_si128(numbers.cast())),
        }
    }
}

/// A number added to all lanes, which are unsigned integers.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn added<K: Kind>(number: usize, lanes: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        match K::SIZE {
            1 => _mm512_add_epi8(lanes, _mm512_set1_epi8(number as i8)),
            2 => _mm512_add_epi16(lanes, _mm512_set1_epi16(number as i16)),
            4 => _mm512_add_epi32(lanes, _mm512_set1_epi32(number as i32)),
            _ => _mm512_add_epi64(lanes, _mm512_set1_epi64(number as i64)),
        }
    }
}

/// The lanes of `b` where the mask has them, else those of `a`.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn blend<K: Kind>(mask: u64, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        match K::SIZE {
            1 => _mm512_mask_mov_epi8(a, mask, b),
            2 => _mm512_mask_mov_epi16(a, mask as u32, b),
            4 => _mm512_mask_mov_epi32(a, mask as u16, b),
            _ => _mm512_mask_mov_epi64(a, mask as u8, b),
        }
    }
}

/// The smaller (or larger) of two unsigned integers where the mask has them, else those of `a`.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn earlier<K: Kind, const LAST: bool>(mask: u64, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the caller has AVX-512.
    unsafe {
        match (K::SIZE, LAST) {
            (1, false) => _mm512_mask_min_epu8(a, mask, a, b),
            (1, true) => _mm512_mask_max_epu8(a, mask, a, b),
            (2, false) => _mm512_mask_min_epu16(a, mask as u32, a, b),
            (2, true) => _mm512_mask_max_epu16(a, mask as u32, a, b),
            (4, false) => _mm512_mask_min_epu32(a, mask as u16, a, b),
            (4, true) => _mm512_mask_max_epu32(a, mask as u16, a, b),
            (_, false) => _mm512_mask_min_epu64(a, mask as u8, a, b),
            (_, true) => _mm512_mask_max_epu64(a, mask as u8, a, b),
        }
    }
}

/// For each lane the one of another vector that it names, of those there are.
///
/// # Safety
/// AVX-512 is in force, with VBMI for lanes of one byte.
#[inline(always)]
unsafe fn permuted<K: Kind>(which: __m512i, lanes: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        match K::SIZE {
            1 => _mm512_permutexvar_epi8(which, lanes),
            2 => _mm512_permutexvar_epi16(which, lanes),
            4 => _mm512_permutexvar_epi32(which, lanes),
            _ => _mm512_permutexvar_epi64(which, lanes),
        }
    }
}
