//! Element types by tag, for callers that know types only at run time. [`compare`] defines what a reduction compares, [`rank`]
//! what an elementwise operation accumulates, and [`types`] implements both for each type. [`rule`] has keys for the k best.

pub mod compare;
pub mod order;
pub mod rank;
pub mod rule;
pub mod types;

use compare::HasLane;
use rank::HasRank;

/// Evaluates an expression with `$E` bound to the type of a tag.
macro_rules! with_type {
    ($tag:expr, $E:ident => $body:expr, $($name:ident: $type:ty),+) => {
        match $tag {
            $($crate::element::ElementType::$name => {
                type $E = $type;
                $body
            })+
            #[allow(unreachable_patterns)]
            _ => unreachable!("no element of these"),
        }
    };
}

/// A value as it is stored in an array.
pub trait Element: HasLane + HasRank {
    /// The value one, which Hardmax writes.
    const ONE: Self;
}

/// The type of every element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    /// One byte, false or true.
    Bool,
    /// 8-bit signed integer.
    Int8,
    /// 16-bit signed integer.
    Int16,
    /// 32-bit signed integer.
    Int32,
    /// 64-bit signed integer.
    Int64,
    /// 8-bit unsigned integer.
    UInt8,
    /// 16-bit unsigned integer.
    UInt16,
    /// 32-bit unsigned integer.
    UInt32,
    /// 64-bit unsigned integer.
    UInt64,
    /// IEEE 754 binary16.
    Float16,
    /// The upper half of a binary32.
    BFloat16,
    /// IEEE 754 binary32.
    Float32,
    /// IEEE 754 binary64.
    Float64,
}

/// The type of the indices that a reduction writes: one of the integers.
pub type IndexType = ElementType;

impl ElementType {
    /// Bytes of one element.
    #[inline]
    pub fn size(self) -> usize {
        with_element!(self, E => size_of::<E>())
    }

    /// Whether it is a float: only floats may be NaN.
    #[inline]
    pub fn is_float(self) -> bool {
        use ElementType::*;
        matches!(self, Float16 | BFloat16 | Float32 | Float64)
    }

    /// Whether it is an integer.
    #[inline]
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Self::Bool
    }

    /// Whether it is an integer that may be negative.
    #[inline]
    pub fn is_signed(self) -> bool {
        use ElementType::*;
        matches!(self, Int8 | Int16 | Int32 | Int64)
    }

    /// The largest value of an integer type.
    #[inline]
    pub fn max(self) -> u64 {
        u64::MAX >> (64 - 8 * self.size() + usize::from(self.is_signed()))
    }

    /// The unsigned integer of the same width; a bool stays a bool.
    pub(crate) fn bits(self) -> Self {
        match self.size() {
            _ if self == Self::Bool => self,
            1 => Self::UInt8,
            2 => Self::UInt16,
            4 => Self::UInt32,
            _ => Self::UInt64,
        }
    }

    /// Writes integers that are `step` bytes apart.
    ///
    /// # Safety
    /// `len` integers may be read, and `to` has room for them; alignment is not needed.
    #[inline]
    pub unsafe fn write(self, to: *mut u8, step: isize, from: *const i64, len: usize) {
        with_type!(self.bits(), E => for number in 0..len {
            let to = to.wrapping_offset(step * number as isize).cast::<E>();
            // SAFETY: the caller's promise.
            unsafe { to.write_unaligned(from.add(number).read_unaligned() as E) }
        }, UInt8: u8, UInt16: u16, UInt32: u32, UInt64: u64);
    }

    /// The bits of the identity of max (or of min): the element that loses to all others but its equals and NaN. Zero above its
    /// size.
    pub fn identity(self, largest: bool) -> u64 {
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

/// Which bit patterns are skipped: those where `(bits ^ flip) & magnitude` is above `limit`.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    pub flip: u64,
    pub magnitude: u64,
    pub limit: u64,
}

impl Pattern {
    /// Matches nothing.
    pub const NONE: Self = Self { flip: 0, magnitude: 0, limit: 0 };

    /// Matches one value of `size` bytes.
    pub fn value(bits: u64, size: usize) -> Self {
        let all = u64::MAX >> (64 - 8 * size);
        // Flipped, this value and no other is the largest number.
        Self { flip: !bits & all, magnitude: all, limit: all - 1 }
    }

    /// Whether no bits match.
    pub fn is_none(&self) -> bool {
        self.magnitude <= self.limit
    }

    /// Whether the bits of an element, zero above its size, match: the element is skipped.
    #[inline(always)]
    pub fn matches(&self, bits: u64) -> bool {
        (bits ^ self.flip) & self.magnitude > self.limit
    }
}

/// Evaluates an expression with `$E` bound to the Rust type of an [`ElementType`].
macro_rules! with_element {
    ($tag:expr, $E:ident => $body:expr) => {
        $crate::element::with_type!($tag, $E => $body,
            Bool: $crate::element::types::Bool, Int8: i8, Int16: i16, Int32: i32, Int64: i64,
            UInt8: u8, UInt16: u16, UInt32: u32, UInt64: u64,
            Float16: $crate::element::types::Float16, BFloat16: $crate::element::types::BFloat16,
            Float32: f32, Float64: f64)
    };
}

/// Evaluates an expression with `$E` bound to a float type.
macro_rules! with_float {
    ($tag:expr, $E:ident => $body:expr) => {
        $crate::element::with_type!($tag, $E => $body,
            Float16: $crate::element::types::Float16, BFloat16: $crate::element::types::BFloat16,
            Float32: f32, Float64: f64)
    };
}

/// Evaluates an expression with `$E` and `$O` bound to an element type and an order.
macro_rules! with_element_and_order {
    ($tag:expr, $largest:expr, $E:ident, $O:ident => $body:expr) => {
        if $largest {
            type $O = $crate::element::order::Largest;
            $crate::element::with_element!($tag, $E => $body)
        } else {
            type $O = $crate::element::order::Smallest;
            $crate::element::with_element!($tag, $E => $body)
        }
    };
}

/// The same for an [`Extreme`](rank::Extreme): NaN may lose to numbers.
macro_rules! with_element_and_extreme {
    ($tag:expr, $extreme:expr, $E:ident, $O:ident => $body:expr) => {
        match $extreme {
            $crate::element::rank::Extreme { largest, omit: false } => {
                $crate::element::with_element_and_order!($tag, largest, $E, $O => $body)
            }
            $crate::element::rank::Extreme { largest: true, omit: true } => {
                type $O = $crate::element::order::LargestNumber;
                $crate::element::with_float!($tag, $E => $body)
            }
            $crate::element::rank::Extreme { largest: false, omit: true } => {
                type $O = $crate::element::order::SmallestNumber;
                $crate::element::with_float!($tag, $E => $body)
            }
        }
    };
}

pub(crate) use {with_element, with_element_and_extreme, with_element_and_order, with_float, with_type};

#[cfg(test)]
#[test]
fn identities_are_no_wider_than_their_elements() {
    use ElementType::*;
    let all = [Bool, UInt8, UInt16, UInt32, UInt64, Int8, Int16, Int32, Int64, Float16, BFloat16, Float32, Float64];
    for (element, largest) in all.into_iter().flat_map(|element| [(element, false), (element, true)]) {
        assert!(element.identity(largest) <= u64::MAX >> (64 - 8 * element.size()), "{element:?}");
    }
}
