//! Blocks of rows of a few columns: what is asked of the kernel for them.

// Where there is no AVX-512, nothing reads them.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

use crate::element::ElementType;

/// Finds the extremum of each column of several blocks.
#[derive(Clone, Copy)]
pub struct Periods {
    /// The first element.
    pub data: *const u8,
    /// Bytes from one block to the next.
    pub block: isize,
    /// Number of blocks; their columns are [`COLUMNS`] in all, at most.
    pub blocks: usize,
    /// Bytes from one row to the next.
    pub row: isize,
    /// Rows of a block, at least two; no more than an unsigned integer as wide as an element tells apart.
    pub rows: usize,
    /// Columns of a block, which lie side by side.
    pub columns: usize,
    /// The element type.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether NaN of float32 or float64 loses to all numbers; otherwise a block with NaN is not done.
    pub numbers: bool,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Whether no block with NaN has been met.
    pub ordered: bool,
    /// Whether anybody wants the row of each extremum.
    pub places: bool,
    /// Receives those rows, block after block, or has room for them, where nobody does. Alignment is not needed.
    pub index: *mut i64,
    /// Receives the extremum itself, where it is wanted; else null.
    pub values: *mut u8,
}

impl Periods {
    /// The blocks from a number on.
    pub fn from(&self, block: usize) -> Self {
        let at = block * self.columns;
        let beyond = |values: *mut u8| values.wrapping_add(at * self.element.size());
        Self {
            data: self.data.wrapping_offset(self.block * block as isize),
            blocks: self.blocks - block,
            index: self.index.wrapping_add(at),
            values: if self.values.is_null() { self.values } else { beyond(self.values) },
            ..*self
        }
    }
}

/// Columns of all blocks, at most.
pub const COLUMNS: usize = 512;
