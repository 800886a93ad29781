//! What a reduction has found, written down: values, indices, and what is said where no element takes part.

use crate::isa::dispatch;
use crate::kernels::doubtful::{Doubtful, PIECE, Piece};
use crate::kernels::omit::Bits;
use crate::kernels::outputs::Outputs;
use crate::layout::axis::Strides;
use crate::layout::reduction::{ReductionAxis, ReductionOffsets};
use crate::operations::input::{Input, Omission};
use crate::operations::plan::POSITIONS;
use crate::operations::sink::{Sink, Tile, Wants};
use crate::operations::target::Target;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Nothing is settled yet.
pub static ALL: [u8; POSITIONS] = [1; POSITIONS];

/// Fetches the elements that indices lead to, and looks again where an element came out that may not take part.
pub struct Found<'a> {
    /// What is reduced.
    pub input: Input,
    /// What is left out of it.
    pub omission: Option<Omission>,
    /// Whether slices are left out as a whole: they are reduced all the same.
    pub whole: bool,
    /// Where the results go.
    pub target: Target,
    /// The reduced axes, largest index stride first.
    pub reduced: &'a [ReductionAxis],
    /// What broadcast axes that are gone from the layout have added to every index.
    pub base: i64,
    /// Counts the slices in which no element takes part.
    pub lacking: &'a AtomicUsize,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Found<'_> {}

impl Sink for Found<'_> {
    #[inline]
    fn wants(&self, noted: bool) -> Wants {
        // What came out has to be looked at where elements are left out, unless it is noted what that may be.
        let omits = self.omission.is_some();
        let Target { values, indices, .. } = self.target;
        let seen = omits && !self.whole && !noted;
        Wants {
            values: seen || !values.is_null(),
            index: seen || !indices.is_null(),
            sight: omits,
            notes: omits && !self.whole,
        }
    }

    #[inline]
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Outputs {
        let Target { values, indices, index, .. } = self.target;
        if axis.strides.output != 1 && axis.len > 1 {
            return Outputs::NOTHING;
        }
        let index = if index.size() == 8 { indices.cast() } else { ptr::null_mut() };
        Outputs { values, index, ..Outputs::NOTHING }.from(at.output as usize, self.input.element.size())
    }

    unsafe fn take(&self, mut at: ReductionOffsets, axis: &ReductionAxis, tile: Tile) {
        let noted = self.whole || !tile.notes.is_null();
        if !tile.values.is_null() || noted && self.target.values.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { self.take_values(at, axis, &tile) };
        }
        let (start, mut presence, mut looked) = (at, [0; POSITIONS], false);
        for number in 0..tile.len {
            // SAFETY: the caller's promise, at every position of the tile.
            unsafe {
                let present = |omission: &Omission| {
                    if !looked {
                        self.presence(omission, start, axis.strides, &mut presence[..tile.len]);
                        looked = true;
                    }
                    presence[number] != 0
                };
                let found = self.mended(at, tile.index(number), present);
                self.write(at.output, found);
            }
            axis.strides.step(&mut at, 1);
        }
    }
}

impl Found<'_> {
    /// What has to be left out of a copy.
    pub fn packed(&self) -> Option<&Omission> {
        self.omission.as_ref().filter(|_| !self.input.numbers && !self.whole)
    }

    /// Takes the values of a tile, and its indices where they are wanted. Where a value loses to all others, it is seen
    /// whether its element takes part.
    ///
    /// # Safety
    /// As for [`take`](Sink::take).
    unsafe fn take_values(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile) {
        // SAFETY: the caller's.
        unsafe {
            match self.input.element.size() {
                1 => self.take_values_of::<u8>(at, axis, tile),
                2 => self.take_values_of::<u16>(at, axis, tile),
                4 => self.take_values_of::<u32>(at, axis, tile),
                _ => self.take_values_of::<u64>(at, axis, tile),
            }
        }
    }

    /// # Safety
    /// As for [`take`](Sink::take); `T` has the size of an element.
    #[inline]
    unsafe fn take_values_of<T: Bits>(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: &Tile) {
        let Target { values, indices, index: kind, .. } = self.target;
        let (found, output, step) = (tile.values.cast::<T>(), at.output, axis.strides.output);
        let place = |number: usize| output + step * number as isize;
        // SAFETY: the caller's, for each position of the tile; alignment is not needed.
        unsafe {
            let values = values.cast::<T>();
            if !values.is_null() && values.wrapping_offset(output) != found.cast_mut() {
                for number in 0..tile.len {
                    values.wrapping_offset(place(number)).write_unaligned(found.add(number).read_unaligned());
                }
            }
            let (size, first) = (kind.size() as isize, indices.wrapping_offset(output * kind.size() as isize));
            if !indices.is_null() && first.cast_const() != tile.index.cast() {
                kind.write(first, step * size, tile.index, tile.len);
            }
            let Some(omission @ Omission { pattern, fill, .. }) = &self.omission else { return };
            if self.whole {
                let mut room = [0; POSITIONS];
                let presence = &mut room[..tile.len];
                self.presence(omission, at, axis.strides, presence);
                self.leave::<T>(at.output, step, presence);
                return;
            }
            let [flip, magnitude, limit, fill] = [pattern.flip, pattern.magnitude, pattern.limit, *fill].map(T::new);
            let doubtful = Doubtful { found, len: tile.len, flip, magnitude, limit, fill, open: ALL.as_ptr() };
            if !tile.notes.is_null() {
                return self.take_notes(omission, at, axis, tile, doubtful);
            }
            let mut from = dispatch(Piece { doubtful, from: 0 });
            if from == tile.len {
                return;
            }
            // Where nothing takes part, nothing has to be looked for.
            let mut presence = [0; POSITIONS];
            self.presence(omission, at, axis.strides, &mut presence[..tile.len]);
            self.leave::<T>(at.output, step, &presence[..tile.len]);
            let doubtful = Doubtful { open: presence.as_ptr(), ..doubtful };
            while from < tile.len {
                from = dispatch(Piece { doubtful, from });
                for number in from..tile.len.min(from + PIECE) {
                    if doubtful.is(number) {
                        let at = axis.moved(at, number);
                        self.write(at.output, self.mended(at, tile.index(number), |_| true));
                    }
                }
                from += PIECE;
            }
        }
    }

    /// The index and the place of a slice's extremum, given what came out: another one where that does not take part, or
    /// none, which is counted. None where the slice is not `present`.
    ///
    /// # Safety
    /// The slice and its mask are readable.
    #[inline]
    unsafe fn mended(
        &self,
        at: ReductionOffsets,
        index: i64,
        present: impl FnOnce(&Omission) -> bool,
    ) -> Option<(i64, isize)> {
        let place = self.place(at, index);
        // SAFETY: the caller's.
        unsafe {
            let found = match &self.omission {
                Some(omission) if !self.takes_part(omission, place) => {
                    if present(omission) {
                        self.look_again(omission, at)
                    } else {
                        None
                    }
                }
                _ => Some((index, place.input)),
            };
            if found.is_none() {
                self.lacking.fetch_add(1, Ordering::Relaxed);
            }
            found
        }
    }

    /// The position in memory of the element with a row-major index.
    #[inline]
    pub fn place(&self, mut at: ReductionOffsets, index: i64) -> ReductionOffsets {
        if let [axis @ ReductionAxis { strides: ReductionOffsets { index: 1, .. }, .. }] = self.reduced {
            axis.strides.step(&mut at, (index - self.base) as isize);
            return at;
        }
        let mut index = index - self.base;
        // The index strides of the axes nest: taken from the largest on, each quotient is a place on its axis.
        for axis in self.reduced {
            let stride = axis.strides.index.abs();
            let digit = index / stride;
            index -= digit * stride;
            let steps = if axis.strides.index < 0 { axis.len as i64 - 1 - digit } else { digit };
            axis.strides.step(&mut at, steps as isize);
        }
        at
    }

    /// Whether an element takes part.
    ///
    /// # Safety
    /// The element and its place in the mask are readable.
    #[inline]
    pub unsafe fn takes_part(&self, omission: &Omission, at: ReductionOffsets) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let masked = !omission.mask.is_null() && *omission.mask.wrapping_offset(at.mask) == 0;
            !masked && !omission.pattern.matches(self.bits(at.input))
        }
    }

    /// The bits of an element, in this machine's order.
    ///
    /// # Safety
    /// The element is readable.
    #[inline]
    unsafe fn bits(&self, at: isize) -> u64 {
        let from = self.input.data.wrapping_offset(at);
        // SAFETY: the caller's; alignment is not needed.
        unsafe {
            match (self.input.element.size(), self.input.swapped) {
                (1, _) => from.read() as u64,
                (2, false) => from.cast::<u16>().read_unaligned() as u64,
                (2, true) => from.cast::<u16>().read_unaligned().swap_bytes() as u64,
                (4, false) => from.cast::<u32>().read_unaligned() as u64,
                (4, true) => from.cast::<u32>().read_unaligned().swap_bytes() as u64,
                (_, false) => from.cast::<u64>().read_unaligned(),
                (_, true) => from.cast::<u64>().read_unaligned().swap_bytes(),
            }
        }
    }

    /// Writes the results of one position.
    ///
    /// # Safety
    /// There is room for them, and the element is readable.
    #[inline]
    pub unsafe fn write(&self, position: isize, found: Option<(i64, isize)>) {
        let Target { values, indices, index: kind, .. } = self.target;
        // SAFETY: the caller's; NumPy aligns what it allocates, but nothing here needs it.
        unsafe {
            if !indices.is_null() {
                let index = found.map_or(-1, |(index, _)| index);
                kind.write(indices.wrapping_offset(position * kind.size() as isize), 0, &raw const index, 1);
            }
            if !values.is_null() {
                let bits = found.map_or(0, |(_, at)| self.bits(at));
                self.target.write_value(position, bits, self.input.element.size());
            }
        }
    }
}
