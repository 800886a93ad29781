//! Reductions: the walk over the blocks of a plan, and where the results go.
//!
//! For each tile the reduced positions are visited block by block; one kernel call turns a block into a key
//! and an index for every position of the tile. Blocks of a tile meet in [`Combine`]; a finished tile goes to
//! a [`Sink`].

use crate::columns::Columns;
use crate::combine::Combine;
use crate::element::{ElementType, with_element_and_order};
use crate::isa::dispatch;
use crate::layout::{Axis, Layout, Odometer, Position, positions};
use crate::pack::{Pack, SCRATCH, pitch};
use crate::plan::{Form, Plan};
use crate::results::Results;
use crate::rows::{Key, Rows};
use crate::threads;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// Reduces `input` over a normalised layout, with as many threads as pay.
///
/// # Safety
/// The input is readable wherever the layout leads, and the sink was made for the layout.
pub unsafe fn reduce(input: Input, mut layout: Layout, sink: &(impl Sink + Sync)) {
    let bytes = (positions(&layout.kept) * positions(&layout.reduced)).saturating_mul(input.element.size());
    let parts = threads::worth(bytes);
    let (offset, index) = (layout.offset, layout.index);
    let plan = Plan::new(input.element.size(), input.swapped, &mut layout, parts);
    let walk = Walk { input, plan, offset, index };
    let tiles = walk.plan.tiles();
    // SAFETY: the caller's promise.
    unsafe {
        if parts == 1 {
            walk.run(0..tiles, sink);
        } else if tiles == 1 {
            walk.run_in_parts(threads::shares(walk.plan.blocks(), parts), sink);
        } else {
            threads::map(threads::shares(tiles, parts), |tiles| walk.run(tiles, sink));
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
struct Walk<'a> {
    input: Input,
    plan: Plan<'a>,
    /// Bytes to the first element in memory.
    offset: isize,
    /// The index of the first reduced element in memory.
    index: i64,
}

impl Walk<'_> {
    /// Reduces the given tiles and hands each to the sink.
    ///
    /// # Safety
    /// The input's memory is readable wherever the layout leads, and the sink was made for the layout.
    pub unsafe fn run(&self, tiles: Range<usize>, sink: &impl Sink) {
        let per_line = self.plan.kept.len.div_ceil(self.plan.tile);
        let mut line = Odometer::new(self.plan.outer_kept, tiles.start / per_line);
        let mut state = Results::new();
        for tile in tiles {
            let start = tile % per_line * self.plan.tile;
            let len = self.plan.tile.min(self.plan.kept.len - start);
            let at = line.at.moved(&self.plan.kept, start);
            // SAFETY: the caller's promise, for every position of the walk.
            unsafe {
                match sink.room(at, &self.plan.kept).filter(|_| self.is_plain()) {
                    Some(room) => self.read(at, len, 0..self.plan.reduced.len, ptr::null(), ptr::null_mut(), room),
                    None => {
                        self.fold(at, len, 0..self.plan.blocks(), &mut state);
                        sink.take(at, &self.plan.kept, state.index_slice(len));
                    }
                }
            }
            if start + len == self.plan.kept.len {
                line.advance();
            }
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
        for mut state in states {
            self.combine(len, &mut total, &mut state, 0, self.input.last);
        }
        // SAFETY: the caller's promise.
        unsafe { sink.take(at, &self.plan.kept, total.index_slice(len)) };
    }

    /// Whether a tile is one block whose positions already are the indices.
    fn is_plain(&self) -> bool {
        self.plan.blocks() == 1 && self.plan.reduced.weight == 1 && self.index == 0
    }

    /// Folds some of the blocks of one tile into `state`.
    unsafe fn fold(&self, at: Position, len: usize, blocks: Range<usize>, state: &mut Results) {
        let per_line = self.plan.reduced.len.div_ceil(self.plan.chunk);
        let mut line = Odometer::new(self.plan.outer_reduced, blocks.start / per_line);
        let mut block = Results::new();
        let first = blocks.start;
        for number in blocks {
            let start = number % per_line * self.plan.chunk;
            let end = self.plan.reduced.len.min(start + self.plan.chunk);
            let moved = line.at.moved(&self.plan.reduced, start);
            // Only a block that reaches what the others have found needs to say where.
            let against = if number == first { ptr::null() } else { state.keys().cast_const() };
            let into = if number == first { &mut *state } else { &mut block };
            let from = Position { offset: at.offset + line.at.offset, ..at };
            // SAFETY: the caller's promise.
            unsafe { self.read(from, len, start..end, against, into.keys(), into.index_mut()) };
            for index in into.index_slice(len) {
                *index = self.index + moved.index + *index * self.plan.reduced.weight;
            }
            if number != first {
                self.combine(len, state, &mut block, 0, self.input.last);
            }
            if end == self.plan.reduced.len {
                line.advance();
            }
        }
    }

    /// Lets the results of a block, from position `from` on, meet those so far.
    fn combine(&self, len: usize, state: &mut Results, block: &mut Results, from: usize, last: bool) {
        with_element_and_order!(self.input.element, self.input.largest, E, O => dispatch(Combine::<Key<E>, O> {
            len,
            keys: state.keys().cast(),
            index: state.index_mut(),
            block_keys: block.keys().cast::<Key<E>>().wrapping_add(from),
            block_index: block.index_mut().wrapping_add(from),
            last,
            order: PhantomData,
        }))
    }

    /// Reads one block: the key and the place along the reduced axis of each position's extremum.
    unsafe fn read(
        &self,
        at: Position,
        len: usize,
        span: Range<usize>,
        against: *const u8,
        keys: *mut u8,
        index: *mut i64,
    ) {
        let size = self.input.element.size();
        let kept = (len, self.plan.kept.stride);
        let reduced = (span.len(), self.plan.reduced.stride);
        let data = self.input.data.wrapping_offset(self.offset + at.offset + reduced.1 * span.start as isize);
        let mut scratch = [const { MaybeUninit::<u64>::uninit() }; SCRATCH / 8];
        let to = scratch.as_mut_ptr().cast::<u8>();
        let pack = |outer, inner| dispatch(Pack { data, outer, inner, size, swapped: self.input.swapped, to });
        match self.plan.form {
            Form::Rows { packed: false } => self.rows(data, kept, span.len(), against, keys, index),
            Form::Columns { packed: false } => self.columns(data, reduced, len, keys, index),
            Form::Rows { packed: true } => {
                pack(kept, reduced);
                let kept = (len, (pitch(reduced.0, size) * size) as isize);
                self.rows(to, kept, span.len(), against, keys, index);
            }
            Form::Columns { packed: true } => {
                pack(reduced, kept);
                let reduced = (span.len(), (pitch(len, size) * size) as isize);
                self.columns(to, reduced, len, keys, index);
            }
            Form::Folded(fold) => self.folded(data, reduced, len, fold, keys, index),
        }
    }

    /// Ties go to the smallest or the largest index; where the index falls along the axis, the walk turns.
    fn last(&self) -> bool {
        self.input.last == (self.plan.reduced.weight >= 0)
    }

    fn rows(
        &self,
        data: *const u8,
        kept: (usize, isize),
        len: usize,
        against: *const u8,
        keys: *mut u8,
        index: *mut i64,
    ) {
        let (rows, stride) = kept;
        let last = self.last();
        with_element_and_order!(self.input.element, self.input.largest, E, O => dispatch(Rows::<E, O> {
            data, stride, rows, len, last, against: against.cast(), keys: keys.cast(), index, order: PhantomData,
        }))
    }

    fn columns(&self, data: *const u8, reduced: (usize, isize), columns: usize, keys: *mut u8, index: *mut i64) {
        let (rows, stride) = reduced;
        let last = self.last();
        with_element_and_order!(self.input.element, self.input.largest, E, O => dispatch(Columns::<E, O> {
            data, stride, rows, columns, last, keys: keys.cast(), index, order: PhantomData,
        }))
    }

    /// Reads `fold` neighbouring rows of `len` columns as one, then lets the columns that belong together meet.
    fn folded(
        &self,
        data: *const u8,
        reduced: (usize, isize),
        len: usize,
        fold: usize,
        keys: *mut u8,
        index: *mut i64,
    ) {
        let (rows, stride) = reduced;
        let (wide, rest) = (rows / fold, rows % fold);
        let mut total = Results::new();
        let mut part = Results::new();
        if wide > 0 {
            self.columns(data, (wide, stride * fold as isize), len * fold, part.keys(), part.index_mut());
            for (column, index) in part.index_slice(len * fold).iter_mut().enumerate() {
                *index = *index * fold as i64 + (column / len) as i64;
            }
            total.copy(&part, len, self.input.element.size());
            for neighbour in 1..fold {
                self.combine(len, &mut total, &mut part, neighbour * len, self.last());
            }
        }
        if rest > 0 {
            let into = if wide > 0 { &mut part } else { &mut total };
            let start = wide * fold;
            self.columns(
                data.wrapping_offset(stride * start as isize),
                (rest, stride),
                len,
                into.keys(),
                into.index_mut(),
            );
            for index in into.index_slice(len) {
                *index += start as i64;
            }
            if wide > 0 {
                self.combine(len, &mut total, &mut part, 0, self.last());
            }
        }
        // SAFETY: there is room for `len` results; the keys may not be wanted.
        unsafe {
            if !keys.is_null() {
                keys.copy_from_nonoverlapping(total.keys(), len * self.input.element.size());
            }
            ptr::copy_nonoverlapping(total.index_mut().cast::<u8>(), index.cast(), len * 8);
        }
    }
}
