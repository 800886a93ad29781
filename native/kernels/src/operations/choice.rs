//! Chooses how a reduction is read: the kernel, whether blocks are packed, and how the iteration space is cut into blocks. Kernels
//! choose nothing.
//!
//! A *tile* is a stretch of one kept axis; a *block* is a tile by a stretch of one reduced axis. A tile is a task of a thread, or
//! its blocks are where there are fewer tiles than threads.
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
use crate::element::compare::Index;
use crate::isa::{InstructionSet, Set, with_set};
use crate::kernels::omit::OMIT_BLOCK_BYTES;
use crate::kernels::pack::{PACKED_BLOCK_BYTES, pitch};
use crate::kernels::passes::{Passes, TILE_BYTES, TILE_OF_MEMORY_BYTES};
use crate::kernels::short_rows::{BATCH_ROWS, ShortKernel, TRANSPOSED_PART_BYTES};
use crate::kernels::small_inner;
use crate::layout::{ReductionAxis, ReductionLayout, positions};
use crate::operations::input::{Input, Omit};
use crate::thresholds::{
    ALIGNED_LEAST_ROW_OF_MEMORY_BYTES, Answer, BATCH_MULTIPLE_ROWS, BOTH_ENDS_TILE_BYTES,
    COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES, DIRECT_TILE_MOST_POSITIONS, INTERLEAVED_BELOW_COLUMNS, INTERLEAVED_MANY_BYTES,
    INTERLEAVED_MANY_LEAST_ROWS, INTERLEAVED_STRETCH_BYTES, LONG_ROWS_AHEAD_BYTES, Limits, MASK_COPIED_BELOW_ELEMENTS,
    MASK_COPIED_BELOW_ELEMENTS_AVX512, MASK_COPY_BYTES, MASKED_COLUMNS_LEAST_COLUMNS,
    MASKED_OTHER_COLUMNS_LEAST_COLUMNS, MASKED_ROWS_LEAST_BYTES, MASKED_TILE_COLUMNS, NARROW_ROWS_AHEAD_BYTES,
    OF_MEMORY_HEIGHT, OF_MEMORY_STRETCH_BYTES, PART_BLOCK_BYTES, PAST_CACHES_MOST_COLUMN_BYTES,
    PREFETCHED_MASKED_SWEEP_AHEAD_BYTES, PREFETCHED_SWEEP_AHEAD_BYTES, PREFETCHED_SWEEP_LEAST_ARRAY_BYTES,
    ROWS_IN_PIECES_AHEAD_BYTES, ROWS_LEAST_ELEMENTS, SHORT_ROWS_MOST_BYTES, SMALL_INNER_MOST_BLOCK_BYTES,
    SMALL_MOST_ELEMENTS, SPLIT_TASK_LEAST_ROWS, TILE_MOST_POSITIONS, TILE_OF_MEMORY_LEAST_ROWS,
    TILE_OF_MEMORY_MOST_POSITIONS, UNROLLED_MOST_REGISTERS, VALUES_WITHOUT_NAN_ROWS_LEAST_BYTES, WHOLE_ROWS_AHEAD_ROWS,
    batched_rows_most_bytes, kind_number, rows_least_elements,
};
use crate::vector::Register;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What is asked of a reduction.
pub struct Request<'a> {
    /// What is reduced, at one end of the order: the ends differ in nothing that matters here.
    pub input: &'a Input,
    /// How many ends of the order are wanted.
    pub ends: usize,
    /// Whether places are wanted; where NaN alone is skipped, of a kernel that knows slices without a number.
    pub places: bool,
    /// Whether kernels write the results along a kept axis directly to the output.
    pub are_direct: &'a dyn Fn(&ReductionAxis) -> bool,
}

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

/// How blocks are cut and read.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The kernel.
    pub form: Form,
    /// Whether blocks are packed first.
    pub packed: bool,
    /// Whether columns are read under a copy of their mask, which does not have the layout of the elements.
    pub copies_mask: bool,
    /// The kept axis along which tiles lie.
    pub kept: ReductionAxis,
    /// Positions of a tile.
    pub tile: usize,
    /// The other kept axes.
    pub outer_kept: &'a [ReductionAxis],
    /// The reduced axis that blocks cover.
    pub reduced: ReductionAxis,
    /// Elements of a block along it.
    pub chunk: usize,
    /// Whether values alone are wanted, of tiles that are one block each.
    pub values_alone: bool,
    /// Whether those need no numbers of rows: equal integers are the same.
    pub uncounted: bool,
    /// The other reduced axes.
    pub outer_reduced: &'a [ReductionAxis],
    /// Bytes of all elements: kernels prefetch what the caches do not hold.
    pub bytes: usize,
    /// Bytes from what is read of long rows to what is prefetched meanwhile; 0 to prefetch nothing.
    pub rows_ahead: usize,
    /// How the rows of columns are cut.
    pub passes: Passes,
    /// Whether results are written past the caches.
    pub past_caches: bool,
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
    if let Some(kept) = layout.kept.first()
        && request.is_contiguous(kept)
        && kept.len < INTERLEAVED_BELOW_COLUMNS
    {
        if let Some(rows) = interleaved_rows(request.input.element.size(), kept, &reduced) {
            return (Form::Interleaved(rows), false);
        }
        // A wide tile that has to be packed is better than a tile of a few columns.
        let widest = (0..layout.kept.len()).max_by_key(|&axis| layout.kept[axis].len).unwrap_or(0);
        if layout.kept[widest].len > 2 * kept.len {
            layout.kept.swap(0, widest);
        }
    }
    // Read only now: the swap above may have put another axis first.
    let kept = *layout.kept.first().unwrap_or(&ReductionAxis::POINT);
    request.form(&kept, &reduced)
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
        if self.is_contiguous(kept) {
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

    /// Positions of a tile, and elements of a block along the reduced axis, before axes and threads bound them.
    #[inline(always)]
    fn sizes(&self, plan: &Plan) -> (usize, usize) {
        let &Plan { form, packed, ref kept, ref reduced, .. } = plan;
        let size = self.input.element.size();
        let scratch = if self.input.omits() { OMIT_BLOCK_BYTES } else { PACKED_BLOCK_BYTES };
        let (tile, chunk) = match form {
            Form::Columns if plan.copies_mask => (MASKED_TILE_COLUMNS, MASK_COPY_BYTES / MASKED_TILE_COLUMNS),
            // As many columns as the kernel keeps bests of.
            Form::Columns if !packed => {
                let is_large = plan.is_large_tile(self);
                return (if is_large { tile_of_memory(size) } else { tile_of_caches(size) }, plan.most_rows(size));
            }
            Form::Columns => {
                let chunk = if is_short(size, kept, reduced) { reduced.len } else { ROWS_LEAST_ELEMENTS / 2 };
                // Whole vectors.
                ((fit(scratch, size) / chunk) & !(fit(16, size) - 1), chunk)
            }
            // Whole rows, or a stretch of one row, as far as the copy has room.
            Form::Rows | Form::RowBatches if packed => {
                let chunk = reduced.len.min(fit(scratch, size));
                (fit(scratch, size) / pitch(chunk, size), chunk)
            }
            // The second end of the order reads the same rows again, from the first-level cache.
            Form::RowBatches if self.ends > 1 => {
                ((BOTH_ENDS_TILE_BYTES / size / reduced.len + 1).next_multiple_of(BATCH_MULTIPLE_ROWS), usize::MAX)
            }
            // Results that need no memory on their way: each tile takes as long to begin as many short rows.
            Form::RowBatches if kept.len > TILE_MOST_POSITIONS && (self.are_direct)(kept) => {
                return (DIRECT_TILE_MOST_POSITIONS, usize::MAX);
            }
            Form::Rows | Form::RowBatches => (TILE_MOST_POSITIONS, usize::MAX),
            Form::Interleaved(_) => (kept.len, plan.most_rows(size)),
        };
        (tile.min(tile_of_caches(size)), chunk)
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

impl<'a> Plan<'a> {
    /// Cuts the blocks of a form.
    #[inline(always)]
    fn new(request: &Request, form: Form, packed: bool, layout: &'a ReductionLayout, tasks: usize) -> Self {
        let element = request.input.element;
        let size = element.size();
        let elements = positions(&layout.kept) * positions(&layout.reduced);
        let bytes = elements.saturating_mul(size);
        let (&kept, outer_kept) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let (&reduced, outer_reduced) = layout.reduced.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let has_columns = form == Form::Columns && !packed;
        let has_wide_rows = matches!(form, Form::Interleaved(_));
        let copies_mask = has_columns && request.input.omits() && kept.strides.mask != 1;
        // The values of integers alone need no rows, where the places along the reduced axis are the indices.
        let is_whole = outer_reduced.is_empty() && (reduced.strides.index, layout.origin.index) == (1, 0);
        let values_alone = (has_columns || has_wide_rows) && is_whole && !request.places;
        let uncounted = values_alone && element.is_integer();
        let mut plan = Self {
            form,
            packed,
            copies_mask,
            kept,
            // One block, until its size is known.
            tile: kept.len,
            outer_kept,
            reduced,
            chunk: reduced.len,
            values_alone,
            uncounted,
            outer_reduced,
            bytes,
            rows_ahead: if packed { 0 } else { rows_ahead(request.input, bytes) },
            passes: Passes::OF_CACHES,
            past_caches: has_columns && past_caches(size, &reduced, bytes),
        };
        let (tile, chunk) = request.sizes(&plan);
        plan.tile = tile.min(kept.len).max(1);
        plan.chunk = chunk.min(reduced.len).max(1);
        if tasks > 1 {
            plan.split(tasks, size);
        }
        // Blocks that are combined need places, and so rows that can be counted.
        if values_alone && plan.blocks() > 1 {
            (plan.values_alone, plan.uncounted) = (false, false);
            plan.chunk = plan.chunk.min(plan.most_rows(size));
        }
        if (has_columns || has_wide_rows) && bytes >= COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES {
            plan.passes = plan.passes_of_memory(request);
        } else if has_columns {
            let values = usize::from(!request.places);
            plan.passes.aligned_from = with_set!(I => I::ALIGNED_LEAST_ROW_BYTES[values], usize::MAX);
        }
        plan
    }

    /// Cuts tiles and blocks smaller, so that there is work for all tasks: a task takes tiles, or some of the blocks of a tile.
    fn split(&mut self, tasks: usize, size: usize) {
        // Columns are not split while there are enough rows: half a tile would read memory in pieces half as long.
        let tall = self.form == Form::Columns && !self.packed && self.reduced.len >= tasks * SPLIT_TASK_LEAST_ROWS;
        if !tall && !matches!(self.form, Form::Interleaved(_)) {
            self.tile = self.tile.min(self.kept.len.div_ceil(tasks.div_ceil(positions(self.outer_kept))));
        }
        // Where there are fewer tiles than tasks, several tasks share the blocks of each.
        let each = tasks.div_ceil(self.tiles() * positions(self.outer_reduced));
        self.chunk = self.chunk.min(self.reduced.len.div_ceil(each));
        if each > 1 && self.form == Form::Rows {
            self.chunk = self.chunk.min(fit(PART_BLOCK_BYTES, size));
        }
    }

    /// The most rows of columns of `size` bytes that a block has: as many as are counted.
    fn most_rows(&self, size: usize) -> usize {
        match self.form {
            _ if self.uncounted => usize::MAX,
            Form::Interleaved(rows) => rows.saturating_mul(rows_counted(size)),
            _ => rows_counted(size),
        }
    }

    /// Whether tiles of unpacked columns are as large as fits the second-level cache: memory holds the array, and rows are long. Where
    /// other blocks follow, rows that are shorter than such a tile are read in pieces, unless they are `uncounted`.
    fn is_large_tile(&self, request: &Request) -> bool {
        // Asked first: it is all that a call for a small array asks.
        if self.bytes < COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES {
            return false;
        }
        let row = self.kept.len * request.input.element.size();
        let are_long =
            row > TILE_BYTES && (self.uncounted || self.outer_kept.is_empty() || row >= TILE_OF_MEMORY_BYTES);
        let has_kernel = request.ends == 1 && !request.input.omits();
        let is_tall = self.reduced.len >= TILE_OF_MEMORY_LEAST_ROWS;
        has_kernel && are_long && is_tall
    }

    /// How the rows of columns that memory holds are cut.
    fn passes_of_memory(&self, request: &Request) -> Passes {
        let of_caches = Passes { aligned_from: ALIGNED_LEAST_ROW_OF_MEMORY_BYTES, ..Passes::OF_CACHES };
        let passes = Passes { height: OF_MEMORY_HEIGHT, stretch: OF_MEMORY_STRETCH_BYTES, ..of_caches };
        let is_large = self.is_large_tile(request);
        if matches!(self.form, Form::Interleaved(_)) {
            let ahead_bytes = NARROW_ROWS_AHEAD_BYTES as isize;
            Passes { ahead_bytes, stretch: INTERLEAVED_STRETCH_BYTES, ..of_caches }
        } else if self.kept.len * request.input.element.size() <= TILE_BYTES {
            Passes { ahead_rows: WHOLE_ROWS_AHEAD_ROWS, ..passes }
        } else if self.uncounted && (is_large || InstructionSet::current() == InstructionSet::Avx512) {
            // Compared so fast that the processor reads far enough ahead by itself.
            of_caches
        } else if is_large {
            Passes { ahead_bytes: LONG_ROWS_AHEAD_BYTES, ..passes }
        } else {
            Passes { height: Passes::OF_CACHES.height, ahead_bytes: ROWS_IN_PIECES_AHEAD_BYTES, ..passes }
        }
    }

    /// The number of tiles that each line of the kept axis is cut into.
    pub fn per_line(&self) -> usize {
        pieces(self.kept.len, self.tile)
    }

    /// The number of tiles.
    pub fn tiles(&self) -> usize {
        positions(self.outer_kept) * self.per_line()
    }

    /// The number of blocks that each line of the reduced axis is cut into.
    pub fn blocks_per_line(&self) -> usize {
        pieces(self.reduced.len, self.chunk)
    }

    /// The number of blocks whose results make a tile.
    pub fn blocks(&self) -> usize {
        positions(self.outer_reduced) * self.blocks_per_line()
    }
}

/// How far long rows are prefetched: elements with their mask, which are two streams, and an array that the caches do not hold.
fn rows_ahead(input: &Input, bytes: usize) -> usize {
    if !input.mask.is_null() {
        PREFETCHED_MASKED_SWEEP_AHEAD_BYTES
    } else if bytes >= PREFETCHED_SWEEP_LEAST_ARRAY_BYTES {
        PREFETCHED_SWEEP_AHEAD_BYTES
    } else {
        0
    }
}

/// Whether the results of columns are written past the caches: those of an array that the caches do not hold, where they are many.
fn past_caches(size: usize, reduced: &ReductionAxis, bytes: usize) -> bool {
    bytes >= COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES && reduced.len * size <= PAST_CACHES_MOST_COLUMN_BYTES
}

/// How many pieces of at most `most` elements an axis is cut into. Without a division where it is one piece, as most axes are.
fn pieces(len: usize, most: usize) -> usize {
    if len <= most { 1 } else { len.div_ceil(most) }
}

/// Whether several blocks of a few columns are read in one call: a short reduced axis has a small kept axis inside.
fn is_small_inner(input: &Input, layout: &ReductionLayout) -> bool {
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

/// Whether rows are too short to be read one by one.
fn is_short(size: usize, kept: &ReductionAxis, reduced: &ReductionAxis) -> bool {
    reduced.len < rows_least_elements(size) && kept.len > 1
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

/// How many elements of `size` bytes fit. Without a division, which is a large part of the cost of a small call: sizes are powers
/// of two.
fn fit(bytes: usize, size: usize) -> usize {
    bytes >> size.trailing_zeros()
}

/// Positions of a tile that the caches hold.
fn tile_of_caches(size: usize) -> usize {
    fit(TILE_BYTES, size).min(TILE_MOST_POSITIONS)
}

/// The same of an array that memory holds, whose rows are long.
fn tile_of_memory(size: usize) -> usize {
    fit(TILE_OF_MEMORY_BYTES, size).min(TILE_OF_MEMORY_MOST_POSITIONS)
}

/// How many rows of columns the narrow indices of elements of `size` bytes count.
fn rows_counted(size: usize) -> usize {
    match size {
        1 => u8::ROWS,
        2 => u16::ROWS,
        _ => u32::ROWS,
    }
}
