//! The place of a key in a block of contiguous elements.

use crate::element::compare::{Compared, Index, Key, Lane, utmost};
use crate::element::order::Order;
use crate::kernels::source::Source;
use crate::kernels::sweep::{LANES, Sweep};

/// The first (or last) place of a key that the block held when it was swept. Another thread may have written since: then
/// it is any place of the block.
///
/// # Safety
/// There are `len` elements.
#[inline(always)]
pub unsafe fn seek<S: Source, O: Order, const LAST: bool>(source: S, len: usize, key: Key<S::Element>) -> usize {
    type LaneOf<S> = <<S as Source>::Element as Compared>::Lane;
    // SAFETY: every place asked for lies in `0..len`.
    let lane = |at| unsafe { source.lane::<O>(at) };
    if len < LANES {
        let mut places = (0..len).filter(|&at| lane(at).key::<O>() == key);
        return if LAST { places.next_back() } else { places.next() }.unwrap_or(0);
    }
    // To compare values is cheaper than to compare keys, but does not find NaN.
    let value = LaneOf::<S>::from_key(key);
    let at = if key == utmost::<O, _>() {
        stretch_with::<<LaneOf<S> as Lane>::Index, LAST>(len, |at| lane(at).key::<O>() == key)
    } else {
        stretch_with::<<LaneOf<S> as Lane>::Index, LAST>(len, |at| lane(at) == value)
    };
    // Within the stretch the place is a minimum: a walk would end in a branch that nobody can predict.
    let mut nearest = <LaneOf<S> as Lane>::Index::MAX;
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

/// Elements that are searched for the utmost key between two looks.
pub const LOOK: usize = 256;

/// Bools that are looked at before all others.
const FIRST: usize = 32;

/// Where a stretch lies that holds the first (or last) of the elements with the key that no other beats, if there is one.
///
/// # Safety
/// There are `len >= 1` elements.
#[inline(always)]
pub unsafe fn seek_utmost<S: Source<Element: Sweep>, O: Order>(
    source: S,
    len: usize,
    last: bool,
) -> Option<(usize, usize)> {
    // SAFETY: every place asked for lies in `0..len`.
    let hit = |at| unsafe { source.lane::<O>(at) }.key::<O>() == utmost::<O, _>();
    if len < LANES {
        return (0..len).any(hit).then_some((0, len));
    }
    if S::Element::HEAD.two_keys && !S::MASKED {
        // Most rows of bools end early: numbers of eight of them, the highest bits of which say which are true.
        let (high, low) = (u64::MAX / 255 * 128, u64::MAX / 255 * 127);
        for done in (0..FIRST).step_by(8) {
            let start = if last { len - 8 - done } else { done };
            // SAFETY: there are as many, a byte each.
            let bytes = u64::from_le(unsafe { source.data().add(start).cast::<u64>().read_unaligned() });
            let truth = (((bytes & low) + low) | bytes) & high;
            let hits = if O::LARGEST { truth } else { truth ^ high };
            if hits != 0 {
                let at = start + if last { hits.ilog2() } else { hits.trailing_zeros() } as usize / 8;
                return Some((at, at + 1));
            }
        }
    }
    let mut done = 0;
    while done < len {
        // What is left at the far edge overlaps a stretch without a hit, which does no harm.
        let stretch = if done == 0 || len < LOOK { LANES } else { LOOK };
        let far = done.min(len - stretch);
        let start = if last { len - stretch - far } else { far };
        let mut any = false;
        if stretch == LANES {
            for step in 0..LANES {
                any |= hit(start + step);
            }
        } else {
            for step in 0..LOOK {
                any |= hit(start + step);
            }
        }
        if any {
            return Some((start, start + stretch));
        }
        done += stretch;
    }
    None
}

/// Where the first (or last) stretch of [`LANES`] places with a hit begins: the one at the far end if there is no other,
/// whether it has one or not.
#[inline(always)]
fn stretch_with<I: Index, const LAST: bool>(len: usize, hit: impl Fn(usize) -> bool) -> usize {
    let (mut at, far) = if LAST { (len - LANES, 0) } else { (0, len - LANES) };
    while at != far {
        // Collected as wide as the lanes: a truth value for each would be packed first.
        let mut any = I::ZERO;
        for step in 0..LANES {
            any = any.or(hit(at + step));
        }
        if any.any() {
            return at;
        }
        // A stretch at the edge overlaps one without a hit, which does no harm.
        at = if LAST { at.saturating_sub(LANES) } else { (at + LANES).min(far) };
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::element::order::{Largest, Smallest};

    /// Seeks a key that no element has: what is left when another thread writes between the sweep and the search.
    fn seek_in_vain<E: Compared, O: Order>(element: E, absent: Key<E>) {
        for len in [1, 2, 63, 64, 65, 100, 127, 128, 129, 300] {
            let block = vec![element; len];
            // SAFETY: the block has as many elements.
            unsafe {
                assert!(seek::<*const E, O, false>(block.as_ptr(), len, absent) < len);
                assert!(seek::<*const E, O, true>(block.as_ptr(), len, absent) < len);
            }
        }
    }

    #[test]
    fn a_key_that_is_gone_is_sought_no_further_than_its_block() {
        fn both<E: Compared>(element: E) {
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
            <crate::element::float16_bits::Float16 as Element>::ONE
        );
        seek_in_vain::<f32, Largest>(1.0, 2.0f32.key::<Largest>());
        seek_in_vain::<f64, Smallest>(1.0, (-0.0f64).key::<Smallest>());
        seek_in_vain::<i64, Smallest>(7, 6);
    }
}
