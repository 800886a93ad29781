//! The extreme key of a block of contiguous elements: values alone, without their places.

use crate::element::compare::{Compared, Index, Key, Lane, NanState, better_key, pick, utmost, worst};
use crate::element::integers::Bool;
use crate::element::order::Order;
use std::mem::MaybeUninit;

/// An element type whose blocks can be swept: lane by lane, unless there is a faster way for the type.
pub trait Sweep: Compared {
    /// The extreme key of a block, if it is better than the champion so far.
    ///
    /// # Safety
    /// `data` points at `len >= 1` elements, of any alignment.
    #[inline(always)]
    unsafe fn sweep<O: Order>(data: *const Self, len: usize, champion: Option<Key<Self>>) -> Option<Key<Self>> {
        // SAFETY: the caller's.
        unsafe { sweep_lanes::<Self, O>(data, len, champion) }
    }
}

macro_rules! by_lanes {
    ($($type:ty)*) => {$(impl Sweep for $type {})*};
}

by_lanes!(Bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// Bytes that are swept before the best value so far is compared: long enough to hide the comparison, short
/// enough to be still in the first-level cache when the answer is looked up in it.
pub const BLOCK: usize = 16384;

/// Bytes of accumulators that a long sweep uses.
pub const WIDE: usize = 1024;

/// Elements that are the least to go through side by side. Loops over fewer are unrolled by the compiler
/// before it vectorises them, and then not vectorised at all.
pub const LANES: usize = 64;

/// The extreme key of a block, if it is better than the champion so far.
///
/// # Safety
/// `data` points at `len >= 1` elements, of any alignment.
#[inline(always)]
pub unsafe fn sweep_lanes<E: Compared, O: Order>(
    data: *const E,
    len: usize,
    champion: Option<Key<E>>,
) -> Option<Key<E>> {
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
/// The accumulators stay in memory: a pass takes eight stretches into them, so they are loaded and stored
/// once for all eight. (Accumulators in an array that should stay in registers were spilled at every step.)
///
/// # Safety
/// `data` points at `len >= lanes` elements, and `lanes` is a multiple of [`LANES`].
#[inline(always)]
unsafe fn sweep_by<E: Compared, O: Order>(
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

/// Accumulates `STRETCHES` neighbouring stretches, each as long as `best`, into `best`, or begins it where `FRESH`.
/// Returns `STRETCHES` and raises `nan` where a lane was NaN.
///
/// # Safety
/// There are `STRETCHES` stretches; unless `FRESH`, `best` is filled.
#[inline(always)]
unsafe fn stretch<E: Compared, O: Order, const STRETCHES: usize, const FRESH: bool>(
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
            let mut state = <E::Lane as Lane>::NanState::new::<O>();
            for step in 0..STRETCHES {
                let value = load::<E, O>(data, lane + step * lanes);
                state = state.observe::<O>(value);
                champion = pick::<O, _>(value, champion);
            }
            flags = flags.or(state.saw_nan::<O>(champion));
            best[lane].write(champion);
        }
    }
    *nan |= flags.any();
    STRETCHES
}

/// The lane of the element at `at`.
///
/// # Safety
/// The element may be read.
#[inline(always)]
pub unsafe fn load<E: Compared, O: Order>(data: *const E, at: usize) -> E::Lane {
    // SAFETY: the caller keeps `at` inside the row; alignment is not needed.
    unsafe { data.add(at).read_unaligned() }.lane::<O>()
}
