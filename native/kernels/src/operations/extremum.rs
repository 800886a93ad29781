//! `Extremum`: the elementwise largest or smallest of any number of operands, in one pass.
//!
//! The output is cut into tiles, parts of a line or several lines; along a line each operand is contiguous, stands still
//! (it is broadcast) or is packed. A tile stays in the first-level cache while all operands pass over it.

use crate::element::ElementType;
use crate::isa::dispatch;
use crate::kernels::fold::{AT_ONCE, Lines, Passes, Start};
use crate::kernels::pack::{Pack, SCRATCH};
use crate::kernels::prefetch::LINE;
use crate::kernels::small;
use crate::layout::PerAxis;
use crate::layout::space::{Operand, Space};
use crate::threads;
use std::ops::{Range, RangeInclusive};
use std::ptr;

/// Writes the largest (or smallest) of all operands at every position of the output.
///
/// `axes` yields, last dimension first, the length and the output stride. An empty axis means no work.
///
/// # Safety
/// There is at least one operand; every operand is readable and the output writable at every position;
/// an operand may be the output itself (same first element, same strides) but may not overlap it otherwise.
pub unsafe fn extremum(
    operands: &mut [Operand],
    element: ElementType,
    largest: bool,
    axes: impl Iterator<Item = (usize, isize)>,
    output: *mut u8,
) {
    let space = Space::new(operands, element.size(), axes, output);
    let positions = space.positions(0);
    if positions == 0 {
        return;
    }
    if small::is_small(positions) && !operands.iter().any(|operand| operand.swapped) {
        // SAFETY: the caller's promise.
        return unsafe { small::extremum(operands, element, largest, &space) };
    }
    let parts = threads::worth(positions.saturating_mul(element.size() * (operands.len() + 1)));
    let plan = Plan::new(operands, element, largest, &space, parts);
    let tiles = plan.tiles();
    // SAFETY: the caller's promise; the shares are different parts of the output.
    let run = |tiles| unsafe { plan.run(tiles) };
    if parts == 1 {
        run(0..tiles);
    } else {
        threads::map(threads::shares(tiles, threads::tasks(parts)), run);
    }
}

/// Bytes of a tile that is read and written in one pass. Where NaN is met the tile is read again: it fits the
/// second-level cache with its operands. Each tile costs 170 ns, which the shorter ones feel in the third-level cache.
const STREAM: RangeInclusive<usize> = 1 << 16..=1 << 18;

struct Plan<'a> {
    operands: &'a [Operand],
    element: ElementType,
    largest: bool,
    space: &'a Space,
    /// Whether tiles are folded where they lie: an operand that is the output itself would look like an obstacle to
    /// vectors, and goes round by scratch.
    direct: bool,
    /// Elements of a tile along a line.
    tile: usize,
    /// Lines of a tile.
    rows: usize,
    /// Tiles of a line.
    per_line: usize,
    /// Tiles that take all lines, one after the other.
    blocks: usize,
    /// Elements by which the first tile of a line is shorter.
    shift: usize,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Plan<'_> {}

impl<'a> Plan<'a> {
    /// A plan with work for `parts` threads, where there is that much.
    fn new(operands: &'a [Operand], element: ElementType, largest: bool, space: &'a Space, parts: usize) -> Self {
        let Space { dimensions, output } = space;
        let inner = dimensions[0];
        let size = element.size();
        let in_place = operands.iter().any(|operand| operand.stride(&inner) != 0 && ptr::eq(operand.data, *output));
        let direct = inner.out == size as isize && !in_place;
        let readable = |stride| stride == 0 || stride == size as isize;
        let plain = direct && operands.iter().all(|operand| !operand.swapped && readable(operand.stride(&inner)));
        let streams = plain && operands.len() <= AT_ONCE;
        // Threads share whole tiles: with four or more for each, none has much more to do than another.
        let fair = if parts > 1 { space.positions(0) * size / (4 * parts) } else { usize::MAX };
        // What goes round by scratch or takes more than one pass stays in the first-level cache.
        let tile = if streams { fair.clamp(*STREAM.start(), *STREAM.end()) } else { SCRATCH } / size;
        // All tiles but the first begin where a line of the cache does.
        let shift = (*output as usize % LINE / size).min(tile - 1);
        let lines = dimensions.get(1).map_or(1, |lines| lines.len);
        let rows = if plain && lines > 1 { (tile / inner.len).min(SCRATCH / size).clamp(1, lines) } else { 1 };
        let (per_line, blocks) = ((inner.len + shift).div_ceil(tile), lines.div_ceil(rows));
        Self { operands, element, largest, space, direct, tile, rows, per_line, blocks, shift }
    }

    fn tiles(&self) -> usize {
        self.space.positions(2) * self.blocks * self.per_line
    }

    /// Does some of the tiles.
    ///
    /// # Safety
    /// As for [`extremum`]; nobody else writes these tiles.
    unsafe fn run(&self, tiles: Range<usize>) {
        let (inner, lines) = (&self.space.dimensions[0], self.space.dimensions.get(1));
        let mut steps = PerAxis::new();
        let mut scratch = Scratch::default();
        for tile in tiles {
            let end = (tile % self.per_line + 1) * self.tile - self.shift;
            let start = end.saturating_sub(self.tile);
            let len = end.min(inner.len) - start;
            let mut rows = 1;
            steps.clear();
            steps.push(start);
            if let Some(lines) = lines {
                let rest = tile / self.per_line;
                let row = rest % self.blocks * self.rows;
                rows = self.rows.min(lines.len - row);
                steps.push(row);
                self.space.steps(2, rest / self.blocks).for_each(|step| steps.push(step));
            }
            // SAFETY: the caller's promise.
            unsafe { self.tile(&steps, (rows, len), &mut scratch) };
        }
    }

    /// Does the tile of `rows` lines of `len` elements that so many steps along each dimension lead to.
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    unsafe fn tile(&self, steps: &[usize], (rows, len): (usize, usize), scratch: &mut Scratch) {
        let Self { operands, element, largest, space, .. } = *self;
        let size = element.size();
        let inner = &space.dimensions[0];
        let lines = space.dimensions.get(1);
        let Scratch { gathered, folded, ones } = scratch;
        let output = space.at(steps);
        let line = |at: usize| operands[at].at(&space.dimensions, steps);
        let mut read = |passes: &mut Passes, at: usize| {
            let (stride, swapped) = (operands[at].stride(inner), operands[at].swapped);
            // SAFETY: the caller's promise; what is packed is as long as a line, of which there is one then.
            unsafe {
                if swapped || (stride != 0 && stride != size as isize) {
                    let (inner, to) = ((passes.len, stride), room(gathered));
                    dispatch(Pack { data: line(at), outer: (1, 0), inner, size, swapped, to });
                    passes.push(Lines { data: to, step: 0 });
                    passes.flush();
                } else {
                    passes.push(Lines { data: line(at), step: lines.map_or(0, |lines| operands[at].stride(lines)) });
                }
            }
        };
        // Operands that stand still along a line become one element, from which the first pass starts.
        let still = || (0..operands.len()).filter(|&at| operands[at].stride(inner) == 0);
        let moving = || (0..operands.len()).filter(|&at| operands[at].stride(inner) != 0);
        // One alone is read where it is, if its bytes are in order.
        let in_place = still().count() < 2 && still().all(|at| !operands[at].swapped);
        let to = if in_place { ptr::null_mut() } else { room(ones) };
        let to = Lines { data: to, step: size as isize };
        let mut start = Start::Nothing;
        if still().next().is_some() {
            let mut first = Passes::new(element, largest, to, (rows, 1), start);
            still().for_each(|at| read(&mut first, at));
            // SAFETY: as above; where there is more than one operand, there is room for their results.
            start = unsafe { first.start() };
        }
        let to = if self.direct {
            Lines { data: output, step: lines.map_or(0, |lines| lines.out) }
        } else {
            Lines { data: room(folded), step: 0 }
        };
        let mut passes = Passes::new(element, largest, to, (rows, len), start);
        moving().for_each(|at| read(&mut passes, at));
        // SAFETY: as above.
        unsafe {
            passes.flush();
            if !self.direct {
                scatter(to.data, size, len, output, inner.out);
            }
        }
    }
}

/// Memory for what cannot be read or written in place, made where it is needed: most calls do without.
#[derive(Default)]
struct Scratch {
    gathered: Vec<u64>,
    folded: Vec<u64>,
    ones: Vec<u64>,
}

/// [`SCRATCH`] bytes.
fn room(memory: &mut Vec<u64>) -> *mut u8 {
    memory.reserve(SCRATCH / 8);
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
