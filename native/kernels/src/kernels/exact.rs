//! Accumulating operands in a tile where some elements are NaN: two operands at a time.

use crate::element::order::Order;
use crate::element::rank::Ranked;
use crate::isa::Task;
use std::marker::PhantomData;
use std::ops::Range;

/// As many lines of a tile as it has rows.
#[derive(Clone, Copy)]
pub struct Lines<T> {
    /// The first element of the first line.
    pub data: T,
    /// Bytes from one line to the next.
    pub step: isize,
}

impl<T> Lines<*const T> {
    /// The elements of a line.
    #[inline(always)]
    pub fn line<E>(self, row: usize) -> *const E {
        self.data.wrapping_byte_offset(self.step * row as isize).cast()
    }

    /// The rank of the first element of a line.
    ///
    /// # Safety
    /// There is one.
    #[inline(always)]
    pub unsafe fn rank<E: Ranked, O: Order>(self, row: usize, origin: E::Origin) -> E::Rank {
        // SAFETY: the caller's; alignment is not needed.
        unsafe { self.line::<E>(row).read_unaligned() }.rank::<O>(origin)
    }
}

/// What a pass starts from.
#[derive(Clone, Copy)]
pub enum Start {
    /// Its own first operand.
    Nothing,
    /// One element for each row.
    One(Lines<*const u8>),
    /// The result of the pass before, which the tile holds.
    Tile,
}

/// Bytes of a piece: it stays in the first-level cache from some operands to the next.
const PIECE: usize = 1 << 13;

/// Accumulates operands in a part of a line, NaN being what the order says.
pub struct Exact<'a, E, O> {
    /// The operands: two at least, or one where there is something to start from.
    pub operands: &'a [Lines<*const u8>],
    /// What comes before them.
    pub start: Start,
    /// The lines of the tile.
    pub to: Lines<*mut u8>,
    /// Which line.
    pub row: usize,
    /// Which of its elements.
    pub span: Range<usize>,
    /// What is accumulated.
    pub order: PhantomData<(E, O)>,
}

impl<E: Ranked, O: Order> Task for Exact<'_, E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { operands, start, to, row, span, .. } = self;
        for at in span.clone().step_by(PIECE / size_of::<E>()) {
            let len = (span.end - at).min(PIECE / size_of::<E>());
            let to = to.data.wrapping_offset(to.step * row as isize).cast::<E>().wrapping_add(at);
            // SAFETY: the caller vouches for the span in every operand, and in the tile.
            unsafe {
                let line = |operand: &Lines<*const u8>| operand.line::<E>(row).add(at);
                let mut left = match (start, operands) {
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
