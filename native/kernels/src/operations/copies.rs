//! Reductions whose slices have one element each, as those along axes of length 1: a value is a copy of its element, and all indices
//! are the same, as are all elements of a one-hot array.
//!
//! Elements that are not reduced need no tiles: the indices of 420 lines of 39 elements with gaps took 39 us, and take 3, their values
//! 33 and 15 (AVX2, Xeon, family 6, model 167).

use crate::element::rank::Extreme;
use crate::element::{ElementType, IndexType};
use crate::layout::{Operand, PerAxis, ReductionAxis, ReductionLayout};
use crate::operations::extremum::extremum;
use crate::operations::input::Input;

/// Whether each slice has one element, or the same one several times, along an axis of stride 0. No mask skips it.
#[inline]
pub fn are_copies(input: &Input, layout: &ReductionLayout) -> bool {
    layout.reduced.is_empty() && input.mask.is_null()
}

/// Writes the elements of a layout without reduced axes to an output whose strides count elements.
///
/// # Safety
/// The input is readable, and the output writable, wherever the layout leads; they do not overlap.
pub unsafe fn write_values(input: &Input, layout: &ReductionLayout, output: *mut u8) {
    let &Input { data, element, swapped, .. } = input;
    let data = data.wrapping_offset(layout.origin.input);
    let strides = layout.kept.iter().map(|axis| axis.strides.input).collect();
    // SAFETY: the caller's promise.
    unsafe { write(Operand { data, strides, swapped }, element, layout, element.size() as isize, output) }
}

/// Writes the only index of a layout without reduced axes to an output whose strides count `unit` bytes.
///
/// # Safety
/// The output is writable wherever the layout leads; the index fits its type.
pub unsafe fn write_indices(index: IndexType, layout: &ReductionLayout, unit: isize, output: *mut u8) {
    let mut place = 0i64;
    let data = (&raw mut place).cast::<u8>();
    // SAFETY: there is room for an index of any type.
    unsafe { index.write(data, 0, &raw const layout.origin.index, 1) };
    // SAFETY: the caller's promise; the index has been written.
    unsafe { write_constant(data, index, layout, unit, output) }
}

/// Writes an element to all positions of a layout without reduced axes. The strides of the output count `unit` bytes.
///
/// # Safety
/// The element is readable, and the output writable wherever the layout leads; they do not overlap.
pub unsafe fn write_constant(
    data: *const u8,
    element: ElementType,
    layout: &ReductionLayout,
    unit: isize,
    output: *mut u8,
) {
    // SAFETY: the caller's promise.
    unsafe { write(Operand { data, strides: PerAxis::new(), swapped: false }, element, layout, unit, output) }
}

/// Writes one operand to all positions of an output.
///
/// # Safety
/// The operand is readable, and the output writable, wherever the layout leads.
unsafe fn write(operand: Operand, element: ElementType, layout: &ReductionLayout, unit: isize, output: *mut u8) {
    let axes = layout.kept.iter().map(|axis: &ReductionAxis| (axis.len, axis.strides.output * unit));
    let output = output.wrapping_offset(layout.origin.output * unit);
    // A single operand is the result at either end of the order.
    let extreme = Extreme { largest: true, omit: false };
    // SAFETY: the caller's promise.
    unsafe { extremum(&[operand], element, extreme, axes, output) }
}
