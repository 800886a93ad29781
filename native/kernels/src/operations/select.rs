//! `Reduce`: the extremum itself over any set of axes, its index, or both, at one or both ends of the order in one pass.
//!
//! Elements may be left out: by a mask, or because they are NaN or NaT. What is left out is replaced as it is packed, by an
//! element that loses to all others. Where such an element comes out, the slice is looked at once more: only there can it
//! matter which of equals took part.

use crate::element::{ElementType, IndexType};
use crate::kernels::omit::Pattern;
use crate::layout::axis::{Odometer, Strides, positions};
use crate::layout::reduction::{ReductionAxes, ReductionAxis, ReductionLayout, ReductionOffsets};
use crate::operations::input::{Input, Omission};
use crate::operations::reduce::{reduce, reduce_ends};
use crate::operations::sink::Sink;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is reduced, but for the end of the order.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// The first element as the caller sees it.
    pub data: *const u8,
    /// The element type.
    pub element: ElementType,
    /// Whether the bytes of each element are in the order that is foreign to this machine.
    pub swapped: bool,
    /// Whether the last of equals wins, or the first.
    pub last: bool,
    /// The mask's byte for the first element, 0 where the element is left out; null without a mask.
    pub mask: *const u8,
    /// What else is left out.
    pub omit: Omit,
}

/// Which elements are left out for what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// None.
    Nothing,
    /// NaN of the floats.
    Nan,
    /// The smallest 64-bit integer, which stands for a time that is none.
    NotATime,
}

/// A dimension of the input.
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    /// Number of elements.
    pub len: usize,
    /// Bytes from one element to the next.
    pub stride: isize,
    /// The same in the mask.
    pub mask: isize,
    /// Whether it is reduced.
    pub reduced: bool,
}

/// One end of the order, and where its results go: in row-major order of the dimensions that are kept.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Receives the elements, their bytes in this machine's order; may be null.
    pub values: *mut u8,
    /// Receives the row-major indices, -1 where no element takes part; may be null.
    pub indices: *mut u8,
    /// The type of the indices.
    pub index: IndexType,
}

/// Finds the extrema at one or both ends; returns the number of positions at which no element takes part.
///
/// `dimensions` come last first. Where a reduced dimension is empty, no element takes part anywhere, and the values are the
/// element that loses to all others.
///
/// # Safety
/// The input, and the mask if there is one, are readable at every position; there is room for all results, clear of both;
/// an index fits its type.
pub unsafe fn select(selection: Selection, dimensions: impl Iterator<Item = Dimension>, targets: &[Target]) -> usize {
    let mut step = 1;
    let mut block = 1;
    let axes: SmallVec<[_; 8]> = dimensions
        .map(|Dimension { len, stride, mask, reduced }| {
            let output = if reduced { 0 } else { step };
            *(if reduced { &mut block } else { &mut step }) *= len as isize;
            (len, ReductionOffsets { input: stride, mask, output, index: 0 }, reduced)
        })
        .collect();
    let results = step as usize;
    if results == 0 {
        return 0;
    }
    if block == 0 {
        for target in targets {
            // SAFETY: the caller's promise.
            unsafe { target.leave(results, selection.element) };
        }
        return results;
    }
    let mut layout = ReductionLayout::new(axes.into_iter(), selection.last);
    let mut reduced = ReductionAxes::from_slice(&layout.reduced);
    reduced.sort_by_key(|axis| -axis.strides.index.abs());
    let lacking = AtomicUsize::new(0);
    let base = base(&layout);
    let found = |target: &Target| {
        let Selection { data, element, swapped, last, .. } = selection;
        let input = Input { data, element, swapped, largest: target.largest, last };
        let omission = selection.omission(target.largest);
        Found { input, omission, target: *target, reduced: &reduced, lacking: &lacking, base }
    };
    match targets {
        [one] => {
            let one = found(one);
            // SAFETY: the caller's promise.
            unsafe {
                match &one.omission {
                    None => reduce(one.input, &mut layout, &one),
                    omission => reduce_ends([(one.input, omission.as_ref())], &mut layout, [&one]),
                }
            }
        }
        [one, other] => {
            let (one, other) = (found(one), found(other));
            let ends = [(one.input, one.omission.as_ref()), (other.input, other.omission.as_ref())];
            // SAFETY: the caller's promise.
            unsafe { reduce_ends(ends, &mut layout, [&one, &other]) };
        }
        _ => unreachable!("an order has two ends"),
    }
    lacking.into_inner() / targets.len()
}

impl Selection {
    /// What is left out, and what stands in for it at one end of the order.
    fn omission(&self, largest: bool) -> Option<Omission> {
        let omits = !self.mask.is_null() || self.omit != Omit::Nothing;
        omits.then(|| Omission { mask: self.mask, pattern: self.pattern(), fill: self.element.loser(largest) })
    }

    fn pattern(&self) -> Pattern {
        match (self.omit, self.element.nan()) {
            (Omit::NotATime, _) => Pattern::value(1 << 63, 8),
            (Omit::Nan, Some(nan)) => nan,
            _ => Pattern::NONE,
        }
    }
}

impl ElementType {
    /// An element that loses to all others but its equals and NaN, as bits.
    fn loser(self, largest: bool) -> u64 {
        let bits = 8 * self.size() as u32;
        let sign = 1 << (bits - 1);
        match self {
            Self::Bool => !largest as u64,
            Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64 => {
                if largest {
                    0
                } else {
                    u64::MAX
                }
            }
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => {
                if largest {
                    sign
                } else {
                    sign - 1
                }
            }
            Self::Float16 | Self::BFloat16 | Self::Float32 | Self::Float64 => {
                let infinity = self.nan().map_or(0, |nan| nan.limit);
                if largest { infinity | sign } else { infinity }
            }
        }
    }

    /// The pattern of the type's NaN: every magnitude above infinity.
    fn nan(self) -> Option<Pattern> {
        let (magnitude, limit) = match self {
            Self::Float16 => (0x7fff, 0x7c00),
            Self::BFloat16 => (0x7fff, 0x7f80),
            Self::Float32 => (0x7fff_ffff, 0x7f80_0000),
            Self::Float64 => (0x7fff_ffff_ffff_ffff, 0x7ff0_0000_0000_0000),
            _ => return None,
        };
        Some(Pattern { flip: 0, magnitude, limit })
    }
}

/// What broadcast axes that are gone from a layout have added to every index.
fn base(layout: &ReductionLayout) -> i64 {
    let from_other_end = |axis: &ReductionAxis| (axis.len as i64 - 1) * -axis.strides.index.min(0);
    layout.origin.index - layout.reduced.iter().map(from_other_end).sum::<i64>()
}

impl Target {
    /// Says of all results that no element takes part.
    ///
    /// # Safety
    /// There is room for as many results.
    unsafe fn leave(&self, results: usize, element: ElementType) {
        // SAFETY: the caller's; all bits set is -1 in every type of index.
        unsafe {
            if !self.indices.is_null() {
                self.indices.write_bytes(0xff, results * self.index.size());
            }
            if !self.values.is_null() {
                let loser = element.loser(self.largest);
                (0..results as isize).for_each(|position| self.write_value(position, loser, element.size()));
            }
        }
    }

    /// Writes the bits of an element.
    ///
    /// # Safety
    /// There is room for it.
    #[inline]
    unsafe fn write_value(&self, position: isize, bits: u64, size: usize) {
        let values = self.values;
        // SAFETY: the caller's; NumPy aligns what it allocates, but nothing here needs it.
        unsafe {
            match size {
                1 => values.wrapping_offset(position).write(bits as u8),
                2 => values.cast::<u16>().wrapping_offset(position).write_unaligned(bits as u16),
                4 => values.cast::<u32>().wrapping_offset(position).write_unaligned(bits as u32),
                _ => values.cast::<u64>().wrapping_offset(position).write_unaligned(bits),
            }
        }
    }
}

/// Fetches the elements that indices lead to, and looks again where an element came out that may not take part.
struct Found<'a> {
    input: Input,
    omission: Option<Omission>,
    target: Target,
    /// The reduced axes, largest index stride first.
    reduced: &'a [ReductionAxis],
    base: i64,
    lacking: &'a AtomicUsize,
}

// SAFETY: threads write to different tiles.
unsafe impl Sync for Found<'_> {}

impl Sink for Found<'_> {
    #[inline]
    fn direct_output(&self, at: ReductionOffsets, axis: &ReductionAxis) -> Option<*mut i64> {
        let plain = self.target.values.is_null() && self.omission.is_none() && self.target.index.size() == 8;
        let direct = plain && (axis.strides.output == 1 || axis.len == 1);
        direct.then(|| self.target.indices.cast::<i64>().wrapping_offset(at.output))
    }

    unsafe fn take(&self, mut at: ReductionOffsets, axis: &ReductionAxis, index: &[i64]) {
        let mut lacking = 0;
        for &index in index {
            // SAFETY: the caller's promise, at every position of the tile.
            unsafe {
                let place = self.place(at, index);
                let found = match &self.omission {
                    Some(omission) if !self.takes_part(omission, place) => self.look_again(omission, at),
                    _ => Some((index, place.input)),
                };
                lacking += found.is_none() as usize;
                self.write(at.output, found);
            }
            axis.strides.step(&mut at, 1);
        }
        if lacking > 0 {
            self.lacking.fetch_add(lacking, Ordering::Relaxed);
        }
    }
}

impl Found<'_> {
    /// The position in memory of the element with a row-major index.
    #[inline]
    fn place(&self, mut at: ReductionOffsets, index: i64) -> ReductionOffsets {
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
    unsafe fn takes_part(&self, omission: &Omission, at: ReductionOffsets) -> bool {
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

    /// The first (or last) element of a slice that takes part: an element came out that loses to all others, so that all
    /// that take part are equal.
    ///
    /// # Safety
    /// The slice and its mask are readable.
    #[cold]
    unsafe fn look_again(&self, omission: &Omission, at: ReductionOffsets) -> Option<(i64, isize)> {
        let (inner, outer) = self.reduced.split_last().unwrap_or((&ReductionAxis::POINT, &[]));
        let forwards = (inner.strides.index >= 0) != self.input.last;
        let mut best: Option<(i64, isize)> = None;
        let mut walk = Odometer::new(outer, at, 0);
        for _ in 0..positions(outer) {
            for step in 0..inner.len {
                let step = if forwards { step } else { inner.len - 1 - step };
                let place = inner.moved(walk.at, step);
                // SAFETY: the caller's.
                if unsafe { self.takes_part(omission, place) } {
                    let wins = |(index, _)| if self.input.last { place.index > index } else { place.index < index };
                    if best.is_none_or(wins) {
                        best = Some((place.index, place.input));
                    }
                    break;
                }
            }
            walk.advance();
        }
        best
    }

    /// Writes the results of one position.
    ///
    /// # Safety
    /// There is room for them, and the element is readable.
    #[inline]
    unsafe fn write(&self, position: isize, found: Option<(i64, isize)>) {
        let Target { values, indices, index: kind, .. } = self.target;
        // SAFETY: the caller's; NumPy aligns what it allocates, but nothing here needs it.
        unsafe {
            if !indices.is_null() {
                let index = found.map_or(-1, |(index, _)| index);
                match kind.size() {
                    8 => indices.cast::<i64>().wrapping_offset(position).write_unaligned(index),
                    _ => indices.cast::<i32>().wrapping_offset(position).write_unaligned(index as i32),
                }
            }
            if !values.is_null() {
                let bits = found.map_or(0, |(_, at)| self.bits(at));
                self.target.write_value(position, bits, self.input.element.size());
            }
        }
    }
}
