//! `Extremum`: the elementwise largest or smallest of any number of operands, in one pass.

use crate::element::ElementType;
use crate::element::rank::Extreme;
use crate::layout::axis::positions;
use crate::layout::elementwise::{ElementwiseLayout, Operand};
use crate::operations::small;
use crate::operations::tiles::{Plan, arrange};
use crate::threads;

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
