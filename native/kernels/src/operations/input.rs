//! What a reduction reads.

use crate::element::{ElementType, Pattern};

/// What is being reduced.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// The element type.
    pub element: ElementType,
    /// Whether the byte order of each element is the opposite of this machine's.
    pub swapped: bool,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equal elements wins, or the first.
    pub last: bool,
    /// Whether NaN loses to all numbers instead of being the extremum. No kernel does that under a mask: a block with both is
    /// packed, and the copy replaces NaN.
    pub numbers: bool,
}

/// Evaluates an expression with `$E` and `$O` bound to the element type of an [`Input`] and the order that it is compared by.
macro_rules! with_input {
    ($input:expr, $E:ident, $O:ident => $body:expr) => {{
        let extreme = $crate::element::rank::Extreme { largest: $input.largest, omit: $input.numbers };
        $crate::element::with_element_and_extreme!($input.element, extreme, $E, $O => $body)
    }};
}

/// Evaluates an expression for one input, or for one input for each end of the order, the smallest first: `$S` is bound to the
/// type that reads the elements of some lines, `$X` to the ends, and `$dispatch` to the function that runs a task: with a wide
/// instruction set under a mask and for both ends.
macro_rules! with_sources {
    ($inputs:expr, $lines:expr, $S:ident, $X:ident, $dispatch:ident => $body:expr) => {
        match $inputs {
            [input, ..] if input.numbers && !$lines.mask.is_null() => unreachable!("NaN passed over under a mask"),
            [_, _] if !$lines.mask.is_null() => unreachable!("both ends of the order under a mask"),
            [input] if !$lines.mask.is_null() => {
                $crate::element::with_element_and_order!(input.element, input.largest, E, $X => {
                    #[allow(unused_imports)]
                    use $crate::isa::dispatch_wide as $dispatch;
                    type $S = $crate::kernels::lanes::Masked<E>;
                    $body
                })
            }
            [input] => $crate::operations::input::with_input!(input, E, $X => {
                #[allow(unused_imports)]
                use $crate::isa::dispatch as $dispatch;
                type $S = *const E;
                $body
            }),
            [input, _] if input.numbers => {
                type $X = $crate::element::order::BothNumbers;
                $crate::element::with_float!(input.element, E => {
                    #[allow(unused_imports)]
                    use $crate::isa::dispatch_wide as $dispatch;
                    type $S = *const E;
                    $body
                })
            }
            [input, _] => {
                type $X = $crate::element::order::Both;
                $crate::element::with_element!(input.element, E => {
                    #[allow(unused_imports)]
                    use $crate::isa::dispatch_wide as $dispatch;
                    type $S = *const E;
                    $body
                })
            }
            _ => unreachable!("an order has two ends"),
        }
    };
}

pub(crate) use {with_input, with_sources};

// SAFETY: the kernels only read the input.
unsafe impl Sync for Input {}

/// Which elements of the input are skipped, and what replaces them.
#[derive(Clone, Copy, Debug)]
pub struct Omission {
    /// The mask's byte for the first element as the caller sees it, 0 where the element is skipped; null without a mask.
    pub mask: *const u8,
    /// Elements that are skipped because of their bits.
    pub pattern: Pattern,
    /// An element that loses to all others, as bits.
    pub fill: u64,
}

impl Omission {
    /// Whether a mask alone decides which elements are skipped.
    pub fn is_of_mask(&self) -> bool {
        !self.mask.is_null() && self.pattern.is_none()
    }
}

// SAFETY: the mask is only read.
unsafe impl Sync for Omission {}
