//! What "larger" and "smaller" mean: the one place that knows NaN and the two zeros.
//!
//! An [`Element`] is a value as it is stored; a [`Lane`] is what the kernels compare. Integers and the
//! native floats are their own lanes. The 16-bit floats become order-preserving `i16` keys, so every kernel
//! handles them as integers. A float lane may be NaN: kernels compare it the cheap way, notice NaN on the
//! side, and run again over [`Keyed`] elements, whose integer lanes place NaN at the extreme end.

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
    /// The larger (or smaller) of two elements by IEEE 754-2019 `maximum` (`minimum`): NaN wins, and
    /// `-0 < +0`.
    fn extreme<O: Order>(self, other: Self) -> Self;
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
    /// Whether the lane is NaN.
    fn is_nan(self) -> bool;
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
            fn or(self, flag: bool) -> Self {
                self | flag as $type
            }
            #[inline(always)]
            fn any(self) -> bool {
                self != 0
            }
        }
    )*};
}

index!(u8 u16 u32 u64);

macro_rules! integer {
    ($($type:ty, $index:ty;)*) => {$(
        impl Lane for $type {
            type Index = $index;
            type Key = $type;
            const LOWEST: Self = <$type>::MIN;
            const HIGHEST: Self = <$type>::MAX;
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn key<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn from_key(key: $type) -> $type {
                key
            }
        }

        impl Element for $type {
            type Lane = $type;
            type Ordered = $type;
            const ONE: Self = 1;
            #[inline(always)]
            fn lane<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn extreme<O: Order>(self, other: Self) -> Self {
                if O::better(self, other) { self } else { other }
            }
        }
    )*};
}

integer!(i8, u8; u8, u8; i16, u16; u16, u16; i32, u32; u32, u32; i64, u64; u64, u64;);

/// A NumPy bool: any byte but zero is true.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bool(u8);

impl Element for Bool {
    type Lane = u8;
    type Ordered = Bool;
    const ONE: Self = Bool(1);
    #[inline(always)]
    fn lane<O: Order>(self) -> u8 {
        (self.0 != 0) as u8
    }
    #[inline(always)]
    fn extreme<O: Order>(self, other: Self) -> Self {
        let (a, b) = (self.lane::<O>(), other.lane::<O>());
        Bool(if O::LARGEST { a | b } else { a & b })
    }
}

macro_rules! float {
    ($($type:ty, $key:ty, $bits:ty;)*) => {$(
        impl Lane for $type {
            type Index = $bits;
            type Key = $key;
            const LOWEST: Self = <$type>::NEG_INFINITY;
            const HIGHEST: Self = <$type>::INFINITY;
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
            #[inline(always)]
            fn key<O: Order>(self) -> $key {
                // In integers throughout: the compiler takes float comparisons out of vectors again in some loops.
                let bits = self.to_bits() as $key;
                let sign = bits >> (<$key>::BITS - 1);
                let magnitude = bits & <$key>::MAX;
                // Sign and magnitude to two's complement: both zeros become 0.
                let key = (magnitude ^ sign) - sign;
                let extreme = if O::LARGEST { <$key>::MAX } else { <$key>::MIN };
                if magnitude > <$type>::INFINITY.to_bits() as $key { extreme } else { key }
            }
            #[inline(always)]
            fn from_key(key: $key) -> $type {
                let magnitude = <$type>::from_bits(key.unsigned_abs());
                if key < 0 { -magnitude } else { magnitude }
            }
        }

        impl Element for $type {
            type Lane = $type;
            type Ordered = Keyed<$type>;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn lane<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn extreme<O: Order>(self, other: Self) -> Self {
                let (a, b) = (self.to_bits(), other.to_bits());
                // Equal values differ in the sign of zero alone, which "and" clears and "or" sets.
                let equal = <$type>::from_bits(if O::LARGEST { a & b } else { a | b });
                // `other` where they are unordered, so only a NaN in `self` is left to mend.
                let picked = if O::better(self, other) { self } else { other };
                let picked = if self == other { equal } else { picked };
                if self != self { self } else { picked }
            }
        }

        impl Element for Keyed<$type> {
            type Lane = $key;
            type Ordered = Self;
            const ONE: Self = Keyed(1.0);
            #[inline(always)]
            fn lane<O: Order>(self) -> $key {
                self.0.key::<O>()
            }
            #[inline(always)]
            fn extreme<O: Order>(self, other: Self) -> Self {
                Keyed(self.0.extreme::<O>(other.0))
            }
        }
    )*};
}

/// A native float compared by its integer key.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Keyed<F>(F);

float!(f32, i32, u32; f64, i64, u64;);

/// A 16-bit float: sign, then a magnitude of which everything above `INFINITY` is NaN.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Half<const INFINITY: i16, const ONE: u16>(u16);

/// IEEE 754 binary16.
pub type Float16 = Half<0x7c00, 0x3c00>;

/// The upper half of an IEEE 754 binary32.
pub type BFloat16 = Half<0x7f80, 0x3f80>;

impl<const INFINITY: i16, const ONE: u16> Half<INFINITY, ONE> {
    #[inline(always)]
    fn is_nan(self) -> bool {
        (self.0 & 0x7fff) as i16 > INFINITY
    }

    /// Sign and magnitude to one's complement: every bit pattern has its own place, `-0` below `+0`.
    #[inline(always)]
    fn ordinal(self) -> i16 {
        let bits = self.0 as i16;
        bits ^ ((bits >> 15) & 0x7fff)
    }
}

impl<const INFINITY: i16, const ONE: u16> Element for Half<INFINITY, ONE> {
    type Lane = i16;
    type Ordered = Self;
    const ONE: Self = Half(ONE);
    #[inline(always)]
    fn lane<O: Order>(self) -> i16 {
        let bits = self.0 as i16;
        let sign = bits >> 15;
        let magnitude = bits & 0x7fff;
        let key = (magnitude ^ sign) - sign;
        let extreme = if O::LARGEST { i16::MAX } else { i16::MIN };
        if magnitude > INFINITY { extreme } else { key }
    }
    #[inline(always)]
    fn extreme<O: Order>(self, other: Self) -> Self {
        let picked = if O::better(self.ordinal(), other.ordinal()) { self } else { other };
        let picked = if other.is_nan() { other } else { picked };
        if self.is_nan() { self } else { picked }
    }
}
