//! Which results have to be looked at again where elements are left out.

use crate::isa::Task;
use crate::kernels::omit::Bits;

/// Values that are looked at together.
pub const PIECE: usize = 64;

/// Which values of a tile are those of elements to be left out, or of what stands in for them.
#[derive(Clone, Copy)]
pub struct Doubtful<T> {
    /// The values, of any alignment.
    pub found: *const T,
    /// How many there are.
    pub len: usize,
    /// What is left out: a [pattern](crate::kernels::omit::Pattern).
    pub flip: T,
    pub magnitude: T,
    pub limit: T,
    /// What stands in for it.
    pub fill: T,
    /// For each value 0 where that is settled already.
    pub open: *const u8,
}

impl<T: Bits> Doubtful<T> {
    /// Whether a value is one.
    ///
    /// # Safety
    /// There is such a value.
    #[inline(always)]
    pub unsafe fn is(&self, number: usize) -> bool {
        // SAFETY: the caller's; alignment is not needed.
        let (bits, open) = unsafe { (self.found.add(number).read_unaligned(), *self.open.add(number) != 0) };
        open & ((bits == self.fill) | bits.matches(self.flip, self.magnitude, self.limit))
    }
}

/// Seeks the next piece that has a doubtful value.
pub struct Piece<T> {
    pub doubtful: Doubtful<T>,
    /// Where the first piece begins that may have one.
    pub from: usize,
}

impl<T: Bits> Task for Piece<T> {
    /// Where it begins, or the number of all values.
    type Output = usize;
    #[inline(always)]
    unsafe fn run(self) -> usize {
        let Self { doubtful, from } = self;
        let len = doubtful.len;
        for start in (from..len).step_by(PIECE) {
            // SAFETY: the caller vouches for `len` values.
            let any = (start..len.min(start + PIECE)).fold(false, |any, at| any | unsafe { doubtful.is(at) });
            if any {
                return start;
            }
        }
        len
    }
}
