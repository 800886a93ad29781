//! What a reduction compares in place of the stored elements.
//!
//! Integers and the native floats are their own lanes; the 16-bit floats become order-preserving integers. A lane of a float may
//! be NaN: kernels compare lanes the cheap way, note NaN on the side, and run again over
//! [`ByKey`](crate::element::types::ByKey) elements, whose integer lanes place NaN at the extreme end.

use crate::element::order::Order;
use std::ops::BitOr;

/// A stored value as a reduction compares it.
pub trait HasLane: Copy + Send + Sync + 'static {
    /// What the kernels compare in place of the stored value.
    type Lane: Lane;
    /// The same element with lanes that place NaN in the order; `Self` if no lane can be NaN.
    type Ordered: HasLane<Lane = Key<Self>>;
    /// The same element with lanes that are quicker to make, but do not decide every column; `Self` if there are none.
    type Quick: HasLane<Lane = Self::Lane>;
    /// Whether these are such lanes.
    const IS_QUICK: bool = false;
    /// Whether a lane that is not NaN determines its element.
    const UNIQUE: bool;
    /// The lane of this element; the order decides at which end NaN stands.
    fn lane<O: Order>(self) -> Self::Lane;
    /// An element with this lane, and whether it is the only such element.
    fn from_lane<O: Order>(lane: Self::Lane) -> (Self, bool);
    /// The element that a result has where this one is found.
    #[inline(always)]
    fn as_result(self) -> Self {
        self
    }
    /// The lane of this element, where a NaN that loses stays NaN: it loses to the worst number too. To be compared by [`beats`].
    #[inline(always)]
    fn lane_or_nan<O: Order>(self) -> Self::Lane {
        self.lane::<O>()
    }
    /// A lane that [`beats`] no other.
    #[inline(always)]
    fn identity_lane<O: Order>() -> Self::Lane {
        worst::<O, _>()
    }
    /// Notes whether a lane is a NaN that wins.
    #[inline(always)]
    fn note_nan<O: Order>(lane: Self::Lane) -> <Self::Lane as Lane>::Index {
        lane.unordered::<O>(lane).into()
    }
    /// Joins what is noted of several lanes.
    #[inline(always)]
    fn join_notes(one: <Self::Lane as Lane>::Index, other: <Self::Lane as Lane>::Index) -> <Self::Lane as Lane>::Index {
        one | other
    }
    /// Whether one of the lanes that were noted is such a NaN.
    #[inline(always)]
    fn has_nan(noted: <Self::Lane as Lane>::Index) -> bool {
        noted.any()
    }
    /// Turns the best of quick lanes into the lane that other lanes have in its place, and says whether it decides.
    #[inline(always)]
    fn settle<O: Order>(best: Self::Lane) -> (Self::Lane, bool) {
        (best, true)
    }
    /// Whether this is the lane of a NaN that loses.
    #[inline(always)]
    fn is_losing_nan<O: Order>(_lane: Self::Lane) -> bool {
        false
    }
}

pub type Key<E> = <<E as HasLane>::Lane as Lane>::Key;

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
    /// Whether a lane may be NaN.
    const NAN: bool = false;
    /// The key of this lane: NaN stands at the end that `O` prefers, or at the other if NaN loses; the zeros are equal.
    fn key<O: Order>(self) -> Self::Key;
    /// A lane that compares equal to every lane with this key, which is not NaN's.
    fn from_key(key: Self::Key) -> Self;
    /// Whether either lane is NaN and NaN wins.
    #[inline(always)]
    fn unordered<O: Order>(self, _other: Self) -> bool {
        false
    }
}

/// A narrow index: a row number inside one block.
pub trait Index: Copy + Ord + From<bool> + BitOr<Output = Self> + 'static {
    /// How many rows of a block an index of this width can tell apart.
    const ROWS: usize;
    const ZERO: Self;
    const MAX: Self;
    /// The index of row `row`, which is below [`Self::ROWS`].
    fn new(row: usize) -> Self;
    /// The index as the 64-bit integer that leaves the kernels.
    fn widen(self) -> i64;
    /// Bitwise or with a truth value; how vector loops collect "any".
    #[inline(always)]
    fn or(self, flag: bool) -> Self {
        self | Self::from(flag)
    }
    /// The sum, which may wrap around.
    fn plus(self, other: Self) -> Self;
    /// Whether any flag was collected.
    #[inline(always)]
    fn any(self) -> bool {
        self != Self::ZERO
    }
}

macro_rules! index {
    ($($type:ty)*) => {$(
        impl Index for $type {
            const ROWS: usize = if <$type>::BITS < 32 { 1 << <$type>::BITS } else { u32::MAX as usize };
            const ZERO: Self = 0;
            const MAX: Self = <$type>::MAX;
            #[inline(always)]
            fn new(row: usize) -> Self {
                row as $type
            }
            #[inline(always)]
            fn widen(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}

index!(u8 u16 u32 u64);

/// Whether a lane is not NaN. This is one instruction; `partial_cmp` would take two.
#[inline(always)]
#[allow(clippy::eq_op, reason = "NaN alone differs from itself")]
fn is_number<L: Lane>(lane: L) -> bool {
    lane == lane
}

/// Whether a lane comes strictly before another, or that one is a NaN that loses.
#[inline(always)]
#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN is neither below nor above")]
pub fn beats<O: Order, L: Lane>(a: L, b: L) -> bool {
    if O::NAN_WINS {
        // With `b` first, the compiler makes an unsigned comparison from the larger of the two, which loops compute anyway: columns of
        // unsigned integers take 0.82 to 0.93 times as long with AVX2 and SSE4.2 (Xeon, family 6, model 167). No
        // instruction set before AVX-512 finds the larger of 64 bits: SSE2 then takes 0.73 to 1.76 times as long.
        return match size_of::<L>() {
            8 => O::better(a, b),
            _ if O::LARGEST => b < a,
            _ => b > a,
        };
    }
    // Unlike `a > b`, this holds where `b` is NaN. As two comparisons that do not wait for each other, neither of `b` with itself,
    // it costs the least: a loop waits for `b`.
    let is_not_behind = if O::LARGEST { !(a <= b) } else { !(a >= b) };
    is_number(a) & is_not_behind
}

/// The better of two lanes; `b` where they are equal or one is NaN, as the vector instructions do.
#[inline(always)]
pub fn pick<O: Order, L: Lane>(a: L, b: L) -> L {
    if O::better(a, b) { a } else { b }
}

/// The better of two lanes, `b` where they are equal; NaN only if both are NaN.
#[inline(always)]
pub fn pick_number<O: Order, L: Lane>(a: L, b: L) -> L {
    // `b` if `a` is NaN.
    let better = pick::<O, _>(a, b);
    if is_number(b) { better } else { a }
}

/// The better of two keys.
#[inline(always)]
pub fn better_key<O: Order, K: Ord>(a: K, b: K) -> K {
    if O::LARGEST { a.max(b) } else { a.min(b) }
}

/// The key that no other key beats: NaN's key, if the type has NaN.
#[inline(always)]
pub fn utmost<O: Order, K: Lane>() -> K {
    if O::LARGEST { K::HIGHEST } else { K::LOWEST }
}

/// The lane that every other lane beats or equals.
#[inline(always)]
pub fn worst<O: Order, L: Lane>() -> L {
    if O::LARGEST { L::LOWEST } else { L::HIGHEST }
}
