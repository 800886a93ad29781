//! Zips: interleaving two vectors of 16 bytes, which belongs to the baseline of every architecture named here.

#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]

/// Interleaving two vectors of 16 bytes.
pub trait Zip: Copy {
    type Vector: Copy;
    /// # Safety
    /// A whole vector may be read.
    unsafe fn load(from: *const u8) -> Self::Vector;
    /// # Safety
    /// A whole vector may be written.
    unsafe fn store(to: *mut Self, vector: Self::Vector);
    /// # Safety
    /// None is needed: zips are part of the baseline.
    unsafe fn zip_low(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// # Safety
    /// None is needed: zips are part of the baseline.
    unsafe fn zip_high(a: Self::Vector, b: Self::Vector) -> Self::Vector;
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! zips {
    ($($type:ty, $vector:ty, $load:expr, $store:expr, $low:path, $high:path;)*) => {$(
        impl Zip for $type {
            type Vector = $vector;
            /// # Safety
            /// A whole vector may be read.
            #[inline(always)]
            unsafe fn load(from: *const u8) -> $vector {
                // SAFETY: the caller's.
                unsafe { $load(from.cast()) }
            }
            /// # Safety
            /// A whole vector may be written.
            #[inline(always)]
            unsafe fn store(to: *mut $type, vector: $vector) {
                // SAFETY: the caller's.
                unsafe { $store(to.cast(), vector) }
            }
            /// # Safety
            /// None is needed: zips are part of the baseline.
            #[inline(always)]
            unsafe fn zip_low(a: $vector, b: $vector) -> $vector {
                // SAFETY: part of the architecture's baseline.
                #[allow(unused_unsafe)]
                unsafe { $low(a, b) }
            }
            /// # Safety
            /// None is needed: zips are part of the baseline.
            #[inline(always)]
            unsafe fn zip_high(a: $vector, b: $vector) -> $vector {
                // SAFETY: part of the architecture's baseline.
                #[allow(unused_unsafe)]
                unsafe { $high(a, b) }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use crate::kernels::zip::Zip;
    use std::arch::x86_64::*;
    zips! {
        u8, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi8, _mm_unpackhi_epi8;
        u16, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi16, _mm_unpackhi_epi16;
        u32, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi32, _mm_unpackhi_epi32;
        u64, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi64, _mm_unpackhi_epi64;
    }
}

#[cfg(target_arch = "aarch64")]
mod vectors {
    use crate::kernels::zip::Zip;
    use std::arch::aarch64::*;
    zips! {
        u8, uint8x16_t, vld1q_u8, vst1q_u8, vzip1q_u8, vzip2q_u8;
        u16, uint16x8_t, vld1q_u16, vst1q_u16, vzip1q_u16, vzip2q_u16;
        u32, uint32x4_t, vld1q_u32, vst1q_u32, vzip1q_u32, vzip2q_u32;
        u64, uint64x2_t, vld1q_u64, vst1q_u64, vzip1q_u64, vzip2q_u64;
    }
}
