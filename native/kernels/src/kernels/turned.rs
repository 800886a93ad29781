//! Two operands of an elementwise operation that lie in different orders, C and Fortran, in one pass: what is transposed is
//! accumulated before it leaves the first-level cache. There is AVX-512 for it.

use crate::isa::InstructionSet;
use crate::kernels::cache_line::LINE;
use crate::kernels::pass::Lines;

/// Bytes of the vectors that squares are made of.
pub const VECTOR: usize = 16;

/// Bytes that are read from line to line before the next elements along them: two lines of the cache.
pub const ACROSS: usize = 128;

/// Bytes of the power of two that keeps lines of the output from places of their own.
const PAGE_PART: isize = 1024;

/// A tile of both operands and of the output.
#[derive(Clone, Copy)]
pub struct Turned {
    /// The operand whose lines are contiguous.
    pub one: Lines<*const u8>,
    /// The first element of the other one, whose lines lie side by side.
    pub other: *const u8,
    /// Bytes from one element of its lines to the next.
    pub stride: isize,
    /// Whether it comes first.
    pub other_first: bool,
    /// The lines of the output.
    pub to: Lines<*mut u8>,
    /// How many there are.
    pub rows: usize,
    /// How long they are.
    pub len: usize,
}

impl Turned {
    /// Whether there are squares for this tile, and pay: where lines of the output are a large power of two apart, what is read
    /// from the other operand's waits for what has been written at the same place of a page. (Bytes are turned as fast before.)
    pub fn fits(&self, size: usize) -> bool {
        let is_wide = InstructionSet::current() == InstructionSet::Avx512;
        is_wide && size > 1 && self.rows * size >= VECTOR && self.len * size >= LINE && self.to.step % PAGE_PART != 0
    }
}
