//! Filling a tile with one operand alone: a copy of its lines, or of one element in each.

use crate::element::order::Largest;
use crate::element::rank::Ranked;
use crate::isa::Task;
use crate::kernels::pass::Lines;
use std::marker::PhantomData;

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
