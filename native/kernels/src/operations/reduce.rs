//! Reductions: the walk over the blocks of a plan.
//!
//! For each tile the reduced positions are visited block by block; one kernel call turns a block into a key
//! and an index for every position of the tile. The blocks of a tile are combined; a finished tile goes to a [`Sink`].
//! Threads take some of the tiles each, or parts of them where there are fewer tiles than tasks.

use crate::isa::dispatch;
use crate::kernels::lanes::{Lines, Outputs};
use crate::kernels::rows::Rows;
use crate::layout::{ReductionAxis, ReductionLayout, ReductionOffsets, position, positions};
use crate::operations::block::Blocks;
use crate::operations::down;
use crate::operations::input::{Input, Omission, with_input};
use crate::operations::plan::{Form, Plan};
use crate::operations::sink::{Results, Sink, Tile, Wants, combine, is_utmost};
use crate::operations::small;
use crate::threads;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

/// Reduces `input` over a normalised layout, with as many threads as pay.
///
/// # Safety
/// The input is readable wherever the layout leads, and the sink was made for the layout.
pub unsafe fn reduce<S: Sink + Sync>(input: Input, layout: &mut ReductionLayout, sink: &S) {
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    if elements == 0 {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if small::is_small(elements) && !input.swapped && !input.numbers {
            small::reduce(input, layout, sink)
        } else {
            reduce_large(input, layout, sink, elements)
        }
    }
}

/// The same of so many elements that it pays to choose a way. (Not inlined, for small arrays to be spared it.)
///
/// # Safety
/// As for [`reduce`].
#[inline(never)]
unsafe fn reduce_large<S: Sink + Sync>(input: Input, layout: &mut ReductionLayout, sink: &S, elements: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if is_line(&input, layout, sink)
            && threads::num_threads(elements.saturating_mul(input.element.size() * S::MOVED)) == 1
        {
            reduce_line(input, layout, sink);
        } else {
            reduce_ends([(input, None)], layout, [sink]);
        }
    }
}

/// Whether one line of contiguous elements is all that is reduced: there is nothing to plan, which for a thousand elements takes a
/// tenth of the time.
#[inline]
fn is_line(input: &Input, layout: &ReductionLayout, sink: &impl Sink) -> bool {
    let [axis] = layout.reduced.as_slice() else { return false };
    layout.kept.is_empty()
        && axis.strides.input == input.element.size() as isize
        && (axis.strides.index, layout.origin.index) == (1, 0)
        && !input.swapped
        && sink.wants() == Wants { values: false, index: true, sight: false }
}

/// Reduces a line.
///
/// # Safety
/// As for [`reduce`]; it [is one](is_line).
#[inline]
unsafe fn reduce_line(input: Input, layout: &ReductionLayout, sink: &impl Sink) {
    let at = layout.origin;
    let mut place = 0;
    let direct = sink.direct_output(at, &ReductionAxis::POINT).index;
    let index = if direct.is_null() { &raw mut place } else { direct };
    // SAFETY: the caller's.
    unsafe {
        read_line(&input, input.data.wrapping_offset(at.input), layout.reduced[0].len, index);
        if direct.is_null() {
            sink.take(at, &ReductionAxis::POINT, Tile { len: 1, index, values: ptr::null() });
        }
    }
}

/// Writes the index of the extremum of a line. (Of no sink in particular, or its kernels would be compiled again for each crate
/// that has one.)
///
/// # Safety
/// There are `len >= 1` contiguous elements, and room for the index.
#[inline(never)]
unsafe fn read_line(input: &Input, data: *const u8, len: usize, index: *mut i64) {
    let (lines, last) = (Lines::plain(data, 0), input.last);
    let (against, to) = (&[ptr::null()], &[Outputs { index, ..Outputs::NOTHING }]);
    // SAFETY: the caller's.
    with_input!(input, E, O => unsafe {
        dispatch(Rows::<*const E, O> { lines, rows: 1, len, last, against, to, ends: PhantomData })
    });
}

/// Reduces an input for one or both ends of the order at once, some elements left out where an omission says so.
///
/// # Safety
/// The input and its mask are readable wherever the layout leads, which is to one position at least; the sinks were made
/// for the layout. The inputs differ in the end of the order alone. (Not inlined: small arrays need none of its memory.)
#[inline(never)]
pub unsafe fn reduce_ends<const ENDS: usize, S: Sink + Sync>(
    ends: [(Input, Option<&Omission>); ENDS],
    layout: &mut ReductionLayout,
    sinks: [&S; ENDS],
) {
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    let num_threads = threads::num_threads(elements.saturating_mul(ends[0].0.element.size() * S::MOVED));
    // SAFETY: the caller's promise.
    unsafe { reduce_on(num_threads, ends, layout, sinks) }
}

/// The same on so many threads.
///
/// # Safety
/// As for [`reduce_ends`].
#[inline]
pub unsafe fn reduce_on<const ENDS: usize, S: Sink + Sync>(
    num_threads: usize,
    ends: [(Input, Option<&Omission>); ENDS],
    layout: &mut ReductionLayout,
    sinks: [&S; ENDS],
) {
    let (input, omission) = ends[0];
    let (origin, inputs) = (layout.origin, ends.map(|end| end.0));
    if omission.is_none() && down::serves(&input, layout) {
        // SAFETY: the caller's promise.
        return unsafe { down::reduce(inputs, layout, sinks, num_threads) };
    }
    let places = sinks.iter().any(|sink| sink.wants().index);
    let plan = Plan::new(&input, omission, (ENDS, places), layout, threads::tasks(num_threads));
    let walk = Blocks { inputs, omissions: ends.map(|end| end.1), plan: &plan, origin };
    // SAFETY: the caller's promise.
    unsafe {
        match num_threads {
            1 => walk.run(0..plan.tiles(), sinks),
            _ => walk.share(num_threads, sinks),
        }
    }
}

/// Elements that are looked at before threads are asked for help: to ask takes longer.
const HEAD: usize = 4096;

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reduces the given tiles and hands each to the sinks.
    ///
    /// # Safety
    /// The input's memory is readable wherever the layout leads, and the sinks were made for the layout.
    unsafe fn run(&self, tiles: Range<usize>, sinks: [&impl Sink; ENDS]) {
        let plan = self.plan;
        // Whether a tile is one block whose positions already are the indices, and not one that is combined of parts.
        let combined = plan.blocks() > 1 || matches!(plan.form, Form::Interleaved(_));
        let plain = !combined && (plan.reduced.strides.index, self.origin.index) == (1, 0);
        let (mut states, mut block) = (self.results(), self.results());
        for tile in tiles {
            let (at, len) = self.tile(tile);
            // SAFETY: the caller's promise, for every position of the walk.
            unsafe {
                if plain {
                    self.read_tile(at, len, sinks, &mut states);
                } else {
                    self.reduce_blocks(at, len, 0..plan.blocks(), &mut states, &mut block);
                    self.hand_on(at, len, &mut states, sinks);
                }
            }
        }
    }

    /// Where a tile begins, and its length.
    fn tile(&self, tile: usize) -> (ReductionOffsets, usize) {
        let plan = self.plan;
        let (line, start) = match plan.per_line() {
            1 => (tile, 0),
            per_line => (tile / per_line, tile % per_line * plan.tile),
        };
        let at = plan.kept.moved(position(plan.outer_kept, self.origin, line), start);
        (at, plan.tile.min(plan.kept.len - start))
    }

    /// Memory for the results of a tile.
    fn results(&self) -> [Results; ENDS] {
        [(); ENDS].map(|()| Results::new(self.plan.tile, self.inputs[0].element.size()))
    }

    /// Reads a plain tile, into the outputs themselves as far as that goes.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn read_tile(
        &self,
        at: ReductionOffsets,
        len: usize,
        sinks: [&impl Sink; ENDS],
        memory: &mut [Results; ENDS],
    ) {
        let kept = &self.plan.kept;
        let mut takes = false;
        let mut to = [Outputs::NOTHING; ENDS];
        for ((to, sink), memory) in to.iter_mut().zip(sinks).zip(memory) {
            let (outputs, take) = memory.beside(sink.direct_output(at, kept), sink.wants());
            (*to, takes) = (outputs, takes | take);
        }
        // SAFETY: the caller's; what is wanted of the tile is written before it is handed on.
        unsafe {
            self.read(&at, len, 0..self.plan.reduced.len, &[ptr::null(); ENDS], &to);
            for (to, sink) in to.iter().zip(sinks).filter(|_| takes) {
                sink.take(at, kept, Tile { len, index: to.index, values: to.values });
            }
        }
    }

    /// Hands the results of a tile to the sinks.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the states are filled.
    unsafe fn hand_on(
        &self,
        at: ReductionOffsets,
        len: usize,
        states: &mut [Results; ENDS],
        sinks: [&impl Sink; ENDS],
    ) {
        for (state, sink) in states.iter_mut().zip(sinks) {
            let Outputs { keys, index, .. } = state.outputs();
            // The keys of integers are the integers.
            let told = sink.wants().values && self.inputs[0].element.is_integer();
            let values = if told { keys } else { ptr::null_mut() };
            // SAFETY: the caller's.
            unsafe { sink.take(at, &self.plan.kept, Tile { len, index, values }) };
        }
    }

    /// Reduces some of the blocks of one tile into `states`, each but the first by way of `block`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn reduce_blocks(
        &self,
        at: ReductionOffsets,
        len: usize,
        blocks: Range<usize>,
        states: &mut [Results; ENDS],
        block: &mut [Results; ENDS],
    ) {
        let plan = self.plan;
        let per_line = plan.blocks_per_line();
        let (first, states) = (blocks.start, states.each_mut().map(Results::outputs));
        for number in blocks {
            let at = position(plan.outer_reduced, at, number / per_line);
            let start = number % per_line * plan.chunk;
            let span = start..plan.reduced.len.min(start + plan.chunk);
            // SAFETY: the caller's promise; the block fills what is read of it.
            unsafe {
                if number == first {
                    self.read_with_indices(&at, len, span, &[ptr::null(); ENDS], &states);
                    continue;
                }
                // Only a block that reaches what the others have found needs to say where.
                let (against, into) =
                    (states.map(|state| state.keys.cast_const()), block.each_mut().map(Results::outputs));
                self.read_with_indices(&at, len, span, &against, &into);
                for ((state, block), input) in states.iter().zip(into).zip(&self.inputs) {
                    combine(len, *state, block, input, input.last);
                }
            }
        }
    }

    /// Shares the work among threads. (Not inlined: a call on one thread would have to step over it.)
    ///
    /// # Safety
    /// As for [`run`](Self::run), of all tiles.
    #[inline(never)]
    unsafe fn share(&self, num_threads: usize, sinks: [&(impl Sink + Sync); ENDS]) {
        let (tiles, tasks) = (self.plan.tiles(), threads::tasks(num_threads));
        let parts = tasks.div_ceil(tiles).min(self.plan.blocks());
        // SAFETY: the caller's; the ranges are different tiles.
        unsafe {
            if self.ends_early(sinks) {
                return;
            }
            if parts == 1 {
                threads::map(threads::ranges(tiles, tasks), |tiles| self.run(tiles, sinks));
            } else {
                self.run_in_parts(tiles, parts, sinks);
            }
        }
    }

    /// Looks at the beginning of a single row of integers, from the end whose ties win, and hands the result to the sinks where
    /// nothing after it can win.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn ends_early(&self, sinks: [&impl Sink; ENDS]) -> bool {
        let (plan, inputs) = (self.plan, &self.inputs);
        let single = plan.kept.len == 1 && plan.outer_kept.is_empty() && plan.outer_reduced.is_empty();
        if !single || inputs[0].element.is_float() {
            return false;
        }
        let (len, head) = (plan.reduced.len, HEAD.min(plan.chunk));
        let span = if self.last() { len - head..len } else { 0..head };
        let mut states = self.results();
        let to = states.each_mut().map(Results::outputs);
        // SAFETY: the caller's; the block fills its results.
        unsafe {
            self.read_with_indices(&self.origin, 1, span, &[ptr::null(); ENDS], &to);
            let ended = to.iter().zip(inputs).all(|(to, input)| is_utmost(*to, input));
            if ended {
                self.hand_on(self.origin, 1, &mut states, sinks);
            }
            ended
        }
    }

    /// Reduces each of a few tiles in several parts at once and hands it to the sinks.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of all tiles; each has so many blocks.
    unsafe fn run_in_parts(&self, tiles: usize, parts: usize, sinks: [&impl Sink; ENDS]) {
        let blocks = threads::ranges(self.plan.blocks(), parts);
        let part = |number: Range<usize>| {
            let (at, len) = self.tile(number.start / parts);
            let (mut states, mut block) = (self.results(), self.results());
            // SAFETY: the caller's promise; the blocks fill as many results as the tile has.
            unsafe { self.reduce_blocks(at, len, blocks[number.start % parts].clone(), &mut states, &mut block) };
            states
        };
        let mut found = threads::map(threads::ranges(tiles * parts, tiles * parts), part);
        for (tile, found) in found.chunks_mut(parts).enumerate() {
            let (at, len) = self.tile(tile);
            let (totals, others) = found.split_first_mut().expect("a part");
            // SAFETY: the caller's promise; each part has filled its results, which are of the input.
            unsafe {
                for states in others {
                    for ((total, state), input) in totals.iter_mut().zip(states).zip(&self.inputs) {
                        combine(len, total.outputs(), state.outputs(), input, input.last);
                    }
                }
                self.hand_on(at, len, totals, sinks);
            }
        }
    }
}
