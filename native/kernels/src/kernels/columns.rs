//! Columns: the reduced axis walks through memory while neighbouring columns lie side by side.
//!
//! A tile of columns keeps its best values and the narrow row numbers where they stood in the first-level
//! cache; several rows are accumulated in one pass, so that the tile is loaded and stored once for all of them.

use crate::element::compare::{Compared, Index, Key, Lane, worst};
use crate::element::order::{Ends, Order};
use crate::isa::Task;
use crate::kernels::descent::{Accumulators, Tile, few, pass};
use crate::kernels::outputs::Outputs;
use crate::kernels::source::{Lines, Source};
use std::marker::PhantomData;

/// Finds the extrema of each column of one tile.
pub struct Columns<'a, S: Source, X> {
    /// The rows.
    pub lines: Lines,
    /// Number of rows, at least one, and where places are wanted at most [`Index::ROWS`].
    pub rows: usize,
    /// Number of columns, at most [`TILE`] bytes of elements.
    pub columns: usize,
    /// Whether the last of equals wins.
    pub last: bool,
    /// For each end what receives the results.
    pub to: &'a [Outputs],
    /// The ends of the order.
    pub ends: PhantomData<(S, X)>,
}

/// The keys that a source comes to.
type KeyOf<S> = Key<<S as Source>::Element>;

impl<S: Source, X: Ends> Task for Columns<'_, S, X> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(!self.lines.data.is_null() && self.to.len() == 1 + X::BOTH as usize);
        // Where lanes tell the elements, those alone need no places.
        let places = !S::Element::TOLD || self.to.iter().any(|to| !to.index.is_null());
        let most = <<S::Element as Compared>::Lane as Lane>::Index::ROWS;
        debug_assert!(self.rows > 0 && (!places || self.rows <= most));
        // SAFETY: the caller's.
        unsafe {
            let done = match places {
                true => self.accumulate::<S::Element, true>(),
                false => self.accumulate::<S::Element, false>(),
            };
            if !done {
                // NaN among the floats: once more with keys, which know its place.
                self.accumulate::<<S::Element as Compared>::Ordered, true>();
            }
        }
    }
}

impl<S: Source, X: Ends> Columns<'_, S, X> {
    /// Accumulates all rows with the lanes of `F`, with their places where `PLACES`; false where a lane was NaN, and the
    /// results are then worthless.
    ///
    /// # Safety
    /// As for [`Task::run`]; `F` is laid out like the elements.
    #[inline(always)]
    unsafe fn accumulate<F: Compared<Lane: Lane<Key = KeyOf<S>>>, const PLACES: bool>(&self) -> bool {
        let (mut best, mut place) = (Tile::new(), Tile::new());
        let mut first = Accumulators::<F> { best: best.slice(self.columns), place: place.slice(self.columns) };
        let (mut best, mut place) = (Tile::new(), Tile::new());
        let columns = if X::BOTH { self.columns } else { 0 };
        let mut second = Accumulators::<F> { best: best.slice(columns), place: place.slice(columns) };
        // The walk starts at the end whose ties win, so that "strictly better" is the only comparison.
        let mut lines = match self.last {
            false => self.lines,
            true => self.lines.from(self.rows as isize - 1).every(-1),
        };
        let compact = X::BOTH || S::MASKED;
        let Outputs { keys, values, index, .. } = self.to[0];
        // (Not for 16 bits: their keys would be worked out at the width of the results.)
        if PLACES && !compact && keys.is_null() && values.is_null() && (size_of::<F>() != 2 || self.rows == 2) {
            // SAFETY: as many rows are read as there are.
            let nan = unsafe {
                match self.rows {
                    2 => Some(few::<S::As<F>, X::First, 2>(lines, self.columns, self.last, index)),
                    3 => Some(few::<S::As<F>, X::First, 3>(lines, self.columns, self.last, index)),
                    4 => Some(few::<S::As<F>, X::First, 4>(lines, self.columns, self.last, index)),
                    5 => Some(few::<S::As<F>, X::First, 5>(lines, self.columns, self.last, index)),
                    _ => None,
                }
            };
            if let Some(nan) = nan {
                return !nan;
            }
        }
        let mut nan = false;
        // SAFETY: `pass` reads as many rows as its constant says, and so many are there.
        unsafe {
            if PLACES && !compact {
                let (one, other) = (&mut first, &mut second);
                let mut row = 0;
                while row < self.rows {
                    let taken = match (self.rows - row, row == 0) {
                        (8.., true) => pass::<S::As<F>, X, 8, true, PLACES>(lines, row, one, other, &mut nan),
                        (4.., true) => pass::<S::As<F>, X, 4, true, PLACES>(lines, row, one, other, &mut nan),
                        (2.., true) => pass::<S::As<F>, X, 2, true, PLACES>(lines, row, one, other, &mut nan),
                        (_, true) => pass::<S::As<F>, X, 1, true, PLACES>(lines, row, one, other, &mut nan),
                        (8.., false) => pass::<S::As<F>, X, 8, false, PLACES>(lines, row, one, other, &mut nan),
                        (4.., false) => pass::<S::As<F>, X, 4, false, PLACES>(lines, row, one, other, &mut nan),
                        (2.., false) => pass::<S::As<F>, X, 2, false, PLACES>(lines, row, one, other, &mut nan),
                        (_, false) => pass::<S::As<F>, X, 1, false, PLACES>(lines, row, one, other, &mut nan),
                    };
                    row += taken;
                    lines = lines.from(taken as isize);
                }
            } else {
                nan = self.descend_all::<F, PLACES>(lines, &mut first, &mut second);
            }
        }
        if nan {
            return false;
        }
        // SAFETY: the caller's; the passes have filled the tiles.
        unsafe {
            self.write::<F, X::First, PLACES>(&first, self.to[0]);
            if X::BOTH {
                self.write::<F, X::Second, PLACES>(&second, self.to[1]);
            }
        }
        true
    }

    /// Accumulates all rows with fewer copies of the loop than for places at one end, which are asked for most; true where a
    /// lane was NaN. The tiles begin with the worst there is, and the last pass overlaps the one before: what is read again
    /// comes to the same.
    ///
    /// # Safety
    /// As for [`accumulate`](Self::accumulate), along these lines.
    #[inline(always)]
    unsafe fn descend_all<F: Compared, const PLACES: bool>(
        &self,
        lines: Lines,
        first: &mut Accumulators<F>,
        second: &mut Accumulators<F>,
    ) -> bool {
        first.fill::<PLACES>(worst::<X::First, _>());
        second.fill::<PLACES>(worst::<X::Second, _>());
        let mut nan = false;
        let height = if self.rows >= 8 { 8 } else { 2 };
        // (A single row is read twice.)
        let lines = if self.rows == 1 { lines.every(0) } else { lines };
        for row in (0..self.rows).step_by(height) {
            let row = row.min(self.rows.saturating_sub(height));
            let down = lines.from(row as isize);
            // SAFETY: so many rows are there.
            unsafe {
                match height {
                    8 => pass::<S::As<F>, X, 8, false, PLACES>(down, row, first, second, &mut nan),
                    _ => pass::<S::As<F>, X, 2, false, PLACES>(down, row, first, second, &mut nan),
                };
            }
        }
        nan
    }

    /// Writes what the columns of a tile have come to.
    ///
    /// # Safety
    /// As for [`Task::run`]; the tile is filled, with places where `PLACES`.
    #[inline(always)]
    unsafe fn write<F: Compared<Lane: Lane<Key = KeyOf<S>>>, O: Order, const PLACES: bool>(
        &self,
        tile: &Accumulators<F>,
        to: Outputs,
    ) {
        let Accumulators { best, place } = tile;
        let Outputs { keys, values, index, .. } = to;
        let last_row = self.rows as i64 - 1;
        let row = |place: i64| if self.last { last_row - place } else { place };
        if PLACES && !index.is_null() {
            for column in 0..self.columns {
                // SAFETY: the results have room for every column, and the passes have filled the tile.
                unsafe { index.add(column).write_unaligned(row(place[column].assume_init().widen())) };
            }
        }
        if !keys.is_null() {
            let keys = keys.cast::<KeyOf<S>>();
            for column in 0..self.columns {
                // SAFETY: as above.
                unsafe { keys.add(column).write(best[column].assume_init().key::<O>()) };
            }
        }
        if !values.is_null() {
            let mut open = <F::Lane as Lane>::Index::ZERO;
            for column in 0..self.columns {
                // SAFETY: as above.
                unsafe {
                    let (element, told) = F::from_lane(best[column].assume_init());
                    values.cast::<F>().add(column).write_unaligned(element);
                    open = open.or(!told);
                }
            }
            if !F::TOLD && open.any() {
                for column in 0..self.columns {
                    // SAFETY: as above; only places tell elements that lanes do not, and they lie in the columns.
                    unsafe {
                        if !F::from_lane(best[column].assume_init()).1 {
                            let row = row(place[column].assume_init().widen()) as isize;
                            let element = self.lines.line::<S>(row).element::<O>(column);
                            values.cast::<S::Element>().add(column).write_unaligned(element);
                        }
                    }
                }
            }
        }
    }
}
