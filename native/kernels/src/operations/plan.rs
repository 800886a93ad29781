//! The plan of a reduction: how its iteration space is cut into tiles and blocks, and which kernel reads them.
//!
//! A *tile* is a stretch of one kept axis; a *block* is a tile by a stretch of one reduced axis. The choice of
//! those two axes and of the kernel depends on the layout alone: `choice` makes it, once for all blocks.
//!
//! Not done: prefetching memory before it is packed, and copying masks for rows (a block is copied instead).

use crate::layout::{ReductionAxis, ReductionLayout, positions};
use crate::operations::choice::{Blocking, Form, fit, rows_counted};
use crate::thresholds::{PART_BLOCK_BYTES, SPLIT_TASK_LEAST_ROWS};

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
    /// Plans the blocks of a reduction over `layout`, as [`choose`](super::choice::choose) has chosen, of elements of `size` bytes,
    /// cut into `tasks` tasks where there is enough work.
    pub fn new(blocking: Blocking, size: usize, layout: &'a mut ReductionLayout, tasks: usize) -> Self {
        let Blocking { form, packed, tile, chunk, uncounted } = blocking;
        let elements = positions(&layout.kept) * positions(&layout.reduced);
        let bytes = elements.saturating_mul(size);
        let reduced = *layout.reduced.first().unwrap_or(&ReductionAxis::POINT);
        let (&kept, outer_kept) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let outer_reduced = layout.reduced.get(1..).unwrap_or(&[]);
        let tile = tile.min(kept.len).max(1);
        let chunk = chunk.min(reduced.len).max(1);
        let mut plan = Self { kept, tile, outer_kept, reduced, chunk, outer_reduced, form, packed, bytes };
        if tasks > 1 {
            plan.split(tasks, size);
        }
        // Blocks that are combined need places, and so rows that can be counted.
        if uncounted && plan.blocks() > 1 {
            plan.chunk = plan.chunk.min(rows_counted(size));
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

/// How many pieces of at most `most` elements an axis is cut into. Without a division where it is one piece, as most axes are.
fn pieces(len: usize, most: usize) -> usize {
    if len <= most { 1 } else { len.div_ceil(most) }
}
