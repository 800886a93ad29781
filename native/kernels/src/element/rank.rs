//! What an elementwise operation accumulates in place of the stored elements: IEEE 754-2019 `maximum` and `minimum`,
//! `maximumNumber` and `minimumNumber`.

use crate::element::compare::Compared;
use crate::element::order::Order;

/// A stored value as an elementwise operation accumulates it.
pub trait Ranked: Copy + Send + Sync + 'static {
    /// What is accumulated: the element itself, or what is cheaper to compare.
    type Rank: Copy + PartialOrd;
    /// Whether [`extreme_of_numbers`](Self::extreme_of_numbers) may have to say that one of the two is NaN.
    const HASTY: bool = false;
    /// Where ranks begin, for types that differ in nothing else.
    type Origin: Copy;
    /// One of the types that differ in the origin alone: kernels are compiled for that one.
    type Like: Compared + Ranked<Rank = Self::Rank, Origin = Self::Origin>;
    /// One of the orders that differ in the origin alone.
    type LikeOrder<O: Order>: Order;
    fn origin<O: Order>() -> Self::Origin;
    fn rank<O: Order>(self, origin: Self::Origin) -> Self::Rank;
    fn from_rank<O: Order>(rank: Self::Rank, origin: Self::Origin) -> Self;
    /// The rank of the larger (or smaller) of two elements: NaN wins or gives way as the order says, and `-0 < +0`.
    #[inline(always)]
    fn extreme<O: Order>(a: Self::Rank, b: Self::Rank) -> Self::Rank {
        if O::better(a, b) { a } else { b }
    }
    /// The same where neither is NaN, and whether one of the two is; which is cheaper.
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
    /// Whether NaN gives way to numbers.
    pub omit: bool,
}

/// Of a type that no other type is like.
macro_rules! one_origin {
    () => {
        type Origin = ();
        type Like = Self;
        type LikeOrder<O: Order> = O;
        #[inline(always)]
        fn origin<O: Order>() {}
    };
}

/// The rank of an element that is its own.
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
