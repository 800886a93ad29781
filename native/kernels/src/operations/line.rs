//! One line of contiguous elements, all of which are reduced: there is nothing to plan, which for a thousand elements takes a
//! tenth of the time.

use crate::isa::dispatch;
use crate::kernels::outputs::Outputs;
use crate::kernels::rows::Rows;
use crate::kernels::source::Lines;
use crate::layout::reduction::{ReductionAxis, ReductionLayout};
use crate::operations::input::{Input, with_input};
use crate::operations::sink::{Sink, Tile, Wants};
use std::marker::PhantomData;
use std::ptr;

/// Whether this is the way for an input, of which one thread finds the place of the extremum.
#[inline]
pub fn serves(input: &Input, layout: &ReductionLayout, sink: &impl Sink) -> bool {
    let [axis] = layout.reduced.as_slice() else { return false };
    layout.kept.is_empty()
        && axis.strides.input == input.element.size() as isize
        && (axis.strides.index, layout.origin.index) == (1, 0)
        && !input.swapped
        && sink.wants() == Wants::INDEX
}

/// Reduces the line.
///
/// # Safety
/// The input is readable wherever the layout leads, which is [served](serves), and the sink was made for the layout.
#[inline]
pub unsafe fn reduce(input: Input, layout: &ReductionLayout, sink: &impl Sink) {
    let at = layout.origin;
    let mut place = 0;
    let direct = sink.direct_output(at, &ReductionAxis::POINT).index;
    let index = if direct.is_null() { &raw mut place } else { direct };
    // SAFETY: the caller's.
    unsafe {
        read(&input, input.data.wrapping_offset(at.input), layout.reduced[0].len, index);
        if direct.is_null() {
            sink.take(at, &ReductionAxis::POINT, Tile { len: 1, index: &raw mut place, values: ptr::null() });
        }
    }
}

/// Writes the index of the extremum of a line. (Of no sink in particular, or its kernels would be compiled again for each crate
/// that has one.)
///
/// # Safety
/// There are `len >= 1` contiguous elements, and room for the index.
#[inline(never)]
unsafe fn read(input: &Input, data: *const u8, len: usize, index: *mut i64) {
    let (lines, last) = (Lines::plain(data, 0), input.last);
    let (against, to) = (&[ptr::null()], &[Outputs { index, ..Outputs::NOTHING }]);
    // SAFETY: the caller's.
    with_input!(input, E, O => unsafe {
        dispatch(Rows::<*const E, O> { lines, rows: 1, len, last, against, to, ends: PhantomData })
    });
}
