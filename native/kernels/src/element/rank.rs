//! What an elementwise operation accumulates in place of the stored elements: IEEE 754-2019 `maximum` and `minimum`,
//! `maximumNumber` and `minimumNumber`.

use crate::element::order::Order;

/// A stored value as an elementwise operation accumulates it.
pub trait Ranked: Copy + Send + Sync + 'static {
    /// What is accumulated: the element itself, or what is cheaper to compare.
    type Rank: Copy;
    /// The rank of this element.
    fn rank<O: Order>(self) -> Self::Rank;
    /// The element of a rank.
    fn from_rank<O: Order>(rank: Self::Rank) -> Self;
    /// The rank of the larger (or smaller) of two elements: NaN wins or gives way as the order says, and `-0 < +0`.
    fn extreme<O: Order>(a: Self::Rank, b: Self::Rank) -> Self::Rank;
    /// The same where neither is NaN, and whether one of the two is; which is cheaper.
    #[inline(always)]
    fn extreme_of_numbers<O: Order>(a: Self::Rank, b: Self::Rank) -> (Self::Rank, bool) {
        (Self::extreme::<O>(a, b), false)
    }
}

/// Which of several elements an elementwise operation wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The largest, or NaN.
    Maximum,
    /// The smallest, or NaN.
    Minimum,
    /// The largest number.
    MaximumNumber,
    /// The smallest number.
    MinimumNumber,
}

impl Extreme {
    /// The largest or the smallest; NaN gives way to numbers where it is to be omitted.
    pub fn new(largest: bool, omit: bool) -> Self {
        match (largest, omit) {
            (true, false) => Self::Maximum,
            (false, false) => Self::Minimum,
            (true, true) => Self::MaximumNumber,
            (false, true) => Self::MinimumNumber,
        }
    }
}

/// The rank of an element that is its own.
macro_rules! own_rank {
    () => {
        type Rank = Self;
        #[inline(always)]
        fn rank<O: Order>(self) -> Self {
            self
        }
        #[inline(always)]
        fn from_rank<O: Order>(rank: Self) -> Self {
            rank
        }
    };
}

pub(crate) use own_rank;
