//! `Extremum`: the elementwise largest or smallest of any number of operands, in one pass.

use crate::element::ElementType;
use crate::layout::axis::positions;
use crate::layout::elementwise::{ElementwiseLayout, Operand, StrideTable};
use crate::operations::small;
use crate::operations::tiles::Plan;
use crate::threads;

/// Writes the largest (or smallest) of all operands at every position of the output.
///
/// `axes` yields, last dimension first, the length and the output stride. An empty axis means no work.
///
/// # Safety
/// There is at least one operand; every operand is readable and the output writable at every position;
/// an operand may be the output itself (same first element, same strides) but may not overlap it otherwise.
pub unsafe fn extremum(
    operands: &[Operand],
    element: ElementType,
    largest: bool,
    axes: impl Iterator<Item = (usize, isize)>,
    output: *mut u8,
) {
    let mut table = StrideTable::new();
    let layout = ElementwiseLayout::new(&mut table, operands, element.size(), axes);
    let elements = positions(&layout.axes);
    if elements == 0 {
        return;
    }
    if small::is_small(elements) && !operands.iter().any(|operand| operand.swapped) {
        // SAFETY: the caller's promise.
        return unsafe { small::extremum(operands, element, largest, layout, output) };
    }
    let parts = threads::worth(elements.saturating_mul(element.size() * (operands.len() + 1)));
    let plan = Plan::new(operands, element, largest, &layout, output, parts);
    let tiles = plan.tiles();
    // SAFETY: the caller's promise; the shares are different parts of the output.
    let run = |tiles| unsafe { plan.run(tiles) };
    if parts == 1 {
        run(0..tiles);
    } else {
        threads::map(threads::shares(tiles, threads::tasks(parts)), run);
    }
}
