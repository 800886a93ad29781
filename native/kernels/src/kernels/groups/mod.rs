//! Short rows that lie contiguous in memory, a group of them at a time. There is AVX-512 for it, and no other
//! instruction set yet: the masks that it compares into are what makes groups fast.
//!
//! Each row is folded into one vector. Vectors are then folded in pairs, so that the extremes of all rows of a
//! group end up side by side for three instructions a row; last, each row is compared with its extreme, and
//! the place of the first (or last) hit is a count of zero bits. No step depends on the values.
//!
//! The lanes of every kind are turned so that the largest is wanted: seven kinds stand for all element
//! types and both orders.

use crate::element::ElementType;
#[cfg(target_arch = "x86_64")]
use crate::isa::InstructionSet;

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod few;
#[cfg(target_arch = "x86_64")]
mod kinds;
#[cfg(target_arch = "x86_64")]
mod padded;

/// Rows of a group, at most.
pub const ROWS: usize = 16;

/// Whether rows of `len` elements of `size` bytes, which may follow one another in memory, are faster in groups than
/// turned into columns or one by one.
#[cfg(target_arch = "x86_64")]
pub fn pay(size: usize, rows: usize, len: usize, follow: bool) -> bool {
    let bytes = match size {
        1 => 18..1025,
        2 | 4 => 24..1025,
        _ => 32..4097,
    };
    rows >= ROWS
        && (bytes.contains(&(len * size)) || follow && (few::serves(len) || padded::serves(size, len)))
        && InstructionSet::current() == InstructionSet::Avx512
}

/// Without AVX-512 never.
#[cfg(not(target_arch = "x86_64"))]
pub fn pay(_: usize, _: usize, _: usize, _: bool) -> bool {
    false
}

/// Finds the extremum of each of several rows.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub struct Groups {
    /// The first element of the first row.
    pub data: *const u8,
    /// Bytes from one row to the next.
    pub stride: isize,
    /// Number of rows.
    pub rows: usize,
    /// Elements in a row, at least one and at most 4096 bytes.
    pub len: usize,
    /// The element type.
    pub element: ElementType,
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Receives the position in the row.
    pub index: *mut i64,
}

impl Groups {
    /// Where the groups of `size` rows begin, of which there is one at least; the last overlaps the one before.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn starts(&self, size: usize) -> impl Iterator<Item = usize> {
        let last = self.rows - size;
        (0..self.rows).step_by(size).map(move |start| start.min(last))
    }

    /// Whether the rows follow one another in memory.
    #[cfg(target_arch = "x86_64")]
    fn follow(&self) -> bool {
        self.stride == (self.len * self.element.size()) as isize
    }

    /// Returns the number of rows done: in the group that follows them there is NaN, or they are fewer than a group.
    ///
    /// # Safety
    /// AVX-512 is in force, and there are as many rows and as many results as there are said to be.
    #[cfg(target_arch = "x86_64")]
    pub unsafe fn run(&self) -> usize {
        if self.rows < ROWS {
            return 0;
        }
        use kinds::{Bytes, Doubles, Halves, Longs, Quads, Singles, Words};
        // To turn the order round is to turn all bits of integers, or the sign of floats.
        let (all, sign) = if self.largest { (0, 0) } else { (-1, i64::MIN) };
        // SAFETY: the caller's.
        unsafe {
            match self.element {
                ElementType::Bool => self.by(Bytes { worst: all as i8, most: 1, turn: all as i8 }),
                ElementType::Int8 => self.by(Bytes { worst: all as i8 ^ i8::MIN, most: u8::MAX, turn: all as i8 }),
                ElementType::UInt8 => self.by(Bytes { worst: all as i8, most: u8::MAX, turn: all as i8 ^ i8::MIN }),
                ElementType::Int16 => self.by(Words { turn: all as i16 }),
                ElementType::UInt16 => self.by(Words { turn: all as i16 ^ i16::MIN }),
                ElementType::Int32 => self.by(Longs { turn: all as i32 }),
                ElementType::UInt32 => self.by(Longs { turn: all as i32 ^ i32::MIN }),
                ElementType::Int64 => self.by(Quads { turn: all }),
                ElementType::UInt64 => self.by(Quads { turn: all ^ i64::MIN }),
                ElementType::Float16 => self.by(Halves { infinity: 0x7c00, turn: (sign >> 48) as i16 }),
                ElementType::BFloat16 => self.by(Halves { infinity: 0x7f80, turn: (sign >> 48) as i16 }),
                ElementType::Float32 => self.by(Singles { turn: (sign >> 32) as i32 }),
                ElementType::Float64 => self.by(Doubles { turn: sign }),
            }
        }
    }

    /// Without AVX-512 no row is done.
    ///
    /// # Safety
    /// None is needed.
    #[cfg(not(target_arch = "x86_64"))]
    pub unsafe fn run(&self) -> usize {
        0
    }
}
