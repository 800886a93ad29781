//! `OneHot`: one at the first extremum over a set of axes, zero elsewhere.

use crate::element::stored::Element;
use crate::element::{ElementType, with_element};
use crate::layout::{Axes, Axis, Layout, Odometer, Position, merge, positions};
use crate::operations::reduce::{Input, Sink, reduce};
use std::mem::MaybeUninit;

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
    let mut layout = Layout::new(axes, false);
    let input = Input { data, element, swapped, largest: true, last: false };
    let mut reduced = Axes::from_slice(&layout.reduced);
    reduced.sort_by_key(|axis| -axis.weight.abs());
    let sink = Hot { output: output.wrapping_offset(layout.out_offset), element, reduced: &reduced };
    // SAFETY: the caller's promise.
    unsafe { reduce(input, &mut layout, &sink) }
}

/// Clears a tile's part of the output and sets its ones while it is still in cache.
struct Hot<'a> {
    output: *mut u8,
    element: ElementType,
    /// The reduced axes, heaviest index weight first.
    reduced: &'a [Axis],
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Hot<'_> {}

impl Sink for Hot<'_> {
    #[inline]
    fn room(&self, _: Position, _: &Axis) -> Option<*mut i64> {
        None
    }

    unsafe fn take(&self, at: Position, axis: &Axis, index: &[i64]) {
        let output = self.output.wrapping_offset(at.out);
        let size = self.element.size();
        if let [Axis { len, weight: 1, out, .. }] = self.reduced[..] {
            let row = len * size;
            if out == size as isize && axis.out == row as isize && row <= 64 {
                // SAFETY: the caller's promise.
                return unsafe {
                    match row {
                        0..=16 => self.short_rows::<16>(output, row, index),
                        17..=32 => self.short_rows::<32>(output, row, index),
                        _ => self.short_rows::<64>(output, row, index),
                    }
                };
            }
        }
        // SAFETY: the caller's promise.
        unsafe { self.clear(output, Axis { len: index.len(), ..*axis }) };
        with_element!(self.element, E => {
            let mark = |position: usize, place: isize| {
                let to = output.wrapping_offset(axis.out * position as isize + place);
                // SAFETY: as above; alignment is not needed.
                unsafe { to.cast::<E>().write_unaligned(E::ONE) };
            };
            match self.reduced[..] {
                // Nearly every layout: the index is the place. Short rows are twice as fast for knowing it.
                [Axis { weight: 1, out, .. }] => {
                    index.iter().enumerate().for_each(|(position, &index)| mark(position, out * index as isize))
                }
                _ => index.iter().enumerate().for_each(|(position, &index)| mark(position, self.place(index))),
            }
        })
    }
}

/// Elements of the longest row that is copied: 64 bytes, of one byte each.
const MIDDLE: usize = 64;

/// Zeros with a one in the middle.
const fn long_row<E: Element>() -> [E; 2 * MIDDLE] {
    // SAFETY: zero is all zero bits in every element type.
    let mut row = unsafe { MaybeUninit::<[E; 2 * MIDDLE]>::zeroed().assume_init() };
    row[MIDDLE] = E::ONE;
    row
}

impl Hot<'_> {
    /// Writes rows of `row <= WIDTH` bytes that lie end to end: each is a piece of a long row with a one in the
    /// middle. What is written too much is the beginning of the next row, which comes after.
    ///
    /// # Safety
    /// As for [`take`](Sink::take); the rows lie end to end, and each index is below the length of a row.
    unsafe fn short_rows<const WIDTH: usize>(&self, output: *mut u8, row: usize, index: &[i64]) {
        let size = self.element.size();
        let middle = with_element!(self.element, E => {
            static LONG: [E; 2 * MIDDLE] = long_row();
            LONG.as_ptr().wrapping_add(MIDDLE).cast::<u8>()
        });
        let end = index.len() * row;
        for (number, &place) in index.iter().enumerate() {
            let start = number * row;
            // SAFETY: the index is below the length of the row, which `WIDTH` bytes hold; the rows lie in the output.
            unsafe {
                let from = middle.sub(place as usize * size);
                if start + WIDTH <= end {
                    output
                        .add(start)
                        .cast::<[u8; WIDTH]>()
                        .write_unaligned(from.cast::<[u8; WIDTH]>().read_unaligned());
                } else {
                    output.add(start).copy_from_nonoverlapping(from, row);
                }
            }
        }
    }

    /// Bytes from the first reduced element in memory to the one with a row-major index.
    #[inline]
    fn place(&self, mut index: i64) -> isize {
        let mut out = 0;
        // The weights of the axes nest: taken from the heaviest on, each quotient is a place on its axis.
        for axis in self.reduced {
            let weight = axis.weight.abs();
            let digit = index / weight;
            index -= digit * weight;
            let step = if axis.weight < 0 { axis.len as i64 - 1 - digit } else { digit };
            out += step as isize * axis.out;
        }
        out
    }

    /// # Safety
    /// The output may be written wherever the tile and the reduced axes lead.
    unsafe fn clear(&self, output: *mut u8, tile: Axis) {
        let size = self.element.size();
        let mut axes: Axes =
            self.reduced.iter().map(|axis| Axis { stride: axis.out.abs(), weight: 0, ..*axis }).collect();
        axes.push(Axis { stride: tile.out.abs(), ..tile });
        let corner: isize = axes.iter().map(|axis| axis.out.min(0) * (axis.len as isize - 1)).sum();
        axes.iter_mut().for_each(|axis| axis.out = axis.stride);
        merge(&mut axes);
        let inner = if axes.first().is_some_and(|axis| axis.out == size as isize) { axes.remove(0).len } else { 1 };
        let mut walk = Odometer::new(&axes, 0);
        for _ in 0..positions(&axes) {
            let line = output.wrapping_offset(corner + walk.at.out);
            // SAFETY: the caller's promise. Zero is all zero bits in every element type.
            unsafe { line.write_bytes(0, inner * size) };
            walk.advance();
        }
    }
}
