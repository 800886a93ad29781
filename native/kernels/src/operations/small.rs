//! Reductions of small arrays, element by element: planning would take longer.

use crate::element::compare::{HasLane, Lane};
use crate::element::order::Order;
use crate::element::with_element_and_order;
use crate::layout::{ReductionAxis, ReductionLayout, ReductionOffsets, position, positions};
use crate::operations::input::Input;
use crate::operations::sink::{MinusOne, Sink, Tile};
use crate::thresholds::SMALL_MOST_ELEMENTS;
use std::ptr;

/// Reduces at most 32 elements in this machine's byte order, none of which is skipped.
///
/// # Safety
/// The input is readable wherever the layout leads, and the sink takes its tiles.
#[inline]
pub unsafe fn reduce(input: &Input, layout: &ReductionLayout, sink: &impl Sink) {
    debug_assert!(
        !input.swapped && !input.skips() && positions(&layout.kept) * positions(&layout.reduced) <= SMALL_MOST_ELEMENTS
    );
    let Input { data, last, .. } = *input;
    let (kept, outer) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    let mut indices = [0; SMALL_MOST_ELEMENTS];
    let indices = &mut indices[..kept.len];
    for line in 0..positions(outer) {
        let at = position(outer, layout.origin, line);
        // SAFETY: the caller's promise.
        with_element_and_order!(input.element, input.largest, E, O => unsafe {
            choose::<E, O>(data, at, kept, &layout.reduced, last, indices)
        });
        let tile = Tile {
            len: kept.len,
            index: indices.as_mut_ptr(),
            values: ptr::null(),
            has_any_equals: false,
            minus_one: MinusOne::Unused,
        };
        // SAFETY: the caller's promise; there is an index for each position, and a sink fetches the values that are missing.
        unsafe { sink.take(at, kept, tile) };
    }
}

/// Finds the index at each position along a kept axis.
///
/// # Safety
/// The elements are readable wherever the axes lead from `at` on.
unsafe fn choose<E: HasLane, O: Order>(
    data: *const u8,
    at: ReductionOffsets,
    kept: &ReductionAxis,
    reduced: &[ReductionAxis],
    last: bool,
    indices: &mut [i64],
) {
    let (inner, outer) = reduced.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    for (number, result) in indices.iter_mut().enumerate() {
        let data = data.wrapping_offset(kept.strides.input * number as isize);
        let mut best = None;
        for line in 0..positions(outer) {
            let line = position(outer, at, line);
            for step in 0..inner.len {
                let element = data.wrapping_offset(line.input + inner.strides.input * step as isize);
                let index = line.index + inner.strides.index * step as i64;
                // SAFETY: the caller's promise.
                let key = unsafe { element.cast::<E>().read_unaligned() }.lane::<O>().key::<O>();
                // Elements come in the order of memory, not of indices: a tie is decided by the index.
                let wins = best.is_none_or(|(champion, place)| {
                    let earlier = if last { index > place } else { index < place };
                    O::better(key, champion) || key == champion && earlier
                });
                if wins {
                    best = Some((key, index));
                }
            }
        }
        *result = best.map_or(0, |(_, index)| index);
    }
}
