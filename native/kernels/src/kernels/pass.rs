//! What one pass over a tile of an elementwise operation reads and writes.

use crate::element::order::Order;
use crate::element::rank::Ranked;

/// Operands that are read in one pass over a tile, and the larger number that the first pass may read: two passes would
/// read the tile once more, and each operand by short stretches in turns with the others. Where there are nearly as many, one of
/// them is read again in place of those that are missing: it is in the first-level cache, and an extremum does not mind.
pub const AT_ONCE: usize = 4;
pub const ALL_AT_ONCE: usize = 8;
pub const NEARLY_ALL: usize = 6;

/// Whether so many operands take one pass, which is the first.
pub const fn in_one_pass(operands: usize) -> bool {
    operands <= AT_ONCE || (NEARLY_ALL <= operands && operands <= ALL_AT_ONCE)
}

/// A pass over a tile.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The operands: two at least, or one where there is something to start from.
    pub operands: &'a [Lines<*const u8>],
    /// Elements from one to the next along the lines of two operands that start from [nothing](Start::Nothing); others are
    /// contiguous.
    pub apart: [isize; 2],
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
