//! Registers of 128 bits with NEON, which every AArch64 has.
//!
//! There is no instruction that makes bits of a comparison. Those of up to four registers are narrowed to one register of bytes,
//! and to a word by a shift that narrows once more: four bits for each lane, eight for lanes of 8 bytes. Bytes are weighted and
//! added up, which leaves one bit for each.

use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Kind, Lanes, Register};
use std::arch::aarch64::*;
use std::convert::identity;

impl Register for uint8x16_t {
    const BYTES: usize = 16;
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        vld1q_u8(from)
    }
    #[inline(always)]
    unsafe fn load_parts(from: *const u8, _stride: isize) -> Self {
        vld1q_u8(from)
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        vst1q_u8(to, self)
    }
    #[inline(always)]
    unsafe fn xor(self, other: Self) -> Self {
        veorq_u8(self, other)
    }
    #[inline(always)]
    unsafe fn splat<const SIZE: usize>(bits: i64) -> Self {
        match SIZE {
            1 => vdupq_n_u8(bits as u8),
            2 => vreinterpretq_u8_s16(vdupq_n_s16(bits as i16)),
            4 => vreinterpretq_u8_s32(vdupq_n_s32(bits as i32)),
            _ => vreinterpretq_u8_s64(vdupq_n_s64(bits)),
        }
    }
    #[inline(always)]
    unsafe fn zip<const SIZE: usize>(self, other: Self) -> (Self, Self) {
        macro_rules! zip {
            ($lanes:ident $bytes:ident $low:ident $high:ident) => {
                ($bytes($low($lanes(self), $lanes(other))), $bytes($high($lanes(self), $lanes(other))))
            };
        }
        match SIZE {
            1 => (vzip1q_u8(self, other), vzip2q_u8(self, other)),
            2 => zip!(vreinterpretq_u16_u8 vreinterpretq_u8_u16 vzip1q_u16 vzip2q_u16),
            4 => zip!(vreinterpretq_u32_u8 vreinterpretq_u8_u32 vzip1q_u32 vzip2q_u32),
            _ => zip!(vreinterpretq_u64_u8 vreinterpretq_u8_u64 vzip1q_u64 vzip2q_u64),
        }
    }
    #[inline(always)]
    unsafe fn shuffle(self, table: &[u8; 16]) -> Self {
        vqtbl1q_u8(self, vld1q_u8(table.as_ptr()))
    }
    #[inline(always)]
    unsafe fn exchange<const PARTS: usize>(self) -> Self {
        self
    }
}

/// Half of the bits of each byte, in order.
#[inline(always)]
unsafe fn nibbles(bytes: uint8x16_t) -> u64 {
    vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(bytes))))
}

/// The comparisons of up to four registers as a word: one bit for each lane of 1 byte, eight for each of 8, four for others.
#[inline(always)]
unsafe fn packed<const SIZE: usize>([a, b, c, d]: [uint8x16_t; 4]) -> u64 {
    let words = |a, b| vreinterpretq_u8_u32(vuzp1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
    let halves = |a, b| vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
    match SIZE {
        1 => {
            const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
            let weights = vld1q_u8(WEIGHTS.as_ptr());
            let weighted = |bytes| vandq_u8(bytes, weights);
            let (low, high) = (vpaddq_u8(weighted(a), weighted(b)), vpaddq_u8(weighted(c), weighted(d)));
            let sum = vpaddq_u8(low, high);
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
        }
        2 => nibbles(vuzp1q_u8(a, b)),
        4 => nibbles(vuzp1q_u8(halves(a, b), halves(c, d))),
        _ => {
            let all = halves(words(a, b), words(c, d));
            vget_lane_u64::<0>(vreinterpret_u64_u8(vmovn_u16(vreinterpretq_u16_u8(all))))
        }
    }
}

macro_rules! kinds {
    ($($kind:ident $lanes:ident $bytes:ident $compared:ident, |$a:ident, $b:ident| $larger:expr, $above:ident $equal:ident,
       { $($more:tt)* };)*) => {$(
        impl Lanes<$kind> for uint8x16_t {
            const BITS: usize = match <$kind as Kind>::SIZE {
                1 => 1,
                8 => 8,
                _ => 4,
            };
            const GROUP: usize = if <$kind as Kind>::SIZE == 2 { 2 } else { 4 };
            $($more)*
            #[inline(always)]
            unsafe fn larger(self, other: Self) -> Self {
                let ($a, $b) = ($lanes(self), $lanes(other));
                $bytes($larger)
            }
            #[inline(always)]
            unsafe fn take(self, number: Self, best: &mut Self, place: &mut Self) {
                let above = $compared($above($lanes(self), $lanes(*best)));
                *best = vbslq_u8(above, self, *best);
                *place = vbslq_u8(above, number, *place);
            }
            #[inline(always)]
            unsafe fn meets(self, other: Self) -> bool {
                nibbles($compared($equal($lanes(self), $lanes(other)))) != 0
            }
            #[inline(always)]
            unsafe fn hits(registers: &[Self], sought: Self) -> u64 {
                let compared = |at: usize| match registers.get(at) {
                    Some(&register) => $compared($equal($lanes(register), $lanes(sought))),
                    None => vdupq_n_u8(0),
                };
                packed::<{ <$kind as Kind>::SIZE }>([compared(0), compared(1), compared(2), compared(3)])
            }
        }
    )*};
}

/// Integers have no NaN.
macro_rules! no_nan {
    () => {
        type Seen = ();
        #[inline(always)]
        unsafe fn unseen() {}
        #[inline(always)]
        unsafe fn see(_: &mut (), _: Self, _: Self) {}
        #[inline(always)]
        unsafe fn saw_nan(_: (), _: Self, _: Self) -> bool {
            false
        }
    };
}

/// Registers of floats are looked at in pairs: what is unlike itself is NaN.
macro_rules! nan {
    ($lanes:ident $compared:ident $equal:ident) => {
        type Seen = Self;
        #[inline(always)]
        unsafe fn unseen() -> Self {
            vdupq_n_u8(u8::MAX)
        }
        #[inline(always)]
        unsafe fn see(seen: &mut Self, one: Self, other: Self) {
            let ordered = |register| $compared($equal($lanes(register), $lanes(register)));
            *seen = vandq_u8(*seen, vandq_u8(ordered(one), ordered(other)));
        }
        #[inline(always)]
        unsafe fn saw_nan(seen: Self, _: Self, _: Self) -> bool {
            nibbles(seen) != u64::MAX
        }
    };
}

kinds! {
    Int8 vreinterpretq_s8_u8 vreinterpretq_u8_s8 identity, |a, b| vmaxq_s8(a, b), vcgtq_s8 vceqq_s8, { no_nan! {} };
    Int16 vreinterpretq_s16_u8 vreinterpretq_u8_s16 vreinterpretq_u8_u16, |a, b| vmaxq_s16(a, b), vcgtq_s16 vceqq_s16,
        { no_nan! {} };
    Int32 vreinterpretq_s32_u8 vreinterpretq_u8_s32 vreinterpretq_u8_u32, |a, b| vmaxq_s32(a, b), vcgtq_s32 vceqq_s32,
        { no_nan! {} };
    Int64 vreinterpretq_s64_u8 vreinterpretq_u8_s64 vreinterpretq_u8_u64, |a, b| vbslq_s64(vcgtq_s64(a, b), a, b),
        vcgtq_s64 vceqq_s64, { no_nan! {} };
    Float32 vreinterpretq_f32_u8 vreinterpretq_u8_f32 vreinterpretq_u8_u32, |a, b| vmaxq_f32(a, b), vcgtq_f32 vceqq_f32,
        { nan! { vreinterpretq_f32_u8 vreinterpretq_u8_u32 vceqq_f32 } };
    Float64 vreinterpretq_f64_u8 vreinterpretq_u8_f64 vreinterpretq_u8_u64, |a, b| vmaxq_f64(a, b), vcgtq_f64 vceqq_f64,
        { nan! { vreinterpretq_f64_u8 vreinterpretq_u8_u64 vceqq_f64 } };
    Float16 vreinterpretq_s16_u8 vreinterpretq_u8_s16 vreinterpretq_u8_u16, |a, b| vmaxq_s16(a, b), vcgtq_s16 vceqq_s16, {
        type Seen = Self;
        #[inline(always)]
        unsafe fn lanes(self, flip: Self) -> Self {
            // Sign and magnitude become two's complement, as with SSE.
            let bits = vreinterpretq_s16_u8(self.xor(flip));
            let negated = vsubq_s16(vdupq_n_s16(i16::MIN), bits);
            vreinterpretq_u8_s16(vbslq_s16(vcltzq_s16(bits), negated, bits))
        }
        #[inline(always)]
        unsafe fn unseen() -> Self {
            vdupq_n_u8(0)
        }
        #[inline(always)]
        unsafe fn see(seen: &mut Self, one: Self, other: Self) {
            let [one, other, before] = [one, other, *seen].map(|register| vreinterpretq_s16_u8(register));
            *seen = vreinterpretq_u8_s16(vminq_s16(vminq_s16(one, other), before));
        }
        #[inline(always)]
        unsafe fn saw_nan(seen: Self, best: Self, infinity: Self) -> bool {
            let magnitudes = vmaxq_s16(vabsq_s16(vreinterpretq_s16_u8(seen)), vabsq_s16(vreinterpretq_s16_u8(best)));
            nibbles(vreinterpretq_u8_u16(vcgtq_s16(magnitudes, vreinterpretq_s16_u8(infinity)))) != 0
        }
    };
}
