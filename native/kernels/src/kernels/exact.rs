//! Accumulating operands in a tile where some elements are NaN: two operands at a time.

use crate::element::order::Order;
use crate::element::rank::Ranked;
use crate::isa::{Task, dispatch};
use crate::kernels::pass::{Lines, Pass, Start};
use std::marker::PhantomData;
use std::ops::Range;

/// Bytes of a piece: it stays in the first-level cache from some operands to the next.
const PIECE: usize = 1 << 13;

/// Accumulates operands in a part of a line, NaN being what the order says.
///
/// # Safety
/// The operands may be read along the span of that line, and the tile be written and read.
pub unsafe fn exact<E: Ranked, O: Order>(pass: &Pass, row: usize, span: Range<usize>) {
    // SAFETY: the caller's.
    unsafe { dispatch(Exact::<E, O> { pass, row, span, order: PhantomData }) }
}

struct Exact<'a, E, O> {
    pass: &'a Pass<'a>,
    row: usize,
    span: Range<usize>,
    order: PhantomData<(E, O)>,
}

impl<E: Ranked, O: Order> Task for Exact<'_, E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { pass: &Pass { operands, apart, start, to, .. }, row, span, .. } = self;
        for at in span.clone().step_by(PIECE / size_of::<E>()) {
            let len = (span.end - at).min(PIECE / size_of::<E>());
            let to = to.data.wrapping_offset(to.step * row as isize).cast::<E>().wrapping_add(at);
            // SAFETY: the caller vouches for the span in every operand, and in the tile.
            unsafe {
                let line = |operand: &Lines<*const u8>| operand.line::<E>(row).add(at);
                let mut left = match (start, operands) {
                    (Start::Nothing, [one, another]) if apart != [1, 1] => {
                        for place in 0..len {
                            let element = |operand: &Lines<*const u8>, apart: isize| {
                                operand.line::<E>(row).offset(apart * (at + place) as isize)
                            };
                            let first = rank::<E, O>(element(one, apart[0]), 0);
                            write::<E, O>(to.add(place), 0, first, [element(another, apart[1])]);
                        }
                        &[]
                    }
                    (Start::Nothing, [one, another, left @ ..]) => {
                        let (one, another) = (line(one), line(another));
                        (0..len).for_each(|at| write::<E, O>(to, at, rank::<E, O>(one, at), [another]));
                        left
                    }
                    (Start::One(ones), [one, left @ ..]) => {
                        let (first, one) = (ones.rank::<E, O>(row, E::origin::<O>()), line(one));
                        (0..len).for_each(|at| write::<E, O>(to, at, first, [one]));
                        left
                    }
                    (_, left) => left,
                };
                // By twos: the tile is read and written once for both.
                while let [one, others @ ..] = left {
                    let one = line(one);
                    left = match others {
                        [another, left @ ..] => {
                            let lines = [one, line(another)];
                            (0..len).for_each(|at| write::<E, O>(to, at, rank::<E, O>(to, at), lines));
                            left
                        }
                        left => {
                            (0..len).for_each(|at| write::<E, O>(to, at, rank::<E, O>(to, at), [one]));
                            left
                        }
                    };
                }
            }
        }
    }
}

/// The rank of an element of a line.
///
/// # Safety
/// It may be read.
#[inline(always)]
unsafe fn rank<E: Ranked, O: Order>(line: *const E, at: usize) -> E::Rank {
    // SAFETY: the caller's; alignment is not needed.
    unsafe { line.add(at).read_unaligned() }.rank::<O>(E::origin::<O>())
}

/// Writes what a rank and those of some operands come to.
///
/// # Safety
/// The operands may be read there, and the tile written.
#[inline(always)]
unsafe fn write<E: Ranked, O: Order>(to: *mut E, at: usize, first: E::Rank, lines: impl IntoIterator<Item = *const E>) {
    // SAFETY: the caller's; alignment is not needed.
    unsafe {
        let best = lines.into_iter().fold(first, |best, line| E::extreme::<O>(best, rank::<E, O>(line, at)));
        to.add(at).write_unaligned(E::from_rank::<O>(best, E::origin::<O>()));
    }
}
