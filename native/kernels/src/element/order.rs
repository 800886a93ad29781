//! Which end of the order is wanted. What "larger" means for each element type, [`compare`](crate::element::compare) and
//! [`rank`](crate::element::rank) say.

/// Which end of the order is wanted.
pub trait Order: Copy + Send + Sync + 'static {
    /// True where the largest is wanted.
    const LARGEST: bool;
    /// True where NaN wins against every number, false where every number wins against NaN.
    const NAN_WINS: bool = true;
    /// The same end where nobody asks for NaN.
    type OfNumbers: Order;
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
    type OfNumbers = Largest;
    const LARGEST: bool = true;
    #[inline(always)]
    fn better<L: PartialOrd>(a: L, b: L) -> bool {
        a > b
    }
}

impl Order for Smallest {
    type OfNumbers = Smallest;
    const LARGEST: bool = false;
    #[inline(always)]
    fn better<L: PartialOrd>(a: L, b: L) -> bool {
        a < b
    }
}

/// The largest number is wanted, NaN where there is none: IEEE 754-2019 `maximumNumber`. To a reduction NaN is then the
/// number that loses to all others.
#[derive(Clone, Copy)]
pub struct LargestNumber;

/// The smallest number is wanted, NaN where there is none: IEEE 754-2019 `minimumNumber`. As above.
#[derive(Clone, Copy)]
pub struct SmallestNumber;

impl Order for LargestNumber {
    type OfNumbers = Largest;
    const LARGEST: bool = true;
    const NAN_WINS: bool = false;
    #[inline(always)]
    fn better<L: PartialOrd>(a: L, b: L) -> bool {
        a > b
    }
}

impl Order for SmallestNumber {
    type OfNumbers = Smallest;
    const LARGEST: bool = false;
    const NAN_WINS: bool = false;
    #[inline(always)]
    fn better<L: PartialOrd>(a: L, b: L) -> bool {
        a < b
    }
}

/// The ends of the order that are wanted in one go: one of them, or both.
pub trait Ends: Copy + Send + Sync + 'static {
    /// The first of them.
    type First: Order;
    /// The other one, where there are two.
    type Second: Order;
    /// Whether there are.
    const BOTH: bool;
}

impl<O: Order> Ends for O {
    type First = O;
    type Second = O;
    const BOTH: bool = false;
}

/// The smallest and the largest are wanted.
#[derive(Clone, Copy)]
pub struct Both;

/// The smallest and the largest number are wanted.
#[derive(Clone, Copy)]
pub struct BothNumbers;

impl Ends for Both {
    type First = Smallest;
    type Second = Largest;
    const BOTH: bool = true;
}

impl Ends for BothNumbers {
    type First = SmallestNumber;
    type Second = LargestNumber;
    const BOTH: bool = true;
}
