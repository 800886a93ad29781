//! Small arrays: element by element, because to plan takes longer than to do it.

use crate::element::compare::{Compared, Lane};
use crate::element::order::Order;
use crate::element::rank::{Extreme, Ranked};
use crate::element::{ElementType, with_element_and_extreme, with_element_and_order};
use crate::layout::{
    ElementwiseAxis, ElementwiseLayout, Offsets, Operand, ReductionAxis, ReductionLayout, ReductionOffsets, position,
    positions,
};
use crate::operations::input::Input;
use crate::operations::plan::{ELEMENTS, LIMIT};
use crate::operations::sink::{Sink, Tile};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering;

/// Sets how many elements a small array has at most, [`ELEMENTS`] being the most there is room for, and returns what
/// counted before.
pub fn set_limit(elements: usize) -> usize {
    LIMIT.swap(elements.min(ELEMENTS), Ordering::Relaxed)
}

/// Reduces at most [`ELEMENTS`] elements.
///
/// # Safety
/// The input, whose bytes are in order and where NaN does not lose, is readable wherever the layout leads, and the sink was made for the layout.
pub(crate) unsafe fn reduce(input: Input, layout: &ReductionLayout, sink: &impl Sink) {
    let Input { data, last, .. } = input;
    let (kept, outer) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    let mut found = [0; ELEMENTS];
    let found = &mut found[..kept.len];
    for line in 0..positions(outer) {
        let at = position(outer, layout.origin, line);
        // SAFETY: the caller's promise.
        unsafe {
            with_element_and_order!(input.element, input.largest, E, O => {
                choose::<E, O>(data, at, kept, &layout.reduced, last, found)
            });
            sink.take(at, kept, Tile { len: kept.len, index: found.as_mut_ptr(), values: ptr::null(), marked: false });
        }
    }
}

/// Finds the index at each position along a kept axis.
///
/// # Safety
/// The input may be read wherever the axes lead from there.
unsafe fn choose<E: Compared, O: Order>(
    data: *const u8,
    at: ReductionOffsets,
    kept: &ReductionAxis,
    reduced: &[ReductionAxis],
    last: bool,
    found: &mut [i64],
) {
    let (inner, outer) = reduced.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
    for (number, found) in found.iter_mut().enumerate() {
        let data = data.wrapping_offset(kept.strides.input * number as isize);
        let mut best = None;
        for line in 0..positions(outer) {
            let line = position(outer, at, line);
            for step in 0..inner.len {
                let element = data.wrapping_offset(line.input + inner.strides.input * step as isize);
                let index = line.index + inner.strides.index * step as i64;
                // SAFETY: the caller's promise; alignment is not needed.
                let key = unsafe { element.cast::<E>().read_unaligned() }.lane::<O>().key::<O>();
                let wins = best.is_none_or(|(champion, place)| {
                    let earlier = if last { index > place } else { index < place };
                    O::better(key, champion) || key == champion && earlier
                });
                if wins {
                    best = Some((key, index));
                }
            }
        }
        *found = best.map_or(0, |(_, index)| index);
    }
}

/// Writes the largest (or smallest) of all operands at each of at most [`ELEMENTS`] positions.
///
/// # Safety
/// There is at least one operand; all have their bytes in order and are readable, and the output is writable, at every
/// position. An operand may be the output itself but may not overlap it otherwise.
pub(crate) unsafe fn extremum(
    operands: &[Operand],
    element: ElementType,
    extreme: Extreme,
    layout: &ElementwiseLayout,
    output: *mut u8,
) {
    let (inner, outer) = layout.axes.split_first().expect("at least one axis");
    // SAFETY: the caller's promise, for every line.
    let line = |at: &Offsets| unsafe {
        with_element_and_extreme!(element, extreme, E, O => accumulate::<E, O>(operands, at, inner, output));
    };
    for number in 0..positions(outer) {
        line(&position(outer, layout.origin.clone(), number));
    }
}

/// Accumulates the operands along one line.
///
/// # Safety
/// As for [`extremum`], of one line.
unsafe fn accumulate<E: Ranked, O: Order>(
    operands: &[Operand],
    at: &Offsets,
    inner: &ElementwiseAxis,
    output: *mut u8,
) {
    let mut best = [const { MaybeUninit::<E::Rank>::uninit() }; ELEMENTS];
    let best = &mut best[..inner.len];
    let mut first = true;
    // In the order of large arrays, where what is broadcast along the line comes first: which of several NaN is passed
    // on depends on it.
    for broadcast in [true, false] {
        for (number, operand) in operands.iter().enumerate() {
            let stride = inner.strides.operand(number);
            if (stride == 0) != broadcast {
                continue;
            }
            let data = operand.data.wrapping_offset(at.operand(number));
            for (place, best) in best.iter_mut().enumerate() {
                // SAFETY: the caller's promise; alignment is not needed, and the first operand has filled the line.
                unsafe {
                    let element = data.wrapping_offset(stride * place as isize).cast::<E>();
                    let rank = element.read_unaligned().rank::<O>(E::origin::<O>());
                    best.write(if first { rank } else { E::extreme::<O>(best.assume_init(), rank) });
                }
            }
            first = false;
        }
    }
    for (place, best) in best.iter().enumerate() {
        let to = output.wrapping_offset(at.output() + inner.strides.output * place as isize).cast::<E>();
        // SAFETY: the caller's promise; there is at least one operand.
        unsafe { to.write_unaligned(E::from_rank::<O>(best.assume_init(), E::origin::<O>())) };
    }
}
