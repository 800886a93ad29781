//! The elementwise largest or smallest of any number of operands, in one pass.
//!
//! The output is cut into tiles: parts of a line, or several lines. They are independent of one another, so threads can take
//! ranges of them. All operands are accumulated in a tile while it stays in the cache. Along the lines of a tile an operand is
//! contiguous, broadcast (stride 0), or packed first. An operand that is contiguous from line to line is transposed on the way,
//! and so is the result if the output is contiguous from line to line.

use crate::element::ElementType;
use crate::element::rank::Extreme;
use crate::kernels::elementwise::{OPERANDS_AT_ONCE, Pass, accumulate};
use crate::kernels::lanes::{LINE, Lines, LinesToWrite, Scratch};
use crate::kernels::pack::{PACKED_BLOCK_BYTES, Pack};
use crate::layout::{ElementwiseAxis, ElementwiseLayout, Offsets, Operand, position, positions};
use crate::operations::repeated_rows;
use crate::threads::{self, tasks};
use smallvec::SmallVec;
use std::mem::MaybeUninit;
use std::ops::{Range, RangeInclusive};
use std::ptr;

/// Writes the largest (or smallest) of all operands at every position of the output.
///
/// Only floats have NaN to omit. `axes` yields, last dimension first, each length and output stride. An empty axis means no work.
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
    // SAFETY: the caller's promise.
    unsafe {
        let is_done = match layout.axes.len() {
            1 => {
                elements <= PACKED_BLOCK_BYTES / element.size()
                    && accumulate_line(operands, element, extreme, &layout, output)
            }
            _ => repeated_rows::accumulate(operands, element, extreme, &layout, output),
        };
        if !is_done {
            extremum_by_plan(operands, element, extreme, &mut layout, output)
        }
    }
}

/// Bytes of the operands that take less time to copy than to plan for.
const COPIES_MOST_BYTES: usize = 512;

/// Accumulates operands that are one line each; one operand may be a single element. Returns whether it did. This avoids a plan,
/// which takes an eighth of the time for eight elements. Short operands that have gaps or will be overwritten are copied.
///
/// # Safety
/// As for [`extremum`].
#[inline]
unsafe fn accumulate_line(
    operands: &[Operand],
    element: ElementType,
    extreme: Extreme,
    ElementwiseLayout { axes, origin }: &ElementwiseLayout,
    output: *mut u8,
) -> bool {
    let size = element.size();
    let output = output.wrapping_offset(origin.output());
    let [axis] = &axes[..] else { return false };
    if axis.strides.output != size as isize {
        return false;
    }
    let mut first = None;
    let mut lines = SmallVec::<[Lines; 4]>::new();
    let mut copies = [MaybeUninit::<u8>::uninit(); COPIES_MOST_BYTES];
    // What no operand has taken. To borrow all copies again would end the pointers to those that operands have.
    let mut free = &mut copies[..];
    for (number, operand) in operands.iter().enumerate() {
        let mut data = operand.data.wrapping_offset(origin.operand(number));
        let stride = if axis.len == 1 { size as isize } else { axis.strides.of(operand) };
        if operand.swapped || stride == 0 && first.is_some() {
            return false;
        }
        if stride == 0 {
            // SAFETY: the caller's promise: the operand has an element.
            first = Some(unsafe { Lines::plain(data, 0, 1, size) });
            continue;
        }
        if stride != size as isize || ptr::eq(data, output) {
            let Some((room, rest)) = free.split_at_mut_checked(axis.len * size) else { return false };
            free = rest;
            for (at, to) in room.chunks_exact_mut(size).enumerate() {
                // SAFETY: the operand has an element at each position, and the copy has room for one.
                unsafe { data.offset(stride * at as isize).copy_to_nonoverlapping(to.as_mut_ptr().cast(), size) };
            }
            data = room.as_ptr().cast();
        }
        // SAFETY: the elements follow one another, in the operand or in its copy.
        lines.push(unsafe { Lines::plain(data, 0, 1, axis.len * size) });
    }
    // SAFETY: as above, for the output. An operand that is the output itself has been copied.
    unsafe {
        let to = LinesToWrite::new(output, 0, 1, axis.len * size);
        accumulate(Pass { first, operands: &lines, to, rows: 1, len: axis.len }, element, extreme);
    }
    true
}

/// The same for any layout that has been [arranged](arrange): plans tiles for each thread, if there are enough, and accumulates
/// them. Not inlined: otherwise small arrays would pay for its memory, too.
///
/// # Safety
/// As for [`extremum`].
#[inline(never)]
unsafe fn extremum_by_plan<'a>(
    operands: &'a [Operand],
    element: ElementType,
    extreme: Extreme,
    layout: &mut ElementwiseLayout<'a>,
    output: *mut u8,
) {
    if layout.axes.len() == 1 {
        layout.push_unit(operands, 0);
    }
    let ElementwiseLayout { axes, origin } = layout;
    let elements = positions(axes);
    let size = element.size();
    let num_threads = threads::num_threads(elements.saturating_mul(size * (operands.len() + 1)));
    let [inner, lines, outer @ ..] = &axes[..] else { unreachable!("at least two axes") };
    let first = output.wrapping_offset(origin.output());
    // How many operands run along the lines, whether one of them is the output, and whether all can be read as they are.
    let mut along = 0;
    let mut in_place = false;
    let mut readable = true;
    for (number, operand) in operands.iter().enumerate() {
        let stride = inner.strides.of(operand);
        readable &= !operand.swapped && (stride == 0 || stride == size as isize);
        if stride != 0 {
            along += 1;
            in_place |= ptr::eq(operand.data.wrapping_offset(origin.operand(number)), first);
        }
    }
    let contiguous = inner.strides.output == size as isize;
    let direct = contiguous && !in_place;
    let (tile, rows) = if direct && readable {
        // Threads share whole tiles: all tasks have the same number. (The first tile may be short by a cache line.)
        let task = elements * size / tasks(num_threads);
        let fair = match num_threads {
            1 => *STREAM_TILE_BYTES.end(),
            _ => task / task.div_ceil(*STREAM_TILE_BYTES.end()).max(1) + LINE,
        };
        // A tile that takes more than one pass stays in the first-level cache.
        let tile =
            if along <= OPERANDS_AT_ONCE { fair.max(*STREAM_TILE_BYTES.start()) } else { PACKED_BLOCK_BYTES } / size;
        (tile, if lines.len > 1 { (tile / inner.len).min(PACKED_BLOCK_BYTES / size).clamp(1, lines.len) } else { 1 })
    } else {
        // A tile that goes through scratch memory stays in the first-level cache, unless something is transposed.
        let least = if contiguous {
            TRANSPOSED_TILE_LINES
        } else {
            (TRANSPOSED_OUTPUT_STRETCH_BYTES / size).min(TRANSPOSED_OUTPUT_MOST_LINES)
        };
        let turns = crosswise(inner, lines, size) > 0;
        let (bytes, least) =
            if turns { (TRANSPOSED_TILE_BYTES, least.min(lines.len)) } else { (PACKED_BLOCK_BYTES, 1) };
        let tile = (bytes / size / least).min(inner.len);
        let rows = bytes / pitch(tile, size);
        // Squares that are transposed are as high as a vector is long.
        (tile, (rows - if rows > 16 { rows % 16 } else { 0 }).min(PACKED_BLOCK_BYTES / size).clamp(least, lines.len))
    };
    // All tiles but the first begin at a cache line.
    let shift = if contiguous && inner.len > tile { (first as usize % LINE / size).min(tile - 1) } else { 0 };
    let per_line = (inner.len + shift).div_ceil(tile);
    let per_column = lines.len.div_ceil(rows);
    #[rustfmt::skip]
    let tiling = Tiling {
        operands, element, extreme, output, origin, inner, lines, outer, direct, tile, rows, per_line, per_column, shift,
    };
    let tiles = positions(outer) * per_column * per_line;
    // SAFETY: the caller's promise; threads share the tiles without overlap.
    threads::share(tiles, num_threads, |tiles| unsafe { tiling.run(tiles) });
}

/// Bytes of a tile that is read and written in one pass. Where NaN occurs the tile is read again, so it fits the second-level
/// cache with its operands. Each tile costs 170 ns, which shows in shorter tiles in the third-level cache.
const STREAM_TILE_BYTES: RangeInclusive<usize> = 1 << 16..=1 << 18;

/// Bytes of a tile in which arrays are transposed, and lines of a tile where operands are: then reads from line to line come in
/// stretches of a cache line or more, reads along the lines in longer stretches.
const TRANSPOSED_TILE_BYTES: usize = 1 << 16;
const TRANSPOSED_TILE_LINES: usize = 64;

/// Bytes of each stretch that is written from line to line where the output is transposed, and the most lines of such a tile: a
/// cache line that is written in two parts comes and goes twice.
const TRANSPOSED_OUTPUT_STRETCH_BYTES: usize = 512;
const TRANSPOSED_OUTPUT_MOST_LINES: usize = 256;

/// How the output is cut into tiles, and how each operand is read along their lines.
struct Tiling<'a> {
    operands: &'a [Operand],
    element: ElementType,
    extreme: Extreme,
    output: *mut u8,
    origin: &'a Offsets,
    /// The axis along which lines lie.
    inner: &'a ElementwiseAxis<'a>,
    /// The axis from one line of a tile to the next.
    lines: &'a ElementwiseAxis<'a>,
    /// The other axes.
    outer: &'a [ElementwiseAxis<'a>],
    /// Whether tiles are accumulated in the output itself. If an operand is the output itself, it would look like an obstacle to
    /// vectors: then tiles go through scratch memory.
    direct: bool,
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
unsafe impl Sync for Tiling<'_> {}

/// Puts the axis along which lines lie first, and the axis from line to line second.
///
/// Lines lie along the axis on which most arrays are contiguous, if it is not very short; in doubt, the output decides. On the
/// second axis most other arrays are contiguous: these are transposed. Not inlined, so that arrays of one axis do not pay for it.
#[inline(never)]
fn arrange(layout: &mut ElementwiseLayout, size: usize) {
    let axes = &mut layout.axes;
    if axes[0].strides.all().all(|stride| stride == 0 || stride == size as isize) {
        return;
    }
    let contiguous = |axis: &ElementwiseAxis| axis.strides.all().filter(|&stride| stride == size as isize).count();
    let line = (0..axes.len()).rev().max_by_key(|&axis| (axes[axis].len * size >= LINE, contiguous(&axes[axis])));
    let line = axes.remove(line.unwrap_or(0));
    let crosswise = |axis: &ElementwiseAxis| crosswise(&line, axis, size);
    let across = (0..axes.len()).rev().max_by_key(|&axis| crosswise(&axes[axis]));
    let across = axes.remove(across.unwrap_or(0));
    axes.insert_many(0, [line, across]);
}

/// How many arrays are contiguous only from line to line, upwards or downwards.
fn crosswise(line: &ElementwiseAxis, across: &ElementwiseAxis, size: usize) -> usize {
    let strides = line.strides.all().zip(across.strides.all());
    strides.filter(|&(along, step)| along != 0 && along != size as isize && step.unsigned_abs() == size).count()
}

impl Tiling<'_> {
    /// Accumulates some of the tiles.
    ///
    /// # Safety
    /// As for [`extremum`]; no other thread writes these tiles.
    unsafe fn run(&self, tiles: Range<usize>) {
        let mut memory = Memory::default();
        for tile in tiles {
            let end = (tile % self.per_line + 1) * self.tile - self.shift;
            let start = end.saturating_sub(self.tile);
            let len = end.min(self.inner.len) - start;
            let column = tile / self.per_line;
            let row = column % self.per_column * self.rows;
            let at = self.lines.after(self.inner.after(self.origin.clone(), start), row);
            let at = position(self.outer, at, column / self.per_column);
            debug_assert!(start < end && row < self.lines.len, "tile {tile} of no element");
            // SAFETY: the caller's promise: the tile lies in the output.
            unsafe { self.accumulate(&at, (self.rows.min(self.lines.len - row), len), &mut memory) };
        }
    }

    /// Accumulates all operands in a tile of `rows` lines, and leaves the result in the output.
    ///
    /// # Safety
    /// As for [`extremum`]; the tile, which begins at `at`, lies in the output, and no other thread writes it.
    unsafe fn accumulate(&self, at: &Offsets, (rows, len): (usize, usize), memory: &mut Memory) {
        let Self { operands, element, extreme, inner, .. } = *self;
        let Memory { packed, tile, starts } = memory;
        packed.resize_with(operands.len(), Scratch::default);
        let output = self.output.wrapping_offset(at.output());
        let step = self.lines.strides.output;
        let pitch = pitch(len, element.size());
        let (data, stride) = match self.direct {
            true => (output, step),
            false => (tile.reserve(rows * pitch), pitch as isize),
        };
        // SAFETY: the tile lies in the output, or in scratch memory of its size.
        let to = unsafe { LinesToWrite::new(data, stride, rows, len * element.size()) };
        let (mut ones, mut lines): (SmallVec<[Lines; 4]>, SmallVec<[Lines; 4]>) = Default::default();
        for (number, memory) in packed.iter_mut().enumerate() {
            let broadcast = inner.strides.of(&operands[number]) == 0;
            let (into, len) = if broadcast { (&mut ones, 1) } else { (&mut lines, len) };
            // SAFETY: the caller's promise: the operand has an element for each of the tile.
            into.push(unsafe { self.read(number, at, (rows, len), memory) });
        }
        // Operands that are broadcast along a line are combined into one element for each line.
        if ones.len() > 1 {
            let size = element.size();
            // SAFETY: each operand has an element for each line, and the scratch memory has room for one.
            unsafe {
                let to = LinesToWrite::new(starts.reserve(rows * size), size as isize, rows, size);
                accumulate(Pass { first: None, operands: &ones, to, rows, len: 1 }, element, extreme);
                ones[0] = to.readable();
            }
        }
        let first = ones.first().copied();
        // SAFETY: all operands have the lines of the tile, whose memory is none of theirs: see `direct`.
        unsafe { accumulate(Pass { first, operands: &lines, to, rows, len }, element, extreme) };
        if !self.direct {
            // SAFETY: the caller's promise.
            unsafe { self.write(to.readable(), output, (rows, len)) };
        }
    }

    /// The lines of an operand, in place or packed.
    ///
    /// # Safety
    /// As for [`accumulate`](Self::accumulate).
    unsafe fn read(&self, number: usize, at: &Offsets, (rows, len): (usize, usize), memory: &mut Scratch) -> Lines {
        let operand = &self.operands[number];
        let size = self.element.size();
        let stride = self.inner.strides.of(operand);
        let step = self.lines.strides.of(operand);
        let data = operand.data.wrapping_offset(at.operand(number));
        if !operand.swapped && (stride == 0 || stride == size as isize) {
            // SAFETY: the caller's promise.
            return unsafe { Lines::plain(data, step, rows, if stride == 0 { size } else { len * size }) };
        }
        let pitch = pitch(len, size);
        let to = memory.reserve(rows * pitch);
        // Lines that follow one another downwards are packed from the last one on.
        let last = if step == -(size as isize) { rows as isize - 1 } else { 0 };
        let down = if last > 0 { -1 } else { 1 };
        let data = data.wrapping_offset(step * last);
        let outer = (rows, step * down);
        let inner = (len, stride);
        let task = Pack { data, outer, inner, size, scratch: true, swapped: operand.swapped, to, step: pitch };
        let pitch = pitch as isize;
        // SAFETY: the caller's promise; the scratch memory has room for all lines.
        unsafe {
            task.run();
            Lines::plain(to.wrapping_offset(pitch * last), pitch * down, rows, len * size)
        }
    }

    /// Copies a finished tile from scratch memory to its place in the output.
    ///
    /// # Safety
    /// As for [`accumulate`](Self::accumulate).
    #[inline(never)]
    unsafe fn write(&self, from: Lines, output: *mut u8, (rows, len): (usize, usize)) {
        let size = self.element.size();
        let stride = self.inner.strides.output;
        let step = self.lines.strides.output;
        let lines = (rows, from.stride);
        let along = (len, size as isize);
        let pack = |outer, inner, step| {
            let data = from.data.address();
            let step = step as usize;
            Pack { data, outer, inner, size, scratch: false, swapped: false, to: output, step }
        };
        if stride == size as isize {
            // SAFETY: the caller's promise.
            return unsafe { pack(lines, along, step).run() };
        }
        if step == size as isize {
            // Lines that are adjacent in the output are transposed.
            // SAFETY: the caller's promise.
            return unsafe { pack(along, lines, stride).run() };
        }
        for row in 0..rows {
            let from = from.from(row as isize).data;
            let output = output.wrapping_offset(step * row as isize);
            for at in 0..len {
                let to = output.wrapping_offset(stride * at as isize);
                // SAFETY: the caller's promise; scratch memory is not part of the output.
                unsafe { to.copy_from_nonoverlapping(from.add(at * size).read(size), size) };
            }
        }
    }
}

/// Scratch memory for arrays that cannot be read or written in place, allocated only where needed: most calls do without it.
#[derive(Default)]
struct Memory {
    /// For each operand.
    packed: SmallVec<[Scratch; 4]>,
    tile: Scratch,
    starts: Scratch,
}

/// Bytes from one line of scratch memory to the next: an odd number of cache lines. With a large power of two between lines,
/// writes from line to line would share few places in the cache.
fn pitch(len: usize, size: usize) -> usize {
    ((len * size).div_ceil(LINE) | 1) * LINE
}
