//! Layout normalisation: what an operation does to memory, with everything else taken out.
//!
//! A call arrives as shapes, strides and a set of reduced axes; it leaves as two short lists of axes, kept
//! and reduced, ordered by distance in memory. Axes of one element are gone, directions run upwards in
//! memory, a reduced axis that stands still (stride 0) is gone, and neighbours that lie end to end are one
//! axis. The kernels therefore see a transposed array, a Fortran-ordered one, a reversed one and a plain one
//! as the same thing.

pub(crate) mod space;

use smallvec::SmallVec;

/// One value for each axis, in most arrays without an allocation: calls on small arrays feel every one.
pub type PerAxis<T> = SmallVec<[T; 8]>;

/// The axes that are left of them, mostly few.
pub type Axes = SmallVec<[Axis; 4]>;

/// One axis of the iteration space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Number of elements.
    pub len: usize,
    /// Bytes from one element to the next in the input; never negative.
    pub stride: isize,
    /// Bytes from one element to the next in the output.
    pub out: isize,
    /// How much the row-major index grows from one element to the next; 0 on kept axes.
    pub weight: i64,
}

impl Axis {
    /// An axis of one element: what stands in where a list of axes is empty.
    pub const POINT: Self = Self { len: 1, stride: 0, out: 0, weight: 0 };

    /// Whether `outer` goes on where this axis ends, in all three respects.
    fn continues_into(&self, outer: &Self) -> bool {
        let len = self.len as isize;
        outer.stride == self.stride * len && outer.out == self.out * len && outer.weight == self.weight * len as i64
    }
}

/// The normalised iteration space of a reduction.
#[derive(Debug)]
pub struct Layout {
    /// Kept axes, nearest in memory first.
    pub kept: Axes,
    /// Reduced axes, nearest in memory first.
    pub reduced: Axes,
    /// Bytes from the first element of the input, as the caller sees it, to the first in memory.
    pub offset: isize,
    /// The same for the output.
    pub out_offset: isize,
    /// The index of the first reduced element in memory.
    pub index: i64,
}

impl Layout {
    /// Normalises an iteration space; one without positions keeps an empty axis.
    ///
    /// `axes` yields, last dimension first, the length, the input stride, the output stride and whether the
    /// axis is reduced. `last` says that the last of equals is wanted.
    pub fn new(axes: impl Iterator<Item = (usize, isize, isize, bool)>, last: bool) -> Self {
        let mut layout = Self { kept: Axes::new(), reduced: Axes::new(), offset: 0, out_offset: 0, index: 0 };
        let mut weight = 1;
        for (len, stride, out, reduced) in axes {
            let own = if reduced { weight } else { 0 };
            if reduced {
                weight *= len as i64;
            }
            if len != 1 {
                layout.push(Axis { len, stride, out, weight: own }, reduced, last);
            }
        }
        merge(&mut layout.kept);
        merge(&mut layout.reduced);
        layout
    }

    #[inline(always)]
    fn push(&mut self, mut axis: Axis, reduced: bool, last: bool) {
        let steps = axis.len as isize - 1;
        if reduced && axis.stride == 0 && axis.out == 0 && axis.len > 0 {
            // All elements along the axis are the same one: the tie is decided here.
            self.index += if last { steps as i64 * axis.weight } else { 0 };
            return;
        }
        if axis.stride < 0 {
            self.offset += steps * axis.stride;
            self.out_offset += steps * axis.out;
            self.index += steps as i64 * axis.weight;
            axis = Axis { len: axis.len, stride: -axis.stride, out: -axis.out, weight: -axis.weight };
        }
        let axes = if reduced { &mut self.reduced } else { &mut self.kept };
        axes.push(axis);
    }
}

/// Orders axes by distance in memory and joins the neighbours that lie end to end.
pub fn merge(axes: &mut Axes) {
    if axes.len() < 2 {
        return;
    }
    // An axis that stands still costs no memory traffic: it goes outermost.
    axes.sort_by_key(|axis| (axis.stride == 0, axis.stride, axis.len));
    axes.dedup_by(|outer, inner| {
        let joined = inner.continues_into(outer);
        if joined {
            inner.len *= outer.len;
        }
        joined
    });
}

/// Walks all positions of a list of axes.
#[derive(Debug)]
pub struct Odometer<'a> {
    axes: &'a [Axis],
    counts: PerAxis<usize>,
    /// Where the walk stands: the sum over the axes of what a step adds.
    pub at: Position,
}

/// A position of the iteration space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Bytes into the input.
    pub offset: isize,
    /// Bytes into the output.
    pub out: isize,
    /// Row-major index.
    pub index: i64,
}

impl Position {
    /// The linear position `number` along some axes, the first turning fastest.
    #[inline]
    pub fn at(axes: &[Axis], number: usize) -> Self {
        let steps = steps(axes.iter().map(|axis| axis.len), number);
        axes.iter().zip(steps).fold(Self::default(), |at, (axis, steps)| at.moved(axis, steps))
    }

    /// This position moved by `steps` along `axis`.
    #[inline]
    pub fn moved(self, axis: &Axis, steps: usize) -> Self {
        Self {
            offset: self.offset + axis.stride * steps as isize,
            out: self.out + axis.out * steps as isize,
            index: self.index + axis.weight * steps as i64,
        }
    }
}

impl<'a> Odometer<'a> {
    /// A walk that starts at linear position `start`, the first axis turning fastest.
    #[inline]
    pub fn new(axes: &'a [Axis], start: usize) -> Self {
        let mut walk = Self { axes, counts: PerAxis::new(), at: Position::default() };
        for (axis, count) in axes.iter().zip(steps(axes.iter().map(|axis| axis.len), start)) {
            walk.counts.push(count);
            walk.at = walk.at.moved(axis, count);
        }
        walk
    }

    /// Goes to the next position; after the last comes the first again.
    pub fn advance(&mut self) {
        for (axis, count) in self.axes.iter().zip(&mut self.counts) {
            *count += 1;
            self.at = self.at.moved(axis, 1);
            if *count < axis.len {
                return;
            }
            *count = 0;
            let len = axis.len as isize;
            self.at.offset -= axis.stride * len;
            self.at.out -= axis.out * len;
            self.at.index -= axis.weight * len as i64;
        }
    }
}

/// The steps along axes of some lengths that a linear position leads to, the first axis turning fastest.
#[inline]
pub fn steps(lens: impl Iterator<Item = usize>, mut number: usize) -> impl Iterator<Item = usize> {
    lens.map(move |len| {
        let steps = number % len;
        number /= len;
        steps
    })
}

/// The number of positions of a list of axes.
pub fn positions(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.len).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_order_over_all_axes_is_one_axis() {
        let layout = Layout::new([(6, 4, 0, true), (4, 24, 0, true)].into_iter(), false);
        assert_eq!(layout.reduced[..], [Axis { len: 24, stride: 4, out: 0, weight: 1 }]);
        assert!(layout.kept.is_empty());
    }

    #[test]
    fn fortran_order_keeps_its_index_weights_apart() {
        let layout = Layout::new([(6, 16, 0, true), (4, 4, 0, true)].into_iter(), false);
        let axes = [Axis { len: 4, stride: 4, out: 0, weight: 6 }, Axis { len: 6, stride: 16, out: 0, weight: 1 }];
        assert_eq!(layout.reduced[..], axes);
    }

    #[test]
    fn reversed_axes_run_upwards() {
        let layout = Layout::new([(5, -4, 0, true)].into_iter(), false);
        assert_eq!((layout.offset, layout.index), (-16, 4));
        assert_eq!(layout.reduced[..], [Axis { len: 5, stride: 4, out: 0, weight: -1 }]);
    }

    #[test]
    fn a_standing_axis_decides_its_tie_at_once() {
        for (last, index) in [(false, 0), (true, 6)] {
            let layout = Layout::new([(7, 0, 0, true)].into_iter(), last);
            assert_eq!((layout.reduced.len(), layout.index), (0, index));
        }
    }

    #[test]
    fn an_odometer_visits_every_position_once_and_returns() {
        let axes = [Axis { len: 3, stride: 1, out: 10, weight: 0 }, Axis { len: 2, stride: 3, out: 30, weight: 0 }];
        let mut walk = Odometer::new(&axes, 0);
        for step in 0..6 {
            assert_eq!(walk.at, Odometer::new(&axes, step).at);
            assert_eq!(walk.at.offset, step as isize);
            walk.advance();
        }
        assert_eq!(walk.at, Position::default());
    }
}
