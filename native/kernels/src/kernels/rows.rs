//! Rows that lie contiguous in memory: the extremum of blocks, then its place in the best block.
//!
//! ```text
//! for each block of a row, from the end whose ties win:
//!     sweep it for its extreme key alone
//!     if that is strictly better: it is the best, and the block holds it
//!     if nothing can be better: stop
//! if NaN loses, and the best key is that of the worst number, which stands for NaN too:
//!     find the stretch of 64 elements of the row that holds a number; without one the place is -1
//! otherwise find the stretch of 64 elements of the best block that holds the key, then the place in the stretch
//! ```
//!
//! A sweep needs no index vectors, and only the block that holds the answer is read a second time, from cache. In rows of bools
//! the kernel searches for the better of the two values directly, and mostly stops early. Rows of bytes begin with a short block,
//! because among random bytes it already holds an extreme.

#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel's body: each access goes through a pointer that knows its extent")]

use crate::element::compare::{HasLane, Index, Key, Lane, utmost, worst};
use crate::element::order::{Ends, Order};
use crate::isa::Task;
use crate::kernels::lanes::{IndexOf, LINE, LaneOf, Lines, Outputs, Source, prefetch};
use crate::kernels::sweep::{STRETCH_ELEMENTS, SWEEP_BYTES, Sweep, sweep_ends};
use crate::vector::extent::Readable;
use std::marker::PhantomData;

/// Finds the extrema of each of several rows.
pub struct Rows<'a, S: Source, X> {
    /// The rows.
    pub lines: Lines,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row, at least one.
    pub len: usize,
    /// Whether the last of equal elements wins.
    pub last: bool,
    /// Bytes from what is read to what is prefetched meanwhile; 0 to prefetch nothing.
    pub ahead: usize,
    /// For each end, the keys that the rows must reach, or nothing. For a row that falls short, place and value are unspecified.
    pub against: &'a [Readable],
    /// For each end, where the results go.
    pub to: &'a [Outputs],
    /// The ends of the order.
    pub ends: PhantomData<(S, X)>,
}

impl<S: Source<Element: Sweep>, X: Ends> Task for Rows<'_, S, X> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.len > 0 && self.to.len() == 1 + X::BOTH as usize, "rows of {} elements", self.len);
        self.lines.debug_assert_there::<S::Element>(self.rows, self.len);
        // Copies: for all the compiler knows, writing a result could change these lists.
        let other = X::BOTH as usize;
        let to = [self.to[0], self.to[other]];
        let against = [self.against[0], self.against[other]];
        for row in 0..self.rows {
            let [first, second] = find::<S, X>(self.lines.line(row as isize), self.len, self.last, self.ahead);
            self.finish::<X::First>(to[0], against[0], row, first);
            if X::BOTH {
                self.finish::<X::Second>(to[1], against[1], row, second);
            }
        }
    }
}

impl<S: Source<Element: Sweep>, X: Ends> Rows<'_, S, X> {
    /// Writes the wanted results of a row. It searches for the place only if the place is wanted, or if the key does not
    /// determine the element.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn finish<O: Order>(&self, to: Outputs, against: Readable, row: usize, candidate: Candidate<S::Element>) {
        let keys = to.keys_of::<Key<S::Element>>(self.rows);
        let values = to.values_of(self.rows, size_of::<S::Element>());
        let index = to.places_of(self.rows);
        let (Some(key), place) = candidate else { unreachable!("a row holds at least one element") };
        if !keys.is_null() {
            keys.element::<Key<S::Element>>(row).write(key);
        }
        if !against.is_null() && O::better(*against.element(row), key) {
            return index.element::<i64>(row).write_unaligned(0);
        }
        if !O::NAN_WINS && may_be_nan::<S::Element, O>(key) {
            return self.finish_worst::<O>(to, row);
        }
        // A value alone needs no search, unless several elements have the key: zeros of either sign, and NaNs.
        if index.is_null() {
            let (element, is_unique) = <S::Element as HasLane>::Ordered::from_lane::<O>(key);
            values.element::<<S::Element as HasLane>::Ordered>(row).write_unaligned(element);
            if is_unique {
                return;
            }
        }
        let source = self.lines.line::<S>(row as isize);
        // The search for the place interrupts the reading, so a walk over many rows prefetches the next row first.
        if row + 1 < self.rows && self.len * size_of::<S::Element>() >= NEXT_ROW_BYTES / 2 {
            let next = source.plain().address().wrapping_offset(self.lines.stride);
            if S::Element::TWO_KEYS {
                prefetch::<BOOL_STRETCH_ELEMENTS>(next)
            } else {
                prefetch::<NEXT_ROW_BYTES>(next)
            }
        }
        let at = seek_at::<S, O>(source, key, place, self.last);
        if !index.is_null() {
            index.element::<i64>(row).write_unaligned(at as i64);
        }
        if !values.is_null() {
            values.element::<S::Element>(row).write_unaligned(source.element::<O>(at));
        }
    }

    /// Writes the wanted results of a row in which no number is better than the worst: any number of it will do, and without one
    /// the place is -1.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn finish_worst<O: Order>(&self, to: Outputs, row: usize) {
        let keys = to.keys_of::<Key<S::Element>>(self.rows);
        let values = to.values_of(self.rows, size_of::<S::Element>());
        let index = to.places_of(self.rows);
        let source = self.lines.line::<S>(row as isize);
        let number = match self.last {
            false => seek_number::<S, O, false>(source, self.len),
            true => seek_number::<S, O, true>(source, self.len),
        };
        let at = number.unwrap_or(0);
        if !keys.is_null() {
            keys.element::<Key<S::Element>>(row).write(source.lane_or_nan::<O>(at).key::<O>());
        }
        if !values.is_null() {
            values.element::<S::Element>(row).write_unaligned(source.element::<O>(at));
        }
        if !index.is_null() {
            index.element::<i64>(row).write_unaligned(number.map_or(-1, |at| at as i64));
        }
    }
}

/// Whether the best key of a row where NaN loses may be that of a row without a number: a sweep takes NaN for the worst number.
#[inline(always)]
fn may_be_nan<E: HasLane, O: Order>(key: Key<E>) -> bool {
    key == worst::<O, E::Lane>().key::<O>() || E::is_losing_nan::<O>(E::Lane::from_key(key))
}

/// The first or the last place of a key.
///
/// # Safety
/// The block from `start` to `stop` may be read.
#[inline(always)]
unsafe fn seek_at<S: Source, O: Order>(
    source: S,
    key: Key<S::Element>,
    (start, stop): (usize, usize),
    last: bool,
) -> usize {
    let block = source.skip(start);
    start
        + match last {
            false => seek::<S, O, false>(block, stop - start, key),
            true => seek::<S, O, true>(block, stop - start, key),
        }
}

/// Rows of at least this many bytes are read in blocks twice as long: from the third-level cache on, each comparison between
/// blocks interrupts the reading, which costs more than a longer search at the end.
const TWICE_SWEEP_LEAST_BYTES: usize = 1 << 20;

/// Bytes of the next row that are prefetched before the search for the place: the hardware prefetches the rest by itself.
/// Measured over rows of 4 and 8 KiB: from the third-level cache, 2 KiB gain 10 to 20 %, and 8 KiB lose it again (Zen 5);
/// from memory, 2 KiB gain 10 to 15 % (Zen 3).
const NEXT_ROW_BYTES: usize = 2048;

/// Elements of the first block of a long row of bytes.
const FIRST_BLOCK_ELEMENTS: usize = 1024;

/// A key, and where the block that holds it begins and ends.
type Candidate<E> = (Option<Key<E>>, (usize, usize));

/// For each end, the key of the extremum of `len` elements, and the block that holds it.
///
/// # Safety
/// The `len` elements, at least one, may be read.
#[inline(always)]
unsafe fn find<S: Source<Element: Sweep>, X: Ends>(
    source: S,
    len: usize,
    last: bool,
    ahead: usize,
) -> [Candidate<S::Element>; 2] {
    let size = size_of::<S::Element>();
    // Two variables: the compiler would keep an array in memory.
    let mut first: Candidate<S::Element> = (None, (0, len));
    let mut second = first;
    if S::Element::TWO_KEYS {
        first = seek_utmost::<S, X::First>(source, len, last);
        if X::BOTH {
            second = seek_utmost::<S, X::Second>(source, len, last);
        }
        return [first, second];
    }
    let whole = if len * size < TWICE_SWEEP_LEAST_BYTES { SWEEP_BYTES } else { 2 * SWEEP_BYTES } / size;
    let mut block = if size == 1 && len >= SWEEP_BYTES { FIRST_BLOCK_ELEMENTS } else { whole };
    let mut left = 0..len;
    // Blocks begin at cache lines: vectors that straddle two lines take half as long again to read from the
    // second-level cache.
    let offset = source.plain().address().align_offset(LINE) / size;
    let line_after = |at: usize| at + (offset.wrapping_sub(at) & (LINE / size - 1));
    while !left.is_empty() {
        let (start, stop) = match (last, left.end.saturating_sub(block)) {
            (false, _) => (left.start, len.min(line_after(left.start + block))),
            (true, least) if least <= offset => (0, left.end),
            (true, least) => (line_after(least), left.end),
        };
        left = if last { 0..start } else { stop..len };
        block = whole;
        let champions = [first.0, second.0];
        let [one, other] = match S::MASKED {
            true => sweep_ends::<S, X>(source.skip(start), stop - start, ahead, champions),
            false => S::Element::sweep::<X>(source.skip(start).plain(), stop - start, ahead, champions),
        };
        if one.is_some() {
            first = (one, (start, stop));
        }
        if other.is_some() {
            second = (other, (start, stop));
        }
        // No key beats the utmost one, and NaN has it at both ends.
        if first.0 == Some(utmost::<X::First, _>()) && (!X::BOTH || second.0 == Some(utmost::<X::Second, _>())) {
            break;
        }
    }
    [first, second]
}

/// Bools that are searched before each check for a hit.
const BOOL_STRETCH_ELEMENTS: usize = 128;

/// The key that no other beats, and the stretch that holds the first (or last) bool with it. If no bool has this key, the other
/// key and the whole row.
///
/// # Safety
/// As for [`find`].
#[inline(always)]
unsafe fn seek_utmost<S: Source<Element: Sweep>, O: Order>(source: S, len: usize, last: bool) -> Candidate<S::Element> {
    let is_utmost = |at| source.lane::<O>(at).key::<O>() == utmost::<O, _>();
    match block_with::<IndexOf<S>, BOOL_STRETCH_ELEMENTS>(len, last, is_utmost) {
        Some(stretch) => (Some(utmost::<O, _>()), stretch),
        None => (Some(worst::<O, _>()), (0, len)),
    }
}

/// The first (or last) block of `BLOCK` elements, or of all if there are fewer, that has a hit: where it begins and ends.
#[inline(always)]
fn block_with<I: Index, const BLOCK: usize>(
    len: usize,
    last: bool,
    hit: impl Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let block = BLOCK.min(len);
    for done in (0..len).step_by(BLOCK) {
        // The last block overlaps one without a hit, which does no harm.
        let far = done.min(len - block);
        let start = if last { len - block - far } else { far };
        let mut any = I::ZERO;
        for step in 0..block {
            any = any.or(hit(start + step));
        }
        if any.any() {
            return Some((start, start + block));
        }
    }
    None
}

/// The first (or last) place of a key that the block held when it was swept. If another thread has written since, the
/// result may be any place of the block.
///
/// # Safety
/// As for [`find`].
#[inline(always)]
unsafe fn seek<S: Source, O: Order, const LAST: bool>(source: S, len: usize, key: Key<S::Element>) -> usize {
    let lane = |at| source.lane::<O>(at);
    if len < STRETCH_ELEMENTS {
        let mut places = (0..len).filter(|&at| lane(at).key::<O>() == key);
        return if LAST { places.next_back() } else { places.next() }.unwrap_or(0);
    }
    // Comparing values is cheaper than comparing keys, but does not find NaN.
    let value = LaneOf::<S>::from_key(key);
    let at = if key == utmost::<O, _>() {
        stretch_with::<IndexOf<S>, LAST>(len, |at| lane(at).key::<O>() == key)
    } else {
        stretch_with::<IndexOf<S>, LAST>(len, |at| lane(at) == value)
    };
    // Within the stretch, a minimum finds the place: a loop that stops at the hit would end in an unpredictable branch.
    let mut nearest = IndexOf::<S>::MAX;
    for step in 0..STRETCH_ELEMENTS {
        let distance = if LAST { STRETCH_ELEMENTS - 1 - step } else { step };
        let hit = lane(at + step).key::<O>() == key;
        nearest = nearest.min(if hit { Index::new(distance) } else { Index::MAX });
    }
    let distance = nearest.widen() as usize;
    if distance >= STRETCH_ELEMENTS {
        // If the host treats denormal floats as zeros, values can be equal although their keys differ. The key may also
        // be gone.
        let mut places = (at..at + STRETCH_ELEMENTS).filter(|&at| lane(at) == value);
        return if LAST { places.next_back() } else { places.next() }.unwrap_or(at);
    }
    at + if LAST { STRETCH_ELEMENTS - 1 - distance } else { distance }
}

/// The first (or last) place of an element that is not NaN; None if all are NaN that loses.
///
/// # Safety
/// As for [`find`].
#[inline(always)]
unsafe fn seek_number<S: Source, O: Order, const LAST: bool>(source: S, len: usize) -> Option<usize> {
    let is_number = |at| !S::Element::is_losing_nan::<O>(source.lane_or_nan::<O>(at));
    // Most often the row has no number at all: then long blocks are faster than stretches.
    let (start, stop) = block_with::<IndexOf<S>, NUMBER_BLOCK_ELEMENTS>(len, LAST, is_number)?;
    let mut places = (start..stop).filter(|&at| is_number(at));
    if LAST { places.next_back() } else { places.next() }
}

/// Elements that are searched for a number before each check: with AVX-512, a row without one is then read as fast as it is swept.
const NUMBER_BLOCK_ELEMENTS: usize = 1024;

/// The start of the first (or last) stretch of [`STRETCH_ELEMENTS`] places with a hit. If no other stretch has a hit, it is the start
/// of the stretch at the far end, which may have none.
#[inline(always)]
fn stretch_with<I: Index, const LAST: bool>(len: usize, hit: impl Fn(usize) -> bool) -> usize {
    let (mut at, far) = if LAST { (len - STRETCH_ELEMENTS, 0) } else { (0, len - STRETCH_ELEMENTS) };
    while at != far {
        // The flags are as wide as the lanes: the compiler would pack bools first.
        let mut any = I::ZERO;
        for step in 0..STRETCH_ELEMENTS {
            any = any.or(hit(at + step));
        }
        if any.any() {
            return at;
        }
        // A stretch at the edge overlaps one without a hit, which does no harm.
        at = if LAST { at.saturating_sub(STRETCH_ELEMENTS) } else { (at + STRETCH_ELEMENTS).min(far) };
    }
    far
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::order::{Largest, Smallest};
    use crate::kernels::lanes::Plain;

    /// Searches for keys that no element has, as if another thread had written between the sweep and the search.
    #[test]
    fn a_key_that_is_gone_is_sought_no_further_than_its_block() {
        fn seek_in_vain<E: HasLane, O: Order>(element: E, absent: Key<E>) {
            for key in [absent, utmost::<O, _>(), worst::<O, _>()] {
                for len in [1, 2, 63, 64, 65, 100, 127, 128, 129, 300] {
                    let block = vec![element; len];
                    for last in [false, true] {
                        // SAFETY: the block has `len` elements.
                        let place = unsafe {
                            let data = Readable::bytes(block.as_ptr().cast(), len * size_of::<E>());
                            seek_at::<_, O>(Plain::<E>::new(data, Readable::none()), key, (0, len), last)
                        };
                        assert!(place < len);
                    }
                }
            }
        }
        seek_in_vain::<u8, Largest>(1, 2);
        seek_in_vain::<i64, Smallest>(7, 6);
        seek_in_vain::<f32, Largest>(1.0, 2.0f32.key::<Largest>());
        seek_in_vain::<f64, Smallest>(1.0, (-0.0f64).key::<Smallest>());
    }
}
