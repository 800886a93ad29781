//! Layout normalisation: what an operation does to memory, with everything else removed.
//!
//! A call arrives as shapes and strides; it leaves as short lists of axes, ordered by distance in memory. Axes of one
//! element and broadcast reduced axes (stride 0) are dropped, all axes run upwards in memory, and neighbours that lie
//! end to end become one axis. The kernels therefore see transposed, Fortran-ordered, reversed and plain arrays as
//! the same thing.

use smallvec::SmallVec;
use std::iter::once;

/// One value for each axis. Most arrays need no allocation, which is a large part of the cost of a small call.
pub type PerAxis<T> = SmallVec<[T; 8]>;

/// Sorts a short list, stably: a sort for long lists would be several kilobytes of code for each kind of list.
#[inline]
pub fn sort<T, K: PartialOrd>(list: &mut [T], key: impl Fn(&T) -> K) {
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && key(&list[at]) < key(&list[at - 1]) {
            list.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// What one step along an axis adds in every operand.
pub(crate) trait Strides {
    /// A position: the sum of all steps from the first element.
    type Position: Clone;
    /// The stride, in bytes, of the operand whose memory is walked upwards.
    fn memory(&self) -> isize;
    /// Moves a position by `steps` steps.
    fn step(&self, at: &mut Self::Position, steps: isize);
    /// Reverses the strides: the axis then starts at its other end.
    fn reverse(&mut self);
    /// Whether an axis with these strides continues, in every operand, where `inner`, with `len` elements, ends.
    fn continue_from(&self, inner: &Self, len: usize) -> bool;
}

/// One axis of an iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis<S> {
    pub len: usize,
    /// The steps from one element to the next, in every operand.
    pub strides: S,
}

/// The remaining axes of an iteration space, usually few.
pub(crate) type Axes<S> = SmallVec<[Axis<S>; 4]>;

impl<S: Strides> Axis<S> {
    /// The same axis upwards in memory; `origin` moves to the new first element.
    #[inline(always)]
    pub fn upwards(mut self, origin: &mut S::Position) -> Self {
        if self.strides.memory() < 0 {
            self.strides.step(origin, self.len as isize - 1);
            self.strides.reverse();
        }
        self
    }

    /// The position after `steps` steps along the axis.
    #[inline(always)]
    pub fn after(&self, mut at: S::Position, steps: usize) -> S::Position {
        self.strides.step(&mut at, steps as isize);
        at
    }
}

/// What orders axes by distance in memory. A broadcast axis (stride 0) costs no memory traffic: it goes outermost.
pub(crate) fn by_memory<S: Strides>(axis: &Axis<S>) -> (bool, isize, usize) {
    (axis.strides.memory() == 0, axis.strides.memory(), axis.len)
}

/// Orders axes by distance in memory and joins the neighbours that lie end to end.
#[inline]
pub(crate) fn merge<S: Strides>(axes: &mut Axes<S>) {
    if axes.len() < 2 {
        return;
    }
    sort(axes, by_memory);
    axes.dedup_by(|outer, inner| {
        let follows = outer.strides.continue_from(&inner.strides, inner.len);
        if follows {
            inner.len *= outer.len;
        }
        follows
    });
}

/// The linear position `number` from `origin` on, the first axis running fastest.
#[inline]
pub(crate) fn position<S: Strides>(axes: &[Axis<S>], mut origin: S::Position, mut number: usize) -> S::Position {
    for axis in axes {
        if number == 0 {
            // Stop before any division, which is a large part of the cost of a small call.
            break;
        }
        axis.strides.step(&mut origin, (number % axis.len) as isize);
        number /= axis.len;
    }
    origin
}

/// The number of positions of a list of axes.
#[inline]
pub(crate) fn positions<S>(axes: &[Axis<S>]) -> usize {
    axes.iter().map(|axis| axis.len).product()
}

/// One operand, broadcast to the output's shape.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// Bytes from one element to the next, last dimension first; 0 where the operand is broadcast. Missing
    /// dimensions are broadcast.
    pub strides: PerAxis<isize>,
    /// Whether the bytes of each element are in the order that is foreign to this machine.
    pub swapped: bool,
}

// SAFETY: operands are only read.
unsafe impl Sync for Operand {}

/// Offsets in bytes into the output and into each operand. Most calls stay at the first elements: the list is then empty,
/// and cheap to copy.
#[derive(Default)]
pub(crate) struct Offsets(SmallVec<[isize; 8]>);

impl Clone for Offsets {
    #[inline(always)]
    fn clone(&self) -> Self {
        Self(SmallVec::from_slice(&self.0))
    }
}

impl Offsets {
    /// The offset into the output.
    #[inline(always)]
    pub fn output(&self) -> isize {
        self.0.first().map_or(0, |&offset| offset)
    }

    /// The offset into one operand.
    #[inline(always)]
    pub fn operand(&self, number: usize) -> isize {
        self.0.get(number + 1).map_or(0, |&offset| offset)
    }
}

/// The strides of an axis, in bytes. The operands' strides stay where the caller has put them: copying them made calls on
/// eight elements slower.
#[derive(Clone, Copy)]
pub(crate) struct ElementwiseStrides<'a> {
    /// The output's stride.
    pub output: isize,
    operands: &'a [Operand],
    /// The dimension that has the operands' strides, last dimension first.
    dimension: usize,
    /// Whether the operands' strides are negated.
    is_reversed: bool,
}

impl ElementwiseStrides<'_> {
    /// The strides of all arrays, the output's first.
    #[inline(always)]
    pub fn all(&self) -> impl Iterator<Item = isize> {
        once(self.output).chain(self.operands.iter().map(|operand| self.of(operand)))
    }

    /// The stride of one operand.
    #[inline(always)]
    pub fn of(&self, operand: &Operand) -> isize {
        let stride = operand.strides.get(self.dimension).map_or(0, |&stride| stride);
        if self.is_reversed { -stride } else { stride }
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
        self.is_reversed = !self.is_reversed;
    }
    #[inline(always)]
    fn continue_from(&self, inner: &Self, len: usize) -> bool {
        let len = len as isize;
        self.output == inner.output * len
            && self.operands.iter().all(|operand| self.of(operand) == inner.of(operand) * len)
    }
}

pub(crate) type ElementwiseAxis<'a> = Axis<ElementwiseStrides<'a>>;

/// The normalised iteration space of an elementwise operation.
pub(crate) struct ElementwiseLayout<'a> {
    /// The axes, at least one, nearest in memory first.
    pub axes: Axes<ElementwiseStrides<'a>>,
    /// The offsets from the first elements as the caller sees them to the first in memory.
    pub origin: Offsets,
}

impl<'a> ElementwiseLayout<'a> {
    /// Normalises an iteration space. A space without positions keeps an empty axis.
    ///
    /// `axes` yields, last dimension first, the length and the output stride; `size` is the size of an element.
    #[inline]
    pub fn new(operands: &'a [Operand], size: usize, axes: impl Iterator<Item = (usize, isize)>) -> Self {
        let mut layout = Self { axes: Axes::new(), origin: Offsets::default() };
        for (dimension, (len, output)) in axes.enumerate().filter(|&(_, (len, _))| len != 1) {
            let axis = Axis { len, strides: ElementwiseStrides { output, operands, dimension, is_reversed: false } };
            layout.axes.push(axis.upwards(&mut layout.origin));
        }
        merge(&mut layout.axes);
        if layout.axes.is_empty() {
            layout.push_unit(operands, size as isize);
        }
        layout
    }

    /// Adds an outermost axis of one element, which no operand has.
    pub fn push_unit(&mut self, operands: &'a [Operand], output: isize) {
        let strides = ElementwiseStrides { output, operands, dimension: usize::MAX, is_reversed: false };
        self.axes.push(Axis { len: 1, strides });
    }
}

/// An offset into the input, its mask, the output and the row-major index: the strides of an axis, or a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReductionOffsets {
    /// Bytes into the input.
    pub input: isize,
    /// Bytes into the mask, where there is one.
    pub mask: isize,
    /// Into the output, in the unit of its strides.
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

pub(crate) type ReductionAxis = Axis<ReductionOffsets>;
pub(crate) type ReductionAxes = Axes<ReductionOffsets>;

impl ReductionAxis {
    /// An axis of one element: the substitute for an empty list of axes.
    pub const POINT: Self = Self { len: 1, strides: ReductionOffsets { input: 0, mask: 0, output: 0, index: 0 } };
}

/// Where the element with a row-major index lies, starting from `at`, along reduced axes, largest index stride first.
#[inline]
pub(crate) fn place(reduced: &[ReductionAxis], mut at: ReductionOffsets, mut index: i64) -> ReductionOffsets {
    if let [Axis { strides: strides @ ReductionOffsets { index: 1, .. }, .. }] = reduced {
        strides.step(&mut at, index as isize);
        return at;
    }
    // The index strides of the axes nest: each quotient is a place on its axis.
    for Axis { len, strides } in reduced {
        let stride = strides.index.abs();
        let digit = index / stride;
        index -= digit * stride;
        let steps = if strides.index < 0 { *len as i64 - 1 - digit } else { digit };
        strides.step(&mut at, steps as isize);
    }
    at
}

/// The normalised iteration space of a reduction.
#[derive(Debug, Default)]
pub(crate) struct ReductionLayout {
    /// Kept axes, nearest in memory first.
    pub kept: ReductionAxes,
    /// Reduced axes, nearest in memory first.
    pub reduced: ReductionAxes,
    /// The offsets from the first elements as the caller sees them to the first in memory.
    pub origin: ReductionOffsets,
}

impl ReductionLayout {
    /// Normalises an iteration space. A space without positions keeps an empty axis.
    ///
    /// `axes` yields, last dimension first, the length, the strides and whether the axis is reduced. `last` says that the
    /// last of equal elements wins. Fills `self`: returning a layout copies it, an eighth of the time of a small call.
    #[inline(always)]
    pub fn fill(&mut self, axes: impl Iterator<Item = (usize, ReductionOffsets, bool)>, last: bool) {
        let mut weight = 1;
        for (len, strides, reduced) in axes {
            let index = if reduced { weight } else { 0 };
            if reduced {
                weight *= len as i64;
            }
            if reduced && strides == ReductionOffsets::default() && len > 0 {
                // Broadcast (stride 0): all elements along the axis are the same, and the tie is decided here.
                self.origin.index += if last { (len as i64 - 1) * index } else { 0 };
            } else if len != 1 {
                let axes = if reduced { &mut self.reduced } else { &mut self.kept };
                axes.push(Axis { len, strides: ReductionOffsets { index, ..strides } }.upwards(&mut self.origin));
            }
        }
        merge(&mut self.kept);
        merge(&mut self.reduced);
    }

    /// Joins reduced axes that lie end to end in memory, whatever the order of their indices: for values that are the same wherever they
    /// are found.
    pub fn forget_indices(&mut self) {
        for axis in &mut self.reduced {
            axis.strides.index = 0;
        }
        merge(&mut self.reduced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(len: usize, input: isize, output: isize, index: i64) -> ReductionAxis {
        Axis { len, strides: ReductionOffsets { input, mask: 0, output, index } }
    }

    fn reduced(len: usize, input: isize) -> (usize, ReductionOffsets, bool) {
        (len, axis(len, input, 0, 0).strides, true)
    }

    #[test]
    fn axes_run_upwards_in_memory_and_join_where_their_indices_do() {
        for (inputs, axes, from, last) in [
            (vec![reduced(6, 4), reduced(4, 24)], vec![axis(24, 4, 0, 1)], (0, 0), false),
            (vec![reduced(6, 16), reduced(4, 4)], vec![axis(4, 4, 0, 6), axis(6, 16, 0, 1)], (0, 0), false),
            (vec![reduced(5, -4)], vec![axis(5, 4, 0, -1)], (-16, 4), false),
            // The tie along a broadcast axis is decided at once.
            (vec![reduced(7, 0)], vec![], (0, 0), false),
            (vec![reduced(7, 0)], vec![], (0, 6), true),
        ] {
            let mut layout = ReductionLayout::default();
            layout.fill(inputs.into_iter(), last);
            assert_eq!((layout.reduced.to_vec(), layout.kept.len()), (axes, 0));
            assert_eq!((layout.origin.input, layout.origin.index), from);
        }
    }
}
