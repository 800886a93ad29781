//! What a reduction has found, written down: values, indices, and what is said where no element takes part.

use crate::layout::axis::{Odometer, Strides, positions};
use crate::layout::reduction::{ReductionAxis, ReductionOffsets};
use crate::operations::input::{Input, Omission};
use crate::operations::sink::Sink;
use crate::operations::target::Target;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fetches the elements that indices lead to, and looks again where an element came out that may not take part.
pub struct Found<'a> {
    /// What is reduced.
    pub input: Input,
    /// What is left out of it.
    pub omission: Option<Omission>,
    /// Where the results go.
    pub target: Target,
    /// The reduced axes, largest index stride first.
    pub reduced: &'a [ReductionAxis],
    /// What broadcast axes that are gone from the layout have added to every index.
    pub base: i64,
    /// Counts the slices in which no element takes part.
    pub lacking: &'a AtomicUsize,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Found<'_> {}

impl Sink for Found<'_> {
    #[inline]
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Option<*mut i64> {
        let plain = self.target.values.is_null() && self.omission.is_none() && self.target.index.size() == 8;
        let direct = plain && (axis.strides.output == 1 || axis.len == 1);
        direct.then(|| self.target.indices.cast::<i64>().wrapping_offset(at.output))
    }

    unsafe fn take(&self, mut at: ReductionOffsets, axis: &ReductionAxis, index: &[i64]) {
        let mut lacking = 0;
        for &index in index {
            // SAFETY: the caller's promise, at every position of the tile.
            unsafe {
                let place = self.place(at, index);
                let found = match &self.omission {
                    Some(omission) if !self.takes_part(omission, place) => self.look_again(omission, at),
                    _ => Some((index, place.input)),
                };
                lacking += found.is_none() as usize;
                self.write(at.output, found);
            }
            axis.strides.step(&mut at, 1);
        }
        if lacking > 0 {
            self.lacking.fetch_add(lacking, Ordering::Relaxed);
        }
    }
}

impl Found<'_> {
    /// The position in memory of the element with a row-major index.
    #[inline]
    fn place(&self, mut at: ReductionOffsets, index: i64) -> ReductionOffsets {
        if let [axis @ ReductionAxis { strides: ReductionOffsets { index: 1, .. }, .. }] = self.reduced {
            axis.strides.step(&mut at, (index - self.base) as isize);
            return at;
        }
        let mut index = index - self.base;
        // The index strides of the axes nest: taken from the largest on, each quotient is a place on its axis.
        for axis in self.reduced {
            let stride = axis.strides.index.abs();
            let digit = index / stride;
            index -= digit * stride;
            let steps = if axis.strides.index < 0 { axis.len as i64 - 1 - digit } else { digit };
            axis.strides.step(&mut at, steps as isize);
        }
        at
    }

    /// Whether an element takes part.
    ///
    /// # Safety
    /// The element and its place in the mask are readable.
    #[inline]
    unsafe fn takes_part(&self, omission: &Omission, at: ReductionOffsets) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let masked = !omission.mask.is_null() && *omission.mask.wrapping_offset(at.mask) == 0;
            !masked && !omission.pattern.matches(self.bits(at.input))
        }
    }

    /// The bits of an element, in this machine's order.
    ///
    /// # Safety
    /// The element is readable.
    #[inline]
    unsafe fn bits(&self, at: isize) -> u64 {
        let from = self.input.data.wrapping_offset(at);
        // SAFETY: the caller's; alignment is not needed.
        unsafe {
            match (self.input.element.size(), self.input.swapped) {
                (1, _) => from.read() as u64,
                (2, false) => from.cast::<u16>().read_unaligned() as u64,
                (2, true) => from.cast::<u16>().read_unaligned().swap_bytes() as u64,
                (4, false) => from.cast::<u32>().read_unaligned() as u64,
                (4, true) => from.cast::<u32>().read_unaligned().swap_bytes() as u64,
                (_, false) => from.cast::<u64>().read_unaligned(),
                (_, true) => from.cast::<u64>().read_unaligned().swap_bytes(),
            }
        }
    }

    /// The first (or last) element of a slice that takes part: an element came out that loses to all others, so that all
    /// that take part are equal.
    ///
    /// # Safety
    /// The slice and its mask are readable.
    #[cold]
    unsafe fn look_again(&self, omission: &Omission, at: ReductionOffsets) -> Option<(i64, isize)> {
        let (inner, outer) = self.reduced.split_last().unwrap_or((&ReductionAxis::POINT, &[]));
        let forwards = (inner.strides.index >= 0) != self.input.last;
        let mut best: Option<(i64, isize)> = None;
        let mut walk = Odometer::new(outer, at, 0);
        for _ in 0..positions(outer) {
            for step in 0..inner.len {
                let step = if forwards { step } else { inner.len - 1 - step };
                let place = inner.moved(walk.at, step);
                // SAFETY: the caller's.
                if unsafe { self.takes_part(omission, place) } {
                    let wins = |(index, _)| if self.input.last { place.index > index } else { place.index < index };
                    if best.is_none_or(wins) {
                        best = Some((place.index, place.input));
                    }
                    break;
                }
            }
            walk.advance();
        }
        best
    }

    /// Writes the results of one position.
    ///
    /// # Safety
    /// There is room for them, and the element is readable.
    #[inline]
    unsafe fn write(&self, position: isize, found: Option<(i64, isize)>) {
        let Target { values, indices, index: kind, .. } = self.target;
        // SAFETY: the caller's; NumPy aligns what it allocates, but nothing here needs it.
        unsafe {
            if !indices.is_null() {
                let index = found.map_or(-1, |(index, _)| index);
                match kind.size() {
                    8 => indices.cast::<i64>().wrapping_offset(position).write_unaligned(index),
                    _ => indices.cast::<i32>().wrapping_offset(position).write_unaligned(index as i32),
                }
            }
            if !values.is_null() {
                let bits = found.map_or(0, |(_, at)| self.bits(at));
                self.target.write_value(position, bits, self.input.element.size());
            }
        }
    }
}
