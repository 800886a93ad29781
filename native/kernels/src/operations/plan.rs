//! The plan of a reduction: how its iteration space is cut into tiles and blocks, and which kernel reads them.
//!
//! A *tile* is a stretch of one kept axis; a *block* is a tile by a stretch of one reduced axis. The choice of
//! those two axes and of the kernel depends on the layout alone: `choice` makes it, once for all blocks.
//!
//! Not done: prefetching memory before it is packed, and copying masks for rows (a block is copied instead).

use crate::element::compare::Index;
use crate::kernels::columns::TILE_BYTES;
use crate::kernels::omit::OMIT_BLOCK_BYTES;
use crate::kernels::pack::{PACKED_BLOCK_BYTES, pitch};
use crate::layout::{ReductionAxis, ReductionLayout, positions};
use crate::operations::choice::{Form, Request, is_short};
use crate::thresholds::ROWS_LEAST_ELEMENTS;

/// The most positions of a tile, for all element types: their indices take 16 KiB.
pub const TILE_MOST_POSITIONS: usize = 2048;

/// At least this many rows are read in another way where a batch has NaN.
pub const NAN_RETRY_ROWS: usize = 16;

/// Bytes of short rows that are read for one end of the order, then for the other: they stay in the first-level cache.
const BOTH_ENDS_TILE_BYTES: usize = 1 << 14;

/// Rows that fill all lanes of the widest register, whatever the element.
const BATCH_MULTIPLE_ROWS: usize = 64;

/// Columns under a mask that is copied, and bytes of that copy: many rows, since each block starts anew. Columns of 4 MB of
/// binary32 take 1.96 times as long as without a mask, and 2.07 times with 512 and 32 KiB (Xeon, family 6, model 207, AVX2).
const MASKED_TILE_COLUMNS: usize = 256;
pub const MASK_COPY_BYTES: usize = 1 << 16;

/// Columns are cut across where each task has at least this many rows.
const SPLIT_TASK_LEAST_ROWS: usize = 16;

/// Bytes of a row that a thread reads before it looks whether another thread has found what cannot be beaten.
const PART_BLOCK_BYTES: usize = 1 << 20;

/// How the blocks of a reduction are cut and read.
#[derive(Debug)]
pub struct Plan<'a> {
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
    /// The other reduced axes.
    pub outer_reduced: &'a [ReductionAxis],
    /// The kernel.
    pub form: Form,
    /// Whether blocks are packed first.
    pub packed: bool,
    /// Bytes of all elements: kernels prefetch what the caches do not hold.
    pub bytes: usize,
}

impl<'a> Plan<'a> {
    /// Plans the blocks of a reduction over `layout`, in the form that [`choose`](super::choice::choose) has chosen, cut into
    /// `tasks` tasks where there is enough work.
    pub fn new(request: &Request, (form, packed): (Form, bool), layout: &'a mut ReductionLayout, tasks: usize) -> Self {
        let element = request.input.element;
        let size = element.size();
        let omits = request.input.omits();
        let elements = positions(&layout.kept) * positions(&layout.reduced);
        let bytes = elements.saturating_mul(size);
        let reduced = *layout.reduced.first().unwrap_or(&ReductionAxis::POINT);
        let (&kept, outer_kept) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let outer_reduced = layout.reduced.get(1..).unwrap_or(&[]);
        // Without places, the values of integers are all that is wanted: rows are not counted, unless blocks are combined.
        let bare = !request.places && element.is_integer();
        let whole = bare && outer_reduced.is_empty() && (reduced.strides.index, layout.origin.index) == (1, 0);
        // Positions of a tile and elements of a block along the reduced axis, before both are bounded by the axes.
        let scratch = if omits { OMIT_BLOCK_BYTES } else { PACKED_BLOCK_BYTES };
        let (tile, chunk) = match form {
            // A mask whose layout is not that of the elements is copied.
            Form::Columns if !packed && omits && kept.strides.mask != 1 => {
                (MASKED_TILE_COLUMNS, MASK_COPY_BYTES / MASKED_TILE_COLUMNS)
            }
            // As many columns as the kernel keeps bests of, and as many rows as their narrow indices count.
            Form::Columns if !packed => (fit(TILE_BYTES, size), if whole { usize::MAX } else { rows_of_a_block(size) }),
            Form::Columns => {
                let chunk = if is_short(size, &kept, &reduced) { reduced.len } else { ROWS_LEAST_ELEMENTS / 2 };
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
            Form::Rows | Form::RowBatches => (TILE_MOST_POSITIONS, usize::MAX),
            Form::Interleaved(rows) => (kept.len, rows.saturating_mul(rows_of_a_block(size))),
        };
        let tile = tile.min(TILE_MOST_POSITIONS).min(fit(TILE_BYTES, size)).min(kept.len).max(1);
        let chunk = chunk.min(reduced.len).max(1);
        let mut plan = Self { kept, tile, outer_kept, reduced, chunk, outer_reduced, form, packed, bytes };
        if tasks > 1 {
            plan.split(tasks, size);
        }
        // Only columns keep narrow indices, which blocks that are combined need.
        if whole && form == Form::Columns && !packed && plan.blocks() > 1 {
            plan.chunk = plan.chunk.min(rows_of_a_block(size));
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

// A division is a large part of the cost of a small call: sizes are powers of two, and most axes are one piece.

/// How many elements of `size` bytes fit.
fn fit(bytes: usize, size: usize) -> usize {
    bytes >> size.trailing_zeros()
}

/// How many pieces of at most `most` elements an axis is cut into.
fn pieces(len: usize, most: usize) -> usize {
    if len <= most { 1 } else { len.div_ceil(most) }
}

/// How many rows the narrow indices of an element of `size` bytes tell apart.
fn rows_of_a_block(size: usize) -> usize {
    match size {
        1 => u8::ROWS,
        2 => u16::ROWS,
        _ => u32::ROWS,
    }
}
