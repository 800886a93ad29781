//! The integers and bool: each integer is its own lane and its own rank.

use crate::element::Element;
use crate::element::compare::{Compared, Lane};
use crate::element::order::Order;
use crate::element::rank::{Ranked, one_origin, own_rank};

macro_rules! integer {
    ($($type:ty, $index:ty;)*) => {$(
        impl Lane for $type {
            type Index = $index;
            type Key = $type;
            const LOWEST: Self = <$type>::MIN;
            const HIGHEST: Self = <$type>::MAX;
            type NanState = ();
            #[inline(always)]
            fn key<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn from_key(key: $type) -> $type {
                key
            }
        }

        impl Compared for $type {
            type Lane = $type;
            type Ordered = $type;
            const TOLD: bool = true;
            #[inline(always)]
            fn lane<O: Order>(self) -> $type {
                self
            }
            #[inline(always)]
            fn from_lane(lane: $type) -> ($type, bool) {
                (lane, true)
            }
        }

        impl Ranked for $type {
            own_rank! {}
        }

        impl Element for $type {
            const ONE: Self = 1;
        }
    )*};
}

integer!(i8, u8; u8, u8; i16, u16; u16, u16; i32, u32; u32, u32; i64, u64; u64, u64;);

/// A NumPy bool: any byte but zero is true.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Bool(u8);

impl Compared for Bool {
    type Lane = u8;
    type Ordered = Bool;
    const TOLD: bool = false;
    #[inline(always)]
    fn lane<O: Order>(self) -> u8 {
        // True is the largest lane there is: nothing after it can win, and nobody looks there.
        ((self.0 != 0) as u8).wrapping_neg()
    }
    #[inline(always)]
    fn from_lane(lane: u8) -> (Self, bool) {
        (Bool((lane != 0) as u8), lane == 0)
    }
}

impl Ranked for Bool {
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
