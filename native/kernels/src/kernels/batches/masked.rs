//! Which elements, and which rows, take part under a mask.

use std::arch::x86_64::*;

/// Which of the `lanes` elements that `within` selects have a byte other than 0 in the mask.
///
/// # Safety
/// AVX-512 is in force, and the bytes that `within` selects may be read.
#[inline(always)]
pub unsafe fn present(lanes: usize, within: u64, mask: *const u8) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        match lanes {
            64 => {
                let bytes = _mm512_maskz_loadu_epi8(within, mask.cast());
                _mm512_test_epi8_mask(bytes, bytes)
            }
            32 => {
                let bytes = _mm256_maskz_loadu_epi8(within as u32, mask.cast());
                _mm256_test_epi8_mask(bytes, bytes).into()
            }
            16 => {
                let bytes = _mm_maskz_loadu_epi8(within as u16, mask.cast());
                _mm_test_epi8_mask(bytes, bytes).into()
            }
            _ => {
                let bytes = _mm_maskz_loadu_epi8(within as u8 as u16, mask.cast());
                _mm_test_epi8_mask(bytes, bytes).into()
            }
        }
    }
}

/// In which of eight rows of `len` elements, seven at most, one takes part.
///
/// # Safety
/// AVX-512 is in force, and the bytes of the rows may be read.
#[inline(always)]
pub unsafe fn present_rows(len: usize, mask: *const u8) -> u64 {
    let all = u64::MAX >> (64 - 8 * len);
    let first_of_each = all / ((1 << len) - 1);
    // SAFETY: the caller's.
    unsafe {
        let there = present(64, all, mask);
        _pext_u64((1..len).fold(there, |any, at| any | there >> at), first_of_each)
    }
}
