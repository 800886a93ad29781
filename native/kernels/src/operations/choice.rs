//! Chooses the kernel that reads a reduction: the one place that does, before anything is read.
//!
//! The choice depends on the layout, the element type and the instruction set in force, never on the elements.
//!
//! ```text
//! a few elements                                                       one by one: see `small`
//! a small kept axis inside a short reduced one                         several blocks of columns in one call
//! the kept axis is contiguous and short, the reduced one follows it    interleaved: several rows are read as one
//! the kept axis is contiguous                                          columns
//! the reduced axis is contiguous and short                             row batches if kernels support them, else packed columns
//! the reduced axis is contiguous                                       rows
//! neither is contiguous, or elements are skipped                       packed: as columns if short, else as rows
//! ```
//!
//! Columns skip masked elements, and so do long rows where the mask has the layout of the elements; elsewhere a copy replaces
//! them. The sizes at which one kernel becomes faster than another stand in `thresholds`.

use crate::isa::InstructionSet;
use crate::kernels::short_rows::{Answer, reads_masks, supports};
use crate::layout::{ReductionAxis, ReductionLayout};
use crate::operations::input::{Input, Omit};
use crate::operations::{small, small_inner};
use crate::thresholds::{
    INTERLEAVED_BELOW_COLUMNS, MASK_COPIED_BELOW_ELEMENTS, MASK_COPIED_BELOW_ELEMENTS_AVX512,
    MASKED_COLUMNS_LEAST_COLUMNS, rows_least_elements,
};

/// What is asked of a reduction.
pub struct Request<'a> {
    /// What is reduced, at one end of the order: the ends differ in nothing that matters here.
    pub input: &'a Input,
    /// How many ends of the order are wanted.
    pub ends: usize,
    /// Whether places are wanted.
    pub places: bool,
}

/// What reads a reduction of more than a few elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Several blocks of a few columns in one call.
    SmallInner,
    /// The blocks of a plan, in this form; whether they are packed first.
    Blocks { form: Form, packed: bool },
}

/// Which kernel reads a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The reduced axis is contiguous, or made so.
    Rows,
    /// The same, but short: many rows are compared at the same time.
    RowBatches,
    /// The kept axis is contiguous, or made so.
    Columns,
    /// The kept axis is contiguous and short, and the reduced axis continues where it ends: this many neighbouring rows are read
    /// as one wide row, and their results are combined afterwards.
    Interleaved(usize),
}

/// Whether elements are compared one by one. Asked before anything else: all other choices would take longer than the reduction.
#[inline]
pub fn is_small(input: &Input, elements: usize) -> bool {
    small::is_small(elements) && !input.swapped && !input.skips()
}

/// Chooses what reads a layout. The kept axis along which tiles lie comes first afterwards.
pub fn choose(request: &Request, layout: &mut ReductionLayout) -> Kernel {
    if small_inner::supports(request.input, layout) {
        return Kernel::SmallInner;
    }
    let reduced = *layout.reduced.first().unwrap_or(&ReductionAxis::POINT);
    if let Some(kept) = layout.kept.first()
        && request.is_contiguous(kept)
        && kept.len < INTERLEAVED_BELOW_COLUMNS
    {
        if let Some(rows) = interleaved_rows(request.input.element.size(), kept, &reduced) {
            return Kernel::Blocks { form: Form::Interleaved(rows), packed: false };
        }
        // A wide tile that has to be packed is better than a tile of a few columns.
        let widest = (0..layout.kept.len()).max_by_key(|&axis| layout.kept[axis].len).unwrap_or(0);
        if layout.kept[widest].len > 2 * kept.len {
            layout.kept.swap(0, widest);
        }
    }
    // Read only now: the swap above may have put another axis first.
    let kept = *layout.kept.first().unwrap_or(&ReductionAxis::POINT);
    let (form, packed) = request.form(&kept, &reduced);
    Kernel::Blocks { form, packed }
}

impl Request<'_> {
    /// The form of blocks along a kept and a reduced axis, and whether they are packed.
    #[inline(always)]
    fn form(&self, kept: &ReductionAxis, reduced: &ReductionAxis) -> (Form, bool) {
        let element = self.input.element;
        let omits = self.input.omits();
        let is_short = is_short(element.size(), kept, reduced);
        let rows_follow = kept.strides.input == (reduced.len * element.size()) as isize;
        let short_rows = |follow| supports(element, kept.len, reduced.len, follow, self.answer());
        let mask_follows = self.reads_mask_along(reduced) && reduced.strides.mask == 1;
        match () {
            () if self.is_contiguous(kept) => (Form::Columns, false),
            () if self.is_contiguous(reduced) && short_rows(rows_follow) => (Form::RowBatches, false),
            // Masked elements are skipped where vectors can read both elements and mask.
            () if self.reads_mask_along(kept) && kept.len >= MASKED_COLUMNS_LEAST_COLUMNS => (Form::Columns, false),
            () if mask_follows && reads_masks(element, kept.len, reduced.len) => (Form::RowBatches, false),
            // A copy without the skipped elements, whose rows follow one another.
            () if omits && self.follows(reduced) && self.is_copied(reduced) && short_rows(true) => {
                (Form::RowBatches, true)
            }
            () if mask_follows && !is_short => (Form::Rows, false),
            () if is_short => (Form::Columns, true),
            () if omits && self.follows(kept) && kept.len >= MASKED_COLUMNS_LEAST_COLUMNS => (Form::Columns, true),
            () => (Form::Rows, !self.is_contiguous(reduced)),
        }
    }

    /// What is wanted of each row.
    fn answer(&self) -> Answer {
        match (self.places, self.ends) {
            (true, _) => Answer::Places,
            (false, 1) => Answer::Values,
            (false, _) => Answer::Both,
        }
    }

    /// Whether the elements along an axis follow one another, in this machine's byte order.
    fn follows(&self, axis: &ReductionAxis) -> bool {
        axis.strides.input == self.input.element.size() as isize && !self.input.swapped
    }

    /// Whether kernels can read the elements along an axis as they are: they follow one another, and none is skipped.
    fn is_contiguous(&self, axis: &ReductionAxis) -> bool {
        self.follows(axis) && !self.input.omits()
    }

    /// Whether a mask alone decides which elements are skipped.
    fn is_masked(&self) -> bool {
        self.input.omit == Omit::Nothing && self.input.omits()
    }

    /// Whether kernels can skip the masked elements along an axis themselves. Those kernels exist for wide instruction sets only.
    fn reads_mask_along(&self, axis: &ReductionAxis) -> bool {
        self.follows(axis) && self.is_masked() && InstructionSet::current().is_wide()
    }

    /// Whether a copy that replaces skipped elements is faster than reading both elements and mask, if a kernel can do that.
    fn is_copied(&self, reduced: &ReductionAxis) -> bool {
        let limit = match InstructionSet::current() {
            InstructionSet::Avx512 => MASK_COPIED_BELOW_ELEMENTS_AVX512,
            _ => MASK_COPIED_BELOW_ELEMENTS,
        };
        reduced.len < limit || !self.is_masked()
    }
}

/// Whether rows are too short to be read one by one.
pub fn is_short(size: usize, kept: &ReductionAxis, reduced: &ReductionAxis) -> bool {
    reduced.len < rows_least_elements(size) && kept.len > 1
}

/// How many neighbouring rows of a narrow kept axis are read as one wide row, where that pays.
fn interleaved_rows(size: usize, kept: &ReductionAxis, reduced: &ReductionAxis) -> Option<usize> {
    let rows = (2 * INTERLEAVED_BELOW_COLUMNS).div_ceil(kept.len);
    let follows = reduced.strides.input == (kept.len * size) as isize;
    (rows >= 4 && follows && reduced.len >= 8 * rows).then_some(rows)
}
