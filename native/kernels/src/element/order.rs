//! Which end of the order is wanted. [`compare`](crate::element::compare) and [`rank`](crate::element::rank) define what
//! "larger" means for each element type.

/// Which end of the order is wanted.
pub trait Order: Copy + Send + Sync + 'static {
    /// True where the largest is wanted.
    const LARGEST: bool;
    /// True where NaN wins against every number, false where every number wins against NaN.
    const NAN_WINS: bool;
    /// The same end, for code that does not look for NaN.
    type IgnoreNan: Order;
    /// Whether `a` comes strictly before `b`. Neither may be NaN.
    #[inline(always)]
    fn better<L: PartialOrd>(a: L, b: L) -> bool {
        if Self::LARGEST { a > b } else { a < b }
    }
}

/// The ends of the order that are wanted in one go: one of them, or both.
pub trait Ends: Copy + Send + Sync + 'static {
    type First: Order;
    type Second: Order;
    const BOTH: bool;
}

impl<O: Order> Ends for O {
    type First = O;
    type Second = O;
    const BOTH: bool = false;
}

impl<A: Order, B: Order> Ends for (A, B) {
    type First = A;
    type Second = B;
    const BOTH: bool = true;
}

macro_rules! orders {
    ($($(#[$doc:meta])+ $name:ident: $largest:literal, $nan_wins:literal, $ignore_nan:ident;)+) => {$(
        $(#[$doc])+
        #[derive(Clone, Copy)]
        pub struct $name;

        impl Order for $name {
            const LARGEST: bool = $largest;
            const NAN_WINS: bool = $nan_wins;
            type IgnoreNan = $ignore_nan;
        }
    )+};
}

orders! {
    /// The largest is wanted.
    Largest: true, true, Largest;
    /// The smallest is wanted.
    Smallest: false, true, Smallest;
    /// The largest number is wanted, or NaN if every element is NaN: IEEE 754-2019 `maximumNumber`. A reduction takes NaN for the
    /// number that loses to all others.
    LargestNumber: true, false, Largest;
    /// The smallest number is wanted, or NaN if every element is NaN: IEEE 754-2019 `minimumNumber`. Reductions: as above.
    SmallestNumber: false, false, Smallest;
}

/// The smallest and the largest are wanted.
pub type Both = (Smallest, Largest);

/// The smallest and the largest number are wanted.
pub type BothIgnoreNan = (SmallestNumber, LargestNumber);
