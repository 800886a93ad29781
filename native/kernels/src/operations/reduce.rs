//! Reductions: the walk over the blocks of a plan, and where the results go.
//!
//! For each tile the reduced positions are visited block by block; one kernel call turns a block into a key
//! and an index for every position of the tile. The blocks of a tile are combined; a finished tile goes to a [`Sink`].

use crate::layout::axis::{Odometer, positions};
use crate::layout::reduction::{ReductionLayout, ReductionOffsets};
use crate::operations::block::Blocks;
use crate::operations::input::Input;
use crate::operations::plan::{POSITIONS, Plan};
use crate::operations::results::Results;
use crate::operations::sink::Sink;
use crate::operations::small;
use crate::threads;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::{ptr, slice};

/// Reduces `input` over a normalised layout, with as many threads as pay.
///
/// # Safety
/// The input is readable wherever the layout leads, and the sink was made for the layout.
pub unsafe fn reduce(input: Input, layout: &mut ReductionLayout, sink: &(impl Sink + Sync)) {
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    if elements == 0 {
        return;
    }
    if small::is_small(elements) && !input.swapped {
        // SAFETY: the caller's promise.
        return unsafe { small::reduce(input, layout, sink) };
    }
    // SAFETY: the caller's promise.
    unsafe { reduce_by_plan(input, elements, layout, sink) }
}

/// Reduces more elements than a few. Not inlined: what it needs memory for would be made for small arrays, too.
///
/// # Safety
/// As for [`reduce`].
#[inline(never)]
unsafe fn reduce_by_plan(input: Input, elements: usize, layout: &mut ReductionLayout, sink: &(impl Sink + Sync)) {
    let num_threads = threads::num_threads(elements.saturating_mul(input.element.size()));
    let origin = layout.origin;
    let blocks = Blocks { input, plan: Plan::new(input.element.size(), input.swapped, layout, num_threads) };
    let tiles = blocks.plan.tiles();
    let walk = Walk { blocks: &blocks, origin };
    // SAFETY: the caller's promise.
    unsafe {
        if num_threads == 1 {
            walk.run(0..tiles, sink);
        } else if tiles == 1 {
            walk.run_in_parts(threads::ranges(walk.blocks.plan.blocks(), num_threads), sink);
        } else {
            threads::map(threads::ranges(tiles, threads::tasks(num_threads)), |tiles| walk.run(tiles, sink));
        }
    }
}

/// The walk over the blocks of a plan.
#[derive(Debug)]
struct Walk<'a> {
    blocks: &'a Blocks<'a>,
    /// The first elements in memory.
    origin: ReductionOffsets,
}

impl Walk<'_> {
    /// Reduces the given tiles and hands each to the sink.
    ///
    /// # Safety
    /// The input's memory is readable wherever the layout leads, and the sink was made for the layout.
    pub unsafe fn run(&self, tiles: Range<usize>, sink: &impl Sink) {
        let plan = &self.blocks.plan;
        let per_line = plan.per_line();
        let mut line = Odometer::new(plan.outer_kept, self.origin, tiles.start / per_line);
        let plain = self.is_plain();
        for tile in tiles {
            let start = tile % per_line * plan.tile;
            let len = plan.tile.min(plan.kept.len - start);
            let at = plan.kept.moved(line.at, start);
            // SAFETY: the caller's promise, for every position of the walk.
            unsafe {
                match sink.direct_output(at, &plan.kept) {
                    Some(index) if plain => self.read_plain(at, len, index),
                    _ if plain => self.read_into_scratch(at, len, sink),
                    _ => self.combine_blocks(at, len, sink),
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
    /// As for [`run`](Self::run), of a walk that [is plain](Self::is_plain); there is room for `len` indices.
    unsafe fn read_plain(&self, at: ReductionOffsets, len: usize, index: *mut i64) {
        // SAFETY: the caller's.
        unsafe { self.blocks.read(at.input, len, 0..self.blocks.plan.reduced.len, ptr::null(), ptr::null_mut(), index) }
    }

    // These two have frames of several pages, each of which is touched at every call. That takes a third as long as a
    // call on a hundred elements: those that need no scratch memory do not come this way.

    /// Reads a plain tile and hands it to the sink.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of a walk that [is plain](Self::is_plain).
    #[inline(never)]
    unsafe fn read_into_scratch(&self, at: ReductionOffsets, len: usize, sink: &impl Sink) {
        let mut index = [const { MaybeUninit::<i64>::uninit() }; POSITIONS];
        // SAFETY: the caller's; the tile's indices are written before they are handed on.
        unsafe {
            self.read_plain(at, len, index.as_mut_ptr().cast());
            sink.take(at, &self.blocks.plan.kept, slice::from_raw_parts(index.as_ptr().cast(), len));
        }
    }

    /// Combines the blocks of a tile and hands it to the sink.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(never)]
    unsafe fn combine_blocks(&self, at: ReductionOffsets, len: usize, sink: &impl Sink) {
        let mut state = Results::new();
        // SAFETY: the caller's.
        unsafe {
            self.reduce_blocks(at, len, 0..self.blocks.plan.blocks(), &mut state);
            sink.take(at, &self.blocks.plan.kept, state.index_slice(len));
        }
    }

    /// Reduces the only tile in several parts at once and hands it to the sink.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the walk has one tile.
    pub unsafe fn run_in_parts(&self, parts: Vec<Range<usize>>, sink: &impl Sink) {
        let at = self.origin;
        let len = self.blocks.plan.kept.len;
        let partial = |blocks: Range<usize>| {
            let mut state = Box::new(Results::new());
            // SAFETY: the caller's promise.
            unsafe { self.reduce_blocks(at, len, blocks, &mut state) };
            state
        };
        let mut states = threads::map(parts, partial).into_iter();
        let input = &self.blocks.input;
        let mut total = states.next().expect("at least one part");
        // SAFETY: each part has filled its results; the rest is the caller's promise.
        unsafe {
            for mut state in states {
                total.combine(len, &mut state, 0, input, input.last);
            }
            sink.take(at, &self.blocks.plan.kept, total.index_slice(len));
        }
    }

    /// Whether a tile is one block whose positions already are the indices.
    fn is_plain(&self) -> bool {
        let plan = &self.blocks.plan;
        plan.blocks() == 1 && plan.reduced.strides.index == 1 && self.origin.index == 0
    }

    /// Reduces some of the blocks of one tile into `state`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn reduce_blocks(&self, at: ReductionOffsets, len: usize, blocks: Range<usize>, state: &mut Results) {
        let Blocks { input, plan } = self.blocks;
        let per_line = plan.blocks_per_line();
        let mut line = Odometer::new(plan.outer_reduced, at, blocks.start / per_line);
        let mut block = Results::new();
        let first = blocks.start;
        for number in blocks {
            let start = number % per_line * plan.chunk;
            let end = plan.reduced.len.min(start + plan.chunk);
            let first_index = plan.reduced.moved(line.at, start).index;
            // Only a block that reaches what the others have found needs to say where.
            let (against, into) = match number == first {
                true => (ptr::null(), &mut *state),
                false => (state.pointers().0.cast_const(), &mut block),
            };
            let (keys, index) = into.pointers();
            // SAFETY: the caller's promise; the block fills what is read of it.
            unsafe {
                self.blocks.read(line.at.input, len, start..end, against, keys, index);
                for index in into.index_slice(len) {
                    *index = first_index + *index * plan.reduced.strides.index;
                }
                if number != first {
                    state.combine(len, &mut block, 0, input, input.last);
                }
            }
            if end == plan.reduced.len {
                line.advance();
            }
        }
    }
}
