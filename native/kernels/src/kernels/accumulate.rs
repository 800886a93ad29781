//! Accumulating operands in a tile of the output, several in one pass.

use crate::element::compare::{Compared, Index, Lane};
use crate::element::order::Order;
use crate::element::rank::{Extreme, Ranked};
use crate::element::{ElementType, with_bits, with_element_and_extreme};
use crate::isa::{Task, dispatch};
use crate::kernels::cache_line::LINE;
use crate::kernels::copies::Copies;
use crate::kernels::exact::Exact;
pub use crate::kernels::exact::{Lines, Start};
use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

/// Operands that are read in one pass over a tile, and the larger number that has a pass of its own: two passes would
/// read the tile once more, and each operand by short stretches in turns with the others.
const AT_ONCE: usize = 4;
const ALL_AT_ONCE: usize = 8;
/// From so many on, one of them is read again in place of those that are missing from the larger number: it is in the first-level
/// cache, and an extremum does not mind.
const NEARLY_ALL: usize = 6;

/// Whether so many operands take one pass.
pub const fn in_one_pass(operands: usize) -> bool {
    operands <= AT_ONCE || (NEARLY_ALL <= operands && operands <= ALL_AT_ONCE)
}

/// The passes over one tile, each over several operands.
pub struct Passes {
    element: ElementType,
    extreme: Extreme,
    to: Lines<*mut u8>,
    pub len: usize,
    rows: usize,
    operands: [Lines<*const u8>; ALL_AT_ONCE],
    waiting: usize,
    start: Start,
}

impl Passes {
    /// Passes into `rows` lines of `len` elements each.
    pub fn new(
        element: ElementType,
        extreme: Extreme,
        to: Lines<*mut u8>,
        (rows, len): (usize, usize),
        start: Start,
    ) -> Self {
        let operands = [Lines { data: ptr::null(), step: 0 }; ALL_AT_ONCE];
        Self { element, extreme, to, len, rows, operands, waiting: 0, start }
    }

    /// Takes an operand into the next pass.
    ///
    /// # Safety
    /// As for [`flush`](Self::flush).
    pub unsafe fn push(&mut self, operand: Lines<*const u8>) {
        if self.waiting == ALL_AT_ONCE {
            // SAFETY: the caller's.
            unsafe { self.flush() };
        }
        self.operands[self.waiting] = operand;
        self.waiting += 1;
    }

    /// What later passes may start from: the only operand, or the result of all.
    ///
    /// # Safety
    /// As for [`flush`](Self::flush).
    pub unsafe fn start(mut self) -> Start {
        match (self.start, self.waiting) {
            (Start::Nothing, 1) => Start::One(self.operands[0]),
            _ => {
                // SAFETY: the caller's.
                unsafe { self.flush() };
                Start::One(Lines { data: self.to.data, step: self.to.step })
            }
        }
    }

    /// Does the pass, or two of them, if there is anything to do.
    ///
    /// # Safety
    /// The operands have as many lines as the tile, each as long, and may be read; the tile may be written.
    pub unsafe fn flush(&mut self) {
        if self.waiting > 0 || matches!(self.start, Start::One(_)) {
            if (NEARLY_ALL..ALL_AT_ONCE).contains(&self.waiting) {
                let again = self.operands[0];
                self.operands[self.waiting..].fill(again);
                self.waiting = ALL_AT_ONCE;
            }
            let waiting = self.waiting;
            let first = if in_one_pass(waiting) { waiting } else { AT_ONCE };
            for operands in [0..first, first..waiting] {
                let (operands, start) = (&self.operands[operands], self.start);
                if operands.is_empty() && matches!(start, Start::Tile) {
                    continue;
                }
                let Self { to, len, rows, .. } = *self;
                let alone = match (start, operands) {
                    (Start::One(ones), []) => Some((ones, true)),
                    (Start::Nothing, &[line]) => Some((line, false)),
                    _ => None,
                };
                if let Some((from, one)) = alone {
                    // SAFETY: the caller's.
                    with_bits!(self.element, E => unsafe {
                        dispatch(Copies::<E> { from, one, to, len, rows, element: PhantomData })
                    });
                    self.start = Start::Tile;
                    continue;
                }
                // SAFETY: the caller's.
                with_element_and_extreme!(self.element, self.extreme, E, O => unsafe {
                    dispatch(Accumulate::<<E as Ranked>::Like, <E as Ranked>::LikeOrder<O>> {
                        operands, start, to, len, rows, origin: E::origin::<O>(), order: PhantomData,
                    })
                });
                self.start = Start::Tile;
            }
            self.waiting = 0;
        }
    }
}

/// Bytes of a line that is worth a beginning of its own, and of that: what vectors take in one step.
const LONG: usize = 1024;
const BEGINNING: usize = 256;

/// Bytes of the longest part of a line that is read a second time where it has NaN.
const DOUBTFUL: usize = 1 << 15;

/// Accumulates the operands of one pass in a tile, as if none had NaN; what has is done again by [`Exact`].
///
/// All rows in one go: what comes before a line costs as much as a few hundred bytes of it.
struct Accumulate<'a, E: Ranked, O> {
    operands: &'a [Lines<*const u8>],
    start: Start,
    to: Lines<*mut u8>,
    len: usize,
    rows: usize,
    /// The origin of the ranks.
    origin: E::Origin,
    order: PhantomData<(E, O)>,
}

impl<E: Compared + Ranked, O: Order> Task for Accumulate<'_, E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(in_one_pass(self.operands.len()) && !self.to.data.is_null());
        // SAFETY: the caller vouches for `rows` lines of `len` elements of every operand, and of the tile.
        unsafe {
            match self.start {
                Start::Nothing => match self.operands {
                    [_, _] => self.each::<2, false>(|_| None),
                    _ => self.many::<false>(|_| None),
                },
                Start::One(ones) => self.some::<false>(|row| Some(ones.rank::<E, O>(row, self.origin))),
                Start::Tile => self.some::<true>(|_| None),
            }
        }
    }
}

impl<E: Compared + Ranked, O: Order> Accumulate<'_, E, O> {
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn some<const TILE: bool>(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        // SAFETY: the caller's.
        unsafe {
            match self.operands {
                [_] => self.each::<1, TILE>(first),
                [_, _] => self.each::<2, TILE>(first),
                _ => self.many::<TILE>(first),
            }
        }
    }

    /// # Safety
    /// As for [`Task::run`], of more than two operands.
    #[inline(always)]
    unsafe fn many<const TILE: bool>(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        // SAFETY: the caller's.
        unsafe {
            match self.operands.len() {
                3 => self.each::<3, TILE>(first),
                ALL_AT_ONCE => self.each::<ALL_AT_ONCE, TILE>(first),
                _ => self.each::<AT_ONCE, TILE>(first),
            }
        }
    }

    /// # Safety
    /// As for [`Task::run`], of `OPERANDS` operands.
    #[inline(always)]
    unsafe fn each<const OPERANDS: usize, const TILE: bool>(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        let tries = E::HASTY && !TILE;
        let most = if tries { DOUBTFUL / size_of::<E>() } else { self.len };
        // Whether the last part was found to have NaN: it is not hoped of the next one, then, that it has none.
        let mut nan = false;
        for row in 0..self.rows {
            let first = first(row);
            let lines: [*const E; OPERANDS] = from_fn(|operand| self.operands[operand].line(row));
            let to = self.to.data.wrapping_offset(self.to.step * row as isize).cast::<E>();
            // Stores that straddle two lines of the cache cost 10 %. To do a few elements twice does no harm.
            let head = to.cast::<u8>().align_offset(LINE) / size_of::<E>();
            let (mut start, mut end) = (0, most.min(self.len));
            let mut next = end;
            if head > 0 && self.len > 2 * LINE && size_of::<E::Origin>() > 0 && OPERANDS <= 2 && !TILE {
                // What is left over by whole vectors is dear to turn into ranks: the beginning has a loop of its own.
                // SAFETY: the caller's.
                unsafe { self.span::<OPERANDS, TILE>(0..LINE, first, lines, to) };
                start = head;
            } else if head > 0 && self.len * size_of::<E>() >= LONG {
                (end, next) = (BEGINNING / size_of::<E>(), head);
            }
            // (One loop for the beginning and for the rest, and not a copy of it for each.)
            loop {
                let again = nan;
                // SAFETY: the caller's.
                nan = !again && unsafe { self.span::<OPERANDS, TILE>(start..end, first, lines, to) };
                if tries && (again || nan) {
                    let Self { operands, start: before, to, .. } = *self;
                    let span = start..end;
                    // SAFETY: the caller's.
                    unsafe { dispatch(Exact::<E, O> { operands, start: before, to, row, span, order: PhantomData }) };
                }
                if next == self.len {
                    break;
                }
                (start, end) = (next, next + most.min(self.len - next));
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
    unsafe fn span<const OPERANDS: usize, const TILE: bool>(
        &self,
        span: Range<usize>,
        first: Option<E::Rank>,
        lines: [*const E; OPERANDS],
        to: *mut E,
    ) -> bool {
        // SAFETY: the caller's promise; alignment is not needed.
        let rank = |line: *const E, at: usize| unsafe { line.add(at).read_unaligned() }.rank::<O>(self.origin);
        let mut nan = <E::Lane as Lane>::Index::ZERO;
        for at in span {
            let mut best = if TILE { Some(rank(to, at)) } else { first };
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
                .for_each(|best| unsafe { to.add(at).write_unaligned(E::from_rank::<O>(best, self.origin)) });
        }
        nan.any()
    }
}
