//! Accumulates the operands of an elementwise operation in tiles of the output, several in one pass.
//!
//! ```text
//! for each row of the tile:
//!     best = the element that is broadcast along the row, or the first operand
//!     best = better of best and each other operand, as if there were no NaN; note whether there was
//!     if there was: do this part of the row again, two operands at a time, with NaN as the order says
//! ```
//!
//! A pass reads up to four operands: with more, each would be read in short stretches. What comes before a line costs as much as a
//! few hundred bytes of it, so a pass takes all rows of a tile in one go. Left out: operands with gaps, which are packed first.

use crate::element::compare::{Compared, Index, Lane};
use crate::element::order::{Largest, Order};
use crate::element::rank::{Extreme, Ranked};
use crate::element::{ElementType, with_bits, with_element_and_extreme};
use crate::isa::{Task, dispatch};
use crate::kernels::cache_line::LINE;
use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

/// Operands that are read in one pass over a tile.
pub const AT_ONCE: usize = 4;

/// A pass over a tile.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The operands: two at least, or one where there is something to start from.
    pub operands: &'a [Lines<*const u8>],
    /// What comes before them.
    pub start: Start,
    /// The lines of the tile.
    pub to: Lines<*mut u8>,
    /// How many there are.
    pub rows: usize,
    /// How long they are.
    pub len: usize,
}

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

/// The passes over one tile, each over several operands.
pub struct Passes {
    element: ElementType,
    extreme: Extreme,
    to: Lines<*mut u8>,
    pub len: usize,
    rows: usize,
    operands: [Lines<*const u8>; AT_ONCE],
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
        let operands = [Lines { data: ptr::null(), step: 0 }; AT_ONCE];
        Self { element, extreme, to, len, rows, operands, waiting: 0, start }
    }

    /// Takes an operand into the next pass.
    ///
    /// # Safety
    /// As for [`flush`](Self::flush).
    pub unsafe fn push(&mut self, operand: Lines<*const u8>) {
        if self.waiting == AT_ONCE {
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

    /// Does the pass, if there is anything to do.
    ///
    /// # Safety
    /// The operands have as many lines as the tile, each as long, and may be read; the tile may be written.
    pub unsafe fn flush(&mut self) {
        if self.waiting > 0 || matches!(self.start, Start::One(_)) {
            let (start, again) = (self.start, self.operands[0]);
            if matches!(start, Start::Tile) && self.waiting == 3 {
                // There is a loop for three in the first pass alone, and an extremum does not mind reading an operand twice.
                self.operands[3] = again;
                self.waiting = 4;
            }
            let Self { to, len, rows, waiting, .. } = *self;
            let operands = &self.operands[..waiting];
            let alone = match (start, operands) {
                (Start::One(ones), []) => Some((ones, true)),
                (Start::Nothing, &[line]) => Some((line, false)),
                _ => None,
            };
            // SAFETY: the caller's.
            unsafe {
                if let Some((from, one)) = alone {
                    with_bits!(self.element, E => {
                        dispatch(Copies::<E> { from, one, to, len, rows, element: PhantomData })
                    });
                } else {
                    let pass = Pass { operands, start, to, rows, len };
                    with_element_and_extreme!(self.element, self.extreme, E, O => accumulate::<E, O>(pass));
                }
            }
            self.start = Start::Tile;
            self.waiting = 0;
        }
    }
}

/// Does one pass.
///
/// # Safety
/// As for [`Passes::flush`].
#[inline(always)]
unsafe fn accumulate<E: Ranked, O: Order>(pass: Pass) {
    let (origin, order) = (E::origin::<O>(), PhantomData);
    // (Other types have no second try, and need no code for it.)
    let again = E::HASTY.then_some(exact::<E::Like, E::LikeOrder<O>> as Again);
    // SAFETY: the caller's.
    unsafe {
        if let Start::Tile = pass.start {
            return dispatch(Accumulate::<E::Like, E::LikeOrder<O>, true> { pass, origin, again, order });
        }
        // What does not look for NaN is the same for all orders of one end.
        dispatch(Accumulate::<E::Like, O::OfNumbers, false> { pass, origin, again, order: PhantomData })
    }
}

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
                _ => self.some(|_| None),
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
                [_] => self.each::<1>(first, operands),
                [_, _] => self.each::<2>(first, operands),
                [_, _, _] if !TILE => self.each::<3>(first, operands),
                _ => self.each::<AT_ONCE>(first, operands),
            }
        }
    }

    /// Accumulates `OPERANDS` operands.
    ///
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn each<const OPERANDS: usize>(
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
                unsafe { self.span::<OPERANDS>(0..LINE, first, lines, to) };
                start = head;
            } else if head > 0 && len * size_of::<E>() >= LONG {
                (end, next) = (BEGINNING / size_of::<E>(), head);
            }
            // (One loop for the beginning and for the rest, and not a copy of it for each.)
            loop {
                let again = nan;
                // SAFETY: the caller's.
                nan = !again && unsafe { self.span::<OPERANDS>(start..end, first, lines, to) };
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
    unsafe fn span<const OPERANDS: usize>(
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
        let Self { pass: &Pass { operands, start, to, .. }, row, span, .. } = self;
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

/// Copies elements, a bool as false or true.
pub struct Copies<E> {
    /// Where they are.
    pub from: Lines<*const u8>,
    /// Whether there is but one for each line of the tile.
    pub one: bool,
    /// The lines of the tile.
    pub to: Lines<*mut u8>,
    /// How long they are.
    pub len: usize,
    /// How many there are.
    pub rows: usize,
    /// What is copied.
    pub element: PhantomData<E>,
}

impl<E: Ranked<Origin = ()>> Task for Copies<E> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { from, one, to, len, rows, .. } = self;
        for row in 0..rows {
            let (from, to) = (from.line::<E>(row), to.data.wrapping_offset(to.step * row as isize).cast::<E>());
            // SAFETY: the caller vouches for what is read and for `rows` lines of `len` elements of the tile; alignment is not
            // needed.
            unsafe {
                let element =
                    |at: usize| E::from_rank::<Largest>(from.add(at).read_unaligned().rank::<Largest>(()), ());
                if one {
                    let first = element(0);
                    (0..len).for_each(|at| to.add(at).write_unaligned(first));
                } else {
                    (0..len).for_each(|at| to.add(at).write_unaligned(element(at)));
                }
            }
        }
    }
}
