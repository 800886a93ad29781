//! The iteration space of an elementwise operation: its axes, by distance in the output's memory.

use crate::layout::PerAxis;
use crate::layout::axis::{Axes, Axis, Strides, merge};
use smallvec::SmallVec;
use std::iter::once;

/// One operand, broadcast to the output's shape.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// Bytes from one element to the next, last dimension first; 0 where the operand is broadcast, as it is along
    /// dimensions that are missing.
    pub strides: PerAxis<isize>,
    /// Whether the bytes of each element are in the order that is foreign to this machine.
    pub swapped: bool,
}

// SAFETY: operands are only read.
unsafe impl Sync for Operand {}

/// Offsets in bytes into the output and into each operand. Most calls stay at the first elements: there is nothing to
/// write down then, nor to copy.
#[derive(Default)]
pub struct Offsets(SmallVec<[isize; 8]>);

impl Clone for Offsets {
    #[inline(always)]
    fn clone(&self) -> Self {
        Self(SmallVec::from_slice(&self.0))
    }
}

impl Offsets {
    /// That into the output.
    #[inline(always)]
    pub fn output(&self) -> isize {
        self.0.first().map_or(0, |&offset| offset)
    }

    /// That into one operand.
    #[inline(always)]
    pub fn operand(&self, number: usize) -> isize {
        self.0.get(number + 1).map_or(0, |&offset| offset)
    }
}

/// The strides of an axis, in bytes. Those of the operands stay where the caller has put them: copies of them made calls on
/// eight elements slower.
#[derive(Clone, Copy)]
pub struct ElementwiseStrides<'a> {
    /// The output's.
    pub output: isize,
    operands: &'a [Operand],
    /// The dimension that has the operands' strides, last dimension first.
    dimension: usize,
    /// Whether the operands' run the other way.
    reversed: bool,
}

impl ElementwiseStrides<'_> {
    /// That of one operand.
    #[inline(always)]
    pub fn operand(&self, number: usize) -> isize {
        self.of(&self.operands[number])
    }

    /// Those of all arrays, the output's first.
    #[inline(always)]
    pub fn all(&self) -> impl Iterator<Item = isize> {
        once(self.output).chain(self.operands.iter().map(|operand| self.of(operand)))
    }

    #[inline(always)]
    fn of(&self, operand: &Operand) -> isize {
        let stride = operand.strides.get(self.dimension).map_or(0, |&stride| stride);
        if self.reversed { -stride } else { stride }
    }
}

impl Strides for ElementwiseStrides<'_> {
    type Position = Offsets;
    #[inline(always)]
    fn memory(&self) -> isize {
        self.output
    }
    #[inline(always)]
    fn step(&self, at: &mut Offsets, steps: isize) {
        if steps == 0 {
            return;
        }
        if at.0.is_empty() {
            at.0 = SmallVec::from_elem(0, self.operands.len() + 1);
        }
        at.0[0] += self.output * steps;
        for (at, operand) in at.0[1..].iter_mut().zip(self.operands) {
            *at += self.of(operand) * steps;
        }
    }
    #[inline(always)]
    fn reverse(&mut self) {
        self.output = -self.output;
        self.reversed = !self.reversed;
    }
    #[inline(always)]
    fn continue_from(&self, inner: &Self, len: usize) -> bool {
        let len = len as isize;
        self.output == inner.output * len
            && self.operands.iter().all(|operand| self.of(operand) == inner.of(operand) * len)
    }
}

/// An axis of an elementwise operation.
pub type ElementwiseAxis<'a> = Axis<ElementwiseStrides<'a>>;

/// The normalised iteration space of an elementwise operation.
pub struct ElementwiseLayout<'a> {
    /// The axes, at least one, nearest in memory first.
    pub axes: Axes<ElementwiseStrides<'a>>,
    /// From the first elements, as the caller sees them, to the first in memory.
    pub origin: Offsets,
}

impl<'a> ElementwiseLayout<'a> {
    /// Normalises an iteration space; one without positions keeps an empty axis.
    ///
    /// `axes` yields, last dimension first, the length and the output stride; `size` is the size of an element.
    #[inline]
    pub fn new(operands: &'a [Operand], size: usize, axes: impl Iterator<Item = (usize, isize)>) -> Self {
        let mut layout = Self { axes: Axes::new(), origin: Offsets::default() };
        let strides = |output, dimension| ElementwiseStrides { output, operands, dimension, reversed: false };
        for (dimension, (len, output)) in axes.enumerate().filter(|&(_, (len, _))| len != 1) {
            let axis = Axis { len, strides: strides(output, dimension) };
            layout.axes.push(axis.upwards(&mut layout.origin));
        }
        merge(&mut layout.axes);
        if layout.axes.is_empty() {
            layout.axes.push(Axis { len: 1, strides: strides(size as isize, usize::MAX) });
        }
        layout
    }
}
