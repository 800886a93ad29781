//! `ArgReduce`: the index of the extremum over any set of axes.

use crate::element::IndexType;
use crate::kernels::outputs::Outputs;
use crate::layout::reduction::{ReductionAxis, ReductionLayout, ReductionOffsets};
use crate::operations::input::Input;
use crate::operations::reduce::reduce;
use crate::operations::sink::{Sink, Tile};
use std::ptr;

/// Writes the row-major index, within the reduced axes, of the extremum at every kept position.
///
/// `axes` yields, last dimension first, the length, the input stride, the output stride (ignored on reduced
/// axes) and whether the axis is reduced. No reduced axis may be empty; empty kept axes mean no work.
///
/// # Safety
/// The input is readable and the output writable at every position that the axes lead to; the two do not
/// overlap; an index fits the index type.
pub unsafe fn argreduce(
    input: Input,
    axes: impl Iterator<Item = (usize, isize, isize, bool)>,
    output: *mut u8,
    index: IndexType,
) {
    let axes = axes.map(|(len, input, output, reduced)| {
        let output = if reduced { 0 } else { output };
        (len, ReductionOffsets { input, output, ..ReductionOffsets::default() }, reduced)
    });
    let mut layout = ReductionLayout::new(axes, input.last);
    let sink = Indices { output, index };
    // SAFETY: the caller's promise.
    unsafe { reduce(input, &mut layout, &sink) }
}

/// Stores indices in the output's type and layout.
struct Indices {
    output: *mut u8,
    index: IndexType,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Indices {}

impl Sink for Indices {
    #[inline]
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Outputs {
        let plain = self.index.size() == 8 && (axis.strides.output == 8 || axis.len == 1);
        let index = if plain { self.output.wrapping_offset(at.output).cast() } else { ptr::null_mut() };
        Outputs { index, ..Outputs::NOTHING }
    }

    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
        let output = self.output.wrapping_offset(at.output);
        // SAFETY: the caller's promise.
        unsafe { self.index.write(output, axis.strides.output, tile.index, tile.len) }
    }
}
