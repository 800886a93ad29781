//! The 16-bit floats, float16 and bfloat16: no instruction compares them, so integers stand in for them.

use crate::element::lanes::{Keyed, own_rank};
use crate::element::order::{Element, Lane, Largest, Order, Smallest, utmost};
use crate::kernels::rows::sweep;

/// A 16-bit float: sign, then a magnitude of which everything above `INFINITY` is NaN.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Half<const INFINITY: i16, const ONE: u16>(u16);

/// The lane of a 16-bit float: its value as a signed integer, magnitudes above `INFINITY` being NaN.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct HalfLane<const INFINITY: i16>(i16);

/// The sign of a 16-bit float.
const SIGN: u16 = 0x8000;

/// Elements from which a block of 16-bit floats is swept by its bits.
const LONG: usize = 2048;

/// IEEE 754 binary16.
pub type Float16 = Half<0x7c00, 0x3c00>;

/// The upper half of an IEEE 754 binary32.
pub type BFloat16 = Half<0x7f80, 0x3f80>;

impl<const INFINITY: i16> Lane for HalfLane<INFINITY> {
    type Index = u16;
    type Key = i16;
    const LOWEST: Self = HalfLane(-INFINITY);
    const HIGHEST: Self = HalfLane(INFINITY);
    /// The worst lane so far. A NaN of the sign that is wanted is better than infinity, and becomes the champion; one
    /// of the other sign is worse than any number. To keep the worst is one instruction, to ask each lane is three.
    type Watch = i16;
    #[inline(always)]
    fn calm<O: Order>() -> i16 {
        0
    }
    #[inline(always)]
    fn watch<O: Order>(self, so_far: i16) -> i16 {
        if O::better(so_far, self.0) { self.0 } else { so_far }
    }
    #[inline(always)]
    fn met_nan<O: Order>(champion: Self, watch: i16) -> bool {
        if O::LARGEST {
            (champion.0 > INFINITY) | (watch < -INFINITY)
        } else {
            (champion.0 < -INFINITY) | (watch > INFINITY)
        }
    }
    #[inline(always)]
    fn key<O: Order>(self) -> i16 {
        let extreme = if O::LARGEST { i16::MAX } else { i16::MIN };
        if self.0.unsigned_abs() > INFINITY as u16 { extreme } else { self.0 }
    }
    #[inline(always)]
    fn from_key(key: i16) -> Self {
        HalfLane(key)
    }
}

impl<const INFINITY: i16, const ONE: u16> Element for Keyed<Half<INFINITY, ONE>> {
    type Lane = i16;
    type Ordered = Self;
    const ONE: Self = Keyed(Half::ONE);
    #[inline(always)]
    fn lane<O: Order>(self) -> i16 {
        self.0.lane::<O>().key::<O>()
    }
    own_rank! {}
    #[inline(always)]
    fn extreme<O: Order>(a: Self, b: Self) -> Self {
        let rank = Half::<INFINITY, ONE>::extreme::<O>(a.0.rank::<O>(), b.0.rank::<O>());
        Keyed(Half::from_rank::<O>(rank))
    }
}

impl<const INFINITY: i16, const ONE: u16> Element for Half<INFINITY, ONE> {
    type Lane = HalfLane<INFINITY>;
    type Ordered = Keyed<Self>;
    const ONE: Self = Half(ONE);
    /// Sign and magnitude to two's complement, where both zeros are 0.
    #[inline(always)]
    fn lane<O: Order>(self) -> HalfLane<INFINITY> {
        let bits = self.0 as i16;
        HalfLane(if bits < 0 { i16::MIN.wrapping_sub(bits) } else { bits })
    }
    /// By bits, which are no more to compare than integers: as signed ones the positive are in order and above all
    /// others, as unsigned ones the negative are, the other way round. A block is small enough to be read twice.
    #[inline(always)]
    unsafe fn sweep<O: Order>(data: *const Self, len: usize, champion: Option<i16>) -> Option<i16> {
        // SAFETY: the caller's.
        unsafe {
            if len < LONG {
                return sweep::<Self, O>(data, len, champion);
            }
            let (signed, unsigned) = (data.cast::<i16>(), data.cast::<u16>());
            let key = if O::LARGEST {
                if sweep::<u16, Largest>(unsigned, len, Some(INFINITY as u16 | SIGN)).is_some() {
                    return Some(utmost::<O, _>());
                }
                match sweep::<i16, Largest>(signed, len, Some(champion.unwrap_or(-1).max(-1))) {
                    Some(bits) if bits > INFINITY => utmost::<O, _>(),
                    Some(bits) => bits,
                    None if champion.is_some_and(|champion| champion >= 0) => return None,
                    None => -((sweep::<u16, Smallest>(unsigned, len, None)? & !SIGN) as i16),
                }
            } else {
                if sweep::<i16, Largest>(signed, len, Some(INFINITY)).is_some() {
                    return Some(utmost::<O, _>());
                }
                let floor = champion.filter(|key| *key < 0).map_or(!SIGN, |key| key.unsigned_abs() | SIGN);
                match sweep::<u16, Largest>(unsigned, len, Some(floor)) {
                    Some(bits) if bits & !SIGN > INFINITY as u16 => utmost::<O, _>(),
                    Some(bits) => -((bits & !SIGN) as i16),
                    None if champion.is_some_and(|champion| champion < 0) => return None,
                    None => sweep::<i16, Smallest>(signed, len, None)?,
                }
            };
            Some(key).filter(|&key| champion.is_none_or(|champion| O::better(key, champion)))
        }
    }
    type Rank = u16;
    /// Sign and magnitude to one's complement, where every bit pattern has its own place and `-0` lies below `+0`;
    /// then round until the NaN of both signs stand at the end that wins.
    #[inline(always)]
    fn rank<O: Order>(self) -> u16 {
        turn(self.0).wrapping_sub(Self::first::<O>())
    }
    #[inline(always)]
    fn from_rank<O: Order>(rank: u16) -> Self {
        Half(turn(rank.wrapping_add(Self::first::<O>())))
    }
    #[inline(always)]
    fn extreme<O: Order>(a: u16, b: u16) -> u16 {
        if O::LARGEST { a.max(b) } else { a.min(b) }
    }
}

impl<const INFINITY: i16, const ONE: u16> Half<INFINITY, ONE> {
    /// What has the least rank: minus infinity, or else the first NaN after infinity.
    #[inline(always)]
    fn first<O: Order>() -> u16 {
        if O::LARGEST { turn(INFINITY as u16 | SIGN) } else { INFINITY as u16 + 1 }
    }
}

/// Sign and magnitude to one's complement, and back.
#[inline(always)]
fn turn(bits: u16) -> u16 {
    let sign = bits as i16 >> 15;
    bits ^ (sign & 0x7fff) as u16
}
