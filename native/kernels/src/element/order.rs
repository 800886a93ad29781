//! What "larger" and "smaller" mean, for every element type alike; [`lanes`](crate::element::lanes) and [`halves`](crate::element::halves)
//! say it for each.
//!
//! An [`Element`] is a value as it is stored; a [`Lane`] is what the kernels compare. Integers and the
//! native floats are their own lanes, and the 16-bit floats become order-preserving integers. A float lane may be NaN:
//! kernels compare it the cheap way, notice NaN on the side, and run again over [`Keyed`](crate::element::lanes::Keyed)
//! elements, whose integer lanes place NaN at the extreme end.

use crate::kernels::rows::{Key, sweep};

/// A value as it is stored in an array.
pub trait Element: Copy + Send + Sync + 'static {
    /// What the kernels compare in place of the stored value.
    type Lane: Lane;
    /// The same element with lanes that place NaN in the order; `Self` where no lane is NaN.
    type Ordered: Element<Lane = <Self::Lane as Lane>::Key>;
    /// The value one, which Hardmax writes.
    const ONE: Self;
    /// The lane of this element; the order decides at which end NaN stands.
    fn lane<O: Order>(self) -> Self::Lane;
    /// The extreme key of a block, if it is better than the champion so far.
    ///
    /// # Safety
    /// `data` points at `len >= 1` elements, of any alignment.
    #[inline(always)]
    unsafe fn sweep<O: Order>(data: *const Self, len: usize, champion: Option<Key<Self>>) -> Option<Key<Self>> {
        // SAFETY: the caller's.
        unsafe { sweep::<Self, O>(data, len, champion) }
    }
    /// What an elementwise fold carries along: the element itself, or what is cheaper to compare.
    type Rank: Copy;
    /// The rank of this element.
    fn rank<O: Order>(self) -> Self::Rank;
    /// The element of a rank.
    fn from_rank<O: Order>(rank: Self::Rank) -> Self;
    /// The rank of the larger (or smaller) of two elements by IEEE 754-2019 `maximum` (`minimum`): NaN wins, and
    /// `-0 < +0`.
    fn extreme<O: Order>(a: Self::Rank, b: Self::Rank) -> Self::Rank;
    /// The same where neither is NaN, and whether one of the two is; which is cheaper.
    #[inline(always)]
    fn extreme_of_numbers<O: Order>(a: Self::Rank, b: Self::Rank) -> (Self::Rank, bool) {
        (Self::extreme::<O>(a, b), false)
    }
}

/// A value as the kernels compare it.
pub trait Lane: Copy + PartialOrd + Send + Sync + 'static {
    /// An unsigned integer as wide as the lane, so that indices and lanes fill the same vector registers.
    type Index: Index;
    /// An integer that orders all lanes, NaN included.
    type Key: Lane<Key = Self::Key> + Ord;
    /// Below every other lane.
    const LOWEST: Self;
    /// Above every other lane.
    const HIGHEST: Self;
    /// What is kept beside a champion, so that NaN among the lanes that it met is noticed.
    type Watch: Copy;
    /// Nothing noticed so far.
    fn calm<O: Order>() -> Self::Watch;
    /// Takes notice of a lane.
    fn watch<O: Order>(self, so_far: Self::Watch) -> Self::Watch;
    /// Whether one of the lanes that a champion met was NaN.
    fn met_nan<O: Order>(champion: Self, watch: Self::Watch) -> bool;
    /// The key of this lane: NaN stands at the end that `O` prefers, the zeros are equal.
    fn key<O: Order>(self) -> Self::Key;
    /// A lane that compares equal to every lane with this key, which is not NaN's.
    fn from_key(key: Self::Key) -> Self;
}

/// A narrow index: a row number inside one block.
pub trait Index: Copy + Ord + 'static {
    /// How many rows of a block an index of this width can tell apart.
    const ROWS: usize;
    /// Zero.
    const ZERO: Self;
    /// The largest value.
    const MAX: Self;
    /// The index of row `row`, which is below [`Self::ROWS`].
    fn new(row: usize) -> Self;
    /// The index as the 64-bit integer that leaves the kernels.
    fn widen(self) -> i64;
    /// The difference, which is not negative.
    fn less(self, other: Self) -> Self;
    /// Bitwise or with a truth value; how vector loops collect "any".
    fn or(self, flag: bool) -> Self;
    /// Whether any flag was collected.
    fn any(self) -> bool;
}

/// Which end of the order is wanted.
pub trait Order: Copy + Send + Sync + 'static {
    /// True where the largest is wanted.
    const LARGEST: bool;
    /// Whether `a` comes strictly before `b`, neither being NaN.
    fn better<L: PartialOrd>(a: L, b: L) -> bool;
}

/// The largest is wanted.
#[derive(Clone, Copy)]
pub struct Largest;

/// The smallest is wanted.
#[derive(Clone, Copy)]
pub struct Smallest;

impl Order for Largest {
    const LARGEST: bool = true;
    #[inline(always)]
    fn better<L: PartialOrd>(a: L, b: L) -> bool {
        a > b
    }
}

impl Order for Smallest {
    const LARGEST: bool = false;
    #[inline(always)]
    fn better<L: PartialOrd>(a: L, b: L) -> bool {
        a < b
    }
}

/// The better of two lanes; `b` where they are equal or one is NaN, as the vector instructions do.
#[inline(always)]
pub fn pick<O: Order, L: Lane>(a: L, b: L) -> L {
    if O::better(a, b) { a } else { b }
}

/// The key that no other key beats: NaN's, where there is NaN.
#[inline(always)]
pub fn utmost<O: Order, K: Lane>() -> K {
    if O::LARGEST { K::HIGHEST } else { K::LOWEST }
}

/// The lane that every other lane beats or equals.
#[inline(always)]
pub fn worst<O: Order, L: Lane>() -> L {
    if O::LARGEST { L::LOWEST } else { L::HIGHEST }
}
