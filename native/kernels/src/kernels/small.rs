//! Small arrays: element by element, because to plan takes longer than to do it.

use crate::element::compare::{Compared, Lane};
use crate::element::order::Order;
use crate::element::rank::Ranked;
use crate::element::{ElementType, with_element_and_order};
use crate::layout::space::{Operand, Space};
use crate::layout::{Axis, Layout, PerAxis, Position, positions};
use crate::operations::reduce::{Input, Sink};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Elements of a small array, at most. Measured with the code in cache; without it, planning pays even later.
const ELEMENTS: usize = 32;

/// The limit in force: [`ELEMENTS`], but for tests.
static LIMIT: AtomicUsize = AtomicUsize::new(ELEMENTS);

/// Sets how many elements a small array has at most, [`ELEMENTS`] being the most there is room for, and returns what
/// counted before.
pub fn set_limit(elements: usize) -> usize {
    LIMIT.swap(elements.min(ELEMENTS), Ordering::Relaxed)
}

/// Whether an array of so many elements is small.
pub(crate) fn is_small(elements: usize) -> bool {
    elements <= LIMIT.load(Ordering::Relaxed)
}

/// Reduces at most [`ELEMENTS`] elements.
///
/// # Safety
/// The input, whose bytes are in order, is readable wherever the layout leads, and the sink was made for the layout.
pub(crate) unsafe fn reduce(input: Input, layout: &Layout, sink: &impl Sink) {
    let Input { data, element, largest, last, .. } = input;
    let (&kept, outer) = layout.kept.split_first().unwrap_or((&Axis::POINT, &[]));
    let mut found = [0; ELEMENTS];
    let found = &mut found[..kept.len];
    for line in 0..positions(outer) {
        let line = Position::at(outer, line);
        let data = data.wrapping_offset(layout.offset + line.offset);
        // SAFETY: the caller's promise.
        unsafe {
            with_element_and_order!(element, largest, E, O => choose::<E, O>(data, &kept, &layout.reduced, last, found));
            found.iter_mut().for_each(|index| *index += layout.index);
            sink.take(line, &kept, found);
        }
    }
}

/// Finds the index at each position along a kept axis.
///
/// # Safety
/// The input may be read wherever the axes lead.
unsafe fn choose<E: Compared, O: Order>(data: *const u8, kept: &Axis, reduced: &[Axis], last: bool, found: &mut [i64]) {
    let (&inner, outer) = reduced.split_first().unwrap_or((&Axis::POINT, &[]));
    for (position, found) in found.iter_mut().enumerate() {
        let data = data.wrapping_offset(kept.stride * position as isize);
        let mut best = None;
        for line in 0..positions(outer) {
            let line = Position::at(outer, line);
            for step in 0..inner.len {
                let at = data.wrapping_offset(line.offset + inner.stride * step as isize);
                let index = line.index + inner.weight * step as i64;
                // SAFETY: the caller's promise; alignment is not needed.
                let key = unsafe { at.cast::<E>().read_unaligned() }.lane::<O>().key::<O>();
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
pub(crate) unsafe fn extremum(operands: &[Operand], element: ElementType, largest: bool, space: &Space) {
    for line in 0..space.positions(1) {
        let mut steps = PerAxis::new();
        steps.push(0);
        space.steps(1, line).for_each(|step| steps.push(step));
        // SAFETY: the caller's promise.
        with_element_and_order!(element, largest, E, O => unsafe { fold::<E, O>(operands, space, &steps) });
    }
}

/// Folds the operands along one line.
///
/// # Safety
/// As for [`extremum`], of one line.
unsafe fn fold<E: Ranked, O: Order>(operands: &[Operand], space: &Space, steps: &[usize]) {
    let inner = &space.dimensions[0];
    let mut best = [const { MaybeUninit::<E::Rank>::uninit() }; ELEMENTS];
    let best = &mut best[..inner.len];
    // In the order of large arrays, where what stands still along the line comes first: which of several NaN is passed
    // on depends on it.
    let still = |operand: &&Operand| operand.stride(inner) == 0;
    let ordered = operands.iter().filter(still).chain(operands.iter().filter(|operand| !still(operand)));
    for (number, operand) in ordered.enumerate() {
        let (line, stride) = (operand.at(&space.dimensions, steps), operand.stride(inner));
        for (place, best) in best.iter_mut().enumerate() {
            let element = line.wrapping_offset(stride * place as isize).cast::<E>();
            // SAFETY: the caller's promise; alignment is not needed, and the first operand has filled the line.
            unsafe {
                let rank = element.read_unaligned().rank::<O>();
                best.write(if number == 0 { rank } else { E::extreme::<O>(best.assume_init(), rank) });
            }
        }
    }
    let line = space.at(steps);
    for (place, best) in best.iter().enumerate() {
        let to = line.wrapping_offset(inner.out * place as isize).cast::<E>();
        // SAFETY: the caller's promise; there is at least one operand.
        unsafe { to.write_unaligned(E::from_rank::<O>(best.assume_init())) };
    }
}
