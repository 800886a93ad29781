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
    /// Which elements are skipped because of their value.
    pub omit: Omit,
    /// The mask's byte for the first element, 0 where the element is skipped; null without a mask.
    pub mask: *const u8,
}

/// Which elements are skipped because of their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// No elements.
    Nothing,
    /// NaN, of floats.
    Nan,
    /// The smallest 64-bit integer, which stands for NaT (not a time).
    NotATime,
}

impl Input {
    /// Whether any element may be skipped.
    #[inline]
    pub fn skips(&self) -> bool {
        self.omit != Omit::Nothing || !self.mask.is_null()
    }

    /// Whether NaN loses to all numbers instead of being the extremum. No kernel does that under a mask: a block with both is
    /// packed, and the copy replaces NaN.
    pub fn ignores_nan(&self) -> bool {
        self.omit == Omit::Nan && self.mask.is_null()
    }

    /// Whether elements are skipped that kernels do not skip by themselves.
    pub fn omits(&self) -> bool {
        self.skips() && !self.ignores_nan()
    }

    /// Elements that are skipped because of their bits.
    pub fn pattern(&self) -> Pattern {
        match (self.omit, self.element.nan()) {
            (Omit::NotATime, _) => Pattern::value(1 << 63, 8),
            (Omit::Nan, Some(nan)) => nan,
            _ => Pattern::NONE,
        }
    }
}

// SAFETY: the kernels only read the input and its mask.
unsafe impl Sync for Input {}

/// Evaluates an expression for one input, or for one input for each end of the order, the smallest first: `$S` is bound to the
/// type that reads the elements of some lines, and `$X` to the ends.
macro_rules! with_sources {
    ($inputs:expr, $lines:expr, $S:ident, $X:ident => $body:expr) => {
        match $inputs {
            [_, _] if !$lines.mask.is_null() => unreachable!("both ends of the order under a mask"),
            [input] if !$lines.mask.is_null() => {
                $crate::element::with_element_and_order!(input.element, input.largest, E, $X => {
                    type $S = $crate::kernels::lanes::Masked<E>;
                    $body
                })
            }
            [input] => {
                let extreme = $crate::element::rank::Extreme { largest: input.largest, omit: input.ignores_nan() };
                $crate::element::with_element_and_extreme!(input.element, extreme, E, $X => {
                    type $S = $crate::kernels::lanes::Plain<E>;
                    $body
                })
            }
            [input, _] if input.ignores_nan() => {
                type $X = $crate::element::order::BothIgnoreNan;
                $crate::element::with_float!(input.element, E => {
                    type $S = $crate::kernels::lanes::Plain<E>;
                    $body
                })
            }
            [input, _] => {
                type $X = $crate::element::order::Both;
                $crate::element::with_element!(input.element, E => {
                    type $S = $crate::kernels::lanes::Plain<E>;
                    $body
                })
            }
            _ => unreachable!("an order has two ends"),
        }
    };
}

pub(crate) use with_sources;
