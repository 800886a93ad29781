//! Packing: a small block of awkwardly laid out input, gathered into scratch memory in the first-level cache.
//!
//! Byte-swapped elements, gaps between them and rows too short for a vector are all brought into the form
//! that the other kernels read. A block is a few KiB; the whole input is never copied.

use crate::isa::{InstructionSet, Task, dispatch_narrow, dispatch_wide};
use crate::kernels::cache_line::LINE;
use crate::kernels::prefetch::prefetch;
use crate::kernels::transpose::Transpose;

/// Bytes of scratch memory that one block may fill.
pub const SCRATCH: usize = 12288;

/// Gathers a two-dimensional block so that `inner` lies contiguous.
pub struct Pack<'a> {
    /// The first element.
    pub data: *const u8,
    /// Length and stride in bytes of the axis that becomes the outer one.
    pub outer: (usize, isize),
    /// Length and stride in bytes of the axis that becomes the inner one.
    pub inner: (usize, isize),
    /// Bytes of an element: 1, 2, 4 or 8.
    pub size: usize,
    /// Whether `to` is scratch memory, which is in the cache.
    pub scratch: bool,
    /// Whether the block is asked for before it is read, and with its only line the same bytes of these arrays.
    pub ahead: Option<&'a [*const u8]>,
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

/// Packs two squares at once where `PAIRS`.
struct Packing<'a, const PAIRS: bool>(Pack<'a>);

impl<const PAIRS: bool> Task for Packing<'_, PAIRS> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self(pack) = self;
        debug_assert!(matches!(pack.size, 1 | 2 | 4 | 8));
        debug_assert!(pack.outer.0 < 2 || pack.inner.0 * pack.size <= pack.step);
        // SAFETY: the caller vouches for the block and for the room in `to`.
        unsafe {
            let turned = match pack.size {
                1 => pack.turn::<1, 16>(PAIRS),
                2 => pack.turn::<2, 8>(PAIRS),
                4 => pack.turn::<4, 4>(PAIRS),
                _ => pack.turn::<8, 2>(PAIRS),
            };
            match (pack.size, pack.swapped) {
                (1, _) | (_, false) if turned => {}
                (1, _) => pack.gather(|bits: u8| bits),
                (2, false) => pack.gather(|bits: u16| bits),
                (4, false) => pack.gather(|bits: u32| bits),
                (_, false) => pack.gather(|bits: u64| bits),
                (2, true) if turned => pack.mend(u16::swap_bytes),
                (4, true) if turned => pack.mend(u32::swap_bytes),
                (_, true) if turned => pack.mend(u64::swap_bytes),
                (2, true) => pack.gather(u16::swap_bytes),
                (4, true) => pack.gather(u32::swap_bytes),
                (_, true) => pack.gather(u64::swap_bytes),
            }
        }
    }
}

impl Pack<'_> {
    /// Packs the block.
    ///
    /// # Safety
    /// The block may be read, and there is room in `to` for as many lines as are `step` bytes apart, each in whole vectors.
    #[inline(never)]
    pub unsafe fn run(self) {
        // SAFETY: the caller's; wide instruction sets have AVX2, where there are pairs.
        unsafe {
            if InstructionSet::current().is_wide() {
                dispatch_wide(Packing::<true>(self));
            } else {
                dispatch_narrow(Packing::<false>(self));
            }
        }
    }

    /// Transposes a block whose outer axis is contiguous, where there is enough for vectors; says whether it did.
    ///
    /// # Safety
    /// As for [`run`](Self::run); elements have `SIZE` bytes, `N` of them fill a part of a register, and there is AVX2 where `pairs`.
    #[inline(always)]
    unsafe fn turn<const SIZE: usize, const N: usize>(&self, pairs: bool) -> bool {
        let (len, stride) = self.outer;
        let (rows, apart) = self.inner;
        let turns = stride == SIZE as isize && len > 1 && rows >= N;
        if turns {
            // Elsewhere registers of two parts straddle two lines of the cache where those of one do not.
            let (pairs, ahead) = (pairs && self.scratch, self.ahead.is_some());
            let Self { data: from, to, step, .. } = *self;
            // SAFETY: inside the block, and the step leaves room for whole registers.
            unsafe { Transpose { from, stride: apart, rows, len, to, step, pairs, ahead }.run::<SIZE, N>() }
        }
        turns
    }

    /// Mends what has been turned, in its place: read from elsewhere, it would not be known to be apart.
    ///
    /// # Safety
    /// As for [`run`](Self::run); `T` has the size of the elements, which have been turned.
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
    /// As for [`run`](Self::run); `T` has the size of the elements.
    #[inline(always)]
    unsafe fn gather<T: Second>(&self, mend: impl Fn(T) -> T) {
        let (outer, outer_stride) = self.outer;
        let (inner, inner_stride) = self.inner;
        let ahead = Ahead::new(inner_stride);
        let part = if self.ahead.is_some() { PART / size_of::<T>() } else { inner };
        let parts = |row| (0..inner).step_by(part.max(1)).map(move |start| (row, start));
        for (row, start) in (0..outer).flat_map(parts) {
            let from = self.data.wrapping_offset(outer_stride * row as isize + inner_stride * start as isize);
            let to = self.to.wrapping_add(row * self.step).cast::<T>().wrapping_add(start);
            let len = part.min(inner - start);
            if let Some(beside) = self.ahead {
                ahead.ask(from, part);
                beside.iter().for_each(|beside| prefetch::<PART>(beside.wrapping_add(start * size_of::<T>())));
            }
            // What the compiler knows the stride of becomes vectors.
            let size = size_of::<T>() as isize;
            // SAFETY: inside the block.
            unsafe {
                if inner_stride == size {
                    line(from, size, to, len, &mend);
                } else if inner_stride == -size {
                    line(from, -size, to, len, &mend);
                } else if inner_stride == 2 * size {
                    T::every_second(from, to, (len, start + len < inner), &mend);
                } else {
                    for at in 0..len {
                        let element = from.wrapping_offset(inner_stride * at as isize).cast::<T>();
                        to.add(at).write_unaligned(mend(element.read_unaligned()));
                    }
                }
            }
        }
    }
}

/// Bytes of a part of a line for which arrays are asked at once, and how far ahead of the part the line itself is.
const PART: usize = 512;
const DISTANCE: isize = 2048;

/// Asking for what will be read of a line.
struct Ahead {
    /// Bytes from one line of the cache to the next.
    apart: isize,
    /// Elements in each.
    elements: usize,
    distance: isize,
}

impl Ahead {
    #[inline(always)]
    fn new(stride: isize) -> Self {
        let (bytes, sign) = (stride.unsigned_abs(), stride.signum());
        // (In powers of two, which a stride of three elements is asked for too often by.)
        let elements = (LINE >> bytes.next_power_of_two().trailing_zeros().min(6)).max(1);
        let apart = if elements == 1 { bytes } else { LINE } as isize;
        Self { apart: sign * apart, elements, distance: sign * DISTANCE.max(stride.abs()) }
    }

    /// Asks for so many elements.
    #[inline(always)]
    fn ask(&self, from: *const u8, len: usize) {
        let mut from = from.wrapping_offset(self.distance);
        let mut asked = 0;
        while asked < len {
            prefetch::<LINE>(from);
            from = from.wrapping_offset(self.apart);
            asked += self.elements;
        }
    }
}

/// Gathers a line of elements that are `stride` bytes apart, which the compiler knows.
///
/// # Safety
/// The elements may be read, and as many be written.
#[inline(always)]
unsafe fn line<T: Copy>(from: *const u8, stride: isize, to: *mut T, len: usize, mend: impl Fn(T) -> T) {
    for at in 0..len {
        // SAFETY: the caller's. (An offset that might wrap would keep vectors away from strides of two.)
        unsafe {
            let element = from.offset(stride * at as isize).cast::<T>();
            to.add(at).write_unaligned(mend(element.read_unaligned()));
        }
    }
}

/// An element whose every second can be gathered.
trait Second: Copy {
    /// Gathers every second element, so many; and says whether there is another one that may be read.
    ///
    /// # Safety
    /// As for [`line`].
    unsafe fn every_second(from: *const u8, to: *mut Self, count: (usize, bool), mend: impl Fn(Self) -> Self);
}

/// Elements with half of the bits of a word are the word without its upper half: one operation on a vector of them.
macro_rules! halves {
    ($($type:ty, $word:ty;)*) => {$(
        impl Second for $type {
            #[inline(always)]
            unsafe fn every_second(from: *const u8, to: *mut Self, (len, more): (usize, bool), mend: impl Fn(Self) -> Self) {
                let from = from.cast::<$word>();
                let words = if more { len } else { len - 1 };
                for at in 0..words {
                    // SAFETY: the caller's; behind every element but the last there is another one.
                    unsafe {
                        let word = <$word>::from_le(from.add(at).read_unaligned());
                        to.add(at).write_unaligned(mend((word as Self).to_le()));
                    }
                }
                // SAFETY: the caller's.
                unsafe { line(from.wrapping_add(words).cast(), 0, to.wrapping_add(words), len - words, mend) };
            }
        }
    )*};
}

halves! { u8, u16; u16, u32; u32, u64; }

impl Second for u64 {
    #[inline(always)]
    unsafe fn every_second(from: *const u8, to: *mut Self, (len, _): (usize, bool), mend: impl Fn(Self) -> Self) {
        // SAFETY: the caller's.
        unsafe { line(from, 2 * size_of::<Self>() as isize, to, len, mend) };
    }
}
