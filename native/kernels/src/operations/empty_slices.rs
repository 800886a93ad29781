//! Slices in which no element takes part, because a mask, NaN or NaT leaves out all of them: which they are, and the second reading
//! of those that the first does not tell.
//!
//! Index -1 says it. A kernel has put the identity in the place of each element that is left out, so an index may be that of such an
//! element, or -1 where an element that takes part equals the identity: `select` describes the cases.

use crate::kernels::lanes::{bits, write_bits};
use crate::layout::{Axis, ReductionAxis, ReductionLayout, ReductionOffsets, merge, place, position, positions};
use crate::operations::input::Input;
use crate::operations::reduce::reduce_ends;
use crate::operations::select::Answers;
use crate::operations::sink::{MinusOne, Sink, Tile};
use smallvec::SmallVec;
use std::array;
use std::sync::atomic::Ordering;

impl Answers<'_> {
    /// Writes an index for each slice of a tile, `step` bytes apart: -1 where the value, of `SIZE` bytes, is skipped, and 0
    /// elsewhere. Returns how many are -1. Null `places` are not written. Not inlined, so that small calls do not carry it.
    ///
    /// # Safety
    /// The tile has values, and a value that is skipped only where no element takes part; the places may be written.
    #[inline(never)]
    pub(super) unsafe fn tell_empty<const SIZE: usize>(&self, tile: &Tile, places: *mut u8, step: isize) -> usize {
        debug_assert!(!tile.values.is_null() && tile.minus_one == MinusOne::Empty, "no values in {tile:?}");
        let size = self.target.index.size();
        let mut empty_slices = 0;
        for slice in 0..tile.len {
            // SAFETY: the caller's promise.
            let value = unsafe { bits(tile.values.wrapping_add(slice * SIZE), SIZE, false) };
            let is_empty = u64::from(self.pattern.matches(value));
            empty_slices += is_empty;
            if !places.is_null() {
                // All bits of -1 are set.
                // SAFETY: the caller's promise.
                unsafe { write_bits(places.wrapping_offset(step * slice as isize), is_empty.wrapping_neg(), size) };
            }
        }
        empty_slices as usize
    }

    /// Corrects the indices of a tile whose element does not take part.
    ///
    /// # Safety
    /// The tile begins at `at`, runs along `axis`, lies in the layout that was reduced, and has an index for each position.
    #[inline(never)]
    pub(super) unsafe fn correct(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile) {
        let mask = if self.mask.is_null() { self.mask } else { self.mask.wrapping_offset(at.mask) };
        let rest = if self.mask != self.input.mask {
            // The mask skips whole slices, of which the kernels knew nothing: all others have the right index.
            for slice in 0..tile.len {
                // SAFETY: the caller's promise.
                unsafe {
                    let there = *mask.wrapping_offset(axis.strides.mask * slice as isize) != 0;
                    tile.set_index(slice, index_if(there, tile.index(slice)));
                }
            }
            Slices::new()
        } else if tile.minus_one != MinusOne::Unused {
            // The kernels have written -1 where nothing beats the identity. That is right, unless an element that equals it takes part.
            // SAFETY: the caller's promise.
            let empty_slices = unsafe { tile.empty_slices() };
            let rest = match empty_slices == 0 || tile.minus_one == MinusOne::Empty {
                true => Slices::new(),
                // SAFETY: the caller's promise.
                false => unsafe { self.maybe_not_empty(mask, axis.strides.mask, tile) },
            };
            if rest.is_empty() {
                self.empty_slices.fetch_add(empty_slices, Ordering::Relaxed);
                return;
            }
            rest
        } else {
            // The kernels have ignored the mask, but not what replaces skipped elements: an index of one of those is wrong.
            // SAFETY: the caller's promise.
            let open = unsafe {
                match self.input.element.size() {
                    1 => self.omissions::<1>(at, axis, tile),
                    2 => self.omissions::<2>(at, axis, tile),
                    4 => self.omissions::<4>(at, axis, tile),
                    _ => self.omissions::<8>(at, axis, tile),
                }
            };
            match open.len() {
                0 => Slices::new(),
                // SAFETY: the caller's promise; the slices are those of the tile.
                _ => unsafe { self.present(at, axis, tile, open) },
            }
        };
        // Slices that lie apart are read separately, unless little lies between them.
        let slice: usize = self.reduced.iter().map(|axis| axis.len).product();
        let columns = self.reduced.iter().all(|reduced| axis.strides.input.abs() < reduced.strides.input.abs());
        let apart = (REREAD_GAP_ELEMENTS / if columns { 16 } else { slice }).max(1);
        for open in rest.chunk_by(|&one, &next| ((next - one) as usize) <= apart) {
            // SAFETY: the caller's promise.
            unsafe { SecondReading { answers: self, start: at, axis, open, tile: *tile }.read() };
        }
        // SAFETY: the caller's promise.
        self.empty_slices.fetch_add(unsafe { tile.empty_slices() }, Ordering::Relaxed);
    }

    /// The slices of a tile with index -1 in which an element may take part. Slices of the mask are `step` bytes apart.
    ///
    /// # Safety
    /// As for [`correct`](Self::correct), of which this is a part; `mask` is that of the first slice, or null.
    unsafe fn maybe_not_empty(&self, mask: *const u8, step: isize, tile: &Tile) -> Slices {
        let along = self.reduced.last().unwrap_or(&ReductionAxis::POINT);
        let len = along.len;
        let width = along.strides.mask;
        let row = |slice: usize| mask.wrapping_offset(step * slice as isize);
        // SAFETY: the caller's promise, as for all that is read here.
        let index = |slice: usize| unsafe { tile.index(slice) };
        if mask.is_null() {
            return slices(tile.len, |slice| index(slice) == -1);
        }
        // All bits of -1 are set.
        let none = |slice: usize| (index(slice) >> 63) as u64;
        // SAFETY: the mask has a byte for each element of each slice.
        unsafe {
            match (width, len, step) {
                // All slices share one stretch of the mask, which skips all of it.
                (_, _, 0) if any(mask, len, width) == 0 => Slices::new(),
                // A slice is a word, and slices follow one another: the compiler makes vectors of them.
                (1, 4, 4) => {
                    let word = |slice| mask.cast::<u32>().add(slice).read_unaligned();
                    filter(tile, |slice| none(slice) & u64::from(word(slice)))
                }
                (1, 8..=16, _) => filter(tile, |slice| none(slice) & ends(row(slice), len)),
                _ => filter(tile, |slice| none(slice) & any(row(slice), len, width)),
            }
        }
    }

    /// The `open` slices in which the mask lets an element take part; sets the index of the others to -1.
    ///
    /// # Safety
    /// As for [`correct`](Self::correct), of which this is a part; `open` are slices of the tile, at least one, in ascending order.
    unsafe fn present(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile, open: Slices) -> Slices {
        debug_assert!(open.is_sorted() && open.last().is_some_and(|&slice| (slice as usize) < tile.len));
        let mask = self.mask;
        let (along, others) = self.reduced.split_last().unwrap_or((&ReductionAxis::POINT, &[]));
        if mask.is_null() {
            return open;
        }
        // One byte for each slice from the first to the last: where their places in the mask are adjacent, all are read.
        let first = open[0] as usize;
        let end = open[open.len() - 1] as usize + 1;
        let mut there: SmallVec<[u8; 64]> = SmallVec::from_elem(0, end - first);
        let step = axis.strides.mask;
        let width = along.strides.mask;
        for number in 0..positions(others) {
            let mask = mask.wrapping_offset(position(others, axis.after(at, first), number).mask);
            if step == 1 && width != 1 {
                // SAFETY: the mask has a row of bytes, one for each slice, at each place along the axis.
                unsafe { join_rows(&mut there, mask, along.len, width) };
            } else {
                for &slice in &open {
                    let slice = slice as usize - first;
                    let mask = mask.wrapping_offset(step * slice as isize);
                    // SAFETY: the mask has a byte for each element of each slice.
                    there[slice] |= u8::from(unsafe { any(mask, along.len, width) } != 0);
                }
            }
        }
        let rest = slices(open.len(), |at| there[open[at] as usize - first] != 0);
        // A branch for each slice would be mispredicted.
        for &slice in &open {
            let slice = slice as usize;
            // SAFETY: a slice of the tile, which has an index for each.
            unsafe { tile.set_index(slice, index_if(there[slice - first] != 0, tile.index(slice))) };
        }
        rest.iter().map(|&at| open[at as usize]).collect()
    }

    /// The slices whose element, of `SIZE` bytes, is skipped.
    ///
    /// # Safety
    /// As for [`correct`](Self::correct), of which this is a part.
    unsafe fn omissions<const SIZE: usize>(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile) -> Slices {
        // Some kernels write -1 where they know that a slice is empty. A branch would be mispredicted.
        // SAFETY: the caller's promise; a slice has a first element.
        slices(tile.len, |slice| unsafe {
            let index = tile.index(slice);
            (index >= 0) & self.is_left_out(at, axis, slice, index.max(0), SIZE)
        })
    }

    /// Whether the element of `size` bytes at an index of a slice is skipped.
    ///
    /// # Safety
    /// The slice is one of a tile that begins at `at` and runs along `axis`, and has an element at the index.
    #[inline(always)]
    unsafe fn is_left_out(
        &self,
        at: ReductionOffsets,
        axis: &ReductionAxis,
        slice: usize,
        index: i64,
        size: usize,
    ) -> bool {
        let place = place(self.reduced, axis.after(at, slice), index - self.base);
        // Without a branch that depends on the mask: it would be mispredicted.
        // SAFETY: the caller's promise: the mask has a byte for each element.
        let masked = !self.mask.is_null() && unsafe { *self.mask.wrapping_offset(place.mask) } == 0;
        // SAFETY: the caller's promise.
        let bits = || unsafe { bits(self.input.data.wrapping_offset(place.input), size, self.input.swapped) };
        if self.pattern.is_none() { masked } else { masked | self.pattern.matches(bits()) }
    }
}

/// An index, or -1, all of whose bits are set. Arithmetic, because the compiler makes a branch of a choice, and it would be
/// mispredicted: rows of 4 under a mask of whole rows then took five times as long (EPYC, family 26, model 2).
#[inline(always)]
fn index_if(there: bool, index: i64) -> i64 {
    index | (i64::from(there) - 1)
}

/// Numbers of slices of a tile.
type Slices = SmallVec<[u32; 64]>;

/// The numbers for which `holds` is true. Without a branch, which would be mispredicted.
#[inline(always)]
fn slices(len: usize, holds: impl Fn(usize) -> bool) -> Slices {
    let mut numbers: Slices = SmallVec::from_elem(0, len);
    let to = &mut numbers[..];
    let mut count = 0;
    for number in 0..len {
        to[count] = number as u32;
        count += usize::from(holds(number));
    }
    numbers.truncate(count);
    numbers
}

/// The slices of a tile for which `open` is not 0. Most often there is no such slice: that is checked first.
#[inline(always)]
fn filter(tile: &Tile, open: impl Fn(usize) -> u64) -> Slices {
    match (0..tile.len).fold(0, |any, slice| any | open(slice)) {
        0 => Slices::new(),
        _ => slices(tile.len, |slice| open(slice) != 0),
    }
}

/// The first and the last eight of up to sixteen bytes.
///
/// # Safety
/// The `len` bytes, at least eight, may be read.
#[inline(always)]
unsafe fn ends(from: *const u8, len: usize) -> u64 {
    debug_assert!((8..=16).contains(&len), "two words of eight bytes do not cover {len} bytes");
    // SAFETY: the caller's promise.
    unsafe { from.cast::<u64>().read_unaligned() | from.add(len - 8).cast::<u64>().read_unaligned() }
}

/// Not 0 if any of `len` bytes, `step` apart, is not 0. No branch depends on the bytes.
///
/// # Safety
/// The bytes, at least one, may be read.
#[inline(always)]
unsafe fn any(from: *const u8, len: usize, step: isize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match (step, len) {
            (0, _) => u64::from(*from),
            // The last bytes overlap those before.
            (1, 16..) => (0..len / 16).fold(ends(from.add(len - 16), 16), |any, at| any | ends(from.add(16 * at), 16)),
            (1, 8..) => ends(from, len),
            (1, 4..) => {
                u64::from(from.cast::<u32>().read_unaligned() | from.add(len - 4).cast::<u32>().read_unaligned())
            }
            _ => (0..len as isize).fold(0, |any, at| any | u64::from(*from.wrapping_offset(at * step))),
        }
    }
}

/// Adds to each byte of `all` the bytes at the same place of `rows` rows, `stride` bytes apart: it is then not 0 where one of them
/// is not 0.
///
/// # Safety
/// The rows are as long as `all`, and may be read.
#[inline(always)]
unsafe fn join_rows(all: &mut [u8], from: *const u8, rows: usize, stride: isize) {
    let len = all.len();
    // In pieces that registers hold; the last overlaps the one before.
    for at in (0..len).step_by(MASK_PIECE_BYTES) {
        let at = at.min(len.saturating_sub(MASK_PIECE_BYTES));
        let rows = (0..rows as isize).map(|row| from.wrapping_offset(row * stride).wrapping_add(at));
        if len < MASK_PIECE_BYTES {
            for row in rows {
                // SAFETY: the caller's promise.
                (0..len).for_each(|at| all[at] |= unsafe { *row.add(at) });
            }
            continue;
        }
        // SAFETY: the piece ends inside `all`, and inside the rows.
        unsafe {
            let piece = all.as_mut_ptr().add(at).cast::<[u64; MASK_PIECE_BYTES / 8]>();
            let joined = rows.fold(piece.read_unaligned(), |all, row| {
                let row = row.cast::<[u64; MASK_PIECE_BYTES / 8]>().read_unaligned();
                array::from_fn(|word| all[word] | row[word])
            });
            piece.write_unaligned(joined);
        }
    }
}

/// Bytes of a mask that are joined at a time.
const MASK_PIECE_BYTES: usize = 64;

/// Slices of a tile that are read once more, for the other end of the order.
struct SecondReading<'a> {
    answers: &'a Answers<'a>,
    /// Where the tile starts, and the axis along which it runs.
    start: ReductionOffsets,
    axis: &'a ReductionAxis,
    /// The slices of the tile to be read; slices between them are read, too.
    open: &'a [u32],
    /// The tile, which has an index for each of its slices.
    tile: Tile,
}

// SAFETY: threads write the indices of different slices.
unsafe impl Sync for SecondReading<'_> {}

impl SecondReading<'_> {
    /// Reads the slices.
    ///
    /// # Safety
    /// As for [`Answers::correct`], of which this is a part; the slices are those of the tile.
    #[cold]
    #[inline(never)]
    unsafe fn read(&self) {
        let Answers { input, reduced, .. } = *self.answers;
        let from = self.open[0] as usize;
        let to = self.open[self.open.len() - 1] as usize + 1;
        let strides = ReductionOffsets { output: 1, ..self.axis.strides };
        let origin = ReductionOffsets { output: from as isize, ..self.axis.after(self.start, from) };
        let kept = [Axis { len: to - from, strides }][..].into();
        let mut layout = ReductionLayout { kept, reduced: reduced.into(), origin };
        merge(&mut layout.reduced);
        // SAFETY: the caller's promise: the layout is a part of that of the tile.
        unsafe { reduce_ends([Input { largest: !input.largest, ..input }], &mut layout, [self]) }
    }
}

impl Sink for SecondReading<'_> {
    unsafe fn take(&self, at: ReductionOffsets, _: &ReductionAxis, tile: Tile) {
        let first = at.output as usize;
        let size = self.answers.input.element.size();
        let open =
            self.open.iter().map(|&slice| slice as usize).filter(|slice| (first..first + tile.len).contains(slice));
        for slice in open {
            // SAFETY: this tile is a part of the other, whose slices these are; a sink wants indices by default.
            unsafe {
                let index = tile.index(slice - first);
                let none = index == -1 || self.answers.is_left_out(self.start, self.axis, slice, index, size);
                self.tile.set_index(slice, if none { -1 } else { index });
            }
        }
    }
}

/// The most elements between two slices that are read again with them; for columns, a sixteenth of this number in slices.
const REREAD_GAP_ELEMENTS: usize = 1024;
