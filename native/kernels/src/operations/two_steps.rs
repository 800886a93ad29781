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
use crate::operations::input::Input;
use crate::operations::reduce::reduce_ends;
use crate::operations::select::{Answers, Target, base};
use crate::operations::sink::{Direct, MinusOne, Results, Sink, Tile, Wants};
use crate::thresholds::{
    TWO_STEPS_CALL_RESULTS, TWO_STEPS_LEAST_CALLS, TWO_STEPS_MOST_RESULTS, TWO_STEPS_START_RESULTS,
};
use smallvec::SmallVec;
use std::array;
use std::sync::atomic::AtomicUsize;

/// A reduction in two steps.
pub struct TwoSteps {
    /// The first step: it reduces one axis, and counts its results in the order of memory.
    first: ReductionLayout,
    /// The kept axes of the whole reduction: their strides in the results of the first step, as those of the input.
    kept: ReductionAxes,
    /// The other reduced axes, in the same way, with the strides of their indices.
    rest: ReductionAxes,
    /// How many results the first step has.
    results: usize,
}

impl TwoSteps {
    /// The two steps of a layout with at least one position; None where one step is as fast.
    #[inline]
    pub fn of(layout: &ReductionLayout) -> Option<Self> {
        let ReductionLayout { kept, reduced, .. } = layout;
        let joins = |pair: &[ReductionAxis]| pair[1].strides.input == pair[0].strides.input * pair[0].len as isize;
        let may_gain = reduced.len() > 1 || reduced.len() == 1 && kept.windows(2).any(joins);
        let calls = calls(kept) * calls(reduced);
        if may_gain && calls >= TWO_STEPS_LEAST_CALLS { Self::fastest(layout, calls) } else { None }
    }

    /// The fastest two steps, if they are faster than so many calls.
    #[cold]
    fn fastest(layout: &ReductionLayout, calls: usize) -> Option<Self> {
        let all = positions(&layout.kept) * positions(&layout.reduced);
        let can = |&axis: &usize| all / layout.reduced[axis].len <= TWO_STEPS_MOST_RESULTS;
        let steps = (0..layout.reduced.len()).filter(can).map(|axis| Self::along(layout, axis));
        let fastest = steps.min_by_key(Self::time)?;
        (fastest.time() + TWO_STEPS_START_RESULTS < calls.saturating_mul(TWO_STEPS_CALL_RESULTS)).then_some(fastest)
    }

    /// The two steps of which the first reduces axis number `axis` of the reduced axes.
    fn along(layout: &ReductionLayout, axis: usize) -> Self {
        let mut rest = ReductionAxes::from_slice(&layout.reduced);
        let along = rest.remove(axis);
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
        let mut first = ReductionLayout {
            kept: all.iter().zip(&strides).map(|(axis, stride)| strided(axis, stride)).collect(),
            reduced: ReductionAxes::from_slice(&[along]),
            origin: ReductionOffsets { output: 0, ..layout.origin },
        };
        merge(&mut first.kept);
        let of_results = |axis: &ReductionAxis, &input: &isize| Axis {
            len: axis.len,
            strides: ReductionOffsets { input, index: axis.strides.index, ..ReductionOffsets::default() },
        };
        let (of_kept, of_rest) = strides.split_at(layout.kept.len());
        let kept = layout.kept.iter().zip(of_kept).map(|(axis, stride)| of_results(axis, stride)).collect();
        let rest = rest.iter().zip(of_rest).map(|(axis, stride)| of_results(axis, stride)).collect();
        Self { first, kept, rest, results }
    }

    /// The estimated time, in results of the first step that the second reads.
    fn time(&self) -> usize {
        calls(&self.first.kept).saturating_mul(TWO_STEPS_CALL_RESULTS).saturating_add(self.results)
    }

    /// Reduces inputs, which differ only in the end of the order, and hands the results to the sinks.
    ///
    /// # Safety
    /// As for [`reduce_ends`]; these are the two steps of the layout.
    pub unsafe fn reduce<const ENDS: usize>(
        mut self,
        inputs: [Input; ENDS],
        layout: &ReductionLayout,
        sinks: [&impl Sink; ENDS],
    ) {
        let element = inputs[0].element;
        let skips = inputs[0].skips();
        // Equal floats may have different bits, so that the index decides which of them is the result.
        let wanted = sinks.iter().any(|sink| sink.wants(MinusOne::Empty).index || sink.wants(MinusOne::Unused).index);
        let wants = Wants { values: true, index: skips || wanted || element.is_float(), always_called: true };
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
            }
        });
        // SAFETY: the caller's promise; the first step covers the same elements, and its results have room.
        unsafe { reduce_ends(inputs, &mut self.first, answers.each_ref()) };
        for ((input, to), sink) in inputs.iter().zip(&to).zip(sinks) {
            // SAFETY: the first step has written all of its results, with their indices where these are wanted.
            with_element_and_order!(input.element, input.largest, E, O => unsafe {
                self.compare::<E, O>(input, layout, to, sink)
            });
        }
    }

    /// The second step, at one end of the order.
    ///
    /// # Safety
    /// There are all results of the first step, and the sink takes the tiles of the layout.
    unsafe fn compare<E: HasLane, O: Order>(
        &self,
        input: &Input,
        layout: &ReductionLayout,
        results: &Outputs,
        sink: &impl Sink,
    ) {
        const POINT: (ReductionAxis, &[ReductionAxis]) = (ReductionAxis::POINT, &[]);
        let split = |axes| <[ReductionAxis]>::split_first(axes).map_or(POINT, |(&first, others)| (first, others));
        let (axis, outer) = split(&layout.kept);
        let (along, others) = split(&self.kept);
        let mut values = [0u64; TILE];
        let mut indices = [0i64; TILE];
        for line in 0..positions(outer) {
            let start = position(others, ReductionOffsets::default(), line);
            let at = position(outer, layout.origin, line);
            for first in (0..axis.len).step_by(TILE) {
                let len = TILE.min(axis.len - first);
                for number in 0..len {
                    // SAFETY: the caller's promise.
                    let best = unsafe { self.best::<E, O>(along.after(start, first + number), results, input.last) };
                    indices[number] = best.map_or(-1, |(_, index)| index);
                    if let Some((element, _)) = best {
                        // SAFETY: the memory has room for a tile of elements of 8 bytes.
                        unsafe { values.as_mut_ptr().cast::<E>().add(number).write(element) };
                    }
                }
                let tile = Tile {
                    len,
                    index: indices.as_mut_ptr(),
                    values: values.as_ptr().cast(),
                    minus_one: MinusOne::Empty,
                };
                // SAFETY: the caller's promise; the tile has a value and an index for each position.
                unsafe { sink.take(axis.after(at, first), &axis, tile) };
            }
        }
    }

    /// The best result of the first step along the other reduced axes, and its index; None if no element takes part.
    ///
    /// # Safety
    /// There are results wherever these axes lead from `at` on.
    #[inline(always)]
    unsafe fn best<E: HasLane, O: Order>(
        &self,
        at: ReductionOffsets,
        results: &Outputs,
        last: bool,
    ) -> Option<(E, i64)> {
        let (inner, outer) = self.rest.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        // SAFETY: there are as many results.
        let (values, indices) =
            unsafe { (results.values_of(self.results, size_of::<E>()), results.places_of(self.results)) };
        let mut best: Option<(E, i64)> = None;
        for line in 0..positions(outer) {
            let mut at = position(outer, at, line);
            for _ in 0..inner.len {
                // SAFETY: the caller's promise.
                let (element, found) = unsafe {
                    let index = if indices.is_null() { 0 } else { *indices.element::<i64>(at.input as usize) };
                    (*values.element::<E>(at.input as usize), index)
                };
                let index = found + at.index;
                let key = |element: E| element.lane::<O>().key::<O>();
                let wins = best.is_none_or(|(champion, place)| {
                    let earlier = if last { index > place } else { index < place };
                    O::better(key(element), key(champion)) || key(element) == key(champion) && earlier
                });
                if found >= 0 && wins {
                    best = Some((element, index));
                }
                inner.strides.step(&mut at, 1);
            }
        }
        best
    }
}

/// Positions whose results are handed on together.
const TILE: usize = 64;

/// How many calls of a kernel, which covers the first of some axes, walk along all of them.
fn calls(axes: &[ReductionAxis]) -> usize {
    axes.get(1..).map_or(1, positions)
}
