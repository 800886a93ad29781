//! `Reduce`: the extremum itself over any set of axes, its index, or both, at one or both ends of the order in one pass.
//!
//! Elements may be skipped: because of a mask, or because they are NaN or NaT.
//!
//! ```text
//! replace each skipped element, as it is packed or compared, by the identity, the element that loses to all others
//! index = the index of the extremum, which may be that of a skipped element
//! where NaN alone is skipped, kernels of columns and long rows know slices without a number: index = -1
//! otherwise, if the element at the index is skipped (kernels of short rows return -1 for it):
//!     if the mask skips the whole slice: index = -1
//!     otherwise the elements that take part all equal the identity:
//!         index = the index of the extremum at the other end of the order, where they beat the replacement
//!         if the element at that index is skipped: index = -1
//! ```
//!
//! Index -1 means that no element took part. It is a result like any other: no kernel has to detect that case, and slices are
//! read twice only where it may occur.

use crate::element::{IndexType, Pattern};
use crate::kernels::lanes::{bits, write_bits};
use crate::layout::{
    Axis, ReductionAxes, ReductionAxis, ReductionLayout, ReductionOffsets, Strides, merge, place, position, positions,
    sort,
};
use crate::operations::input::{Input, Omit};
use crate::operations::reduce::{reduce, reduce_ends};
use crate::operations::sink::{Direct, MinusOne, Sink, Tile, Wants};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{array, ptr};

/// Writes the row-major index, within the reduced axes, of the extremum at every kept position. The input skips no elements.
///
/// `axes` yields, last dimension first, the length, the input stride, the output stride (ignored on reduced
/// axes) and whether the axis is reduced. No reduced axis may be empty; empty kept axes mean no work.
///
/// # Safety
/// The input is readable and the output writable at every position that the axes lead to; the two do not
/// overlap; an index fits the index type.
pub unsafe fn argreduce(
    input: Input,
    axes: impl Iterator<Item = (usize, isize, isize, bool)>,
    output: *mut u8,
    index: IndexType,
) {
    let axes = axes.map(|(len, input, output, reduced)| {
        let output = if reduced { 0 } else { output };
        (len, ReductionOffsets { input, output, ..ReductionOffsets::default() }, reduced)
    });
    let mut layout = ReductionLayout::default();
    layout.fill(axes, input.last);
    let sink = Indices { output, index };
    // SAFETY: the caller's promise.
    unsafe { reduce(&input, &mut layout, &sink) }
}

/// Stores indices in the output's type and layout.
struct Indices {
    output: *mut u8,
    index: IndexType,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Indices {}

impl Sink for Indices {
    #[inline]
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Direct {
        let plain = self.index.size() == 8 && (axis.strides.output == 8 || axis.len == 1);
        let index = if plain { self.output.wrapping_offset(at.output).cast() } else { ptr::null_mut() };
        Direct { values: ptr::null_mut(), index }
    }

    #[inline]
    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
        let output = self.output.wrapping_offset(at.output);
        // SAFETY: the output is writable wherever the layout leads; a sink wants indices by default.
        unsafe { self.index.write(output, axis.strides.output, tile.index, tile.len) }
    }
}

/// Where the results at one end of the order go: in row-major order of the dimensions that are kept.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Receives the elements, their bytes in this machine's order; may be null.
    pub values: *mut u8,
    /// Receives the row-major indices, -1 where no element takes part; may be null.
    pub indices: *mut u8,
    /// The type of the indices.
    pub index: IndexType,
    /// Whether indices are wanted only to tell the slices in which no element takes part, beside values: any index but -1 is as
    /// good as another.
    pub only_empty: bool,
}

/// Finds the extrema at the input's end of the order, and at the other end if there is a second target. Returns the number of
/// positions at which no element takes part.
///
/// `dimensions` yields, last dimension first, the length, the stride in bytes, that of the mask and whether the dimension is
/// reduced. Where a reduced dimension is empty, no element takes part anywhere, and the values are the identity.
///
/// # Safety
/// The input, and the mask if there is one, are readable at every position; there is room for all results, which overlaps
/// neither; an index fits its type.
pub unsafe fn select(
    input: Input,
    dimensions: impl Iterator<Item = (usize, isize, isize, bool)>,
    targets: &[Target],
) -> usize {
    // The results lie in C order of the kept dimensions: `step` counts them on the way out, `block` the elements of a slice.
    let mut step = 1;
    let mut block = 1;
    let axes: SmallVec<[_; 8]> = dimensions
        .map(|(len, stride, mask, reduced)| {
            let output = if reduced { 0 } else { step };
            *(if reduced { &mut block } else { &mut step }) *= len as isize;
            (len, ReductionOffsets { input: stride, mask, output, index: 0 }, reduced)
        })
        .collect();
    let results = step as usize;
    if results == 0 {
        return 0;
    }
    if block == 0 {
        for (&Target { values, indices, index, .. }, largest) in targets.iter().zip([input.largest, !input.largest]) {
            if !indices.is_null() {
                // All bits set is -1 in every type of index.
                // SAFETY: there is room for all results.
                unsafe { indices.write_bytes(0xff, results * index.size()) };
            }
            let identity = input.element.identity(largest);
            let size = input.element.size();
            let filled = if values.is_null() { 0 } else { results };
            for at in 0..filled {
                // SAFETY: as above.
                unsafe { write_bits(values.add(at * size), identity, size) };
            }
        }
        return results;
    }
    let mut layout = ReductionLayout::default();
    layout.fill(axes.into_iter(), input.last);
    // An index is taken apart by the largest stride first.
    let mut reduced = ReductionAxes::from_slice(&layout.reduced);
    sort(&mut reduced, |axis| -axis.strides.index.abs());
    let empty_slices = AtomicUsize::new(0);
    let base = base(&layout);
    // A mask that is broadcast along the slices skips whole slices: they are reduced nevertheless.
    let whole = input.omit == Omit::Nothing && layout.reduced.iter().all(|axis| axis.strides.mask == 0);
    let seen = Input { mask: if whole { ptr::null() } else { input.mask }, ..input };
    let skips = input.skips();
    let mask = input.mask;
    let pattern = if skips { input.pattern() } else { Pattern::NONE };
    let answers = |target, input| Answers {
        input,
        skips,
        mask,
        pattern,
        target,
        reduced: &reduced,
        empty_slices: &empty_slices,
        base,
    };
    match *targets {
        // SAFETY: the caller's promise.
        [target] => unsafe { reduce(&seen, &mut layout, &answers(target, seen)) },
        [one, other] => {
            // The smallest first: kernels for both ends expect it.
            let [smallest, largest] = if input.largest { [other, one] } else { [one, other] };
            let inputs = [Input { largest: false, ..seen }, Input { largest: true, ..seen }];
            let smallest = answers(smallest, inputs[0]);
            let largest = answers(largest, inputs[1]);
            // SAFETY: the caller's promise; there are results, so the layout has positions.
            unsafe { reduce_ends(inputs, &mut layout, [&smallest, &largest]) };
        }
        _ => unreachable!("an order has two ends"),
    }
    empty_slices.into_inner() / targets.len()
}

/// What the broadcast axes that a layout has dropped have added to every index.
fn base(layout: &ReductionLayout) -> i64 {
    let from_other_end = |axis: &ReductionAxis| (axis.len as i64 - 1) * -axis.strides.index.min(0);
    layout.origin.index - layout.reduced.iter().map(from_other_end).sum::<i64>()
}

/// The results at one end of the order: fetches the elements at the indices, and corrects an index whose element does not take
/// part.
struct Answers<'a> {
    /// What kernels reduce: without a mask that skips whole slices.
    input: Input,
    /// Whether elements are skipped: because of this mask, or because of their bits.
    skips: bool,
    mask: *const u8,
    pattern: Pattern,
    /// Where the results go.
    target: Target,
    /// The reduced axes, largest index stride first.
    reduced: &'a [ReductionAxis],
    /// What the broadcast axes that the layout has dropped have added to every index.
    base: i64,
    /// Counts the slices in which no element takes part.
    empty_slices: &'a AtomicUsize,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Answers<'_> {}

impl Sink for Answers<'_> {
    #[inline]
    fn wants(&self, minus_one: MinusOne) -> Wants {
        let Target { values, indices, only_empty, .. } = self.target;
        // Where elements are skipped, the index shows whether the extremum is one of them, unless the kernel knows.
        let tells_empty = minus_one == MinusOne::Empty;
        let by_index = self.skips && !tells_empty;
        let by_value = tells_empty && !values.is_null() && (only_empty || indices.is_null());
        Wants {
            values: !by_index && !values.is_null(),
            index: by_index || !by_value && !indices.is_null(),
            always_called: self.skips,
        }
    }

    #[inline]
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Direct {
        let Target { values, indices, index, .. } = self.target;
        if axis.strides.output != 1 && axis.len > 1 {
            return Direct::NOTHING;
        }
        let values_at = values.wrapping_offset(at.output * self.input.element.size() as isize);
        let indices_at = indices.cast::<i64>().wrapping_offset(at.output);
        let has_indices = index.size() == 8 && !indices.is_null();
        Direct {
            values: if values.is_null() { values } else { values_at },
            index: if has_indices { indices_at } else { ptr::null_mut() },
        }
    }

    unsafe fn take(&self, mut at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
        let Target { values, indices, index, .. } = self.target;
        let step = axis.strides.output;
        let size = index.size() as isize;
        let element = self.input.element.size();
        let places = indices.wrapping_offset(at.output * size);
        if tile.index.is_null() && self.skips {
            let places = if indices.is_null() { indices } else { places };
            // SAFETY: the tile has values, since it has no indices; the output has room for it.
            let empty_slices = unsafe {
                match element {
                    2 => self.tell_empty::<2>(&tile, places, step * size),
                    4 => self.tell_empty::<4>(&tile, places, step * size),
                    _ => self.tell_empty::<8>(&tile, places, step * size),
                }
            };
            self.empty_slices.fetch_add(empty_slices, Ordering::Relaxed);
        } else if self.skips {
            // SAFETY: the tile lies in the layout, and has the indices that this sink wants where elements are skipped.
            unsafe { self.correct(at, axis, &tile) };
        }
        // Results that went directly to the output are there already.
        if !indices.is_null() && !tile.index.is_null() && places != tile.index.cast() {
            // SAFETY: the output has room for the tile.
            unsafe { index.write(places, step * size, tile.index, tile.len) };
        }
        let to = values.wrapping_offset(at.output * element as isize).cast_const();
        let copied = if values.is_null() || to == tile.values { 0 } else { tile.len };
        for number in 0..copied {
            // SAFETY: the tile has a value for each position, or else an index, which is that of an element of the slice or -1.
            let bits = unsafe {
                match tile.values.is_null() {
                    false => bits(tile.values.wrapping_add(number * element), element, false),
                    true if tile.index(number) == -1 => 0,
                    true => {
                        let place = place(self.reduced, at, tile.index(number) - self.base);
                        bits(self.input.data.wrapping_offset(place.input), element, self.input.swapped)
                    }
                }
            };
            // SAFETY: the output has room for the tile.
            unsafe { write_bits(self.target.values.wrapping_offset(at.output * element as isize), bits, element) };
            axis.strides.step(&mut at, 1);
        }
    }
}

impl Answers<'_> {
    /// Writes an index for each slice of a tile, `step` bytes apart: -1 where the value, of `SIZE` bytes, is skipped, and 0
    /// elsewhere. Returns how many are -1. Null `places` are not written. Not inlined, so that small calls do not carry it.
    ///
    /// # Safety
    /// The tile has values, and a value that is skipped only where no element takes part; the places may be written.
    #[inline(never)]
    unsafe fn tell_empty<const SIZE: usize>(&self, tile: &Tile, places: *mut u8, step: isize) -> usize {
        debug_assert!(!tile.values.is_null() && tile.minus_one == MinusOne::Empty, "no values in {tile:?}");
        let size = self.target.index.size();
        let mut empty_slices = 0;
        for slice in 0..tile.len {
            // SAFETY: the caller's promise.
            let value = unsafe { bits(tile.values.wrapping_add(slice * SIZE), SIZE, false) };
            let is_empty = u64::from(self.pattern.matches(value));
            empty_slices += is_empty;
            if !places.is_null() {
                // All bits of -1 are set.
                // SAFETY: the caller's promise.
                unsafe { write_bits(places.wrapping_offset(step * slice as isize), is_empty.wrapping_neg(), size) };
            }
        }
        empty_slices as usize
    }

    /// Corrects the indices of a tile whose element does not take part.
    ///
    /// # Safety
    /// The tile begins at `at`, runs along `axis`, lies in the layout that was reduced, and has an index for each position.
    #[inline(never)]
    unsafe fn correct(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile) {
        let mask = if self.mask.is_null() { self.mask } else { self.mask.wrapping_offset(at.mask) };
        let rest = if self.mask != self.input.mask {
            // The mask skips whole slices, of which the kernels knew nothing: all others have the right index.
            for slice in 0..tile.len {
                // SAFETY: the caller's promise.
                unsafe {
                    let there = *mask.wrapping_offset(axis.strides.mask * slice as isize) != 0;
                    tile.set_index(slice, index_if(there, tile.index(slice)));
                }
            }
            Slices::new()
        } else if tile.minus_one != MinusOne::Unused {
            // The kernels have written -1 where nothing beats the identity. That is right, unless an element that equals it takes part.
            // SAFETY: the caller's promise.
            let empty_slices = unsafe { tile.empty_slices() };
            let rest = match empty_slices == 0 || tile.minus_one == MinusOne::Empty {
                true => Slices::new(),
                // SAFETY: the caller's promise.
                false => unsafe { self.maybe_not_empty(mask, axis.strides.mask, tile) },
            };
            if rest.is_empty() {
                self.empty_slices.fetch_add(empty_slices, Ordering::Relaxed);
                return;
            }
            rest
        } else {
            // The kernels have ignored the mask, but not what replaces skipped elements: an index of one of those is wrong.
            // SAFETY: the caller's promise.
            let open = unsafe {
                match self.input.element.size() {
                    1 => self.omissions::<1>(at, axis, tile),
                    2 => self.omissions::<2>(at, axis, tile),
                    4 => self.omissions::<4>(at, axis, tile),
                    _ => self.omissions::<8>(at, axis, tile),
                }
            };
            match open.len() {
                0 => Slices::new(),
                // SAFETY: the caller's promise; the slices are those of the tile.
                _ => unsafe { self.present(at, axis, tile, open) },
            }
        };
        // Slices that lie apart are read separately, unless little lies between them.
        let slice: usize = self.reduced.iter().map(|axis| axis.len).product();
        let columns = self.reduced.iter().all(|reduced| axis.strides.input.abs() < reduced.strides.input.abs());
        let apart = (REREAD_GAP_ELEMENTS / if columns { 16 } else { slice }).max(1);
        for open in rest.chunk_by(|&one, &next| ((next - one) as usize) <= apart) {
            // SAFETY: the caller's promise.
            unsafe { SecondReading { answers: self, start: at, axis, open, tile: *tile }.read() };
        }
        // SAFETY: the caller's promise.
        self.empty_slices.fetch_add(unsafe { tile.empty_slices() }, Ordering::Relaxed);
    }

    /// The slices of a tile with index -1 in which an element may take part. Slices of the mask are `step` bytes apart.
    ///
    /// # Safety
    /// As for [`correct`](Self::correct), of which this is a part; `mask` is that of the first slice, or null.
    unsafe fn maybe_not_empty(&self, mask: *const u8, step: isize, tile: &Tile) -> Slices {
        let along = self.reduced.last().unwrap_or(&ReductionAxis::POINT);
        let len = along.len;
        let width = along.strides.mask;
        let row = |slice: usize| mask.wrapping_offset(step * slice as isize);
        // SAFETY: the caller's promise, as for all that is read here.
        let index = |slice: usize| unsafe { tile.index(slice) };
        if mask.is_null() {
            return slices(tile.len, |slice| index(slice) == -1);
        }
        // All bits of -1 are set.
        let none = |slice: usize| (index(slice) >> 63) as u64;
        // SAFETY: the mask has a byte for each element of each slice.
        unsafe {
            match (width, len, step) {
                // All slices share one stretch of the mask, which skips all of it.
                (_, _, 0) if any(mask, len, width) == 0 => Slices::new(),
                // A slice is a word, and slices follow one another: the compiler makes vectors of them.
                (1, 4, 4) => {
                    let word = |slice| mask.cast::<u32>().add(slice).read_unaligned();
                    filter(tile, |slice| none(slice) & u64::from(word(slice)))
                }
                (1, 8..=16, _) => filter(tile, |slice| none(slice) & ends(row(slice), len)),
                _ => filter(tile, |slice| none(slice) & any(row(slice), len, width)),
            }
        }
    }

    /// The `open` slices in which the mask lets an element take part; sets the index of the others to -1.
    ///
    /// # Safety
    /// As for [`correct`](Self::correct), of which this is a part; `open` are slices of the tile, at least one, in ascending order.
    unsafe fn present(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile, open: Slices) -> Slices {
        debug_assert!(open.is_sorted() && open.last().is_some_and(|&slice| (slice as usize) < tile.len));
        let mask = self.mask;
        let (along, others) = self.reduced.split_last().unwrap_or((&ReductionAxis::POINT, &[]));
        if mask.is_null() {
            return open;
        }
        // One byte for each slice from the first to the last: where their places in the mask are adjacent, all are read.
        let first = open[0] as usize;
        let end = open[open.len() - 1] as usize + 1;
        let mut there: SmallVec<[u8; 64]> = SmallVec::from_elem(0, end - first);
        let step = axis.strides.mask;
        let width = along.strides.mask;
        for number in 0..positions(others) {
            let mask = mask.wrapping_offset(position(others, axis.after(at, first), number).mask);
            if step == 1 && width != 1 {
                // SAFETY: the mask has a row of bytes, one for each slice, at each place along the axis.
                unsafe { join_rows(&mut there, mask, along.len, width) };
            } else {
                for &slice in &open {
                    let slice = slice as usize - first;
                    let mask = mask.wrapping_offset(step * slice as isize);
                    // SAFETY: the mask has a byte for each element of each slice.
                    there[slice] |= u8::from(unsafe { any(mask, along.len, width) } != 0);
                }
            }
        }
        let rest = slices(open.len(), |at| there[open[at] as usize - first] != 0);
        // A branch for each slice would be mispredicted.
        for &slice in &open {
            let slice = slice as usize;
            // SAFETY: a slice of the tile, which has an index for each.
            unsafe { tile.set_index(slice, index_if(there[slice - first] != 0, tile.index(slice))) };
        }
        rest.iter().map(|&at| open[at as usize]).collect()
    }

    /// The slices whose element, of `SIZE` bytes, is skipped.
    ///
    /// # Safety
    /// As for [`correct`](Self::correct), of which this is a part.
    unsafe fn omissions<const SIZE: usize>(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile) -> Slices {
        // Some kernels write -1 where they know that a slice is empty. A branch would be mispredicted.
        // SAFETY: the caller's promise; a slice has a first element.
        slices(tile.len, |slice| unsafe {
            let index = tile.index(slice);
            (index >= 0) & self.is_left_out(at, axis, slice, index.max(0), SIZE)
        })
    }

    /// Whether the element of `size` bytes at an index of a slice is skipped.
    ///
    /// # Safety
    /// The slice is one of a tile that begins at `at` and runs along `axis`, and has an element at the index.
    #[inline(always)]
    unsafe fn is_left_out(
        &self,
        at: ReductionOffsets,
        axis: &ReductionAxis,
        slice: usize,
        index: i64,
        size: usize,
    ) -> bool {
        let place = place(self.reduced, axis.after(at, slice), index - self.base);
        // Without a branch that depends on the mask: it would be mispredicted.
        // SAFETY: the caller's promise: the mask has a byte for each element.
        let masked = !self.mask.is_null() && unsafe { *self.mask.wrapping_offset(place.mask) } == 0;
        // SAFETY: the caller's promise.
        let bits = || unsafe { bits(self.input.data.wrapping_offset(place.input), size, self.input.swapped) };
        if self.pattern.is_none() { masked } else { masked | self.pattern.matches(bits()) }
    }
}

/// An index, or -1, all of whose bits are set. Arithmetic, because the compiler makes a branch of a choice, and it would be
/// mispredicted: rows of 4 under a mask of whole rows then took five times as long (EPYC, family 26, model 2).
#[inline(always)]
fn index_if(there: bool, index: i64) -> i64 {
    index | (i64::from(there) - 1)
}

/// Numbers of slices of a tile.
type Slices = SmallVec<[u32; 64]>;

/// The numbers for which `holds` is true. Without a branch, which would be mispredicted.
#[inline(always)]
fn slices(len: usize, holds: impl Fn(usize) -> bool) -> Slices {
    let mut numbers: Slices = SmallVec::from_elem(0, len);
    let to = &mut numbers[..];
    let mut count = 0;
    for number in 0..len {
        to[count] = number as u32;
        count += usize::from(holds(number));
    }
    numbers.truncate(count);
    numbers
}

/// The slices of a tile for which `open` is not 0. Most often there is no such slice: that is checked first.
#[inline(always)]
fn filter(tile: &Tile, open: impl Fn(usize) -> u64) -> Slices {
    match (0..tile.len).fold(0, |any, slice| any | open(slice)) {
        0 => Slices::new(),
        _ => slices(tile.len, |slice| open(slice) != 0),
    }
}

/// The first and the last eight of up to sixteen bytes.
///
/// # Safety
/// The `len` bytes, at least eight, may be read.
#[inline(always)]
unsafe fn ends(from: *const u8, len: usize) -> u64 {
    debug_assert!((8..=16).contains(&len), "two words of eight bytes do not cover {len} bytes");
    // SAFETY: the caller's promise.
    unsafe { from.cast::<u64>().read_unaligned() | from.add(len - 8).cast::<u64>().read_unaligned() }
}

/// Not 0 if any of `len` bytes, `step` apart, is not 0. No branch depends on the bytes.
///
/// # Safety
/// The bytes, at least one, may be read.
#[inline(always)]
unsafe fn any(from: *const u8, len: usize, step: isize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match (step, len) {
            (0, _) => u64::from(*from),
            // The last sixteen overlap those before.
            (1, 16..) => (0..len / 16).fold(ends(from.add(len - 16), 16), |any, at| any | ends(from.add(16 * at), 16)),
            (1, 8..) => ends(from, len),
            _ => (0..len as isize).fold(0, |any, at| any | u64::from(*from.wrapping_offset(at * step))),
        }
    }
}

/// Adds to each byte of `all` the bytes at the same place of `rows` rows, `stride` bytes apart: it is then not 0 where one of them
/// is not 0.
///
/// # Safety
/// The rows are as long as `all`, and may be read.
#[inline(always)]
unsafe fn join_rows(all: &mut [u8], from: *const u8, rows: usize, stride: isize) {
    let len = all.len();
    // In pieces that registers hold; the last overlaps the one before.
    for at in (0..len).step_by(MASK_PIECE_BYTES) {
        let at = at.min(len.saturating_sub(MASK_PIECE_BYTES));
        let rows = (0..rows as isize).map(|row| from.wrapping_offset(row * stride).wrapping_add(at));
        if len < MASK_PIECE_BYTES {
            for row in rows {
                // SAFETY: the caller's promise.
                (0..len).for_each(|at| all[at] |= unsafe { *row.add(at) });
            }
            continue;
        }
        // SAFETY: the piece ends inside `all`, and inside the rows.
        unsafe {
            let piece = all.as_mut_ptr().add(at).cast::<[u64; MASK_PIECE_BYTES / 8]>();
            let joined = rows.fold(piece.read_unaligned(), |all, row| {
                let row = row.cast::<[u64; MASK_PIECE_BYTES / 8]>().read_unaligned();
                array::from_fn(|word| all[word] | row[word])
            });
            piece.write_unaligned(joined);
        }
    }
}

/// Bytes of a mask that are joined at a time.
const MASK_PIECE_BYTES: usize = 64;

/// Slices of a tile that are read once more, for the other end of the order.
struct SecondReading<'a> {
    answers: &'a Answers<'a>,
    /// Where the tile starts, and the axis along which it runs.
    start: ReductionOffsets,
    axis: &'a ReductionAxis,
    /// The slices of the tile to be read; slices between them are read, too.
    open: &'a [u32],
    /// The tile, which has an index for each of its slices.
    tile: Tile,
}

// SAFETY: threads write the indices of different slices.
unsafe impl Sync for SecondReading<'_> {}

impl SecondReading<'_> {
    /// Reads the slices.
    ///
    /// # Safety
    /// As for [`Answers::correct`], of which this is a part; the slices are those of the tile.
    #[cold]
    #[inline(never)]
    unsafe fn read(&self) {
        let Answers { input, reduced, .. } = *self.answers;
        let from = self.open[0] as usize;
        let to = self.open[self.open.len() - 1] as usize + 1;
        let strides = ReductionOffsets { output: 1, ..self.axis.strides };
        let origin = ReductionOffsets { output: from as isize, ..self.axis.after(self.start, from) };
        let kept = [Axis { len: to - from, strides }][..].into();
        let mut layout = ReductionLayout { kept, reduced: reduced.into(), origin };
        merge(&mut layout.reduced);
        // SAFETY: the caller's promise: the layout is a part of that of the tile.
        unsafe { reduce_ends([Input { largest: !input.largest, ..input }], &mut layout, [self]) }
    }
}

impl Sink for SecondReading<'_> {
    unsafe fn take(&self, at: ReductionOffsets, _: &ReductionAxis, tile: Tile) {
        let first = at.output as usize;
        let size = self.answers.input.element.size();
        let open =
            self.open.iter().map(|&slice| slice as usize).filter(|slice| (first..first + tile.len).contains(slice));
        for slice in open {
            // SAFETY: this tile is a part of the other, whose slices these are; a sink wants indices by default.
            unsafe {
                let index = tile.index(slice - first);
                let none = index == -1 || self.answers.is_left_out(self.start, self.axis, slice, index, size);
                self.tile.set_index(slice, if none { -1 } else { index });
            }
        }
    }
}

/// The most elements between two slices that are read again with them; for columns, a sixteenth of this number in slices.
const REREAD_GAP_ELEMENTS: usize = 1024;
