//! Packing: a small block of awkwardly laid out input, gathered into scratch memory in the first-level cache.
//!
//! Byte-swapped elements, gaps between them and rows too short for a vector are all brought into the form
//! that the other kernels read. A block is a few KiB; the whole input is never copied.

use crate::isa::Task;

/// Bytes of scratch memory that one block may fill.
pub const SCRATCH: usize = 16384;

/// Gathers a two-dimensional block so that `inner` lies contiguous and `outer` follows without a gap.
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
}

impl Task for Pack {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: whoever builds the task vouches for the block and for the room in `to`.
        unsafe {
            match (self.size, self.swapped) {
                (1, _) => self.gather(|value: u8| value),
                (2, false) => self.gather(|value: u16| value),
                (4, false) => self.gather(|value: u32| value),
                (_, false) => self.gather(|value: u64| value),
                (2, true) => self.gather(u16::swap_bytes),
                (4, true) => self.gather(u32::swap_bytes),
                (_, true) => self.gather(u64::swap_bytes),
            }
        }
    }
}

impl Pack {
    #[inline(always)]
    unsafe fn gather<T: Copy>(&self, mend: impl Fn(T) -> T) {
        let (outer, outer_stride) = self.outer;
        let (inner, inner_stride) = self.inner;
        let to = self.to.cast::<T>();
        if inner_stride == size_of::<T>() as isize {
            for row in 0..outer {
                let from = self.data.wrapping_offset(outer_stride * row as isize).cast::<T>();
                for at in 0..inner {
                    // SAFETY: inside the block.
                    unsafe { to.add(row * inner + at).write(mend(from.add(at).read_unaligned())) };
                }
            }
        } else if outer_stride < inner_stride {
            for at in 0..inner {
                let from = self.data.wrapping_offset(inner_stride * at as isize);
                for row in 0..outer {
                    let element = from.wrapping_offset(outer_stride * row as isize).cast::<T>();
                    // SAFETY: inside the block.
                    unsafe { to.add(row * inner + at).write(mend(element.read_unaligned())) };
                }
            }
        } else {
            for row in 0..outer {
                let from = self.data.wrapping_offset(outer_stride * row as isize);
                for at in 0..inner {
                    let element = from.wrapping_offset(inner_stride * at as isize).cast::<T>();
                    // SAFETY: inside the block.
                    unsafe { to.add(row * inner + at).write(mend(element.read_unaligned())) };
                }
            }
        }
    }
}
