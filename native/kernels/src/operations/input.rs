//! What a reduction reads.

use crate::element::ElementType;
use crate::kernels::omit::Pattern;

/// What is being reduced.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// The element type.
    pub element: ElementType,
    /// Whether the bytes of each element are in the order that is foreign to this machine.
    pub swapped: bool,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equals wins, or the first.
    pub last: bool,
    /// Whether NaN of float32 or float64 loses to all numbers, in place of being the extremum.
    pub numbers: bool,
}

/// Evaluates an expression with `$E` and `$O` bound to the element type of an [`Input`] and the order that it is compared by.
macro_rules! with_input {
    ($input:expr, $E:ident, $O:ident => $body:expr) => {
        match ($input.numbers, $input.largest) {
            (false, largest) => $crate::element::with_element_and_order!($input.element, largest, $E, $O => $body),
            (true, true) => {
                type $O = $crate::element::order::LargestNumber;
                $crate::element::with_native_float!($input.element, $E => $body)
            }
            (true, false) => {
                type $O = $crate::element::order::SmallestNumber;
                $crate::element::with_native_float!($input.element, $E => $body)
            }
        }
    };
}

pub(crate) use with_input;

// SAFETY: the kernels only read the input.
unsafe impl Sync for Input {}

/// What of the input does not take part, and stands in for it.
#[derive(Clone, Copy, Debug)]
pub struct Omission {
    /// The mask's byte for the first element as the caller sees it, 0 where the element is left out; null without a mask.
    pub mask: *const u8,
    /// Elements that are left out.
    pub pattern: Pattern,
    /// An element that loses to all others, as bits.
    pub fill: u64,
}

// SAFETY: the mask is only read.
unsafe impl Sync for Omission {}
