//! Two operands of an elementwise operation that lie in different orders, C and Fortran, in one pass: what is transposed is
//! accumulated before it leaves the first-level cache. There is AVX-512 for it.

use crate::isa::InstructionSet;
use crate::kernels::cache_line::LINE;
use crate::kernels::pass::Lines;

/// Bytes of the vectors that squares are made of.
pub const VECTOR: usize = 16;

/// Bytes that are read from line to line before the next elements along them: a line of the cache.
pub const BAND: usize = LINE;

/// A tile of both operands and of the output.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only the squares of AVX-512 read it"))]
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
    /// Whether what is read and written is asked for before.
    pub ahead: bool,
}

/// Whether there are squares for a tile of so many lines, of elements of `size` bytes.
pub fn fits(size: usize, rows: usize, len: usize) -> bool {
    InstructionSet::current() == InstructionSet::Avx512 && rows * size >= VECTOR && len * size >= LINE
}
