//! `Reduce`: the extremum itself over any set of axes, its index, or both, at one or both ends of the order in one pass.
//!
//! Elements may be left out: by a mask, or because they are NaN or NaT. What is left out is replaced, as it is packed or as
//! it is compared, by an element that loses to all others. Where such an element comes out, the slice is looked at once more:
//! only there can it matter which of equals took part.

use crate::element::ElementType;
use crate::kernels::omit::Pattern;
use crate::layout::reduction::{ReductionAxes, ReductionAxis, ReductionLayout, ReductionOffsets};
use crate::layout::sort;
use crate::operations::found::Found;
use crate::operations::input::{Input, Omission};
use crate::operations::reduce::{reduce, reduce_ends};
use crate::operations::target::Target;
use smallvec::SmallVec;
use std::sync::atomic::AtomicUsize;

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
    sort(&mut reduced, |axis| -axis.strides.index.abs());
    let lacking = AtomicUsize::new(0);
    let base = base(&layout);
    // A mask that is broadcast along the slices leaves out whole slices.
    let whole = selection.omit == Omit::Nothing && layout.reduced.iter().all(|axis| axis.strides.mask == 0);
    let found = |target: &Target| {
        let Selection { data, element, swapped, last, .. } = selection;
        let input = Input { data, element, swapped, largest: target.largest, last, numbers: selection.is_of_numbers() };
        let omission = selection.omission(target.largest);
        Found { input, omission, whole, target: *target, reduced: &reduced, lacking: &lacking, base }
    };
    match targets {
        [one] => {
            let one = found(one);
            // SAFETY: the caller's promise.
            unsafe {
                match one.packed() {
                    None => reduce(one.input, &mut layout, &one),
                    omission => reduce_ends([(one.input, omission)], &mut layout, [&one]),
                }
            }
        }
        [one, other] => {
            assert_ne!(one.largest, other.largest, "an order has two ends");
            // The smallest first, as kernels for both have it.
            let (smallest, largest) =
                if other.largest { (found(one), found(other)) } else { (found(other), found(one)) };
            let ends = [&smallest, &largest].map(|end| (end.input, end.packed()));
            // SAFETY: the caller's promise.
            unsafe { reduce_ends(ends, &mut layout, [&smallest, &largest]) };
        }
        _ => unreachable!("an order has two ends"),
    }
    lacking.into_inner() / targets.len()
}

impl Selection {
    /// Whether nothing but NaN is left out: kernels pass over it by themselves.
    fn is_of_numbers(&self) -> bool {
        self.mask.is_null() && self.omit == Omit::Nan && self.element.nan().is_some()
    }

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

/// What broadcast axes that are gone from a layout have added to every index.
fn base(layout: &ReductionLayout) -> i64 {
    let from_other_end = |axis: &ReductionAxis| (axis.len as i64 - 1) * -axis.strides.index.min(0);
    layout.origin.index - layout.reduced.iter().map(from_other_end).sum::<i64>()
}
