//! The 16-bit floats, float16 and bfloat16: no instruction compares them, so integers stand in for them.

use crate::element::Element;
use crate::element::compare::{Compared, Lane, NanState};
use crate::element::floats::Keyed;
use crate::element::order::Order;
use crate::element::rank::Ranked;

/// The bits of a 16-bit float: sign, then a magnitude of which everything above `INFINITY` is NaN.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Float16Bits<const INFINITY: i16, const ONE: u16>(u16);

/// The lane of a 16-bit float: its value as a signed integer, magnitudes above `INFINITY` being NaN.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Float16Lane<const INFINITY: i16>(i16);

/// The sign of a 16-bit float.
pub const SIGN: u16 = 0x8000;

/// IEEE 754 binary16.
pub type Float16 = Float16Bits<0x7c00, 0x3c00>;

/// The upper half of an IEEE 754 binary32.
pub type BFloat16 = Float16Bits<0x7f80, 0x3f80>;

impl<const INFINITY: i16> Lane for Float16Lane<INFINITY> {
    type Index = u16;
    type Key = i16;
    const LOWEST: Self = Float16Lane(-INFINITY);
    const HIGHEST: Self = Float16Lane(INFINITY);
    type NanState = i16;
    #[inline(always)]
    fn key<O: Order>(self) -> i16 {
        let extreme = if O::LARGEST { i16::MAX } else { i16::MIN };
        if self.0.unsigned_abs() > INFINITY as u16 { extreme } else { self.0 }
    }
    #[inline(always)]
    fn from_key(key: i16) -> Self {
        Float16Lane(key)
    }
}

/// The worst lane so far. A NaN of the sign that is wanted is better than infinity, and becomes the champion; one of the
/// other sign is worse than any number. To keep the worst is one instruction, to ask each lane is three.
impl<const INFINITY: i16> NanState<Float16Lane<INFINITY>> for i16 {
    #[inline(always)]
    fn new<O: Order>() -> i16 {
        0
    }
    #[inline(always)]
    fn observe<O: Order>(self, lane: Float16Lane<INFINITY>) -> i16 {
        if O::better(self, lane.0) { lane.0 } else { self }
    }
    #[inline(always)]
    fn saw_nan<O: Order>(self, champion: Float16Lane<INFINITY>) -> bool {
        if O::LARGEST {
            (champion.0 > INFINITY) | (self < -INFINITY)
        } else {
            (champion.0 < -INFINITY) | (self > INFINITY)
        }
    }
}

impl<const INFINITY: i16, const ONE: u16> Compared for Float16Bits<INFINITY, ONE> {
    type Lane = Float16Lane<INFINITY>;
    type Ordered = Keyed<Self>;
    const TOLD: bool = false;
    /// Sign and magnitude to two's complement, where both zeros are 0.
    #[inline(always)]
    fn lane<O: Order>(self) -> Float16Lane<INFINITY> {
        let bits = self.0 as i16;
        Float16Lane(if bits < 0 { i16::MIN.wrapping_sub(bits) } else { bits })
    }
    #[inline(always)]
    fn from_lane(lane: Float16Lane<INFINITY>) -> (Self, bool) {
        let magnitude = lane.0.unsigned_abs();
        let sign = if lane.0 < 0 { SIGN } else { 0 };
        (Float16Bits(magnitude | sign), lane.0 != 0 && magnitude <= INFINITY as u16)
    }
}

impl<const INFINITY: i16, const ONE: u16> Compared for Keyed<Float16Bits<INFINITY, ONE>> {
    type Lane = i16;
    type Ordered = Self;
    const TOLD: bool = false;
    #[inline(always)]
    fn lane<O: Order>(self) -> i16 {
        self.0.lane::<O>().key::<O>()
    }
    #[inline(always)]
    fn from_lane(lane: i16) -> (Self, bool) {
        let (element, told) = Float16Bits::from_lane(Float16Lane(lane));
        (Keyed(element), told)
    }
}

/// A 16-bit float of which NaN loses to all numbers.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Numbered<F>(F);

impl<const INFINITY: i16, const ONE: u16> Compared for Numbered<Float16Bits<INFINITY, ONE>> {
    type Lane = i16;
    type Ordered = Self;
    const TOLD: bool = false;
    /// Turned round until the infinity that wins is the last of all integers, and NaN of both signs begin them.
    #[inline(always)]
    fn lane<O: Order>(self) -> i16 {
        let turn = if O::LARGEST { i16::MAX - INFINITY } else { i16::MIN + INFINITY };
        self.0.lane::<O>().0.wrapping_add(turn)
    }
    /// Which element it is depends on the order.
    #[inline(always)]
    fn from_lane(_: i16) -> (Self, bool) {
        (Numbered(Float16Bits(0)), false)
    }
}

impl<const INFINITY: i16, const ONE: u16> Ranked for Float16Bits<INFINITY, ONE> {
    type Rank = u16;
    type Origin = u16;
    type Like = Float16;
    type LikeOrder<O: Order> = O::OfNumbers;
    /// What has the least rank: minus infinity, or else the first NaN after infinity.
    #[inline(always)]
    fn origin<O: Order>() -> u16 {
        if O::LARGEST == O::NAN_WINS { ones_complement(INFINITY as u16 | SIGN) } else { INFINITY as u16 + 1 }
    }
    /// Sign and magnitude to one's complement, where every bit pattern has its own place and `-0` lies below `+0`;
    /// then round until the NaN of both signs stand at the end that wins, or at the other.
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
