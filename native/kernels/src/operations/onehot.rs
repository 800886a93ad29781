//! `OneHot`: one at the first extremum over a set of axes, zero elsewhere.

use crate::element::Element;
use crate::element::{ElementType, with_element};
use crate::kernels::cache_line::Aligned;
use crate::layout::axis::{Axis, Odometer, merge, positions};
use crate::layout::reduction::{ReductionAxes, ReductionAxis, ReductionLayout, ReductionOffsets};
use crate::layout::sort;
use crate::operations::input::Input;
use crate::operations::reduce::reduce;
use crate::operations::sink::{Sink, Tile};
use crate::threads;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

/// Writes one at the first maximum over the reduced axes and zero elsewhere, in the input's element type.
///
/// `axes` yields, last dimension first, the length, the input stride, the output stride and whether the axis
/// is reduced. An empty axis means no work.
///
/// # Safety
/// The input is readable and the output writable at every position that the axes lead to; the two do not
/// overlap.
pub unsafe fn onehot(
    data: *const u8,
    element: ElementType,
    swapped: bool,
    axes: impl Iterator<Item = (usize, isize, isize, bool)>,
    output: *mut u8,
) {
    let axes = axes.map(|(len, input, output, reduced)| {
        (len, ReductionOffsets { input, output, ..ReductionOffsets::default() }, reduced)
    });
    let mut layout = ReductionLayout::new(axes, false);
    let input = Input { data, element, swapped, largest: true, last: false, numbers: false };
    let mut reduced = ReductionAxes::from_slice(&layout.reduced);
    sort(&mut reduced, |axis| -axis.strides.index.abs());
    let sink = Hot { output, element, reduced: &reduced };
    // SAFETY: the caller's promise.
    unsafe { reduce(input, &mut layout, &sink) }
}

/// Clears a tile's part of the output and sets its ones while it is still in cache.
struct Hot<'a> {
    output: *mut u8,
    element: ElementType,
    /// The reduced axes, largest index stride first.
    reduced: &'a [ReductionAxis],
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Hot<'_> {}

impl Sink for Hot<'_> {
    const MOVED: usize = 2;

    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
        // SAFETY: the caller's promise; nothing is written straight away, so that the indices lie in memory of their own.
        let index = unsafe { slice::from_raw_parts(tile.index, tile.len) };
        let output = self.at(at.output);
        let size = self.element.size();
        if let [Axis { len, strides: ReductionOffsets { index: 1, output: stride, .. } }] = self.reduced[..] {
            let row = len * size;
            if stride == size as isize && axis.strides.output == row as isize && row <= LONGEST {
                // SAFETY: the caller's promise; an index is below the length of its row.
                return with_element!(self.element, E => unsafe {
                    static LONG: LongRow<E> = long_row();
                    let middle = LONG.0.as_ptr().cast::<u8>().wrapping_add(MIDDLE);
                    let write = match row {
                        0..=16 => short_rows::<{ size_of::<E>() }, 16>,
                        17..=32 => short_rows::<{ size_of::<E>() }, 32>,
                        _ => short_rows::<{ size_of::<E>() }, LONGEST>,
                    };
                    write(middle, output, row, index)
                });
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.clear(at.output, Axis { len: index.len(), ..*axis }) };
        with_element!(self.element, E => {
            let mark = |position: usize, place: isize| {
                let to = output.wrapping_offset(axis.strides.output * position as isize + place);
                // SAFETY: as above; alignment is not needed.
                unsafe { to.cast::<E>().write_unaligned(E::ONE) };
            };
            match self.reduced[..] {
                // Nearly every layout: the index is the place. Short rows are twice as fast for knowing it.
                [Axis { strides: ReductionOffsets { index: 1, output: stride, .. }, .. }] => {
                    index.iter().enumerate().for_each(|(position, &index)| mark(position, stride * index as isize))
                }
                _ => index.iter().enumerate().for_each(|(position, &index)| mark(position, self.place(index))),
            }
        })
    }
}

/// Bytes of the longest row that is copied, and those before the one that all such rows are copied from. Copies of up to 32
/// bytes cross no line of the cache there: those that do take twice as long.
const LONGEST: usize = 64;
const MIDDLE: usize = LONGEST + 32;

/// Zeros with a one in the middle, longer than need be where an element is.
type LongRow<E> = Aligned<[E; MIDDLE + LONGEST]>;

const fn long_row<E: Element>() -> LongRow<E> {
    // SAFETY: zero is all zero bits in every element type.
    let mut row = unsafe { MaybeUninit::<[E; MIDDLE + LONGEST]>::zeroed().assume_init() };
    row[MIDDLE / size_of::<E>()] = E::ONE;
    Aligned(row)
}

/// Writes a row for each index, all end to end: each is a piece of a long row with a one in the `middle`, `WIDTH` bytes of
/// it. What is written too much is the beginning of the next row, which comes after.
///
/// # Safety
/// Each index is below the length of a row, which is `row <= WIDTH` bytes; there are `WIDTH` bytes on either side of the
/// middle, and the output has room for the rows.
unsafe fn short_rows<const SIZE: usize, const WIDTH: usize>(
    middle: *const u8,
    output: *mut u8,
    row: usize,
    index: &[i64],
) {
    // SAFETY: the caller's.
    let from = |place: i64| unsafe { middle.offset(-(place as isize) * SIZE as isize).cast::<[u8; WIDTH]>() };
    let whole = (index.len() * row).checked_sub(WIDTH).map_or(0, |rest| rest / row + 1);
    let mut to = output;
    for &place in &index[..whole] {
        // SAFETY: the caller's; from here on there is room for `WIDTH` bytes.
        unsafe {
            to.cast::<[u8; WIDTH]>().write_unaligned(from(place).read_unaligned());
            to = to.add(row);
        }
    }
    for &place in &index[whole..] {
        // SAFETY: the caller's.
        unsafe {
            to.copy_from_nonoverlapping(from(place).cast(), row);
            to = to.add(row);
        }
    }
}

impl Hot<'_> {
    /// The output so many bytes on.
    fn at(&self, bytes: isize) -> *mut u8 {
        self.output.wrapping_offset(bytes)
    }

    /// Bytes from the first reduced element in memory to the one with a row-major index.
    #[inline]
    fn place(&self, mut index: i64) -> isize {
        let mut place = 0;
        // The index strides of the axes nest: taken from the largest on, each quotient is a place on its axis.
        for Axis { len, strides } in self.reduced {
            let stride = strides.index.abs();
            let digit = index / stride;
            index -= digit * stride;
            let step = if strides.index < 0 { *len as i64 - 1 - digit } else { digit };
            place += step as isize * strides.output;
        }
        place
    }

    /// Clears what belongs to a tile, on as many threads as pay.
    ///
    /// # Safety
    /// The output may be written wherever the tile and the reduced axes lead.
    unsafe fn clear(&self, start: isize, tile: ReductionAxis) {
        let size = self.element.size();
        // As if the output were an input: axes are ordered by that.
        let as_input = |axis: &ReductionAxis| {
            let output = axis.strides.output;
            Axis { len: axis.len, strides: ReductionOffsets { input: output, output, ..ReductionOffsets::default() } }
        };
        let mut corner = ReductionOffsets::default();
        let axes = self.reduced.iter().chain([&tile]);
        let mut axes: ReductionAxes = axes.map(|axis| as_input(axis).upwards(&mut corner)).collect();
        merge(&mut axes);
        let contiguous = axes.first().is_some_and(|axis| axis.strides.output == size as isize);
        let inner = if contiguous { axes.remove(0).len } else { 1 };
        let (lines, line) = (positions(&axes), inner * size);
        // One line is cut itself, several are counted out.
        let cut = if lines == 1 { line } else { lines };
        let clear = |part: Range<usize>| {
            let (lines, from, len) = if lines == 1 { (0..1, part.start, part.len()) } else { (part, 0, line) };
            let mut walk = Odometer::new(&axes, corner, lines.start);
            for _ in lines {
                let to = self.at(start + walk.at.output).wrapping_add(from);
                // SAFETY: the caller's promise. Zero is all zero bits in every element type.
                unsafe { to.write_bytes(0, len) };
                walk.advance();
            }
        };
        // Threads that have shared the search are awake: by the same count they share this.
        match threads::num_threads(lines.saturating_mul(line * Self::MOVED)) {
            1 => clear(0..cut),
            num_threads => drop(threads::map(threads::ranges(cut, threads::tasks(num_threads)), clear)),
        }
    }
}
