//! The walk over a reduction: which blocks there are, which kernel reads each, and where the results go.
//!
//! A *tile* is a stretch of one kept axis. For each tile the reduced positions are visited block by block; a
//! block is a rectangle of that kept axis by one reduced axis, and one kernel call turns it into a key and an
//! index for every position of the tile. Blocks of a tile meet in [`Combine`]; a finished tile goes to a
//! [`Sink`]. Nothing here knows an element type or an instruction set.

use crate::columns::{Columns, TILE};
use crate::combine::Combine;
use crate::element::{ElementType, with_element_and_order};
use crate::isa::dispatch;
use crate::layout::{Axis, Layout, Odometer, Position, positions};
use crate::order::Index;
use crate::pack::{Pack, SCRATCH, pitch};
use crate::rows::{Key, Rows};
use crate::threads;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Positions of a tile at most, whatever the element: their indices take 16 KiB.
const POSITIONS: usize = 2048;

/// Rows of fewer elements than this are turned into columns, and 8-bit rows up to twice as long.
const SHORT: usize = 64;

/// Reduces `input` over a normalised layout, with as many threads as pay.
///
/// # Safety
/// The input is readable wherever the layout leads, and the sink was made for the layout.
pub unsafe fn reduce(input: Input, layout: &Layout, sink: &(impl Sink + Sync)) {
    let bytes = (positions(&layout.kept) * positions(&layout.reduced)).saturating_mul(input.element.size());
    let parts = threads::worth(bytes);
    let walk = Walk::new(input, layout, parts);
    let tiles = walk.tiles();
    // SAFETY: the caller's promise.
    unsafe {
        if parts == 1 {
            walk.run(0..tiles, sink);
        } else if tiles == 1 {
            walk.run_in_parts(threads::shares(walk.blocks(), parts), sink);
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

/// How the blocks of a reduction are cut and read.
#[derive(Debug)]
struct Walk<'a> {
    input: Input,
    /// The kept axis along which tiles lie, and the positions of a tile.
    kept: Axis,
    tile: usize,
    outer_kept: &'a [Axis],
    /// The reduced axis that blocks cover, and the elements of a block along it.
    reduced: Axis,
    chunk: usize,
    outer_reduced: &'a [Axis],
    form: Form,
    layout: &'a Layout,
}

/// Which kernel reads a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The reduced axis is contiguous.
    Rows { packed: bool },
    /// The kept axis is contiguous.
    Columns { packed: bool },
}

impl<'a> Walk<'a> {
    /// Plans the walk over `layout`, with work for `parts` threads where there is that much.
    pub fn new(input: Input, layout: &'a Layout, parts: usize) -> Self {
        let size = input.element.size();
        let (&kept, outer_kept) = layout.kept.split_first().unwrap_or((&Axis::POINT, &[]));
        let (&reduced, outer_reduced) = layout.reduced.split_first().unwrap_or((&Axis::POINT, &[]));
        let contiguous = |axis: &Axis| axis.stride == size as isize && !input.swapped;
        let short = reduced.len < SHORT.max(2 * SHORT / size) && kept.len > 1;
        let form = if contiguous(&kept) {
            Form::Columns { packed: false }
        } else if short {
            Form::Columns { packed: true }
        } else {
            Form::Rows { packed: !contiguous(&reduced) }
        };
        let (tile, chunk) = match form {
            Form::Columns { packed: false } => (TILE / size, rows_of_a_block(size)),
            Form::Columns { packed: true } => (whole_vectors(SCRATCH / size / reduced.len, size), reduced.len),
            Form::Rows { packed: false } => (POSITIONS, usize::MAX),
            Form::Rows { packed: true } => {
                let chunk = reduced.len.min(SCRATCH / size);
                (SCRATCH / size / pitch(chunk, size), chunk)
            }
        };
        // Threads share the tiles of the kept positions, or else the blocks of each tile.
        let lines = positions(outer_kept);
        let tile = tile.min(POSITIONS).min(TILE / size).min(kept.len.div_ceil(parts.div_ceil(lines))).max(1);
        let tiles = lines * kept.len.div_ceil(tile);
        let lines = tiles * positions(outer_reduced);
        let chunk = chunk.min(reduced.len.div_ceil(parts.div_ceil(lines))).max(1);
        Self { input, kept, tile, outer_kept, reduced, chunk, outer_reduced, form, layout }
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        positions(self.outer_kept) * self.kept.len.div_ceil(self.tile)
    }

    /// The number of blocks that each tile is folded from.
    pub fn blocks(&self) -> usize {
        positions(self.outer_reduced) * self.reduced.len.div_ceil(self.chunk)
    }

    /// Reduces the given tiles and hands each to the sink.
    ///
    /// # Safety
    /// The input's memory is readable wherever the layout leads, and the sink was made for the layout.
    pub unsafe fn run(&self, tiles: Range<usize>, sink: &impl Sink) {
        let per_line = self.kept.len.div_ceil(self.tile);
        let mut line = Odometer::new(self.outer_kept, tiles.start / per_line);
        let mut state = Results::new();
        for tile in tiles {
            let start = tile % per_line * self.tile;
            let len = self.tile.min(self.kept.len - start);
            let at = line.at.moved(&self.kept, start);
            // SAFETY: the caller's promise, for every position of the walk.
            unsafe {
                match sink.room(at, &self.kept).filter(|_| self.is_plain()) {
                    Some(room) => self.read(at, len, 0..self.reduced.len, std::ptr::null_mut(), room),
                    None => {
                        self.fold(at, len, 0..self.blocks(), &mut state);
                        sink.take(at, &self.kept, state.index(len));
                    }
                }
            }
            if start + len == self.kept.len {
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
        let len = self.kept.len;
        let partial = |blocks: Range<usize>| {
            let mut state = Box::new(Results::new());
            // SAFETY: the caller's promise.
            unsafe { self.fold(at, len, blocks, &mut state) };
            state
        };
        let mut states = threads::map(parts, partial).into_iter();
        let mut total = states.next().expect("at least one part");
        for mut state in states {
            self.combine(len, &mut total, &mut state);
        }
        // SAFETY: the caller's promise.
        unsafe { sink.take(at, &self.kept, total.index(len)) };
    }

    /// Whether a tile is one block whose positions already are the indices.
    fn is_plain(&self) -> bool {
        self.blocks() == 1 && self.reduced.weight == 1 && self.layout.index == 0
    }

    /// Folds some of the blocks of one tile into `state`.
    unsafe fn fold(&self, at: Position, len: usize, blocks: Range<usize>, state: &mut Results) {
        let per_line = self.reduced.len.div_ceil(self.chunk);
        let mut line = Odometer::new(self.outer_reduced, blocks.start / per_line);
        let mut block = Results::new();
        let first = blocks.start;
        for number in blocks {
            let start = number % per_line * self.chunk;
            let end = self.reduced.len.min(start + self.chunk);
            let moved = line.at.moved(&self.reduced, start);
            let into = if number == first { &mut *state } else { &mut block };
            let from = Position { offset: at.offset + line.at.offset, ..at };
            // SAFETY: the caller's promise.
            unsafe { self.read(from, len, start..end, into.keys(), into.index_mut()) };
            for index in into.index_slice(len) {
                *index = self.layout.index + moved.index + *index * self.reduced.weight;
            }
            if number != first {
                self.combine(len, state, &mut block);
            }
            if end == self.reduced.len {
                line.advance();
            }
        }
    }

    fn combine(&self, len: usize, state: &mut Results, block: &mut Results) {
        let last = self.input.last;
        with_element_and_order!(self.input.element, self.input.largest, E, O => dispatch(Combine::<Key<E>, O> {
            len,
            keys: state.keys().cast(),
            index: state.index_mut(),
            block_keys: block.keys().cast(),
            block_index: block.index_mut(),
            last,
            order: PhantomData,
        }))
    }

    /// Reads one block: the key and the place along the reduced axis of each position's extremum.
    unsafe fn read(&self, at: Position, len: usize, span: Range<usize>, keys: *mut u8, index: *mut i64) {
        let size = self.input.element.size();
        let kept = (len, self.kept.stride);
        let reduced = (span.len(), self.reduced.stride);
        let offset = self.layout.offset + at.offset + self.reduced.stride * span.start as isize;
        let data = self.input.data.wrapping_offset(offset);
        // Ties go to the smallest or the largest index; where the index falls along the axis, the walk turns.
        let last = self.input.last == (self.reduced.weight >= 0);
        let mut scratch = [const { MaybeUninit::<u64>::uninit() }; SCRATCH / 8];
        let to = scratch.as_mut_ptr().cast::<u8>();
        let pack = |outer, inner| dispatch(Pack { data, outer, inner, size, swapped: self.input.swapped, to });
        let (data, stride) = match self.form {
            Form::Rows { packed: false } => (data, kept.1),
            Form::Columns { packed: false } => (data, reduced.1),
            Form::Rows { packed: true } => {
                pack(kept, reduced);
                (to.cast_const(), (pitch(reduced.0, size) * size) as isize)
            }
            Form::Columns { packed: true } => {
                pack(reduced, kept);
                (to.cast_const(), (pitch(kept.0, size) * size) as isize)
            }
        };
        with_element_and_order!(self.input.element, self.input.largest, E, O => match self.form {
            Form::Rows { .. } => dispatch(Rows::<E, O> {
                data, stride, rows: kept.0, len: reduced.0, last, keys: keys.cast(), index, order: PhantomData,
            }),
            Form::Columns { .. } => dispatch(Columns::<E, O> {
                data, stride, rows: reduced.0, columns: kept.0, last, keys: keys.cast(), index, order: PhantomData,
            }),
        })
    }
}

/// The largest number of elements up to `len` that fills whole vectors.
fn whole_vectors(len: usize, size: usize) -> usize {
    len - len % (16 / size)
}

/// How many rows the narrow indices of an element of `size` bytes tell apart.
fn rows_of_a_block(size: usize) -> usize {
    match size {
        1 => u8::ROWS,
        2 => u16::ROWS,
        _ => u32::ROWS,
    }
}

/// A key and an index for every position of a tile.
struct Results {
    keys: [MaybeUninit<u64>; TILE / 8],
    index: [MaybeUninit<i64>; POSITIONS],
}

impl Results {
    fn new() -> Self {
        Self { keys: [const { MaybeUninit::uninit() }; TILE / 8], index: [const { MaybeUninit::uninit() }; POSITIONS] }
    }

    fn keys(&mut self) -> *mut u8 {
        self.keys.as_mut_ptr().cast()
    }

    fn index_mut(&mut self) -> *mut i64 {
        self.index.as_mut_ptr().cast()
    }

    /// The first `len` indices, which a block has filled.
    fn index_slice(&mut self, len: usize) -> &mut [i64] {
        // SAFETY: the caller has had them written.
        unsafe { std::slice::from_raw_parts_mut(self.index.as_mut_ptr().cast(), len) }
    }

    fn index(&mut self, len: usize) -> &[i64] {
        self.index_slice(len)
    }
}
