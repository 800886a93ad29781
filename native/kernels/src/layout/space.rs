//! The iteration space of an elementwise operation: its dimensions, innermost first, with everything that makes no
//! difference to memory taken out.

use crate::layout::{PerAxis, steps};
use smallvec::SmallVec;

/// One operand, broadcast to the output's shape.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// Bytes from one element to the next, last dimension first; 0 where the operand is broadcast, as it is along
    /// dimensions that are missing.
    pub strides: PerAxis<isize>,
    /// Whether the bytes of each element stand in the order that is foreign to this machine.
    pub swapped: bool,
}

// SAFETY: operands are only read.
unsafe impl Sync for Operand {}

impl Operand {
    /// Bytes from one element to the next along a dimension.
    #[inline]
    pub(crate) fn stride(&self, along: &Dimension) -> isize {
        self.strides.get(along.axis).map_or(0, |&stride| stride)
    }

    /// The element that so many steps along each dimension lead to.
    #[inline]
    pub(crate) fn at(&self, dimensions: &[Dimension], steps: &[usize]) -> *const u8 {
        let steps = dimensions.iter().zip(steps);
        self.data.wrapping_offset(steps.map(|(along, &steps)| self.stride(along) * steps as isize).sum())
    }
}

/// A dimension of the output: its length, the output's stride, and the axis that has the operands' strides.
#[derive(Clone, Copy)]
pub struct Dimension {
    pub len: usize,
    pub out: isize,
    axis: usize,
}

/// The dimensions of the output, at least one, and its first element in memory.
pub struct Space {
    pub dimensions: SmallVec<[Dimension; 4]>,
    pub output: *mut u8,
}

impl Space {
    /// Orders the dimensions by the output's distance in memory, turns them upwards and joins neighbours.
    ///
    /// `axes` yields, last dimension first, the length and the output stride.
    pub fn new(
        operands: &mut [Operand],
        size: usize,
        axes: impl Iterator<Item = (usize, isize)>,
        output: *mut u8,
    ) -> Self {
        let mut space = Self { dimensions: SmallVec::new(), output };
        let Self { dimensions, output } = &mut space;
        for (axis, (len, mut out)) in axes.enumerate().filter(|&(_, (len, _))| len != 1) {
            if out < 0 {
                let steps = len as isize - 1;
                *output = output.wrapping_offset(steps * out);
                out = -out;
                for Operand { data, strides, .. } in &mut *operands {
                    if let Some(stride) = strides.get_mut(axis) {
                        *data = data.wrapping_offset(steps * *stride);
                        *stride = -*stride;
                    }
                }
            }
            dimensions.push(Dimension { len, out, axis });
        }
        dimensions.sort_by_key(|dimension| dimension.out);
        dimensions.dedup_by(|outer, inner| {
            let len = inner.len as isize;
            let joined = outer.out == inner.out * len
                && operands.iter().all(|operand| operand.stride(outer) == operand.stride(inner) * len);
            if joined {
                inner.len *= outer.len;
            }
            joined
        });
        if dimensions.is_empty() {
            dimensions.push(Dimension { len: 1, out: size as isize, axis: usize::MAX });
        }
        space
    }

    /// The first element of the output that so many steps along each dimension lead to.
    pub fn at(&self, steps: &[usize]) -> *mut u8 {
        let steps = self.dimensions.iter().zip(steps);
        self.output.wrapping_offset(steps.map(|(along, &steps)| along.out * steps as isize).sum())
    }

    /// The steps along the dimensions from `first` on that a linear position leads to.
    pub fn steps(&self, first: usize, number: usize) -> impl Iterator<Item = usize> {
        steps(self.lens(first), number)
    }

    /// The number of positions along the dimensions from `first` on.
    pub fn positions(&self, first: usize) -> usize {
        self.lens(first).product()
    }

    fn lens(&self, first: usize) -> impl Iterator<Item = usize> {
        self.dimensions.iter().skip(first).map(|dimension| dimension.len)
    }
}
