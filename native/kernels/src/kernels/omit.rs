//! Skipped elements: in a packed block, each of them is replaced by the identity.
//!
//! NaN and NaT are recognised by their bits, so that one kernel per element size serves all types.

use crate::element::Pattern;
use crate::isa::Task;
use crate::vector::extent::{Readable, Writable};

/// Bytes of scratch memory that a block may fill once its skipped elements are replaced: it fits the first-level cache beside
/// what is copied (32 KiB take up to 1.07 times as long: Xeon, family 6, model 207), and holds pieces of rows that are long
/// enough to be worth reading.
pub const OMIT_BLOCK_BYTES: usize = 1 << 14;

/// Copies a block of contiguous elements and replaces the skipped ones. Its lines follow one another. Returns whether an element
/// has the bits that replace them, so that the copy does not tell it from a skipped element.
pub struct ReplaceSkipped {
    /// The first element; null if `to` already holds the block.
    pub from: *const u8,
    /// Receives the copy.
    pub to: *mut u8,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub size: usize,
    /// The number of lines, and of elements in each line.
    pub lens: (usize, usize),
    /// The byte of the first element in the mask, 0 where an element is skipped; null without a mask.
    pub mask: *const u8,
    /// Bytes in the mask from one line to the next, and from one element to the next: 0 or 1.
    pub mask_strides: (isize, isize),
    /// Which elements are skipped because of their bits.
    pub pattern: Pattern,
    /// The bits that replace a skipped element.
    pub fill: u64,
}

impl Task for ReplaceSkipped {
    type Output = bool;
    #[inline(always)]
    unsafe fn run(self) -> bool {
        debug_assert!(matches!(self.size, 1 | 2 | 4 | 8) && !self.to.is_null());
        debug_assert!(matches!(self.mask_strides.1, 0 | 1), "a mask with gaps is packed first");
        debug_assert!(self.size == 8 || self.fill >> (8 * self.size) == 0, "{:x} is wider than an element", self.fill);
        // SAFETY: the caller's promise, and `T` has the size of the elements.
        unsafe {
            match self.size {
                1 => self.lines::<u8>(),
                2 => self.lines::<u16>(),
                4 => self.lines::<u32>(),
                _ => self.lines::<u64>(),
            }
        }
    }
}

impl ReplaceSkipped {
    /// Copies all lines, as elements of type `T`.
    ///
    /// # Safety
    /// As for [`Task::run`]; `T` has the size of the elements.
    #[inline(always)]
    unsafe fn lines<T: Bits>(&self) -> bool {
        let mut identity_seen = false;
        let ((mut lines, mut len), (stride, step)) = (self.lens, self.mask_strides);
        if self.mask.is_null() || stride == len as isize * step {
            // Take the block as one long line: the vector loop then starts and ends only once.
            (lines, len) = (1, lines * len);
        }
        let bytes = lines * len * size_of::<T>();
        // Where all elements share the byte of their line, it is read once.
        let mask_bytes = if step == 0 { 1 } else { len };
        // SAFETY: the caller's promise.
        let all_from = unsafe { Readable::bytes(self.from, bytes) };
        // SAFETY: the caller's promise.
        let all_to = unsafe { Writable::bytes(self.to, bytes) };
        // SAFETY: the caller's promise.
        let all_mask = unsafe { Readable::lines(self.mask, stride, lines, mask_bytes) };
        for line in 0..lines {
            let at = line * len;
            let from = all_from.wrapping_add(at * size_of::<T>());
            let to = all_to.wrapping_add(at * size_of::<T>());
            let mask = all_mask.wrapping_offset(stride * line as isize);
            // Two loops: the compiler does not vectorise a loop that may read and write the same memory through two pointers. The
            // copy is scratch memory, so its elements are aligned.
            // SAFETY: the line has `len` elements, in the block and in its copy, and its mask.
            identity_seen |= unsafe {
                match self.from.is_null() {
                    true => self.masked(|at| *to.element::<T>(at), to, len, mask, step),
                    false => self.masked(|at| from.element::<T>(at).read_unaligned(), to, len, mask, step),
                }
            };
        }
        identity_seen
    }

    /// Copies a line. Has one loop for each kind of mask, so that each can be vectorised.
    ///
    /// # Safety
    /// `from` may read `len` elements, `to` has room for them, and the mask has a byte for each, or one for all if `step` is 0;
    /// or it is null.
    #[inline(always)]
    unsafe fn masked<T: Bits>(
        &self,
        from: impl Fn(usize) -> T,
        to: Writable,
        len: usize,
        mask: Readable,
        step: isize,
    ) -> bool {
        let Pattern { flip, magnitude, limit } = self.pattern;
        let flip = T::new(flip);
        let magnitude = T::new(magnitude);
        let limit = T::new(limit);
        let fits = |bits: T| !bits.matches(flip, magnitude, limit);
        // SAFETY: asked only where the mask has a byte for each element.
        let masked = |at: usize| unsafe { *mask.element::<u8>(at) } != 0;
        // One byte for the whole line is read before the loop.
        let whole = step == 0 && !mask.is_null();
        // SAFETY: the mask has this byte.
        let there = !whole || unsafe { *mask.read(1) } != 0;
        // SAFETY: the caller's promise.
        unsafe {
            match self.pattern.is_none() {
                true if whole => self.line(from, to, len, |_, _| there),
                true => self.line(from, to, len, |at, _| masked(at)),
                false if whole || mask.is_null() => self.line(from, to, len, |_, bits| there & fits(bits)),
                false => self.line(from, to, len, |at, bits| masked(at) & fits(bits)),
            }
        }
    }

    /// Copies a line; an element stays where `stays` says so of its place and its bits. Returns whether an element has the bits
    /// that replace others.
    ///
    /// # Safety
    /// As for [`masked`](Self::masked).
    #[inline(always)]
    unsafe fn line<T: Bits>(
        &self,
        from: impl Fn(usize) -> T,
        to: Writable,
        len: usize,
        stays: impl Fn(usize, T) -> bool,
    ) -> bool {
        let fill = T::new(self.fill);
        let mut identity_seen = false;
        for at in 0..len {
            let bits = from(at);
            // A masked element with these bits counts too: the second look that follows is then in vain, but rare.
            identity_seen |= bits == fill;
            // SAFETY: there is room for `len` elements.
            unsafe { *to.element::<T>(at) = if stays(at, bits) { bits } else { fill } };
        }
        identity_seen
    }
}

/// The bits of an element.
pub trait Bits: Copy + PartialEq {
    /// The lower bits of a pattern.
    fn new(bits: u64) -> Self;
    /// [`Pattern::matches`], at the width of the element.
    fn matches(self, flip: Self, magnitude: Self, limit: Self) -> bool;
}

macro_rules! bits {
    ($($type:ty)*) => {$(
        impl Bits for $type {
            #[inline(always)]
            fn new(bits: u64) -> Self {
                bits as $type
            }
            #[inline(always)]
            fn matches(self, flip: Self, magnitude: Self, limit: Self) -> bool {
                (self ^ flip) & magnitude > limit
            }
        }
    )*};
}

bits!(u8 u16 u32 u64);
