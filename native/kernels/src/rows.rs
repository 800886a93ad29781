//! Rows that lie contiguous in memory: the extremum of blocks, then its place in the best block.
//!
//! A block is swept for its extreme value alone, which needs no index vectors; only the block that holds the
//! answer is read a second time, from cache. The scan starts at the end whose ties win, so that "strictly
//! better" is the only comparison.

use crate::isa::Task;
use crate::order::{Element, Index, Lane, Order, pick};
use std::marker::PhantomData;

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
    /// Receives the key of each row's extremum.
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
                *self.keys.add(row) = key;
                self.index.add(row).write_unaligned(index as i64);
            }
        }
    }
}

/// Bytes that are swept before the best value so far is compared: long enough to hide the comparison, short
/// enough to be still in the first-level cache when the answer is looked up in it.
const BLOCK: usize = 8192;

/// Bytes that the accumulators of a sweep hold: four of the widest vectors cover the latency of a maximum.
const SWEEP: usize = 256;

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
        let (value, nan) = unsafe { sweep::<E, O>(data.add(start), end - start) };
        if nan || best.is_none_or(|(champion, ..)| O::better(value, champion)) {
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

/// The extreme lane of a block, and whether the block holds NaN (the lane is then worthless).
#[inline(always)]
unsafe fn sweep<E: Element, O: Order>(data: *const E, len: usize) -> (E::Lane, bool) {
    // SAFETY: the widths passed on are checked against `len`.
    unsafe {
        match size_of::<E>() {
            1 => sweep_by::<E, O, { SWEEP }>(data, len),
            2 => sweep_by::<E, O, { SWEEP / 2 }>(data, len),
            4 => sweep_by::<E, O, { SWEEP / 4 }>(data, len),
            _ => sweep_by::<E, O, { SWEEP / 8 }>(data, len),
        }
    }
}

/// Sweeps with `W` accumulators side by side, which the compiler keeps in vector registers.
#[inline(always)]
unsafe fn sweep_by<E: Element, O: Order, const W: usize>(data: *const E, len: usize) -> (E::Lane, bool) {
    if len < W {
        // SAFETY: the caller's.
        return unsafe { sweep_short::<E, O>(data, len) };
    }
    let flag = <E::Lane as Lane>::Index::ZERO;
    // SAFETY: `W <= len`.
    let mut best: [E::Lane; W] = std::array::from_fn(|lane| unsafe { load::<E, O>(data, lane) });
    let mut nan = [flag; W];
    for lane in 0..W {
        nan[lane] = nan[lane].or(best[lane].is_nan());
    }
    let mut at = W;
    while at < len {
        // The last stretch overlaps the one before: an extremum does not mind reading an element twice.
        at = at.min(len - W);
        for lane in 0..W {
            // SAFETY: `at + W <= len`.
            let value = unsafe { load::<E, O>(data, at + lane) };
            nan[lane] = nan[lane].or(value.is_nan());
            best[lane] = pick::<O, _>(value, best[lane]);
        }
        at += W;
    }
    let mut width = W / 2;
    while width > 0 {
        for lane in 0..width {
            best[lane] = pick::<O, _>(best[lane + width], best[lane]);
        }
        width /= 2;
    }
    let mut any = false;
    for flag in nan {
        any |= flag.any();
    }
    (best[0], any)
}

#[inline(always)]
unsafe fn sweep_short<E: Element, O: Order>(data: *const E, len: usize) -> (E::Lane, bool) {
    // SAFETY: `len >= 1`.
    let mut best = unsafe { load::<E, O>(data, 0) };
    let mut nan = best.is_nan();
    for at in 1..len {
        // SAFETY: `at < len`.
        let value = unsafe { load::<E, O>(data, at) };
        nan |= value.is_nan();
        best = pick::<O, _>(value, best);
    }
    (best, nan)
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
