//! Slices in which no element takes part: which those are, and what is written for them.

use crate::isa::dispatch;
use crate::kernels::omit::{Bits, Pattern};
use crate::kernels::presence::{Count, Leave, Numbers, Presence};
use crate::layout::axis::{Odometer, positions};
use crate::layout::reduction::{ReductionAxes, ReductionAxis, ReductionOffsets};
use crate::operations::found::Found;
use crate::operations::input::Omission;
use std::ptr;
use std::sync::atomic::Ordering;

impl Found<'_> {
    /// Notes of the positions of a tile, of which nothing is noted yet, where an element takes part: 0 stays where none does. (1
    /// does not say that one does.)
    ///
    /// # Safety
    /// The slices and their mask are readable.
    #[cold]
    #[inline(never)]
    pub unsafe fn presence(&self, omission: &Omission, at: ReductionOffsets, strides: ReductionOffsets, to: &mut [u8]) {
        if !omission.pattern.is_none() && self.input.swapped {
            return to.fill(1);
        }
        // What is broadcast is looked at once.
        let seen = |axis: &&ReductionAxis| !omission.pattern.is_none() || axis.strides.mask != 0;
        let axes: ReductionAxes = self.reduced.iter().filter(seen).copied().collect();
        let (inner, outer) = axes.split_last().unwrap_or((&ReductionAxis::POINT, &[]));
        let mut walk = Odometer::new(outer, at, 0);
        for _ in 0..positions(outer) {
            // SAFETY: the caller's.
            unsafe {
                match (omission.is_of_mask(), self.input.element.size()) {
                    (true, _) => dispatch(Presence {
                        mask: omission.mask.wrapping_offset(walk.at.mask),
                        strides: (strides.mask, inner.strides.mask),
                        len: inner.len,
                        to,
                    }),
                    (_, 1) => self.numbers::<u8>(omission, walk.at, strides, inner, to),
                    (_, 2) => self.numbers::<u16>(omission, walk.at, strides, inner, to),
                    (_, 4) => self.numbers::<u32>(omission, walk.at, strides, inner, to),
                    _ => self.numbers::<u64>(omission, walk.at, strides, inner, to),
                }
            }
            if !to.contains(&0) {
                break;
            }
            walk.advance();
        }
    }

    /// # Safety
    /// As for [`presence`](Self::presence); `T` has the size of an element.
    unsafe fn numbers<T: Bits>(
        &self,
        omission: &Omission,
        at: ReductionOffsets,
        strides: ReductionOffsets,
        inner: &ReductionAxis,
        to: &mut [u8],
    ) {
        let Pattern { flip, magnitude, limit } = omission.pattern;
        let mask = if omission.mask.is_null() { ptr::null() } else { omission.mask.wrapping_offset(at.mask) };
        // SAFETY: the caller's.
        unsafe {
            dispatch(Numbers {
                data: self.input.data.wrapping_offset(at.input),
                strides: (strides.input, inner.strides.input),
                mask,
                mask_strides: (strides.mask, inner.strides.mask),
                len: inner.len,
                flip: T::new(flip),
                magnitude: T::new(magnitude),
                limit: T::new(limit),
                to,
            });
        }
    }

    /// Says of all positions of a tile, from one of the output on, where no element takes part, and counts them; returns of how
    /// many that is unknown.
    ///
    /// # Safety
    /// There is room for the results.
    pub unsafe fn leave<T: Bits>(&self, output: isize, step: isize, presence: &[u8]) -> usize {
        // SAFETY: nothing is asked of the caller.
        let (lacking, unknown) = unsafe { dispatch(Count { presence }) };
        self.lacking.fetch_add(lacking, Ordering::Relaxed);
        let target = &self.target;
        if lacking == 0 {
            return unknown;
        }
        // SAFETY: the caller's.
        unsafe {
            if (step == 1 || presence.len() == 1) && (target.indices.is_null() || target.index.size() == 8) {
                let at = |to: *mut u8, size: isize| {
                    if to.is_null() { to } else { to.wrapping_offset(output * size) }
                };
                let values = at(target.values, size_of::<T>() as isize).cast::<T>();
                dispatch(Leave { presence, values, indices: at(target.indices, 8).cast() });
                return unknown;
            }
            for (number, _) in presence.iter().enumerate().filter(|&(_, &there)| there == 0) {
                self.write(output + step * number as isize, None);
            }
        }
        unknown
    }

    /// The first (or last) element of a slice that takes part: an element came out that loses to all others, so that all
    /// that take part are equal.
    ///
    /// # Safety
    /// The slice and its mask are readable.
    #[cold]
    pub unsafe fn look_again(&self, omission: &Omission, at: ReductionOffsets) -> Option<(i64, isize)> {
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
}
