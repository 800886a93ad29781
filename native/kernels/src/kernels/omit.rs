//! Packing with elements left out: what does not take part is replaced by an element that loses to all others.
//!
//! NaN and NaT are told by their bits, so that one kernel per element size serves all types.

use crate::element::ElementType;
use crate::isa::Task;
use crate::kernels::pack::Pack;
use crate::kernels::prefetch::prefetch;

/// Bytes of scratch memory that a block without what is left out may fill: it fits the first-level cache, and has room for
/// pieces of rows that are worth reading.
pub const OMIT_SCRATCH: usize = 1 << 15;

/// Elements that are packed before more are asked for, which lie so many bytes ahead.
const PIECE: usize = 256;
const DISTANCE: usize = 8192;

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

/// Packs a block, with the elements replaced that do not take part; the rows follow one another in the copy.
pub struct Omit {
    /// The block, and where it goes.
    pub pack: Pack<'static>,
    /// The byte of the first element's place in the mask, 0 where the element is left out; null where there is no mask.
    pub mask: *const u8,
    /// Bytes in the mask from one position to the next, along the outer and the inner axis.
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
        // SAFETY: the caller vouches for the block, its mask and the memory that receives it.
        unsafe {
            match (self.pack.size, self.pack.swapped) {
                (1, _) => self.rows::<u8>(|bits| bits),
                (2, false) => self.rows::<u16>(|bits| bits),
                (2, true) => self.rows(u16::swap_bytes),
                (4, false) => self.rows::<u32>(|bits| bits),
                (4, true) => self.rows(u32::swap_bytes),
                (_, false) => self.rows::<u64>(|bits| bits),
                (_, true) => self.rows(u64::swap_bytes),
            }
        }
    }
}

impl Omit {
    /// # Safety
    /// As for [`Task::run`]; `T` has the size of the elements.
    #[inline(always)]
    unsafe fn rows<T: Bits>(&self, ordered: impl Fn(T) -> T) {
        let Pack { data, outer, inner, size, to, .. } = self.pack;
        let ((mut rows, stride), (mut len, step)) = (outer, inner);
        let (mask_stride, mask_step) = self.mask_strides;
        let contiguous = step == size as isize;
        let follow = stride == len as isize * step && (self.mask.is_null() || mask_stride == len as isize * mask_step);
        if follow {
            // One long row, of which a loop over vectors is not begun and ended again each time.
            (rows, len) = (1, rows * len);
        }
        for row in 0..rows {
            let data = data.wrapping_offset(stride * row as isize);
            let to = to.cast::<T>().wrapping_add(row * len);
            let mask = self.mask.wrapping_offset(mask_stride * row as isize);
            for start in (0..len).step_by(PIECE) {
                let (data, mask) =
                    (data.wrapping_offset(step * start as isize), mask.wrapping_offset(mask_step * start as isize));
                let (len, to) = (PIECE.min(len - start), to.wrapping_add(start));
                if contiguous {
                    // Between two blocks the processor stops reading ahead by itself.
                    prefetch::<{ 4 * PIECE }>(data.wrapping_add(DISTANCE));
                    if mask_step == 1 {
                        prefetch::<PIECE>(mask.wrapping_add(DISTANCE / 4));
                    }
                }
                // SAFETY: the caller's. Written out for the layouts that vectors can read.
                unsafe {
                    let element = |at| ordered(load(data, at, step));
                    match (self.mask.is_null(), contiguous, mask_step) {
                        (true, true, _) => self.row(len, to, |at| ordered(load(data, at, size as isize)), |_| true),
                        (true, false, _) => self.row(len, to, element, |_| true),
                        (_, true, 1) => {
                            self.row(len, to, |at| ordered(load(data, at, size as isize)), |at| *mask.add(at) != 0);
                        }
                        _ => self.row(len, to, element, |at| *mask.wrapping_offset(mask_step * at as isize) != 0),
                    }
                }
            }
        }
    }

    /// # Safety
    /// `to` has room for `len` elements.
    #[inline(always)]
    unsafe fn row<T: Bits>(&self, len: usize, to: *mut T, element: impl Fn(usize) -> T, there: impl Fn(usize) -> bool) {
        let Pattern { flip, magnitude, limit } = self.pattern;
        let (flip, magnitude, limit) = (T::new(flip), T::new(magnitude), T::new(limit));
        let fill = T::new(self.fill);
        for at in 0..len {
            let bits = element(at);
            let stays = there(at) & !bits.matches(flip, magnitude, limit);
            // SAFETY: the caller's.
            unsafe { to.add(at).write(if stays { bits } else { fill }) };
        }
    }
}

/// # Safety
/// The element may be read.
#[inline(always)]
unsafe fn load<T: Copy>(data: *const u8, at: usize, step: isize) -> T {
    // SAFETY: the caller's; alignment is not needed.
    unsafe { data.wrapping_offset(step * at as isize).cast::<T>().read_unaligned() }
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
    /// An element that loses to all others but its equals and NaN, as bits.
    pub fn loser(self, largest: bool) -> u64 {
        let bits = 8 * self.size() as u32;
        let sign = 1 << (bits - 1);
        match self {
            Self::Bool => !largest as u64,
            Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64 => {
                if largest {
                    0
                } else {
                    u64::MAX
                }
            }
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => {
                if largest {
                    sign
                } else {
                    sign - 1
                }
            }
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
