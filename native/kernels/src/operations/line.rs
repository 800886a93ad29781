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
        && sink.wants() == Wants { values: false, index: true, sight: false }
}

/// Reduces the line.
///
/// # Safety
/// The input is readable wherever the layout leads, which is [served](serves), and the sink was made for the layout.
#[inline]
pub unsafe fn reduce(input: Input, layout: &ReductionLayout, sink: &impl Sink) {
    let (at, len, last) = (layout.origin, layout.reduced[0].len, input.last);
    let mut place = 0;
    let direct = sink.direct_output(at, &ReductionAxis::POINT).index;
    let index = if direct.is_null() { &raw mut place } else { direct };
    let lines = Lines::plain(input.data.wrapping_offset(at.input), 0);
    let (against, to) = (&[ptr::null()], &[Outputs { index, ..Outputs::NOTHING }]);
    // SAFETY: the caller's.
    unsafe {
        with_input!(input, E, O => {
            dispatch(Rows::<*const E, O> { lines, rows: 1, len, last, against, to, ends: PhantomData })
        });
        if direct.is_null() {
            sink.take(at, &ReductionAxis::POINT, Tile { len: 1, index: &place, values: ptr::null() });
        }
    }
}
