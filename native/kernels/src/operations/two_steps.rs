//! Reductions in two steps, where axes do not join in memory: one step would call a kernel for each few elements.
//!
//! ```text
//! an image of (240, 320, 3), seen as (3, 240, 320), over all axes: in memory 76,800 pixels of three elements
//! first step:  reduce one axis, the pixels, and keep all others in the order of memory, where they join: three values and indices
//! second step: for each result, compare those along the other reduced axes; of equal elements the first or last index wins
//! ```
//!
//! The same helps where kept axes join in memory, but not in the output: their results are put into its order in the second step.
//!
//! The first step reduces the axis that leaves the fewest calls and results. A reduction takes two steps if their estimated time is
//! shorter than that of the calls of one step. Reading takes about as long either way, and does not count.

use crate::element::compare::{HasLane, Lane};
use crate::element::order::Order;
use crate::element::{IndexType, Pattern, with_element_and_order};
use crate::kernels::lanes::Outputs;
use crate::layout::{
    Axis, ReductionAxes, ReductionAxis, ReductionLayout, ReductionOffsets, Strides, by_memory, merge, position,
    positions, sort,
};
use crate::operations::choice::{is_small_inner, wider_columns};
use crate::operations::input::Input;
use crate::operations::reduce::reduce_ends;
use crate::operations::select::{Answers, Target, base};
use crate::operations::sink::{Direct, MinusOne, Results, Sink, Tile, Wants};
use crate::thresholds::{
    INTERLEAVED_BELOW_COLUMNS, TWO_STEPS_CALL_RESULTS, TWO_STEPS_COMBINED, TWO_STEPS_MOST_RESULTS,
    TWO_STEPS_PACKED_ELEMENTS, TWO_STEPS_ROW_RESULTS, TWO_STEPS_START_RESULTS,
};
use smallvec::SmallVec;
use std::array;
use std::sync::atomic::AtomicUsize;

/// A reduction in two steps.
struct TwoSteps {
    /// The first step: it reduces one axis, and counts its results in the order of memory.
    first: ReductionLayout,
    /// The kept axes of the whole reduction: their strides in the results of the first step, as those of the input.
    kept: ReductionAxes,
    /// The other reduced axes, in the same way, with the strides of their indices.
    rest: ReductionAxes,
    /// How many results the first step has.
    results: usize,
    /// What a place along the axis of the first step adds to an index, and where indices begin. The first step counts places alone,
    /// which kernels write directly.
    weight: i64,
    start: i64,
}

/// Whether two steps may be faster than one: axes are reduced that do not join, or axes are kept that join in memory alone.
#[inline]
pub fn may_be_faster(input: &Input, layout: &ReductionLayout) -> bool {
    let ReductionLayout { kept, reduced, .. } = layout;
    let joins = |pair: &[ReductionAxis]| follows(&pair[1], &pair[0]);
    let are_open = reduced.len() > 1 || reduced.len() == 1 && kept.windows(2).any(joins);
    are_open && !is_small_inner(input, layout)
}

/// Reduces inputs, which differ only in the end of the order, in two steps if that is faster: returns whether it did. The layout has at
/// least one position. Not inlined: other calls need none of its memory.
///
/// # Safety
/// As for [`reduce_ends`].
#[inline(never)]
pub unsafe fn reduce<const ENDS: usize>(
    inputs: [Input; ENDS],
    layout: &ReductionLayout,
    sinks: [&impl Sink; ENDS],
) -> bool {
    let Some(steps) = TwoSteps::fastest(layout, inputs[0].element.size()) else { return false };
    // SAFETY: the caller's promise.
    unsafe { steps.reduce(inputs, layout, sinks) };
    true
}

impl TwoSteps {
    /// The fastest two steps, if they are faster than one.
    fn fastest(layout: &ReductionLayout, size: usize) -> Option<Self> {
        let one_step = time(layout, size);
        let all = positions(&layout.kept) * positions(&layout.reduced);
        let results = |axis: &ReductionAxis| all / axis.len;
        // Asked first, because planning two steps takes a while: the fewest results, in one call.
        let fewest = layout.reduced.iter().map(results).min()?;
        if one_step <= fewest + TWO_STEPS_CALL_RESULTS + TWO_STEPS_START_RESULTS {
            return None;
        }
        let can = |&axis: &usize| results(&layout.reduced[axis]) <= TWO_STEPS_MOST_RESULTS;
        // Of equal times the last axis, which lies outermost: columns are read as they are.
        let steps = (0..layout.reduced.len()).rev().filter(can).map(|axis| Self::along(layout, axis));
        let time = |steps: &Self| time(&steps.first, size) + steps.results + TWO_STEPS_START_RESULTS;
        steps.min_by_key(time).filter(|steps| time(steps) < one_step)
    }

    /// The two steps of which the first reduces axis number `axis` of the reduced axes.
    fn along(layout: &ReductionLayout, axis: usize) -> Self {
        let mut rest = ReductionAxes::from_slice(&layout.reduced);
        let mut along = rest.remove(axis);
        let all: SmallVec<[ReductionAxis; 8]> = layout.kept.iter().chain(&rest).copied().collect();
        // The results of the first step lie in the order of the elements that they stand for.
        let mut order: SmallVec<[usize; 8]> = (0..all.len()).collect();
        sort(&mut order, |&number| by_memory(&all[number]));
        let mut strides: SmallVec<[isize; 8]> = SmallVec::from_elem(0, all.len());
        let mut results = 1;
        for number in order {
            strides[number] = results as isize;
            results *= all[number].len;
        }
        let strided = |axis: &ReductionAxis, &output: &isize| Axis {
            len: axis.len,
            strides: ReductionOffsets { output, index: 0, ..axis.strides },
        };
        let weight = along.strides.index.abs();
        along.strides.index = along.strides.index.signum();
        let last_place = if along.strides.index < 0 { along.len as i64 - 1 } else { 0 };
        let mut first = ReductionLayout {
            kept: all.iter().zip(&strides).map(|(axis, stride)| strided(axis, stride)).collect(),
            reduced: ReductionAxes::from_slice(&[along]),
            origin: ReductionOffsets { output: 0, index: last_place, ..layout.origin },
        };
        merge(&mut first.kept);
        let of_results = |axis: &ReductionAxis, &input: &isize| Axis {
            len: axis.len,
            strides: ReductionOffsets { input, index: axis.strides.index, ..ReductionOffsets::default() },
        };
        let (of_kept, of_rest) = strides.split_at(layout.kept.len());
        let kept = layout.kept.iter().zip(of_kept).map(|(axis, stride)| of_results(axis, stride)).collect();
        let rest = rest.iter().zip(of_rest).map(|(axis, stride)| of_results(axis, stride)).collect();
        let start = layout.origin.index - last_place * weight;
        Self { first, kept, rest, results, weight, start }
    }

    /// Reduces inputs, which differ only in the end of the order, and hands the results to the sinks.
    ///
    /// # Safety
    /// As for [`reduce_ends`]; these are the two steps of the layout.
    unsafe fn reduce<const ENDS: usize>(
        mut self,
        inputs: [Input; ENDS],
        layout: &ReductionLayout,
        sinks: [&impl Sink; ENDS],
    ) {
        let element = inputs[0].element;
        let skips = inputs[0].skips();
        // Equal floats may have different bits, so that the index decides which of them is the result, unless indices are forgotten.
        let any_equal = self.weight == 0;
        let wanted = sinks.iter().any(|sink| sink.wants(MinusOne::Empty).index || sink.wants(MinusOne::Unused).index);
        let wants =
            Wants { values: true, index: skips || wanted || element.is_float() && !any_equal, always_called: true };
        let mut memory = [(); ENDS].map(|()| Results::new(self.results, element.size()));
        // SAFETY: nothing is written directly to an output.
        let to = memory.each_mut().map(|memory| unsafe { memory.with(Direct::NOTHING, wants, self.results, false).to });
        let empty_slices = AtomicUsize::new(0);
        let reduced = ReductionAxes::from_slice(&self.first.reduced);
        let answers: [Answers; ENDS] = array::from_fn(|end| {
            let input = inputs[end];
            // SAFETY: there is room for as many results.
            let (values, indices) = unsafe {
                let values = to[end].values_of(self.results, element.size()).address();
                (values, to[end].places_of(self.results).address())
            };
            Answers {
                input,
                skips,
                mask: input.mask,
                pattern: if skips { input.pattern() } else { Pattern::NONE },
                target: Target { values, indices, index: IndexType::Int64, only_empty: false },
                reduced: &reduced,
                base: base(&self.first),
                empty_slices: &empty_slices,
                any_equal,
            }
        });
        // SAFETY: the caller's promise; the first step covers the same elements, and its results have room.
        unsafe { reduce_ends(inputs, &mut self.first, answers.each_ref()) };
        for ((input, to), sink) in inputs.iter().zip(&to).zip(sinks) {
            // SAFETY: the first step has written all of its results, with their indices where these are wanted.
            unsafe { self.hand_on(input, layout, to, sink) };
        }
    }

    /// The second step, at one end of the order: hands the best results of the first to the sink.
    ///
    /// # Safety
    /// There are all results of the first step, and the sink takes the tiles of the layout.
    unsafe fn hand_on(&self, input: &Input, layout: &ReductionLayout, results: &Outputs, sink: &impl Sink) {
        // Tiles lie along the longest axis.
        let longest = (0..layout.kept.len()).max_by_key(|&axis| layout.kept[axis].len).unwrap_or(0);
        let longest_first = |axes: &ReductionAxes| {
            let mut axes = ReductionAxes::from_slice(axes);
            let first = if axes.is_empty() { ReductionAxis::POINT } else { axes.remove(longest) };
            (first, axes)
        };
        let (axis, outer) = &longest_first(&layout.kept);
        let (along, others) = &longest_first(&self.kept);
        let mut values = [0u64; TILE];
        let mut indices = [0i64; TILE];
        let values = values.as_mut_ptr().cast::<u8>();
        for line in 0..positions(outer) {
            let at = position(outer, layout.origin, line);
            let of_line = position(others, ReductionOffsets::default(), line);
            for start in (0..axis.len).step_by(TILE) {
                let of_tile = Axis { len: TILE.min(axis.len - start), ..*along };
                let from = along.after(of_line, start);
                // SAFETY: the caller's promise; there is room for the elements and indices of a tile.
                with_element_and_order!(input.element, input.largest, E, O => unsafe {
                    self.compare::<E, O>(from, &of_tile, results, input.last, values.cast(), &mut indices)
                });
                let tile = Tile {
                    len: of_tile.len,
                    index: indices.as_mut_ptr(),
                    values,
                    has_any_equals: false,
                    minus_one: MinusOne::Empty,
                };
                // SAFETY: the caller's promise; the tile has a value and an index for each position.
                unsafe { sink.take(axis.after(at, start), axis, tile) };
            }
        }
    }

    /// Finds the best results of the first step along the other reduced axes, and their indices: -1 where no element takes part. It
    /// does so for each position of a tile along an axis.
    ///
    /// # Safety
    /// There are results wherever the axes lead from `at` on, and room for as many values and indices as the tile has positions.
    #[inline(never)]
    unsafe fn compare<E: HasLane, O: Order>(
        &self,
        at: ReductionOffsets,
        tile: &ReductionAxis,
        results: &Outputs,
        last: bool,
        values: *mut E,
        indices: &mut [i64; TILE],
    ) {
        debug_assert!(tile.len <= TILE);
        let (inner, outer) = self.rest.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        // SAFETY: there are as many results.
        let (elements, places) =
            unsafe { (results.values_of(self.results, size_of::<E>()), results.places_of(self.results)) };
        let stride = tile.strides.input;
        for line in 0..positions(outer) {
            let mut at = position(outer, at, line);
            for step in 0..inner.len {
                let is_first = line == 0 && step == 0;
                let mut from = at.input;
                for number in 0..tile.len {
                    // SAFETY: the caller's promise; the first of these results have filled the memory for the others.
                    unsafe {
                        let element = *elements.element::<E>(from as usize);
                        let place = if places.is_null() { 0 } else { *places.element::<i64>(from as usize) };
                        from += stride;
                        let index = if place < 0 { -1 } else { self.start + place * self.weight + at.index };
                        let key = |element: E| element.lane::<O>().key::<O>();
                        let best = values.add(number);
                        if is_first || wins::<O, _>(key(element), index, key(*best), indices[number], last) {
                            *best = element;
                            indices[number] = index;
                        }
                    }
                }
                inner.strides.step(&mut at, 1);
            }
        }
    }
}

/// Whether a result beats another; an index of -1 is none.
#[inline(always)]
fn wins<O: Order, K: Ord>(key: K, index: i64, other_key: K, other: i64, last: bool) -> bool {
    let is_ahead = if last { index > other } else { index < other };
    index >= 0 && (other < 0 || O::better(&key, &other_key) || key == other_key && is_ahead)
}

/// Positions whose results are handed on together.
const TILE: usize = 64;

/// The estimated time of one step besides that of reading, in results of the first of two steps that the second compares: of calls,
/// and of rows of columns that do not follow one another, or of packing. Slices that are rows take little: many are compared at the
/// same time.
fn time(layout: &ReductionLayout, size: usize) -> usize {
    let (kept, outer_kept) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    let (reduced, outer_reduced) = layout.reduced.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    let calls = positions(outer_kept) * positions(outer_reduced);
    let is_contiguous = kept.strides.input == size as isize;
    let is_dense = is_contiguous && follows(reduced, kept);
    if is_contiguous
        && !is_dense
        && let Some(wider) = wider_columns(&layout.kept, reduced)
    {
        let calls = calls * kept.len / layout.kept[wider].len;
        let elements = positions(&layout.kept) * positions(&layout.reduced);
        return calls.saturating_mul(TWO_STEPS_CALL_RESULTS).saturating_add(elements / TWO_STEPS_PACKED_ELEMENTS);
    }
    let has_columns = by_memory(kept) < by_memory(reduced);
    let rows = if has_columns && !is_dense { calls.saturating_mul(reduced.len) } else { 0 };
    // One step combines the results of its calls.
    let combined = if outer_reduced.is_empty() { 0 } else { calls.saturating_mul(kept.len) / TWO_STEPS_COMBINED };
    // Narrow columns that follow one another are read as wide rows, whose ends take calls of their own.
    let is_narrow = is_dense && kept.len < INTERLEAVED_BELOW_COLUMNS;
    let called = calls.saturating_mul(TWO_STEPS_CALL_RESULTS * if is_narrow { 2 } else { 1 });
    called.saturating_add(rows.saturating_mul(TWO_STEPS_ROW_RESULTS)).saturating_add(combined)
}

/// Whether an axis begins where a step along a nearer one would lead.
fn follows(far: &ReductionAxis, near: &ReductionAxis) -> bool {
    far.strides.input == near.strides.input * near.len as isize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layout of float32: for each dimension, the last first, its length, its stride in bytes and whether it is reduced.
    fn layout(axes: &[(usize, isize, bool)]) -> ReductionLayout {
        let mut output = 1;
        let axes = axes.iter().map(|&(len, input, reduced)| {
            let step = if reduced { 0 } else { output };
            output *= if reduced { 1 } else { len as isize };
            (len, ReductionOffsets { input, output: step, ..ReductionOffsets::default() }, reduced)
        });
        let mut layout = ReductionLayout::default();
        layout.fill(axes, false);
        layout
    }

    fn lens(axes: &[ReductionAxis]) -> Vec<usize> {
        axes.iter().map(|axis| axis.len).collect()
    }

    #[test]
    fn the_first_step_reads_all_in_few_calls() {
        let reduced = true;
        let kept = false;
        for (name, axes, along, joined) in [
            (
                "an image with its channels in front",
                vec![(320, 12, reduced), (240, 3840, reduced), (3, 4, reduced)],
                76_800,
                3,
            ),
            ("a table on its side", vec![(20_000, 40, reduced), (10, 4, reduced)], 20_000, 10),
            ("the inside of a plane", vec![(300, 4, reduced), (300, 1208, reduced)], 300, 300),
            ("backwards along one axis", vec![(100, -4, reduced), (10_000, 400, reduced)], 10_000, 100),
            ("short rows in batches", vec![(5, 4, reduced), (9, 20, kept), (1500, 180, reduced)], 1500, 45),
            ("outermost in memory", vec![(57, 18_360, reduced), (170, 108, kept), (27, 4, kept)], 57, 4590),
        ] {
            let steps = TwoSteps::fastest(&layout(&axes), 4).expect(name);
            assert_eq!(lens(&steps.first.reduced), [along], "{name}");
            assert_eq!(lens(&steps.first.kept), [joined], "{name}");
            assert_eq!(steps.results, joined, "{name}");
        }
    }

    #[test]
    fn axes_that_join_take_one_step() {
        let input = Input {
            data: std::ptr::null(),
            element: crate::element::ElementType::Float32,
            swapped: false,
            largest: true,
            last: false,
            omit: crate::operations::input::Omit::Nothing,
            mask: std::ptr::null(),
        };
        for axes in [
            vec![(1000, 4, true), (1000, 4000, true)],
            vec![(1000, -4, true), (1000, -4000, true)],
            vec![(256, 4, false), (16, 1024, true), (100, 16_384, false)],
            vec![(1000, 4, false), (1000, 4000, true)],
            vec![(1000, 4, true)],
            vec![],
        ] {
            assert!(!may_be_faster(&input, &layout(&axes)), "{axes:?}");
        }
    }
}
