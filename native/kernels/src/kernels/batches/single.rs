//! Batches of rows that a vector holds each, with AVX-512: what is left of them is combined together, which takes a fraction of
//! what it takes one by one.

use crate::isa::Task;
use crate::kernels::batches::batch::{AHEAD, Batches, ROWS, VECTOR};
use crate::kernels::batches::join::Join;
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::masked::present;
use crate::kernels::batches::wanted::Wanted;
use crate::kernels::batches::watch::Watch;
use crate::kernels::cache_line::Aligned;
use crate::kernels::prefetch::prefetch;
use crate::kernels::source::Lines;
use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// One batch after the other.
pub struct Single<'a, K, const LAST: bool, const VALUES: bool, const MASKED: bool>(pub &'a Batches, pub K);

impl<K: Kind, const LAST: bool, const VALUES: bool, const MASKED: bool> Task for Single<'_, K, LAST, VALUES, MASKED> {
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let wanted = Wanted::new::<VALUES>(self.0);
        for start in self.0.starts(K::ROWS) {
            // SAFETY: the caller vouches for the rows and the results.
            unsafe {
                if !self.batch(wanted, start) {
                    return start;
                }
            }
        }
        self.0.rows
    }
}

impl<K: Kind, const LAST: bool, const VALUES: bool, const MASKED: bool> Single<'_, K, LAST, VALUES, MASKED> {
    /// Does one batch; false where a lane was NaN, and nothing was done.
    ///
    /// # Safety
    /// As for [`Batches::run`], of as many rows and results as the kind has in a batch.
    #[inline(always)]
    unsafe fn batch(&self, wanted: Wanted, start: usize) -> bool {
        let &Self(batches, kind) = self;
        let (values, index) = batches.room::<VALUES>(wanted, start, K::ROWS, K::SIZE);
        let lines = batches.lines.from(start as isize);
        let mask = u64::MAX >> (64 - batches.len);
        // SAFETY: the rows are readable; what a mask excludes is not read.
        unsafe {
            let row = |row: usize| lines.from(row as isize);
            // Which of the elements of a row are there.
            let there = |row: Lines| if MASKED { present(K::LANES, mask, row.mask) } else { mask };
            let mut watch = Watch::new(kind);
            let mut rows = [_mm512_setzero_si512(); ROWS];
            for at in 0..K::ROWS {
                let from = row(at);
                prefetch::<VECTOR>(from.data.wrapping_add(AHEAD));
                if MASKED {
                    prefetch::<1>(from.mask.wrapping_add(AHEAD / K::SIZE));
                }
                rows[at] = kind.lanes(K::load(kind.worst(), there(from), from.data));
            }
            let mut pairs = [_mm512_setzero_si512(); ROWS / 2];
            for (pair, rows) in pairs.iter_mut().zip(rows.chunks_exact(2)).take(K::ROWS / 2) {
                watch.see(kind, [rows[0], rows[1]]);
                *pair = Join::WHOLE.pair::<K, true>(rows[0], rows[1]);
            }
            let extremes = Join::WHOLE.all::<K, true>(pairs);
            if watch.any(kind, extremes) {
                return false;
            }
            if wanted.notes && !MASKED {
                // (Narrow lanes fill four bytes, all alike: these are as large as they are.)
                batches.note(start, K::is_larger(extremes, kind.losers()), 0);
            }
            let told = !wanted.values || kind.write(values, extremes);
            if told && !wanted.index && !(wanted.notes && MASKED) {
                return true;
            }
            let mut places = MaybeUninit::<[i64; ROWS]>::uninit();
            let index = if wanted.index { index } else { places.as_mut_ptr().cast() };
            // By way of memory: to broadcast from there is part of a comparison, from a register it is not.
            let extremes = Aligned(extremes);
            let extremes = black_box((&raw const extremes).cast::<u8>());
            let mut noted = 0;
            for at in 0..K::ROWS {
                let hits = K::equal(there(row(at)), rows[at], K::splat(extremes.add(at * K::SIZE.max(4))));
                noted |= u64::from(hits != 0) << at;
                // (Under a mask there may be none; what counts then is the lane that is the last to be asked.)
                let place = match LAST {
                    false => (hits | if MASKED { (mask >> 1) + 1 } else { 0 }).trailing_zeros(),
                    true => 63 - (hits | MASKED as u64).leading_zeros(),
                };
                index.add(at).write_unaligned(place.into());
            }
            if wanted.notes && MASKED {
                batches.note(start, noted, 0);
            }
            if !told {
                batches.fetch_by(K::SIZE, start, K::ROWS, index);
            }
        }
        true
    }
}
