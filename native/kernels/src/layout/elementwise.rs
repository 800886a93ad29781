//! The iteration space of an elementwise operation: its axes, by distance in the output's memory.

use crate::layout::PerAxis;
use crate::layout::axis::{Axes, Axis, Strides, merge};
use smallvec::SmallVec;

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

/// Offsets in bytes into the output and into each operand, in this order.
pub type Offsets = SmallVec<[isize; 8]>;

/// The strides of an axis: in bytes, of the output and of each operand, in this order.
pub struct ElementwiseStrides<'a>(&'a mut [isize]);

impl ElementwiseStrides<'_> {
    /// The output's.
    #[inline(always)]
    pub fn output(&self) -> isize {
        self.0[0]
    }

    /// The operands'.
    #[inline(always)]
    pub fn operands(&self) -> &[isize] {
        &self.0[1..]
    }
}

impl Strides for ElementwiseStrides<'_> {
    type Position = Offsets;
    #[inline(always)]
    fn memory(&self) -> isize {
        self.output()
    }
    #[inline(always)]
    fn step(&self, at: &mut Offsets, steps: isize) {
        for (at, stride) in at.iter_mut().zip(&*self.0) {
            *at += stride * steps;
        }
    }
    #[inline(always)]
    fn reverse(&mut self) {
        self.0.iter_mut().for_each(|stride| *stride = -*stride);
    }
    #[inline(always)]
    fn continue_from(&self, inner: &Self, len: usize) -> bool {
        self.0.iter().zip(&*inner.0).all(|(outer, inner)| *outer == inner * len as isize)
    }
}

/// An axis of an elementwise operation.
pub type ElementwiseAxis<'a> = Axis<ElementwiseStrides<'a>>;

/// Memory for the lengths and strides of all axes, in most calls without an allocation.
pub type StrideTable = SmallVec<[isize; 32]>;

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
    pub fn new(
        table: &'a mut StrideTable,
        operands: &[Operand],
        size: usize,
        axes: impl Iterator<Item = (usize, isize)>,
    ) -> Self {
        // Of each axis the length, then its strides.
        for (dimension, (len, output)) in axes.enumerate().filter(|&(_, (len, _))| len != 1) {
            let stride = |operand: &Operand| operand.strides.get(dimension).map_or(0, |&stride| stride);
            table.extend([len as isize, output]);
            table.extend(operands.iter().map(stride));
        }
        let width = operands.len() + 1;
        if table.is_empty() {
            table.extend([1, size as isize]);
            table.resize(1 + width, 0);
        }
        let mut layout = Self { axes: Axes::new(), origin: Offsets::from_elem(0, width) };
        let mut rest = &mut table[..];
        while let [len, strides @ ..] = rest {
            let (strides, others) = strides.split_at_mut(width);
            let axis = Axis { len: *len as usize, strides: ElementwiseStrides(strides) };
            layout.axes.push(axis.upwards(&mut layout.origin));
            rest = others;
        }
        merge(&mut layout.axes);
        layout
    }
}
