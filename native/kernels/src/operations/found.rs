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
        // SAFETY: the caller's promise.
        if unsafe { self.take_line(at, axis, index) } {
            return;
        }
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

/// The results of a tile along one line, of one reduced axis.
struct Line<'a> {
    first: ReductionOffsets,
    /// From one result to the next.
    kept: ReductionOffsets,
    /// From one reduced element to the next.
    reduced: ReductionOffsets,
    base: i64,
    index: &'a [i64],
}

impl Line<'_> {
    /// Where each result's element lies, in the input or in its mask.
    #[inline(always)]
    fn places(&self, of: impl Fn(&ReductionOffsets) -> isize) -> impl Iterator<Item = isize> {
        let (kept, reduced) = (of(&self.kept), of(&self.reduced));
        let first = of(&self.first).wrapping_sub(self.base as isize * reduced);
        let place = move |(number, &index): (usize, &i64)| first + kept * number as isize + reduced * index as isize;
        self.index.iter().enumerate().map(place)
    }
}

impl Found<'_> {
    /// What has to be left out of a copy.
    pub fn packed(&self) -> Option<&Omission> {
        self.omission.as_ref().filter(|_| !self.input.numbers)
    }

    /// Takes the indices of a tile at once; false where it is not as nearly every tile is: one axis is reduced, the results
    /// lie side by side, and what came out takes part.
    ///
    /// # Safety
    /// As for [`take`](Sink::take).
    #[inline]
    unsafe fn take_line(&self, at: ReductionOffsets, axis: &ReductionAxis, index: &[i64]) -> bool {
        let [ReductionAxis { strides: reduced @ ReductionOffsets { index: 1, .. }, .. }] = self.reduced else {
            return false;
        };
        if self.input.swapped || (axis.strides.output != 1 && index.len() > 1) {
            return false;
        }
        let line = Line { first: at, kept: axis.strides, reduced: *reduced, base: self.base, index };
        // SAFETY: the caller's.
        unsafe {
            match self.input.element.size() {
                1 => self.take_line_of::<u8>(&line),
                2 => self.take_line_of::<u16>(&line),
                4 => self.take_line_of::<u32>(&line),
                _ => self.take_line_of::<u64>(&line),
            }
        }
    }

    /// # Safety
    /// As for [`take`](Sink::take); `T` has the size of an element.
    #[inline]
    unsafe fn take_line_of<T: Copy + Into<u64>>(&self, line: &Line) -> bool {
        let Target { values, indices, index: kind, .. } = self.target;
        let data = self.input.data;
        // SAFETY: the caller's, for each position of the line; alignment is not needed.
        unsafe {
            let element = |at: isize| data.wrapping_offset(at).cast::<T>().read_unaligned();
            if let Some(Omission { mask, pattern, .. }) = self.omission {
                let mut lost = false;
                for (at, in_mask) in line.places(|of| of.input).zip(line.places(|of| of.mask)) {
                    lost |= pattern.matches(element(at).into());
                    lost |= !mask.is_null() && *mask.wrapping_offset(in_mask) == 0;
                }
                if lost {
                    return false;
                }
            }
            let output = line.first.output;
            if !values.is_null() {
                let values = values.cast::<T>().wrapping_offset(output);
                for (number, at) in line.places(|of| of.input).enumerate() {
                    values.add(number).write_unaligned(element(at));
                }
            }
            if !indices.is_null() && kind.size() == 8 {
                let indices = indices.cast::<i64>().wrapping_offset(output).cast::<u8>();
                indices.copy_from_nonoverlapping(line.index.as_ptr().cast(), size_of_val(line.index));
            } else if !indices.is_null() {
                let indices = indices.cast::<i32>().wrapping_offset(output);
                for (number, &index) in line.index.iter().enumerate() {
                    indices.add(number).write_unaligned(index as i32);
                }
            }
        }
        true
    }

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
