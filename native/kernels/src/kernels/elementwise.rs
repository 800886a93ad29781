//! Accumulates the operands of an elementwise operation in tiles of the output, several operands in one pass.
//!
//! ```text
//! for each row of the tile:
//!     best = the element that is broadcast along the row, or the first operand
//!     best = better of best and each other operand, as if there were no NaN; note whether there was
//!     if there was: copy the first to the tile, and accumulate the others in the tile, with NaN as the order says
//! ```
//!
//! A pass reads up to four operands: with more, each would be read in short stretches. The passes after the first accumulate in
//! the tile. Starting a line costs as much as a few hundred bytes of it, so a pass takes all rows of a tile in one go. Operands
//! with gaps are packed first.

use crate::element::compare::{HasLane, Index, Lane};
use crate::element::order::Order;
use crate::element::rank::{Extreme, HasRank};
use crate::element::{ElementType, with_element_and_extreme};
use crate::isa::{Task, dispatch};
use crate::kernels::lanes::{LINE, Lines, LinesToWrite};
use crate::vector::extent::{Readable, Writable};
use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::Range;

/// Operands that are read in one pass over a tile.
pub const OPERANDS_AT_ONCE: usize = 4;

/// A pass over a tile, or several passes together.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// One element for each row, which comes before the operands.
    pub first: Option<Lines>,
    /// The operands: at least one if `first` is None.
    pub operands: &'a [Lines],
    /// The lines of the tile, which are written.
    pub to: LinesToWrite,
    /// The number of lines.
    pub rows: usize,
    /// The number of elements in a line.
    pub len: usize,
}

/// Writes the largest (or smallest) of all operands to a tile.
///
/// # Safety
/// The operands have the same number and length of lines as the tile, and may be read; the tile may be written.
pub unsafe fn accumulate(pass: Pass, element: ElementType, extreme: Extreme) {
    debug_assert!(pass.first.is_some() || !pass.operands.is_empty(), "the extremum of no operand");
    // SAFETY: the caller's promise.
    with_element_and_extreme!(element, extreme, E, O => unsafe { passes::<E, O>(pass) });
}

/// # Safety
/// As for [`accumulate`].
unsafe fn passes<E: HasRank, O: Order>(all: Pass) {
    all.to.debug_assert_there::<E>(all.rows, all.len);
    for operand in all.operands {
        operand.debug_assert_there::<E>(all.rows, all.len);
    }
    let origin = E::origin::<O>();
    // Other types have no second try, and need no code for it.
    let again = E::HASTY.then_some(exact::<E::Like, E::LikeOrder<O>> as Again);
    let (operands, others) = all.operands.split_at(all.operands.len().min(OPERANDS_AT_ONCE));
    let pass = Pass { operands, ..all };
    // SAFETY: the caller's promise.
    unsafe {
        // Code that does not look for NaN is the same for all orders of one end.
        dispatch(Accumulate::<E::Like, O::IgnoreNan, false> { pass, origin, again, order: PhantomData });
        for operands in others.chunks(OPERANDS_AT_ONCE) {
            let pass = Pass { first: None, operands, ..all };
            dispatch(Accumulate::<E::Like, E::LikeOrder<O>, true> { pass, origin, again: None, order: PhantomData });
        }
    }
}

/// Bytes from which a line gets a separate beginning, and bytes of the beginning: what vectors take in one step.
const ALIGNED_LEAST_BYTES: usize = 1024;
const BEGINNING_BYTES: usize = 256;

/// Bytes of the longest part of a line that is read a second time if it has NaN.
const RETRIED_MOST_BYTES: usize = 1 << 15;

/// Does a part of a line of a pass again.
type Again = unsafe fn(&Pass, usize, Range<usize>);

/// Accumulates the operands of one pass in a tile. With `TILE` the contents of the tile take part. Without it the operands are
/// accumulated as if they had no NaN, and parts with NaN are done again.
struct Accumulate<'a, E: HasRank, O, const TILE: bool> {
    pass: Pass<'a>,
    /// The origin of the ranks.
    origin: E::Origin,
    /// Does a part of a line again, for types that [may need it](HasRank::HASTY).
    again: Option<Again>,
    order: PhantomData<(E, O)>,
}

impl<E: HasLane + HasRank, O: Order, const TILE: bool> Task for Accumulate<'_, E, O, TILE> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller vouches for the lines of every operand, and of the tile.
        unsafe {
            match self.pass.first {
                Some(ones) if !TILE => self.by_number(|row| {
                    let one = ones.from(row as isize).data.element::<E>(0);
                    Some(one.read_unaligned().rank::<O>(self.origin))
                }),
                _ => self.by_number(|_| None),
            }
        }
    }
}

impl<E: HasLane + HasRank, O: Order, const TILE: bool> Accumulate<'_, E, O, TILE> {
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn by_number(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.pass.operands.len() {
                0 if TILE => {}
                0 => self.each::<0>(first),
                1 => self.each::<1>(first),
                2 => self.each::<2>(first),
                3 if !TILE => self.each::<3>(first),
                _ => self.each::<OPERANDS_AT_ONCE>(first),
            }
        }
    }

    /// Accumulates `OPERANDS` operands.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn each<const OPERANDS: usize>(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        let Pass { operands, to, rows, len, .. } = self.pass;
        let tries = E::HASTY && !TILE;
        let most = if tries { RETRIED_MOST_BYTES / size_of::<E>() } else { len };
        // Whether the last try found NaN: the next part is then expected to have NaN too.
        let mut nan = false;
        for row in 0..rows {
            let first = first(row);
            // With `TILE` there is no loop for three operands: one is read twice, which does not change the extremum.
            let lines: [Readable; OPERANDS] = from_fn(|at| operands[at % operands.len()].from(row as isize).data);
            let to = to.line(row as isize);
            // Stores that straddle two cache lines cost 10 %. Doing a few elements twice does no harm.
            let head = to.address().align_offset(LINE) / size_of::<E>();
            let mut start = 0;
            let mut end = most.min(len);
            let mut next = end;
            if head > 0 && len > 2 * LINE && size_of::<E::Origin>() > 0 && OPERANDS <= 2 && !TILE {
                // Elements that do not fill a vector are expensive to turn into ranks: the beginning has a loop of its own.
                // SAFETY: the caller's promise.
                unsafe { self.span::<OPERANDS>(0..LINE, first, lines, to) };
                start = head;
            } else if head > 0 && len * size_of::<E>() >= ALIGNED_LEAST_BYTES {
                (end, next) = (BEGINNING_BYTES / size_of::<E>(), head);
            }
            // One loop for the beginning and the rest, so that it is compiled only once.
            loop {
                let again = nan;
                // SAFETY: the caller's promise.
                nan = !again && unsafe { self.span::<OPERANDS>(start..end, first, lines, to) };
                if let Some(exact) = self.again.filter(|_| tries && (again || nan)) {
                    // SAFETY: the caller's promise.
                    unsafe { exact(&self.pass, row, start..end) };
                }
                if next == len {
                    break;
                }
                (start, end) = (next, next + most.min(len - next));
                next = end;
            }
        }
    }

    /// Whether one of the elements was NaN, so that what was written is invalid. With `TILE` this is not reported: no second try
    /// follows.
    ///
    /// # Safety
    /// The lines may be read and the tile written along the span; with `TILE` the tile may be read too.
    #[inline(always)]
    unsafe fn span<const OPERANDS: usize>(
        &self,
        span: Range<usize>,
        first: Option<E::Rank>,
        lines: [Readable; OPERANDS],
        to: Writable,
    ) -> bool {
        // SAFETY: the caller's promise; alignment is not needed.
        let rank = |line: Readable, at: usize| unsafe { line.element::<E>(at).read_unaligned() }.rank::<O>(self.origin);
        let mut nan = <E::Lane as Lane>::Index::ZERO;
        for at in span {
            // One element of each operand at a time: the compiler makes vectors of the loop over elements, not of this one.
            let mut best = if TILE { Some(rank(to.readable(), at)) } else { first };
            for line in lines {
                let next = rank(line, at);
                let (next, any) = match best {
                    None => (next, false),
                    Some(best) if TILE => (E::extreme::<O>(best, next), false),
                    Some(best) => E::extreme_of_numbers::<O>(best, next),
                };
                nan = nan.or(any);
                best = Some(next);
            }
            // SAFETY: as above.
            best.into_iter()
                .for_each(|best| unsafe { to.element::<E>(at).write_unaligned(E::from_rank::<O>(best, self.origin)) });
        }
        nan.any()
    }
}

/// Bytes of a piece: it stays in the first-level cache between the copy and the other operands.
const PIECE_BYTES: usize = 1 << 13;

/// Accumulates the operands of a pass in a part of a line, and treats NaN as the order says.
///
/// # Safety
/// The operands may be read along the span of that line, and the tile may be written and read.
unsafe fn exact<E: HasLane + HasRank, O: Order>(pass: &Pass, row: usize, span: Range<usize>) {
    let origin = E::origin::<O>();
    let again = None;
    for start in span.clone().step_by(PIECE_BYTES / size_of::<E>()) {
        // The pointers still know all lines.
        let skip = start * size_of::<E>();
        let part = |lines: Lines| Lines { data: lines.from(row as isize).data.wrapping_add(skip), ..lines };
        let len = (span.end - start).min(PIECE_BYTES / size_of::<E>());
        let first = pass.first.map(|ones| ones.from(row as isize));
        let lines: [Lines; OPERANDS_AT_ONCE] =
            from_fn(|at| pass.operands.get(at).map_or(pass.to.readable(), |&lines| part(lines)));
        let (copy, others) = lines[..pass.operands.len()].split_at(usize::from(first.is_none()));
        let to = LinesToWrite { data: pass.to.line(row as isize).wrapping_add(skip), ..pass.to };
        let copy = Pass { first, operands: copy, to, rows: 1, len };
        // SAFETY: the caller's promise.
        unsafe {
            dispatch(Accumulate::<E, O::IgnoreNan, false> { pass: copy, origin, again, order: PhantomData });
            let pass = Pass { operands: others, ..copy };
            dispatch(Accumulate::<E, O, true> { pass, origin, again, order: PhantomData });
        }
    }
}
