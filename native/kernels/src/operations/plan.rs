//! The plan of a reduction: how its iteration space is cut into tiles and blocks, and which kernel reads them.
//!
//! A *tile* is a stretch of one kept axis; a *block* is a tile by a stretch of one reduced axis. The choice of
//! those two axes and of the kernel depends on the layout alone, and is made once for all blocks.

use crate::element::ElementType;
use crate::element::compare::Index;
use crate::isa::InstructionSet;
use crate::kernels::cache_line::LINE;
use crate::kernels::columns::TILE;
use crate::kernels::mask::{MASK_SCRATCH, SPAN, WIDEST};
use crate::kernels::omit::OMIT_SCRATCH;
use crate::kernels::pack::{SCRATCH, pitch};
use crate::kernels::short_rows::{Wanted, serve};
use crate::layout::axis::positions;
use crate::layout::reduction::{ReductionAxis, ReductionLayout};
use crate::operations::input::{Input, Omission};

/// Positions of a tile at most, whatever the element: their indices take 16 KiB.
pub const POSITIONS: usize = 2048;

/// Rows of fewer elements than this are transposed into columns, and 8-bit rows up to twice as long.
pub const SHORT: usize = 64;

/// Columns are cut across where each task has at least so many rows.
const TALL: usize = 16;

/// Fewer columns than this do not keep vector registers busy.
const NARROW: usize = 128;

/// Bytes that rows reach over from which on they are asked for before they are packed: others are in the cache.
const AHEAD: usize = 12 << 20;

/// Which kernel reads a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The reduced axis is contiguous.
    Rows {
        /// Whether it has to be made so first.
        packed: bool,
    },
    /// The reduced axis is contiguous and short, and many rows are compared side by side.
    RowBatches {
        /// Whether elements are left out of a copy first.
        packed: bool,
    },
    /// The kept axis is contiguous.
    Columns {
        /// Whether it has to be made so first.
        packed: bool,
    },
    /// The reduced axis is not contiguous, but gaps of this many bytes less one are read with the rows.
    Gapped(usize),
    /// The kept axis is contiguous and short, and the reduced axis goes on where it ends: this many
    /// neighbouring rows are read as one wide row, and their results combined afterwards.
    Interleaved(usize),
}

/// What is asked of a plan beside the layout.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Whether the bytes of each element are in the order that is foreign to this machine.
    pub swapped: bool,
    /// Whether elements are left out.
    pub omits: bool,
    /// Whether a mask alone says which.
    pub masked: bool,
    /// Whether there are kernels for masks.
    pub wide: bool,
    /// Whether nobody asks for places: the elements alone say all that is wanted.
    pub told: bool,
    /// The element type.
    pub element: ElementType,
    /// What is wanted of rows.
    pub wanted: Wanted,
}

impl Demand {
    /// What it is for an input, of which some is left out; at so many ends of the order, and with `places` or without.
    pub fn new(input: &Input, omission: Option<&Omission>, ends: usize, places: bool) -> Self {
        let wide = InstructionSet::current().is_wide();
        let wanted = match (places, ends) {
            (true, _) => Wanted::Places,
            (false, 1) => Wanted::Values,
            (false, _) => Wanted::Both,
        };
        Self {
            swapped: input.swapped,
            omits: omission.is_some(),
            masked: omission.is_some_and(Omission::is_of_mask),
            wide,
            told: !places && input.element.is_integer(),
            element: input.element,
            wanted,
        }
    }
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
    /// Whether the mask of a block is copied before it is read, to lie as the block's elements do.
    pub mask_copied: bool,
    /// Whether rows are asked for before they are packed.
    pub ahead: bool,
}

impl<'a> Plan<'a> {
    /// Plans the reduction of elements of `size` bytes over `layout`, cut into so many tasks where there is work enough.
    pub fn new(size: usize, demand: Demand, layout: &'a mut ReductionLayout, tasks: usize) -> Self {
        let follows = |axis: &ReductionAxis| axis.strides.input == size as isize;
        let contiguous = |axis: &ReductionAxis| follows(axis) && !demand.swapped && !demand.omits;
        let masked = |axis: &ReductionAxis| follows(axis) && demand.masked && !demand.swapped && demand.wide;
        let reduced = *layout.reduced.first().unwrap_or(&ReductionAxis::POINT);
        let narrow = layout.kept.first().is_some_and(|axis| contiguous(axis) && axis.len < NARROW);
        let interleaved = narrow.then(|| interleaved_rows(size, &layout.kept[0], &reduced)).flatten();
        if narrow && interleaved.is_none() {
            // Better a wide tile that has to be packed than one of a few columns.
            let widest = (0..layout.kept.len()).max_by_key(|&axis| layout.kept[axis].len).unwrap_or(0);
            if layout.kept[widest].len > 2 * layout.kept[0].len {
                layout.kept.swap(0, widest);
            }
        }
        let (&kept, outer_kept) = layout.kept.split_first().unwrap_or((&ReductionAxis::POINT, &[]));
        let outer_reduced = layout.reduced.get(1..).unwrap_or(&[]);
        let short = reduced.len < SHORT.max(fit(2 * SHORT, size)) && kept.len > 1;
        let follow = kept.strides.input == (reduced.len * size) as isize;
        let short_rows = |follow| serve(demand.element, kept.len, reduced.len, follow, demand.wanted);
        // A copy without what a mask leaves out is faster than to read both, up to here.
        let copied = reduced.len < 4 * SHORT || !demand.masked;
        let gaps = gaps(size, &reduced).filter(|_| !short && !demand.omits && !demand.swapped && demand.wide);
        let form = match interleaved {
            Some(rows) => Form::Interleaved(rows),
            None if contiguous(&kept) => Form::Columns { packed: false },
            None if contiguous(&reduced) && short_rows(follow) => Form::RowBatches { packed: false },
            // What a mask leaves out is passed over where vectors can read both.
            None if masked(&kept) && kept.len >= SHORT => Form::Columns { packed: false },
            None if demand.omits
                && !demand.swapped
                && follows(&reduced)
                && reduced.strides.mask <= 1
                && copied
                && short_rows(true) =>
            {
                Form::RowBatches { packed: true }
            }
            None if masked(&reduced) && !short => Form::Rows { packed: false },
            // (A guard that binds asks for a newer Rust than the oldest.)
            None => match gaps {
                Some(step) => Form::Gapped(step),
                None if short || (demand.omits && follows(&kept) && kept.len >= SHORT) => {
                    Form::Columns { packed: true }
                }
                None => Form::Rows { packed: !contiguous(&reduced) },
            },
        };
        let mask_copied = match form {
            Form::Columns { packed: false } => masked(&kept) && kept.strides.mask != 1,
            Form::Rows { packed: false } => masked(&reduced) && reduced.strides.mask != 1,
            _ => false,
        };
        // Without places rows are not counted, unless blocks are combined.
        let whole = demand.told && outer_reduced.is_empty() && (reduced.strides.index, layout.origin.index) == (1, 0);
        let scratch = if demand.omits { OMIT_SCRATCH } else { SCRATCH };
        let (tile, chunk) = match form {
            Form::Columns { packed: false } if mask_copied => {
                // Half as wide, since the results of each block are combined.
                (POSITIONS / 2, rows_of_a_block(size).min(MASK_SCRATCH / (POSITIONS / 2)))
            }
            Form::Columns { packed: false } => {
                (fit(TILE, size), if whole { usize::MAX } else { rows_of_a_block(size) })
            }
            Form::Rows { packed: false } if mask_copied => {
                let chunk = reduced.len.min(MASK_SCRATCH);
                (MASK_SCRATCH / chunk, chunk)
            }
            Form::Columns { packed: true } => {
                let chunk = if short { reduced.len } else { SHORT / 2 };
                (whole_vectors(fit(scratch, size) / chunk, size), chunk)
            }
            Form::Rows { packed: false } | Form::RowBatches { packed: false } => (POSITIONS, usize::MAX),
            Form::Rows { packed: true } | Form::RowBatches { packed: true } => {
                let chunk = reduced.len.min(fit(scratch, size));
                (fit(scratch, size) / pitch(chunk, size), chunk)
            }
            Form::Gapped(step) => (POSITIONS, SPAN / step),
            Form::Interleaved(rows) => (kept.len, rows * rows_of_a_block(size)),
        };
        let tile = tile.min(POSITIONS).min(fit(TILE, size)).min(kept.len).max(1);
        let chunk = chunk.min(reduced.len).max(1);
        // (The processor foresees where it goes on in what is contiguous.)
        let apart = reduced.strides.input.unsigned_abs();
        let reach = positions(&layout.kept).saturating_mul(positions(&layout.reduced)).saturating_mul(apart.min(LINE));
        let ahead = form == Form::Rows { packed: true } && apart > size && reach >= AHEAD;
        let mut plan = Self { kept, tile, outer_kept, reduced, chunk, outer_reduced, form, mask_copied, ahead };
        if tasks > 1 {
            plan.split(tasks);
        }
        // Columns alone keep narrow indices, which blocks that are combined need.
        if whole && form == (Form::Columns { packed: false }) && plan.blocks() > 1 {
            plan.chunk = plan.chunk.min(rows_of_a_block(size));
        }
        plan
    }

    /// Cuts smaller, so that there is work for all tasks: they take tiles, or else some of the blocks of a tile.
    fn split(&mut self, tasks: usize) {
        // Columns are not split while there are rows enough: half a tile reads memory in pieces half as long.
        let tall = self.form == Form::Columns { packed: false } && self.reduced.len >= tasks * TALL;
        if !tall && !matches!(self.form, Form::Interleaved(_)) {
            self.tile = self.tile.min(self.kept.len.div_ceil(tasks.div_ceil(positions(self.outer_kept))));
        }
        let each = tasks.div_ceil(self.tiles() * positions(self.outer_reduced));
        self.chunk = self.chunk.min(self.reduced.len.div_ceil(each));
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
    (follows && reduced.len >= 4 * rows).then_some(rows)
}

/// From one byte of a reduced axis to the next, where the gaps between them are worth reading. Wider elements are packed:
/// among them is NaN, which a kernel does not pass over under a mask.
fn gaps(size: usize, reduced: &ReductionAxis) -> Option<usize> {
    let step = usize::try_from(reduced.strides.input).ok()?;
    (size == 1 && (2..=WIDEST).contains(&step)).then_some(step)
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

/// The largest number of elements up to `len` that fills whole vectors.
fn whole_vectors(len: usize, size: usize) -> usize {
    len & !(fit(16, size) - 1)
}

/// How many rows the narrow indices of an element of `size` bytes tell apart.
fn rows_of_a_block(size: usize) -> usize {
    match size {
        1 => u8::ROWS,
        2 => u16::ROWS,
        _ => u32::ROWS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::reduction::ReductionOffsets;

    /// In how many blocks a tile of bytes is read over axes of so many elements that lie so far apart, the last first.
    fn blocks(axes: &[(usize, isize, bool)], wide: bool, told: bool, tasks: usize) -> usize {
        let axis = |&(len, input, reduced): &(usize, isize, bool)| {
            (len, ReductionOffsets { input, ..ReductionOffsets::default() }, reduced)
        };
        let mut layout = ReductionLayout::new(axes.iter().map(axis), false);
        let demand = Demand {
            swapped: false,
            omits: false,
            masked: false,
            wide,
            told,
            element: ElementType::UInt8,
            wanted: Wanted::Places,
        };
        Plan::new(1, demand, &mut layout, tasks).blocks()
    }

    #[test]
    fn values_alone_are_read_in_no_more_blocks_than_with_their_places() {
        let (long, side) = (4_000_000, 1000);
        let layouts: [&[_]; 9] = [
            &[(long, 1, true)],
            &[(long / 2, 2, true)],
            &[(long / 5, 5, true)],
            &[(long, -1, true)],
            &[(2, 1, false), (long, 2, true)],
            &[(3, 1, false), (side, 3, true), (side, 3 * side as isize, true)],
            &[(side, 3, true), (side, 3 * side as isize, true)],
            &[(side, 1, true), (side, side as isize, false)],
            &[(64, 1, false), (long / 64, 64, true)],
        ];
        for axes in layouts {
            for (wide, tasks) in [(false, 1), (false, 2), (true, 1), (true, 2)] {
                let [alone, placed] = [true, false].map(|told| blocks(axes, wide, told, tasks));
                assert!(alone <= placed, "{axes:?}, wide {wide}, {tasks} tasks: {alone} blocks, not {placed}");
            }
        }
    }
}
