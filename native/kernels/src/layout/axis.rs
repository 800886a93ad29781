//! Axes of an iteration space, whatever is done along them: each has a length, and a stride for every operand.

use crate::layout::{PerAxis, sort};
use smallvec::SmallVec;

/// What one step along an axis adds in every operand.
pub trait Strides {
    /// A position: what all steps from the first element on have added.
    type Position: Clone;
    /// The stride, in bytes, of the operand whose memory is walked upwards.
    fn memory(&self) -> isize;
    /// Moves a position by so many steps.
    fn step(&self, at: &mut Self::Position, steps: isize);
    /// Makes the strides those of the same axis from its other end.
    fn reverse(&mut self);
    /// Whether an axis of these strides goes on where `inner`, of `len` elements, ends: in every operand.
    fn continue_from(&self, inner: &Self, len: usize) -> bool;
}

/// One axis of an iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis<S> {
    /// Number of elements.
    pub len: usize,
    /// From one element to the next, in every operand.
    pub strides: S,
}

/// The axes that are left of an iteration space, mostly few.
pub type Axes<S> = SmallVec<[Axis<S>; 4]>;

impl<S: Strides> Axis<S> {
    /// The same axis upwards in memory; `origin` moves to the end that becomes the first.
    #[inline(always)]
    pub fn upwards(mut self, origin: &mut S::Position) -> Self {
        if self.strides.memory() < 0 {
            self.strides.step(origin, self.len as isize - 1);
            self.strides.reverse();
        }
        self
    }

    /// The position that so many steps along the axis lead to.
    #[inline(always)]
    pub fn moved(&self, mut at: S::Position, steps: usize) -> S::Position {
        self.strides.step(&mut at, steps as isize);
        at
    }
}

/// Orders axes by distance in memory and joins the neighbours that lie end to end.
#[inline]
pub fn merge<S: Strides>(axes: &mut Axes<S>) {
    if axes.len() < 2 {
        return;
    }
    // A broadcast axis (stride 0) costs no memory traffic: it goes outermost.
    let by_memory = |axis: &Axis<S>| (axis.strides.memory() == 0, axis.strides.memory(), axis.len);
    sort(axes, by_memory);
    axes.dedup_by(|outer, inner| {
        let joined = outer.strides.continue_from(&inner.strides, inner.len);
        if joined {
            inner.len *= outer.len;
        }
        joined
    });
}

/// Walks all positions of a list of axes.
pub struct Odometer<'a, S: Strides> {
    axes: &'a [Axis<S>],
    counts: PerAxis<usize>,
    /// Where the walk is.
    pub at: S::Position,
}

impl<'a, S: Strides> Odometer<'a, S> {
    /// A walk from `origin` that starts at linear position `start`, the first axis running fastest.
    #[inline]
    pub fn new(axes: &'a [Axis<S>], origin: S::Position, start: usize) -> Self {
        if start == 0 {
            // Without divisions, which are a large part of the cost of a small call.
            return Self { axes, counts: PerAxis::from_elem(0, axes.len()), at: origin };
        }
        let mut walk = Self { axes, counts: PerAxis::new(), at: origin };
        for (axis, count) in axes.iter().zip(steps(axes, start)) {
            walk.counts.push(count);
            axis.strides.step(&mut walk.at, count as isize);
        }
        walk
    }

    /// Goes to the next position; after the last comes the first again.
    pub fn advance(&mut self) {
        for (axis, count) in self.axes.iter().zip(&mut self.counts) {
            *count += 1;
            axis.strides.step(&mut self.at, 1);
            if *count < axis.len {
                return;
            }
            *count = 0;
            axis.strides.step(&mut self.at, -(axis.len as isize));
        }
    }
}

/// The linear position `number` from `origin` on, the first axis running fastest.
#[inline]
pub fn position<S: Strides>(axes: &[Axis<S>], origin: S::Position, number: usize) -> S::Position {
    axes.iter().zip(steps(axes, number)).fold(origin, |at, (axis, steps)| axis.moved(at, steps))
}

/// The steps along each axis that a linear position leads to.
#[inline]
fn steps<S>(axes: &[Axis<S>], mut number: usize) -> impl Iterator<Item = usize> {
    axes.iter().map(move |axis| {
        let steps = number % axis.len;
        number /= axis.len;
        steps
    })
}

/// The number of positions of a list of axes.
#[inline]
pub fn positions<S>(axes: &[Axis<S>]) -> usize {
    axes.iter().map(|axis| axis.len).product()
}
