//! Rows that lie contiguous in memory: the extremum of blocks, then its place in the best block.
//!
//! A block is swept for its extreme value alone, which needs no index vectors; only the block that holds the
//! answer is read a second time, from cache. The scan starts at the end whose ties win, so that "strictly
//! better" is the only comparison.

use crate::element::compare::{Key, utmost};
use crate::element::order::Order;
use crate::isa::Task;
use crate::kernels::cache_line::LINE;
use crate::kernels::prefetch::prefetch;
use crate::kernels::seek::seek;
use crate::kernels::sweep::{BLOCK, DISTANCE, Sweep, asks_ahead};
use std::marker::PhantomData;

/// Finds the extremum of each of several rows.
pub struct Rows<E: Sweep, O> {
    /// The first element of the first row.
    pub data: *const u8,
    /// Bytes from one row to the next.
    pub stride: isize,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row, at least one.
    pub len: usize,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Keys that the rows have to reach, or null: the position in a row that does not is left open.
    pub against: *const Key<E>,
    /// Receives the key of each row's extremum; may be null.
    pub keys: *mut Key<E>,
    /// Receives its position in the row.
    pub index: *mut i64,
    /// The order.
    pub order: PhantomData<O>,
}

impl<E: Sweep, O: Order> Task for Rows<E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.len > 0 && !self.data.is_null() && !self.index.is_null());
        // Where rows go down in memory, what comes after a row has been read.
        let later = self.stride.max(0) as usize * self.rows.saturating_sub(1) + self.len * size_of::<E>();
        let end = self.data.wrapping_add(later);
        for row in 0..self.rows {
            // SAFETY: the caller vouches for `rows` rows of `len` elements and as many results.
            unsafe {
                let data = self.data.offset(self.stride * row as isize).cast::<E>();
                let against = (!self.against.is_null()).then(|| *self.against.add(row));
                // To look for the place is a pause in reading; a walk over many rows asks for the next one before.
                let next = data.cast::<u8>().wrapping_offset(self.stride);
                let ahead = row + 1 < self.rows && !asks_ahead::<E>() && self.len * size_of::<E>() >= AHEAD / 2;
                let (key, index) = find::<E, O>(data, self.len, self.last, against, ahead.then_some(next), end);
                if !self.keys.is_null() {
                    *self.keys.add(row) = key;
                }
                self.index.add(row).write_unaligned(index as i64);
            }
        }
    }
}

/// Bytes from which a row is read in blocks twice as long: from the third-level cache on, each comparison
/// in between is a pause in reading that costs more than a longer search at the end.
const LONG: usize = 1 << 20;

/// Bytes of the next row that are asked for before the place is looked for: the hardware goes on by itself from
/// there. Measured over rows of 4 and 8 KiB from the third-level cache: 2 KiB gain 10 to 20 %, 8 KiB lose it again.
const AHEAD: usize = 2048;

/// The key of the extremum of `len` elements, and its position (0 where the key does not reach `against`). What lies before
/// `end` will be read later.
///
/// # Safety
/// `data` points at `len >= 1` elements, of any alignment.
#[inline(always)]
unsafe fn find<E: Sweep, O: Order>(
    data: *const E,
    len: usize,
    last: bool,
    against: Option<Key<E>>,
    ahead: Option<*const u8>,
    end: *const u8,
) -> (Key<E>, usize) {
    let block = if len * size_of::<E>() < LONG { BLOCK } else { 2 * BLOCK } / size_of::<E>();
    let mut best = None;
    let mut place = 0..len;
    // Blocks begin where lines of the cache do: vectors that straddle two lines take half as long again to read from
    // the second-level cache.
    let offset = data.cast::<u8>().align_offset(LINE) / size_of::<E>();
    let blocks = len.saturating_sub(offset).div_ceil(block).max(1);
    for step in 0..blocks {
        let number = if last { blocks - 1 - step } else { step };
        let start = if number == 0 { 0 } else { offset + number * block };
        let stop = len.min(offset + (number + 1) * block);
        // Not beyond what will be read: to ask for what is in no cache takes long.
        let ahead = data.wrapping_add(stop).cast::<u8>().wrapping_add(DISTANCE) <= end;
        // SAFETY: `start..stop` lies in `0..len`.
        if let Some(key) = unsafe { E::sweep::<O>(data.add(start), stop - start, best, ahead) } {
            best = Some(key);
            place = start..stop;
            if key == utmost::<O, _>() {
                break;
            }
        }
    }
    let Some(key) = best else { unreachable!("a row holds at least one element") };
    if against.is_some_and(|against| O::better(against, key)) {
        return (key, 0);
    }
    if let Some(next) = ahead {
        prefetch::<AHEAD>(next);
    }
    // SAFETY: as above, and the block at `place` holds the key.
    let at = unsafe {
        match last {
            false => seek::<E, O, false>(data.add(place.start), place.len(), key),
            true => seek::<E, O, true>(data.add(place.start), place.len(), key),
        }
    };
    (key, place.start + at)
}
