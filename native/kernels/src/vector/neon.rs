//! Registers of 128 bits with NEON, which every AArch64 processor has.
//!
//! NEON has no instruction that turns a comparison into bits. The comparisons of up to four registers are narrowed to a register
//! of bytes, and a narrowing shift turns that into a word with four bits per lane, or eight for lanes of 8 bytes. Lanes of one
//! byte are weighted and added up instead, which leaves one bit per lane.

use crate::vector::{Float16, Float32, Float64, Int8, Int16, Int32, Int64, Lanes, Mask, Register};
use std::arch::aarch64::*;
use std::convert::identity;

impl Register for uint8x16_t {
    const BYTES: usize = 16;
    const EQ_BITS: [(usize, usize); 4] = [(1, 4), (4, 2), (4, 4), (8, 4)];
    #[inline(always)]
    unsafe fn load_raw(from: *const u8) -> Self {
        vld1q_u8(from)
    }
    #[inline(always)]
    unsafe fn load_parts_raw(from: *const u8, _stride: isize) -> Self {
        vld1q_u8(from)
    }
    #[inline(always)]
    unsafe fn store_raw(self, to: *mut u8) {
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
    #[inline(always)]
    unsafe fn exchange_blocks(self) -> Self {
        self
    }
    #[inline(always)]
    unsafe fn complement(self) -> Self {
        let bits = vreinterpretq_s16_u8(self);
        let negative = vsubq_s16(vdupq_n_s16(i16::MIN), bits);
        vreinterpretq_u8_s16(vbslq_s16(vcltzq_s16(bits), negative, bits))
    }
    #[inline(always)]
    unsafe fn max_u16(self, other: Self) -> Self {
        vreinterpretq_u8_u16(vmaxq_u16(vreinterpretq_u16_u8(self), vreinterpretq_u16_u8(other)))
    }
    #[inline(always)]
    unsafe fn max_pairs<const SIZE: usize>(self, other: Self) -> Self {
        match SIZE {
            1 => vreinterpretq_u8_s16(vmaxq_s16(vreinterpretq_s16_u8(self), vreinterpretq_s16_u8(other))),
            _ => vreinterpretq_u8_s32(vmaxq_s32(vreinterpretq_s32_u8(self), vreinterpretq_s32_u8(other))),
        }
    }
}

/// Half of the bits of each byte, in order.
#[inline(always)]
unsafe fn nibbles(bytes: uint8x16_t) -> u64 {
    vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(bytes))))
}

impl Mask<Self> for uint8x16_t {
    #[inline(always)]
    unsafe fn none() -> Self {
        vdupq_n_u8(0)
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        vorrq_u8(self, other)
    }
    #[inline(always)]
    unsafe fn without(self, other: Self) -> Self {
        vbicq_u8(self, other)
    }
    #[inline(always)]
    unsafe fn any(self) -> bool {
        nibbles(self) != 0
    }
    #[inline(always)]
    unsafe fn select(self, yes: Self, no: Self) -> Self {
        vbslq_u8(self, yes, no)
    }
    #[inline(always)]
    unsafe fn word<const SIZE: usize>(count: usize, mask: impl Fn(usize) -> Self) -> u64 {
        let at = |at: usize| if at < count { mask(at) } else { vdupq_n_u8(0) };
        let a = at(0);
        let b = at(1);
        let c = at(2);
        let d = at(3);
        let words = |a, b| vreinterpretq_u8_u32(vuzp1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b)));
        let halves = |a, b| vreinterpretq_u8_u16(vuzp1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b)));
        match SIZE {
            // Each byte keeps another bit, and three rounds of adding neighbours join eight bytes to one.
            1 => {
                const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
                let weights = vld1q_u8(WEIGHTS.as_ptr());
                let weigh = |bytes| vandq_u8(bytes, weights);
                let low = vpaddq_u8(weigh(a), weigh(b));
                let high = vpaddq_u8(weigh(c), weigh(d));
                let sum = vpaddq_u8(low, high);
                vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)))
            }
            // Lanes become bytes: the lower half of each wider lane, which is all ones or all zeros.
            2 => nibbles(vuzp1q_u8(a, b)),
            4 => nibbles(vuzp1q_u8(halves(a, b), halves(c, d))),
            _ => {
                let all = halves(words(a, b), words(c, d));
                vget_lane_u64::<0>(vreinterpret_u64_u8(vmovn_u16(vreinterpretq_u16_u8(all))))
            }
        }
    }
}

lanes! { uint8x16_t:
    Int8 Self, vreinterpretq_s8_u8 vreinterpretq_u8_s8 identity, vmaxq_s8, vminq_s8, vcgtq_s8, vceqq_s8;
    Int16 Self, vreinterpretq_s16_u8 vreinterpretq_u8_s16 vreinterpretq_u8_u16, vmaxq_s16, vminq_s16, vcgtq_s16, vceqq_s16;
    Int32 Self, vreinterpretq_s32_u8 vreinterpretq_u8_s32 vreinterpretq_u8_u32, vmaxq_s32, vminq_s32, vcgtq_s32, vceqq_s32;
    Int64 Self, vreinterpretq_s64_u8 vreinterpretq_u8_s64 vreinterpretq_u8_u64, |a, b| vbslq_s64(vcgtq_s64(a, b), a, b),
        |a, b| vbslq_s64(vcgtq_s64(b, a), a, b),
        vcgtq_s64, vceqq_s64;
    Float16 Self, vreinterpretq_s16_u8 vreinterpretq_u8_s16 vreinterpretq_u8_u16, vmaxq_s16, vminq_s16, vcgtq_s16, vceqq_s16;
    Float32 Self, vreinterpretq_f32_u8 vreinterpretq_u8_f32 vreinterpretq_u8_u32, vmaxq_f32,
        |a, b| vbslq_f32(vcgtq_f32(b, a), a, b), vcgtq_f32, vceqq_f32,
        |a, b| vmvnq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b)));
    Float64 Self, vreinterpretq_f64_u8 vreinterpretq_u8_f64 vreinterpretq_u8_u64, vmaxq_f64,
        |a, b| vbslq_f64(vcgtq_f64(b, a), a, b), vcgtq_f64, vceqq_f64,
        |a, b| veorq_u64(vandq_u64(vceqq_f64(a, a), vceqq_f64(b, b)), vdupq_n_u64(u64::MAX));
}
