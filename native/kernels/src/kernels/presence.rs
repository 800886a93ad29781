//! In which slices of a tile an element takes part at all, and what is written where none does.

use crate::isa::Task;
use crate::kernels::omit::Bits;
use crate::kernels::outputs::UNKNOWN;
use crate::kernels::prefetch::prefetch;

/// Elements that are looked at together.
const PIECE: usize = 64;

/// Rows after which it is seen whether there is an element in all slices.
const ROWS: usize = 32;

/// How many bytes ahead bytes far from one another are asked for.
const AHEAD: usize = 4096;

/// Bytes of rows that are looked at before those that follow: they stay in the cache.
const GROUP: usize = 1 << 15;

/// Notes in which slices a mask leaves an element, in a block of each.
pub struct Presence<'a> {
    /// The byte of the block's first place in the mask, 0 where the element is left out; null where there is no mask.
    pub mask: *const u8,
    /// Bytes in the mask from one slice to the next, and from one element of a slice to the next.
    pub strides: (isize, isize),
    /// Elements of each slice.
    pub len: usize,
    /// For each slice what stays 0 where there is no element.
    pub to: &'a mut [u8],
}

impl Task for Presence<'_> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { mask, strides: (stride, step), len, to } = self;
        // What is broadcast along slices is looked at once.
        let len = if step == 0 { 1 } else { len };
        // SAFETY: the caller vouches for the mask.
        unsafe {
            match (stride, step) {
                (_, 1) if stride == len as isize && matches!(len, 2 | 4 | 8) => match len {
                    2 => whole::<u16>(mask, to),
                    4 => whole::<u32>(mask, to),
                    _ => whole::<u64>(mask, to),
                },
                (_, 1) => {
                    for (slice, to) in to.iter_mut().enumerate() {
                        *to |= any(mask.wrapping_offset(stride * slice as isize), len) as u8;
                    }
                }
                (1, _) => {
                    let group = (GROUP / to.len()).next_multiple_of(ROWS);
                    for start in (0..len).step_by(group) {
                        let rows = start..len.min(start + group);
                        let row = mask.wrapping_offset(step * rows.start as isize);
                        match to.len() {
                            PIECE.. => down::<PIECE>(row, step, rows.len(), to),
                            16.. => down::<16>(row, step, rows.len(), to),
                            _ => down::<1>(row, step, rows.len(), to),
                        }
                        if !to.contains(&0) {
                            break;
                        }
                    }
                }
                (_, 0) => {
                    for (slice, to) in to.iter_mut().enumerate() {
                        let mask = mask.wrapping_offset(stride * slice as isize);
                        // (They may lie in as many lines of the cache.)
                        prefetch::<1>(mask.wrapping_add(AHEAD));
                        // (Volatile: to bring bytes together for vectors takes longer.)
                        *to |= mask.read_volatile();
                    }
                }
                _ => {
                    for (slice, to) in to.iter_mut().enumerate() {
                        let mask = mask.wrapping_offset(stride * slice as isize);
                        // (A branch that depends on a mask is one that nobody can predict.)
                        *to |= (0..len).fold(0, |any, at| any | *mask.wrapping_offset(step * at as isize));
                    }
                }
            }
        }
    }
}

/// Notes slices that lie side by side, `N` at a time, of which there are as many at least, for as long as there is one without an
/// element.
///
/// # Safety
/// The mask has so many rows.
#[inline(always)]
unsafe fn down<const N: usize>(mask: *const u8, step: isize, rows: usize, to: &mut [u8]) {
    let last = to.len() - N;
    for start in (0..to.len()).step_by(N) {
        // (What is looked at last overlaps what was looked at before.)
        let start = start.min(last);
        let mut seen = [0; N];
        seen.copy_from_slice(&to[start..start + N]);
        for first in (0..rows).step_by(ROWS) {
            for at in first..rows.min(first + ROWS) {
                let row = mask.wrapping_offset(step * at as isize).wrapping_add(start).cast::<[u8; N]>();
                // SAFETY: the caller's.
                let row = unsafe { row.read_unaligned() };
                (0..N).for_each(|slice| seen[slice] |= row[slice]);
            }
            // (Not `contains`, which looks at a few bytes at a time.)
            if !seen.iter().fold(false, |any, &there| any | (there == 0)) {
                break;
            }
        }
        to[start..start + N].copy_from_slice(&seen);
    }
}

/// Notes slices whose places in the mask follow one another and are a number each.
///
/// # Safety
/// The mask has as many numbers.
#[inline(always)]
unsafe fn whole<T: Copy + PartialEq + Default>(mask: *const u8, to: &mut [u8]) {
    for (slice, to) in to.iter_mut().enumerate() {
        // SAFETY: the caller's; alignment is not needed.
        *to |= (unsafe { mask.cast::<T>().add(slice).read_unaligned() } != T::default()) as u8;
    }
}

/// Whether one of `len` bytes is not 0.
///
/// # Safety
/// They may be read.
#[inline(always)]
unsafe fn any(mask: *const u8, len: usize) -> bool {
    // SAFETY: the caller's; what is read last overlaps what was read before.
    unsafe {
        let word = |at: usize| mask.add(at).cast::<u64>().read_unaligned();
        let wide = |at: usize| mask.add(at).cast::<u128>().read_unaligned();
        match len {
            0..8 => (0..len).fold(0, |any, at| any | *mask.add(at)) != 0,
            8..16 => word(0) | word(len - 8) != 0,
            16..=32 => wide(0) | wide(len - 16) != 0,
            33..PIECE => wide(0) | wide(16) | wide(len - 32) | wide(len - 16) != 0,
            _ => (0..len).step_by(PIECE).any(|at| {
                let from = at.min(len - PIECE);
                (0..PIECE).fold(0, |any, at| any | *mask.add(from + at)) != 0
            }),
        }
    }
}

/// The same where elements are left out for what they are, and by a mask too where there is one.
pub struct Numbers<'a, T> {
    /// The block's first element.
    pub data: *const u8,
    /// Bytes from one slice to the next, and from one element of a slice to the next.
    pub strides: (isize, isize),
    pub mask: *const u8,
    pub mask_strides: (isize, isize),
    pub len: usize,
    /// What is left out: a [pattern](crate::kernels::omit::Pattern).
    pub flip: T,
    pub magnitude: T,
    pub limit: T,
    pub to: &'a mut [u8],
}

impl<T: Bits> Task for Numbers<'_, T> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { data, strides: (stride, step), mask, mask_strides, len, flip, magnitude, limit, to } = self;
        // SAFETY: the caller vouches for the block and its mask; alignment is not needed.
        let is = |from: *const T| unsafe { !from.read_unaligned().matches(flip, magnitude, limit) };
        let place = |slice: usize, at: usize| data.wrapping_offset(stride * slice as isize + step * at as isize);
        if mask.is_null() && stride == size_of::<T>() as isize {
            for at in 0..len {
                let line = place(0, at).cast::<T>();
                for (slice, to) in to.iter_mut().enumerate() {
                    *to |= is(line.wrapping_add(slice)) as u8;
                }
                if at % ROWS == ROWS - 1 && !to.contains(&0) {
                    break;
                }
            }
        } else {
            let unmasked = |slice: usize, at: usize| {
                let offset = mask_strides.0 * slice as isize + mask_strides.1 * at as isize;
                // SAFETY: as above.
                mask.is_null() || unsafe { *mask.wrapping_offset(offset) != 0 }
            };
            for (slice, to) in to.iter_mut().enumerate() {
                *to |= (0..len).any(|at| unmasked(slice, at) && is(place(slice, at).cast())) as u8;
            }
        }
    }
}

/// Counts the slices in which nothing takes part, and those of which that is unknown.
pub struct Count<'a> {
    /// 0 for each slice in which nothing does, [`UNKNOWN`] for the others.
    pub presence: &'a [u8],
}

impl Task for Count<'_> {
    type Output = (usize, usize);
    #[inline(always)]
    unsafe fn run(self) -> (usize, usize) {
        let (mut lacking, mut unknown) = (0, 0);
        // As many pieces as a byte counts.
        for presence in self.presence.chunks(u8::MAX as usize * PIECE) {
            let mut counts = [[0u8; PIECE]; 2];
            let (whole, rest) = presence.as_chunks::<PIECE>();
            for piece in whole {
                for at in 0..PIECE {
                    counts[0][at] += (piece[at] == 0) as u8;
                    counts[1][at] += (piece[at] == UNKNOWN) as u8;
                }
            }
            let sum = |counts: &[u8; PIECE]| counts.iter().map(|&count| count as usize).sum::<usize>();
            let (mut zeros, mut ones) = (sum(&counts[0]), sum(&counts[1]));
            for &there in rest {
                zeros += (there == 0) as usize;
                ones += (there == UNKNOWN) as usize;
            }
            lacking += zeros;
            unknown += ones;
        }
        (lacking, unknown)
    }
}

/// Says of slices that nothing takes part in them, as far as that is so: their index is -1, and their value 0.
pub struct Leave<'a, T> {
    /// 0 for each slice in which nothing does.
    pub presence: &'a [u8],
    /// The results, of any alignment; null where they are not wanted.
    pub values: *mut T,
    pub indices: *mut i64,
}

impl<T: Bits> Task for Leave<'_, T> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        let Self { presence, values, indices } = self;
        // SAFETY: the caller vouches for as many results.
        unsafe {
            if !indices.is_null() {
                for (at, &there) in presence.iter().enumerate() {
                    let index = indices.add(at);
                    index.write_unaligned(if there == 0 { -1 } else { index.read_unaligned() });
                }
            }
            if !values.is_null() {
                for (at, &there) in presence.iter().enumerate() {
                    let value = values.add(at);
                    value.write_unaligned(if there == 0 { T::new(0) } else { value.read_unaligned() });
                }
            }
        }
    }
}
