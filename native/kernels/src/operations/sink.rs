//! Where the results of a reduction go.

use crate::kernels::outputs::Outputs;
use crate::layout::reduction::{ReductionAxis, ReductionOffsets};

/// Where finished tiles go.
pub trait Sink {
    /// How many times as many bytes as the input has are moved, where results are as large as that.
    const MOVED: usize = 1;

    /// What has to be known of each position.
    #[inline]
    fn wants(&self) -> Wants {
        Wants::INDEX
    }

    /// The output itself, as far as the results of a tile may be written to it straight away.
    #[inline]
    fn direct_output(&self, _at: ReductionOffsets, _axis: &ReductionAxis) -> Outputs {
        Outputs::NOTHING
    }

    /// Takes a tile that starts at `at` and runs along `axis`; not asked for where all of it has gone to the output, unless the sink
    /// wants to see it.
    ///
    /// # Safety
    /// The position lies in the layout that the sink was made for, and the tile holds what the sink wants.
    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile);
}

/// What has to be known of each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// The elements that were found.
    pub values: bool,
    /// Where they lie.
    pub index: bool,
    /// Whether each tile has to be seen, even where all of it has gone to the output.
    pub sight: bool,
}

impl Wants {
    /// Where the elements lie, and nothing else.
    pub const INDEX: Self = Self { values: false, index: true, sight: false };
}

/// The results of a tile. They may lie in the output itself.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// Number of positions.
    pub len: usize,
    /// The row-major indices; null where nobody wants them.
    pub index: *mut i64,
    /// The elements, their bytes in this machine's order; null where they have to be fetched.
    pub values: *const u8,
}

impl Tile {
    /// The index of a position.
    ///
    /// # Safety
    /// There are indices, and one at this position.
    #[inline(always)]
    pub unsafe fn index(&self, position: usize) -> i64 {
        // SAFETY: the caller's; an output need not be aligned.
        unsafe { self.index.add(position).read_unaligned() }
    }
}
