//! The tiles of an elementwise operation.
//!
//! The output is cut into tiles, parts of a line or several lines; along a line each operand is contiguous, broadcast
//! (stride 0) or is packed. A tile stays in the first-level cache while all operands pass over it.

use crate::element::ElementType;
use crate::element::rank::Extreme;
use crate::isa::dispatch;
use crate::kernels::accumulate::{Lines, Passes, Start, in_one_pass};
use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::pack::{Pack, SCRATCH};
use crate::layout::axis::{Strides, position, positions};
use crate::layout::elementwise::{ElementwiseAxis, ElementwiseLayout, Offsets, Operand};
use std::ops::{Range, RangeInclusive};
use std::ptr;

/// Bytes of a tile that is read and written in one pass. Where NaN is met the tile is read again: it fits the
/// second-level cache with its operands. Each tile costs 170 ns, which shows in the shorter ones in the third-level cache.
const STREAM: RangeInclusive<usize> = 1 << 16..=1 << 18;

/// How the output is cut into tiles, and how each operand is read along their lines.
pub struct Plan<'a> {
    operands: &'a [Operand],
    element: ElementType,
    extreme: Extreme,
    output: *mut u8,
    origin: &'a Offsets,
    /// The axis that lines lie along.
    inner: &'a ElementwiseAxis<'a>,
    /// The axis from one line of a tile to the next, where there is one.
    lines: Option<&'a ElementwiseAxis<'a>>,
    /// The other axes.
    outer: &'a [ElementwiseAxis<'a>],
    /// How many operands are broadcast along a line: these become one element, which the first pass starts from.
    broadcast: usize,
    /// Whether tiles are accumulated in the output itself. An operand that is the output itself would look like an
    /// obstacle to vectors, and goes by way of scratch memory.
    direct_output: bool,
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

impl<'a> Plan<'a> {
    /// A plan with work for so many threads, where there is that much.
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
        let direct_output = inner.strides.output == size as isize && !in_place;
        let plain = direct_output && readable;
        let streams = plain && in_one_pass(operands.len() - broadcast);
        // Threads share whole tiles: with four or more for each, none has much more to do than another.
        let fair = if num_threads > 1 { positions(axes) * size / (4 * num_threads) } else { usize::MAX };
        // What goes by way of scratch memory or takes more than one pass stays in the first-level cache.
        let tile = if streams { fair.clamp(*STREAM.start(), *STREAM.end()) } else { SCRATCH } / size;
        // All tiles but the first begin where a line of the cache does.
        let shift = (first as usize % LINE / size).min(tile - 1);
        let count = lines.map_or(1, |lines| lines.len);
        let rows = if plain && count > 1 { (tile / inner.len).min(SCRATCH / size).clamp(1, count) } else { 1 };
        let (per_line, per_column) = ((inner.len + shift).div_ceil(tile), count.div_ceil(rows));
        Self {
            operands,
            element,
            extreme,
            output,
            origin,
            inner,
            lines,
            outer,
            broadcast,
            direct_output,
            tile,
            rows,
            per_line,
            per_column,
            shift,
        }
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
        let mut scratch = Scratch::default();
        for tile in tiles {
            let end = (tile % self.per_line + 1) * self.tile - self.shift;
            let start = end.saturating_sub(self.tile);
            let len = end.min(self.inner.len) - start;
            let mut rows = 1;
            let mut at = self.origin.clone();
            self.inner.strides.step(&mut at, start as isize);
            if let Some(lines) = self.lines {
                let column = tile / self.per_line;
                let row = column % self.per_column * self.rows;
                rows = self.rows.min(lines.len - row);
                lines.strides.step(&mut at, row as isize);
                if !self.outer.is_empty() {
                    at = position(self.outer, at, column / self.per_column);
                }
            }
            // SAFETY: the caller's promise.
            unsafe { Tile { plan: self, at: &at, rows, len }.run(&mut scratch) };
        }
    }
}

/// A tile of `rows` lines of `len` elements.
struct Tile<'a> {
    plan: &'a Plan<'a>,
    at: &'a Offsets,
    rows: usize,
    len: usize,
}

impl Tile<'_> {
    /// Accumulates all operands and leaves the result in the output.
    ///
    /// # Safety
    /// As for [`Plan::run`].
    #[inline(always)]
    unsafe fn run(&self, scratch: &mut Scratch) {
        let Plan { element, output, inner, lines, direct_output, .. } = *self.plan;
        let Scratch { packed, accumulated, starts } = scratch;
        let output = output.wrapping_offset(self.at.output());
        let to = if direct_output {
            Lines { data: output, step: lines.map_or(0, |lines| lines.strides.output) }
        } else {
            Lines { data: reserve(accumulated), step: 0 }
        };
        // SAFETY: the caller's.
        unsafe {
            let start = self.start(starts, packed);
            self.accumulate(start, to, packed);
            if !direct_output {
                scatter(to.data, element.size(), self.len, output, inner.strides.output);
            }
        }
    }

    /// Makes the operands that are broadcast along a line one element for each line, which the first pass starts from.
    ///
    /// # Safety
    /// As for [`Plan::run`].
    #[inline(always)]
    unsafe fn start(&self, starts: &mut Memory, packed: &mut Memory) -> Start {
        let Plan { element, extreme, broadcast, .. } = *self.plan;
        if broadcast == 0 {
            return Start::Nothing;
        }
        // One alone is read where it is, if its bytes are in order.
        let read_in_place = broadcast == 1 && self.operands(true).all(|number| !self.plan.operands[number].swapped);
        let to = if read_in_place { ptr::null_mut() } else { reserve(starts) };
        let to = Lines { data: to, step: element.size() as isize };
        let mut passes = Passes::new(element, extreme, to, (self.rows, 1), Start::Nothing);
        // SAFETY: the caller's; where there is more than one operand, there is scratch memory for their results.
        unsafe {
            self.operands(true).for_each(|number| self.read(number, &mut passes, packed));
            passes.start()
        }
    }

    /// Accumulates the operands that vary along a line.
    ///
    /// # Safety
    /// As for [`Plan::run`]; the tile `to` may be written.
    #[inline(always)]
    unsafe fn accumulate(&self, start: Start, to: Lines<*mut u8>, packed: &mut Memory) {
        let Plan { element, extreme, .. } = *self.plan;
        let mut passes = Passes::new(element, extreme, to, (self.rows, self.len), start);
        // SAFETY: the caller's.
        unsafe {
            self.operands(false).for_each(|number| self.read(number, &mut passes, packed));
            passes.flush();
        }
    }

    /// The operands, by number, that are broadcast along a line, or those that are not.
    #[inline]
    fn operands(&self, broadcast: bool) -> impl Iterator<Item = usize> {
        let strides = self.plan.inner.strides;
        (0..self.plan.operands.len()).filter(move |&number| (strides.operand(number) == 0) == broadcast)
    }

    /// Gives an operand to a pass: where it lies, or packed first.
    ///
    /// # Safety
    /// As for [`Plan::run`].
    #[inline(always)]
    unsafe fn read(&self, number: usize, passes: &mut Passes, packed: &mut Memory) {
        let Plan { operands, element, inner, lines, .. } = self.plan;
        let (size, swapped) = (element.size(), operands[number].swapped);
        let stride = inner.strides.operand(number);
        let data = operands[number].data.wrapping_offset(self.at.operand(number));
        // SAFETY: the caller's promise; what is packed is as long as a line, of which there is one then.
        unsafe {
            if swapped || (stride != 0 && stride != size as isize) {
                let (inner, to) = ((passes.len, stride), reserve(packed));
                dispatch(Pack { data, outer: (1, 0), inner, size, swapped, to });
                passes.push(Lines { data: to, step: 0 });
                passes.flush();
            } else {
                passes.push(Lines { data, step: lines.map_or(0, |lines| lines.strides.operand(number)) });
            }
        }
    }
}

/// Scratch memory for what cannot be read or written in place, made where it is needed: most calls do without.
#[derive(Default)]
struct Scratch {
    packed: Memory,
    accumulated: Memory,
    starts: Memory,
}

/// Lines of the cache.
type Memory = Vec<Aligned<[u8; LINE]>>;

/// [`SCRATCH`] bytes.
fn reserve(memory: &mut Memory) -> *mut u8 {
    memory.reserve(SCRATCH / LINE);
    memory.as_mut_ptr().cast()
}

/// Copies a finished tile to where the output has it.
///
/// # Safety
/// There are `len` elements, and the output has room for them.
unsafe fn scatter(from: *const u8, size: usize, len: usize, output: *mut u8, stride: isize) {
    if stride == size as isize {
        // SAFETY: the caller's.
        return unsafe { from.copy_to_nonoverlapping(output, len * size) };
    }
    for at in 0..len {
        // SAFETY: the caller's.
        unsafe { from.add(at * size).copy_to_nonoverlapping(output.wrapping_offset(stride * at as isize), size) };
    }
}
