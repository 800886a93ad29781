//! Values alone, with AVX-512, of both ends of the order at once or of one, where a row is longer than a vector: no row is read
//! twice.
//!
//! Two rows at a time, so that one comparison notices NaN in both. Where a lane does not tell the element, which only its
//! place does, the batch is done once more for that end of the order alone.

use crate::isa::{Task, avx512};
use crate::kernels::batches::batch::{AHEAD, Batches, ROWS, VECTOR};
use crate::kernels::batches::join::Join;
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::wanted::ask_for_room;
use crate::kernels::batches::watch::Watch;
use crate::kernels::outputs::Outputs;
use crate::kernels::prefetch::prefetch;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

impl Batches {
    /// Does the batches one after the other.
    ///
    /// # Safety
    /// As for [`Batches::run`], where both ends are wanted.
    pub unsafe fn in_chunks_at_both_ends<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match self.len <= K::LANES {
                true => avx512::run(Values::<K, true, true>(self, kind)),
                false => avx512::run(Values::<K, true, false>(self, kind)),
            }
        }
    }

    /// The same at one end, of rows that no vector holds, up to a batch with an element that its lane does not tell.
    ///
    /// # Safety
    /// As for [`Batches::run`], where values alone are wanted.
    pub unsafe fn values_in_chunks<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe { avx512::run(Values::<K, false, false>(self, kind)) }
    }

    /// Writes the largest and the smallest elements of a batch, of which these are the widened lanes.
    ///
    /// # Safety
    /// As for [`in_chunks_at_both_ends`](Self::in_chunks_at_both_ends), of so many rows as the kind has in a batch.
    #[inline(always)]
    pub unsafe fn write_both<K: Kind>(&self, kind: K, start: usize, largest: __m512i, smallest: __m512i) {
        let (to, other) = (self.to.values.wrapping_add(start * K::SIZE), self.other.wrapping_add(start * K::SIZE));
        ask_for_room(to, VECTOR);
        ask_for_room(other, VECTOR);
        // SAFETY: the caller's.
        unsafe {
            if !kind.write(to, largest) {
                self.look_for(start, K::ROWS, self.largest, to);
            }
            if !kind.write(other, smallest) {
                self.look_for(start, K::ROWS, !self.largest, other);
            }
        }
    }

    /// Writes the elements of some rows at one end of the order by their places.
    ///
    /// # Safety
    /// As for [`in_chunks_at_both_ends`](Self::in_chunks_at_both_ends), of a batch without NaN.
    #[cold]
    #[inline(never)]
    pub unsafe fn look_for(&self, start: usize, rows: usize, largest: bool, values: *mut u8) {
        // (Of values alone batches would come here again.)
        let mut places = MaybeUninit::<[i64; ROWS]>::uninit();
        let index = places.as_mut_ptr().cast();
        let (lines, to) = (self.lines.from(start as isize), Outputs { values, index, ..Outputs::NOTHING });
        let one = Self { lines, rows, largest, to, other: std::ptr::null_mut(), ..*self };
        // SAFETY: the caller's. (No row is done where another thread has written NaN since: then it is any element.)
        unsafe { one.run() };
    }
}

/// One batch after the other, at both ends of the order where `BOTH`; of rows that a vector holds where `ONE`, else of longer ones.
struct Values<'a, K, const BOTH: bool, const ONE: bool>(&'a Batches, K);

impl<K: Kind, const BOTH: bool, const ONE: bool> Task for Values<'_, K, BOTH, ONE> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self(batches, kind) = self;
        let len = batches.len;
        // SAFETY: the caller has AVX-512.
        let join = if ONE { unsafe { Join::new::<K>(len) } } else { Join::WHOLE };
        for start in batches.starts(K::ROWS) {
            // SAFETY: the caller vouches for the rows and the results: no more are read and written.
            unsafe {
                let mut largest = [_mm512_setzero_si512(); ROWS / 2];
                let mut smallest = largest;
                let mut watch = Watch::new(kind);
                // Both extremes tell whether NaN is among them.
                let watched = !BOTH || !K::NAN_IS_EXTREME;
                for at in 0..K::ROWS / 2 {
                    let row = (start + 2 * at) as isize;
                    let (one, other) = (batches.lines.from(row).data, batches.lines.from(row + 1).data);
                    let (a, b) = (read::<K, ONE>(kind, one, len), read::<K, ONE>(kind, other, len));
                    let (mut high, mut low) = ([a, b], [a, b]);
                    if watched {
                        watch.see(kind, [a, b]);
                    }
                    // The last vector overlaps the one before: an extremum does not mind reading an element twice.
                    for from in (K::LANES..if ONE { 0 } else { len }).step_by(K::LANES) {
                        let from = from.min(len - K::LANES) * K::SIZE;
                        let (one, other) = (one.add(from), other.add(from));
                        let (a, b) = (read::<K, ONE>(kind, one, len), read::<K, ONE>(kind, other, len));
                        high = [K::larger(a, high[0]), K::larger(b, high[1])];
                        if BOTH {
                            low = [K::smaller(a, low[0]), K::smaller(b, low[1])];
                        }
                        if watched {
                            watch.see(kind, [a, b]);
                        }
                    }
                    largest[at] = join.pair::<K, true>(high[0], high[1]);
                    if BOTH {
                        smallest[at] = join.pair::<K, false>(low[0], low[1]);
                    }
                }
                let largest = join.all::<K, true>(largest);
                let smallest = if BOTH { join.all::<K, false>(smallest) } else { largest };
                if if watched { watch.any(kind, largest) } else { kind.unordered(largest, smallest) != 0 } {
                    return start;
                }
                if BOTH {
                    batches.write_both(kind, start, largest, smallest);
                    continue;
                }
                let to = batches.to.values.wrapping_add(start * K::SIZE);
                ask_for_room(to, VECTOR);
                if !kind.write(to, largest) {
                    return start;
                }
            }
        }
        batches.rows
    }
}

/// The next lanes of a row; where a vector holds all of its `len` elements, the rest of it is empty.
///
/// # Safety
/// AVX-512 is in force, and there are as many elements.
#[inline(always)]
unsafe fn read<K: Kind, const ONE: bool>(kind: K, from: *const u8, len: usize) -> __m512i {
    prefetch::<VECTOR>(from.wrapping_add(AHEAD));
    // SAFETY: the caller's.
    unsafe {
        kind.lanes(match ONE {
            true => K::load(_mm512_setzero_si512(), u64::MAX >> (64 - len), from),
            false => _mm512_loadu_epi8(from.cast()),
        })
    }
}
