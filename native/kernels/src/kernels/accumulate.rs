//! Accumulating operands in a tile of the output, several in one pass.

use crate::element::compare::{Compared, Index, Lane};
use crate::element::order::Order;
use crate::element::rank::Ranked;
use crate::isa::{InstructionSet, Task};
use crate::kernels::cache_line::LINE;
use crate::kernels::pass::{ALL_AT_ONCE, AT_ONCE, Lines, Pass, Start};
use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::Range;

/// Bytes of a line that is worth a beginning of its own, and of that: what vectors take in one step.
const LONG: usize = 1024;
const BEGINNING: usize = 256;

/// Bytes of the longest part of a line that is read a second time where it has NaN.
const DOUBTFUL: usize = 1 << 15;

/// Does a part of a line of a pass again.
pub type Again = unsafe fn(&Pass, usize, Range<usize>);

/// Accumulates the operands of one pass in a tile, in what the tile holds where it is `TILE`; or else as if none had NaN, and
/// what has is done again.
///
/// All rows in one go: what comes before a line costs as much as a few hundred bytes of it.
pub struct Accumulate<'a, E: Ranked, O, const TILE: bool> {
    pub pass: Pass<'a>,
    /// The origin of the ranks.
    pub origin: E::Origin,
    /// Does a part of a line again, where types [may have to](Ranked::HASTY).
    pub again: Option<Again>,
    pub order: PhantomData<(E, O)>,
}

impl<E: Compared + Ranked, O: Order, const TILE: bool> Task for Accumulate<'_, E, O, TILE> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Pass { operands, start, to, .. } = self.pass;
        debug_assert!(!to.data.is_null());
        // SAFETY: the caller vouches for the lines of every operand, and of the tile.
        unsafe {
            match (start, operands) {
                _ if TILE => self.some(|_| None),
                (Start::One(ones), _) => self.some(|row| Some(ones.rank::<E, O>(row, self.origin))),
                (_, [_, _]) => self.each::<2, 1>(|_| None, operands),
                _ => self.many(|_| None),
            }
        }
    }
}

/// Accumulates two operands that are read where they are although one of them is not contiguous.
pub struct AccumulateApart<'a, E: Ranked, O>(pub Accumulate<'a, E, O, false>);

/// How many elements apart those of two operands are along their lines, where there is a loop for that: one of them lies, in
/// Python's terms, as `[::-1]` or `[::2]` does.
pub fn apart(size: usize, strides: [isize; 2]) -> Option<[isize; 2]> {
    let apart = strides.map(|stride| stride >> size.trailing_zeros());
    let whole = strides == apart.map(|apart| apart * size as isize);
    let is_read = whole && matches!(apart, [1, -1 | 2] | [-1 | 2, 1]) && InstructionSet::current().is_wide();
    is_read.then_some(apart)
}

impl<E: Compared + Ranked, O: Order> Task for AccumulateApart<'_, E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Pass { operands, apart, .. } = self.0.pass;
        // Which of the two comes first matters to NaN alone.
        let (one, other) = if apart[1] == 1 { (1, 0) } else { (0, 1) };
        let lines = [operands[one], operands[other]];
        // SAFETY: the caller vouches for the lines of both operands, and of the tile.
        unsafe {
            match apart[other] {
                2 => self.0.each::<2, 2>(|_| None, &lines),
                _ => self.0.each::<2, -1>(|_| None, &lines),
            }
        }
    }
}

impl<E: Compared + Ranked, O: Order, const TILE: bool> Accumulate<'_, E, O, TILE> {
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn some(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        let operands = self.pass.operands;
        // SAFETY: the caller's.
        unsafe {
            match operands {
                [_] => self.each::<1, 1>(first, operands),
                [_, _] => self.each::<2, 1>(first, operands),
                _ => self.many(first),
            }
        }
    }

    /// # Safety
    /// As for [`Task::run`], of more than two operands.
    #[inline(always)]
    unsafe fn many(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        let operands = self.pass.operands;
        // SAFETY: the caller's.
        unsafe {
            match operands.len() {
                3 if !TILE => self.each::<3, 1>(first, operands),
                ALL_AT_ONCE if !TILE => self.each::<ALL_AT_ONCE, 1>(first, operands),
                _ => self.each::<AT_ONCE, 1>(first, operands),
            }
        }
    }

    /// Accumulates `OPERANDS` operands. The elements of the last of them are `APART` elements apart.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn each<const OPERANDS: usize, const APART: isize>(
        &self,
        first: impl Fn(usize) -> Option<E::Rank>,
        operands: &[Lines<*const u8>],
    ) {
        debug_assert_eq!(operands.len(), OPERANDS);
        let Pass { to, rows, len, .. } = self.pass;
        let tries = E::HASTY && !TILE;
        let most = if tries { DOUBTFUL / size_of::<E>() } else { len };
        // Whether the last part was found to have NaN: it is not hoped of the next one, then, that it has none.
        let mut nan = false;
        for row in 0..rows {
            let first = first(row);
            let lines: [*const E; OPERANDS] = from_fn(|operand| operands[operand].line(row));
            let to = to.data.wrapping_offset(to.step * row as isize).cast::<E>();
            // Stores that straddle two lines of the cache cost 10 %. To do a few elements twice does no harm.
            let head = to.cast::<u8>().align_offset(LINE) / size_of::<E>();
            let (mut start, mut end) = (0, most.min(len));
            let mut next = end;
            if head > 0 && len > 2 * LINE && size_of::<E::Origin>() > 0 && OPERANDS <= 2 && !TILE {
                // What is left over by whole vectors is dear to turn into ranks: the beginning has a loop of its own.
                // SAFETY: the caller's.
                unsafe { self.span::<OPERANDS, APART>(0..LINE, first, lines, to) };
                start = head;
            } else if head > 0 && len * size_of::<E>() >= LONG {
                (end, next) = (BEGINNING / size_of::<E>(), head);
            }
            // (One loop for the beginning and for the rest, and not a copy of it for each.)
            loop {
                let again = nan;
                // SAFETY: the caller's.
                nan = !again && unsafe { self.span::<OPERANDS, APART>(start..end, first, lines, to) };
                if let Some(exact) = self.again.filter(|_| tries && (again || nan)) {
                    // SAFETY: the caller's.
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

    /// Whether one of the elements was NaN, and what was written is worthless; not told where it is `TILE`, which has no second
    /// try.
    ///
    /// # Safety
    /// The lines may be read and the tile written along the span, and the tile read where it is `TILE`.
    #[inline(always)]
    unsafe fn span<const OPERANDS: usize, const APART: isize>(
        &self,
        span: Range<usize>,
        first: Option<E::Rank>,
        lines: [*const E; OPERANDS],
        to: *mut E,
    ) -> bool {
        // SAFETY: the caller's promise; alignment is not needed.
        let rank = |line: *const E, at: isize| unsafe { line.offset(at).read_unaligned() }.rank::<O>(self.origin);
        let mut nan = <E::Lane as Lane>::Index::ZERO;
        for at in span {
            let mut best = if TILE { Some(rank(to, at as isize)) } else { first };
            for (number, line) in lines.into_iter().enumerate() {
                let apart = if number + 1 == OPERANDS { APART } else { 1 };
                let next = rank(line, apart * at as isize);
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
                .for_each(|best| unsafe { to.add(at).write_unaligned(E::from_rank::<O>(best, self.origin)) });
        }
        nan.any()
    }
}
