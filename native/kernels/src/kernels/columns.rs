//! Columns: the reduced axis strides through memory, and neighbouring columns lie side by side.
//!
//! ```text
//! a tile of columns keeps its best lanes, and the numbers of their rows
//! for each pass of 8, 4, 2 or 1 rows, from the end whose ties win; the last one may overlap the one before:
//!     for each column: load its best, go down the rows of the pass two at a time, store what is strictly better, note NaN
//! write rows, keys or elements of the tile
//! for each stretch where a lane was NaN that wins, or is undecided: once more with keys, which place NaN in the order
//! ```
//!
//! Lanes of 16-bit floats are integers in tiles of some rows where those will probably decide nearly all columns (see
//! [`by_integers`](crate::kernels::by_integers)): some columns of the tile are looked at before. 16 to 4000 rows in 256 KB take 0.57 to
//! 0.7 times as long with AVX2 and SSE4.2 as by their keys, and 0.75 to 1.1 times with AVX-512 (Xeon, family 6, model 167).
//!
//! A NaN that loses stays NaN in its lane, and any number replaces it: the lane is NaN in the end where a column has no number. That
//! takes one more comparison, and no second look at such columns.
//!
//! Of two rows the better meets the best so far: one choice of places serves two rows, because the place of the second is that of the first
//! plus the result of the comparison. A choice by a mask is three operations of an Intel core with AVX2, as many as the rest: 256 KB of
//! 32 or 100 rows take 0.75 to 0.95 times as long with AVX2, and 0.95 to 1 with SSE4.2 and AVX-512 (Xeon, family 6, model 167).
//!
//! The tile stays in the first-level cache, and is loaded and stored once for several rows. Its row numbers are as wide as the
//! lanes, so that the compiler vectorises everything. Two to five rows use no tile if only places are wanted: the tile would take
//! as long as the comparisons.
//!
//! Where memory holds the elements, they are read in long stretches of neighbouring addresses, because each row of a pass is a
//! stream: passes are lower, and a tile of long rows is as large as fits the second-level cache. What comes next is prefetched, a few
//! lines of each row at a time (see [`Passes`]; the figures are in `thresholds`).
//!
//! The tile begins a cache line where the columns of its rows do, if vectors keep to lines (see [`Stretches`]): otherwise its own loads
//! and stores would cross lines, and `argmax` would gain half as much.
//!
//! Not done: a prefetch of where results go. A tile that is first filled with the worst lane needs half the copies of the loop, but
//! takes a fifth longer for 20 rows (Xeon, family 6, model 167).

#![allow(unsafe_op_in_unsafe_fn, reason = "a kernel's body: each access goes through a pointer that knows its extent")]

use crate::element::compare::{HasLane, Index, Key, Lane, beats, pick, pick_number, worst};
use crate::element::order::{Ends, Order};
use crate::isa::Task;
use crate::kernels::lanes::{Aligned, IndexOf, LINE, LaneOf, Lines, Outputs, Source, prefetch_rows};
use crate::kernels::passes::{Passes, Stretches, TILE_BYTES, TILE_OF_MEMORY_BYTES};
use crate::kernels::undecided::Undecided;
use crate::thresholds::{
    OF_MEMORY_STRETCH_BYTES, PROBED_COLUMNS, PROBED_MOST_UNDECIDED, PROBED_ROWS, QUICK_LEAST_ELEMENTS,
};
use crate::vector::extent::Writable;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Finds the extrema of each column of one tile.
pub struct Columns<'a, S: Source, X> {
    /// The rows.
    pub lines: Lines,
    /// Number of rows, at least one; at most [`Index::ROWS`] if places are wanted.
    pub rows: usize,
    /// Number of columns, at most [`TILE_OF_MEMORY_BYTES`] of elements.
    pub columns: usize,
    /// Whether the last of equal elements wins.
    pub last: bool,
    /// For each end, where the results go.
    pub to: &'a [Outputs],
    /// How the rows are cut.
    pub passes: Passes,
    /// Memory of [`bytes_of_large_tile`], where a tile does not fit the stack: then elements have no mask, and one end of the order is
    /// wanted. Or nothing.
    pub large: Writable,
    /// The ends of the order.
    pub ends: PhantomData<(S, X)>,
}

/// The key of a source's elements.
type KeyOf<S> = Key<<S as Source>::Element>;

/// The elements of a source with lanes that are quicker to make.
type QuickOf<S> = <<S as Source>::Element as HasLane>::Quick;

/// The numbers of the rows of a walk.
#[derive(Clone, Copy)]
struct Numbers<I> {
    first: I,
    /// From one number to the next: 1, or the greatest number where they fall, because sums wrap around.
    by: I,
}

/// The best lane of a column, and its row.
type Champion<F> = (<F as HasLane>::Lane, <<F as HasLane>::Lane as Lane>::Index);

impl<S: Source, X: Ends> Task for Columns<'_, S, X> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.to.len() == 1 + X::BOTH as usize, "results for {} ends", self.to.len());
        debug_assert!(
            self.columns * size_of::<S::Element>() <= TILE_OF_MEMORY_BYTES,
            "{} columns do not fit a tile",
            self.columns
        );
        self.lines.debug_assert_there::<S::Element>(self.rows, self.columns);
        if self.rows == 1 {
            self.take_row::<X::First>(self.to[0]);
            if X::BOTH {
                self.take_row::<X::Second>(self.to[1]);
            }
            return;
        }
        // If lanes determine the elements and no index is wanted, no places are needed.
        let places = !S::Element::UNIQUE || self.to.iter().any(|to| to.wants_places());
        let most = IndexOf::<S>::ROWS;
        debug_assert!(self.rows > 0 && (!places || self.rows <= most));
        let undecided = if Self::HAS_QUICK_LANES {
            match (self.suits_quick_lanes(), self.to[0].wants_places()) {
                (true, true) => self.accumulate::<QuickOf<S>, true, true>(),
                // Where quick lanes decide, they determine the element.
                (true, false) => self.accumulate::<QuickOf<S>, false, false>(),
                (false, _) => Undecided::all(self.columns),
            }
        } else if places {
            self.accumulate::<S::Element, true, true>()
        } else {
            self.accumulate::<S::Element, false, false>()
        };
        if const { Self::HAS_QUICK_LANES || LaneOf::<S>::NAN && X::First::NAN_WINS } {
            self.decide(undecided);
        }
    }
}

impl<S: Source, X: Ends> Columns<'_, S, X> {
    /// Writes the results of a single row: each element is the extremum of its column.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn take_row<O: Order>(&self, to: Outputs) {
        let line = self.lines.line::<S>(0);
        let keys = to.keys_of::<KeyOf<S>>(self.columns);
        let values = to.values_of(self.columns, size_of::<S::Element>());
        let index = to.places_of(self.columns);
        if !keys.is_null() {
            for column in 0..self.columns {
                keys.element::<KeyOf<S>>(column).write(line.lane_or_nan::<O>(column).key::<O>());
            }
        }
        if !values.is_null() {
            for column in 0..self.columns {
                values.element::<S::Element>(column).write_unaligned(line.element::<O>(column));
            }
        }
        if !index.is_null() {
            for column in 0..self.columns {
                let place = place_or_none::<S::Element, O>(line.lane_or_nan::<O>(column), 0);
                index.element::<i64>(column).write_unaligned(place);
            }
        }
    }

    /// Whether there are lanes that are quicker to make. Where both ends are wanted, few elements lie at the decisive side of zero.
    const HAS_QUICK_LANES: bool = QuickOf::<S>::IS_QUICK && !S::MASKED && !X::BOTH && X::First::NAN_WINS;

    /// Whether those lanes will probably decide nearly all columns: they decide some, by some of the rows.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn suits_quick_lanes(&self) -> bool {
        if self.rows < PROBED_ROWS || self.columns < PROBED_COLUMNS || self.rows * self.columns < QUICK_LEAST_ELEMENTS {
            return false;
        }
        let mut best = [worst::<X::First, _>(); PROBED_COLUMNS];
        for row in 0..PROBED_ROWS {
            let line = self.lines.line::<S::As<QuickOf<S>>>(row as isize);
            for column in 0..PROBED_COLUMNS {
                best[column] = pick::<X::First, _>(line.lane::<X::First>(column), best[column]);
            }
        }
        let is_undecided = |&&lane: &&_| !QuickOf::<S>::settle::<X::First>(lane).1;
        best.iter().filter(is_undecided).count() <= PROBED_MOST_UNDECIDED
    }

    /// Accumulates the columns that lanes have not decided with keys, which place NaN in the order. Where NaN alone is undecided,
    /// which is rare, few copies of the loop will do, without those for large tiles.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn decide(&self, mut undecided: Undecided) {
        let size = size_of::<S::Element>();
        while let Some(Range { start: from, end: to }) = undecided.take(self.columns, TILE_BYTES / size) {
            let outputs = [0, self.to.len() - 1].map(|end| self.to[end].from(from, size));
            let part = Columns::<S, X> {
                lines: self.lines.skip::<S::Element>(from),
                columns: to - from,
                to: &outputs[..self.to.len()],
                large: Writable::none(),
                ..*self
            };
            if const { Self::HAS_QUICK_LANES } {
                part.accumulate::<<S::Element as HasLane>::Ordered, true, true>();
            } else {
                part.accumulate::<<S::Element as HasLane>::Ordered, true, false>();
            }
        }
    }

    /// Accumulates all rows with the lanes of `F`, and their places if `PLACES`. Returns the stretches that the lanes do not decide,
    /// where a lane was NaN or is not quick enough; their results are then invalid. `EXACT` has more copies of the loop, and reads fewer
    /// rows twice.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn accumulate<F: HasLane<Lane: Lane<Key = KeyOf<S>>>, const PLACES: bool, const EXACT: bool>(
        &self,
    ) -> Undecided {
        let Self { lines, rows, columns, last, passes, .. } = *self;
        // The walk begins where ties win, so that what is strictly better alone replaces a champion; or at the other end, where the
        // last of equal lanes stays.
        let last_stays = !PLACES && !X::First::NAN_WINS;
        let lines = if last != last_stays { lines.from(rows as isize - 1).every(-1) } else { lines };
        if let Some(has_nan) = self.few_rows::<F, EXACT>(lines) {
            return if has_nan { Undecided::all(columns) } else { Undecided::none(columns) };
        }
        let size = size_of::<F>();
        let stretches = Stretches::new(passes, lines, columns, size);
        let is_large = Self::reads_large_tiles::<PLACES, EXACT>() && columns * size > TILE_BYTES;
        let near = if is_large { TILE_BYTES / size } else { columns };
        let others = if X::BOTH { near } else { 0 };
        let head = if is_large { 0 } else { stretches.head };
        let mut best = TileMemory::new();
        let mut place = TileMemory::new();
        let mut first = Accumulators::<F> { best: best.slice(near, head), place: place.slice(near, head) };
        let mut best = TileMemory::new();
        let mut place = TileMemory::new();
        let mut second = Accumulators::<F> { best: best.slice(others, head), place: place.slice(others, head) };
        let mut undecided = Undecided::none(columns);
        let mut row = 0;
        while row < rows {
            let height = Self::height_of_pass::<EXACT>(passes.height, rows, row);
            // The last pass may overlap the one before: a row that is read again is not strictly better, or is followed by its equals.
            row = row.min(rows.saturating_sub(height));
            let mut from = 0;
            while from < columns {
                let (start, to, next) = stretches.after(from);
                from = start;
                let down = lines.from(row as isize).skip::<S::Element>(from);
                // This stands before a loop over columns: within it, the compiler would no longer vectorise.
                if passes.prefetches() {
                    Self::prefetch(passes, down, height, to - from);
                }
                // On the stack, a stretch of a large tile stands at the start.
                let start = if is_large { 0 } else { from };
                let end = start + (to - from);
                let one = &mut first.between(start, end);
                let other = &mut second.between(if X::BOTH { start } else { 0 }, if X::BOTH { end } else { 0 });
                if is_large && row > 0 {
                    self.copy::<F, PLACES, false>(from, one);
                }
                if pass_of_height::<S::As<F>, X, PLACES>(height, down, row, one, other) {
                    undecided.add(from, to);
                }
                if is_large {
                    self.copy::<F, PLACES, true>(from, one);
                }
                from = next;
            }
            row += height;
        }
        // As many columns at a time as the stack has room for.
        let mut from = 0;
        while from < columns {
            let count = near.min(columns - from);
            let one = &mut first.between(0, count);
            let other = &mut second.between(0, if X::BOTH { count } else { 0 });
            if is_large {
                self.copy::<F, PLACES, false>(from, one);
            }
            if F::IS_QUICK {
                settle::<F, X::First>(one.best, from, &mut undecided);
            }
            let part = Self { lines: self.lines.skip::<S::Element>(from), columns: count, ..*self };
            part.write::<F, X::First, PLACES>(one, self.to[0].from(from, size));
            if X::BOTH {
                part.write::<F, X::Second, PLACES>(other, self.to[1].from(from, size));
            }
            from += count;
        }
        undecided
    }

    /// Compares two to five rows without a tile, where places at one end are all that is wanted: returns whether a lane was NaN, or
    /// nothing for other calls. Not for narrow lanes: the compiler would compute them at the width of the results.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn few_rows<F: HasLane<Lane: Lane<Key = KeyOf<S>>>, const EXACT: bool>(&self, lines: Lines) -> Option<bool> {
        let Self { rows, columns, last, .. } = *self;
        let to = self.to[0];
        let is_supported = const { EXACT && !X::BOTH && !S::MASKED && size_of::<F>() >= 4 };
        if !is_supported || to.wants_keys() || to.wants_values() {
            return None;
        }
        let index = to.places_of(columns);
        match rows {
            2 => Some(few::<S::As<F>, X::First, 2>(lines, columns, last, index)),
            3 => Some(few::<S::As<F>, X::First, 3>(lines, columns, last, index)),
            4 => Some(few::<S::As<F>, X::First, 4>(lines, columns, last, index)),
            5 => Some(few::<S::As<F>, X::First, 5>(lines, columns, last, index)),
            _ => None,
        }
    }

    /// The rows of the pass that begins at row number `row` of `rows`: as many as are left, up to `most`, because each pass loads and
    /// stores the tile once. Only what most calls want has exact heights: places at one end.
    #[inline(always)]
    fn height_of_pass<const EXACT: bool>(most: usize, rows: usize, row: usize) -> usize {
        let is_exact = EXACT && !X::BOTH && !S::MASKED;
        match most.min(rows - row) {
            8.. => 8,
            4.. if is_exact => 4,
            _ if !is_exact && most == 8 && rows >= 8 => 8,
            1 if row > 0 && is_exact => 1,
            _ => 2,
        }
    }

    /// Prefetches what follows a stretch of `columns` columns of some rows, and its mask.
    #[inline(always)]
    fn prefetch(passes: Passes, down: Lines, rows: usize, columns: usize) {
        let size = size_of::<S::Element>();
        let Passes { ahead_rows, ahead_bytes, .. } = passes;
        let ahead = ahead_rows * down.stride + ahead_bytes;
        prefetch_rows(down.data.address().wrapping_offset(ahead), down.stride, rows, columns * size);
        if S::MASKED {
            let ahead = ahead_rows * down.mask_stride + ahead_bytes / size as isize;
            prefetch_rows(down.mask.address().wrapping_offset(ahead), down.mask_stride, rows, columns);
        }
    }

    /// Whether a tile may be too large for the stack: that of most calls.
    #[inline(always)]
    fn reads_large_tiles<const PLACES: bool, const EXACT: bool>() -> bool {
        !X::BOTH && !S::MASKED && (EXACT || !PLACES)
    }

    /// Copies what a large tile keeps of the columns from number `from` on to the stack, or `BACK`.
    ///
    /// # Safety
    /// There is a large tile, and it has a lane for each of these columns, and a place if `PLACES`.
    #[inline(always)]
    unsafe fn copy<F: HasLane, const PLACES: bool, const BACK: bool>(&self, from: usize, near: &mut Accumulators<F>) {
        let bytes = near.best.len() * size_of::<F>();
        let far = self.large.add(from * size_of::<F>());
        copy_stretch::<BACK>(far.write(bytes), near.best.as_mut_ptr().cast(), bytes);
        if PLACES {
            let far = far.add(half_bytes(self.columns * size_of::<F>()));
            copy_stretch::<BACK>(far.write(bytes), near.place.as_mut_ptr().cast(), bytes);
        }
    }

    /// Writes the results of the columns of a tile.
    ///
    /// # Safety
    /// As for [`Task::run`]; the tile has a lane for each column, and a place if `PLACES`.
    #[inline(always)]
    unsafe fn write<F: HasLane<Lane: Lane<Key = KeyOf<S>>>, O: Order, const PLACES: bool>(
        &self,
        tile: &Accumulators<F>,
        to: Outputs,
    ) {
        let keys = to.keys_of::<KeyOf<S>>(self.columns);
        let values = to.values_of(self.columns, size_of::<S::Element>());
        let index = to.places_of(self.columns);
        // Rows are counted from the start of the walk.
        let last_row = self.rows as i64 - 1;
        let row = |column: usize| match tile.place[column].assume_init().widen() {
            place if self.last => last_row - place,
            place => place,
        };
        if PLACES && !index.is_null() {
            for column in 0..self.columns {
                let place = place_or_none::<F, O>(tile.best[column].assume_init(), row(column));
                index.element::<i64>(column).write_unaligned(place);
            }
        }
        if !keys.is_null() {
            for column in 0..self.columns {
                keys.element::<KeyOf<S>>(column).write(tile.best[column].assume_init().key::<O>());
            }
        }
        if !values.is_null() {
            let mut open = <F::Lane as Lane>::Index::ZERO;
            for column in 0..self.columns {
                let (element, is_unique) = F::from_lane::<O>(tile.best[column].assume_init());
                values.element::<F>(column).write_unaligned(element);
                open = open.or(!is_unique);
            }
            // Lanes of zeros do not say which of the two zeros it is: the element is read again.
            let again = if PLACES && !F::UNIQUE && open.any() { self.columns } else { 0 };
            for column in 0..again {
                if !F::from_lane::<O>(tile.best[column].assume_init()).1 {
                    let element = self.lines.line::<S>(row(column) as isize).element::<O>(column);
                    values.element::<S::Element>(column).write_unaligned(element);
                }
            }
        }
    }
}

/// The place of a lane, or -1 if it is that of a NaN that loses: its column then has no number.
#[inline(always)]
fn place_or_none<F: HasLane, O: Order>(lane: F::Lane, place: i64) -> i64 {
    if F::is_losing_nan::<O>(lane) { -1 } else { place }
}

/// What a tile of columns keeps for one end of the order.
struct Accumulators<'a, F: HasLane> {
    /// The best lanes.
    best: &'a mut [MaybeUninit<F::Lane>],
    /// Their rows, counted from the start of the walk; not filled if no places are wanted.
    place: &'a mut [MaybeUninit<<F::Lane as Lane>::Index>],
}

impl<F: HasLane> Accumulators<'_, F> {
    /// The part for some of the columns.
    #[inline(always)]
    fn between(&mut self, from: usize, to: usize) -> Accumulators<'_, F> {
        Accumulators { best: &mut self.best[from..to], place: &mut self.place[from..to] }
    }

    /// The champion of a column so far.
    ///
    /// # Safety
    /// A lane of this column has been set, and a place if `PLACES`.
    #[inline(always)]
    unsafe fn get<const PLACES: bool>(&self, column: usize) -> Champion<F> {
        let place = if PLACES { self.place[column].assume_init() } else { Index::ZERO };
        (self.best[column].assume_init(), place)
    }

    #[inline(always)]
    fn set<const PLACES: bool>(&mut self, column: usize, (lane, place): Champion<F>) {
        self.best[column].write(lane);
        if PLACES {
            self.place[column].write(place);
        }
    }
}

/// Memory on the stack for one value per column.
struct TileMemory(Aligned<[MaybeUninit<u64>; (TILE_BYTES + LINE) / 8]>);

impl TileMemory {
    #[inline(always)]
    fn new() -> Self {
        Self(Aligned([const { MaybeUninit::uninit() }; (TILE_BYTES + LINE) / 8]))
    }

    /// Room for `len` values, of which number `head`, less than a line, begins a cache line.
    #[inline(always)]
    fn slice<T>(&mut self, len: usize, head: usize) -> &mut [MaybeUninit<T>] {
        let before = head * size_of::<T>();
        let start = before.next_multiple_of(LINE) - before;
        assert!(start + len * size_of::<T>() <= size_of::<Self>() && align_of::<T>() <= 8);
        // SAFETY: the memory is large enough and aligned, and may hold anything.
        unsafe { std::slice::from_raw_parts_mut(self.0.0.as_mut_ptr().byte_add(start).cast(), len) }
    }
}

/// Bytes of memory for a tile whose columns have so many; none where the stack has room. A stretch of a large tile is on the stack while
/// its columns are compared, because the compiler knows that no row lies there. In place, each loop would have to find that out: a
/// fifteenth of all code more, and columns in the caches would take 1.03 to 1.1 times as long.
pub fn bytes_of_large_tile(bytes: usize) -> usize {
    // A lane and a place of each column.
    if bytes <= TILE_BYTES { 0 } else { 2 * half_bytes(bytes) }
}

/// As many bytes as the columns have, in whole cache lines.
#[inline(always)]
fn half_bytes(bytes: usize) -> usize {
    bytes.next_multiple_of(LINE)
}

/// Copies some bytes of a large tile to the stack, or `BACK`: without a call where they are as many as those of most stretches.
///
/// # Safety
/// Both may be read and written, and do not overlap.
#[inline(always)]
unsafe fn copy_stretch<const BACK: bool>(far: *mut u8, near: *mut u8, bytes: usize) {
    let (from, to) = if BACK { (near, far) } else { (far, near) };
    if bytes == OF_MEMORY_STRETCH_BYTES {
        from.copy_to_nonoverlapping(to, OF_MEMORY_STRETCH_BYTES);
    } else {
        from.copy_to_nonoverlapping(to, bytes);
    }
}

/// Accumulates `height` rows in the tile, which the first pass starts. Returns whether a lane was NaN.
///
/// # Safety
/// As for [`pass`].
#[inline(always)]
unsafe fn pass_of_height<S: Source, X: Ends, const PLACES: bool>(
    height: usize,
    lines: Lines,
    row: usize,
    first: &mut Accumulators<S::Element>,
    second: &mut Accumulators<S::Element>,
) -> bool {
    match (height, row == 0) {
        (8, true) => pass::<S, X, 8, true, PLACES>(lines, row, first, second),
        (4, true) => pass::<S, X, 4, true, PLACES>(lines, row, first, second),
        (_, true) => pass::<S, X, 2, true, PLACES>(lines, row, first, second),
        (8, false) => pass::<S, X, 8, false, PLACES>(lines, row, first, second),
        (4, false) => pass::<S, X, 4, false, PLACES>(lines, row, first, second),
        (1, false) => pass::<S, X, 1, false, PLACES>(lines, row, first, second),
        (_, false) => pass::<S, X, 2, false, PLACES>(lines, row, first, second),
    }
}

/// Accumulates `ROWS` rows in the tile; `FRESH` starts it with the first of them. Returns whether a lane was NaN.
///
/// # Safety
/// The lines may be read along all columns; unless `FRESH`, the accumulators have a champion for each.
#[inline(always)]
unsafe fn pass<S: Source, X: Ends, const ROWS: usize, const FRESH: bool, const PLACES: bool>(
    lines: Lines,
    row: usize,
    first: &mut Accumulators<S::Element>,
    second: &mut Accumulators<S::Element>,
) -> bool {
    let columns = first.best.len();
    // Slices of equal length, so that the compiler omits bounds checks.
    let others = if X::BOTH { columns } else { 0 };
    let mut first = Accumulators::<S::Element> { best: &mut *first.best, place: &mut first.place[..columns] };
    let mut second =
        Accumulators::<S::Element> { best: &mut second.best[..others], place: &mut second.place[..others] };
    let numbers = Numbers { first: IndexOf::<S>::new(row), by: Index::new(1) };
    let mut flags = IndexOf::<S>::ZERO;
    for column in 0..columns {
        // If both ends began with the first row, the compiler would compare bools one by one.
        let begin = |lane| if X::BOTH { Some((lane, Index::ZERO)) } else { None };
        let so_far =
            if FRESH { begin(S::Element::identity_lane::<X::First>()) } else { Some(first.get::<PLACES>(column)) };
        let (champion, noted) = descend::<S, X::First, ROWS, PLACES>(lines, column, so_far, numbers);
        flags = S::Element::join_notes(flags, noted);
        if X::BOTH {
            let so_far = if FRESH {
                begin(S::Element::identity_lane::<X::Second>())
            } else {
                Some(second.get::<PLACES>(column))
            };
            let (champion, _) = descend::<S, X::Second, ROWS, PLACES>(lines, column, so_far, numbers);
            second.set::<PLACES>(column, champion);
        }
        first.set::<PLACES>(column, champion);
    }
    S::Element::has_nan(flags)
}

/// Settles the best lanes of the columns from number `from` on; adds the stretches where some do not decide.
///
/// # Safety
/// There is a lane for each column.
#[inline(always)]
unsafe fn settle<F: HasLane, O: Order>(best: &mut [MaybeUninit<F::Lane>], mut from: usize, undecided: &mut Undecided) {
    for stretch in best.chunks_mut(undecided.stretch) {
        let mut open = <F::Lane as Lane>::Index::ZERO;
        for best in &mut *stretch {
            let (lane, decides) = F::settle::<O>(best.assume_init());
            best.write(lane);
            open = open.or(!decides);
        }
        let to = from + stretch.len();
        if open.any() {
            undecided.add(from, to);
        }
        from = to;
    }
}

/// Compares all of `ROWS` rows and writes the row numbers directly. Returns whether a lane was NaN.
///
/// # Safety
/// The lines may be read along all columns, and there is room for an index of each.
#[inline(always)]
unsafe fn few<S: Source, O: Order, const ROWS: usize>(
    lines: Lines,
    columns: usize,
    last: bool,
    index: Writable,
) -> bool {
    let numbers = if last {
        Numbers { first: IndexOf::<S>::new(ROWS - 1), by: Index::MAX }
    } else {
        Numbers { first: Index::ZERO, by: Index::new(1) }
    };
    let mut flags = IndexOf::<S>::ZERO;
    for column in 0..columns {
        let ((lane, at), noted) = descend::<S, O, ROWS, true>(lines, column, None, numbers);
        flags = S::Element::join_notes(flags, noted);
        index.element::<i64>(column).write_unaligned(place_or_none::<S::Element, O>(lane, at.widen()));
    }
    S::Element::has_nan(flags)
}

/// Goes down `ROWS` rows of one column, two at a time: the better of both meets the best so far. Returns the best lane, its place if
/// `PLACES`, and what is noted of NaN that wins. Without places, the last of equal lanes stays if NaN loses: a maximum of two numbers is
/// then a single instruction.
///
/// # Safety
/// The lines may be read at this column.
#[inline(always)]
unsafe fn descend<S: Source, O: Order, const ROWS: usize, const PLACES: bool>(
    lines: Lines,
    column: usize,
    so_far: Option<Champion<S::Element>>,
    numbers: Numbers<IndexOf<S>>,
) -> (Champion<S::Element>, IndexOf<S>) {
    let Numbers { first: mut number, by } = numbers;
    let (mut champion, mut at) = so_far.unwrap_or((LaneOf::<S>::LOWEST, Index::ZERO));
    let mut noted = IndexOf::<S>::ZERO;
    for pair in 0..ROWS.div_ceil(2) {
        let step = 2 * pair;
        let mut lane = lines.line::<S>(step as isize).lane_or_nan::<O>(column);
        let mut place = number;
        noted = S::Element::join_notes(noted, S::Element::note_nan::<O>(lane));
        if step + 1 < ROWS {
            let next = lines.line::<S>(step as isize + 1).lane_or_nan::<O>(column);
            noted = S::Element::join_notes(noted, S::Element::note_nan::<O>(next));
            if !PLACES && !O::NAN_WINS {
                lane = pick_number::<O, _>(lane, next);
            } else {
                let is_next = beats::<O, _>(next, lane);
                lane = if is_next { next } else { lane };
                // A sum, and no choice between two places, which takes longer.
                place = place.plus(if is_next { by } else { Index::ZERO });
            }
        }
        number = number.plus(by).plus(by);
        let is_first = so_far.is_none() && step == 0;
        if !PLACES && !O::NAN_WINS {
            champion = if is_first { lane } else { pick_number::<O, _>(champion, lane) };
            continue;
        }
        let better = is_first || beats::<O, _>(lane, champion);
        champion = if better { lane } else { champion };
        at = if better { place } else { at };
    }
    ((champion, at), noted)
}
