//! Rows under a mask, copied for batches to read: in place of what the mask leaves out the copy has another element.

use crate::isa::{Task, avx512};
use crate::kernels::batches::batch::{AHEAD, CopyRows, VECTOR};
use crate::kernels::prefetch::prefetch;
use crate::kernels::source::Lines;
use std::arch::x86_64::*;

impl CopyRows {
    /// Copies them; whether what stands in for an element is an element that takes part, too.
    ///
    /// # Safety
    /// AVX-512 is in force, the rows and the mask are readable, and there is room for the copy.
    pub unsafe fn run(self) -> bool {
        // SAFETY: the caller's.
        unsafe {
            match self.size {
                1 => avx512::run(Copy::<1>(self)),
                2 => avx512::run(Copy::<2>(self)),
                4 => avx512::run(Copy::<4>(self)),
                _ => avx512::run(Copy::<8>(self)),
            }
        }
    }
}

/// The same of elements of so many bytes.
struct Copy<const SIZE: usize>(CopyRows);

impl<const SIZE: usize> Task for Copy<SIZE> {
    type Output = bool;
    #[inline(always)]
    unsafe fn run(self) -> bool {
        let CopyRows { lines, mut rows, mut len, fill, to, .. } = self.0;
        if lines.stride == (len * SIZE) as isize && lines.mask_stride == len as isize {
            (rows, len) = (1, rows * len);
        }
        let lanes = VECTOR / SIZE;
        let mut doubtful = 0;
        // SAFETY: the caller's; no lane beyond a row is read or written.
        unsafe {
            let fill = match SIZE {
                1 => _mm512_set1_epi8(fill as i8),
                2 => _mm512_set1_epi16(fill as i16),
                4 => _mm512_set1_epi32(fill as i32),
                _ => _mm512_set1_epi64(fill as i64),
            };
            for row in 0..rows {
                let Lines { data, mask, .. } = lines.from(row as isize);
                let to = to.add(row * len * SIZE);
                for at in (0..len / lanes * lanes).step_by(lanes) {
                    let from = data.add(at * SIZE);
                    prefetch::<VECTOR>(from.wrapping_add(AHEAD));
                    prefetch::<VECTOR>(mask.wrapping_add(at + AHEAD / SIZE));
                    let there = present::<SIZE>(u64::MAX, mask.add(at));
                    let copied = loaded::<SIZE>(fill, there, from);
                    doubtful |= equal::<SIZE>(there, copied, fill);
                    _mm512_storeu_epi8(to.add(at * SIZE).cast(), copied);
                }
                if !len.is_multiple_of(lanes) {
                    let at = len / lanes * lanes;
                    let within = u64::MAX >> (64 - (len - at));
                    let there = present::<SIZE>(within, mask.add(at));
                    let bytes = u64::MAX >> (64 - (len - at) * SIZE);
                    let copied = loaded::<SIZE>(fill, there, data.add(at * SIZE));
                    doubtful |= equal::<SIZE>(there, copied, fill);
                    _mm512_mask_storeu_epi8(to.add(at * SIZE).cast(), bytes, copied);
                }
            }
        }
        doubtful != 0
    }
}

/// Which of the elements of a vector that `within` selects have a byte other than 0 in the mask.
///
/// # Safety
/// AVX-512 is in force, and the bytes that `within` selects may be read.
#[inline(always)]
unsafe fn present<const SIZE: usize>(within: u64, mask: *const u8) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        match SIZE {
            1 => {
                let bytes = _mm512_maskz_loadu_epi8(within, mask.cast());
                _mm512_test_epi8_mask(bytes, bytes)
            }
            2 => {
                let bytes = _mm256_maskz_loadu_epi8(within as u32, mask.cast());
                _mm256_test_epi8_mask(bytes, bytes).into()
            }
            4 => {
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

/// A vector of the elements that are there, with `fill` elsewhere.
///
/// # Safety
/// AVX-512 is in force, and the elements that are there may be read.
#[inline(always)]
unsafe fn loaded<const SIZE: usize>(fill: __m512i, there: u64, from: *const u8) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        match SIZE {
            1 => _mm512_mask_loadu_epi8(fill, there, from.cast()),
            2 => _mm512_mask_loadu_epi16(fill, there as u32, from.cast()),
            4 => _mm512_mask_loadu_epi32(fill, there as u16, from.cast()),
            _ => _mm512_mask_loadu_epi64(fill, there as u8, from.cast()),
        }
    }
}

/// Which of some lanes have equal bits.
///
/// # Safety
/// AVX-512 is in force.
#[inline(always)]
unsafe fn equal<const SIZE: usize>(lanes: u64, a: __m512i, b: __m512i) -> u64 {
    // SAFETY: the caller has AVX-512.
    unsafe {
        match SIZE {
            1 => _mm512_mask_cmpeq_epi8_mask(lanes, a, b),
            2 => _mm512_mask_cmpeq_epi16_mask(lanes as u32, a, b).into(),
            4 => _mm512_mask_cmpeq_epi32_mask(lanes as u16, a, b).into(),
            _ => _mm512_mask_cmpeq_epi64_mask(lanes as u8, a, b).into(),
        }
    }
}
