//! Packing: a small block of awkwardly laid out input, gathered into scratch memory in the first-level cache.
//!
//! Byte-swapped elements, gaps between them and rows too short for a vector are all brought into the form
//! that the other kernels read. A block is a few KiB; the whole input is never copied.

use crate::isa::Task;
use crate::kernels::transpose::Square;

/// Bytes of scratch memory that one block may fill.
pub const SCRATCH: usize = 12288;

/// Gathers a two-dimensional block so that `inner` lies contiguous.
pub struct Pack {
    /// The first element.
    pub data: *const u8,
    /// Length and stride in bytes of the axis that becomes the outer one.
    pub outer: (usize, isize),
    /// Length and stride in bytes of the axis that becomes the inner one.
    pub inner: (usize, isize),
    /// Bytes of an element: 1, 2, 4 or 8.
    pub size: usize,
    /// Whether the bytes of each element stand in the other order.
    pub swapped: bool,
    /// Receives the block.
    pub to: *mut u8,
    /// Bytes there from one `outer` position to the next: at least the inner length in whole vectors, unless that is a
    /// multiple of theirs or less than one.
    pub step: usize,
}

/// Elements from one outer position of a packed block to the next: the inner length in whole vectors.
pub fn pitch(inner: usize, size: usize) -> usize {
    // Sizes are powers of two: a division is a large part of the cost of a small call.
    let lanes = 16 >> size.trailing_zeros();
    (inner + lanes - 1) & !(lanes - 1)
}

impl Task for Pack {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(matches!(self.size, 1 | 2 | 4 | 8));
        debug_assert!(self.outer.0 < 2 || self.inner.0 * self.size <= self.step);
        // SAFETY: the caller vouches for the block and for the room in `to`.
        unsafe {
            let turned = match self.size {
                1 => self.turn::<u8>(),
                2 => self.turn::<u16>(),
                4 => self.turn::<u32>(),
                _ => self.turn::<u64>(),
            };
            match (self.size, self.swapped) {
                (1, _) | (_, false) if turned => {}
                (1, _) => self.gather(|bits: u8| bits),
                (2, false) => self.gather(|bits: u16| bits),
                (4, false) => self.gather(|bits: u32| bits),
                (_, false) => self.gather(|bits: u64| bits),
                (2, true) if turned => self.mend(u16::swap_bytes),
                (4, true) if turned => self.mend(u32::swap_bytes),
                (_, true) if turned => self.mend(u64::swap_bytes),
                (2, true) => self.gather(u16::swap_bytes),
                (4, true) => self.gather(u32::swap_bytes),
                (_, true) => self.gather(u64::swap_bytes),
            }
        }
    }
}

impl Pack {
    /// Transposes a block whose outer axis is contiguous, where there is enough for vectors; says whether it did.
    ///
    /// # Safety
    /// As for [`Task::run`]; `T` has the size of the elements.
    #[inline(always)]
    unsafe fn turn<T: Square>(&self) -> bool {
        let (outer, outer_stride) = self.outer;
        let (inner, inner_stride) = self.inner;
        let turns = outer_stride == size_of::<T>() as isize && outer > 1 && inner >= T::LANES;
        if turns {
            // SAFETY: inside the block, and the step leaves room for whole vectors.
            unsafe { T::transpose(self.data, inner_stride, inner, outer, self.to, self.step) }
        }
        turns
    }

    /// Mends what has been turned, in its place: read from elsewhere, it would not be known to be apart.
    ///
    /// # Safety
    /// As for [`Task::run`]; `T` has the size of the elements, which have been turned.
    #[inline(always)]
    unsafe fn mend<T: Copy>(&self, mend: impl Fn(T) -> T) {
        for row in 0..self.outer.0 {
            let line = self.to.wrapping_add(row * self.step).cast::<T>();
            for at in 0..self.inner.0 {
                // SAFETY: inside what has been turned.
                unsafe { line.add(at).write_unaligned(mend(line.add(at).read_unaligned())) };
            }
        }
    }

    /// # Safety
    /// As for [`Task::run`]; `T` has the size of the elements.
    #[inline(always)]
    unsafe fn gather<T: Copy>(&self, mend: impl Fn(T) -> T) {
        let (outer, outer_stride) = self.outer;
        let (inner, inner_stride) = self.inner;
        for row in 0..outer {
            let from = self.data.wrapping_offset(outer_stride * row as isize);
            let to = self.to.wrapping_add(row * self.step).cast::<T>();
            if inner_stride == size_of::<T>() as isize {
                for at in 0..inner {
                    // SAFETY: inside the block.
                    unsafe { to.add(at).write_unaligned(mend(from.cast::<T>().add(at).read_unaligned())) };
                }
            } else {
                for at in 0..inner {
                    let element = from.wrapping_offset(inner_stride * at as isize).cast::<T>();
                    // SAFETY: inside the block.
                    unsafe { to.add(at).write_unaligned(mend(element.read_unaligned())) };
                }
            }
        }
    }
}
