//! Blocks of rows of a few columns that registers hold, with AVX-512: of narrow elements, where a power of two of rows fills a
//! vector.
//!
//! What is left of a block once its vectors are combined is combined with itself, turned about, until each of its rows has the
//! extremes. Then the vectors are compared with it, and the [places](Marks) are those of the first (or last) hits.

use crate::isa::{Task, avx512_vbmi};
use crate::kernels::batches::batch::{AHEAD, VECTOR};
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::marks::Marks;
use crate::kernels::batches::period::{COLUMNS, Periods};
use crate::kernels::batches::watch::Watch;
use crate::kernels::cache_line::Aligned;
use crate::kernels::prefetch::prefetch;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Bytes of the largest block: as much as there are registers.
const BLOCK: usize = 2048;

impl Periods {
    /// Whether registers hold the blocks.
    pub fn are_kept<K: Kind>(&self) -> bool {
        let width = self.columns * K::SIZE;
        self.ordered
            && K::SIZE <= 2
            && self.columns.is_power_of_two()
            && self.columns >= 8
            && width <= VECTOR
            && self.row == width as isize
            && (VECTOR..=BLOCK).contains(&(self.rows * width))
            && avx512_vbmi::is_available()
    }

    /// Does the blocks up to one that has NaN; returns how many those are.
    ///
    /// # Safety
    /// As for [`Periods::run`], where [registers hold them](Self::are_kept).
    pub unsafe fn in_registers<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match (self.rows * self.columns).div_ceil(K::LANES) {
                1 => avx512_vbmi::run(Kept::<K, 1>(self, kind)),
                2 => avx512_vbmi::run(Kept::<K, 2>(self, kind)),
                3 | 4 => avx512_vbmi::run(Kept::<K, 4>(self, kind)),
                5 | 6 => avx512_vbmi::run(Kept::<K, 6>(self, kind)),
                7 | 8 => avx512_vbmi::run(Kept::<K, 8>(self, kind)),
                9..=12 => avx512_vbmi::run(Kept::<K, 12>(self, kind)),
                13..=16 => avx512_vbmi::run(Kept::<K, 16>(self, kind)),
                17..=24 => avx512_vbmi::run(Kept::<K, 24>(self, kind)),
                _ => avx512_vbmi::run(Kept::<K, 32>(self, kind)),
            }
        }
    }
}

/// One block after the other, in no more than so many vectors.
struct Kept<'a, K, const VECTORS: usize>(&'a Periods, K);

impl<K: Kind, const VECTORS: usize> Task for Kept<'_, K, VECTORS> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let &Periods { rows, columns, blocks, places, index, values, .. } = self.0;
        let mut marks = Aligned([const { MaybeUninit::<u8>::uninit() }; COLUMNS / 8 * BLOCK / 8]);
        let marks = marks.0.as_mut_ptr().cast::<u8>();
        let (marked, width) = (rows * columns / 8, columns * K::SIZE);
        let (mut done, mut open) = (0, false);
        // SAFETY: the caller's; a block has no more rows than fit `BLOCK`, and all blocks no more columns than `COLUMNS`.
        unsafe {
            while done < blocks {
                let from = self.0.data.wrapping_offset(self.0.block * done as isize);
                let values = if values.is_null() { values } else { values.add(done * width) };
                if !self.block(from, marks.add(done * marked), values, &mut open) {
                    break;
                }
                done += 1;
            }
            if places || !K::EXACT {
                Marks::new(rows, columns, self.0.last).places(done, marks, index);
            }
            if open {
                for at in 0..done * columns {
                    let (block, column) = (at / columns, at % columns);
                    let row = index.add(at).read_unaligned() as isize;
                    let from = self.0.data.wrapping_offset(self.0.block * block as isize + self.0.row * row);
                    values.add(at * K::SIZE).copy_from_nonoverlapping(from.add(column * K::SIZE), K::SIZE);
                }
            }
        }
        done
    }
}

impl<K: Kind, const VECTORS: usize> Kept<'_, K, VECTORS> {
    /// Marks the extremes of a block, and writes them where they are wanted, which leaves it open where lanes do not tell;
    /// false where there is NaN.
    ///
    /// # Safety
    /// As for [`in_registers`](Periods::in_registers), of one block, with room for its marks.
    #[inline(always)]
    unsafe fn block(&self, from: *const u8, marks: *mut u8, values: *mut u8, open: &mut bool) -> bool {
        let &Self(periods, kind) = self;
        let width = periods.columns * K::SIZE;
        let far = periods.rows * width - VECTOR;
        // The last vector overlaps the one before, or is read again.
        let at = |vector: usize| (vector * VECTOR).min(far);
        // SAFETY: the caller's; no more is read than the block.
        unsafe {
            let mut lanes = [_mm512_setzero_si512(); VECTORS];
            for vector in 0..VECTORS {
                let from = from.add(at(vector));
                prefetch::<VECTOR>(from.wrapping_add(AHEAD));
                lanes[vector] = kind.lanes(_mm512_loadu_epi8(from.cast()));
            }
            let mut watch = Watch::new(kind);
            let mut best = lanes[0];
            for vector in 0..VECTORS {
                if vector % 2 == 0 {
                    watch.see(kind, [lanes[vector], lanes[(vector + 1).min(VECTORS - 1)]]);
                }
                best = K::larger(lanes[vector], best);
            }
            if width <= 32 {
                best = K::larger(best, _mm512_shuffle_i64x2::<0b01_00_11_10>(best, best));
            }
            if width <= 16 {
                best = K::larger(best, _mm512_shuffle_i64x2::<0b10_11_00_01>(best, best));
            }
            if width <= 8 {
                best = K::larger(best, _mm512_shuffle_epi32::<0b01_00_11_10>(best));
            }
            if watch.any(kind, best) {
                return false;
            }
            if !values.is_null() {
                _mm512_mask_storeu_epi8(values.cast(), u64::MAX >> (VECTOR - width), kind.elements(best));
                *open |= kind.untold(best) != 0;
            }
            // Lanes that are elements need no place to say which.
            if K::EXACT && !periods.places {
                return true;
            }
            for vector in 0..VECTORS {
                let hits = K::equal(u64::MAX, lanes[vector], best);
                let to = marks.add(at(vector) / (8 * K::SIZE));
                match K::SIZE {
                    1 => to.cast::<u64>().write_unaligned(hits),
                    _ => to.cast::<u32>().write_unaligned(hits as u32),
                }
            }
        }
        true
    }
}
