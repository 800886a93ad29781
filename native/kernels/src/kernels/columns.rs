//! Columns: the reduced axis walks through memory while neighbouring columns lie side by side.
//!
//! ```text
//! a tile of columns keeps its best lanes, the worst there is at first, and the numbers of their rows
//! for each pass of 8, 4 or 2 rows, from the end whose ties win; the last one overlaps the one before:
//!     for each column: load its best, go down the rows of the pass, store what is strictly better, note NaN
//! if a lane was NaN: once more with keys, which place NaN in the order
//! write rows, keys or elements of the tile
//! ```
//!
//! The tile stays in the first-level cache, is loaded and stored once for several rows, and its row numbers are as wide as the lanes:
//! the compiler makes vectors of all of it. Two to five rows, where places alone are wanted, go without a tile: transposed or as few
//! channels they spend as long on it as on comparing. Left out: passes of other heights, and a first pass without a tile before it.

use crate::element::compare::{Compared, Index, Key, Lane, NanState, worst};
use crate::element::order::{Ends, Order};
use crate::isa::Task;
use crate::kernels::cache_line::Aligned;
use crate::kernels::outputs::Outputs;
use crate::kernels::source::{Lines, Source};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Bytes of elements that a tile holds side by side.
pub const TILE: usize = 8192;

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

/// What a source comes to.
type KeyOf<S> = Key<<S as Source>::Element>;
type LaneOf<S> = <<S as Source>::Element as Compared>::Lane;

/// The best lane of a column, and its row.
type Champion<F> = (<F as Compared>::Lane, <<F as Compared>::Lane as Lane>::Index);

impl<S: Source, X: Ends> Task for Columns<'_, S, X> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(!self.lines.data.is_null() && self.to.len() == 1 + X::BOTH as usize);
        // Where lanes tell the elements, those alone need no places.
        let places = !S::Element::TOLD || self.to.iter().any(|to| !to.index.is_null());
        let most = <LaneOf<S> as Lane>::Index::ROWS;
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
        let Self { lines, rows, columns, last, .. } = *self;
        let lines = if last { lines.from(rows as isize - 1).every(-1) } else { lines };
        let Outputs { keys, values, index, .. } = self.to[0];
        // SAFETY: as many rows are read as there are, or one of them twice.
        unsafe {
            // (Not for 16 bits: their keys would be worked out at the width of the results.)
            let bare = PLACES && !X::BOTH && !S::MASKED && keys.is_null() && values.is_null();
            match rows {
                2 if bare => return !few::<S::As<F>, X::First, 2>(lines, columns, last, index),
                3 if bare && size_of::<F>() != 2 => return !few::<S::As<F>, X::First, 3>(lines, columns, last, index),
                4 if bare && size_of::<F>() != 2 => return !few::<S::As<F>, X::First, 4>(lines, columns, last, index),
                5 if bare && size_of::<F>() != 2 => return !few::<S::As<F>, X::First, 5>(lines, columns, last, index),
                _ => {}
            }
            let (mut best, mut place) = (Tile::new(), Tile::new());
            let mut first = Accumulators::<F>::new::<X::First>(&mut best, &mut place, columns);
            let (mut best, mut place) = (Tile::new(), Tile::new());
            let mut second =
                Accumulators::<F>::new::<X::Second>(&mut best, &mut place, if X::BOTH { columns } else { 0 });
            let height = [8, 4].into_iter().find(|&height| rows >= height).unwrap_or(2);
            let lines = if rows == 1 { lines.every(0) } else { lines };
            let mut nan = false;
            for row in (0..rows).step_by(height) {
                let row = row.min(rows.saturating_sub(height));
                let down = lines.from(row as isize);
                nan |= match height {
                    8 => pass::<S::As<F>, X, 8, PLACES>(down, row, &mut first, &mut second),
                    4 => pass::<S::As<F>, X, 4, PLACES>(down, row, &mut first, &mut second),
                    _ => pass::<S::As<F>, X, 2, PLACES>(down, row, &mut first, &mut second),
                };
            }
            if !nan {
                self.write::<F, X::First, PLACES>(&first, self.to[0]);
                if X::BOTH {
                    self.write::<F, X::Second, PLACES>(&second, self.to[1]);
                }
            }
            !nan
        }
    }

    /// Writes what the columns of a tile have come to.
    ///
    /// # Safety
    /// As for [`Task::run`]; the tile has places where `PLACES`.
    #[inline(always)]
    unsafe fn write<F: Compared<Lane: Lane<Key = KeyOf<S>>>, O: Order, const PLACES: bool>(
        &self,
        tile: &Accumulators<F>,
        to: Outputs,
    ) {
        let Outputs { keys, values, index, .. } = to;
        let last_row = self.rows as i64 - 1;
        let row = |column: usize| match tile.place[column].widen() {
            place if self.last => last_row - place,
            place => place,
        };
        // SAFETY: the results have room for every column. Only places tell elements that lanes do not, and they lie in the columns.
        unsafe {
            if PLACES && !index.is_null() {
                for column in 0..self.columns {
                    index.add(column).write_unaligned(row(column));
                }
            }
            if !keys.is_null() {
                for column in 0..self.columns {
                    keys.cast::<KeyOf<S>>().add(column).write(tile.best[column].key::<O>());
                }
            }
            if !values.is_null() {
                let mut open = <F::Lane as Lane>::Index::ZERO;
                for column in 0..self.columns {
                    let (element, told) = F::from_lane(tile.best[column]);
                    values.cast::<F>().add(column).write_unaligned(element);
                    open = open.or(!told);
                }
                for column in 0..if !F::TOLD && open.any() { self.columns } else { 0 } {
                    if !F::from_lane(tile.best[column]).1 {
                        let element = self.lines.line::<S>(row(column) as isize).element::<O>(column);
                        values.cast::<S::Element>().add(column).write_unaligned(element);
                    }
                }
            }
        }
    }
}

/// What a tile of columns keeps for one end of the order.
struct Accumulators<'a, F: Compared> {
    /// The best lanes.
    best: &'a mut [F::Lane],
    /// The rows where they stood, from where the walk began.
    place: &'a mut [<F::Lane as Lane>::Index],
}

impl<'a, F: Compared> Accumulators<'a, F> {
    /// The worst lane there is, in the first row.
    #[inline(always)]
    fn new<O: Order>(best: &'a mut Tile, place: &'a mut Tile, columns: usize) -> Self {
        Self { best: best.fill(columns, worst::<O, _>()), place: place.fill(columns, Index::ZERO) }
    }
}

/// Memory in the first-level cache for one value per column.
struct Tile(Aligned<[MaybeUninit<u64>; TILE / 8]>);

impl Tile {
    #[inline(always)]
    fn new() -> Self {
        Self(Aligned([const { MaybeUninit::uninit() }; TILE / 8]))
    }

    #[inline(always)]
    fn fill<T: Copy>(&mut self, len: usize, value: T) -> &mut [T] {
        assert!(len * size_of::<T>() <= TILE && align_of::<T>() <= 8);
        // SAFETY: the memory suffices, is aligned, and filled before it is read.
        unsafe {
            let tile = std::slice::from_raw_parts_mut(self.0.0.as_mut_ptr().cast::<MaybeUninit<T>>(), len);
            tile.fill(MaybeUninit::new(value));
            std::slice::from_raw_parts_mut(tile.as_mut_ptr().cast(), len)
        }
    }
}

/// Accumulates `ROWS` rows in the tile; whether a lane was NaN.
///
/// # Safety
/// There are `ROWS` rows of as many columns as the tiles have.
#[inline(always)]
unsafe fn pass<S: Source, X: Ends, const ROWS: usize, const PLACES: bool>(
    lines: Lines,
    row: usize,
    first: &mut Accumulators<S::Element>,
    second: &mut Accumulators<S::Element>,
) -> bool {
    let columns = first.best.len();
    // As long as one another: what the compiler has to know to leave out its checks.
    let (best, place) = (&mut *first.best, &mut first.place[..columns]);
    let others = if X::BOTH { columns } else { 0 };
    let (other_best, other_place) = (&mut second.best[..others], &mut second.place[..others]);
    let mut flags = <LaneOf<S> as Lane>::Index::ZERO;
    for column in 0..columns {
        let so_far = |best: &[LaneOf<S>], place: &[_]| (best[column], if PLACES { place[column] } else { Index::ZERO });
        // SAFETY: the caller's.
        unsafe {
            let (champion, any) = descend::<S, X::First, ROWS>(lines, row, column, Some(so_far(best, place)));
            flags = flags.or(any);
            if X::BOTH {
                let other = Some(so_far(other_best, other_place));
                let (other, _) = descend::<S, X::Second, ROWS>(lines, row, column, other);
                other_best[column] = other.0;
                if PLACES {
                    other_place[column] = other.1;
                }
            }
            best[column] = champion.0;
            if PLACES {
                place[column] = champion.1;
            }
        }
    }
    flags.any()
}

/// Compares all of `ROWS` rows and writes the row numbers straight away; whether a lane was NaN.
///
/// # Safety
/// There are `ROWS` rows of so many columns, and room for as many results.
#[inline(always)]
pub unsafe fn few<S: Source, O: Order, const ROWS: usize>(
    lines: Lines,
    columns: usize,
    last: bool,
    index: *mut i64,
) -> bool {
    let mut flags = <LaneOf<S> as Lane>::Index::ZERO;
    for column in 0..columns {
        // SAFETY: the caller vouches for the rows, and for room for as many results as there are columns.
        unsafe {
            let ((_, at), any) = descend::<S, O, ROWS>(lines, 0, column, None);
            flags = flags.or(any);
            let at = if last { <LaneOf<S> as Lane>::Index::new(ROWS - 1).less(at) } else { at };
            index.add(column).write_unaligned(at.widen());
        }
    }
    flags.any()
}

/// Goes down `ROWS` rows of one column: the best lane, its row, and whether a lane was NaN.
///
/// # Safety
/// There are `ROWS` rows that have the column.
#[inline(always)]
unsafe fn descend<S: Source, O: Order, const ROWS: usize>(
    lines: Lines,
    row: usize,
    column: usize,
    so_far: Option<Champion<S::Element>>,
) -> (Champion<S::Element>, bool) {
    let (mut champion, mut at) = so_far.unwrap_or((LaneOf::<S>::LOWEST, Index::ZERO));
    let mut state = <LaneOf<S> as Lane>::NanState::new::<O>();
    for step in 0..ROWS {
        let line = lines.line::<S>(step as isize);
        // SAFETY: the caller vouches for `ROWS` rows of as many columns as the tile has.
        let lane = unsafe { line.lane::<O>(column) };
        let better = (so_far.is_none() && step == 0) || O::better(lane, champion);
        champion = if better { lane } else { champion };
        at = if better { <LaneOf<S> as Lane>::Index::new(row + step) } else { at };
        state = state.observe::<O>(lane);
    }
    ((champion, at), state.saw_nan::<O>(champion))
}
