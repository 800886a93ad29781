//! Element types by tag: how a caller that knows types only at run time names them. Below,
//! [`compare`] says what a reduction compares, [`rank`] what an elementwise operation accumulates, and one file for each
//! family of types what that is for it.

pub mod compare;
pub mod float16_bits;
pub mod floats;
pub mod integers;
pub mod order;
pub mod rank;
pub mod stored;

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

impl ElementType {
    /// Bytes of one element.
    pub fn size(self) -> usize {
        with_element!(self, E => size_of::<E>())
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        use ElementType::*;
        matches!(self, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
    }
}

/// The type of the indices that a reduction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexType {
    /// 64-bit signed integer.
    Int64,
    /// 32-bit signed integer.
    Int32,
    /// 64-bit unsigned integer.
    UInt64,
    /// 32-bit unsigned integer.
    UInt32,
    /// 16-bit signed integer.
    Int16,
    /// 16-bit unsigned integer.
    UInt16,
    /// 8-bit signed integer.
    Int8,
    /// 8-bit unsigned integer.
    UInt8,
}

impl IndexType {
    /// Bytes of one index.
    pub fn size(self) -> usize {
        match self {
            Self::Int64 | Self::UInt64 => 8,
            Self::Int32 | Self::UInt32 => 4,
            Self::Int16 | Self::UInt16 => 2,
            Self::Int8 | Self::UInt8 => 1,
        }
    }

    /// The largest index that the type can hold.
    pub fn max(self) -> u64 {
        match self {
            Self::Int64 => i64::MAX as u64,
            Self::Int32 => i32::MAX as u64,
            Self::UInt64 => u64::MAX,
            Self::UInt32 => u32::MAX as u64,
            Self::Int16 => i16::MAX as u64,
            Self::UInt16 => u16::MAX as u64,
            Self::Int8 => i8::MAX as u64,
            Self::UInt8 => u8::MAX as u64,
        }
    }

    /// Whether the type holds -1.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Int64 | Self::Int32 | Self::Int16 | Self::Int8)
    }

    /// Writes some indices, which lie so many bytes apart.
    ///
    /// # Safety
    /// There is room for them, and as many can be read; alignment is not needed.
    #[inline]
    pub unsafe fn write(self, to: *mut u8, step: isize, from: *const i64, len: usize) {
        // SAFETY: the caller's.
        unsafe {
            match self.size() {
                8 => write(to, step, from, len, |index| index),
                4 => write(to, step, from, len, |index| index as i32),
                2 => write(to, step, from, len, |index| index as i16),
                _ => write(to, step, from, len, |index| index as i8),
            }
        }
    }
}

/// # Safety
/// As for [`IndexType::write`].
#[inline(always)]
unsafe fn write<T>(to: *mut u8, step: isize, from: *const i64, len: usize, narrow: impl Fn(i64) -> T) {
    for number in 0..len {
        let to = to.wrapping_offset(step * number as isize).cast::<T>();
        // SAFETY: the caller's.
        unsafe { to.write_unaligned(narrow(from.add(number).read_unaligned())) }
    }
}

/// Evaluates an expression with `$E` bound to the Rust type of an [`ElementType`].
macro_rules! with_element {
    ($tag:expr, $E:ident => $body:expr) => {
        match $tag {
            $crate::element::ElementType::Bool => {
                type $E = $crate::element::integers::Bool;
                $body
            }
            $crate::element::ElementType::Int8 => {
                type $E = i8;
                $body
            }
            $crate::element::ElementType::Int16 => {
                type $E = i16;
                $body
            }
            $crate::element::ElementType::Int32 => {
                type $E = i32;
                $body
            }
            $crate::element::ElementType::Int64 => {
                type $E = i64;
                $body
            }
            $crate::element::ElementType::UInt8 => {
                type $E = u8;
                $body
            }
            $crate::element::ElementType::UInt16 => {
                type $E = u16;
                $body
            }
            $crate::element::ElementType::UInt32 => {
                type $E = u32;
                $body
            }
            $crate::element::ElementType::UInt64 => {
                type $E = u64;
                $body
            }
            $crate::element::ElementType::Float16 => {
                type $E = $crate::element::float16_bits::Float16;
                $body
            }
            $crate::element::ElementType::BFloat16 => {
                type $E = $crate::element::float16_bits::BFloat16;
                $body
            }
            $crate::element::ElementType::Float32 => {
                type $E = f32;
                $body
            }
            $crate::element::ElementType::Float64 => {
                type $E = f64;
                $body
            }
        }
    };
}

/// Evaluates an expression with `$E` bound to a type that has as many bits, and is a bool where that is one.
macro_rules! with_bits {
    ($tag:expr, $E:ident => $body:expr) => {
        match ($tag, $tag.size()) {
            ($crate::element::ElementType::Bool, _) => {
                type $E = $crate::element::integers::Bool;
                $body
            }
            (_, 1) => {
                type $E = u8;
                $body
            }
            (_, 2) => {
                type $E = u16;
                $body
            }
            (_, 4) => {
                type $E = u32;
                $body
            }
            _ => {
                type $E = u64;
                $body
            }
        }
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

/// Evaluates an expression with `$E` and `$O` bound to an element type and the order of an elementwise operation.
macro_rules! with_element_and_extreme {
    ($tag:expr, $extreme:expr, $E:ident, $O:ident => $body:expr) => {
        match $extreme {
            $crate::element::rank::Extreme::Maximum => {
                type $O = $crate::element::order::Largest;
                $crate::element::with_element!($tag, $E => $body)
            }
            $crate::element::rank::Extreme::Minimum => {
                type $O = $crate::element::order::Smallest;
                $crate::element::with_element!($tag, $E => $body)
            }
            $crate::element::rank::Extreme::MaximumNumber => {
                type $O = $crate::element::order::LargestNumber;
                $crate::element::with_float!($tag, $E => $body)
            }
            $crate::element::rank::Extreme::MinimumNumber => {
                type $O = $crate::element::order::SmallestNumber;
                $crate::element::with_float!($tag, $E => $body)
            }
        }
    };
}

/// Evaluates an expression with `$E` bound to a type of floats, the only elements that may be NaN.
macro_rules! with_float {
    ($tag:expr, $E:ident => $body:expr) => {
        match $tag {
            $crate::element::ElementType::Float16 => {
                type $E = $crate::element::float16_bits::Float16;
                $body
            }
            $crate::element::ElementType::BFloat16 => {
                type $E = $crate::element::float16_bits::BFloat16;
                $body
            }
            native => $crate::element::with_native_float!(native, $E => $body),
        }
    };
}

/// Evaluates an expression with `$E` bound to a type of floats, as they are compared where NaN loses to all numbers.
macro_rules! with_number {
    ($tag:expr, $E:ident => $body:expr) => {
        match $tag {
            $crate::element::ElementType::Float16 => {
                type $E = $crate::element::float16_bits::Numbered<$crate::element::float16_bits::Float16>;
                $body
            }
            $crate::element::ElementType::BFloat16 => {
                type $E = $crate::element::float16_bits::Numbered<$crate::element::float16_bits::BFloat16>;
                $body
            }
            native => $crate::element::with_native_float!(native, $E => $body),
        }
    };
}

/// Evaluates an expression with `$E` bound to float32 or float64, which are compared as they are.
macro_rules! with_native_float {
    ($tag:expr, $E:ident => $body:expr) => {
        match $tag {
            $crate::element::ElementType::Float32 => {
                type $E = f32;
                $body
            }
            $crate::element::ElementType::Float64 => {
                type $E = f64;
                $body
            }
            _ => unreachable!("neither float32 nor float64"),
        }
    };
}

pub(crate) use {
    with_bits, with_element, with_element_and_extreme, with_element_and_order, with_float, with_native_float,
    with_number,
};
