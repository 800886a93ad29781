//! How the iteration space of a reduction is cut into tiles and blocks, once the kernel is [chosen](super::choice).
//!
//! A *tile* is a stretch of one kept axis; a *block* is a tile by a stretch of one reduced axis. A tile is a task of a thread, or
//! its blocks are where there are fewer tiles than threads. A tile has as many positions as its kernel keeps results of; where memory
//! holds the array, its blocks are those that are read in the longest streams.

use crate::element::compare::Index;
use crate::isa::{InstructionSet, with_set};
use crate::kernels::omit::OMIT_BLOCK_BYTES;
use crate::kernels::pack::{PACKED_BLOCK_BYTES, pitch};
use crate::kernels::passes::{Passes, TILE_BYTES, TILE_OF_MEMORY_BYTES};
use crate::layout::{ReductionAxis, ReductionLayout, positions};
use crate::operations::input::Input;
use crate::thresholds::{
    ALIGNED_LEAST_ROW_OF_MEMORY_BYTES, BATCH_MULTIPLE_ROWS, BOTH_ENDS_TILE_BYTES, COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES,
    DIRECT_TILE_MOST_POSITIONS, INTERLEAVED_STRETCH_BYTES, LONG_ROWS_AHEAD_BYTES, Limits, MASK_COPY_BYTES,
    MASKED_TILE_COLUMNS, NARROW_ROWS_AHEAD_BYTES, OF_MEMORY_HEIGHT, OF_MEMORY_STRETCH_BYTES, PART_BLOCK_BYTES,
    PAST_CACHES_MOST_COLUMN_BYTES, PREFETCHED_MASKED_SWEEP_AHEAD_BYTES, PREFETCHED_SWEEP_AHEAD_BYTES,
    PREFETCHED_SWEEP_LEAST_ARRAY_BYTES, ROWS_IN_PIECES_AHEAD_BYTES, ROWS_LEAST_ELEMENTS, SPLIT_TASK_LEAST_ROWS,
    TILE_MOST_POSITIONS, TILE_OF_MEMORY_LEAST_ROWS, TILE_OF_MEMORY_MOST_POSITIONS, WHOLE_ROWS_AHEAD_ROWS,
    rows_least_elements,
};

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
    /// Whether no other axis is reduced, and places along this one are the indices, or not wanted.
    pub is_whole: bool,
    /// Whether values alone are wanted, of tiles that are one block each.
    pub values_alone: bool,
    /// Whether those need no numbers of rows: equal integers are the same. Bools end early, block by block.
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

impl<'a> Plan<'a> {
    /// Cuts the blocks of a form.
    #[inline(always)]
    pub fn new(request: &Request, form: Form, packed: bool, layout: &'a ReductionLayout, tasks: usize) -> Self {
        let element = request.input.element;
        let size = element.size();
        let elements = positions(&layout.kept) * positions(&layout.reduced);
        let bytes = elements.saturating_mul(size);
        let (&kept, outer_kept) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let (&reduced, outer_reduced) = layout.reduced.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let has_columns = form == Form::Columns && !packed;
        let has_wide_rows = matches!(form, Form::Interleaved(_));
        let copies_mask = has_columns && request.input.omits() && kept.strides.mask != 1;
        let are_indices = (reduced.strides.index == 1 || reduced.len == 1) && layout.origin.index == 0;
        let is_whole = outer_reduced.is_empty() && (are_indices || !request.places && !request.input.skips());
        // The values of integers alone need no rows.
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
            is_whole,
            values_alone,
            uncounted,
            outer_reduced,
            bytes,
            rows_ahead: if packed { 0 } else { rows_ahead(request.input, bytes) },
            passes: Passes::OF_CACHES,
            past_caches: has_columns && past_caches(size, &reduced, bytes),
        };
        let (tile, chunk) = plan.sizes(request);
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

    /// Positions of a tile, and elements of a block along the reduced axis, before axes and threads bound them.
    #[inline(always)]
    fn sizes(&self, request: &Request) -> (usize, usize) {
        let &Self { form, packed, ref kept, ref reduced, .. } = self;
        let size = request.input.element.size();
        let scratch = if request.input.omits() { OMIT_BLOCK_BYTES } else { PACKED_BLOCK_BYTES };
        let (tile, chunk) = match form {
            Form::Columns if self.copies_mask => (MASKED_TILE_COLUMNS, MASK_COPY_BYTES / MASKED_TILE_COLUMNS),
            // As many columns as the kernel keeps bests of.
            Form::Columns if !packed => {
                let is_large = self.is_large_tile(request);
                return (if is_large { tile_of_memory(size) } else { tile_of_caches(size) }, self.most_rows(size));
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
            Form::RowBatches if request.ends > 1 => {
                ((BOTH_ENDS_TILE_BYTES / size / reduced.len + 1).next_multiple_of(BATCH_MULTIPLE_ROWS), usize::MAX)
            }
            // Results that need no memory on their way: each tile takes as long to begin as many short rows.
            Form::RowBatches if kept.len > TILE_MOST_POSITIONS && self.is_whole && (request.are_direct)(kept) => {
                return (DIRECT_TILE_MOST_POSITIONS, usize::MAX);
            }
            Form::Rows | Form::RowBatches => (TILE_MOST_POSITIONS, usize::MAX),
            Form::Interleaved(_) => (kept.len, self.most_rows(size)),
        };
        (tile.min(tile_of_caches(size)), chunk)
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
pub fn past_caches(size: usize, reduced: &ReductionAxis, bytes: usize) -> bool {
    bytes >= COLUMNS_OF_MEMORY_LEAST_ARRAY_BYTES && reduced.len * size <= PAST_CACHES_MOST_COLUMN_BYTES
}

/// How many pieces of at most `most` elements an axis is cut into. Without a division where it is one piece, as most axes are.
fn pieces(len: usize, most: usize) -> usize {
    if len <= most { 1 } else { len.div_ceil(most) }
}

/// Whether rows are too short to be read one by one.
pub fn is_short(size: usize, kept: &ReductionAxis, reduced: &ReductionAxis) -> bool {
    reduced.len < rows_least_elements(size) && kept.len > 1
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
