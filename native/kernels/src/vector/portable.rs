//! Registers of 16 bytes as an array: what Miri runs, and what the registers of architectures are held to.

use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Kind, Lanes, Register};
use std::array;

/// Sixteen bytes in the order of memory.
#[derive(Clone, Copy)]
pub struct Part([u8; 16]);

impl Register for Part {
    const BYTES: usize = 16;
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        Self(from.cast::<[u8; 16]>().read())
    }
    #[inline(always)]
    unsafe fn load_parts(from: *const u8, _stride: isize) -> Self {
        Self::load(from)
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        to.cast::<[u8; 16]>().write(self.0)
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        Self(array::from_fn(|at| self.0[at] ^ other.0[at]))
    }
    #[inline(always)]
    unsafe fn splat<const SIZE: usize>(bits: i64) -> Self {
        match SIZE {
            1 => Self([bits as u8; 16]),
            2 => i16::pack([bits as i16; 8]),
            4 => i32::pack([bits as i32; 4]),
            _ => i64::pack([bits; 2]),
        }
    }
    #[inline(always)]
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        let half = |from: usize| {
            Self(array::from_fn(|at| {
                let (lane, byte) = (at / SIZE, at % SIZE);
                let source = if lane % 2 == 0 { &self.0 } else { &other.0 };
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
}

/// A number whose lanes fill a register.
pub trait Number<const LANES: usize>: Copy {
    fn pack(lanes: [Self; LANES]) -> Part;
    fn unpack(part: Part) -> [Self; LANES];
}

macro_rules! numbers {
    ($($number:ty, $lanes:literal;)*) => {$(
        impl Number<$lanes> for $number {
            #[inline(always)]
            fn pack(lanes: [Self; $lanes]) -> Part {
                const SIZE: usize = size_of::<$number>();
                let mut bytes = [0; 16];
                for (to, lane) in bytes.chunks_exact_mut(SIZE).zip(lanes) {
                    to.copy_from_slice(&lane.to_ne_bytes());
                }
                Part(bytes)
            }
            #[inline(always)]
            fn unpack(part: Part) -> [Self; $lanes] {
                const SIZE: usize = size_of::<$number>();
                array::from_fn(|lane| Self::from_ne_bytes(array::from_fn(|byte| part.0[lane * SIZE + byte])))
            }
        }
    )*};
}
numbers! { i8, 16; i16, 8; i32, 4; i64, 2; f32, 4; f64, 2; }

/// What has been seen of NaN.
pub trait Look<N> {
    fn see<const LANES: usize>(&mut self, lanes: [N; LANES]);
    fn nan<const LANES: usize>(self, best: [N; LANES], infinity: N) -> bool;
}

/// Integers have none.
impl<N> Look<N> for () {
    fn see<const LANES: usize>(&mut self, _: [N; LANES]) {}
    fn nan<const LANES: usize>(self, _: [N; LANES], _: N) -> bool {
        false
    }
}

/// Floats are unlike themselves then.
impl<N: PartialOrd> Look<N> for bool {
    fn see<const LANES: usize>(&mut self, lanes: [N; LANES]) {
        *self |= lanes.iter().any(|lane| lane.partial_cmp(lane).is_none());
    }
    fn nan<const LANES: usize>(self, _: [N; LANES], _: N) -> bool {
        self
    }
}

/// The smallest key, which lies beyond the infinities as the largest may.
#[derive(Clone, Copy, Default)]
pub struct Smallest(i16);

impl Look<i16> for Smallest {
    fn see<const LANES: usize>(&mut self, lanes: [i16; LANES]) {
        self.0 = lanes.into_iter().fold(self.0, i16::min);
    }
    fn nan<const LANES: usize>(self, best: [i16; LANES], infinity: i16) -> bool {
        self.0 < -infinity || best.into_iter().any(|key| key > infinity)
    }
}

macro_rules! kinds {
    ($($kind:ident $number:ty, $lanes:literal $seen:ty;)*) => {$(
        impl Lanes<$kind> for Part {
            const BITS: usize = 1;
            const GROUP: usize = 4;
            type Seen = $seen;
            #[inline(always)]
            unsafe fn lanes(self, flip: Self) -> Self {
                let bits = self.xor(flip);
                if !<$kind as Kind>::KEYED {
                    return bits;
                }
                let key = |bits: i16| if bits < 0 { i16::MIN.wrapping_sub(bits) } else { bits };
                i16::pack(i16::unpack(bits).map(key))
            }
            #[inline(always)]
            unsafe fn larger(self, other: Self) -> Self {
                let (a, b) = (<$number>::unpack(self), <$number>::unpack(other));
                <$number>::pack(array::from_fn(|lane| if a[lane] > b[lane] { a[lane] } else { b[lane] }))
            }
            #[inline(always)]
            unsafe fn take(self, number: Self, best: &mut Self, place: &mut Self) {
                let (mine, others) = (<$number>::unpack(self), <$number>::unpack(*best));
                let above = |at: usize| mine[at / <$kind as Kind>::SIZE] > others[at / <$kind as Kind>::SIZE];
                *best = Self(array::from_fn(|at| if above(at) { self.0[at] } else { best.0[at] }));
                *place = Self(array::from_fn(|at| if above(at) { number.0[at] } else { place.0[at] }));
            }
            #[inline(always)]
            unsafe fn meets(self, other: Self) -> bool {
                <Self as Lanes<$kind>>::hits(&[self], other) != 0
            }
            #[inline(always)]
            unsafe fn hits(registers: &[Self], sought: Self) -> u64 {
                let sought = <$number>::unpack(sought);
                let all = registers.iter().flat_map(|&register| {
                    let lanes = <$number>::unpack(register);
                    array::from_fn::<bool, $lanes, _>(|lane| lanes[lane] == sought[lane])
                });
                all.enumerate().fold(0, |word, (lane, hit)| word | u64::from(hit) << lane)
            }
            #[inline(always)]
            unsafe fn unseen() -> $seen {
                <$seen>::default()
            }
            #[inline(always)]
            unsafe fn see(seen: &mut $seen, one: Self, other: Self) {
                seen.see(<$number>::unpack(one));
                seen.see(<$number>::unpack(other));
            }
            #[inline(always)]
            unsafe fn saw_nan(seen: $seen, best: Self, infinity: Self) -> bool {
                seen.nan(<$number>::unpack(best), <$number>::unpack(infinity)[0])
            }
        }
    )*};
}

kinds! {
    Int8 i8, 16 ();
    Int16 i16, 8 ();
    Int32 i32, 4 ();
    Int64 i64, 2 ();
    Float16 i16, 8 Smallest;
    Float32 f32, 4 bool;
    Float64 f64, 2 bool;
}
