//! Which rows are read in batches, and how.

use crate::element::ElementType;
use crate::isa::InstructionSet;
use crate::kernels::batches::batch::{Batches, ROWS};
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::kinds::{Bytes, Doubles, Float16Bits, Longs, Quads, Singles, Words};
use crate::kernels::batches::numbers::Numbers;
use crate::kernels::batches::{few, padded};

/// Whether rows of `len` elements of `size` bytes, which may follow one another in memory, are faster in batches than
/// transposed into columns or one by one.
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

/// The same of rows under a mask, of which batches are only read in chunks.
pub fn pay_masked(size: usize, rows: usize, len: usize) -> bool {
    !few::serves(len) && !padded::serves(size, len) && pay(size, rows, len, false)
}

impl Batches {
    /// Returns the number of rows done: in the batch that follows them there is NaN, or they are fewer than a batch.
    ///
    /// # Safety
    /// AVX-512 is in force, and there are as many rows and as many results as there are said to be.
    pub unsafe fn run(&self) -> usize {
        if self.rows < ROWS {
            return 0;
        }
        // To reverse the order, all bits of integers are flipped, or the sign of floats.
        let (all, sign) = if self.largest { (0, 0) } else { (-1, i64::MIN) };
        // SAFETY: the caller's.
        unsafe {
            match self.element {
                ElementType::Bool => self.by(Bytes { worst: all as i8, most: 1, xor_mask: all as i8 }),
                ElementType::Int8 => self.by(Bytes { worst: all as i8 ^ i8::MIN, most: u8::MAX, xor_mask: all as i8 }),
                ElementType::UInt8 => self.by(Bytes { worst: all as i8, most: u8::MAX, xor_mask: all as i8 ^ i8::MIN }),
                ElementType::Int16 => self.by(Words { xor_mask: all as i16 }),
                ElementType::UInt16 => self.by(Words { xor_mask: all as i16 ^ i16::MIN }),
                ElementType::Int32 => self.by(Longs { xor_mask: all as i32 }),
                ElementType::UInt32 => self.by(Longs { xor_mask: all as i32 ^ i32::MIN }),
                ElementType::Int64 => self.by(Quads { xor_mask: all }),
                ElementType::UInt64 => self.by(Quads { xor_mask: all ^ i64::MIN }),
                ElementType::Float16 => self.by(Float16Bits { infinity: 0x7c00, xor_mask: (sign >> 48) as i16 }),
                ElementType::BFloat16 => self.by(Float16Bits { infinity: 0x7f80, xor_mask: (sign >> 48) as i16 }),
                ElementType::Float32 if self.numbers => self.by(Numbers(Singles { xor_mask: (sign >> 32) as i32 })),
                ElementType::Float64 if self.numbers => self.by(Numbers(Doubles { xor_mask: sign })),
                ElementType::Float32 => self.by(Singles { xor_mask: (sign >> 32) as i32 }),
                ElementType::Float64 => self.by(Doubles { xor_mask: sign }),
            }
        }
    }

    /// Does the batches one after the other, the way that is fastest for their rows.
    ///
    /// # Safety
    /// As for [`Batches::run`].
    unsafe fn by<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            if self.follow() && few::serves(self.len) {
                return self.few(kind);
            }
            if self.follow() && padded::serves(K::SIZE, self.len) {
                return self.padded(kind);
            }
            if self.last { self.in_chunks::<K, true>(kind) } else { self.in_chunks::<K, false>(kind) }
        }
    }
}
