//! Reductions: the walk over the blocks of a plan, and where the results go.
//!
//! For each tile the reduced positions are visited block by block; one kernel call turns a block into a key
//! and an index for every position of the tile. Blocks of a tile meet in [`Combine`]; a finished tile goes to
//! a [`Sink`].

use crate::element::compare::Key;
use crate::element::{ElementType, with_element_and_order};
use crate::isa::dispatch;
use crate::kernels::combine::Combine;
use crate::kernels::small;
use crate::layout::{Axis, Layout, Odometer, Position, positions};
use crate::operations::plan::{POSITIONS, Plan};
use crate::operations::results::Results;
use crate::threads;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::{ptr, slice};

/// Reduces `input` over a normalised layout, with as many threads as pay.
///
/// # Safety
/// The input is readable wherever the layout leads, and the sink was made for the layout.
pub unsafe fn reduce(input: Input, layout: &mut Layout, sink: &(impl Sink + Sync)) {
    let elements = positions(&layout.kept) * positions(&layout.reduced);
    if elements == 0 {
        return;
    }
    if small::is_small(elements) && !input.swapped {
        // SAFETY: the caller's promise.
        return unsafe { small::reduce(input, layout, sink) };
    }
    let parts = threads::worth(elements.saturating_mul(input.element.size()));
    let (offset, index) = (layout.offset, layout.index);
    let plan = Plan::new(input.element.size(), input.swapped, layout, parts);
    let walk = Walk { input, plan, offset, index };
    let tiles = walk.plan.tiles();
    // SAFETY: the caller's promise.
    unsafe {
        if parts == 1 {
            walk.run(0..tiles, sink);
        } else if tiles == 1 {
            walk.run_in_parts(threads::shares(walk.plan.blocks(), parts), sink);
        } else {
            threads::map(threads::shares(tiles, threads::tasks(parts)), |tiles| walk.run(tiles, sink));
        }
    }
}

/// What is being reduced.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// The element type.
    pub element: ElementType,
    /// Whether the bytes of each element stand in the order that is foreign to this machine.
    pub swapped: bool,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equals wins, or the first.
    pub last: bool,
}

// SAFETY: the kernels only read the input.
unsafe impl Sync for Input {}

/// Where finished tiles go.
pub trait Sink {
    /// Where the indices of a tile may be written straight away, if the output has that form.
    fn room(&self, at: Position, axis: &Axis) -> Option<*mut i64>;

    /// Takes the indices of a tile of `index.len()` positions that starts at `at` and runs along `axis`.
    ///
    /// # Safety
    /// The position lies in the layout that the sink was made for.
    unsafe fn take(&self, at: Position, axis: &Axis, index: &[i64]);
}

/// The walk over the blocks of a plan.
#[derive(Debug)]
pub struct Walk<'a> {
    pub input: Input,
    pub plan: Plan<'a>,
    /// Bytes to the first element in memory.
    pub offset: isize,
    /// The index of the first reduced element in memory.
    index: i64,
}

impl Walk<'_> {
    /// Reduces the given tiles and hands each to the sink.
    ///
    /// # Safety
    /// The input's memory is readable wherever the layout leads, and the sink was made for the layout.
    pub unsafe fn run(&self, tiles: Range<usize>, sink: &impl Sink) {
        let per_line = self.plan.per_line();
        let mut line = Odometer::new(self.plan.outer_kept, tiles.start / per_line);
        let plain = self.is_plain();
        for tile in tiles {
            let start = tile % per_line * self.plan.tile;
            let len = self.plan.tile.min(self.plan.kept.len - start);
            let at = line.at.moved(&self.plan.kept, start);
            // SAFETY: the caller's promise, for every position of the walk.
            unsafe {
                match sink.room(at, &self.plan.kept) {
                    Some(index) if plain => self.read_plain(at, len, index),
                    _ if plain => self.pass_on(at, len, sink),
                    _ => self.fold_and_pass_on(at, len, sink),
                }
            }
            if start + len == self.plan.kept.len {
                line.advance();
            }
        }
    }

    /// Reads a tile that is one block whose positions already are the indices.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of a walk that [is plain](Self::is_plain); there is room for `len` indices.
    unsafe fn read_plain(&self, at: Position, len: usize, index: *mut i64) {
        // SAFETY: the caller's.
        unsafe { self.read(at, len, 0..self.plan.reduced.len, ptr::null(), ptr::null_mut(), index) }
    }

    // These two have frames of several pages, each of which is touched at every call. That takes a third as long as a
    // call on a hundred elements: those that need no such room do not come this way.

    /// Reads a plain tile and hands it to the sink.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of a walk that [is plain](Self::is_plain).
    #[inline(never)]
    unsafe fn pass_on(&self, at: Position, len: usize, sink: &impl Sink) {
        let mut index = [const { MaybeUninit::<i64>::uninit() }; POSITIONS];
        // SAFETY: the caller's; the tile's indices are written before they are handed on.
        unsafe {
            self.read_plain(at, len, index.as_mut_ptr().cast());
            sink.take(at, &self.plan.kept, slice::from_raw_parts(index.as_ptr().cast(), len));
        }
    }

    /// Folds the blocks of a tile and hands it to the sink.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(never)]
    unsafe fn fold_and_pass_on(&self, at: Position, len: usize, sink: &impl Sink) {
        let mut state = Results::new();
        // SAFETY: the caller's.
        unsafe {
            self.fold(at, len, 0..self.plan.blocks(), &mut state);
            sink.take(at, &self.plan.kept, state.index_slice(len));
        }
    }

    /// Reduces the only tile in several parts at once and hands it to the sink.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the walk has one tile.
    pub unsafe fn run_in_parts(&self, parts: Vec<Range<usize>>, sink: &impl Sink) {
        let at = Position::default();
        let len = self.plan.kept.len;
        let partial = |blocks: Range<usize>| {
            let mut state = Box::new(Results::new());
            // SAFETY: the caller's promise.
            unsafe { self.fold(at, len, blocks, &mut state) };
            state
        };
        let mut states = threads::map(parts, partial).into_iter();
        let mut total = states.next().expect("at least one part");
        // SAFETY: each part has filled its results; the rest is the caller's promise.
        unsafe {
            for mut state in states {
                self.combine(len, &mut total, &mut state, 0, self.input.last);
            }
            sink.take(at, &self.plan.kept, total.index_slice(len));
        }
    }

    /// Whether a tile is one block whose positions already are the indices.
    fn is_plain(&self) -> bool {
        self.plan.blocks() == 1 && self.plan.reduced.weight == 1 && self.index == 0
    }

    /// Folds some of the blocks of one tile into `state`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn fold(&self, at: Position, len: usize, blocks: Range<usize>, state: &mut Results) {
        let per_line = self.plan.blocks_per_line();
        let mut line = Odometer::new(self.plan.outer_reduced, blocks.start / per_line);
        let mut block = Results::new();
        let first = blocks.start;
        for number in blocks {
            let start = number % per_line * self.plan.chunk;
            let end = self.plan.reduced.len.min(start + self.plan.chunk);
            let moved = line.at.moved(&self.plan.reduced, start);
            // Only a block that reaches what the others have found needs to say where.
            let (against, into) = match number == first {
                true => (ptr::null(), &mut *state),
                false => (state.pointers().0.cast_const(), &mut block),
            };
            let from = Position { offset: at.offset + line.at.offset, ..at };
            let (keys, index) = into.pointers();
            // SAFETY: the caller's promise; the block fills what is read of it.
            unsafe {
                self.read(from, len, start..end, against, keys, index);
                for index in into.index_slice(len) {
                    *index = self.index + moved.index + *index * self.plan.reduced.weight;
                }
                if number != first {
                    self.combine(len, state, &mut block, 0, self.input.last);
                }
            }
            if end == self.plan.reduced.len {
                line.advance();
            }
        }
    }

    /// Lets the results of a block, from position `from` on, meet those so far.
    ///
    /// # Safety
    /// Both have `len` results there.
    pub unsafe fn combine(&self, len: usize, state: &mut Results, block: &mut Results, from: usize, last: bool) {
        debug_assert!(from + len <= POSITIONS);
        let ((keys, index), (block_keys, block_index)) = (state.pointers(), block.pointers());
        // SAFETY: the caller's promise.
        with_element_and_order!(self.input.element, self.input.largest, E, O => unsafe { dispatch(Combine::<Key<E>, O> {
            len,
            keys: keys.cast(),
            index,
            block_keys: block_keys.cast::<Key<E>>().wrapping_add(from),
            block_index: block_index.wrapping_add(from),
            last,
            order: PhantomData,
        }) })
    }
}
