//! The iteration space of a reduction: its kept and its reduced axes, by distance in the input's memory.

use crate::layout::axis::{self, Axis, Strides, merge};

/// An offset into the input, its mask, the output and the row-major index: the strides of an axis, or a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReductionOffsets {
    /// Bytes into the input.
    pub input: isize,
    /// Bytes into the mask, where there is one.
    pub mask: isize,
    /// Into the output, in whatever unit its strides were given.
    pub output: isize,
    /// The row-major index within the reduced axes; 0 along kept axes.
    pub index: i64,
}

impl Strides for ReductionOffsets {
    type Position = Self;
    #[inline(always)]
    fn memory(&self) -> isize {
        self.input
    }
    #[inline(always)]
    fn step(&self, at: &mut Self, steps: isize) {
        at.input += self.input * steps;
        at.mask += self.mask * steps;
        at.output += self.output * steps;
        at.index += self.index * steps as i64;
    }
    #[inline(always)]
    fn reverse(&mut self) {
        *self = Self { input: -self.input, mask: -self.mask, output: -self.output, index: -self.index };
    }
    #[inline(always)]
    fn continue_from(&self, inner: &Self, len: usize) -> bool {
        let mut end = Self::default();
        inner.step(&mut end, len as isize);
        *self == end
    }
}

/// An axis of a reduction.
pub type ReductionAxis = Axis<ReductionOffsets>;

/// Axes of a reduction.
pub type ReductionAxes = axis::Axes<ReductionOffsets>;

impl ReductionAxis {
    /// An axis of one element: what stands in where a list of axes is empty.
    pub const POINT: Self = Self { len: 1, strides: ReductionOffsets { input: 0, mask: 0, output: 0, index: 0 } };
}

/// The normalised iteration space of a reduction.
#[derive(Debug)]
pub struct ReductionLayout {
    /// Kept axes, nearest in memory first.
    pub kept: ReductionAxes,
    /// Reduced axes, nearest in memory first.
    pub reduced: ReductionAxes,
    /// From the first elements, as the caller sees them, to the first in memory.
    pub origin: ReductionOffsets,
}

impl ReductionLayout {
    /// Normalises an iteration space; one without positions keeps an empty axis.
    ///
    /// `axes` yields, last dimension first, the length, the strides and whether the axis is reduced. `last` says that the
    /// last of equals is wanted.
    pub fn new(axes: impl Iterator<Item = (usize, ReductionOffsets, bool)>, last: bool) -> Self {
        let (kept, reduced) = (ReductionAxes::new(), ReductionAxes::new());
        let mut layout = Self { kept, reduced, origin: ReductionOffsets::default() };
        let mut weight = 1;
        for (len, strides, reduced) in axes {
            let index = if reduced { weight } else { 0 };
            if reduced {
                weight *= len as i64;
            }
            if len != 1 {
                layout.push(Axis { len, strides: ReductionOffsets { index, ..strides } }, reduced, last);
            }
        }
        merge(&mut layout.kept);
        merge(&mut layout.reduced);
        layout
    }

    #[inline(always)]
    fn push(&mut self, axis: ReductionAxis, reduced: bool, last: bool) {
        let ReductionOffsets { input, mask, output, index } = axis.strides;
        if reduced && input == 0 && mask == 0 && output == 0 && axis.len > 0 {
            // Broadcast (stride 0): all elements along the axis are one, and the tie is decided here.
            self.origin.index += if last { (axis.len as i64 - 1) * index } else { 0 };
            return;
        }
        let axes = if reduced { &mut self.reduced } else { &mut self.kept };
        axes.push(axis.upwards(&mut self.origin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::axis::Odometer;

    fn axis(len: usize, input: isize, output: isize, index: i64) -> ReductionAxis {
        Axis { len, strides: ReductionOffsets { input, mask: 0, output, index } }
    }

    fn reduced(len: usize, input: isize) -> (usize, ReductionOffsets, bool) {
        (len, axis(len, input, 0, 0).strides, true)
    }

    #[test]
    fn axes_run_upwards_in_memory_and_join_where_their_indices_do() {
        for (given, axes, from) in [
            (vec![reduced(6, 4), reduced(4, 24)], vec![axis(24, 4, 0, 1)], (0, 0)),
            (vec![reduced(6, 16), reduced(4, 4)], vec![axis(4, 4, 0, 6), axis(6, 16, 0, 1)], (0, 0)),
            (vec![reduced(5, -4)], vec![axis(5, 4, 0, -1)], (-16, 4)),
        ] {
            let layout = ReductionLayout::new(given.into_iter(), false);
            assert_eq!((layout.reduced.to_vec(), layout.kept.len()), (axes, 0));
            assert_eq!((layout.origin.input, layout.origin.index), from);
        }
    }

    #[test]
    fn a_broadcast_axis_decides_its_tie_at_once() {
        for (last, index) in [(false, 0), (true, 6)] {
            let layout = ReductionLayout::new([reduced(7, 0)].into_iter(), last);
            assert_eq!((layout.reduced.len(), layout.origin.index), (0, index));
        }
    }

    #[test]
    fn an_odometer_visits_every_position_once_and_returns() {
        let axes = [axis(3, 1, 10, 0), axis(2, 3, 30, 0)];
        let origin = ReductionOffsets { input: 100, mask: 0, output: 7, index: 0 };
        let mut walk = Odometer::new(&axes, origin, 0);
        for step in 0..6 {
            assert_eq!(walk.at, Odometer::new(&axes, origin, step).at);
            assert_eq!(walk.at.input, 100 + step as isize);
            walk.advance();
        }
        assert_eq!(walk.at, origin);
    }
}
