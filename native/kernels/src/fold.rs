//! Folding operands into a tile of the output, several in one pass.

use crate::element::{ElementType, with_element_and_order};
use crate::isa::{Task, dispatch};
use crate::order::{Element, Index, Lane, Order};
use crate::prefetch::LINE;
use std::array::from_fn;
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;

/// Operands that are read in one pass over a tile.
pub const AT_ONCE: usize = 4;

/// The passes over one tile, each over several operands.
pub struct Passes {
    element: ElementType,
    largest: bool,
    to: *mut u8,
    pub len: usize,
    lines: [*const u8; AT_ONCE],
    waiting: usize,
    start: Start,
}

/// What a pass starts from.
#[derive(Clone, Copy)]
pub enum Start {
    /// Its own first operand.
    Nothing,
    /// One element for the whole tile.
    One(*const u8),
    /// The result of the pass before, which the tile holds.
    Tile,
}

impl Passes {
    pub fn new(element: ElementType, largest: bool, to: *mut u8, len: usize, start: Start) -> Self {
        Self { element, largest, to, len, lines: [ptr::null(); AT_ONCE], waiting: 0, start }
    }

    /// Takes an operand into the next pass.
    pub fn push(&mut self, line: *const u8) {
        if self.waiting == AT_ONCE {
            self.flush();
        }
        self.lines[self.waiting] = line;
        self.waiting += 1;
    }

    /// What later passes may start from: the only operand, or the result of all.
    pub fn start(mut self) -> Start {
        match (self.start, self.waiting) {
            (Start::Nothing, 0) => Start::Nothing,
            (Start::Nothing, 1) => Start::One(self.lines[0]),
            _ => {
                self.flush();
                Start::One(self.to)
            }
        }
    }

    /// Does the pass, if there is anything to do.
    pub fn flush(&mut self) {
        if self.waiting > 0 || matches!(self.start, Start::One(_)) {
            let (lines, start, to, len) = (&self.lines[..self.waiting], self.start, self.to, self.len);
            with_element_and_order!(self.element, self.largest, E, O => dispatch(Fold::<E, O> {
                lines, start, to: to.cast(), len, order: PhantomData,
            }));
            self.waiting = 0;
            self.start = Start::Tile;
        }
    }
}

/// Folds up to [`AT_ONCE`] operands into a tile.
struct Fold<'a, E, O> {
    lines: &'a [*const u8],
    start: Start,
    to: *mut E,
    len: usize,
    order: PhantomData<O>,
}

impl<E: Element, O: Order> Task for Fold<'_, E, O> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: whoever builds the task vouches for `len` elements of every operand, and of the tile.
        unsafe {
            match self.start {
                Start::Nothing => self.from(|_| None),
                Start::One(one) => {
                    let rank = one.cast::<E>().read_unaligned().rank::<O>();
                    self.from(|_| Some(rank))
                }
                Start::Tile => self.from(|at| Some(self.to.add(at).read_unaligned().rank::<O>())),
            }
        }
    }
}

impl<E: Element, O: Order> Fold<'_, E, O> {
    #[inline(always)]
    unsafe fn from(&self, start: impl Fn(usize) -> Option<E::Rank>) {
        // SAFETY: the caller's.
        unsafe {
            match self.lines.len() {
                0 => self.each::<0>(start),
                1 => self.each::<1>(start),
                2 => self.each::<2>(start),
                3 => self.each::<3>(start),
                _ => self.each::<AT_ONCE>(start),
            }
        }
    }

    #[inline(always)]
    unsafe fn each<const OPERANDS: usize>(&self, start: impl Fn(usize) -> Option<E::Rank>) {
        // Stores that straddle two lines of the cache cost 10 %. To do a few elements twice does no harm.
        let head = self.to.cast::<u8>().align_offset(LINE) / size_of::<E>();
        let overlap = if head > 0 && self.len > 2 * LINE { LINE } else { 0 };
        let spans = [0..overlap, if overlap > 0 { head } else { 0 }..self.len];
        for span in spans {
            // SAFETY: the caller's.
            unsafe { self.span::<OPERANDS>(span, &start) };
        }
    }

    #[inline(always)]
    unsafe fn span<const OPERANDS: usize>(&self, span: Range<usize>, start: &impl Fn(usize) -> Option<E::Rank>) {
        let lines: [*const E; OPERANDS] = from_fn(|line| self.lines[line].cast());
        // SAFETY: the caller's promise; alignment is not needed.
        let rank = |line: *const E, at: usize| unsafe { line.add(at).read_unaligned() }.rank::<O>();
        // SAFETY: as above.
        let write = |at: usize, best| unsafe { self.to.add(at).write_unaligned(E::from_rank::<O>(best)) };
        // Where the tile itself is read, there is no second try.
        if !matches!(self.start, Start::Tile) {
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
