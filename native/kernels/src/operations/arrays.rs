//! The arrays of an elementwise operation, as its tiles read and write them.

use crate::element::ElementType;
use crate::element::rank::Extreme;
use crate::kernels::accumulate::apart;
use crate::layout::elementwise::{ElementwiseAxis, Operand};

/// What all tiles have in common.
pub struct Arrays<'a> {
    pub operands: &'a [Operand],
    pub element: ElementType,
    pub extreme: Extreme,
    pub output: *mut u8,
    /// The axis that lines lie along.
    pub inner: &'a ElementwiseAxis<'a>,
    /// The axis from one line of a tile to the next, where there is one.
    pub lines: Option<&'a ElementwiseAxis<'a>>,
    /// How many operands are broadcast along a line: these become one element, which the first pass starts from.
    pub broadcast: usize,
    /// Whether tiles are accumulated in the output itself. An operand that is the output itself would look like an
    /// obstacle to vectors, and goes by way of scratch memory.
    pub direct_output: bool,
    /// Two operands that are read at once although one of them is not contiguous.
    pub pair: Option<Pair>,
    /// Whether the output is written past the caches, from scratch memory.
    pub streamed: bool,
    /// Whether what is packed is asked for before, and what will be read and written beside it: the processor looks ahead along
    /// few ways, and not over the pauses in which scratch memory is read.
    pub ahead: bool,
}

/// Two operands that are read at once, where they are, although one of them is not contiguous along a line.
#[derive(Clone, Copy)]
pub enum Pair {
    /// So many elements lie from one to the next along the lines of either.
    Apart([isize; 2]),
    /// One, by number, is contiguous, and the other from line to line.
    Turned([usize; 2]),
}

impl Pair {
    /// What two operands are along these axes, where their bytes are in order; nothing where both are contiguous.
    pub fn of(
        operands: &[Operand],
        size: usize,
        inner: &ElementwiseAxis,
        lines: Option<&ElementwiseAxis>,
    ) -> Option<Self> {
        if operands.len() != 2 || operands.iter().any(|operand| operand.swapped) {
            return None;
        }
        let strides = [0, 1].map(|number| inner.strides.operand(number));
        let steps = lines.map(|lines| [0, 1].map(|number| lines.strides.operand(number)));
        let one = size as isize;
        let is_turned = |&[first, other]: &[usize; 2]| {
            strides[first] == one
                && !matches!(strides[other], 0)
                && strides[other] != one
                && steps.is_some_and(|steps| steps[other] == one)
        };
        let turned = || [[0, 1], [1, 0]].into_iter().find(is_turned).map(Self::Turned);
        apart(size, strides).map(Self::Apart).or_else(turned)
    }
}
