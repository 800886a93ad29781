//! Elements that are left out: what does not take part is replaced, in a packed block, by an element that loses to all others.
//!
//! NaN and NaT are told by their bits, so that one kernel per element size serves all types.

#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "one condition for all: the block and its mask are there"
)]

use crate::element::ElementType;
use crate::isa::Task;

/// Bytes of scratch memory that a block without what is left out may fill: it fits the first-level cache, and has room for
/// pieces of rows that are worth reading.
pub const OMIT_SCRATCH: usize = 1 << 15;

/// Which bit patterns are left out: those where `(bits ^ flip) & magnitude` is above `limit`.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub flip: u64,
    pub magnitude: u64,
    pub limit: u64,
}

impl Pattern {
    /// No pattern at all.
    pub const NONE: Self = Self { flip: 0, magnitude: 0, limit: 0 };

    /// The one value, of `size` bytes.
    pub fn value(bits: u64, size: usize) -> Self {
        let all = u64::MAX >> (64 - 8 * size);
        // Turned round, the value is the largest there is.
        Self { flip: !bits & all, magnitude: all, limit: all - 1 }
    }

    /// Whether no bits match.
    pub fn is_none(&self) -> bool {
        self.magnitude <= self.limit
    }

    /// Whether bits of an element, zero above its size, are left out.
    #[inline(always)]
    pub fn matches(&self, bits: u64) -> bool {
        (bits ^ self.flip) & self.magnitude > self.limit
    }
}

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

impl ElementType {
    /// An element that loses to all others but its equals and NaN, as bits, zero above its size.
    pub fn loser(self, largest: bool) -> u64 {
        let bits = 8 * self.size() as u32;
        let sign = 1 << (bits - 1);
        match self {
            Self::Bool => !largest as u64,
            Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64 => (u64::MAX >> (64 - bits)) * !largest as u64,
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => sign - !largest as u64,
            Self::Float16 | Self::BFloat16 | Self::Float32 | Self::Float64 => {
                let infinity = self.nan().map_or(0, |nan| nan.limit);
                if largest { infinity | sign } else { infinity }
            }
        }
    }

    /// The pattern of the type's NaN: every magnitude above infinity.
    pub fn nan(self) -> Option<Pattern> {
        let (magnitude, limit) = match self {
            Self::Float16 => (0x7fff, 0x7c00),
            Self::BFloat16 => (0x7fff, 0x7f80),
            Self::Float32 => (0x7fff_ffff, 0x7f80_0000),
            Self::Float64 => (0x7fff_ffff_ffff_ffff, 0x7ff0_0000_0000_0000),
            _ => return None,
        };
        Some(Pattern { flip: 0, magnitude, limit })
    }
}

#[cfg(test)]
#[test]
fn losers_are_no_wider_than_their_elements() {
    use ElementType::*;
    let all = [Bool, UInt8, UInt16, UInt32, UInt64, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64];
    for (element, largest) in all.into_iter().flat_map(|element| [(element, false), (element, true)]) {
        assert!(element.loser(largest) <= u64::MAX >> (64 - 8 * element.size()), "{element:?}");
    }
}
