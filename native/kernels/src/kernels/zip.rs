//! Zips: interleaving two vectors of 16 bytes, which belongs to the baseline of every architecture named here; and two or four
//! pairs of them at once, which does not.

#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]

/// Interleaving two vectors of one part of 16 bytes, or of several: each part with the other's.
pub trait Zip: Copy {
    type Vector: Copy;
    /// Parts of a vector.
    const PARTS: usize;
    /// A vector whose parts lie `apart` bytes apart.
    ///
    /// # Safety
    /// All parts may be read.
    unsafe fn load(from: *const u8, apart: isize) -> Self::Vector;
    /// # Safety
    /// A whole vector may be written.
    unsafe fn store(to: *mut u8, vector: Self::Vector);
    /// # Safety
    /// A vector of one part needs none: its zips are part of the baseline. One of two needs AVX2, one of four AVX-512.
    unsafe fn zip_low(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// # Safety
    /// As for [`zip_low`](Self::zip_low).
    unsafe fn zip_high(a: Self::Vector, b: Self::Vector) -> Self::Vector;
}

/// Two parts in a vector.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Pair<T>(std::marker::PhantomData<T>);

/// Four parts in a vector.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Quad<T>(std::marker::PhantomData<T>);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! zips {
    ($($type:ty, $parts:literal, $vector:ty, $load:expr, $store:expr, $low:path, $high:path;)*) => {$(
        impl Zip for $type {
            type Vector = $vector;
            const PARTS: usize = $parts;
            /// # Safety
            /// All parts may be read.
            #[inline(always)]
            unsafe fn load(from: *const u8, apart: isize) -> $vector {
                // SAFETY: the caller's.
                unsafe { $load(from, apart) }
            }
            /// # Safety
            /// A whole vector may be written.
            #[inline(always)]
            unsafe fn store(to: *mut u8, vector: $vector) {
                // SAFETY: the caller's.
                unsafe { $store(to.cast(), vector) }
            }
            /// # Safety
            /// The trait's.
            #[inline(always)]
            unsafe fn zip_low(a: $vector, b: $vector) -> $vector {
                // SAFETY: the caller's.
                #[allow(unused_unsafe)]
                unsafe { $low(a, b) }
            }
            /// # Safety
            /// The trait's.
            #[inline(always)]
            unsafe fn zip_high(a: $vector, b: $vector) -> $vector {
                // SAFETY: the caller's.
                #[allow(unused_unsafe)]
                unsafe { $high(a, b) }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use crate::kernels::zip::{Pair, Quad, Zip};
    use std::arch::x86_64::*;
    zips! {
        u8, 1, __m128i, one, _mm_storeu_si128, _mm_unpacklo_epi8, _mm_unpackhi_epi8;
        u16, 1, __m128i, one, _mm_storeu_si128, _mm_unpacklo_epi16, _mm_unpackhi_epi16;
        u32, 1, __m128i, one, _mm_storeu_si128, _mm_unpacklo_epi32, _mm_unpackhi_epi32;
        u64, 1, __m128i, one, _mm_storeu_si128, _mm_unpacklo_epi64, _mm_unpackhi_epi64;
        Pair<u8>, 2, __m256i, two, _mm256_storeu_si256, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8;
        Pair<u16>, 2, __m256i, two, _mm256_storeu_si256, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16;
        Pair<u32>, 2, __m256i, two, _mm256_storeu_si256, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32;
        Pair<u64>, 2, __m256i, two, _mm256_storeu_si256, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64;
        Quad<u8>, 4, __m512i, four, _mm512_storeu_si512, _mm512_unpacklo_epi8, _mm512_unpackhi_epi8;
        Quad<u16>, 4, __m512i, four, _mm512_storeu_si512, _mm512_unpacklo_epi16, _mm512_unpackhi_epi16;
        Quad<u32>, 4, __m512i, four, _mm512_storeu_si512, _mm512_unpacklo_epi32, _mm512_unpackhi_epi32;
        Quad<u64>, 4, __m512i, four, _mm512_storeu_si512, _mm512_unpacklo_epi64, _mm512_unpackhi_epi64;
    }

    /// # Safety
    /// 16 bytes may be read.
    #[inline(always)]
    unsafe fn one(from: *const u8, _: isize) -> __m128i {
        // SAFETY: the caller's.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    /// # Safety
    /// 16 bytes may be read, and as many `apart` bytes from there; there is AVX2.
    #[inline(always)]
    unsafe fn two(from: *const u8, apart: isize) -> __m256i {
        // SAFETY: the caller's.
        unsafe { _mm256_loadu2_m128i(from.wrapping_offset(apart).cast(), from.cast()) }
    }

    /// # Safety
    /// 16 bytes may be read, and as many `apart` bytes from there, and so on; there is AVX-512.
    #[inline(always)]
    unsafe fn four(from: *const u8, apart: isize) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let (low, high) = (two(from, apart), two(from.wrapping_offset(2 * apart), apart));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod vectors {
    use crate::kernels::zip::Zip;
    use std::arch::aarch64::*;
    zips! {
        u8, 1, uint8x16_t, |from: *const u8, _| vld1q_u8(from.cast()), vst1q_u8, vzip1q_u8, vzip2q_u8;
        u16, 1, uint16x8_t, |from: *const u8, _| vld1q_u16(from.cast()), vst1q_u16, vzip1q_u16, vzip2q_u16;
        u32, 1, uint32x4_t, |from: *const u8, _| vld1q_u32(from.cast()), vst1q_u32, vzip1q_u32, vzip2q_u32;
        u64, 1, uint64x2_t, |from: *const u8, _| vld1q_u64(from.cast()), vst1q_u64, vzip1q_u64, vzip2q_u64;
    }
}
