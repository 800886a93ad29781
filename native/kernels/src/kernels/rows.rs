//! Rows that lie contiguous in memory: the extremum of blocks, then its place in the best block.
//!
//! A block is swept for its extreme value alone, which needs no index vectors; only the block that holds the
//! answer is read a second time, from cache. The scan starts at the end whose ties win, so that "strictly
//! better" is the only comparison.

use crate::element::compare::{Compared, Key, Lane, utmost, worst};
use crate::element::order::{Ends, Order};
use crate::isa::Task;
use crate::kernels::cache_line::LINE;
use crate::kernels::outputs::Outputs;
use crate::kernels::prefetch::prefetch;
use crate::kernels::seek::{LOOK, seek, seek_utmost};
use crate::kernels::source::{Lines, Source};
use crate::kernels::sweep::{BLOCK, Sweep, sweep_ends};
use std::marker::PhantomData;

/// Finds the extrema of each of several rows.
pub struct Rows<'a, S: Source, X> {
    /// The rows.
    pub lines: Lines,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row, at least one.
    pub len: usize,
    /// Whether the last of equals wins.
    pub last: bool,
    /// For each end keys that the rows have to reach, or null: the place in a row that does not is left open, and its value.
    pub against: &'a [*const u8],
    /// For each end what receives the results.
    pub to: &'a [Outputs],
    /// The ends of the order.
    pub ends: PhantomData<(S, X)>,
}

impl<S: Source<Element: Sweep>, X: Ends> Task for Rows<'_, S, X> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.len > 0 && !self.lines.data.is_null() && self.to.len() == 1 + X::BOTH as usize);
        let size = size_of::<S::Element>();
        // Copies, since what is written might be the lists themselves for all that the compiler knows.
        let other = X::BOTH as usize;
        let (to, against) = ([self.to[0], self.to[other]], [self.against[0], self.against[other]]);
        for row in 0..self.rows {
            // SAFETY: the caller vouches for `rows` rows of `len` elements and as many results.
            unsafe {
                let source = self.lines.line::<S>(row as isize);
                // To look for the place is a pause in reading; a walk over many rows asks for the next one before.
                let next = source.data().cast::<u8>().wrapping_offset(self.lines.stride);
                let ahead = row + 1 < self.rows && self.len * size >= AHEAD / 2;
                let found = find::<S, X>(source, self.len, self.last);
                for end in 0..1 + X::BOTH as usize {
                    let (Some(key), place) = found[end] else { unreachable!("a row holds at least one element") };
                    let sought = match end {
                        0 => Self::note::<X::First>(to[0], against[0].cast(), row, key),
                        _ => Self::note::<X::Second>(to[1], against[1].cast(), row, key),
                    };
                    if sought {
                        if ahead && S::Element::HEAD.two_keys {
                            prefetch::<LOOK>(next);
                        } else if ahead {
                            prefetch::<AHEAD>(next);
                        }
                        self.look(end, to[end], row, source, key, place);
                    }
                }
            }
        }
    }
}

impl<S: Source<Element: Sweep>, X: Ends> Rows<'_, S, X> {
    /// Writes what the key says of a row's extremum; whether its place has still to be looked for, because somebody asks for
    /// it, or because the key does not say which element it is.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn note<O: Order>(to: Outputs, against: *const Key<S::Element>, row: usize, key: Key<S::Element>) -> bool {
        let Outputs { keys, values, index, .. } = to;
        // SAFETY: the caller's.
        unsafe {
            if !keys.is_null() {
                keys.cast::<Key<S::Element>>().add(row).write(key);
            }
            if !against.is_null() && O::better(*against.add(row), key) {
                index.add(row).write_unaligned(0);
                return false;
            }
            if index.is_null() {
                let (element, told) = <S::Element as Compared>::Ordered::from_lane(key);
                values.cast::<<S::Element as Compared>::Ordered>().add(row).write_unaligned(element);
                return !told;
            }
        }
        true
    }

    /// Looks for the place of a row's extremum.
    ///
    /// # Safety
    /// As for [`Task::run`]; the block at `place` holds the key.
    #[inline(always)]
    unsafe fn look(&self, end: usize, to: Outputs, row: usize, source: S, key: Key<S::Element>, place: (usize, usize)) {
        let Outputs { values, index, .. } = to;
        let last = self.last;
        // SAFETY: the caller's.
        unsafe {
            let at = if end == 0 || X::Second::NAN_WINS {
                // One copy of the search for both ends, to which lanes are the same; but for NaN, also keys.
                let nan = end == 1
                    && size_of::<<<S::Element as Compared>::Lane as Lane>::NanState>() > 0
                    && key == utmost::<X::Second, _>();
                seek_at::<S, X::First>(source, if nan { utmost::<X::First, _>() } else { key }, place, last)
            } else {
                seek_at::<S, X::Second>(source, key, place, last)
            };
            if !index.is_null() {
                index.add(row).write_unaligned(at as i64);
            }
            if !values.is_null() {
                let element = if end == 0 { source.element::<X::First>(at) } else { source.element::<X::Second>(at) };
                values.cast::<S::Element>().add(row).write_unaligned(element);
            }
        }
    }
}

/// The first or the last place of a key.
///
/// # Safety
/// The row has the places, and they hold the key.
#[inline(always)]
unsafe fn seek_at<S: Source, O: Order>(
    source: S,
    key: Key<S::Element>,
    (start, stop): (usize, usize),
    last: bool,
) -> usize {
    let block = source.skip(start);
    // SAFETY: the caller's.
    let at = unsafe {
        match last {
            false => seek::<S, O, false>(block, stop - start, key),
            true => seek::<S, O, true>(block, stop - start, key),
        }
    };
    start + at
}

/// Bytes from which a row is read in blocks twice as long: from the third-level cache on, each comparison
/// in between is a pause in reading that costs more than a longer search at the end.
const LONG: usize = 1 << 20;

/// Bytes of the next row that are asked for before the place is looked for: the hardware goes on by itself from
/// there. Measured over rows of 4 and 8 KiB: from the third-level cache 2 KiB gain 10 to 20 %, 8 KiB lose it again (Zen 5); from
/// memory 2 KiB gain 10 to 15 % (Zen 3).
const AHEAD: usize = 2048;

/// A key, and where the block that holds it begins and ends.
type Found<E> = (Option<Key<E>>, (usize, usize));

/// For each end the key of the extremum of `len` elements, and where it lies.
///
/// # Safety
/// There are `len >= 1` elements.
#[inline(always)]
unsafe fn find<S: Source<Element: Sweep>, X: Ends>(source: S, len: usize, last: bool) -> [Found<S::Element>; 2] {
    let (data, size) = (source.data(), size_of::<S::Element>());
    // (In an array they would be in memory.)
    let mut first: Found<S::Element> = (None, (0, len));
    let mut second = first;
    let is_utmost = |first: &Found<S::Element>, second: &Found<S::Element>| {
        first.0 == Some(utmost::<X::First, _>()) && (!X::BOTH || second.0 == Some(utmost::<X::Second, _>()))
    };
    let mut left = 0..len;
    // SAFETY: the elements are there.
    unsafe {
        let head = S::Element::HEAD;
        if len >= head.least && (head.two_keys || !X::BOTH && !S::MASKED) {
            let head = head.len.min(len);
            let start = if last { len - head } else { 0 };
            first = hoped::<S, X::First>(source, start, head, last);
            if X::BOTH {
                second = hoped::<S, X::Second>(source, start, head, last);
            }
            if is_utmost(&first, &second) {
                return [first, second];
            }
            if S::Element::HEAD.two_keys {
                left = if last { 0..start } else { head..len };
            } else {
                first.0 = None;
            }
        }
    }
    let block = if len * size < LONG { BLOCK } else { 2 * BLOCK } / size;
    // Blocks begin where lines of the cache do: vectors that straddle two lines take half as long again to read from
    // the second-level cache.
    let line = LINE / size;
    let offset = data.cast::<u8>().align_offset(LINE) / size;
    while !left.is_empty() {
        let (start, stop) = if last {
            let least = left.end.saturating_sub(block);
            let up = offset.wrapping_sub(least) & (line - 1);
            (if least <= offset { 0 } else { least + up }, left.end)
        } else {
            let most = left.start + block;
            let up = offset.wrapping_sub(most) & (line - 1);
            (left.start, len.min(most + up))
        };
        left = if last { 0..start } else { stop..len };
        // Nothing is beyond NaN, which is at both ends.
        // SAFETY: `start..stop` lies in `0..len`.
        unsafe {
            if X::BOTH || S::MASKED {
                let [one, other] = sweep_ends::<S, X>(source.skip(start), stop - start, [first.0, second.0]);
                if one.is_some() {
                    first = (one, (start, stop));
                }
                if other.is_some() {
                    second = (other, (start, stop));
                }
                if is_utmost(&first, &second) {
                    break;
                }
            } else if let Some(key) = S::Element::sweep::<X::First>(data.add(start), stop - start, first.0) {
                first = (Some(key), (start, stop));
                if key == utmost::<X::First, _>() {
                    break;
                }
            }
        }
    }
    [first, second]
}

/// The key that no other beats, and where it lies in a part of a row; or else the one that loses to all, anywhere in it.
///
/// # Safety
/// There are `len >= 1` elements from `start` on.
#[inline(always)]
unsafe fn hoped<S: Source<Element: Sweep>, O: Order>(
    source: S,
    start: usize,
    len: usize,
    last: bool,
) -> Found<S::Element> {
    // SAFETY: the caller's.
    match unsafe { seek_utmost::<S, O>(source.skip(start), len, last) } {
        Some((from, to)) => (Some(utmost::<O, _>()), (start + from, start + to)),
        None => (Some(worst::<O, _>()), (start, start + len)),
    }
}
