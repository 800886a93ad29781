//! `Extremum`: the elementwise largest or smallest of any number of operands, in one pass.
//!
//! The output is walked line by line; along a line each operand is contiguous, stands still (it is broadcast)
//! or is packed. A line is cut into tiles that stay in the first-level cache while all operands pass over it.

use crate::element::{ElementType, with_element_and_order};
use crate::isa::{Task, dispatch};
use crate::order::{Element, Order};
use crate::pack::{Pack, SCRATCH};
use crate::threads;
use std::array::from_fn;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

/// One operand, broadcast to the output's shape.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// Bytes from one element to the next, dimension by dimension; 0 where the operand is broadcast.
    pub strides: Vec<isize>,
    /// Whether the bytes of each element stand in the order that is foreign to this machine.
    pub swapped: bool,
}

// SAFETY: operands are only read.
unsafe impl Sync for Operand {}

/// Writes the largest (or smallest) of all operands at every position of `shape`.
///
/// # Safety
/// There is at least one operand; every operand is readable and the output writable at every position;
/// an operand may be the output itself (same first element, same strides) but may not overlap it otherwise.
pub unsafe fn extremum(
    operands: &mut [Operand],
    element: ElementType,
    largest: bool,
    shape: &[usize],
    output: *mut u8,
    strides: &[isize],
) {
    if shape.contains(&0) {
        return;
    }
    let plan = Plan::new(operands, element, largest, shape, output, strides);
    let bytes = plan.total().saturating_mul(element.size() * (operands.len() + 1));
    let shares = threads::shares(plan.tiles(), threads::worth(bytes));
    // SAFETY: the caller's promise; the shares are different parts of the output.
    threads::map(shares, |tiles| unsafe { plan.run(operands, tiles) });
}

/// A dimension of the output: its length, the output's stride, and each operand's.
struct Dimension {
    len: usize,
    out: isize,
    strides: Vec<isize>,
}

struct Plan {
    element: ElementType,
    largest: bool,
    output: *mut u8,
    /// Innermost first.
    dimensions: Vec<Dimension>,
    tile: usize,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Plan {}

impl Plan {
    /// Orders the dimensions by the output's distance in memory, turns them upwards and joins neighbours.
    fn new(
        operands: &mut [Operand],
        element: ElementType,
        largest: bool,
        shape: &[usize],
        output: *mut u8,
        out: &[isize],
    ) -> Self {
        let mut output = output;
        let mut dimensions: Vec<Dimension> = Vec::with_capacity(shape.len());
        for (axis, &len) in shape.iter().enumerate().filter(|&(_, &len)| len > 1) {
            let mut dimension = Dimension {
                len,
                out: out[axis],
                strides: operands.iter().map(|operand| operand.strides[axis]).collect(),
            };
            if dimension.out < 0 {
                let steps = len as isize - 1;
                output = output.wrapping_offset(steps * dimension.out);
                dimension.out = -dimension.out;
                for (operand, stride) in operands.iter_mut().zip(&mut dimension.strides) {
                    operand.data = operand.data.wrapping_offset(steps * *stride);
                    *stride = -*stride;
                }
            }
            dimensions.push(dimension);
        }
        dimensions.sort_by_key(|dimension| dimension.out);
        dimensions.dedup_by(|outer, inner| {
            let len = inner.len as isize;
            let joined = outer.out == inner.out * len
                && outer.strides.iter().zip(&inner.strides).all(|(outer, inner)| *outer == inner * len);
            if joined {
                inner.len *= outer.len;
            }
            joined
        });
        if dimensions.is_empty() {
            dimensions.push(Dimension { len: 1, out: element.size() as isize, strides: vec![0; operands.len()] });
        }
        let tile = (SCRATCH / element.size()).min(dimensions[0].len);
        Self { element, largest, output, dimensions, tile }
    }

    fn total(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.len).product()
    }

    fn tiles(&self) -> usize {
        let inner = self.dimensions[0].len;
        self.total() / inner * inner.div_ceil(self.tile)
    }

    /// Does some of the tiles.
    unsafe fn run(&self, operands: &[Operand], tiles: Range<usize>) {
        let inner = &self.dimensions[0];
        let per_line = inner.len.div_ceil(self.tile);
        let mut offsets = vec![0isize; operands.len()];
        for tile in tiles {
            let start = tile % per_line * self.tile;
            let len = self.tile.min(inner.len - start);
            let mut out = inner.out * start as isize;
            for (offset, stride) in offsets.iter_mut().zip(&inner.strides) {
                *offset = stride * start as isize;
            }
            let mut line = tile / per_line;
            for dimension in &self.dimensions[1..] {
                let step = (line % dimension.len) as isize;
                line /= dimension.len;
                out += dimension.out * step;
                for (offset, stride) in offsets.iter_mut().zip(&dimension.strides) {
                    *offset += stride * step;
                }
            }
            // SAFETY: the caller's promise.
            unsafe { self.tile(operands, &offsets, self.output.wrapping_offset(out), len) };
        }
    }

    unsafe fn tile(&self, operands: &[Operand], offsets: &[isize], output: *mut u8, len: usize) {
        let size = self.element.size();
        let inner = &self.dimensions[0];
        let mut gathered = [const { MaybeUninit::<u64>::uninit() }; SCRATCH / 8];
        let mut folded = [const { MaybeUninit::<u64>::uninit() }; SCRATCH / 8];
        let lines = || (0..operands.len()).map(|at| operands[at].data.wrapping_offset(offsets[at]));
        // An operand that is the output itself would look like an obstacle to vectors: it goes round by scratch.
        let direct = inner.out == size as isize && lines().all(|line| !ptr::eq(line, output));
        let to = if direct { output } else { folded.as_mut_ptr().cast() };
        let mut plain = [ptr::null(); AT_ONCE];
        let mut waiting = 0;
        let mut fresh = true;
        let mut fold = |lines: &[*const u8], step: usize| {
            with_element_and_order!(self.element, self.largest, E, O => dispatch(Fold::<E, O> {
                lines, step, to: to.cast(), len, fresh, order: PhantomData,
            }));
            fresh = false;
        };
        for (at, line) in lines().enumerate() {
            let stride = inner.strides[at];
            if operands[at].swapped || (stride != 0 && stride != size as isize) {
                let (inner, swapped) = ((len, stride), operands[at].swapped);
                let to = gathered.as_mut_ptr().cast();
                dispatch(Pack { data: line, outer: (1, 0), inner, size, swapped, to });
                fold(&[gathered.as_ptr().cast()], 1);
            } else if stride == 0 {
                fold(&[line], 0);
            } else {
                plain[waiting] = line;
                waiting += 1;
                if waiting == AT_ONCE {
                    fold(&plain, 1);
                    waiting = 0;
                }
            }
        }
        if waiting > 0 {
            fold(&plain[..waiting], 1);
        }
        if !direct {
            // SAFETY: the caller's promise.
            unsafe { scatter(to, size, len, output, inner.out) };
        }
    }
}

/// Copies a finished tile to where the output has it.
unsafe fn scatter(from: *const u8, size: usize, len: usize, output: *mut u8, stride: isize) {
    if stride == size as isize {
        // SAFETY: the caller's.
        return unsafe { from.copy_to_nonoverlapping(output, len * size) };
    }
    for at in 0..len {
        // SAFETY: the caller's.
        unsafe { from.add(at * size).copy_to_nonoverlapping(output.wrapping_offset(stride * at as isize), size) };
    }
}

/// Operands that are read in one pass over a tile.
const AT_ONCE: usize = 4;

/// Folds up to [`AT_ONCE`] operands into a tile.
struct Fold<'a, E, O> {
    lines: &'a [*const u8],
    /// 1 where the operands are contiguous, 0 where the only one stands still.
    step: usize,
    to: *mut E,
    len: usize,
    /// Whether the tile holds nothing yet.
    fresh: bool,
    order: PhantomData<O>,
}

impl<E: Element, O: Order> Task for Fold<'_, E, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: whoever builds the task vouches for `len` elements of every operand and of the tile.
        unsafe {
            match (self.lines.len(), self.step, self.fresh) {
                (_, 0, true) => self.each::<1, 0, true>(),
                (_, 0, false) => self.each::<1, 0, false>(),
                (1, _, true) => self.each::<1, 1, true>(),
                (1, _, false) => self.each::<1, 1, false>(),
                (2, _, true) => self.each::<2, 1, true>(),
                (2, _, false) => self.each::<2, 1, false>(),
                (3, _, true) => self.each::<3, 1, true>(),
                (3, _, false) => self.each::<3, 1, false>(),
                (_, _, true) => self.each::<4, 1, true>(),
                (_, _, false) => self.each::<4, 1, false>(),
            }
        }
    }
}

impl<E: Element, O: Order> Fold<'_, E, O> {
    #[inline(always)]
    unsafe fn each<const OPERANDS: usize, const STEP: usize, const FRESH: bool>(&self) {
        let lines: [*const E; OPERANDS] = from_fn(|line| self.lines[line].cast());
        for at in 0..self.len {
            // SAFETY: the caller's promise; alignment is not needed.
            unsafe {
                let to = self.to.add(at);
                let first = lines[0].add(at * STEP).read_unaligned();
                let mut best = if FRESH { first } else { to.read_unaligned().extreme::<O>(first) };
                for line in &lines[1..] {
                    best = best.extreme::<O>(line.add(at * STEP).read_unaligned());
                }
                to.write_unaligned(best);
            }
        }
    }
}
