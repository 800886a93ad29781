//! Columns: the reduced axis walks through memory while neighbouring columns lie side by side.
//!
//! A tile of columns keeps its best values and the narrow row numbers where they stood in the first-level
//! cache; several rows are accumulated in one pass, so that the tile is loaded and stored once for all of them.

use crate::element::compare::{Compared, Index, Key, Lane, NanState};
use crate::element::order::Order;
use crate::isa::Task;
use crate::kernels::cache_line::Aligned;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Bytes of elements that a tile holds side by side.
pub const TILE: usize = 8192;

/// Finds the extremum of each column of one tile.
pub struct Columns<E: Compared, O> {
    /// The first element of the first row.
    pub data: *const u8,
    /// Bytes from one row to the next.
    pub stride: isize,
    /// Number of rows, at least one and at most [`Index::ROWS`].
    pub rows: usize,
    /// Number of columns, at most [`TILE`] bytes of elements.
    pub columns: usize,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Receives the key of each column's extremum; may be null.
    pub keys: *mut Key<E>,
    /// Receives its row number.
    pub index: *mut i64,
    /// The order.
    pub order: PhantomData<O>,
}

impl<E: Compared, O: Order> Task for Columns<E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!((1..=<E::Lane as Lane>::Index::ROWS).contains(&self.rows));
        debug_assert!(!self.data.is_null() && !self.index.is_null());
        // SAFETY: the caller's.
        unsafe {
            if !self.accumulate::<E>() {
                // NaN among the floats: once more with keys, which know its place.
                self.accumulate::<E::Ordered>();
            }
        }
    }
}

impl<E: Compared, O: Order> Columns<E, O> {
    /// Accumulates all rows with the lanes of `F`; false where a lane was NaN, and the results are then worthless.
    ///
    /// # Safety
    /// As for [`Task::run`]; `F` is laid out like `E`.
    #[inline(always)]
    unsafe fn accumulate<F: Compared<Lane: Lane<Key = Key<E>>>>(&self) -> bool {
        let (mut best, mut place) = (Tile::new(), Tile::new());
        let (best, place) = (best.slice(self.columns), place.slice(self.columns));
        // The walk starts at the end whose ties win, so that "strictly better" is the only comparison.
        let (mut data, stride) = match self.last {
            false => (self.data, self.stride),
            // SAFETY: the last row.
            true => (unsafe { self.data.offset(self.stride * (self.rows as isize - 1)) }, -self.stride),
        };
        // (Not for 16 bits: their keys would be worked out at the width of the results.)
        if self.keys.is_null() && (size_of::<F>() != 2 || self.rows == 2) {
            // SAFETY: as many rows are read as there are.
            let nan = unsafe {
                match self.rows {
                    2 => Some(few::<F, O, 2>(data, stride, self.columns, self.last, self.index)),
                    3 => Some(few::<F, O, 3>(data, stride, self.columns, self.last, self.index)),
                    4 => Some(few::<F, O, 4>(data, stride, self.columns, self.last, self.index)),
                    5 => Some(few::<F, O, 5>(data, stride, self.columns, self.last, self.index)),
                    _ => None,
                }
            };
            if let Some(nan) = nan {
                return !nan;
            }
        }
        let mut row = 0;
        let mut nan = false;
        while row < self.rows {
            // SAFETY: `pass` reads as many rows as its constant says, and so many are left.
            let taken = unsafe {
                match (self.rows - row, row == 0) {
                    (8.., true) => pass::<F, O, 8, true>(data, stride, row, best, place, &mut nan),
                    (4.., true) => pass::<F, O, 4, true>(data, stride, row, best, place, &mut nan),
                    (2.., true) => pass::<F, O, 2, true>(data, stride, row, best, place, &mut nan),
                    (_, true) => pass::<F, O, 1, true>(data, stride, row, best, place, &mut nan),
                    (8.., false) => pass::<F, O, 8, false>(data, stride, row, best, place, &mut nan),
                    (4.., false) => pass::<F, O, 4, false>(data, stride, row, best, place, &mut nan),
                    (2.., false) => pass::<F, O, 2, false>(data, stride, row, best, place, &mut nan),
                    (_, false) => pass::<F, O, 1, false>(data, stride, row, best, place, &mut nan),
                }
            };
            row += taken;
            data = data.wrapping_offset(stride * taken as isize);
        }
        if nan {
            return false;
        }
        let last_row = self.rows as i64 - 1;
        for column in 0..self.columns {
            // SAFETY: the results have room for every column, and the passes have filled the tile.
            unsafe {
                let place = place[column].assume_init().widen();
                self.index.add(column).write_unaligned(if self.last { last_row - place } else { place });
            }
        }
        if !self.keys.is_null() {
            for column in 0..self.columns {
                // SAFETY: as above.
                unsafe { self.keys.add(column).write(best[column].assume_init().key::<O>()) };
            }
        }
        true
    }
}

/// Accumulates `ROWS` rows in the tile; the first pass of a tile (`FRESH`) begins with its own first row.
/// Returns `ROWS` and raises `nan` where a lane was NaN.
///
/// # Safety
/// There are `ROWS` rows of as many columns as `best` has; unless `FRESH`, both slices are filled.
#[inline(always)]
unsafe fn pass<F: Compared, O: Order, const ROWS: usize, const FRESH: bool>(
    data: *const u8,
    stride: isize,
    row: usize,
    best: &mut [MaybeUninit<F::Lane>],
    place: &mut [MaybeUninit<<F::Lane as Lane>::Index>],
    nan: &mut bool,
) -> usize {
    let columns = best.len();
    let place = &mut place[..columns];
    let mut flags = <F::Lane as Lane>::Index::ZERO;
    for column in 0..columns {
        // SAFETY: the caller's; the first pass has filled the tile.
        unsafe {
            let so_far = if FRESH { None } else { Some((best[column].assume_init(), place[column].assume_init())) };
            let (champion, at, any) = descend::<F, O, ROWS>(data, stride, row, column, so_far);
            flags = flags.or(any);
            best[column].write(champion);
            place[column].write(at);
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
unsafe fn few<F: Compared, O: Order, const ROWS: usize>(
    data: *const u8,
    stride: isize,
    columns: usize,
    last: bool,
    index: *mut i64,
) -> bool {
    let mut flags = <F::Lane as Lane>::Index::ZERO;
    for column in 0..columns {
        // SAFETY: the caller vouches for the rows, and for room for as many results as there are columns.
        unsafe {
            let (_, at, any) = descend::<F, O, ROWS>(data, stride, 0, column, None);
            flags = flags.or(any);
            let at = if last { <F::Lane as Lane>::Index::new(ROWS - 1).less(at) } else { at };
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
unsafe fn descend<F: Compared, O: Order, const ROWS: usize>(
    data: *const u8,
    stride: isize,
    row: usize,
    column: usize,
    so_far: Option<(F::Lane, <F::Lane as Lane>::Index)>,
) -> (F::Lane, <F::Lane as Lane>::Index, bool) {
    let (mut champion, mut at) = so_far.unwrap_or((F::Lane::LOWEST, Index::ZERO));
    let mut state = <F::Lane as Lane>::NanState::new::<O>();
    for step in 0..ROWS {
        // SAFETY: the caller vouches for `ROWS` rows of as many columns as the tile has.
        let element = unsafe { data.offset(stride * step as isize).cast::<F>().add(column).read_unaligned() };
        let lane = element.lane::<O>();
        let better = (so_far.is_none() && step == 0) || O::better(lane, champion);
        champion = if better { lane } else { champion };
        at = if better { <F::Lane as Lane>::Index::new(row + step) } else { at };
        state = state.observe::<O>(lane);
    }
    (champion, at, state.saw_nan::<O>(champion))
}

/// Memory in the first-level cache for one value per column.
struct Tile(Aligned<[MaybeUninit<u64>; TILE / 8]>);

impl Tile {
    #[inline(always)]
    fn new() -> Self {
        Self(Aligned([const { MaybeUninit::uninit() }; TILE / 8]))
    }

    #[inline(always)]
    fn slice<T>(&mut self, len: usize) -> &mut [MaybeUninit<T>] {
        assert!(len * size_of::<T>() <= TILE && align_of::<T>() <= 8);
        // SAFETY: the memory suffices and is aligned; nothing is said about what it holds.
        unsafe { std::slice::from_raw_parts_mut(self.0.0.as_mut_ptr().cast(), len) }
    }
}
