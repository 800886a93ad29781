//! Registers of 16 bytes as arrays: Miri runs them, and they define what the registers of each architecture must do.

use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Lanes, Mask, Register};
use std::array;
use std::convert::identity;

/// Sixteen bytes in memory order.
#[derive(Clone, Copy)]
pub struct Part([u8; 16]);

impl Register for Part {
    const BYTES: usize = 16;
    const EQ_BITS: [(usize, usize); 4] = [(1, 4); 4];
    #[inline(always)]
    unsafe fn load_raw(from: *const u8) -> Self {
        Self(from.cast::<[u8; 16]>().read())
    }
    #[inline(always)]
    unsafe fn load_parts_raw(from: *const u8, _stride: isize) -> Self {
        Self::load_raw(from)
    }
    #[inline(always)]
    unsafe fn store_raw(self, to: *mut u8) {
        to.cast::<[u8; 16]>().write(self.0)
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        Self(array::from_fn(|at| self.0[at] ^ other.0[at]))
    }
    #[inline(always)]
    unsafe fn splat<const SIZE: usize>(bits: i64) -> Self {
        let bytes = bits.to_ne_bytes();
        let low = if cfg!(target_endian = "little") { 0 } else { 8 - SIZE };
        Self(array::from_fn(|at| bytes[low + at % SIZE]))
    }
    #[inline(always)]
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        let half = |from: usize| {
            Self(array::from_fn(|at| {
                let lane = at / SIZE;
                let byte = at % SIZE;
                let source = if lane.is_multiple_of(2) { &self.0 } else { &other.0 };
                source[from + lane / 2 * SIZE + byte]
            }))
        };
        (half(0), half(8))
    }
    #[inline(always)]
    unsafe fn shuffle(self, table: &[u8; 16]) -> Self {
        Self(array::from_fn(|at| self.0[table[at] as usize % 16]))
    }
    #[inline(always)]
    unsafe fn exchange<const PARTS: usize>(self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn exchange_blocks(self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn complement(self) -> Self {
        let lane = |at: usize| i16::read(&self.0[at / 2 * 2..][..2]);
        let turn = |bits: i16| if bits < 0 { i16::MIN.wrapping_sub(bits) } else { bits };
        Self(array::from_fn(|at| turn(lane(at)).to_ne_bytes()[at % 2]))
    }
    #[inline(always)]
    unsafe fn max_u16(self, other: Self) -> Self {
        larger::<u16>(self, other)
    }
    #[inline(always)]
    unsafe fn max_pairs<const SIZE: usize>(self, other: Self) -> Self {
        match SIZE {
            1 => larger_pairs::<i8, u8>(self, other),
            _ => larger_pairs::<i16, u16>(self, other),
        }
    }
}

impl Mask<Self> for Part {
    #[inline(always)]
    unsafe fn none() -> Self {
        Self([0; 16])
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(array::from_fn(|at| self.0[at] | other.0[at]))
    }
    #[inline(always)]
    unsafe fn without(self, other: Self) -> Self {
        Self(array::from_fn(|at| self.0[at] & !other.0[at]))
    }
    #[inline(always)]
    unsafe fn any(self) -> bool {
        self.0 != [0; 16]
    }
    #[inline(always)]
    unsafe fn select(self, yes: Self, no: Self) -> Self {
        Self(array::from_fn(|at| if self.0[at] == 0 { no.0[at] } else { yes.0[at] }))
    }
    #[inline(always)]
    unsafe fn word<const SIZE: usize>(count: usize, mask: impl Fn(usize) -> Self) -> u64 {
        let lanes = (0..count).flat_map(|at| mask(at).0.into_iter().step_by(SIZE));
        lanes.enumerate().fold(0, |word, (lane, byte)| word | u64::from(byte != 0) << lane)
    }
}

/// A number that is read from its bytes.
trait Number: PartialOrd {
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Number for $number {
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                Self::from_ne_bytes(bytes.try_into().expect("as many bytes"))
            }
        }
    )*};
}

numbers! { i8 u8 i16 u16 i32 i64 f32 f64 }

#[inline(always)]
fn compare<N: Number>(a: Part, b: Part, holds: impl Fn(N, N) -> bool) -> Part {
    let mut mask = [0; 16];
    for (at, bytes) in mask.chunks_exact_mut(size_of::<N>()).enumerate() {
        let lane = |part: &Part| N::read(&part.0[at * size_of::<N>()..][..size_of::<N>()]);
        bytes.fill(if holds(lane(&a), lane(&b)) { u8::MAX } else { 0 });
    }
    Part(mask)
}

fn above<N: Number>(a: Part, b: Part) -> Part {
    compare::<N>(a, b, |a, b| a > b)
}

fn equal<N: Number>(a: Part, b: Part) -> Part {
    compare::<N>(a, b, |a, b| a == b)
}

fn unordered<N: Number>(a: Part, b: Part) -> Part {
    compare::<N>(a, b, |a, b| a.partial_cmp(&b).is_none())
}

unsafe fn larger<N: Number>(a: Part, b: Part) -> Part {
    above::<N>(a, b).select(a, b)
}

unsafe fn smaller<N: Number>(a: Part, b: Part) -> Part {
    above::<N>(b, a).select(a, b)
}

lanes! { Part:
    Int8 Self, identity identity identity, larger::<i8>, smaller::<i8>, above::<i8>, equal::<i8>;
    Int16 Self, identity identity identity, larger::<i16>, smaller::<i16>, above::<i16>, equal::<i16>;
    Int32 Self, identity identity identity, larger::<i32>, smaller::<i32>, above::<i32>, equal::<i32>;
    Int64 Self, identity identity identity, larger::<i64>, smaller::<i64>, above::<i64>, equal::<i64>;
    Float16 Self, identity identity identity, larger::<i16>, smaller::<i16>, above::<i16>, equal::<i16>;
    Float32 Self, identity identity identity, larger::<f32>, smaller::<f32>, above::<f32>, equal::<f32>, unordered::<f32>;
    Float64 Self, identity identity identity, larger::<f64>, smaller::<f64>, above::<f64>, equal::<f64>, unordered::<f64>;
}

/// Of each two pairs of a rank and an element, the one whose element is larger, or its rank where they are equal.
fn larger_pairs<Element: Number, Rank: Number>(a: Part, b: Part) -> Part {
    let size = size_of::<Element>();
    let pair = |part: &Part, at: usize| {
        let (rank, element) = part.0[at..at + 2 * size].split_at(size);
        (Element::read(element), Rank::read(rank))
    };
    let mut larger = a;
    for at in (0..16).step_by(2 * size) {
        if pair(&b, at) > pair(&a, at) {
            larger.0[at..at + 2 * size].copy_from_slice(&b.0[at..at + 2 * size]);
        }
    }
    larger
}
