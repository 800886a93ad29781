//! Transposition: short rows become columns.
//!
//! Squares of 16-byte vectors are transposed by zipping: each of log2(lanes) rounds interleaves the first half of
//! the vectors with the second. Zips of 16 bytes belong to the baseline of every architecture named here and
//! need no wider registers.

// An architecture without zips of 16 bytes uses the last implementation below; the tests hold the others there too.
#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code, unused_imports, unused_macros))]

use crate::kernels::cache_line::Aligned;
use std::array::from_fn;
use std::ops::Range;

/// A square that can be transposed in registers.
pub trait Square: Copy {
    /// Elements in a vector, and vectors in a square.
    const LANES: usize;

    /// Transposes `rows` rows of `len` elements, `stride` bytes apart, into columns `pitch` elements apart.
    ///
    /// # Safety
    /// The rows are readable; `to` has room for `len` columns of `rows` elements, rounded up to whole squares.
    unsafe fn transpose(from: *const u8, stride: isize, rows: usize, len: usize, to: *mut Self, pitch: usize);
}

/// Bytes of a vector.
const VECTOR: usize = 16;

/// The smallest page of any system: where memory begins or ends to be readable is a multiple of it.
const PAGE: usize = 4096;

/// How many of `rows` rows of `len` bytes, the first ones, may be read as if they had `whole >= len` bytes.
///
/// This is the one place where a kernel reads what it was not asked for, so it is the one that has to know when it may.
/// A caller vouches for the bytes of the rows and for no other. What is read behind a row is there nevertheless where it
/// belongs to later rows, or lies in the gap before one of them and in the page of one of its ends. Rows that all begin at
/// one place (stride 0) or run downwards have no such row behind them.
#[inline(never)]
fn rows_read_beyond(rows: usize, stride: isize, len: usize, whole: usize) -> usize {
    match usize::try_from(stride) {
        _ if whole == len => rows,
        Ok(stride @ 1..) if stride < len + PAGE => rows.saturating_sub((whole - len).div_ceil(stride)),
        _ => 0,
    }
}

/// Transposes with squares of `N` lanes, strip by strip of `N` columns.
///
/// # Safety
/// As for [`Square::transpose`].
#[inline(always)]
unsafe fn by_squares<T: Zip, const N: usize>(
    from: *const u8,
    stride: isize,
    rows: usize,
    len: usize,
    to: *mut T,
    pitch: usize,
) {
    // Squares with rows that may not be read in whole vectors are read from a copy.
    let whole_vectors = len.next_multiple_of(N) * size_of::<T>();
    let safe = rows_read_beyond(rows, stride, len * size_of::<T>(), whole_vectors);
    let whole = safe - safe % N;
    let mut column = 0;
    while column < len {
        let width = N.min(len - column);
        // SAFETY: the strip's squares end inside the rows.
        unsafe {
            let from = from.cast::<T>().add(column).cast();
            let to = to.add(column * pitch);
            // Columns that nobody asked for are not even computed.
            match width {
                ..=2 => strip::<T, N, 2>(from, stride, whole, to, pitch, width),
                3..=4 => strip::<T, N, 4>(from, stride, whole, to, pitch, width),
                5..=8 => strip::<T, N, 8>(from, stride, whole, to, pitch, width),
                _ => strip::<T, N, 16>(from, stride, whole, to, pitch, width),
            }
            rest::<T, N>(from, stride, whole..rows, to, pitch, width);
        }
        column += N;
    }
}

/// Transposes a strip of whole squares and stores its first `width <= W` columns.
///
/// # Safety
/// The rows may be read in whole vectors, and `to` has room for `width` columns of whole squares.
#[inline(always)]
unsafe fn strip<T: Zip, const N: usize, const W: usize>(
    from: *const u8,
    stride: isize,
    rows: usize,
    to: *mut T,
    pitch: usize,
    width: usize,
) {
    let mut row = 0;
    while row < rows {
        // SAFETY: the caller's.
        unsafe { square::<T, N, W>(from.offset(stride * row as isize), stride, to.add(row), pitch, width) };
        row += N;
    }
}

/// Transposes the last rows of a strip by way of a copy that has room behind it.
///
/// # Safety
/// The rows may be read, and `to` has room for `width` columns of whole squares.
#[inline(never)]
unsafe fn rest<T: Zip, const N: usize>(
    from: *const u8,
    stride: isize,
    rows: Range<usize>,
    to: *mut T,
    pitch: usize,
    width: usize,
) {
    for start in rows.clone().step_by(N) {
        let mut copy = Aligned([[0u8; VECTOR]; N]);
        for (row, line) in (start..rows.end).zip(&mut copy.0) {
            // SAFETY: `width` elements of a row that exists; a line has room for `N`.
            unsafe {
                let source = from.offset(stride * row as isize);
                source.copy_to_nonoverlapping(line.as_mut_ptr(), width * size_of::<T>());
            }
        }
        // SAFETY: the copy is a whole square, and the pitch leaves room for whole vectors.
        unsafe { square::<T, N, 16>(copy.0.as_ptr().cast(), VECTOR as isize, to.add(start), pitch, width) };
    }
}

/// Transposes one square and stores its first `width <= W` columns.
///
/// # Safety
/// `N` rows may be read in whole vectors, and `to` has room for `width` columns of `N` elements.
#[inline(always)]
unsafe fn square<T: Zip, const N: usize, const W: usize>(
    corner: *const u8,
    stride: isize,
    to: *mut T,
    pitch: usize,
    width: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        let mut vectors: [T::Vector; N] = from_fn(|row| T::load(corner.offset(stride * row as isize)));
        let mut lanes = N;
        while lanes > 1 {
            let previous = vectors;
            for pair in 0..N / 2 {
                vectors[2 * pair] = T::zip_low(previous[pair], previous[pair + N / 2]);
                vectors[2 * pair + 1] = T::zip_high(previous[pair], previous[pair + N / 2]);
            }
            lanes /= 2;
        }
        for column in 0..W.min(N) {
            if column < width {
                T::store(to.add(column * pitch), vectors[column]);
            }
        }
    }
}

/// Interleaving two vectors of 16 bytes.
trait Zip: Copy {
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

macro_rules! squares {
    ($($type:ty, $lanes:literal, $vector:ty, $load:expr, $store:expr, $low:path, $high:path;)*) => {$(
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
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

        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        impl Square for $type {
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn transpose(from: *const u8, stride: isize, rows: usize, len: usize, to: *mut Self, pitch: usize) {
                // SAFETY: the caller's.
                unsafe { by_squares::<$type, $lanes>(from, stride, rows, len, to, pitch) }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use crate::kernels::transpose::{Square, Zip, by_squares};
    use std::arch::x86_64::*;
    squares! {
        u8, 16, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi8, _mm_unpackhi_epi8;
        u16, 8, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi16, _mm_unpackhi_epi16;
        u32, 4, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi32, _mm_unpackhi_epi32;
        u64, 2, __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpacklo_epi64, _mm_unpackhi_epi64;
    }
}

#[cfg(target_arch = "aarch64")]
mod vectors {
    use crate::kernels::transpose::{Square, Zip, by_squares};
    use std::arch::aarch64::*;
    squares! {
        u8, 16, uint8x16_t, vld1q_u8, vst1q_u8, vzip1q_u8, vzip2q_u8;
        u16, 8, uint16x8_t, vld1q_u16, vst1q_u16, vzip1q_u16, vzip2q_u16;
        u32, 4, uint32x4_t, vld1q_u32, vst1q_u32, vzip1q_u32, vzip2q_u32;
        u64, 2, uint64x2_t, vld1q_u64, vst1q_u64, vzip1q_u64, vzip2q_u64;
    }
}

/// Other architectures copy element by element.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl<T: Copy> Square for T {
    const LANES: usize = 1;
    #[inline(always)]
    unsafe fn transpose(from: *const u8, stride: isize, rows: usize, len: usize, to: *mut Self, pitch: usize) {
        for row in 0..rows {
            for column in 0..len {
                // SAFETY: the caller's.
                unsafe {
                    let element = from.offset(stride * row as isize).cast::<T>().add(column).read_unaligned();
                    to.add(column * pitch + row).write(element);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PAGE, rows_read_beyond};

    /// Byte by byte: what is read of a row is part of a row, or in a gap that no page fits into.
    fn may_be_read(row: usize, rows: usize, stride: usize, len: usize, whole: usize) -> bool {
        (stride * row..stride * row + whole).all(|byte| {
            let behind = (0..rows).any(|row| byte < stride * row + len);
            let inside = (0..rows).any(|row| (stride * row..stride * row + len).contains(&byte));
            inside || (behind && stride < len + PAGE)
        })
    }

    #[test]
    fn no_row_is_read_beyond_what_is_there() {
        // (An interpreter would take minutes for the larger ones.)
        for rows in [0, 1, 2, 5, 16, 17, 40].into_iter().take(if cfg!(miri) { 3 } else { 7 }) {
            for stride in [0, 1, 2, 7, 8, 12, 15, 16, 17, 24, 100, 4100, 4110, 4111, 4112, 8192] {
                for (len, whole) in [(1, 16), (12, 16), (15, 16), (16, 16), (17, 32), (24, 32)] {
                    let safe = rows_read_beyond(rows, stride as isize, len, whole);
                    let all = (0..rows).take_while(|&row| may_be_read(row, rows, stride, len, whole)).count();
                    assert_eq!(safe, all, "{rows} {stride} {len} {whole}");
                    let backwards = rows_read_beyond(rows, -(stride as isize), len, whole);
                    assert_eq!(backwards, if len == whole { rows } else { 0 });
                }
            }
        }
    }
}
