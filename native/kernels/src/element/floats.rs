//! The native floats, float32 and float64: compared as they are, and by integer keys where NaN is among them.

use crate::element::Element;
use crate::element::compare::{Compared, Index, Lane, NanState, pick, worst};
use crate::element::order::Order;
use crate::element::rank::{Ranked, own_rank};

/// A float whose lane is its integer key, which places NaN in the order.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Keyed<F>(pub F);

macro_rules! float {
    ($($type:ty, $key:ty, $bits:ty;)*) => {$(
        impl Lane for $type {
            type Index = $bits;
            type Key = $key;
            const LOWEST: Self = <$type>::NEG_INFINITY;
            const HIGHEST: Self = <$type>::INFINITY;
            type NanState = $bits;
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

        /// Whether a lane was NaN: an integer as wide as the lanes, so that both fill the same vector registers.
        impl NanState<$type> for $bits {
            #[inline(always)]
            fn new<O: Order>() -> $bits {
                0
            }
            #[inline(always)]
            fn observe<O: Order>(self, lane: $type) -> $bits {
                self.or(O::NAN_WINS & (lane != lane))
            }
            #[inline(always)]
            fn observe_two<O: Order>(self, one: $type, other: $type) -> $bits {
                self.or(O::NAN_WINS & one.partial_cmp(&other).is_none())
            }
            #[inline(always)]
            fn saw_nan<O: Order>(self, _: $type) -> bool {
                self.any()
            }
        }

        impl Compared for $type {
            type Lane = $type;
            type Ordered = Keyed<$type>;
            const TOLD: bool = true;
            /// Where NaN does not win, it is the infinity that loses: one instruction, as to notice NaN is.
            #[inline(always)]
            fn lane<O: Order>(self) -> $type {
                if O::NAN_WINS { self } else { pick::<O, _>(self, worst::<O, _>()) }
            }
            #[inline(always)]
            fn from_lane(lane: $type) -> ($type, bool) {
                (lane, true)
            }
        }

        impl Compared for Keyed<$type> {
            type Lane = $key;
            type Ordered = Self;
            const TOLD: bool = false;
            #[inline(always)]
            fn lane<O: Order>(self) -> $key {
                self.0.lane::<O>().key::<O>()
            }
            #[inline(always)]
            fn from_lane(lane: $key) -> (Self, bool) {
                let told = lane != 0 && lane.unsigned_abs() <= <$type>::INFINITY.to_bits();
                (Keyed(<$type>::from_key(lane)), told)
            }
        }

        impl Ranked for $type {
            own_rank! {}
            const HASTY: bool = true;
            #[inline(always)]
            fn extreme<O: Order>(a: Self, b: Self) -> Self {
                let (bits, other) = (a.to_bits(), b.to_bits());
                // Equal values differ in the sign of zero alone, which "and" clears and "or" sets.
                let equal = <$type>::from_bits(if O::LARGEST { bits & other } else { bits | other });
                // `b` where they are unordered, so that one of the two is left to mend.
                let picked = if O::better(a, b) { a } else { b };
                let picked = if a == b { equal } else { picked };
                if if O::NAN_WINS { a != a } else { b != b } { a } else { picked }
            }
            #[inline(always)]
            fn extreme_of_numbers<O: Order>(a: Self, b: Self) -> (Self, bool) {
                // Which of two equals is picked depends on who asks: both answers together settle the sign of zero.
                let (one, other) = (pick::<O, _>(a, b).to_bits(), pick::<O, _>(b, a).to_bits());
                (<$type>::from_bits(if O::LARGEST { one & other } else { one | other }), (a != a) | (b != b))
            }
        }

        impl Element for $type {
            const ONE: Self = 1.0;
        }
    )*};
}

float!(f32, i32, u32; f64, i64, u64;);
