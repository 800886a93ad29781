//! Chooses how a reduction is read: the kernel, and whether blocks are packed. [`Plan`] then cuts the blocks. Kernels choose nothing.
//!
//! The choice depends on the layout, the element type and the instruction set in force, never on the elements. All of it is made
//! before anything is read, but for what depends on the rows of one block: [`short_kernel`] and [`form_of_other_rows`].
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
//!
//! Not done: prefetching memory before it is packed, and copying masks for rows (a block is copied instead).

use crate::element::ElementType;
use crate::isa::{InstructionSet, Set, with_set};
use crate::kernels::short_rows::{BATCH_ROWS, ShortKernel, TRANSPOSED_PART_BYTES};
use crate::kernels::small_inner;
use crate::layout::{ReductionAxis, ReductionLayout, positions};
use crate::operations::input::{Input, Omit};
use crate::operations::plan::{Form, Plan, Request, is_short, past_caches};
use crate::thresholds::{
    Answer, COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES, FEW_ROWS, FEW_ROWS_LEAST_ARRAY_OF_MEMORY_BYTES,
    FEW_ROWS_MOST_BLOCK_BYTES, INTERLEAVED_BELOW_COLUMNS, INTERLEAVED_MANY_BYTES, INTERLEAVED_MANY_LEAST_ROWS, Limits,
    MASK_COPIED_BELOW_ELEMENTS, MASK_COPIED_BELOW_ELEMENTS_AVX512, MASKED_COLUMNS_LEAST_COLUMNS,
    MASKED_OTHER_COLUMNS_LEAST_COLUMNS, MASKED_ROWS_LEAST_BYTES, NARROW_ROWS_AHEAD_BYTES, PACKED_BELOW_ELEMENTS,
    PACKED_MOST_COLUMNS, ROWS_LEAST_ELEMENTS, SHORT_ROWS_MOST_BYTES, SMALL_INNER_MOST_BLOCK_BYTES, SMALL_MOST_ELEMENTS,
    UNROLLED_MOST_REGISTERS, VALUES_WITHOUT_NAN_ROWS_LEAST_BYTES, batched_rows_most_bytes, kind_number,
};
use crate::vector::Register;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What reads a reduction of more than a few elements.
#[derive(Debug)]
pub enum Kernel<'a> {
    /// Several blocks of a few columns in one call.
    SmallInner(Beyond),
    /// Blocks, one after the other.
    Blocks(Plan<'a>),
}

/// What is done for an array that the caches do not hold.
#[derive(Clone, Copy, Debug)]
pub struct Beyond {
    /// Bytes from what is read to what is prefetched meanwhile; 0 to prefetch nothing.
    pub ahead: usize,
    /// Whether results are written past the caches.
    pub past_caches: bool,
}

/// The most elements of a small array: [`SMALL_MOST_ELEMENTS`], except in tests.
static SMALL_LIMIT: AtomicUsize = AtomicUsize::new(SMALL_MOST_ELEMENTS);

/// Sets the most elements of a small array, at most 32, for which there is room; returns the previous number.
pub fn set_small_limit(elements: usize) -> usize {
    SMALL_LIMIT.swap(elements.min(SMALL_MOST_ELEMENTS), Ordering::Relaxed)
}

/// Whether elements are compared one by one. Asked before anything else: all other choices would take longer than the reduction.
#[inline]
pub fn is_small(input: &Input, elements: usize) -> bool {
    elements <= SMALL_LIMIT.load(Ordering::Relaxed) && !input.swapped && !input.skips()
}

/// Chooses what reads a layout, and cuts it into `tasks` tasks where there is enough work. The kept axis along which tiles lie
/// comes first afterwards.
pub fn choose<'a>(request: &Request, layout: &'a mut ReductionLayout, tasks: usize) -> Kernel<'a> {
    if is_small_inner(request.input, layout) {
        let size = request.input.element.size();
        let bytes = (positions(&layout.kept) * positions(&layout.reduced)).saturating_mul(size);
        let ahead = if bytes >= COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES { NARROW_ROWS_AHEAD_BYTES } else { 0 };
        return Kernel::SmallInner(Beyond { ahead, past_caches: past_caches(size, &layout.reduced[0], bytes) });
    }
    let (form, packed) = choose_form(request, layout);
    Kernel::Blocks(Plan::new(request, form, packed, layout, tasks))
}

/// Chooses the form of blocks, and whether they are packed. The kept axis along which tiles lie comes first afterwards.
#[inline(always)]
fn choose_form(request: &Request, layout: &mut ReductionLayout) -> (Form, bool) {
    let reduced = *layout.reduced.first().unwrap_or(&ReductionAxis::POINT);
    if let Some(kept) = layout.kept.first() {
        if request.is_contiguous(kept)
            && kept.len < INTERLEAVED_BELOW_COLUMNS
            && let Some(rows) = interleaved_rows(request.input.element.size(), kept, &reduced)
        {
            return (Form::Interleaved(rows), false);
        }
        let wider = match request.is_contiguous(kept) {
            true => wider_columns(&layout.kept, &reduced),
            false if request.is_contiguous(&reduced) => more_rows(&layout.kept, &reduced, request.input.element.size()),
            false => None,
        };
        if let Some(wider) = wider {
            layout.kept.swap(0, wider);
        }
    }
    // Read only now: the swap above may have put another axis first.
    let kept = *layout.kept.first().unwrap_or(&ReductionAxis::POINT);
    request.form(&kept, &reduced)
}

/// The kept axis whose tiles are packed in place of tiles of the few columns of the first. Packing an element takes about as long as
/// reading a fifth of a narrow row, and a call as long as reading fifty rows.
pub fn wider_columns(kept: &[ReductionAxis], reduced: &ReductionAxis) -> Option<usize> {
    let [columns, rows] = [kept.first()?.len, reduced.len];
    let is_packed = columns.saturating_sub(PACKED_MOST_COLUMNS).saturating_mul(rows) < PACKED_BELOW_ELEMENTS;
    if is_packed && columns < INTERLEAVED_BELOW_COLUMNS { wider_axis(kept) } else { None }
}

/// The kept axis along which rows are read in place of the few along the first, of which a call has too little to do. Memory is read once
/// along each row of these, so that longer rows of an array that the caches do not hold stay together.
fn more_rows(kept: &[ReductionAxis], reduced: &ReductionAxis, size: usize) -> Option<usize> {
    let rows = kept.first()?.len;
    let block = rows.saturating_mul(reduced.len).saturating_mul(size);
    let is_cached = || positions(&kept[1..]).saturating_mul(block) < FEW_ROWS_LEAST_ARRAY_OF_MEMORY_BYTES;
    if rows < FEW_ROWS && (block <= FEW_ROWS_MOST_BLOCK_BYTES || is_cached()) { wider_axis(kept) } else { None }
}

/// The longest kept axis, if it is much longer than the first.
fn wider_axis(kept: &[ReductionAxis]) -> Option<usize> {
    let widest = (0..kept.len()).max_by_key(|&axis| kept[axis].len)?;
    (kept[widest].len > 2 * kept[0].len).then_some(widest)
}

impl Request<'_> {
    /// The form of blocks along a kept and a reduced axis, and whether they are packed.
    #[inline(always)]
    fn form(&self, kept: &ReductionAxis, reduced: &ReductionAxis) -> (Form, bool) {
        let element = self.input.element;
        let omits = self.input.omits();
        let is_short = is_short(element.size(), kept, reduced);
        let rows_follow = kept.strides.input == (reduced.len * element.size()) as isize;
        // Short rows are told from rows of NaN alone by their places.
        let answer = if self.input.ignores_nan() { Answer::Places } else { self.answer() };
        let bytes = reduced.len * element.size();
        let value_suffices = self.input.ignores_nan() && !self.places && bytes >= VALUES_WITHOUT_NAN_ROWS_LEAST_BYTES;
        let short_rows = |follow| {
            let (number, len) = (kept.len, reduced.len);
            // Whether there is a kernel does not depend on where the rows lie.
            let rows = RowsWithoutMask { element, number, len, follow, answer, of_memory: false };
            !value_suffices && reads_short_rows(rows)
        };
        let mask_follows = self.reads_mask_along(reduced) && reduced.strides.mask == 1;
        let least_columns = match is_short || !matches!(kept.strides.mask, 0 | 1) {
            true => MASKED_OTHER_COLUMNS_LEAST_COLUMNS,
            false => MASKED_COLUMNS_LEAST_COLUMNS,
        };
        if self.is_contiguous(kept) && !(self.is_contiguous(reduced) && kept.len <= reduced.len) {
            (Form::Columns, false)
        } else if self.is_contiguous(reduced) && short_rows(rows_follow) {
            (Form::RowBatches, false)
        } else if self.reads_mask_along(kept) && kept.len >= least_columns {
            // Masked elements are skipped where vectors can read both elements and mask.
            (Form::Columns, false)
        } else if mask_follows && short_kernel_under_mask(element, kept.len, reduced.len).is_some() {
            (Form::RowBatches, false)
        } else if omits && self.follows(reduced) && self.is_copied(reduced) && short_rows(true) {
            // A copy without the skipped elements, whose rows follow one another.
            (Form::RowBatches, true)
        } else if mask_follows && !is_short {
            (Form::Rows, false)
        } else if is_short || omits && self.follows(kept) && kept.len >= least_columns {
            (Form::Columns, true)
        } else {
            (Form::Rows, !self.is_contiguous(reduced))
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

/// Whether several blocks of a few columns are read in one call: a short reduced axis has a small kept axis inside.
pub fn is_small_inner(input: &Input, layout: &ReductionLayout) -> bool {
    let ([columns, _, ..], [rows]) = (&layout.kept[..], &layout.reduced[..]) else { return false };
    let size = input.element.size();
    let row = columns.strides.input * columns.len as isize;
    columns.strides.input == size as isize
        && rows.strides.input >= row
        && rows.strides.input.saturating_mul(rows.len as isize) <= SMALL_INNER_MOST_BLOCK_BYTES
        && !input.swapped
        && !input.skips()
        && small_inner::supports(input.element, rows.len, columns.len, rows.strides.input == row)
}

/// Whether a reduction of short rows without a mask is read by the kernels for them.
fn reads_short_rows(rows: RowsWithoutMask) -> bool {
    // One row needs none of this: it is read by itself.
    rows.number > 1
        && with_set!(I => {
            let kernel = short_kernel_of::<I>(rows);
            // Where a kernel reads rows one at a time, a few are not worth it.
            let are_enough = rows.number >= BATCH_ROWS || kernel == Some(ShortKernel::Transposed);
            let bytes = rows.len * rows.element.size();
            kernel.is_some() && are_enough && bytes <= I::most_bytes(rows.kind(), rows.answer)
        }, false)
}

/// Rows without a mask, as far as the choice of a kernel depends on them.
#[derive(Clone, Copy)]
pub struct RowsWithoutMask {
    pub element: ElementType,
    /// Number of rows.
    pub number: usize,
    /// Elements in a row.
    pub len: usize,
    /// Whether they follow one another in memory.
    pub follow: bool,
    /// What is wanted of each; both ends of the order only where they are wanted at once.
    pub answer: Answer,
    /// Whether memory holds them, and not the caches.
    pub of_memory: bool,
}

impl RowsWithoutMask {
    /// The number of the kind of their elements.
    fn kind(&self) -> usize {
        kind_number(self.element.size(), self.element.is_float())
    }
}

/// The kernel for short rows without a mask, if one reads rows like these. Blocks ask again: threads may cut rows so that few or
/// short ones are left.
#[inline]
pub fn short_kernel(rows: RowsWithoutMask) -> Option<ShortKernel> {
    with_set!(I => short_kernel_of::<I>(rows), None)
}

/// Whether rows that a kernel for short rows reads are read as whole registers. There are enough for a batch, and for the kernel that
/// reads 16-bit floats which integers do not decide: it wants a row for each lane.
#[inline]
pub fn fill_registers(rows: RowsWithoutMask) -> bool {
    let RowsWithoutMask { element, number, len, follow, answer, .. } = rows;
    follow
        && with_set!(I => {
        let is_many = number >= <<I as Set>::Register as Register>::BYTES / 2;
        is_many && I::whole_registers_are_fastest(rows.kind(), answer, len * element.size())
    }, false)
}

/// [`short_kernel`] for an instruction set.
#[inline(always)]
fn short_kernel_of<I: Limits>(rows: RowsWithoutMask) -> Option<ShortKernel> {
    let RowsWithoutMask { element, number, len, follow, answer, .. } = rows;
    let size = element.size();
    let bytes = len * size;
    if len < 2 || element == ElementType::Bool {
        None
    } else if bytes <= I::transposed_most_bytes(rows.kind(), answer, rows.of_memory) {
        // Rows of less than 16 bytes are read with those behind them, which works only where they follow one another.
        let are_read = number >= I::Register::BYTES / size && (follow || bytes >= TRANSPOSED_PART_BYTES);
        are_read.then_some(ShortKernel::Transposed)
    } else if bytes > SHORT_ROWS_MOST_BYTES {
        None
    } else if bytes > batched_rows_most_bytes(rows.of_memory) {
        Some(ShortKernel::Alone)
    } else if number < BATCH_ROWS {
        None
    } else if bytes <= I::unrolled_most_bytes(answer == Answer::Both) {
        Some(ShortKernel::Unrolled)
    } else {
        Some(ShortKernel::Chunked)
    }
}

/// The kernel that reads short rows with their mask, if there is one.
#[inline]
pub fn short_kernel_under_mask(element: ElementType, rows: usize, len: usize) -> Option<ShortKernel> {
    let bytes = len * element.size();
    let is_read = with_set!(I => {
        let register = <<I as Set>::Register as Register>::BYTES;
        register > 16 && (MASKED_ROWS_LEAST_BYTES..=UNROLLED_MOST_REGISTERS * register).contains(&bytes)
    }, false);
    (is_read && rows >= BATCH_ROWS && element != ElementType::Bool).then_some(ShortKernel::Unrolled)
}

/// Whether the kernels for short rows find both ends of the order in one pass. Not for 16-bit floats: their keys do not tell the
/// zeros apart.
pub fn reads_both_at_once(element: ElementType, len: usize) -> bool {
    let has_keys = element.is_float() && element.size() == 2;
    !has_keys && with_set!(I => len * element.size() <= I::unrolled_most_bytes(true), false)
}

/// How short rows are read that the kernels for them leave to others, because NaN is among them or they are too few: as columns
/// of a copy, or one by one.
pub fn form_of_other_rows(len: usize, masked: bool) -> Form {
    if len >= ROWS_LEAST_ELEMENTS || masked { Form::Rows } else { Form::Columns }
}

/// How many neighbouring rows of a narrow kept axis are read as one wide row, where that pays.
fn interleaved_rows(size: usize, kept: &ReductionAxis, reduced: &ReductionAxis) -> Option<usize> {
    // Fewer rows do not pay for the combination of many neighbours.
    let few = (2 * INTERLEAVED_BELOW_COLUMNS).div_ceil(kept.len);
    let many = (INTERLEAVED_MANY_BYTES / size).div_ceil(kept.len).max(few);
    let rows = if reduced.len >= INTERLEAVED_MANY_LEAST_ROWS * many { many } else { few };
    let follows = reduced.strides.input == (kept.len * size) as isize;
    (rows >= 4 && follows && reduced.len >= 8 * rows).then_some(rows)
}
