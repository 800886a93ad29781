//! Transposition: short rows become columns.
//!
//! Squares of 16-byte vectors are transposed by zipping: each of log2(lanes) rounds interleaves the first half of
//! the vectors with the second. Zips of 16 bytes belong to the baseline of every architecture named here. Where registers are
//! wider, two squares, one below the other, are transposed at once: what they become lies side by side.

// An architecture without zips of 16 bytes uses the last implementation below; the tests hold the others there too.
#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code, unused_imports, unused_macros))]

use crate::kernels::beyond::rows_read_beyond;
use crate::kernels::cache_line::{Aligned, LINE};
use crate::kernels::prefetch::prefetch;
#[cfg(target_arch = "x86_64")]
use crate::kernels::zip::Pair;
use crate::kernels::zip::Zip;
use std::hint::black_box;

/// How rows are transposed.
#[derive(Clone, Copy)]
pub struct Turning {
    /// Whether two squares are transposed at once.
    pub pairs: bool,
    /// Whether rows that are far apart are asked for before.
    pub ahead: bool,
}

/// A square that can be transposed in registers.
pub trait Square: Copy {
    /// Elements in a vector, and vectors in a square.
    const LANES: usize;

    /// Transposes `rows` rows of `len` elements, `stride` bytes apart, into columns `step` bytes apart; see [`Turning`].
    ///
    /// # Safety
    /// The rows are readable; `to` has room for `len` columns of `rows` elements, rounded up to whole squares. There is AVX2
    /// where there are pairs.
    unsafe fn transpose(
        from: *const u8,
        stride: isize,
        rows: usize,
        len: usize,
        to: *mut u8,
        step: usize,
        how: Turning,
    );
}

/// Bytes of a vector.
const VECTOR: usize = 16;

/// Rows that all strips take before the next ones, where rows are long and far apart: a line of the cache is read to its end
/// while it is there. Sixteen lines with a large power of two between them fit the second-level cache. (Or four squares, of narrow
/// elements: what comes before a strip takes as long as one.)
const BLOCK: usize = 16;

/// Bytes of the longest row that is asked for at once.
const SHORT: usize = 512;

/// Transposes with squares of `N` lanes, strip by strip of `N` columns.
///
/// # Safety
/// As for [`Square::transpose`].
#[inline(always)]
unsafe fn by_squares<T: Paired, const N: usize>(
    from: *const u8,
    stride: isize,
    rows: usize,
    len: usize,
    to: *mut u8,
    step: usize,
    how: Turning,
) {
    // Squares with rows that may not be read in whole vectors are read from a copy.
    let whole_vectors = len.next_multiple_of(N) * size_of::<T>();
    let safe = rows_read_beyond(rows, stride, len * size_of::<T>(), whole_vectors);
    let whole = safe - safe % N;
    let pairs = how.pairs && T::Two::PARTS > 1;
    // What is farther apart is finished first: the rows, or else the columns; those of scratch memory are in the cache.
    let far = len > 4 * N && stride.unsigned_abs() > step;
    let block = if pairs || far { BLOCK.max(4 * N) } else { usize::MAX };
    // The processor does not foresee where the next of short rows lies.
    let ahead = how.ahead && far && len * size_of::<T>() <= SHORT;
    let mut row = 0;
    while row < rows {
        let squares = block.min(whole - row.min(whole));
        let height = if squares > 0 { squares } else { rows - row };
        if ahead {
            // The next ones, which may be those of the next tile.
            for row in row + height..row + 2 * height {
                let from = from.wrapping_offset(stride * row as isize);
                let (from, head) = (from.wrapping_sub(from.addr() % LINE), from.addr() % LINE);
                (0..head + len * size_of::<T>()).step_by(LINE).for_each(|at| prefetch::<LINE>(from.wrapping_add(at)));
            }
        }
        let mut column = 0;
        while column < len {
            let width = N.min(len - column);
            // SAFETY: the strip's squares end inside the rows.
            unsafe {
                let from = from.cast::<T>().add(column).byte_offset(stride * row as isize).cast();
                let to = to.add(column * step).cast::<T>().add(row).cast();
                // Columns that nobody asked for are not even computed.
                match width {
                    _ if squares == 0 => rest::<T, N>(from, stride, height, to, step, width),
                    ..=2 => strip::<T, N, 2>(from, stride, squares, to, step, width, pairs),
                    3..=4 => strip::<T, N, 4>(from, stride, squares, to, step, width, pairs),
                    5..=8 => strip::<T, N, 8>(from, stride, squares, to, step, width, pairs),
                    _ => strip::<T, N, 16>(from, stride, squares, to, step, width, pairs),
                }
            }
            column += N;
        }
        row += height;
    }
}

/// Transposes a strip of whole squares and stores its first `width <= W` columns.
///
/// # Safety
/// The rows may be read in whole vectors, and `to` has room for `width` columns of whole squares; there is AVX2 where `pairs`.
#[inline(always)]
unsafe fn strip<T: Paired, const N: usize, const W: usize>(
    from: *const u8,
    stride: isize,
    rows: usize,
    to: *mut u8,
    step: usize,
    width: usize,
    pairs: bool,
) {
    let mut row = 0;
    // (Where not all columns are asked for, most of the time is not spent here.)
    if pairs && W >= N {
        while row + 2 * N <= rows {
            // SAFETY: the caller's.
            unsafe {
                let (from, to) = (from.offset(stride * row as isize), to.cast::<T>().add(row).cast());
                square::<T::Two, N, W>(from, stride, to, step, width);
            }
            row += 2 * N;
        }
    }
    while row < rows {
        // SAFETY: the caller's.
        unsafe {
            square::<T, N, W>(from.offset(stride * row as isize), stride, to.cast::<T>().add(row).cast(), step, width)
        };
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
    rows: usize,
    to: *mut u8,
    step: usize,
    width: usize,
) {
    for start in (0..rows).step_by(N) {
        let mut copy = Aligned([[0u8; VECTOR]; N]);
        for (row, line) in (start..rows).zip(&mut copy.0) {
            // SAFETY: `width` elements of a row that exists; a line has room for `N`.
            unsafe {
                let source = from.offset(stride * row as isize);
                source.copy_to_nonoverlapping(line.as_mut_ptr(), width * size_of::<T>());
            }
        }
        // SAFETY: the copy is a whole square, and there is room for whole vectors.
        unsafe {
            square::<T, N, 16>(copy.0.as_ptr().cast(), VECTOR as isize, to.cast::<T>().add(start).cast(), step, width)
        };
    }
}

/// Transposes one square, or as many at once as a vector has parts, and stores its first `width <= W` columns.
///
/// # Safety
/// `N` rows of each square may be read in whole vectors, and `to` has room for `width` columns of as many elements; the zips may
/// be done.
#[inline(always)]
pub unsafe fn square<T: Zip, const N: usize, const W: usize>(
    corner: *const u8,
    stride: isize,
    to: *mut u8,
    step: usize,
    width: usize,
) {
    // Multiples of a stride that is known from one square to the next would be kept, one and all, and fetched for each vector.
    let stride = if N > 2 { black_box(stride) } else { stride };
    // SAFETY: the caller's.
    unsafe {
        let mut vectors = [T::load(corner, stride * N as isize); N];
        for (row, vector) in vectors.iter_mut().enumerate().skip(1) {
            *vector = T::load(corner.offset(stride * row as isize), stride * N as isize);
        }
        let mut lanes = N;
        while lanes > 1 {
            vectors = zipped::<T, N>(vectors);
            lanes /= 2;
        }
        for column in 0..W.min(N) {
            if column < width {
                T::store(to.add(column * step), vectors[column]);
            }
        }
    }
}

/// Interleaves the first half of the vectors with the second.
///
/// # Safety
/// The zips may be done.
#[inline(always)]
unsafe fn zipped<T: Zip, const N: usize>(vectors: [T::Vector; N]) -> [T::Vector; N] {
    let mut all = vectors;
    // (A loop over zips of 64 bytes is not unrolled: the vectors would be in memory.)
    macro_rules! zips {
        ($($pair:literal)*) => {$(
            if $pair < N / 2 {
                // SAFETY: the caller's.
                unsafe {
                    all[2 * $pair] = T::zip_low(vectors[$pair], vectors[$pair + N / 2]);
                    all[2 * $pair + 1] = T::zip_high(vectors[$pair], vectors[$pair + N / 2]);
                }
            }
        )*};
    }
    zips! { 0 1 2 3 4 5 6 7 }
    all
}

/// An element whose squares can be transposed two at once.
trait Paired: Zip {
    type Two: Zip;
}

macro_rules! squares {
    ($($type:ty, $lanes:literal;)*) => {$(
        #[cfg(target_arch = "x86_64")]
        impl Paired for $type {
            type Two = Pair<$type>;
        }
        #[cfg(target_arch = "aarch64")]
        impl Paired for $type {
            type Two = $type;
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        impl Square for $type {
            const LANES: usize = $lanes;
            #[inline(always)]
            unsafe fn transpose(
                from: *const u8,
                stride: isize,
                rows: usize,
                len: usize,
                to: *mut u8,
                step: usize,
                how: Turning,
            ) {
                // SAFETY: the caller's.
                unsafe { by_squares::<$type, $lanes>(from, stride, rows, len, to, step, how) }
            }
        }
    )*};
}

squares! { u8, 16; u16, 8; u32, 4; u64, 2; }

/// Other architectures copy element by element.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl<T: Copy> Square for T {
    const LANES: usize = 1;
    #[inline(always)]
    unsafe fn transpose(from: *const u8, stride: isize, rows: usize, len: usize, to: *mut u8, step: usize, _: Turning) {
        for row in 0..rows {
            for column in 0..len {
                // SAFETY: the caller's.
                unsafe {
                    let element = from.offset(stride * row as isize).cast::<T>().add(column).read_unaligned();
                    to.add(column * step).cast::<Self>().add(row).write_unaligned(element);
                }
            }
        }
    }
}
