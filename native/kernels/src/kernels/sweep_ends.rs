//! The extreme keys of a block for both ends of the order at once, or of what a mask leaves of it.
//!
//! What is asked for most, one end of all of a block, has more copies of its loop: [`sweep`](crate::kernels::sweep).

use crate::element::compare::{Compared, Index, Key, Lane, NanState, better_key, pick, utmost, worst};
use crate::element::order::{Ends, Order};
use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::prefetch::prefetch;
use crate::kernels::source::Source;
use crate::kernels::sweep::{ACCUMULATORS, BLOCK, DISTANCE, LANES, asks_ahead, watched};
use std::mem::MaybeUninit;

/// A key for each end of the order, where there is one.
pub type Keys<E> = [Option<Key<E>>; 2];

/// For each end the extreme key of a block, if it is better than the champion so far.
///
/// # Safety
/// There are `len >= 1` elements.
#[inline(always)]
pub unsafe fn sweep_ends<S: Source, X: Ends>(
    source: S,
    len: usize,
    champions: Keys<S::Element>,
    ahead: bool,
) -> Keys<S::Element> {
    // SAFETY: as many elements are read as there are.
    unsafe {
        let wide = const {
            let wide = ACCUMULATORS / size_of::<S::Element>();
            if wide > LANES { wide } else { LANES }
        };
        // Short rows end before the processor reads ahead by itself, and to watch for NaN leaves time to ask.
        // (Of narrow elements, too, where a mask is as long as they are.)
        let pays = asks_ahead::<S::Element>() && (watched::<S::Element>() || len * size_of::<S::Element>() < BLOCK)
            || S::MASKED && !asks_ahead::<S::Element>();
        if pays && ahead && len >= LANES {
            sweep_by::<S, X, true>(source, len, champions, LANES)
        } else if len >= LANES {
            sweep_by::<S, X, false>(source, len, champions, if len >= 16 * wide { wide } else { LANES })
        } else {
            let second = if X::BOTH { sweep_short::<S, X::Second>(source, len, champions[1]) } else { None };
            [sweep_short::<S, X::First>(source, len, champions[0]), second]
        }
    }
}

/// The extreme key of a few elements, if it is better than the champion so far.
///
/// # Safety
/// There are `len >= 1` elements.
#[inline(always)]
unsafe fn sweep_short<S: Source, O: Order>(
    source: S,
    len: usize,
    champion: Option<Key<S::Element>>,
) -> Option<Key<S::Element>> {
    // SAFETY: the caller's.
    let keys = (0..len).map(|at| unsafe { source.lane::<O>(at) }.key::<O>());
    keys.reduce(better_key::<O, _>).filter(|&key| champion.is_none_or(|champion| O::better(key, champion)))
}

/// The lanes that a source yields.
type LaneOf<S> = <<S as Source>::Element as Compared>::Lane;

/// As many accumulators as there are at most.
type Accumulators<E> = Aligned<[MaybeUninit<<E as Compared>::Lane>; ACCUMULATORS]>;

/// Sweeps `lanes` elements side by side, at most [`ACCUMULATORS`] of them: as [`sweep`](crate::kernels::sweep) does, with
/// fewer copies of the loop.
///
/// # Safety
/// There are `len >= lanes` elements, and `lanes` is a multiple of [`LANES`].
#[inline(always)]
unsafe fn sweep_by<S: Source, X: Ends, const AHEAD: bool>(
    source: S,
    len: usize,
    champions: Keys<S::Element>,
    lanes: usize,
) -> Keys<S::Element> {
    let mut first: Accumulators<S::Element> = Aligned([const { MaybeUninit::uninit() }; ACCUMULATORS]);
    let mut second: Accumulators<S::Element> = Aligned([const { MaybeUninit::uninit() }; ACCUMULATORS]);
    let first = &mut first.0[..lanes];
    let second = &mut second.0[..if X::BOTH { lanes } else { 0 }];
    first.fill(MaybeUninit::new(worst::<X::First, _>()));
    second.fill(MaybeUninit::new(worst::<X::Second, _>()));
    // As many stretches in one pass as there are all along; the last pass overlaps the one before, since an extremum does not
    // mind reading an element twice. (Single stretches at the end would be stored in part, and loaded again before that is done.)
    let near = AHEAD && watched::<S::Element>();
    let count = if len >= 4 * lanes && !near { 4 } else { (len / lanes).min(2) };
    let mut nan = false;
    for at in (0..len).step_by(count * lanes) {
        let from = source.skip(at.min(len - count * lanes));
        // SAFETY: each pass reads as many stretches as its constant says, and so many are left.
        unsafe {
            match count {
                4 => stretch::<S, X, 4, AHEAD>(from, first, second, &mut nan),
                2 => stretch::<S, X, 2, AHEAD>(from, first, second, &mut nan),
                _ => stretch::<S, X, 1, AHEAD>(from, first, second, &mut nan),
            }
        }
    }
    if nan {
        return [Some(utmost::<X::First, _>()), X::BOTH.then(utmost::<X::Second, _>)];
    }
    // SAFETY: the passes have filled the accumulators.
    unsafe {
        let second = if X::BOTH { settle::<S::Element, X::Second>(second, champions[1]) } else { None };
        [settle::<S::Element, X::First>(first, champions[0]), second]
    }
}

/// The extreme key of the accumulators, if it is better than the champion so far.
///
/// # Safety
/// They are filled, and their number is a power of two times [`LANES`].
#[inline(always)]
unsafe fn settle<E: Compared, O: Order>(best: &mut [MaybeUninit<E::Lane>], champion: Option<Key<E>>) -> Option<Key<E>> {
    let lanes = best.len();
    // SAFETY: the caller's.
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

/// Accumulates `COUNT` neighbouring stretches, each as long as `first`, into `first` and, where both ends are wanted, `second`;
/// asks for what comes later where `AHEAD`. Raises `nan` where a lane was NaN.
///
/// # Safety
/// There are `COUNT` stretches, and the accumulators are filled.
#[inline(always)]
unsafe fn stretch<S: Source, X: Ends, const COUNT: usize, const AHEAD: bool>(
    source: S,
    first: &mut [MaybeUninit<LaneOf<S>>],
    second: &mut [MaybeUninit<LaneOf<S>>],
    nan: &mut bool,
) {
    let lanes = first.len();
    let second = &mut second[..if X::BOTH { lanes } else { 0 }];
    if AHEAD {
        for line in (0..COUNT * lanes * size_of::<S::Element>()).step_by(LINE) {
            prefetch::<LINE>(source.data().cast::<u8>().wrapping_add(DISTANCE + line));
        }
        if S::MASKED {
            for line in (0..COUNT * lanes).step_by(LINE) {
                prefetch::<LINE>(source.mask().wrapping_add(DISTANCE / size_of::<S::Element>() + line));
            }
        }
    }
    let mut flags = <LaneOf<S> as Lane>::Index::ZERO;
    for lane in 0..lanes {
        // SAFETY: the caller vouches for `COUNT` stretches and for accumulators that are filled.
        unsafe {
            let mut one = first[lane].assume_init();
            let mut other = if !X::BOTH { worst::<X::Second, _>() } else { second[lane].assume_init() };
            let mut state = <LaneOf<S> as Lane>::NanState::new::<X::First>();
            for step in 0..COUNT {
                let value = source.lane::<X::First>(lane + step * lanes);
                state = state.observe::<X::First>(value);
                one = pick::<X::First, _>(value, one);
                if X::BOTH {
                    other = pick::<X::Second, _>(source.lane::<X::Second>(lane + step * lanes), other);
                }
            }
            flags = flags.or(state.saw_nan::<X::First>(one));
            first[lane].write(one);
            if X::BOTH {
                second[lane].write(other);
            }
        }
    }
    *nan |= flags.any();
}
