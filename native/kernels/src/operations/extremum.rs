//! The elementwise largest or smallest of any number of operands, in one pass.
//!
//! The output is cut into tiles: parts of a line, or several lines. They are independent of one another, so that threads may take
//! ranges of them. All operands pass over a tile while it stays in the cache. Along its lines an operand is contiguous, broadcast
//! (stride 0), or packed first. An operand that is contiguous from line to line is turned on the way, and so is the result where
//! the output is.

use crate::element::ElementType;
use crate::element::rank::Extreme;
use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::elementwise::{AT_ONCE, Lines, Passes, Start};
use crate::kernels::pack::{Pack, SCRATCH};
use crate::layout::axis::{Strides, position, positions};
use crate::layout::elementwise::{ElementwiseAxis, ElementwiseLayout, Offsets, Operand};
use crate::operations::small;
use crate::threads::{self, tasks};
use smallvec::SmallVec;
use std::ops::{Range, RangeInclusive};
use std::ptr;

/// Bytes of the vectors by which a packed block is turned.
const VECTOR: usize = 16;

/// Writes the largest (or smallest) of all operands at every position of the output.
///
/// Only floats have a NaN that gives way. `axes` yields, last dimension first, the length and the output stride. An empty axis means no work.
///
/// # Safety
/// There is at least one operand; every operand is readable and the output writable at every position;
/// an operand may be the output itself (same first element, same strides) but may not overlap it otherwise.
pub unsafe fn extremum(
    operands: &[Operand],
    element: ElementType,
    extreme: Extreme,
    axes: impl Iterator<Item = (usize, isize)>,
    output: *mut u8,
) {
    let mut layout = ElementwiseLayout::new(operands, element.size(), axes);
    if layout.axes.len() > 1 {
        arrange(&mut layout, element.size());
    }
    let elements = positions(&layout.axes);
    if elements == 0 {
        return;
    }
    if small::is_small(elements) && !operands.iter().any(|operand| operand.swapped) {
        // SAFETY: the caller's promise.
        return unsafe { small::extremum(operands, element, extreme, &layout, output) };
    }
    // SAFETY: the caller's promise.
    unsafe { extremum_by_plan(operands, element, extreme, &layout, output) }
}

/// The same of more elements than a few. Not inlined: what it needs memory for would be made for small arrays, too.
///
/// # Safety
/// As for [`extremum`].
#[inline(never)]
unsafe fn extremum_by_plan(
    operands: &[Operand],
    element: ElementType,
    extreme: Extreme,
    layout: &ElementwiseLayout,
    output: *mut u8,
) {
    let elements = positions(&layout.axes);
    let num_threads = threads::num_threads(elements.saturating_mul(element.size() * (operands.len() + 1)));
    let plan = Plan::new(operands, element, extreme, layout, output, num_threads);
    let tiles = plan.tiles();
    // SAFETY: the caller's promise; the ranges are different parts of the output.
    let run = |tiles| unsafe { plan.run(tiles) };
    if num_threads == 1 {
        run(0..tiles);
    } else {
        threads::map(threads::ranges(tiles, threads::tasks(num_threads)), run);
    }
}

/// Bytes of a tile that is read and written in one pass. Where NaN is met the tile is read again: it fits the
/// second-level cache with its operands. Each tile costs 170 ns, which shows in the shorter ones in the third-level cache.
const STREAM: RangeInclusive<usize> = 1 << 16..=1 << 18;

/// Bytes of a tile in which arrays are turned, and lines of it where they are turned on the way in: what is read from line to line
/// comes in stretches of a line of the cache or more, what is read along the lines in longer ones.
const TURNED: usize = 1 << 16;
const LINES_IN: usize = 64;

/// Bytes of an output from which on arrays are asked for before they are packed, or turned: others are in the cache. Tiles that are
/// packed are smaller then, for all that has been asked for to be in the first-level one.
const AHEAD: usize = 4 << 20;
const AHEAD_TILE: usize = SCRATCH / 2;

/// Bytes of each stretch that is written from line to line where the output is turned, and lines of such a tile at most: a line of
/// the cache that is written in two parts comes and goes twice.
const WRITTEN: usize = 512;
const LINES_OUT: usize = 256;

/// How the output is cut into tiles, and how each operand is read along their lines.
pub struct Plan<'a> {
    arrays: Arrays<'a>,
    origin: &'a Offsets,
    /// The axes but the one that lines lie along and the one from line to line.
    outer: &'a [ElementwiseAxis<'a>],
    /// Elements of a tile along a line.
    tile: usize,
    /// Lines of a tile.
    rows: usize,
    /// The number of tiles that each line is cut into.
    per_line: usize,
    /// The number of tiles that take all lines, one after the other.
    per_column: usize,
    /// Elements by which the first tile of a line is shorter.
    shift: usize,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Plan<'_> {}

/// Puts the axis that lines are to lie along first, and the one from line to line second.
///
/// Lines lie along the axis on which most arrays are contiguous, if it is not very short; in doubt, the output. The other
/// one is that on which most of the rest are contiguous: these are turned. (Not inlined, for arrays of one axis to be spared it.)
#[inline(never)]
pub fn arrange(layout: &mut ElementwiseLayout, size: usize) {
    let axes = &mut layout.axes;
    if axes[0].strides.all().all(|stride| stride == 0 || stride == size as isize) {
        return;
    }
    let contiguous = |axis: &ElementwiseAxis| axis.strides.all().filter(|&stride| stride == size as isize).count();
    let line = (0..axes.len()).rev().max_by_key(|&axis| (axes[axis].len * size >= LINE, contiguous(&axes[axis])));
    let line = axes.remove(line.unwrap_or(0));
    let turned = |axis: &ElementwiseAxis| turned(&line, axis, size);
    let across = (0..axes.len()).rev().max_by_key(|&axis| turned(&axes[axis]));
    let across = axes.remove(across.unwrap_or(0));
    axes.insert_many(0, [line, across]);
}

/// How many arrays are contiguous from line to line alone, upwards or downwards.
fn turned(line: &ElementwiseAxis, across: &ElementwiseAxis, size: usize) -> usize {
    let strides = line.strides.all().zip(across.strides.all());
    strides.filter(|&(along, step)| along != 0 && along != size as isize && step.unsigned_abs() == size).count()
}

impl<'a> Plan<'a> {
    /// A plan with work for so many threads, where there is that much, of a layout that has been [arranged](arrange).
    pub fn new(
        operands: &'a [Operand],
        element: ElementType,
        extreme: Extreme,
        layout: &'a ElementwiseLayout<'_>,
        output: *mut u8,
        num_threads: usize,
    ) -> Self {
        let ElementwiseLayout { axes, origin } = layout;
        let (inner, outer) = axes.split_first().expect("at least one axis");
        let (lines, outer) = outer.split_first().map_or((None, outer), |(lines, outer)| (Some(lines), outer));
        let size = element.size();
        let first = output.wrapping_offset(origin.output());
        let (mut broadcast, mut in_place, mut readable) = (0, false, true);
        for (number, operand) in operands.iter().enumerate() {
            let stride = inner.strides.operand(number);
            readable &= !operand.swapped && (stride == 0 || stride == size as isize);
            if stride == 0 {
                broadcast += 1;
            } else {
                in_place |= ptr::eq(operand.data.wrapping_offset(origin.operand(number)), first);
            }
        }
        let contiguous_output = inner.strides.output == size as isize;
        let turns = lines.is_some_and(|lines| turned(inner, lines, size) > 0);
        let bytes = positions(axes).saturating_mul(size);
        let count = lines.map_or(1, |lines| lines.len);
        let direct_output = contiguous_output && !in_place;
        let ahead = bytes >= AHEAD;
        let plain = direct_output && readable;
        let (tile, rows) = if plain {
            let streams = operands.len() - broadcast <= AT_ONCE;
            // Threads share whole tiles: each task is as many of them as the next. (The first one may be short by a line.)
            let fair = match num_threads {
                1 => *STREAM.end(),
                _ => {
                    let task = positions(axes) * size / tasks(num_threads);
                    task / task.div_ceil(*STREAM.end()).max(1) + LINE
                }
            };
            // What takes more than one pass stays in the first-level cache.
            let tile = if streams { fair.max(*STREAM.start()) } else { SCRATCH } / size;
            (tile, if count > 1 { (tile / inner.len).min(SCRATCH / size).clamp(1, count) } else { 1 })
        } else {
            // What goes by way of scratch memory stays in the first-level cache, if nothing is turned.
            let least = if contiguous_output { LINES_IN } else { (WRITTEN / size).min(LINES_OUT) };
            let packed = if ahead { AHEAD_TILE } else { SCRATCH };
            let (bytes, least) = if turns { (TURNED, least.min(count)) } else { (packed, 1) };
            let tile = (bytes / size / least).min(inner.len);
            let rows = bytes / pitch(tile, size);
            // Squares are as high as a vector is long.
            (tile, (rows - if rows > 16 { rows % 16 } else { 0 }).min(SCRATCH / size).clamp(least, count))
        };
        // All tiles but the first begin where a line of the cache does.
        let shift =
            if contiguous_output && inner.len > tile { (first as usize % LINE / size).min(tile - 1) } else { 0 };
        let (per_line, per_column) = ((inner.len + shift).div_ceil(tile), count.div_ceil(rows));
        let arrays = Arrays { operands, element, extreme, output, inner, lines, broadcast, direct_output, ahead };
        Self { arrays, origin, outer, tile, rows, per_line, per_column, shift }
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        positions(self.outer) * self.per_column * self.per_line
    }

    /// Does some of the tiles.
    ///
    /// # Safety
    /// Every operand is readable and the output writable at every position of the layout; nobody else writes these
    /// tiles, and an operand overlaps the output only where it is the output itself.
    pub unsafe fn run(&self, tiles: Range<usize>) {
        let arrays = &self.arrays;
        let mut scratch = Scratch::default();
        for tile in tiles {
            let end = (tile % self.per_line + 1) * self.tile - self.shift;
            let start = end.saturating_sub(self.tile);
            let len = end.min(arrays.inner.len) - start;
            let mut rows = 1;
            let mut at = self.origin.clone();
            arrays.inner.strides.step(&mut at, start as isize);
            if let Some(lines) = arrays.lines {
                let column = tile / self.per_line;
                let row = column % self.per_column * self.rows;
                rows = self.rows.min(lines.len - row);
                lines.strides.step(&mut at, row as isize);
                if !self.outer.is_empty() {
                    at = position(self.outer, at, column / self.per_column);
                }
            }
            // SAFETY: the caller's promise.
            unsafe { Tile { arrays, at: &at, rows, len }.run(&mut scratch) };
        }
    }
}

/// What all tiles have in common.
pub struct Arrays<'a> {
    pub operands: &'a [Operand],
    pub element: ElementType,
    pub extreme: Extreme,
    pub output: *mut u8,
    /// The axis that lines lie along.
    pub inner: &'a ElementwiseAxis<'a>,
    /// The axis from one line of a tile to the next, where there is one.
    pub lines: Option<&'a ElementwiseAxis<'a>>,
    /// How many operands are broadcast along a line: these become one element, which the first pass starts from.
    pub broadcast: usize,
    /// Whether tiles are accumulated in the output itself. An operand that is the output itself would look like an
    /// obstacle to vectors, and goes by way of scratch memory.
    pub direct_output: bool,
    /// Whether what is packed is asked for before, and what will be read and written beside it: the processor looks ahead along
    /// few ways, and not over the pauses in which scratch memory is read.
    pub ahead: bool,
}

/// A tile of `rows` lines of `len` elements.
pub struct Tile<'a> {
    pub arrays: &'a Arrays<'a>,
    pub at: &'a Offsets,
    pub rows: usize,
    pub len: usize,
}

/// Scratch memory for what cannot be read or written in place, made where it is needed: most calls do without.
#[derive(Default)]
pub struct Scratch {
    packed: Packed,
    accumulated: Memory,
    starts: Memory,
}

/// Memory for one packed operand.
#[derive(Default)]
struct Packed {
    memory: Memory,
    /// Whether a pass may still have to read it.
    waiting: bool,
}

/// Lines of the cache.
type Memory = Vec<Aligned<[u8; LINE]>>;

/// So many bytes at least.
fn reserve(memory: &mut Memory, bytes: usize) -> *mut u8 {
    memory.reserve(bytes.div_ceil(LINE));
    memory.as_mut_ptr().cast()
}

/// Bytes from one line of scratch memory to the next. An odd number of lines of the cache: with a large power of two
/// between them, what is written from line to line would have few places in the cache.
pub fn pitch(len: usize, size: usize) -> usize {
    ((len * size).div_ceil(LINE) | 1) * LINE
}

impl Tile<'_> {
    /// Accumulates all operands and leaves the result in the output.
    ///
    /// # Safety
    /// Every operand is readable and the output writable at every position of the tile; nobody else writes it, and an
    /// operand overlaps the output only where it is the output itself.
    #[inline(always)]
    pub unsafe fn run(&self, scratch: &mut Scratch) {
        let Arrays { output, lines, direct_output, .. } = *self.arrays;
        let Scratch { packed, accumulated, starts } = scratch;
        let output = output.wrapping_offset(self.at.output());
        let to = if direct_output {
            Lines { data: output, step: lines.map_or(0, |lines| lines.strides.output) }
        } else {
            let step = self.pitch();
            Lines { data: reserve(accumulated, self.rows * step), step: step as isize }
        };
        // SAFETY: the caller's.
        unsafe {
            let start = self.start(starts, packed);
            self.accumulate(start, to, packed);
            if !direct_output {
                self.write(to, output);
            }
        }
    }

    fn pitch(&self) -> usize {
        pitch(self.len, self.arrays.element.size())
    }

    /// Makes the operands that are broadcast along a line one element for each line, which the first pass starts from.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn start(&self, starts: &mut Memory, packed: &mut Packed) -> Start {
        let Arrays { operands, element, extreme, broadcast, .. } = *self.arrays;
        if broadcast == 0 {
            return Start::Nothing;
        }
        let size = element.size();
        // One alone is read where it is, if its bytes are in order.
        let read_in_place = broadcast == 1 && self.operands(true).all(|number| !operands[number].swapped);
        let to = if read_in_place { ptr::null_mut() } else { reserve(starts, self.rows * size) };
        let to = Lines { data: to, step: size as isize };
        let mut passes = Passes::new(element, extreme, to, (self.rows, 1), Start::Nothing);
        // SAFETY: the caller's; where there is more than one operand, there is scratch memory for their results.
        unsafe {
            self.operands(true).for_each(|number| self.read(number, &mut passes, packed));
            if packed.waiting {
                self.flush(&mut passes, packed);
            }
            passes.start()
        }
    }

    /// Accumulates the operands that vary along a line.
    ///
    /// # Safety
    /// As for [`run`](Self::run); the tile `to` may be written.
    #[inline(always)]
    unsafe fn accumulate(&self, start: Start, to: Lines<*mut u8>, packed: &mut Packed) {
        let Arrays { element, extreme, .. } = *self.arrays;
        let mut passes = Passes::new(element, extreme, to, (self.rows, self.len), start);
        // SAFETY: the caller's.
        unsafe {
            self.operands(false).for_each(|number| self.read(number, &mut passes, packed));
            self.flush(&mut passes, packed);
        }
    }

    /// Does the pass, after which nothing that was packed is needed any more.
    ///
    /// # Safety
    /// As for [`Passes::flush`].
    #[inline(always)]
    unsafe fn flush(&self, passes: &mut Passes, packed: &mut Packed) {
        // SAFETY: the caller's.
        unsafe { passes.flush() };
        packed.waiting = false;
    }

    /// The operands, by number, that are broadcast along a line, or those that are not.
    #[inline]
    fn operands(&self, broadcast: bool) -> impl Iterator<Item = usize> {
        let strides = self.arrays.inner.strides;
        (0..self.arrays.operands.len()).filter(move |&number| (strides.operand(number) == 0) == broadcast)
    }

    /// Gives an operand to a pass: where it lies, or packed first.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(always)]
    unsafe fn read(&self, number: usize, passes: &mut Passes, packed: &mut Packed) {
        let Arrays { operands, element, inner, lines, .. } = self.arrays;
        let (size, swapped) = (element.size(), operands[number].swapped);
        let stride = inner.strides.operand(number);
        let step = lines.map_or(0, |lines| lines.strides.operand(number));
        let data = operands[number].data.wrapping_offset(self.at.operand(number));
        // SAFETY: the caller's promise.
        unsafe {
            if swapped || (stride != 0 && stride != size as isize) {
                if packed.waiting {
                    self.flush(passes, packed);
                }
                passes.push(self.pack(data, (passes.len, stride), step, swapped, &mut packed.memory));
                packed.waiting = true;
            } else {
                passes.push(Lines { data, step });
            }
        }
    }

    /// Where the only line of a tile is in those arrays that are read or written in place.
    fn beside(&self) -> SmallVec<[*const u8; 4]> {
        let Arrays { operands, element, output, inner, direct_output, ahead, .. } = *self.arrays;
        let mut beside = SmallVec::new();
        if ahead && self.rows == 1 {
            let output = output.wrapping_offset(self.at.output()).cast_const();
            beside.extend(direct_output.then_some(output));
            let in_place = |&number: &usize| inner.strides.operand(number) == element.size() as isize;
            let place = |number: usize| operands[number].data.wrapping_offset(self.at.operand(number));
            beside.extend(self.operands(false).filter(in_place).map(place));
        }
        beside
    }

    /// Packs an operand, its elements along a line `stride` bytes apart and the lines `step`.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline(never)]
    unsafe fn pack(
        &self,
        data: *const u8,
        (len, stride): (usize, isize),
        step: isize,
        swapped: bool,
        memory: &mut Memory,
    ) -> Lines<*const u8> {
        let size = self.arrays.element.size();
        let beside = self.beside();
        let ahead = self.arrays.ahead.then_some(&*beside);
        if len == 1 {
            // Lines of one element are one line.
            let to = reserve(memory, self.rows * size);
            let (outer, inner) = ((1, 0), (self.rows, step));
            let pack = Pack { data, outer, inner, size, scratch: true, ahead: None, swapped, to, step: 0 };
            // SAFETY: the caller's.
            unsafe { pack.run() };
            return Lines { data: to, step: size as isize };
        }
        let pitch = self.pitch();
        let to = reserve(memory, self.rows * pitch);
        // Lines that follow one another downwards are packed from the last one on.
        let downwards = step == -(size as isize);
        let last = self.rows - 1;
        let (data, step) = if downwards { (data.wrapping_offset(step * last as isize), -step) } else { (data, step) };
        // SAFETY: the caller's; there is a pitch for each row.
        unsafe {
            let (outer, inner) = ((self.rows, step), (len, stride));
            Pack { data, outer, inner, size, scratch: true, ahead, swapped, to, step: pitch }.run();
        };
        if downwards {
            Lines { data: to.wrapping_add(last * pitch), step: -(pitch as isize) }
        } else {
            Lines { data: to, step: pitch as isize }
        }
    }

    /// Copies a finished tile to where the output has it.
    ///
    /// # Safety
    /// As for [`run`](Self::run), of lines in scratch memory.
    #[inline(never)]
    unsafe fn write(&self, from: Lines<*mut u8>, output: *mut u8) {
        let Arrays { element, inner, lines, .. } = *self.arrays;
        let size = element.size();
        let (stride, step) = (inner.strides.output, lines.map_or(0, |lines| lines.strides.output));
        // Of lines that the output has one beside the other, as many as whole vectors hold are turned: not one byte more is
        // written.
        let turned = if step == size as isize { self.rows - self.rows % (VECTOR / size) } else { 0 };
        let ragged = self.len * size % VECTOR;
        // SAFETY: the caller's; what is turned are whole vectors.
        unsafe {
            if ragged > 0 {
                // Lines are read in whole vectors: there is something behind them.
                for row in 0..turned {
                    let end = from.data.wrapping_offset(from.step * row as isize).add(self.len * size);
                    end.write_bytes(0, VECTOR - ragged);
                }
            }
            if turned > 0 {
                let (outer, inner) = ((self.len, size as isize), (turned, from.step));
                let (data, to, step) = (from.data, output, stride as usize);
                Pack { data, outer, inner, size, scratch: false, ahead: None, swapped: false, to, step }.run();
            }
            for row in turned..self.rows {
                let from = from.data.wrapping_offset(from.step * row as isize);
                let output = output.wrapping_offset(step * row as isize);
                if stride == size as isize {
                    from.copy_to_nonoverlapping(output, self.len * size);
                    continue;
                }
                for at in 0..self.len {
                    from.add(at * size).copy_to_nonoverlapping(output.wrapping_offset(stride * at as isize), size);
                }
            }
        }
    }
}
