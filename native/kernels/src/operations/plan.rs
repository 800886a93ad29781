//! The plan of a reduction: how its iteration space is cut into tiles and blocks, and which kernel reads them.
//!
//! A *tile* is a stretch of one kept axis; a *block* is a tile by a stretch of one reduced axis. The choice of
//! those two axes and of the kernel depends on the layout alone, and is made once for all blocks.
//!
//! ```text
//! the kept axis is contiguous and short, the reduced one follows it    interleaved: several rows are read as one
//! the kept axis is contiguous                                          columns
//! the reduced axis is contiguous and short                             row batches if kernels support them, else packed columns
//! the reduced axis is contiguous                                       rows
//! neither is contiguous, or elements are skipped                       packed: as columns if short, else as rows
//! ```
//!
//! Columns skip masked elements, and so do long rows where the mask has the layout of the elements; elsewhere a copy replaces
//! them. Not done: prefetching memory before it is packed, and copying masks for rows (a block is copied instead).

use crate::element::compare::Index;
use crate::isa::InstructionSet;
use crate::kernels::columns::TILE;
use crate::kernels::omit::OMIT_SCRATCH;
use crate::kernels::pack::{SCRATCH, pitch};
use crate::kernels::short_rows::{Answer, reads_masks, supports};
use crate::layout::{ReductionAxis, ReductionLayout, positions};
use crate::operations::input::{Input, Omit};

/// The most positions of a tile, for all element types: their indices take 16 KiB.
pub const POSITIONS: usize = 2048;

/// Rows of fewer elements than this are transposed into columns, and 8-bit rows up to twice as long.
pub const SHORT: usize = 64;

/// At least this many rows are read in another way where a batch has NaN.
pub const BATCH: usize = 16;

/// Bytes of short rows that are read for one end of the order, then for the other: they stay in the first-level cache.
const TWICE: usize = 1 << 14;

/// Rows that fill all lanes of the widest register, whatever the element.
const LANES: usize = 64;

/// Columns under a mask that is copied, and bytes of that copy: many rows, since each block starts anew. Columns of 4 MB of
/// binary32 take 1.96 times as long as without a mask, and 2.07 times with 512 and 32 KiB (Xeon, family 6, model 207, AVX2).
const MASK: usize = 256;
pub const MASK_SCRATCH: usize = 1 << 16;

/// Columns are cut across where each task has at least this many rows.
const TALL: usize = 16;

/// Bytes of a row that a thread reads before it looks whether another thread has found what cannot be beaten.
const BLOCK_OF_PART: usize = 1 << 20;

/// Fewer columns than this do not keep vector registers busy.
const NARROW: usize = 128;

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
    /// Plans the reduction of an input over `layout`: at `ends` ends of the order, with `places` or without, and cut into `tasks`
    /// tasks where there is enough work.
    pub fn new(input: &Input, (ends, places): (usize, bool), layout: &'a mut ReductionLayout, tasks: usize) -> Self {
        let (element, size, omits) = (input.element, input.element.size(), input.omits());
        let wide = InstructionSet::current().is_wide();
        let elements = positions(&layout.kept) * positions(&layout.reduced);
        let bytes = elements.saturating_mul(size);
        // Whether a mask alone decides which elements are skipped.
        let of_mask = input.omit == Omit::Nothing && omits;
        let answer = match (places, ends) {
            (true, _) => Answer::Places,
            (false, 1) => Answer::Values,
            (false, _) => Answer::Both,
        };
        let follows = |axis: &ReductionAxis| axis.strides.input == size as isize && !input.swapped;
        let contiguous = |axis: &ReductionAxis| follows(axis) && !omits;
        // Kernels for masks skip masked elements; elsewhere a copy replaces them.
        let masked = |axis: &ReductionAxis| follows(axis) && of_mask && wide;
        let reduced = *layout.reduced.first().unwrap_or(&ReductionAxis::POINT);
        let narrow = layout.kept.first().is_some_and(|axis| contiguous(axis) && axis.len < NARROW);
        let interleaved = narrow.then(|| interleaved_rows(size, &layout.kept[0], &reduced)).flatten();
        if narrow && interleaved.is_none() {
            // A wide tile that has to be packed is better than a tile of a few columns.
            let widest = (0..layout.kept.len()).max_by_key(|&axis| layout.kept[axis].len).unwrap_or(0);
            if layout.kept[widest].len > 2 * layout.kept[0].len {
                layout.kept.swap(0, widest);
            }
        }
        let (&kept, outer_kept) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let outer_reduced = layout.reduced.get(1..).unwrap_or(&[]);
        let short = reduced.len < SHORT.max(fit(2 * SHORT, size)) && kept.len > 1;
        let follow = kept.strides.input == (reduced.len * size) as isize;
        let short_rows = |follow| supports(element, kept.len, reduced.len, follow, answer);
        let along_mask = masked(&reduced) && reduced.strides.mask == 1;
        // Up to this length, a copy that replaces masked elements is faster than reading both elements and mask (Xeon, family 6,
        // model 207: rows of 300 elements take 0.55 to 0.8 times as long with AVX2, and 0.9 to 1.25 times with AVX-512).
        let longest = if InstructionSet::current() == InstructionSet::Avx512 { 4 * SHORT } else { 8 * SHORT };
        let by_copy = reduced.len < longest || !of_mask;
        let (form, packed) = match interleaved {
            Some(rows) => (Form::Interleaved(rows), false),
            None if contiguous(&kept) => (Form::Columns, false),
            None if contiguous(&reduced) && short_rows(follow) => (Form::RowBatches, false),
            // Masked elements are skipped where vectors can read both elements and mask.
            None if masked(&kept) && kept.len >= SHORT => (Form::Columns, false),
            None if along_mask && reads_masks(element, kept.len, reduced.len) => (Form::RowBatches, false),
            None if omits && follows(&reduced) && by_copy && short_rows(true) => (Form::RowBatches, true),
            None if along_mask && !short => (Form::Rows, false),
            None if short || (omits && follows(&kept) && kept.len >= SHORT) => (Form::Columns, true),
            None => (Form::Rows, !contiguous(&reduced)),
        };
        // Without places, the values of integers are all that is wanted: rows are not counted, unless blocks are combined.
        let bare = !places && element.is_integer();
        let whole = bare && outer_reduced.is_empty() && (reduced.strides.index, layout.origin.index) == (1, 0);
        let scratch = if omits { OMIT_SCRATCH } else { SCRATCH };
        let (tile, chunk) = match form {
            // A mask whose layout is not that of the elements is copied.
            Form::Columns if !packed && omits && kept.strides.mask != 1 => (MASK, MASK_SCRATCH / MASK),
            Form::Columns if !packed => (fit(TILE, size), if whole { usize::MAX } else { rows_of_a_block(size) }),
            Form::Columns => {
                let chunk = if short { reduced.len } else { SHORT / 2 };
                // Whole vectors.
                ((fit(scratch, size) / chunk) & !(fit(16, size) - 1), chunk)
            }
            Form::Rows | Form::RowBatches if packed => {
                let chunk = reduced.len.min(fit(scratch, size));
                (fit(scratch, size) / pitch(chunk, size), chunk)
            }
            Form::RowBatches if ends > 1 => ((TWICE / size / reduced.len + 1).next_multiple_of(LANES), usize::MAX),
            Form::Rows | Form::RowBatches => (POSITIONS, usize::MAX),
            Form::Interleaved(rows) => (kept.len, rows.saturating_mul(rows_of_a_block(size))),
        };
        let tile = tile.min(POSITIONS).min(fit(TILE, size)).min(kept.len).max(1);
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
        let tall = self.form == Form::Columns && !self.packed && self.reduced.len >= tasks * TALL;
        if !tall && !matches!(self.form, Form::Interleaved(_)) {
            self.tile = self.tile.min(self.kept.len.div_ceil(tasks.div_ceil(positions(self.outer_kept))));
        }
        let each = tasks.div_ceil(self.tiles() * positions(self.outer_reduced));
        self.chunk = self.chunk.min(self.reduced.len.div_ceil(each));
        if each > 1 && self.form == Form::Rows {
            self.chunk = self.chunk.min(fit(BLOCK_OF_PART, size));
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

/// How many neighbouring rows of a narrow kept axis are read as one wide row, where that pays.
fn interleaved_rows(size: usize, kept: &ReductionAxis, reduced: &ReductionAxis) -> Option<usize> {
    let rows = (2 * NARROW).div_ceil(kept.len);
    let follows = reduced.strides.input == (kept.len * size) as isize;
    (rows >= 4 && follows && reduced.len >= 8 * rows).then_some(rows)
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
