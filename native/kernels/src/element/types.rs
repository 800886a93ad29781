//! The element types: what a reduction compares, and what an elementwise operation accumulates, for each type.
//!
//! Each integer is its own lane and its own rank. The native floats are compared directly, or by integer keys if some of them are
//! NaN. No instruction compares 16-bit floats: integers stand in for them, and place NaN too.

use crate::element::Element;
use crate::element::compare::{HasLane, Lane, pick, worst};
use crate::element::order::Order;
use crate::element::rank::{HasRank, one_origin, own_rank};

macro_rules! integer {
    ($($type:ty, $index:ty;)*) => {$(
        impl Lane for $type {
            type Index = $index;
            type Key = $type;
            const LOWEST: Self = <$type>::MIN;
            const HIGHEST: Self = <$type>::MAX;
            #[inline(always)]
            fn key<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn from_key(key: $type) -> $type {
                key
            }
        }

        impl HasLane for $type {
            type Lane = $type;
            type Ordered = $type;
            type Quick = $type;
            const UNIQUE: bool = true;
            #[inline(always)]
            fn lane<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn from_lane<O: Order>(lane: $type) -> ($type, bool) {
                (lane, true)
            }
        }

        impl HasRank for $type {
            own_rank! {}
        }

        impl Element for $type {
            const ONE: Self = 1;
        }
    )*};
}

integer!(i8, u8; u8, u8; i16, u16; u16, u16; i32, u32; u32, u32; i64, u64; u64, u64;);

/// A NumPy bool: any nonzero byte is true.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bool(u8);

impl HasLane for Bool {
    type Lane = u8;
    type Ordered = Bool;
    type Quick = Bool;
    const UNIQUE: bool = true;
    #[inline(always)]
    fn lane<O: Order>(self) -> u8 {
        // True is the largest possible lane: no later element can win, and the kernels do not look further.
        ((self.0 != 0) as u8).wrapping_neg()
    }
    #[inline(always)]
    fn from_lane<O: Order>(lane: u8) -> (Self, bool) {
        (Bool((lane != 0) as u8), true)
    }
    #[inline(always)]
    fn as_result(self) -> Self {
        // Any byte but 0 is True, and a result has the byte 1, as NumPy's has.
        Bool((self.0 != 0) as u8)
    }
}

impl HasRank for Bool {
    type Rank = u8;
    one_origin! {}
    #[inline(always)]
    fn rank<O: Order>(self, (): ()) -> u8 {
        (self.0 != 0) as u8
    }
    #[inline(always)]
    fn from_rank<O: Order>(rank: u8, (): ()) -> Self {
        Bool(rank)
    }
}

impl Element for Bool {
    const ONE: Self = Bool(1);
}

/// A float whose lane is its integer key, which places NaN in the order.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct ByKey<F>(pub F);

macro_rules! float {
    ($($type:ty, $key:ty, $bits:ty;)*) => {$(
        impl Lane for $type {
            type Index = $bits;
            type Key = $key;
            const LOWEST: Self = <$type>::NEG_INFINITY;
            const HIGHEST: Self = <$type>::INFINITY;
            const NAN: bool = true;
            #[inline(always)]
            fn key<O: Order>(self) -> $key {
                // Integers throughout: in some loops the compiler does not keep float comparisons in vectors.
                let bits = self.to_bits() as $key;
                let sign = bits >> (<$key>::BITS - 1);
                let magnitude = bits & <$key>::MAX;
                // Sign and magnitude to two's complement: both zeros become 0.
                let key = (magnitude ^ sign) - sign;
                let nan = if O::LARGEST == O::NAN_WINS { <$key>::MAX } else { <$key>::MIN };
                if magnitude > <$type>::INFINITY.to_bits() as $key { nan } else { key }
            }
            #[inline(always)]
            fn from_key(key: $key) -> $type {
                let magnitude = <$type>::from_bits(key.unsigned_abs());
                if key < 0 { -magnitude } else { magnitude }
            }
            #[inline(always)]
            fn unordered<O: Order>(self, other: Self) -> bool {
                O::NAN_WINS & self.partial_cmp(&other).is_none()
            }
        }

        impl HasLane for $type {
            type Lane = $type;
            type Ordered = ByKey<$type>;
            type Quick = $type;
            const UNIQUE: bool = true;
            /// If NaN does not win, it becomes the infinity that loses. This takes one instruction, as noting NaN does.
            #[inline(always)]
            fn lane<O: Order>(self) -> $type {
                if O::NAN_WINS { self } else { pick::<O, _>(self, worst::<O, _>()) }
            }
            #[inline(always)]
            fn from_lane<O: Order>(lane: $type) -> ($type, bool) {
                (lane, true)
            }
            #[inline(always)]
            fn lane_or_nan<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn identity_lane<O: Order>() -> $type {
                if O::NAN_WINS { worst::<O, _>() } else { <$type>::NAN }
            }
            #[inline(always)]
            fn is_losing_nan<O: Order>(lane: $type) -> bool {
                !O::NAN_WINS & (lane != lane)
            }
        }

        impl HasLane for ByKey<$type> {
            type Lane = $key;
            type Ordered = Self;
            type Quick = Self;
            const UNIQUE: bool = false;
            #[inline(always)]
            fn lane<O: Order>(self) -> $key {
                self.0.lane::<O>().key::<O>()
            }
            #[inline(always)]
            fn from_lane<O: Order>(lane: $key) -> (Self, bool) {
                let is_unique = lane != 0 && lane.unsigned_abs() <= <$type>::INFINITY.to_bits();
                (ByKey(<$type>::from_key(lane)), is_unique)
            }
        }

        impl HasRank for $type {
            own_rank! {}
            const HASTY: bool = true;
            #[inline(always)]
            fn extreme<O: Order>(a: Self, b: Self) -> Self {
                let bits = a.to_bits();
                let other = b.to_bits();
                // Equal values differ only in the sign of zero, which "and" clears and "or" sets.
                let equal = <$type>::from_bits(if O::LARGEST { bits & other } else { bits | other });
                // `b` if they are unordered, so that only one case is left to correct.
                let winner = if O::better(a, b) { a } else { b };
                let winner = if a == b { equal } else { winner };
                if if O::NAN_WINS { a != a } else { b != b } { a } else { winner }
            }
            #[inline(always)]
            fn extreme_of_numbers<O: Order>(a: Self, b: Self) -> (Self, bool) {
                // Which of two equal values is picked depends on their order: both picks together give the sign of zero.
                let one = pick::<O, _>(a, b).to_bits();
                let other = pick::<O, _>(b, a).to_bits();
                (<$type>::from_bits(if O::LARGEST { one & other } else { one | other }), (a != a) | (b != b))
            }
        }

        impl Element for $type {
            const ONE: Self = 1.0;
        }
    )*};
}

float!(f32, i32, u32; f64, i64, u64;);

/// The bits of a 16-bit float: a sign, then a magnitude; magnitudes above `INFINITY` are NaN.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Float16Bits<const INFINITY: i16, const ONE: u16>(u16);

/// The sign of a 16-bit float.
pub const SIGN: u16 = 0x8000;

/// IEEE 754 binary16.
pub type Float16 = Float16Bits<0x7c00, 0x3c00>;

/// The upper half of an IEEE 754 binary32.
pub type BFloat16 = Float16Bits<0x7f80, 0x3f80>;

impl<const INFINITY: i16, const ONE: u16> Float16Bits<INFINITY, ONE> {
    /// The number of magnitudes beyond infinity.
    const NANS: i16 = i16::MAX - INFINITY;

    /// How far the lane of a number lies above its value.
    const fn shift<O: Order>() -> i16 {
        match (O::LARGEST, O::NAN_WINS) {
            (true, true) => Self::NANS - 1,
            (false, true) => -Self::NANS,
            (true, false) => Self::NANS,
            (false, false) => -Self::NANS - 1,
        }
    }

    /// The lane of a number with this value.
    #[inline(always)]
    pub fn lane_of<O: Order>(value: i16) -> i16 {
        value.wrapping_add(Self::shift::<O>())
    }
}

impl<const INFINITY: i16, const ONE: u16> HasLane for Float16Bits<INFINITY, ONE> {
    type Lane = i16;
    type Ordered = Self;
    type Quick = AsInteger<Self>;
    const UNIQUE: bool = false;
    /// Sign and magnitude to two's complement, where both zeros are 0. Then rotated until NaNs of both signs stand at the losing
    /// end, or beyond the winning infinity, where all NaNs become the one lane that no other beats.
    #[inline(always)]
    fn lane<O: Order>(self) -> i16 {
        let bits = self.0 as i16;
        let value = if bits < 0 { i16::MIN.wrapping_sub(bits) } else { bits };
        match (O::LARGEST, O::NAN_WINS) {
            (_, false) => Self::lane_of::<O>(value),
            (true, true) => value.wrapping_sub(Self::NANS + 1).saturating_add(2 * Self::NANS),
            (false, true) => value.wrapping_add(Self::NANS).saturating_sub(2 * Self::NANS),
        }
    }
    #[inline(always)]
    fn from_lane<O: Order>(lane: i16) -> (Self, bool) {
        let value =
            if O::NAN_WINS { lane.saturating_sub(Self::shift::<O>()) } else { lane.wrapping_sub(Self::shift::<O>()) };
        let magnitude = value.unsigned_abs().min(INFINITY as u16);
        let sign = if value < 0 { SIGN } else { 0 };
        (Float16Bits(magnitude | sign), value != 0 && value.unsigned_abs() <= INFINITY as u16)
    }
    #[inline(always)]
    fn is_losing_nan<O: Order>(lane: i16) -> bool {
        let worst_number = Self::lane_of::<O>(if O::LARGEST { -INFINITY } else { INFINITY });
        !O::NAN_WINS & O::better(worst_number, lane)
    }
}

/// A 16-bit float whose lane has its bits: an integer. Where the smallest is wanted, the bits of the magnitude are flipped and the
/// sign stays, so that the smallest of the integers below zero is the smallest of the floats.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct AsInteger<F>(F);

impl<F> AsInteger<F> {
    /// The lane of these bits, and back.
    #[inline(always)]
    fn turned<O: Order>(bits: i16) -> i16 {
        if O::LARGEST { bits } else { bits ^ i16::MAX }
    }
}

impl<const INFINITY: i16, const ONE: u16> HasLane for AsInteger<Float16Bits<INFINITY, ONE>> {
    type Lane = i16;
    type Ordered = Float16Bits<INFINITY, ONE>;
    type Quick = Self;
    const IS_QUICK: bool = true;
    const UNIQUE: bool = false;
    #[inline(always)]
    fn lane<O: Order>(self) -> i16 {
        Self::turned::<O>(self.0.0 as i16)
    }
    /// Takes a lane that is settled.
    #[inline(always)]
    fn from_lane<O: Order>(lane: i16) -> (Self, bool) {
        let (float, is_unique) = Float16Bits::from_lane::<O>(lane);
        (Self(float), is_unique)
    }
    /// An integer decides where it is the lane of a number above zero, or below zero where the smallest is wanted.
    #[inline(always)]
    fn settle<O: Order>(best: i16) -> (i16, bool) {
        let bits = Self::turned::<O>(best);
        let magnitude = if O::LARGEST { bits } else { bits ^ i16::MIN };
        let lane = Float16Bits::<INFINITY, ONE>(bits as u16).lane::<O>();
        (lane, magnitude > 0 && magnitude <= INFINITY)
    }
    /// The unsigned bits. NaN of one sign is the best lane of its column, NaN of the other sign is beyond the infinity of
    /// that sign.
    #[inline(always)]
    fn note_nan<O: Order>(lane: i16) -> u16 {
        let bits = if O::LARGEST { lane } else { !lane };
        if O::NAN_WINS { bits as u16 } else { 0 }
    }
    #[inline(always)]
    fn join_notes(one: u16, other: u16) -> u16 {
        one.max(other)
    }
    #[inline(always)]
    fn has_nan(noted: u16) -> bool {
        noted > INFINITY as u16 | SIGN
    }
    #[inline(always)]
    fn is_losing_nan<O: Order>(lane: i16) -> bool {
        Float16Bits::<INFINITY, ONE>::is_losing_nan::<O>(lane)
    }
}

impl<const INFINITY: i16, const ONE: u16> HasRank for Float16Bits<INFINITY, ONE> {
    type Rank = u16;
    type Origin = u16;
    type Like = Float16;
    type LikeOrder<O: Order> = O::IgnoreNan;
    /// The value with the lowest rank: minus infinity, or the first NaN after infinity.
    #[inline(always)]
    fn origin<O: Order>() -> u16 {
        if O::LARGEST == O::NAN_WINS { ones_complement(INFINITY as u16 | SIGN) } else { INFINITY as u16 + 1 }
    }
    /// Sign and magnitude to one's complement, where every bit pattern has its own place and `-0` lies below `+0`.
    /// Then rotated until NaNs of both signs stand at the winning end, or at the other end.
    #[inline(always)]
    fn rank<O: Order>(self, origin: u16) -> u16 {
        ones_complement(self.0).wrapping_sub(origin)
    }
    #[inline(always)]
    fn from_rank<O: Order>(rank: u16, origin: u16) -> Self {
        Float16Bits(ones_complement(rank.wrapping_add(origin)))
    }
}

impl<const INFINITY: i16, const ONE: u16> Element for Float16Bits<INFINITY, ONE> {
    const ONE: Self = Float16Bits(ONE);
}

/// Sign and magnitude to one's complement, and back.
#[inline(always)]
fn ones_complement(bits: u16) -> u16 {
    let sign = bits as i16 >> 15;
    bits ^ (sign & 0x7fff) as u16
}
