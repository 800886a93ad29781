//! Down the rows of one tile of columns: what is kept of each column, and how some rows are accumulated in it.

use crate::element::compare::{Compared, Index, Lane, NanState};
use crate::element::order::{Ends, Order};
use crate::kernels::cache_line::Aligned;
use crate::kernels::source::{Lines, Source};
use std::mem::MaybeUninit;

/// Bytes of elements that a tile holds side by side.
pub const TILE: usize = 8192;

/// What a tile of columns keeps for one end of the order.
pub struct Accumulators<'a, F: Compared> {
    /// The best lanes.
    pub best: &'a mut [MaybeUninit<F::Lane>],
    /// The rows where they stood, from where the walk began; not filled where nobody asks for places.
    pub place: &'a mut [MaybeUninit<<F::Lane as Lane>::Index>],
}

impl<F: Compared> Accumulators<'_, F> {
    /// What is so far in a column.
    ///
    /// # Safety
    /// It is filled, and the places too where `PLACES`.
    #[inline(always)]
    unsafe fn get<const PLACES: bool>(&self, column: usize) -> Champion<F> {
        // SAFETY: the caller's.
        unsafe {
            let place = if PLACES { self.place[column].assume_init() } else { Index::ZERO };
            (self.best[column].assume_init(), place)
        }
    }

    /// Begins with a lane in the first row.
    #[inline(always)]
    pub fn fill<const PLACES: bool>(&mut self, lane: F::Lane) {
        self.best.fill(MaybeUninit::new(lane));
        if PLACES {
            self.place.fill(MaybeUninit::new(Index::ZERO));
        }
    }

    #[inline(always)]
    fn set<const PLACES: bool>(&mut self, column: usize, (lane, place): Champion<F>) {
        self.best[column].write(lane);
        if PLACES {
            self.place[column].write(place);
        }
    }
}

/// The lanes that a source yields.
type LaneOf<S> = <<S as Source>::Element as Compared>::Lane;

/// The best lane of a column, and its row.
pub type Champion<F> = (<F as Compared>::Lane, <<F as Compared>::Lane as Lane>::Index);

/// Accumulates `ROWS` rows in the tile; the first pass of a tile (`FRESH`) begins with its own first row.
/// Returns `ROWS` and raises `nan` where a lane was NaN.
///
/// # Safety
/// There are `ROWS` rows of as many columns as the tiles have; unless `FRESH`, those are filled.
#[inline(always)]
pub unsafe fn pass<S: Source, X: Ends, const ROWS: usize, const FRESH: bool, const PLACES: bool>(
    lines: Lines,
    row: usize,
    first: &mut Accumulators<S::Element>,
    second: &mut Accumulators<S::Element>,
    nan: &mut bool,
) -> usize {
    let columns = first.best.len();
    // As long as one another: what the compiler has to know to leave out its checks.
    let mut first = Accumulators::<S::Element> { best: &mut *first.best, place: &mut first.place[..columns] };
    let others = if X::BOTH { columns } else { 0 };
    let mut second =
        Accumulators::<S::Element> { best: &mut second.best[..others], place: &mut second.place[..others] };
    let mut flags = <LaneOf<S> as Lane>::Index::ZERO;
    for column in 0..columns {
        // SAFETY: the caller's; the first pass has filled the tile.
        unsafe {
            let so_far = if FRESH { None } else { Some(first.get::<PLACES>(column)) };
            let (champion, any) = descend::<S, X::First, ROWS>(lines, row, column, so_far);
            flags = flags.or(any);
            if X::BOTH {
                let so_far = if FRESH { None } else { Some(second.get::<PLACES>(column)) };
                let (other, _) = descend::<S, X::Second, ROWS>(lines, row, column, so_far);
                second.set::<PLACES>(column, other);
            }
            first.set::<PLACES>(column, champion);
        }
    }
    *nan |= flags.any();
    ROWS
}

/// Compares all of `ROWS` rows and writes the row numbers straight away; true where a lane was NaN.
///
/// Rows of two to five elements that were transposed into columns spend as long on the tile as on comparing.
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

/// Memory in the first-level cache for one value per column.
pub struct Tile(Aligned<[MaybeUninit<u64>; TILE / 8]>);

impl Tile {
    #[inline(always)]
    pub fn new() -> Self {
        Self(Aligned([const { MaybeUninit::uninit() }; TILE / 8]))
    }

    #[inline(always)]
    pub fn slice<T>(&mut self, len: usize) -> &mut [MaybeUninit<T>] {
        assert!(len * size_of::<T>() <= TILE && align_of::<T>() <= 8);
        // SAFETY: the memory suffices and is aligned; nothing is said about what it holds.
        unsafe { std::slice::from_raw_parts_mut(self.0.0.as_mut_ptr().cast(), len) }
    }
}
