//! Accumulating operands in a tile of the output, several in one pass.

use crate::element::compare::{Index, Lane};
use crate::element::order::Order;
use crate::element::rank::Extreme;
use crate::element::stored::Element;
use crate::element::{ElementType, with_element_and_extreme};
use crate::isa::{Task, dispatch};
use crate::kernels::cache_line::LINE;
use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

/// Operands that are read in one pass over a tile, and the larger number that has a pass of its own: two passes would
/// read the tile once more, and each operand by short stretches in turns with the others.
const AT_ONCE: usize = 4;
const ALL_AT_ONCE: usize = 8;

/// Whether so many operands take one pass.
pub const fn in_one_pass(operands: usize) -> bool {
    operands <= AT_ONCE || operands == ALL_AT_ONCE
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
    #[inline(always)]
    fn line<E>(self, row: usize) -> *const E {
        self.data.wrapping_byte_offset(self.step * row as isize).cast()
    }
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
            let Self { to, len, rows, waiting, .. } = *self;
            let first = if in_one_pass(waiting) { waiting } else { AT_ONCE };
            for operands in [0..first, first..waiting] {
                let (operands, start) = (&self.operands[operands], self.start);
                if operands.is_empty() && matches!(start, Start::Tile) {
                    continue;
                }
                // SAFETY: the caller's.
                with_element_and_extreme!(self.element, self.extreme, E, O => unsafe { dispatch(Accumulate::<E, O> {
                    operands, start, to, len, rows, order: PhantomData,
                }) });
                self.start = Start::Tile;
            }
            self.waiting = 0;
        }
    }
}

/// Accumulates the operands of one pass in a tile.
///
/// All rows in one go: what comes before a line costs as much as a few hundred bytes of it.
struct Accumulate<'a, E, O> {
    operands: &'a [Lines<*const u8>],
    start: Start,
    to: Lines<*mut u8>,
    len: usize,
    rows: usize,
    order: PhantomData<(E, O)>,
}

impl<E: Element, O: Order> Task for Accumulate<'_, E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(in_one_pass(self.operands.len()) && !self.to.data.is_null());
        // SAFETY: the caller vouches for `rows` lines of `len` elements of every operand, and of the tile.
        unsafe {
            match self.start {
                Start::Nothing => self.from::<false>(|_| None),
                Start::One(ones) => {
                    self.from::<false>(|row| Some(ones.line::<E>(row).read_unaligned().rank::<O>()));
                }
                Start::Tile => self.from::<true>(|_| None),
            }
        }
    }
}

impl<E: Element, O: Order> Accumulate<'_, E, O> {
    /// # Safety
    /// As for [`Task::run`].
    #[inline(always)]
    unsafe fn from<const TILE: bool>(&self, first: impl Fn(usize) -> Option<E::Rank>) {
        // SAFETY: the caller's.
        unsafe {
            match self.operands.len() {
                0 => self.each::<0, TILE>(first),
                1 => self.each::<1, TILE>(first),
                2 => self.each::<2, TILE>(first),
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
        for row in 0..self.rows {
            let first = first(row);
            let lines: [*const E; OPERANDS] = from_fn(|operand| self.operands[operand].line(row));
            let to = self.to.data.wrapping_offset(self.to.step * row as isize).cast::<E>();
            // Stores that straddle two lines of the cache cost 10 %. To do a few elements twice does no harm.
            let head = to.cast::<u8>().align_offset(LINE) / size_of::<E>();
            let mut start = 0;
            // SAFETY: the caller's.
            unsafe {
                if head > 0 && self.len > 2 * LINE {
                    Self::span::<OPERANDS, TILE>(0..LINE, first, lines, to);
                    start = head;
                }
                Self::span::<OPERANDS, TILE>(start..self.len, first, lines, to);
            }
        }
    }

    /// # Safety
    /// The lines may be read and the tile written along the span, and the tile read where it is `TILE`.
    #[inline(always)]
    unsafe fn span<const OPERANDS: usize, const TILE: bool>(
        span: Range<usize>,
        first: Option<E::Rank>,
        lines: [*const E; OPERANDS],
        to: *mut E,
    ) {
        // SAFETY: the caller's promise; alignment is not needed.
        let rank = |line: *const E, at: usize| unsafe { line.add(at).read_unaligned() }.rank::<O>();
        let start = |at: usize| if TILE { Some(rank(to, at)) } else { first };
        // SAFETY: as above.
        let write = |at: usize, best| unsafe { to.add(at).write_unaligned(E::from_rank::<O>(best)) };
        // Where the tile itself is read, there is no second try.
        if !TILE {
            let mut nan = <E::Lane as Lane>::Index::ZERO;
            for at in span.clone() {
                let mut best = start(at);
                for line in lines {
                    let (next, any) = match best {
                        Some(best) => E::extreme_of_numbers::<O>(best, rank(line, at)),
                        None => (rank(line, at), false),
                    };
                    nan = nan.or(any);
                    best = Some(next);
                }
                best.into_iter().for_each(|best| write(at, best));
            }
            if !nan.any() {
                return;
            }
        }
        for at in span {
            let mut best = start(at);
            for line in lines {
                let next = rank(line, at);
                best = Some(best.map_or(next, |best| E::extreme::<O>(best, next)));
            }
            best.into_iter().for_each(|best| write(at, best));
        }
    }
}
