//! Packing: a small block of awkwardly laid out input, gathered into scratch memory in the first-level cache.
//!
//! Byte-swapped elements, gaps between them and rows too short for a vector are all brought into the form
//! that the other kernels read. A block is a few KiB; the whole input is never copied.
//!
//! ```text
//! where the outer axis is contiguous: transpose
//! else, and what is left: element by element, in loops that know the stride where it is one or two elements
//! swap the bytes in the copy
//! ```
//!
//! Not done: prefetching. Whether it helps depends on the processor.

use crate::isa::{InstructionSet, Task, dispatch_narrow, dispatch_wide};
use crate::kernels::transpose::Transpose;
use crate::vector::extent::{Readable, Writable};

/// Bytes of scratch memory that one block may fill.
pub const PACKED_BLOCK_BYTES: usize = 12288;

/// Gathers a two-dimensional block so that `inner` lies contiguous.
#[derive(Clone, Copy)]
pub struct Pack {
    /// The first element.
    pub data: *const u8,
    /// Length and stride in bytes of the axis that becomes the outer one.
    pub outer: (usize, isize),
    /// Length and stride in bytes of the axis that becomes the inner one.
    pub inner: (usize, isize),
    /// Bytes of an element: 1, 2, 4 or 8.
    pub size: usize,
    /// Whether `to` is scratch memory, which is in the cache, and `data` is not.
    pub scratch: bool,
    /// Whether the elements are in the other byte order.
    pub swapped: bool,
    /// Receives the block.
    pub to: *mut u8,
    /// Bytes in `to` from one `outer` position to the next.
    pub step: usize,
}

/// Elements from one outer position of a packed block to the next: the inner length rounded up to whole vectors.
pub fn pitch(inner: usize, size: usize) -> usize {
    // A shift, since sizes are powers of two: a division is a large part of the cost of a small call.
    let lanes = 16 >> size.trailing_zeros();
    (inner + lanes - 1) & !(lanes - 1)
}

/// Packs two squares at once if `PAIRS`.
struct Packing<const PAIRS: bool>(Pack);

impl<const PAIRS: bool> Task for Packing<PAIRS> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self(pack) = self;
        debug_assert!(matches!(pack.size, 1 | 2 | 4 | 8));
        debug_assert!(pack.outer.0 < 2 || pack.inner.0 * pack.size <= pack.step);
        // SAFETY: the caller vouches for the block and for the room in `to`.
        unsafe {
            match pack.size {
                1 => pack.by_size::<u8, 1, 16>(PAIRS, |bits| bits),
                2 => pack.by_size::<u16, 2, 8>(PAIRS, u16::swap_bytes),
                4 => pack.by_size::<u32, 4, 4>(PAIRS, u32::swap_bytes),
                _ => pack.by_size::<u64, 8, 2>(PAIRS, u64::swap_bytes),
            }
        }
    }
}

impl Pack {
    /// Packs the block.
    ///
    /// # Safety
    /// The block may be read, and `to` has room for its lines, `step` bytes apart.
    #[inline(never)]
    pub unsafe fn run(self) {
        // SAFETY: the caller's promise; pairs need AVX2, which the wide instruction sets of x86-64 have.
        unsafe {
            if InstructionSet::current().is_wide() {
                dispatch_wide(Packing::<true>(self));
            } else {
                dispatch_narrow(Packing::<false>(self));
            }
        }
    }

    /// # Safety
    /// As for [`run`](Self::run). `T` has the size of the elements, `N` elements fill a part of a register, and `pairs` needs
    /// AVX2 on x86-64.
    #[inline(always)]
    unsafe fn by_size<T: Copy, const SIZE: usize, const N: usize>(&self, pairs: bool, swap: impl Fn(T) -> T) {
        let Self { data: from, outer: (len, across), inner: (rows, stride), to, step, scratch, .. } = *self;
        let mut done = 0;
        if across == SIZE as isize && len > 1 && rows >= N && (len >= N || scratch) {
            // Outside scratch memory, registers of two parts straddle cache lines where registers of one part do not.
            let pairs = pairs && scratch;
            // SAFETY: inside the block.
            done = unsafe { Transpose { from, stride, rows, len, to, step, pairs }.run::<SIZE, N>() };
        }
        let size = SIZE as isize;
        let left = rows - done;
        for row in 0..len {
            let from = from.wrapping_offset(across * row as isize);
            // SAFETY: the caller's promise. The pointers know one line of the block, and one of the copy.
            let (from, to) = unsafe {
                let to = to.wrapping_add(row * step);
                (Readable::lines(from, stride, rows, SIZE), Writable::bytes(to, rows * SIZE))
            };
            let from = from.wrapping_offset(stride * done as isize);
            // The compiler vectorises the loops whose stride it knows.
            // SAFETY: inside the block.
            unsafe {
                match to.wrapping_add(done * SIZE) {
                    _ if left == 0 => {}
                    // By bytes, because neither side needs to be aligned.
                    to if stride == size => {
                        let bytes = left * SIZE;
                        to.write(bytes).copy_from_nonoverlapping(from.read(bytes), bytes);
                    }
                    to if stride == 0 => line::<T>(from, 0, to, left),
                    to if stride == -size => line::<T>(from, -size, to, left),
                    to if stride == 2 * size => line::<T>(from, 2 * size, to, left),
                    to => line::<T>(from, stride, to, left),
                }
                if self.swapped {
                    for at in 0..rows {
                        let to = to.element::<T>(at);
                        to.write_unaligned(swap(to.read_unaligned()));
                    }
                }
            }
        }
    }
}

/// Gathers a line of elements that are `stride` bytes apart.
///
/// # Safety
/// The `len` elements may be read and written.
#[inline(always)]
unsafe fn line<T: Copy>(from: Readable, stride: isize, to: Writable, len: usize) {
    for at in 0..len {
        // SAFETY: the caller's promise. (With an offset that may wrap, strides of two are not vectorised.)
        unsafe {
            let element = from.offset(stride * at as isize).read(size_of::<T>()).cast::<T>();
            to.element::<T>(at).write_unaligned(element.read_unaligned());
        }
    }
}
