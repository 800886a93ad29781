//! `OneHot`: one at the first extremum over a set of axes, zero elsewhere.

use crate::element::{Element, ElementType, with_element};
use crate::layout::{
    Axis, ReductionAxes, ReductionAxis, ReductionLayout, ReductionOffsets, merge, place, position, positions, sort,
};
use crate::operations::copies;
use crate::operations::input::{Input, Omit};
use crate::operations::reduce::reduce;
use crate::operations::sink::{Sink, Tile};
use crate::threads;
use crate::thresholds::CLEARED_BY_THREADS_MOST_BYTES;
use std::ptr;

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
    let mut layout = ReductionLayout::default();
    layout.fill(axes, false);
    let omit = Omit::Nothing;
    let input = Input { data, element, swapped, largest: true, last: false, omit, mask: ptr::null() };
    if copies::are_copies(&input, &layout) {
        return with_element!(element, E => {
            let one = ptr::from_ref(&E::ONE).cast();
            // SAFETY: the caller's promise; positions without elements have no place in the output.
            unsafe { copies::write_constant(one, element, &layout, 1, output) }
        });
    }
    let mut reduced = ReductionAxes::from_slice(&layout.reduced);
    sort(&mut reduced, |axis| -axis.strides.index.abs());
    let sink = Hot { output, element, reduced: &reduced };
    // SAFETY: the caller's promise.
    unsafe { reduce(&input, &mut layout, &sink) }
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
    const TRAFFIC: usize = 2;

    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
        // SAFETY: the output is writable wherever the layout leads, and no other thread writes this tile.
        unsafe { self.clear(at.output, Axis { len: tile.len, ..*axis }) };
        with_element!(self.element, E => for position in 0..tile.len {
            // SAFETY: a sink wants indices by default.
            let index = unsafe { tile.index(position) };
            let at = place(self.reduced, axis.after(at, position), index);
            // SAFETY: as above.
            unsafe { self.output.wrapping_offset(at.output).cast::<E>().write_unaligned(E::ONE) };
        })
    }
}

impl Hot<'_> {
    /// Clears the part of the output that belongs to a tile.
    ///
    /// # Safety
    /// This part, all slices of the tile, may be written.
    unsafe fn clear(&self, start: isize, tile: ReductionAxis) {
        let size = self.element.size();
        if let [Axis { len, strides }] = *self.reduced
            && strides.output == size as isize
            && (tile.len == 1 || tile.strides.output == (len * size) as isize)
        {
            // Zero is all zero bits in every element type. The slices follow one another: they are cleared in one go, or if they
            // were reduced in parts by several threads.
            let bytes = tile.len * len * size;
            let is_long = bytes > CLEARED_BY_THREADS_MOST_BYTES;
            let num_threads = if is_long { 1 } else { threads::num_threads(bytes) };
            threads::share(bytes, num_threads, |part| {
                let to = self.output.wrapping_offset(start).wrapping_add(part.start);
                // SAFETY: the caller's promise: the part belongs to the tile.
                unsafe { to.write_bytes(0, part.len()) }
            });
            return;
        }
        // Treats the output as an input, because axes are ordered by the input.
        let as_input = |axis: &ReductionAxis| {
            let output = axis.strides.output;
            Axis { len: axis.len, strides: ReductionOffsets { input: output, output, ..ReductionOffsets::default() } }
        };
        let mut corner = ReductionOffsets { output: start, ..ReductionOffsets::default() };
        let axes = self.reduced.iter().chain([&tile]);
        let mut axes: ReductionAxes = axes.map(|axis| as_input(axis).upwards(&mut corner)).collect();
        merge(&mut axes);
        // What is contiguous in the output is cleared in one go, and only the other axes are walked.
        let contiguous = axes.first().is_some_and(|axis| axis.strides.output == size as isize);
        let inner = if contiguous { axes.remove(0).len } else { 1 };
        for line in 0..positions(&axes) {
            let to = self.output.wrapping_offset(position(&axes, corner, line).output);
            // SAFETY: the caller's promise.
            unsafe { to.write_bytes(0, inner * size) };
        }
    }
}
