//! Squares of one operand, transposed in registers and accumulated with the lines of the other, for AVX-512.

use crate::element::order::Order;
use crate::element::rank::{Extreme, Ranked};
use crate::element::{ElementType, with_element_and_extreme};
use crate::isa::{Task, avx512};
use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::transpose::square;
use crate::kernels::turned::{ACROSS, Turned, VECTOR};
use crate::kernels::zip::{Quad, Zip};
use std::hint::black_box;
use std::marker::PhantomData;

/// Writes the extreme of both operands.
///
/// # Safety
/// Both operands may be read and the output written in the whole tile, which [fits](Turned::fits); nothing of the output is read.
pub unsafe fn accumulate(tile: Turned, element: ElementType, extreme: Extreme) {
    // SAFETY: the caller's; what fits has AVX-512.
    with_element_and_extreme!(element, extreme, E, O => unsafe {
        avx512::run(Squares::<<E as Ranked>::Like, <E as Ranked>::LikeOrder<O>> {
            tile,
            origin: E::origin::<O>(),
            order: PhantomData,
        })
    });
}

struct Squares<E: Ranked, O> {
    tile: Turned,
    /// The origin of the ranks.
    origin: E::Origin,
    order: PhantomData<(E, O)>,
}

impl<E: Ranked, O: Order> Task for Squares<E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller's; a vector of a square holds as many elements as it has lines, and a line of the cache four vectors.
        unsafe {
            match size_of::<E>() {
                2 => self.cover::<Quad<u16>, 8, 32>(),
                4 => self.cover::<Quad<u32>, 4, 16>(),
                _ => self.cover::<Quad<u64>, 2, 8>(),
            }
        }
    }
}

impl<E: Ranked, O: Order> Squares<E, O> {
    /// Covers the tile with pieces of `N` lines of `W` elements. At its ends they overlap: to do a few elements twice does no harm.
    ///
    /// # Safety
    /// As for [`accumulate`].
    #[inline(always)]
    unsafe fn cover<Z: Zip, const N: usize, const W: usize>(&self) {
        let Turned { to, rows, len, .. } = self.tile;
        let whole_lines = to.step % LINE as isize == 0;
        let head = if whole_lines { (to.data.align_offset(LINE) / size_of::<E>()) % W } else { 0 };
        let pieces = len.div_ceil(W) + usize::from(head > 0);
        let place = |piece: usize| (piece * W - if piece > 0 { (W - head) % W } else { 0 }).min(len - W);
        let squares = rows.div_ceil(N);
        for first in (0..squares).step_by(ACROSS / VECTOR) {
            for column in (0..pieces).map(place) {
                for square in first..squares.min(first + ACROSS / VECTOR) {
                    // SAFETY: the piece ends inside the tile.
                    unsafe { self.piece::<Z, N, W>((square * N).min(rows - N), column) };
                }
            }
        }
    }

    /// Writes `N` lines of `W` elements, from this one on.
    ///
    /// # Safety
    /// They are inside the tile; besides, as for [`accumulate`].
    #[inline(always)]
    unsafe fn piece<Z: Zip, const N: usize, const W: usize>(&self, row: usize, column: usize) {
        let Turned { one, other, stride, other_first, to, .. } = self.tile;
        let (origin, size) = (self.origin, size_of::<E>());
        let mut turned = Aligned([[0u8; LINE]; N]);
        let corner = other.wrapping_offset(stride * column as isize).wrapping_add(row * size);
        // SAFETY: the caller's; there is room for `N` lines of the cache; alignment is not needed.
        unsafe {
            square::<Z, N, VECTOR>(corner, stride, turned.0.as_mut_ptr().cast(), LINE, N);
            // (Steps that are known would be multiplied for each line.)
            let (from_step, to_step) = (black_box(one.step), black_box(to.step));
            let mut from = one.line::<E>(row).wrapping_add(column);
            let mut to = to.data.wrapping_offset(to.step * row as isize).cast::<E>().wrapping_add(column);
            for turned in &turned.0 {
                let line = from.cast::<[E; W]>().read_unaligned();
                let other = turned.as_ptr().cast::<[E; W]>().read_unaligned();
                // (Which of the two comes first matters to NaN alone.)
                let (one, other) = if E::HASTY && other_first { (other, line) } else { (line, other) };
                let mut best = one;
                for (at, best) in best.iter_mut().enumerate() {
                    let (one, other) = (one[at].rank::<O>(origin), other[at].rank::<O>(origin));
                    *best = E::from_rank::<O>(E::extreme::<O>(one, other), origin);
                }
                to.cast::<[E; W]>().write_unaligned(best);
                (from, to) = (from.wrapping_byte_offset(from_step), to.wrapping_byte_offset(to_step));
            }
        }
    }
}
