//! What an elementwise operation accumulates in place of the stored elements: IEEE 754-2019 `maximum` and `minimum`,
//! `maximumNumber` and `minimumNumber`.

use crate::element::compare::HasLane;
use crate::element::order::Order;

/// A stored value as an elementwise operation accumulates it.
pub trait HasRank: Copy + Send + Sync + 'static {
    /// What is accumulated: the element itself, or a value that is cheaper to compare.
    type Rank: Copy + PartialOrd;
    /// Whether [`extreme_of_numbers`](Self::extreme_of_numbers) may report that one of the two is NaN.
    const HASTY: bool = false;
    /// Where ranks begin, for types that differ only in this.
    type Origin: Copy;
    /// The type that represents all types that differ only in the origin: kernels are compiled only for this type.
    type Like: HasLane + HasRank<Rank = Self::Rank, Origin = Self::Origin>;
    /// The order that represents all orders that differ only in the origin.
    type LikeOrder<O: Order>: Order;
    fn origin<O: Order>() -> Self::Origin;
    fn rank<O: Order>(self, origin: Self::Origin) -> Self::Rank;
    fn from_rank<O: Order>(rank: Self::Rank, origin: Self::Origin) -> Self;
    /// The rank of the larger (or smaller) of two elements: NaN wins or loses as the order says, and `-0 < +0`.
    #[inline(always)]
    fn extreme<O: Order>(a: Self::Rank, b: Self::Rank) -> Self::Rank {
        if O::better(a, b) { a } else { b }
    }
    /// The same if neither is NaN, and whether either is NaN. This is cheaper than [`extreme`](Self::extreme).
    #[inline(always)]
    fn extreme_of_numbers<O: Order>(a: Self::Rank, b: Self::Rank) -> (Self::Rank, bool) {
        (Self::extreme::<O>(a, b), false)
    }
}

/// Which of several elements an elementwise operation wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extreme {
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether NaN loses to numbers.
    pub omit: bool,
}

/// For types that share their ranks with no other type.
macro_rules! one_origin {
    () => {
        type Origin = ();
        type Like = Self;
        type LikeOrder<O: Order> = O;
        #[inline(always)]
        fn origin<O: Order>() {}
    };
}

/// For elements that are their own rank.
macro_rules! own_rank {
    () => {
        type Rank = Self;
        $crate::element::rank::one_origin! {}
        #[inline(always)]
        fn rank<O: Order>(self, (): ()) -> Self {
            self
        }
        #[inline(always)]
        fn from_rank<O: Order>(rank: Self, (): ()) -> Self {
            rank
        }
    };
}

pub(crate) use {one_origin, own_rank};
