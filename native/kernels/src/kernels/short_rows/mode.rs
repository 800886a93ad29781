//! How elements become the lanes that are compared. Each mode is a type, so that a kernel has the code of its own mode alone.

use crate::kernels::short_rows::Constants;
use crate::vector::{Kind, Lanes};

/// A way to make lanes, of which the largest wins.
///
/// # Safety
/// As for [`Register`](crate::vector::Register), every operation requires that the instruction set is in force.
pub trait Mode {
    /// Whether bits of the elements are flipped, so that the largest of the kind is wanted.
    const FLIPS: bool = true;
    /// Whether NaN is replaced by the identity.
    const IGNORES_NAN: bool = false;
    /// Whether both ends of the order are wanted.
    const BOTH: bool = false;
    /// Whether 16-bit floats are compared as integers, which have the order of the floats above zero.
    const AS_INTEGERS: bool = false;
    /// Whether masked elements are replaced by the identity.
    const MASKED: bool = false;

    /// Elements with bits flipped, as far as this mode flips them.
    ///
    /// # Safety
    /// See [`Mode`].
    #[inline(always)]
    unsafe fn elements<K: Kind, V: Lanes<K>>(constants: Constants<V>, elements: V) -> V {
        if Self::FLIPS { elements.xor(constants.flip) } else { elements }
    }

    /// The lanes of elements whose bits are flipped.
    ///
    /// # Safety
    /// See [`Mode`].
    #[inline(always)]
    unsafe fn lanes<K: Kind, V: Lanes<K>>(constants: Constants<V>, elements: V) -> V {
        if Self::AS_INTEGERS {
            elements
        } else if Self::IGNORES_NAN {
            elements.lanes().replace_nan(constants.least, constants.infinity)
        } else {
            elements.lanes()
        }
    }

    /// Whether lanes are keys of 16-bit floats, which take several instructions to make.
    #[inline(always)]
    fn has_keys<K: Kind>() -> bool {
        K::KEYS && !Self::AS_INTEGERS
    }
}

/// Elements as they are.
pub struct PlainMode;
/// Elements with bits flipped.
pub struct FlipMode;
/// The same, without NaN.
pub struct IgnoreNanMode;
/// Both ends of the order.
pub struct BothMode;
/// 16-bit floats as integers.
pub struct AsIntegersMode;
/// Elements under a mask.
pub struct MaskedMode;

impl Mode for PlainMode {
    const FLIPS: bool = false;
}
impl Mode for FlipMode {}
impl Mode for IgnoreNanMode {
    const IGNORES_NAN: bool = true;
}
impl Mode for BothMode {
    const BOTH: bool = true;
}
impl Mode for AsIntegersMode {
    const AS_INTEGERS: bool = true;
}
impl Mode for MaskedMode {
    const MASKED: bool = true;
}
