//! A value as an array stores it: what every operation may ask of it.

use crate::element::compare::Compared;
use crate::element::rank::Ranked;

/// A value as it is stored in an array.
pub trait Element: Compared + Ranked {
    /// The value one, which Hardmax writes.
    const ONE: Self;
}
