//! Blocks of rows of a few columns, eight at a time, with AVX-512: of narrow elements, where a power of two of rows fills a
//! vector.
//!
//! First the extremes of each block. What is left of the eight is combined together, which takes a fraction of what it takes
//! one by one. Then each block is compared with its extremes, and the [places](Marks) are those of the first (or last) hits.

use crate::isa::{Task, avx512_vbmi};
use crate::kernels::batches::batch::{AHEAD, VECTOR};
use crate::kernels::batches::join::halves;
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::marks::Marks;
use crate::kernels::batches::period::{COLUMNS, Periods};
use crate::kernels::cache_line::Aligned;
use crate::kernels::prefetch::prefetch;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Blocks that are read side by side.
const BLOCKS: usize = 8;

/// Bytes of the largest block: eight of them, and as much again, stay in the first-level cache.
const BLOCK: usize = 2048;

impl Periods {
    /// Whether blocks are read eight at a time.
    pub fn are_octets<K: Kind>(&self) -> bool {
        let width = self.columns * K::SIZE;
        self.ordered
            && K::SIZE <= 2
            && self.blocks >= BLOCKS
            && self.columns.is_power_of_two()
            && self.columns >= 8
            && width <= VECTOR
            && self.row == width as isize
            && (VECTOR..=BLOCK).contains(&(self.rows * width))
            && avx512_vbmi::is_available()
    }

    /// Does the blocks up to eight of which one has NaN; returns how many those are.
    ///
    /// # Safety
    /// As for [`Periods::run`], where [eight are read at a time](Self::are_octets).
    pub unsafe fn in_octets<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe { avx512_vbmi::run(Octets(self, kind)) }
    }
}

/// Eight blocks after the other.
struct Octets<'a, K>(&'a Periods, K);

impl<K: Kind> Task for Octets<'_, K> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(periods, kind) = self;
        let &Periods { rows, columns, blocks, places, index, values, .. } = periods;
        let mut marks = Aligned([const { MaybeUninit::<u8>::uninit() }; COLUMNS / 8 * BLOCK / 8]);
        let marks = marks.0.as_mut_ptr().cast::<u8>();
        let marked = rows * columns / 8;
        let (mut done, mut open) = (0, false);
        // SAFETY: the caller's; a block has no more rows than fit `BLOCK`, and all blocks no more columns than `COLUMNS`.
        unsafe {
            while done < blocks {
                // The last eight overlap those before.
                let start = done.min(blocks - BLOCKS);
                let from = periods.data.wrapping_offset(periods.block * start as isize);
                let values = if values.is_null() { values } else { values.add(start * columns * K::SIZE) };
                if !periods.octet(kind, from, marks.add(start * marked), values, &mut open) {
                    break;
                }
                done = start + BLOCKS;
            }
            if places || !K::EXACT {
                Marks::new(rows, columns, periods.last).places(done, marks, index);
            }
            if open {
                for at in 0..done * columns {
                    let (block, column) = (at / columns, at % columns);
                    let row = index.add(at).read_unaligned() as isize;
                    let from = periods.data.wrapping_offset(periods.block * block as isize + periods.row * row);
                    values.add(at * K::SIZE).copy_from_nonoverlapping(from.add(column * K::SIZE), K::SIZE);
                }
            }
        }
        done
    }
}

impl Periods {
    /// Marks the extremes of eight blocks, and writes them where they are wanted, which leaves it open where lanes do not
    /// tell; false where there is NaN.
    ///
    /// # Safety
    /// As for [`in_octets`](Self::in_octets), of eight blocks, with room for their marks.
    #[inline(always)]
    unsafe fn octet<K: Kind>(
        &self,
        kind: K,
        from: *const u8,
        marks: *mut u8,
        values: *mut u8,
        open: &mut bool,
    ) -> bool {
        let (width, block) = (self.columns * K::SIZE, self.block);
        let bytes = self.rows * width;
        let (far, marked) = (bytes - VECTOR, self.rows * self.columns / 8);
        let mut keys = Aligned([const { MaybeUninit::<u8>::uninit() }; BLOCKS * BLOCK]);
        let keys = keys.0.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's; no more is read than the blocks. The last vector of one overlaps the one before.
        unsafe {
            let read = |at: usize, number: usize| {
                let from = from.wrapping_offset(block * number as isize).wrapping_add(at);
                prefetch::<VECTOR>(from.wrapping_add(AHEAD));
                let lanes = kind.lanes(_mm512_loadu_epi8(from.cast()));
                // What it takes to make lanes is not done twice, where elements themselves cannot be compared.
                if !K::EXACT {
                    _mm512_storeu_epi8(keys.add(number * bytes + at).cast(), lanes);
                }
                lanes
            };
            let mut best = [_mm512_setzero_si512(); BLOCKS];
            for number in 0..BLOCKS {
                best[number] = read(far, number);
            }
            let mut worst = best;
            for at in (0..far).step_by(VECTOR) {
                for number in 0..BLOCKS {
                    let lanes = read(at, number);
                    best[number] = K::larger(lanes, best[number]);
                    worst[number] = K::smaller(lanes, worst[number]);
                }
            }
            // NaN is an extreme of the lanes that it is among.
            if (0..BLOCKS).fold(0, |any, number| any | kind.unordered(best[number], worst[number])) != 0 {
                return false;
            }
            let extremes = extremes::<K>(best, width);
            let mut told = Aligned([MaybeUninit::<u8>::uninit(); BLOCKS * VECTOR]);
            let told = told.0.as_mut_ptr().cast::<u8>();
            for (at, &lanes) in extremes.iter().enumerate() {
                if at * VECTOR < BLOCKS * width {
                    let elements = kind.elements(lanes);
                    _mm512_storeu_epi8(told.add(at * VECTOR).cast(), if K::EXACT { elements } else { lanes });
                    if !values.is_null() {
                        _mm512_storeu_epi8(values.add(at * VECTOR).cast(), elements);
                        *open |= kind.untold(lanes) != 0;
                    }
                }
            }
            // Lanes that are elements need no place to say which.
            if K::EXACT && !self.places {
                return true;
            }
            let extremes = repeated(told, width);
            let (from, block) = if K::EXACT { (from, block) } else { (keys.cast_const(), bytes as isize) };
            let mark = |at: usize, number: usize| {
                let lanes = _mm512_loadu_epi8(from.wrapping_offset(block * number as isize).wrapping_add(at).cast());
                let hits = K::equal(u64::MAX, lanes, extremes[number]);
                let to = marks.add(number * marked).add(at / (8 * K::SIZE));
                match K::SIZE {
                    1 => to.cast::<u64>().write_unaligned(hits),
                    _ => to.cast::<u32>().write_unaligned(hits as u32),
                }
            };
            for at in (0..far).step_by(VECTOR) {
                for number in 0..BLOCKS {
                    mark(at, number);
                }
            }
            for number in 0..BLOCKS {
                mark(far, number);
            }
        }
        true
    }
}

/// One vector of each block combined into one row of each, side by side, of so many bytes; the first vectors hold them.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn extremes<K: Kind>(mut best: [__m512i; BLOCKS], width: usize) -> [__m512i; BLOCKS] {
    // SAFETY: the caller has AVX-512.
    unsafe {
        if width == 8 {
            best = halved::<K, 1>(best);
        }
        match width {
            8 | 16 => halved::<K, 3>(halved::<K, 3>(best)),
            32 => halved::<K, 2>(best),
            _ => best,
        }
    }
}

/// Pairs of vectors combined.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn halved<K: Kind, const STEP: usize>(mut best: [__m512i; BLOCKS]) -> [__m512i; BLOCKS] {
    for at in 0..BLOCKS / 2 {
        // SAFETY: the caller has AVX-512.
        unsafe {
            let (first, second) = halves::<STEP>(best[2 * at], best[2 * at + 1]);
            best[at] = K::larger(first, second);
        }
    }
    best
}

/// Rows of so many bytes, each over and over in a vector of its own.
///
/// # Safety
/// AVX-512 is in force, and there is a row for each block.
#[inline(always)]
unsafe fn repeated(rows: *const u8, width: usize) -> [__m512i; BLOCKS] {
    // SAFETY: the caller's.
    unsafe {
        let mut all = [_mm512_setzero_si512(); BLOCKS];
        for (number, vector) in all.iter_mut().enumerate() {
            let row = rows.add(number * width);
            *vector = match width {
                8 => _mm512_set1_epi64(row.cast::<i64>().read_unaligned()),
                16 => _mm512_broadcast_i32x4(_mm_loadu_si128(row.cast())),
                32 => _mm512_broadcast_i64x4(_mm256_loadu_si256(row.cast())),
                _ => _mm512_loadu_epi8(row.cast()),
            };
        }
        all
    }
}
