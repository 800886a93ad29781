//! Elements that are left out: what does not take part is replaced, in a packed block, by an element that loses to all others.
//!
//! NaN and NaT are told by their bits, so that one kernel per element size serves all types.

#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "one condition for all: the block and its mask are there"
)]

use crate::element::Pattern;
use crate::isa::Task;

/// Bytes of scratch memory that a block without what is left out may fill: it fits the first-level cache, and has room for
/// pieces of rows that are worth reading.
pub const OMIT_SCRATCH: usize = 1 << 15;

/// Copies a block of contiguous elements, and replaces those that do not take part. Its lines follow one another.
pub struct Omit {
    /// The first element; null where the block is in the copy already.
    pub from: *const u8,
    /// Receives the copy.
    pub to: *mut u8,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub size: usize,
    /// Lines, and elements of each.
    pub lens: (usize, usize),
    /// The byte of the first element's place in the mask, 0 where the element is left out; null where there is no mask.
    pub mask: *const u8,
    /// Bytes in the mask from one line to the next, and from one element to the next: 0 or 1.
    pub mask_strides: (isize, isize),
    /// The elements that are left out.
    pub pattern: Pattern,
    /// What stands in their place, as bits.
    pub fill: u64,
}

impl Task for Omit {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        match self.size {
            1 => self.lines::<u8>(),
            2 => self.lines::<u16>(),
            4 => self.lines::<u32>(),
            _ => self.lines::<u64>(),
        }
    }
}

impl Omit {
    /// `T` has the size of the elements.
    #[inline(always)]
    unsafe fn lines<T: Bits>(&self) {
        let ((mut lines, mut len), (stride, step)) = (self.lens, self.mask_strides);
        if self.mask.is_null() || stride == len as isize * step {
            // One long line: a loop over vectors starts and ends once.
            (lines, len) = (1, lines * len);
        }
        for line in 0..lines {
            let at = line * len;
            let (from, to) = (self.from.cast::<T>().wrapping_add(at), self.to.cast::<T>().wrapping_add(at));
            let mask = self.mask.wrapping_offset(stride * line as isize);
            // (Vectors do not read and write the same memory by two names.)
            if self.from.is_null() {
                self.masked(|at| *to.add(at), to, len, mask, step);
            } else {
                self.masked(|at| from.add(at).read_unaligned(), to, len, mask, step);
            }
        }
    }

    /// Written out for the masks that vectors can read.
    #[inline(always)]
    unsafe fn masked<T: Bits>(&self, from: impl Fn(usize) -> T, to: *mut T, len: usize, mask: *const u8, step: isize) {
        let Pattern { flip, magnitude, limit } = self.pattern;
        let (flip, magnitude, limit) = (T::new(flip), T::new(magnitude), T::new(limit));
        let fits = |bits: T| !bits.matches(flip, magnitude, limit);
        let masked = |at: usize| *mask.add(at) != 0;
        let whole = step == 0 && !mask.is_null();
        let there = !whole || *mask != 0;
        match self.pattern.is_none() {
            true if whole => self.line(from, to, len, |_, _| there),
            true => self.line(from, to, len, |at, _| masked(at)),
            false if whole || mask.is_null() => self.line(from, to, len, |_, bits| there & fits(bits)),
            false => self.line(from, to, len, |at, bits| masked(at) & fits(bits)),
        }
    }

    #[inline(always)]
    unsafe fn line<T: Bits>(
        &self,
        from: impl Fn(usize) -> T,
        to: *mut T,
        len: usize,
        stays: impl Fn(usize, T) -> bool,
    ) {
        let fill = T::new(self.fill);
        for at in 0..len {
            let bits = from(at);
            *to.add(at) = if stays(at, bits) { bits } else { fill };
        }
    }
}

/// The bits of an element.
pub trait Bits: Copy + PartialEq {
    /// The lower bits of a pattern.
    fn new(bits: u64) -> Self;
    /// [`Pattern::matches`], in as many bits as the element has.
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
