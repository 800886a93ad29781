//! The element types: how each is stored, what stands in for it in comparisons, where its NaN and its zeros go. The
//! 16-bit floats have a file of their own, [`halves`](crate::element::halves).

use crate::element::order::{Element, Index, Lane, Order, pick};

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
            fn less(self, other: Self) -> Self {
                self - other
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

macro_rules! integer {
    ($($type:ty, $index:ty;)*) => {$(
        impl Lane for $type {
            type Index = $index;
            type Key = $type;
            const LOWEST: Self = <$type>::MIN;
            const HIGHEST: Self = <$type>::MAX;
            type Watch = ();
            #[inline(always)]
            fn calm<O: Order>() {}
            #[inline(always)]
            fn watch<O: Order>(self, (): ()) {}
            #[inline(always)]
            fn met_nan<O: Order>(_: Self, (): ()) -> bool {
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
            own_rank! {}
            #[inline(always)]
            fn extreme<O: Order>(a: Self, b: Self) -> Self {
                if O::better(a, b) { a } else { b }
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
    type Rank = u8;
    #[inline(always)]
    fn rank<O: Order>(self) -> u8 {
        self.lane::<O>()
    }
    #[inline(always)]
    fn from_rank<O: Order>(rank: u8) -> Self {
        Bool(rank)
    }
    #[inline(always)]
    fn extreme<O: Order>(a: u8, b: u8) -> u8 {
        if O::LARGEST { a | b } else { a & b }
    }
}

macro_rules! float {
    ($($type:ty, $key:ty, $bits:ty;)*) => {$(
        impl Lane for $type {
            type Index = $bits;
            type Key = $key;
            const LOWEST: Self = <$type>::NEG_INFINITY;
            const HIGHEST: Self = <$type>::INFINITY;
            type Watch = bool;
            #[inline(always)]
            fn calm<O: Order>() -> bool {
                false
            }
            #[inline(always)]
            fn watch<O: Order>(self, so_far: bool) -> bool {
                so_far | (self != self)
            }
            #[inline(always)]
            fn met_nan<O: Order>(_: Self, watch: bool) -> bool {
                watch
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
            own_rank! {}
            #[inline(always)]
            fn extreme<O: Order>(a: Self, b: Self) -> Self {
                let (bits, other) = (a.to_bits(), b.to_bits());
                // Equal values differ in the sign of zero alone, which "and" clears and "or" sets.
                let equal = <$type>::from_bits(if O::LARGEST { bits & other } else { bits | other });
                // `b` where they are unordered, so only a NaN in `a` is left to mend.
                let picked = if O::better(a, b) { a } else { b };
                let picked = if a == b { equal } else { picked };
                if a != a { a } else { picked }
            }
            #[inline(always)]
            fn extreme_of_numbers<O: Order>(a: Self, b: Self) -> (Self, bool) {
                // Which of two equals is picked depends on who asks: both answers together settle the sign of zero.
                let (one, other) = (pick::<O, _>(a, b).to_bits(), pick::<O, _>(b, a).to_bits());
                (<$type>::from_bits(if O::LARGEST { one & other } else { one | other }), (a != a) | (b != b))
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
            own_rank! {}
            #[inline(always)]
            fn extreme<O: Order>(a: Self, b: Self) -> Self {
                Keyed(<$type>::extreme::<O>(a.0, b.0))
            }
        }
    )*};
}

/// A native float compared by its integer key.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Keyed<F>(pub F);

float!(f32, i32, u32; f64, i64, u64;);
