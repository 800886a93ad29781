//! Squares of one operand, transposed in registers and accumulated with the lines of the other, for AVX-512.

use crate::element::order::Order;
use crate::element::rank::{Extreme, Ranked};
use crate::element::{ElementType, with_element_and_extreme};
use crate::isa::{Task, avx512};
use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::prefetch::prefetch;
use crate::kernels::transpose::square;
use crate::kernels::turned::{BAND, Turned, VECTOR};
use crate::kernels::zip::{Quad, Zip};
use std::hint::black_box;
use std::marker::PhantomData;

/// Writes the extreme of both operands.
///
/// # Safety
/// Both operands may be read and the output written in the whole tile, which [fits](crate::kernels::turned::fits); nothing of the output is read.
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
                1 => self.cover::<Quad<u8>, 16, 64, 32>(),
                2 => self.cover::<Quad<u16>, 8, 32, 32>(),
                4 => self.cover::<Quad<u32>, 4, 16, 16>(),
                _ => self.cover::<Quad<u64>, 2, 8, 8>(),
            }
        }
    }
}

impl<E: Ranked, O: Order> Squares<E, O> {
    /// Covers the tile with pieces of `N` lines of `W` elements, a band of [`BAND`] bytes from line to line after the other. At its
    /// ends they overlap: to do a few elements twice does no harm. They are compared `C` at a time.
    ///
    /// # Safety
    /// As for [`accumulate`].
    #[inline(always)]
    unsafe fn cover<Z: Zip, const N: usize, const W: usize, const C: usize>(&self) {
        let Turned { other, stride, to, rows, len, ahead, .. } = self.tile;
        let whole_lines = to.step % LINE as isize == 0;
        let head = if whole_lines { (to.data.align_offset(LINE) / size_of::<E>()) % W } else { 0 };
        let pieces = len.div_ceil(W) + usize::from(head > 0);
        let place = |piece: usize| (piece * W - if piece > 0 { (W - head) % W } else { 0 }).min(len - W);
        // The first band ends where a line of the cache does, if there is such a place.
        let lead = if stride % LINE as isize == 0 { other.align_offset(LINE) / size_of::<E>() } else { 0 };
        let (mut band, mut end) = (0, if lead > 0 { lead } else { BAND / size_of::<E>() });
        while band < rows {
            for column in (0..pieces).map(place) {
                let last = end.min(rows);
                if ahead {
                    for (square, row) in (band..last).step_by(N).enumerate() {
                        self.ask::<N>((end, column + square * N), (row, column));
                    }
                }
                let mut row = band;
                while row < last {
                    // SAFETY: the piece ends inside the tile.
                    unsafe { self.piece::<Z, N, W, C>(row.min(rows - N), column) };
                    row += N;
                }
            }
            (band, end) = (end, end + BAND / size_of::<E>());
        }
    }

    /// Asks for `N` lines of the other operand where the next band begins, each square of a band for its part of them, and for what
    /// follows along `N` lines of the others.
    #[inline(always)]
    fn ask<const N: usize>(&self, (next, line): (usize, usize), (row, column): (usize, usize)) {
        let Turned { one, other, stride, to, .. } = self.tile;
        let size = size_of::<E>();
        let ahead = column * size + size.max(2) * LINE;
        for at in 0..N {
            prefetch::<LINE>(other.wrapping_offset(stride * (line + at) as isize).wrapping_add(next * size));
            prefetch::<LINE>(one.line::<u8>(row + at).wrapping_add(ahead));
            // (Of narrow elements there are more lines than it pays for.)
            if size >= 4 {
                prefetch::<LINE>(to.data.wrapping_offset(to.step * (row + at) as isize).wrapping_add(ahead));
            }
        }
    }

    /// Writes `N` lines of `W` elements, from this one on.
    ///
    /// # Safety
    /// They are inside the tile; besides, as for [`accumulate`].
    #[inline(always)]
    unsafe fn piece<Z: Zip, const N: usize, const W: usize, const C: usize>(&self, row: usize, column: usize) {
        let Turned { one, other, stride, other_first, to, .. } = self.tile;
        let (origin, size) = (self.origin, size_of::<E>());
        let mut turned = Aligned([[0u8; LINE]; N]);
        let corner = other.wrapping_offset(stride * column as isize).wrapping_add(row * size);
        // SAFETY: the caller's; there is room for `N` lines of the cache; alignment is not needed.
        unsafe {
            square::<Z, N, VECTOR>(corner, stride, turned.0.as_mut_ptr().cast(), LINE, N);
            // (Multiples of steps that are known would be kept, one and all, and fetched for each line.)
            let steps = (one.step, to.step);
            let (from_step, to_step) = if N > 4 { black_box(steps) } else { steps };
            let mut from = one.line::<E>(row).wrapping_add(column);
            let mut to = to.data.wrapping_offset(to.step * row as isize).cast::<E>().wrapping_add(column);
            for turned in &turned.0 {
                for part in 0..W / C {
                    let line = from.cast::<[E; C]>().add(part).read_unaligned();
                    let other = turned.as_ptr().cast::<[E; C]>().add(part).read_unaligned();
                    // (Which of the two comes first matters to NaN alone.)
                    let (one, other) = if E::HASTY && other_first { (other, line) } else { (line, other) };
                    let mut best = one;
                    for (at, best) in best.iter_mut().enumerate() {
                        let (one, other) = (one[at].rank::<O>(origin), other[at].rank::<O>(origin));
                        *best = E::from_rank::<O>(E::extreme::<O>(one, other), origin);
                    }
                    to.cast::<[E; C]>().add(part).write_unaligned(best);
                }
                (from, to) = (from.wrapping_byte_offset(from_step), to.wrapping_byte_offset(to_step));
            }
        }
    }
}
