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
//! read twice only where it may occur. `empty_slices` finds it.

use crate::element::{ElementType, IndexType, Pattern};
use crate::kernels::lanes::{bits, spread_elements, write_bits};
use crate::layout::{ReductionAxes, ReductionAxis, ReductionLayout, ReductionOffsets, place, positions, sort};
use crate::operations::copies;
use crate::operations::input::{Input, Omit};
use crate::operations::reduce::{reduce, reduce_ends};
use crate::operations::sink::{Direct, MinusOne, Sink, Tile, Wants};
use crate::thresholds::{ORDER_OF_MEMORY_LEAST_ELEMENTS, ORDER_OF_MEMORY_MOST_RESULTS};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the results at one end of the order go: values and indices have the same places, without gaps.
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

/// Adds the strides of results that lie in C order to the dimensions of a call, last dimension first.
pub fn in_c_order(
    dimensions: impl Iterator<Item = (usize, isize, isize, bool)>,
) -> impl Iterator<Item = (usize, isize, isize, isize, bool)> {
    let mut results = 1isize;
    dimensions.map(move |(len, stride, mask, reduced)| {
        let output = results;
        results = if reduced { results } else { results.wrapping_mul(len as isize) };
        (len, stride, mask, output, reduced)
    })
}

/// Finds the extrema at the input's end of the order, and at the other end if there is a second target. Returns the number of
/// positions at which no element takes part.
///
/// `dimensions` yields, last dimension first, the length, the stride in bytes, that of the mask, that of the results, in results
/// (ignored on reduced dimensions), and whether the dimension is reduced. Where a reduced dimension is empty, no element takes part
/// anywhere, and the values are the identity.
///
/// # Safety
/// The input, and the mask if there is one, are readable at every position; there is room for all results, which overlaps
/// neither; an index fits its type.
pub unsafe fn select(
    input: Input,
    dimensions: impl Iterator<Item = (usize, isize, isize, isize, bool)>,
    targets: &[Target],
) -> usize {
    let mut results = 1;
    let mut block = 1;
    let axes = dimensions.map(|(len, stride, mask, output, reduced)| {
        let output = if reduced { 0 } else { output };
        *(if reduced { &mut block } else { &mut results }) *= len;
        (len, ReductionOffsets { input: stride, mask, output, index: 0 }, reduced)
    });
    let mut layout = ReductionLayout::default();
    layout.fill(axes, input.last);
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
    let are_told = input.omit == Omit::Nothing || targets.iter().all(|target| !target.values.is_null());
    if copies::are_copies(&input, &layout) && are_told {
        // SAFETY: the caller's promise.
        let copy = |target| unsafe { copy(&input, &layout, target, results) };
        return targets.iter().map(copy).fold(0, usize::max);
    }
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
    let answers = |target, input, any_equal| Answers {
        input,
        skips,
        mask,
        pattern,
        target,
        reduced: &reduced,
        empty_slices: &empty_slices,
        any_equal,
        base,
    };
    let run = |layout: &mut ReductionLayout, any_equal| match *targets {
        // SAFETY: the caller's promise.
        [target] => unsafe { reduce(&seen, layout, &answers(target, seen, any_equal)) },
        [one, other] => {
            // The smallest first: kernels for both ends expect it.
            let [smallest, largest] = if input.largest { [other, one] } else { [one, other] };
            let inputs = [Input { largest: false, ..seen }, Input { largest: true, ..seen }];
            let smallest = answers(smallest, inputs[0], any_equal);
            let largest = answers(largest, inputs[1], any_equal);
            // SAFETY: the caller's promise; there are results, so the layout has positions.
            unsafe { reduce_ends(inputs, layout, [&smallest, &largest]) };
        }
        _ => unreachable!("an order has two ends"),
    };
    if let Some(mut joined) = in_order_of_memory(&input, &layout, targets, results) {
        run(&mut joined, true);
        // SAFETY: all values have been written.
        if targets.iter().all(|target| unsafe { are_exact(&input, target, results) }) {
            return 0;
        }
    }
    run(&mut layout, false);
    empty_slices.into_inner() / targets.len()
}

/// The layout whose reduced axes are joined as they lie in memory, whatever the order of their indices, where that helps to find a few
/// values of floats. Only zeros and NaN have equals with other bits, which the index tells apart.
fn in_order_of_memory(
    input: &Input,
    layout: &ReductionLayout,
    targets: &[Target],
    results: usize,
) -> Option<ReductionLayout> {
    let are_values =
        input.element.is_float() && !input.skips() && targets.iter().all(|target| target.indices.is_null());
    let elements = results * positions(&layout.reduced);
    let are_few = results <= ORDER_OF_MEMORY_MOST_RESULTS && elements >= ORDER_OF_MEMORY_LEAST_ELEMENTS;
    if layout.reduced.len() < 2 || !are_values || !are_few {
        return None;
    }
    let axes = ReductionAxes::from_slice;
    let mut joined =
        ReductionLayout { kept: axes(&layout.kept), reduced: axes(&layout.reduced), origin: layout.origin };
    joined.forget_indices();
    (joined.reduced.len() < layout.reduced.len()).then_some(joined)
}

/// Whether no value has equals with other bits.
///
/// # Safety
/// There are as many values.
unsafe fn are_exact(input: &Input, target: &Target, results: usize) -> bool {
    let size = input.element.size();
    // SAFETY: the caller's promise.
    let value = |at| unsafe { bits(target.values.wrapping_add(at * size), size, false) };
    input.element.nan().is_none_or(|nan| (0..results).all(|at| !has_equals(nan, value(at))))
}

/// Whether a float is a zero or a NaN, whose equals may have other bits, or an infinity, which may stand for a NaN.
#[inline(always)]
fn has_equals(nan: Pattern, bits: u64) -> bool {
    let magnitude = bits & nan.magnitude;
    magnitude == 0 || magnitude >= nan.limit
}

/// Writes the results of slices of one element each, and returns the number of those whose element is skipped.
///
/// # Safety
/// As for [`select`], with as many results, and values where elements may be skipped.
unsafe fn copy(input: &Input, layout: &ReductionLayout, target: &Target, results: usize) -> usize {
    let &Target { values, indices, index, .. } = target;
    let size = input.element.size();
    let pattern = input.pattern();
    let mut empty_slices = 0;
    // SAFETY: the caller's promise.
    unsafe {
        if !values.is_null() {
            copies::write_values(input, layout, values);
        }
        if input.element == ElementType::Bool && !values.is_null() {
            // Any byte but 0 is True, and a result has the byte 1.
            (0..results).for_each(|at| values.add(at).write(u8::from(values.add(at).read() != 0)));
        }
        if !indices.is_null() {
            copies::write_indices(index, layout, index.size() as isize, indices);
        }
        // Values and indices have the same places, without gaps.
        let told = if pattern.is_none() { 0 } else { results };
        for at in 0..told {
            if pattern.matches(bits(values.wrapping_add(at * size), size, false)) {
                empty_slices += 1;
                if !indices.is_null() {
                    index.write(indices.wrapping_add(at * index.size()), 0, &-1, 1);
                }
            }
        }
    }
    empty_slices
}

/// What the broadcast axes that a layout has dropped have added to every index.
pub(super) fn base(layout: &ReductionLayout) -> i64 {
    let from_other_end = |axis: &ReductionAxis| (axis.len as i64 - 1) * -axis.strides.index.min(0);
    layout.origin.index - layout.reduced.iter().map(from_other_end).sum::<i64>()
}

/// The results at one end of the order: fetches the elements at the indices, and corrects an index whose element does not take
/// part.
pub(super) struct Answers<'a> {
    /// What kernels reduce: without a mask that skips whole slices.
    pub(super) input: Input,
    /// Whether elements are skipped: because of this mask, or because of their bits.
    pub(super) skips: bool,
    pub(super) mask: *const u8,
    pub(super) pattern: Pattern,
    /// Where the results go.
    pub(super) target: Target,
    /// The reduced axes, largest index stride first.
    pub(super) reduced: &'a [ReductionAxis],
    /// What the broadcast axes that the layout has dropped have added to every index.
    pub(super) base: i64,
    /// Counts the slices in which no element takes part.
    pub(super) empty_slices: &'a AtomicUsize,
    /// Whether any of equal elements will do, and indices are unknown: see [`in_order_of_memory`].
    pub(super) any_equal: bool,
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

    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
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
        let to = values.wrapping_offset(at.output * element as isize);
        if !values.is_null() && to.cast_const() != tile.values {
            // SAFETY: the tile lies in the layout, and has values, or indices to fetch them by.
            unsafe { self.write_values(at, axis, &tile, to) };
        }
    }
}

impl Answers<'_> {
    /// Writes the values of a tile, which begin at `to`: its own, or those that are fetched by their indices.
    ///
    /// # Safety
    /// As for [`Sink::take`]; the output has room for the tile.
    unsafe fn write_values(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile, to: *mut u8) {
        let element = self.input.element;
        let size = element.size();
        let step = axis.strides.output * size as isize;
        let are_missing = tile.values.is_null();
        let nan = element.nan().filter(|_| tile.has_any_equals && !self.any_equal);
        if !are_missing && nan.is_none() && element != ElementType::Bool {
            // SAFETY: the tile has a value for each position, and the output has room for them.
            return unsafe { spread_elements(tile.values, to, step, tile.len, size) };
        }
        for number in 0..tile.len {
            // SAFETY: the tile has a value for each position, unless they are missing.
            let value = if are_missing { 0 } else { unsafe { bits(tile.values.add(number * size), size, false) } };
            let is_fetched = are_missing || nan.is_some_and(|nan| has_equals(nan, value));
            // SAFETY: the tile has an index for each position.
            let value = if is_fetched { unsafe { self.fetch(at, axis, tile, number) } } else { value };
            // Any byte but 0 is True, and a result has the byte 1.
            let value = if element == ElementType::Bool { u64::from(value != 0) } else { value };
            // SAFETY: the caller's promise.
            unsafe { write_bits(to.wrapping_offset(step * number as isize), value, size) };
        }
    }

    /// The bits of the element at the index of a position of a tile; 0 where no element takes part.
    ///
    /// # Safety
    /// As for [`Sink::take`]; the tile has an index at this position, which is that of an element of the slice or -1.
    #[inline(always)]
    unsafe fn fetch(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile, number: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe {
            let index = tile.index(number);
            if index == -1 {
                return 0;
            }
            let place = place(self.reduced, axis.after(at, number), index - self.base);
            bits(self.input.data.wrapping_offset(place.input), self.input.element.size(), self.input.swapped)
        }
    }
}
