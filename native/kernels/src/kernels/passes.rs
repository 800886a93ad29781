//! The passes over a tile of an elementwise operation: which operands are accumulated at once.

use crate::element::order::Order;
use crate::element::rank::{Extreme, Ranked};
use crate::element::{ElementType, with_bits, with_element_and_extreme};
use crate::isa::{dispatch, dispatch_wide};
use crate::kernels::accumulate::{Accumulate, AccumulateApart, Again};
use crate::kernels::copies::Copies;
use crate::kernels::exact::exact;
use crate::kernels::pass::{ALL_AT_ONCE, AT_ONCE, Lines, NEARLY_ALL, Pass, Start, in_one_pass};
use std::marker::PhantomData;
use std::ptr;

/// The passes over one tile, each over several operands.
pub struct Passes {
    element: ElementType,
    extreme: Extreme,
    to: Lines<*mut u8>,
    pub len: usize,
    rows: usize,
    operands: [Lines<*const u8>; ALL_AT_ONCE],
    /// See [`Pass`].
    pub apart: [isize; 2],
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
        Self { element, extreme, to, len, rows, operands, apart: [1, 1], waiting: 0, start }
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
            let is_first = !matches!(self.start, Start::Tile);
            let waiting = match self.waiting {
                NEARLY_ALL.. if is_first => ALL_AT_ONCE,
                // (There is a loop for three in the first pass alone.)
                waiting @ (3 | 7) if !is_first => waiting + 1,
                waiting => waiting,
            };
            let again = self.operands[0];
            self.operands[self.waiting..waiting].fill(again);
            let first = if is_first && in_one_pass(waiting) { waiting } else { waiting.min(AT_ONCE) };
            for operands in [0..first, first..waiting] {
                let (operands, start) = (&self.operands[operands], self.start);
                if operands.is_empty() && matches!(start, Start::Tile) {
                    continue;
                }
                let Self { to, len, rows, apart, .. } = *self;
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
                let pass = Pass { operands, apart, start, to, rows, len };
                // SAFETY: the caller's.
                with_element_and_extreme!(self.element, self.extreme, E, O => unsafe { accumulate::<E, O>(pass) });
                self.start = Start::Tile;
            }
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
    // SAFETY: the caller's; operands are apart where the plan has found that there are loops for that.
    unsafe {
        if let Start::Tile = pass.start {
            return dispatch(Accumulate::<E::Like, E::LikeOrder<O>, true> { pass, origin, again, order });
        }
        // What does not look for NaN is the same for all orders of one end.
        let first = Accumulate::<E::Like, O::OfNumbers, false> { pass, origin, again, order: PhantomData };
        if pass.apart == [1, 1] { dispatch(first) } else { dispatch_wide(AccumulateApart(first)) }
    }
}
