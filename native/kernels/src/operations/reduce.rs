//! Reductions: the walk over the blocks of a plan, and where the results go.
//!
//! For each tile the reduced positions are visited block by block; one kernel call turns a block into a key
//! and an index for every position of the tile. The blocks of a tile are combined; a finished tile goes to a [`Sink`].

use crate::kernels::cache_line::Aligned;
use crate::kernels::columns::TILE;
use crate::kernels::outputs::Outputs;
use crate::layout::axis::{Odometer, positions};
use crate::layout::reduction::{ReductionLayout, ReductionOffsets};
use crate::operations::block::Blocks;
use crate::operations::down;
use crate::operations::input::{Input, Omission};
use crate::operations::line;
use crate::operations::plan::{Demand, POSITIONS, Plan};
use crate::operations::results::Results;
use crate::operations::sink::{Sink, Tile};
use crate::operations::small;
use crate::threads;
use std::mem::MaybeUninit;
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
    if small::is_small(elements) && !input.swapped {
        // SAFETY: the caller's promise.
        return unsafe { small::reduce(input, layout, sink) };
    }
    // SAFETY: the caller's promise.
    unsafe { reduce_large(input, layout, sink, elements) }
}

/// The same of so many elements that it pays to choose a way. (Not inlined, for small arrays to be spared it.)
///
/// # Safety
/// As for [`reduce`].
#[inline(never)]
unsafe fn reduce_large<S: Sink + Sync>(input: Input, layout: &mut ReductionLayout, sink: &S, elements: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if line::serves(&input, layout, sink)
            && threads::num_threads(elements.saturating_mul(input.element.size() * S::MOVED)) == 1
        {
            line::reduce(input, layout, sink);
        } else {
            reduce_ends([(input, None)], layout, [sink]);
        }
    }
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
    let demand = Demand::new(&input, omission, ENDS, places);
    let wide = demand.wide;
    let plan = Plan::new(input.element.size(), demand, layout, threads::tasks(num_threads));
    let tiles = plan.tiles();
    let walk = Walk { blocks: &Blocks { inputs, omissions: ends.map(|end| end.1), plan: &plan, wide }, origin };
    // SAFETY: the caller's promise.
    unsafe {
        match num_threads {
            1 => walk.run(0..tiles, sinks),
            _ => walk.share(num_threads, sinks),
        }
    }
}

/// The walk over the blocks of a plan.
#[derive(Debug)]
pub struct Walk<'a, const ENDS: usize> {
    pub blocks: &'a Blocks<'a, ENDS>,
    /// The first elements in memory.
    pub origin: ReductionOffsets,
}

impl<const ENDS: usize> Walk<'_, ENDS> {
    /// Reduces the given tiles and hands each to the sinks.
    ///
    /// # Safety
    /// The input's memory is readable wherever the layout leads, and the sinks were made for the layout.
    pub unsafe fn run(&self, tiles: Range<usize>, sinks: [&impl Sink; ENDS]) {
        let plan = self.plan();
        let per_line = plan.per_line();
        let mut line = Odometer::new(plan.outer_kept, self.origin, tiles.start / per_line);
        let plain = self.is_plain();
        for tile in tiles {
            let start = tile % per_line * plan.tile;
            let len = plan.tile.min(plan.kept.len - start);
            let at = plan.kept.moved(line.at, start);
            // SAFETY: the caller's promise, for every position of the walk.
            unsafe {
                if plain {
                    self.read_tile(at, len, sinks);
                } else {
                    self.combine_blocks(at, len, sinks);
                }
            }
            if start + len == plan.kept.len {
                line.advance();
            }
        }
    }

    /// Reads a tile that is one block whose positions already are the indices.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of a walk that [is plain](Self::is_plain); there is room for `len` results.
    unsafe fn read_plain(&self, at: ReductionOffsets, len: usize, to: &[Outputs; ENDS]) {
        // SAFETY: the caller's.
        unsafe { self.blocks.read(&at, len, 0..self.blocks.plan.reduced.len, &[ptr::null(); ENDS], to) }
    }

    /// Reads a plain tile, into the outputs themselves as far as that goes.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of a walk that [is plain](Self::is_plain).
    #[inline]
    unsafe fn read_tile(&self, at: ReductionOffsets, len: usize, sinks: [&impl Sink; ENDS]) {
        let (mut values, mut index) = (false, false);
        let to = sinks.map(|sink| {
            let (to, wants) = (sink.direct_output(at, &self.plan().kept), sink.wants());
            values |= wants.values && to.values.is_null();
            index |= wants.index && to.index.is_null();
            to
        });
        // SAFETY: the caller's.
        unsafe {
            match (values, index) {
                (false, false) if !sinks[0].wants().sight => self.read_plain(at, len, &to),
                (false, false) => self.read_into_scratch::<0, 0>(at, len, to, sinks),
                (true, false) => self.read_into_scratch::<{ TILE / 8 }, 0>(at, len, to, sinks),
                (false, true) => self.read_into_scratch::<0, POSITIONS>(at, len, to, sinks),
                (true, true) => self.read_into_scratch::<{ TILE / 8 }, POSITIONS>(at, len, to, sinks),
            }
        }
    }

    // (These two touch several pages of their frames at every call, a third of the time that a hundred elements take.)

    /// Reads a plain tile and hands it to the sinks. What is not written `to` the outputs themselves goes to scratch memory:
    /// so many words of values and so many indices.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of a walk that [is plain](Self::is_plain).
    #[inline(never)]
    unsafe fn read_into_scratch<const VALUES: usize, const INDICES: usize>(
        &self,
        at: ReductionOffsets,
        len: usize,
        mut to: [Outputs; ENDS],
        sinks: [&impl Sink; ENDS],
    ) {
        let mut values = [const { Aligned([const { MaybeUninit::<u64>::uninit() }; VALUES]) }; ENDS];
        let mut index = [const { Aligned([const { MaybeUninit::<i64>::uninit() }; INDICES]) }; ENDS];
        for (end, (to, sink)) in to.iter_mut().zip(sinks).enumerate() {
            let wants = sink.wants();
            if wants.values && to.values.is_null() {
                to.values = values[end].0.as_mut_ptr().cast();
            }
            if wants.index && to.index.is_null() {
                to.index = index[end].0.as_mut_ptr().cast();
            }
        }
        // SAFETY: the caller's; what is wanted of the tile is written before it is handed on.
        unsafe {
            self.read_plain(at, len, &to);
            for (to, sink) in to.iter().zip(sinks) {
                sink.take(at, &self.plan().kept, Tile { len, index: to.index, values: to.values });
            }
        }
    }

    /// Combines the blocks of a tile and hands it to the sinks.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(never)]
    unsafe fn combine_blocks(&self, at: ReductionOffsets, len: usize, sinks: [&impl Sink; ENDS]) {
        let mut states = [const { Results::new() }; ENDS];
        // SAFETY: the caller's.
        unsafe {
            self.reduce_blocks(at, len, 0..self.plan().blocks(), &mut states);
            self.hand_on(at, len, &mut states, sinks);
        }
    }

    /// Hands the results of a tile to the sinks.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the states are filled.
    pub unsafe fn hand_on(
        &self,
        at: ReductionOffsets,
        len: usize,
        states: &mut [Results; ENDS],
        sinks: [&impl Sink; ENDS],
    ) {
        for (state, sink) in states.iter_mut().zip(sinks) {
            let (keys, index) = state.pointers();
            // The keys of integers are the integers.
            let values =
                if sink.wants().values && self.blocks.inputs[0].element.is_integer() { keys } else { ptr::null_mut() };
            // SAFETY: the caller's.
            unsafe { sink.take(at, &self.plan().kept, Tile { len, index, values }) };
        }
    }

    pub fn plan(&self) -> &Plan<'_> {
        self.blocks.plan
    }

    /// Whether a tile is one block whose positions already are the indices.
    fn is_plain(&self) -> bool {
        let plan = self.plan();
        plan.blocks() == 1 && plan.reduced.strides.index == 1 && self.origin.index == 0
    }

    /// Reduces some of the blocks of one tile into `states`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    pub unsafe fn reduce_blocks(
        &self,
        at: ReductionOffsets,
        len: usize,
        blocks: Range<usize>,
        states: &mut [Results; ENDS],
    ) {
        let plan = self.plan();
        let per_line = plan.blocks_per_line();
        let mut line = Odometer::new(plan.outer_reduced, at, blocks.start / per_line);
        let mut block = [const { Results::new() }; ENDS];
        let first = blocks.start;
        for number in blocks {
            let start = number % per_line * plan.chunk;
            let end = plan.reduced.len.min(start + plan.chunk);
            // Only a block that reaches what the others have found needs to say where.
            let (against, into) = match number == first {
                true => ([ptr::null(); ENDS], &mut *states),
                false => (Results::outputs(states).map(|so_far| so_far.keys.cast_const()), &mut block),
            };
            // SAFETY: the caller's promise; the block fills what is read of it.
            unsafe {
                self.blocks.read_with_indices(&line.at, len, start..end, &against, into);
                if number != first {
                    for ((state, block), input) in states.iter_mut().zip(&mut block).zip(&self.blocks.inputs) {
                        state.combine(len, block, 0, input, input.last);
                    }
                }
            }
            if end == plan.reduced.len {
                line.advance();
            }
        }
    }
}
