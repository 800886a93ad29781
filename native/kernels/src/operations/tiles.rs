//! The tiles of an elementwise operation: how its output is cut, and along which axes.
//!
//! Tiles are parts of a line or several lines. They are independent of one another, so that threads may take ranges of them.

use crate::element::ElementType;
use crate::element::rank::Extreme;
use crate::kernels::cache_line::LINE;
use crate::kernels::pack::SCRATCH;
use crate::kernels::pass::in_one_pass;
use crate::kernels::stream::{settle, streams};
use crate::kernels::turned::{BAND, fits};
use crate::layout::axis::{Strides, position, positions};
use crate::layout::elementwise::{ElementwiseAxis, ElementwiseLayout, Offsets, Operand};
use crate::operations::arrays::{Arrays, Pair};
use crate::operations::tile::{Scratch, Tile, pitch};
use crate::threads::tasks;
use std::ops::{Range, RangeInclusive};
use std::ptr;

/// Bytes of a tile that is read and written in one pass. Where NaN is met the tile is read again: it fits the
/// second-level cache with its operands. Each tile costs 170 ns, which shows in the shorter ones in the third-level cache.
const STREAM: RangeInclusive<usize> = 1 << 16..=1 << 18;

/// Bytes of a tile in which arrays are turned, and lines of it where they are turned on the way in: what is read from line to line
/// comes in stretches of a line of the cache or more, what is read along the lines in longer ones.
const TURNED: usize = 1 << 16;
const LINES_IN: usize = 64;

/// Bytes of all arrays from which on an output is written past the caches, where operands are turned, and of lines that are long
/// enough for that. (With fewer the output is often still there from the last time.) Tiles are half as high then, for the result
/// of one to be in the cache as well.
const STREAMED: usize = 56 << 20;
const STREAMED_LINE: usize = 1024;

/// Elements of a line that are covered with squares before the next ones, and bytes of lines on top of each other: what has been
/// asked for of the next band stays in the second-level cache, and an array is read by whole pages from line to line.
const SQUARES_LINE: usize = 4096;
const SQUARES: usize = 4096;

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
        let in_output = contiguous_output && !in_place;
        let count = lines.map_or(1, |lines| lines.len);
        let pair = if in_output { Pair::of(operands, size, inner, lines) } else { None };
        let squares = matches!(pair, Some(Pair::Turned(_))) && fits(size, count, inner.len);
        let streamed = turns
            && bytes.saturating_mul(operands.len() + 1) >= STREAMED
            && in_output
            && !squares
            && inner.len * size >= STREAMED_LINE
            && streams();
        let direct_output = in_output && !streamed;
        let pair = pair.filter(|_| direct_output);
        let ahead = bytes >= AHEAD;
        let plain = direct_output && (readable || matches!(pair, Some(Pair::Apart(_))));
        let (tile, rows) = if squares {
            let each = count.div_ceil(tasks(num_threads)).next_multiple_of(BAND / size);
            (inner.len.min(SQUARES_LINE), each.min(SQUARES / size).min(count))
        } else if plain {
            let streams = in_one_pass(operands.len() - broadcast);
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
            let halves = if streamed { 2 } else { 1 };
            let least = if contiguous_output { LINES_IN / halves } else { (WRITTEN / size).min(LINES_OUT) };
            let packed = if ahead { AHEAD_TILE } else { SCRATCH };
            let (bytes, least) = if turns { (TURNED / halves, least.min(count)) } else { (packed, 1) };
            let tile = (bytes / size / least).min(inner.len);
            let rows = bytes / pitch(tile, size);
            // Squares are as high as a vector is long.
            (tile, (rows - if rows > 16 { rows % 16 } else { 0 }).min(SCRATCH / size).clamp(least, count))
        };
        // All tiles but the first begin where a line of the cache does.
        let shift =
            if contiguous_output && inner.len > tile { (first as usize % LINE / size).min(tile - 1) } else { 0 };
        let (per_line, per_column) = ((inner.len + shift).div_ceil(tile), count.div_ceil(rows));
        let arrays = Arrays {
            operands,
            element,
            extreme,
            output,
            inner,
            lines,
            broadcast,
            direct_output,
            pair,
            streamed,
            ahead,
        };
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
        if arrays.streamed {
            settle();
        }
    }
}
