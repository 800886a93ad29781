//! Reductions: the walk over the blocks of a plan.
//!
//! For each tile the reduced positions are visited block by block; one kernel call turns a block into a key
//! and an index for every position of the tile. The blocks of a tile are combined; a finished tile goes to a [`Sink`].
//! Each thread takes some of the tiles, or parts of tiles where there are fewer tiles than tasks.

use crate::kernels::lanes::Outputs;
use crate::layout::{ReductionLayout, ReductionOffsets, position, positions};
use crate::operations::block::Blocks;
use crate::operations::down;
use crate::operations::input::Input;
use crate::operations::plan::{Form, Plan};
use crate::operations::sink::{Results, Sink, Tile, combine};
use crate::operations::small;
use crate::threads;
use std::ops::Range;
use std::{array, ptr};

/// Reduces `input` over a normalised layout, with as many threads as pay.
#[inline]
pub unsafe fn reduce<S: Sink + Sync>(input: &Input, layout: &mut ReductionLayout, sink: &S) {
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    if elements == 0 {
        return;
    }
    if small::is_small(elements) && !input.swapped && !input.skips() {
        small::reduce(input, layout, sink)
    } else {
        reduce_ends([*input], layout, [sink])
    }
}

/// Reduces an input for one or both ends of the order at once. The layout has at least one position; the inputs differ only in
/// the end of the order, the smallest first. Not inlined: small arrays need none of its memory.
#[inline(never)]
pub unsafe fn reduce_ends<const ENDS: usize, S: Sink + Sync>(
    inputs: [Input; ENDS],
    layout: &mut ReductionLayout,
    sinks: [&S; ENDS],
) {
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    let num_threads = threads::num_threads(elements.saturating_mul(inputs[0].element.size() * S::TRAFFIC));
    if down::supports(&inputs[0], layout) {
        return down::reduce(inputs, layout, sinks, num_threads);
    }
    let (origin, places) = (layout.origin, sinks.iter().any(|sink| sink.wants().index));
    let plan = Plan::new(&inputs[0], (ENDS, places), layout, threads::tasks(num_threads));
    let walk = Blocks { inputs, plan: &plan, origin };
    let (tiles, blocks) = (plan.tiles(), plan.blocks());
    // Without a division for a small call.
    let parts = if num_threads == 1 { 1 } else { threads::tasks(num_threads).div_ceil(tiles).min(blocks) };
    match parts {
        1 => threads::share(tiles, num_threads, |tiles| walk.run(tiles, sinks)),
        _ => walk.run_in_parts(tiles, parts, sinks),
    }
}

impl<const ENDS: usize> Blocks<'_, ENDS> {
    /// Reduces the given tiles and hands each to the sinks.
    unsafe fn run(&self, tiles: Range<usize>, sinks: [&impl Sink; ENDS]) {
        let plan = self.plan;
        let plain = self.are_tiles();
        let (mut states, mut block) = (self.results(), self.results());
        for tile in tiles {
            let (at, len) = self.tile(tile);
            if !plain {
                self.reduce_blocks(at, len, 0..plan.blocks(), &mut states, &mut block);
                self.hand_on(at, len, &mut states, sinks);
                continue;
            }
            // Directly into the outputs where possible.
            let mut takes = false;
            let to = array::from_fn(|end| {
                let (to, take) = states[end].with(sinks[end].direct_output(at, &plan.kept), sinks[end].wants());
                takes |= take;
                to
            });
            let doubts = self.read(&at, len, 0..plan.reduced.len, &[ptr::null(); ENDS], &to);
            for (to, sink) in to.iter().zip(sinks).filter(|_| takes) {
                let doubts = self.marks().then_some(doubts);
                sink.take(at, &plan.kept, Tile { len, index: to.index, values: to.values, doubts });
            }
        }
    }

    /// Whether a tile is a single block, not combined from parts, whose places already are the indices.
    fn are_tiles(&self) -> bool {
        let has_parts = self.plan.blocks() > 1 || matches!(self.plan.form, Form::Interleaved(_));
        !has_parts && (self.plan.reduced.strides.index, self.origin.index) == (1, 0)
    }

    /// Whether tiles are [marked](Tile::doubts): those of short rows with skipped elements.
    pub fn marks(&self) -> bool {
        self.inputs[0].skips() && self.plan.form == Form::RowBatches && self.are_tiles()
    }

    /// Where a tile begins, and its length.
    fn tile(&self, tile: usize) -> (ReductionOffsets, usize) {
        let plan = self.plan;
        let (line, start) = match plan.per_line() {
            1 => (tile, 0),
            per_line => (tile / per_line, tile % per_line * plan.tile),
        };
        let at = plan.kept.after(position(plan.outer_kept, self.origin, line), start);
        (at, plan.tile.min(plan.kept.len - start))
    }

    /// Memory for the results of a tile.
    fn results(&self) -> [Results; ENDS] {
        [(); ENDS].map(|()| Results::new(self.plan.tile, self.inputs[0].element.size()))
    }

    /// Hands the finished results of a tile to the sinks.
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
            let are_keys = sink.wants().values && self.inputs[0].element.is_integer();
            let values = if are_keys { keys } else { ptr::null_mut() };
            sink.take(at, &self.plan.kept, Tile { len, index, values, doubts: None });
        }
    }

    /// Reduces some of the blocks of one tile into `states`, each block but the first through `block`.
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
            let first_index = plan.reduced.after(at, span.start).index;
            // Only a block that reaches the keys found so far has to report places.
            let (against, into) = match number == first {
                true => ([ptr::null(); ENDS], states),
                false => (states.map(|state| state.keys.cast_const()), block.each_mut().map(Results::outputs)),
            };
            self.read(&at, len, span, &against, &into);
            for ((state, block), input) in states.iter().zip(into).zip(&self.inputs) {
                (0..len).for_each(|at| {
                    *block.index.add(at) = first_index + *block.index.add(at) * plan.reduced.strides.index;
                });
                if number != first {
                    combine(len, *state, block, input, input.last);
                }
            }
        }
    }

    /// Reduces each of a few tiles in several parts at once and hands it to the sinks. Not inlined: a call on one thread would have
    /// to jump over it.
    #[inline(never)]
    unsafe fn run_in_parts(&self, tiles: usize, parts: usize, sinks: [&impl Sink; ENDS]) {
        let blocks = threads::ranges(self.plan.blocks(), parts);
        let part = |number: Range<usize>| {
            let (at, len) = self.tile(number.start / parts);
            let (mut states, mut block) = (self.results(), self.results());
            self.reduce_blocks(at, len, blocks[number.start % parts].clone(), &mut states, &mut block);
            states
        };
        let mut results = threads::map(threads::ranges(tiles * parts, tiles * parts), part);
        for (tile, results) in results.chunks_mut(parts).enumerate() {
            let (at, len) = self.tile(tile);
            let (totals, others) = results.split_first_mut().expect("a part");
            for states in others {
                for ((total, state), input) in totals.iter_mut().zip(states).zip(&self.inputs) {
                    combine(len, total.outputs(), state.outputs(), input, input.last);
                }
            }
            self.hand_on(at, len, totals, sinks);
        }
    }
}
