//! Rows that lie contiguous in memory: the extremum of blocks, then its place in the best block.
//!
//! A block is swept for its extreme value alone, which needs no index vectors; only the block that holds the
//! answer is read a second time, from cache. The scan starts at the end whose ties win, so that "strictly
//! better" is the only comparison.

use crate::element::order::{Element, Index, Lane, Order, pick, utmost, worst};
use crate::isa::Task;
use crate::kernels::prefetch::{LINE, prefetch};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The key type of an element's lanes.
pub type Key<E> = <<E as Element>::Lane as Lane>::Key;

/// Finds the extremum of each of several rows.
pub struct Rows<E: Element, O> {
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

impl<E: Element, O: Order> Task for Rows<E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.len > 0 && !self.data.is_null() && !self.index.is_null());
        for row in 0..self.rows {
            // SAFETY: the caller vouches for `rows` rows of `len` elements and as many results.
            unsafe {
                let data = self.data.offset(self.stride * row as isize).cast::<E>();
                let against = (!self.against.is_null()).then(|| *self.against.add(row));
                // To look for the place is a pause in reading; a walk over many rows asks for the next one before.
                let next = data.cast::<u8>().wrapping_offset(self.stride);
                let ahead = (row + 1 < self.rows && self.len * size_of::<E>() >= WIDE).then_some(next);
                let (key, index) = find::<E, O>(data, self.len, self.last, against, ahead);
                if !self.keys.is_null() {
                    *self.keys.add(row) = key;
                }
                self.index.add(row).write_unaligned(index as i64);
            }
        }
    }
}

/// Bytes that are swept before the best value so far is compared: long enough to hide the comparison, short
/// enough to be still in the first-level cache when the answer is looked up in it.
const BLOCK: usize = 16384;

/// Bytes from which a row is read in blocks twice as long: from the third-level cache on, each comparison
/// in between is a pause in reading that costs more than a longer search at the end.
const LONG: usize = 1 << 20;

/// Bytes of the next row that are asked for before the place is looked for: the hardware goes on by itself from
/// there. Measured over rows of 4 and 8 KiB from the third-level cache: 2 KiB gain 10 to 20 %, 8 KiB lose it again.
const AHEAD: usize = 2048;

/// Bytes of accumulators that a long sweep uses.
const WIDE: usize = 1024;

/// Elements that are the least to go through side by side. Loops over fewer are unrolled by the compiler
/// before it vectorises them, and then not vectorised at all.
const LANES: usize = 64;

/// The key of the extremum of `len` elements, and its position (0 where the key does not reach `against`).
///
/// # Safety
/// `data` points at `len >= 1` elements, of any alignment.
#[inline(always)]
unsafe fn find<E: Element, O: Order>(
    data: *const E,
    len: usize,
    last: bool,
    against: Option<Key<E>>,
    ahead: Option<*const u8>,
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
        let end = len.min(offset + (number + 1) * block);
        // SAFETY: `start..end` lies in `0..len`.
        if let Some(key) = unsafe { E::sweep::<O>(data.add(start), end - start, best) } {
            best = Some(key);
            place = start..end;
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

/// The extreme key of a block, if it is better than the champion so far.
///
/// # Safety
/// `data` points at `len >= 1` elements, of any alignment.
#[inline(always)]
pub unsafe fn sweep<E: Element, O: Order>(data: *const E, len: usize, champion: Option<Key<E>>) -> Option<Key<E>> {
    // SAFETY: as many elements are read as there are.
    unsafe {
        let bytes = len * size_of::<E>();
        let near = if size_of::<E>() == 8 { 2 * WIDE } else { BLOCK };
        if bytes > near {
            // Nearer stretches: eight of a kilobyte each look like eight walks to a processor that reads ahead.
            sweep_by::<E, O>(data, len, champion, LANES.max(WIDE / 4 / size_of::<E>()))
        } else if bytes >= 4 * WIDE {
            sweep_by::<E, O>(data, len, champion, WIDE / size_of::<E>())
        } else if len >= LANES {
            sweep_by::<E, O>(data, len, champion, LANES)
        } else {
            let key = (0..len).map(|at| load::<E, O>(data, at).key::<O>());
            key.reduce(better_key::<O, _>).filter(|&key| champion.is_none_or(|champion| O::better(key, champion)))
        }
    }
}

/// Sweeps `lanes` elements side by side, at most [`WIDE`] bytes of them or [`LANES`].
///
/// The accumulators stay in memory: a pass folds eight stretches into them, so they are loaded and stored
/// once for all eight. (Accumulators in an array that should stay in registers were spilled at every step.)
///
/// # Safety
/// `data` points at `len >= lanes` elements, and `lanes` is a multiple of [`LANES`].
#[inline(always)]
unsafe fn sweep_by<E: Element, O: Order>(
    data: *const E,
    len: usize,
    champion: Option<Key<E>>,
    lanes: usize,
) -> Option<Key<E>> {
    let mut best = [const { MaybeUninit::<E::Lane>::uninit() }; WIDE];
    let best = &mut best[..lanes];
    let mut nan = false;
    let mut at = 0;
    while at < len {
        // The last stretch overlaps the one before: an extremum does not mind reading an element twice.
        at = at.min(len - lanes);
        // SAFETY: each pass reads as many stretches as its constant says, and so many are left.
        let taken = unsafe {
            match ((len - at) / lanes, at == 0) {
                (8.., true) => stretch::<E, O, 8, true>(data.add(at), best, &mut nan),
                (4.., true) => stretch::<E, O, 4, true>(data.add(at), best, &mut nan),
                (2.., true) => stretch::<E, O, 2, true>(data.add(at), best, &mut nan),
                (_, true) => stretch::<E, O, 1, true>(data.add(at), best, &mut nan),
                (8.., false) => stretch::<E, O, 8, false>(data.add(at), best, &mut nan),
                (4.., false) => stretch::<E, O, 4, false>(data.add(at), best, &mut nan),
                (2.., false) => stretch::<E, O, 2, false>(data.add(at), best, &mut nan),
                (_, false) => stretch::<E, O, 1, false>(data.add(at), best, &mut nan),
            }
        };
        at += taken * lanes;
    }
    if nan {
        return Some(utmost::<O, _>());
    }
    // SAFETY: the passes have filled the accumulators.
    let best = unsafe { std::slice::from_raw_parts_mut(best.as_mut_ptr().cast::<E::Lane>(), lanes) };
    if let Some(champion) = champion {
        // Few blocks beat the champion, and to see that they do not costs less than to find their own.
        let mut better = <E::Lane as Lane>::Index::ZERO;
        for lane in best.iter() {
            better = better.or(O::better(lane.key::<O>(), champion));
        }
        if !better.any() {
            return None;
        }
    }
    // By halves first, then by key: integers are what the compiler reduces within a register.
    let mut width = lanes;
    while width > LANES {
        width /= 2;
        let (low, high) = best.split_at_mut(width);
        for lane in 0..width {
            low[lane] = pick::<O, _>(high[lane], low[lane]);
        }
    }
    // From the first lane on: vectors loaded across those just stored would have to wait for memory.
    let mut key = worst::<O, Key<E>>();
    for lane in &best[..LANES] {
        key = better_key::<O, _>(key, lane.key::<O>());
    }
    Some(key)
}

/// The better of two keys.
#[inline(always)]
fn better_key<O: Order, K: Ord>(a: K, b: K) -> K {
    if O::LARGEST { a.max(b) } else { a.min(b) }
}

/// Folds `STRETCHES` neighbouring stretches, each as long as `best`, into `best`, or begins it where `FRESH`.
/// Returns `STRETCHES` and raises `nan` where a lane was NaN.
///
/// # Safety
/// There are `STRETCHES` stretches; unless `FRESH`, `best` is filled.
#[inline(always)]
unsafe fn stretch<E: Element, O: Order, const STRETCHES: usize, const FRESH: bool>(
    data: *const E,
    best: &mut [MaybeUninit<E::Lane>],
    nan: &mut bool,
) -> usize {
    let lanes = best.len();
    let mut flags = <E::Lane as Lane>::Index::ZERO;
    for lane in 0..lanes {
        // SAFETY: the caller vouches for `STRETCHES` stretches and for accumulators that are filled unless `FRESH`.
        unsafe {
            let mut champion = if FRESH { worst::<O, _>() } else { best[lane].assume_init() };
            let mut watch = E::Lane::calm::<O>();
            for step in 0..STRETCHES {
                let value = load::<E, O>(data, lane + step * lanes);
                watch = value.watch::<O>(watch);
                champion = pick::<O, _>(value, champion);
            }
            flags = flags.or(E::Lane::met_nan::<O>(champion, watch));
            best[lane].write(champion);
        }
    }
    *nan |= flags.any();
    STRETCHES
}

/// The first (or last) place of a key that the block held when it was swept. Another thread may have written since: then
/// it is any place of the block.
///
/// # Safety
/// `data` points at `len` elements.
#[inline(always)]
unsafe fn seek<E: Element, O: Order, const LAST: bool>(data: *const E, len: usize, key: Key<E>) -> usize {
    // SAFETY: every place asked for lies in `0..len`.
    let lane = |at| unsafe { load::<E, O>(data, at) };
    if len < LANES {
        let mut places = (0..len).filter(|&at| lane(at).key::<O>() == key);
        return if LAST { places.next_back() } else { places.next() }.unwrap_or(0);
    }
    // To compare values is cheaper than to compare keys, but does not find NaN.
    let value = E::Lane::from_key(key);
    let at = if key == utmost::<O, _>() {
        stretch_with::<LAST>(len, |at| lane(at).key::<O>() == key)
    } else {
        stretch_with::<LAST>(len, |at| lane(at) == value)
    };
    // Within the stretch the place is a minimum: a walk would end in a branch that nobody can predict.
    let mut nearest = <E::Lane as Lane>::Index::MAX;
    for step in 0..LANES {
        let distance = if LAST { LANES - 1 - step } else { step };
        let hit = lane(at + step).key::<O>() == key;
        nearest = nearest.min(if hit { Index::new(distance) } else { Index::MAX });
    }
    let distance = nearest.widen() as usize;
    if distance >= LANES {
        // Where the host has denormal floats taken for zeros, values can be equal whose keys are not. And the key may be
        // gone.
        let mut places = (at..at + LANES).filter(|&at| lane(at) == value);
        return if LAST { places.next_back() } else { places.next() }.unwrap_or(at);
    }
    at + if LAST { LANES - 1 - distance } else { distance }
}

/// Where the first (or last) stretch of [`LANES`] places with a hit begins: the one at the far end if there is no other,
/// whether it has one or not.
#[inline(always)]
fn stretch_with<const LAST: bool>(len: usize, hit: impl Fn(usize) -> bool) -> usize {
    let (mut at, far) = if LAST { (len - LANES, 0) } else { (0, len - LANES) };
    while at != far {
        let mut any = false;
        for step in 0..LANES {
            any |= hit(at + step);
        }
        if any {
            return at;
        }
        // A stretch at the edge overlaps one without a hit, which does no harm.
        at = if LAST { at.saturating_sub(LANES) } else { (at + LANES).min(far) };
    }
    far
}

/// The lane of the element at `at`.
///
/// # Safety
/// The element may be read.
#[inline(always)]
unsafe fn load<E: Element, O: Order>(data: *const E, at: usize) -> E::Lane {
    // SAFETY: the caller keeps `at` inside the row; alignment is not needed.
    unsafe { data.add(at).read_unaligned() }.lane::<O>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::order::{Largest, Smallest};

    /// Seeks a key that no element has: what is left when another thread writes between the sweep and the search.
    fn seek_in_vain<E: Element, O: Order>(element: E, absent: Key<E>) {
        for len in [1, 2, 63, 64, 65, 100, 127, 128, 129, 300] {
            let block = vec![element; len];
            // SAFETY: the block has as many elements.
            unsafe {
                assert!(seek::<E, O, false>(block.as_ptr(), len, absent) < len);
                assert!(seek::<E, O, true>(block.as_ptr(), len, absent) < len);
            }
        }
    }

    #[test]
    fn a_key_that_is_gone_is_sought_no_further_than_its_block() {
        fn both<E: Element>(element: E) {
            let utmost = (utmost::<Largest, Key<E>>(), utmost::<Smallest, Key<E>>());
            seek_in_vain::<E, Largest>(element, utmost.0);
            seek_in_vain::<E, Smallest>(element, utmost.1);
            seek_in_vain::<E, Largest>(element, utmost.1);
            seek_in_vain::<E, Smallest>(element, utmost.0);
        }
        macro_rules! all {
            ($($one:expr),*) => {{ $(both($one);)* }};
        }
        all!(
            1i8,
            1i16,
            1i32,
            1i64,
            1u8,
            1u16,
            1u32,
            1u64,
            1f32,
            1f64,
            <crate::element::halves::Float16 as Element>::ONE
        );
        seek_in_vain::<f32, Largest>(1.0, 2.0f32.key::<Largest>());
        seek_in_vain::<f64, Smallest>(1.0, (-0.0f64).key::<Smallest>());
        seek_in_vain::<i64, Smallest>(7, 6);
    }
}
