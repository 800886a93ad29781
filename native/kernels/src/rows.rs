//! Rows that lie contiguous in memory: the extremum of blocks, then its place in the best block.
//!
//! A block is swept for its extreme value alone, which needs no index vectors; only the block that holds the
//! answer is read a second time, from cache. The scan starts at the end whose ties win, so that "strictly
//! better" is the only comparison.

use crate::isa::Task;
use crate::order::{Element, Index, Lane, Largest, Order, pick, worst};
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
    fn run(self) {
        for row in 0..self.rows {
            // SAFETY: whoever builds the task vouches for `rows` rows of `len` elements and as many results.
            unsafe {
                let data = self.data.offset(self.stride * row as isize).cast::<E>();
                let (key, index) = find::<E, O>(data, self.len, self.last);
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

/// The extremum of `len` elements and its position.
///
/// # Safety
/// `data` points at `len >= 1` elements, of any alignment.
#[inline(always)]
pub unsafe fn find<E: Element, O: Order>(data: *const E, len: usize, last: bool) -> (Key<E>, usize) {
    let lanes = BLOCK / size_of::<E>();
    let blocks = len.div_ceil(lanes);
    let mut best: Option<(E::Lane, usize, usize, bool)> = None;
    for step in 0..blocks {
        let start = if last { len.saturating_sub((step + 1) * lanes) } else { step * lanes };
        let end = if last { len - step * lanes } else { len.min(start + lanes) };
        // SAFETY: `start..end` lies in `0..len`.
        let (value, nan) = unsafe { sweep::<E, O>(data.add(start), end - start, best.map(|best| best.0)) };
        if let Some(value) = value {
            best = Some((value, start, end, nan));
        }
        if nan {
            break;
        }
    }
    let Some((value, start, end, nan)) = best else { unreachable!("a row holds at least one element") };
    // SAFETY: as above; the block holds `value`, or NaN where `nan` says so.
    let (at, element) = unsafe { locate::<E, O>(data.add(start), end - start, value, nan, last) };
    (element.key::<O>(), start + at)
}

/// The largest of `len` 32-bit integers: the fastest way to read memory there is here, and the measure of
/// what other kernels reach.
pub struct Sweep {
    /// The first integer.
    pub data: *const i32,
    /// The number of integers, at least one.
    pub len: usize,
}

impl Task for Sweep {
    type Output = i32;
    #[inline(always)]
    fn run(self) -> i32 {
        // SAFETY: whoever builds the task vouches for `len` integers.
        unsafe { sweep::<i32, Largest>(self.data, self.len, None).0.unwrap_or(i32::MIN) }
    }
}

/// The extreme lane of a block, if it is better than the champion so far, and whether the block holds NaN
/// (there is a lane then too, but a worthless one).
#[inline(always)]
unsafe fn sweep<E: Element, O: Order>(data: *const E, len: usize, champion: Option<E::Lane>) -> (Option<E::Lane>, bool) {
    // SAFETY: `lanes` elements are read only where there are as many.
    unsafe {
        match len * size_of::<E>() {
            1024.. => sweep_by::<E, O, 1024>(data, len, champion),
            256.. => sweep_by::<E, O, 256>(data, len, champion),
            64.. => sweep_by::<E, O, 64>(data, len, champion),
            _ => sweep_short::<E, O>(data, len, champion),
        }
    }
}

/// Sweeps `BYTES` bytes of lanes side by side.
///
/// The accumulators stay in memory: a pass folds eight stretches into them, so they are loaded and stored
/// once for all eight. (Accumulators in an array that should stay in registers were spilled at every step.)
#[inline(always)]
unsafe fn sweep_by<E: Element, O: Order, const BYTES: usize>(
    data: *const E,
    len: usize,
    champion: Option<E::Lane>,
) -> (Option<E::Lane>, bool) {
    let lanes = BYTES / size_of::<E>();
    let mut best = [const { MaybeUninit::<E::Lane>::uninit() }; BYTES];
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
    // SAFETY: the passes have filled the accumulators.
    let best = unsafe { std::slice::from_raw_parts_mut(best.as_mut_ptr().cast::<E::Lane>(), lanes) };
    if let Some(champion) = champion.filter(|_| !nan) {
        // Few blocks beat the champion, and to see that they do not costs less than to find their own.
        let mut better = <E::Lane as Lane>::Index::ZERO;
        for lane in best.iter() {
            better = better.or(O::better(*lane, champion));
        }
        if !better.any() {
            return (None, false);
        }
    }
    let mut width = lanes;
    while width > 1 {
        width /= 2;
        let (low, high) = best.split_at_mut(width);
        for lane in 0..width {
            low[lane] = pick::<O, _>(high[lane], low[lane]);
        }
    }
    (Some(best[0]), nan)
}

/// Folds `STRETCHES` neighbouring stretches, each as long as `best`, into `best`, or begins it where `FRESH`.
/// Returns `STRETCHES` and raises `nan` where a lane was NaN.
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
            let mut any = false;
            for step in 0..STRETCHES {
                let value = load::<E, O>(data, lane + step * lanes);
                any |= value.is_nan();
                champion = pick::<O, _>(value, champion);
            }
            flags = flags.or(any);
            best[lane].write(champion);
        }
    }
    *nan |= flags.any();
    STRETCHES
}

#[inline(always)]
unsafe fn sweep_short<E: Element, O: Order>(
    data: *const E,
    len: usize,
    champion: Option<E::Lane>,
) -> (Option<E::Lane>, bool) {
    // SAFETY: `len >= 1`.
    let mut best = unsafe { load::<E, O>(data, 0) };
    let mut nan = best.is_nan();
    for at in 1..len {
        // SAFETY: `at < len`.
        let value = unsafe { load::<E, O>(data, at) };
        nan |= value.is_nan();
        best = pick::<O, _>(value, best);
    }
    let wins = nan || champion.is_none_or(|champion| O::better(best, champion));
    (wins.then_some(best), nan)
}

/// Where a block holds `value` (or NaN): first or last such place, and the lane that stands there.
#[inline(always)]
unsafe fn locate<E: Element, O: Order>(
    data: *const E,
    len: usize,
    value: E::Lane,
    nan: bool,
    last: bool,
) -> (usize, E::Lane) {
    const STRETCH: usize = 32;
    let hit = |lane: E::Lane| if nan { lane.is_nan() } else { lane == value };
    let mut start = 0;
    let mut end = len;
    // Whole stretches without a hit are left behind by one vector comparison each.
    while end - start > STRETCH {
        let from = if last { end - STRETCH } else { start };
        let mut any = <E::Lane as Lane>::Index::ZERO;
        for lane in 0..STRETCH {
            // SAFETY: the stretch lies within `start..end`.
            any = any.or(hit(unsafe { load::<E, O>(data, from + lane) }));
        }
        if any.any() {
            (start, end) = (from, from + STRETCH);
            break;
        }
        if last { end = from } else { start = from + STRETCH }
    }
    let mut at = if last { end - 1 } else { start };
    loop {
        // SAFETY: a hit lies in `start..end`, so the walk ends inside it.
        let lane = unsafe { load::<E, O>(data, at) };
        if hit(lane) {
            return (at, lane);
        }
        at = if last { at - 1 } else { at + 1 };
    }
}

/// The lane of the element at `at`.
#[inline(always)]
unsafe fn load<E: Element, O: Order>(data: *const E, at: usize) -> E::Lane {
    // SAFETY: the caller keeps `at` inside the row; alignment is not needed.
    unsafe { data.add(at).read_unaligned() }.lane::<O>()
}
