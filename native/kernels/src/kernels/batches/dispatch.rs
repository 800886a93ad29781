//! Which rows are read in batches, and how.

use crate::element::ElementType;
use crate::isa::{InstructionSet, avx512_vbmi};
use crate::kernels::batches::batch::{Batches, ROWS};
use crate::kernels::batches::bools::Bools;
use crate::kernels::batches::kind::Kind;
use crate::kernels::batches::kinds::{Bytes, Doubles, Float16Bits, Longs, Quads, Singles, Words};
use crate::kernels::batches::numbers::Numbers;
use crate::kernels::batches::period::{COLUMNS, Periods};
use crate::kernels::batches::{few, padded, padded_values, spread};
use crate::kernels::outputs::UNKNOWN;
use std::arch::x86_64::{_mm_maskz_set1_epi8, _mm_movm_epi8, _mm_or_si128, _mm_storeu_epi8};

/// Whether rows of `len` elements of `size` bytes, which may follow one another in memory, are faster in batches than
/// transposed into columns or one by one.
pub fn pay(size: usize, rows: usize, len: usize, follow: bool) -> bool {
    let bytes = match size {
        1 => 18..4097,
        2 | 4 => 24..4097,
        _ => 32..4097,
    };
    rows >= ROWS
        && (bytes.contains(&(len * size)) || follow && share(size, len))
        && InstructionSet::current() == InstructionSet::Avx512
}

/// Whether several rows of `len` elements of `size` bytes share a vector where they follow one another.
pub fn share(size: usize, len: usize) -> bool {
    few::serves(len) || padded::serves(size, len)
}

/// Whether rows are faster in batches where both ends of the order are wanted, and no place: nothing is read twice then.
pub fn pay_at_both_ends(size: usize, rows: usize, len: usize) -> bool {
    size <= 2
        && rows >= ROWS
        && (1024..4097).contains(&(len * size))
        && InstructionSet::current() == InstructionSet::Avx512
}

/// Whether blocks of so many rows of so many columns of `size` bytes are read down their columns, vectors of rows at a time.
/// What brings bytes together is no part of the instruction set.
pub fn pay_down(size: usize, rows: usize, columns: usize) -> bool {
    rows >= 2
        && (size > 2 || rows <= 1 << (8 * size))
        && (2..128).contains(&columns)
        && InstructionSet::current() == InstructionSet::Avx512
        && (size > 1 || avx512_vbmi::is_available())
}

/// Evaluates an expression with a name bound to the kind of an element type. To reverse the order, all bits of integers are
/// flipped, or the sign of floats.
macro_rules! with_kind {
    ($element:expr, $largest:expr, $numbers:expr, $kind:ident => $body:expr) => {{
        let (all, sign) = if $largest { (0, 0) } else { (-1, i64::MIN) };
        match $element {
            ElementType::Bool => with_kind!(@ $kind, Bools { xor_mask: all as i8 }, $body),
            ElementType::Int8 => with_kind!(@ $kind, Bytes { xor_mask: all as i8 }, $body),
            ElementType::UInt8 => with_kind!(@ $kind, Bytes { xor_mask: all as i8 ^ i8::MIN }, $body),
            ElementType::Int16 => with_kind!(@ $kind, Words { xor_mask: all as i16 }, $body),
            ElementType::UInt16 => with_kind!(@ $kind, Words { xor_mask: all as i16 ^ i16::MIN }, $body),
            ElementType::Int32 => with_kind!(@ $kind, Longs { xor_mask: all as i32 }, $body),
            ElementType::UInt32 => with_kind!(@ $kind, Longs { xor_mask: all as i32 ^ i32::MIN }, $body),
            ElementType::Int64 => with_kind!(@ $kind, Quads { xor_mask: all }, $body),
            ElementType::UInt64 => with_kind!(@ $kind, Quads { xor_mask: all ^ i64::MIN }, $body),
            ElementType::Float16 => {
                with_kind!(@ $kind, Float16Bits::new(0x7c00, (sign >> 48) as i16, $numbers), $body)
            }
            ElementType::BFloat16 => {
                with_kind!(@ $kind, Float16Bits::new(0x7f80, (sign >> 48) as i16, $numbers), $body)
            }
            ElementType::Float32 => with_kind!(@ $kind, Singles { xor_mask: (sign >> 32) as i32 }, $body),
            ElementType::Float64 => with_kind!(@ $kind, Doubles { xor_mask: sign }, $body),
        }
    }};
    (@ $kind:ident, $value:expr, $body:expr) => {{
        let $kind = $value;
        $body
    }};
}

/// The same, NaN being passed over where `numbers`.
macro_rules! with_any_kind {
    ($of:expr, $kind:ident => $body:expr) => {{
        let sign = if $of.largest { 0 } else { i64::MIN };
        match $of.element {
            ElementType::Float32 if $of.numbers => {
                with_kind!(@ $kind, Numbers(Singles { xor_mask: (sign >> 32) as i32 }), $body)
            }
            ElementType::Float64 if $of.numbers => with_kind!(@ $kind, Numbers(Doubles { xor_mask: sign }), $body),
            element => with_kind!(element, $of.largest, $of.numbers, $kind => $body),
        }
    }};
}

impl Periods {
    /// Returns the number of blocks done: there is NaN in the one that follows them.
    ///
    /// # Safety
    /// To read them so [pays](pay_down), and there are as many as there are said to be, with room for as many results.
    pub unsafe fn run(&self) -> usize {
        debug_assert!(self.blocks * self.columns <= COLUMNS);
        // SAFETY: the caller's.
        with_any_kind!(self, kind => unsafe { self.by(kind) })
    }
}

impl Batches {
    /// Returns the number of rows done: in the batch that follows them there is NaN, or they are fewer than a batch.
    ///
    /// # Safety
    /// AVX-512 is in force, and there are as many rows and as many results as there are said to be.
    pub unsafe fn run(&self) -> usize {
        let (masked, both) = (!self.lines.mask.is_null(), !self.other.is_null());
        // SAFETY: the caller's.
        unsafe {
            match (masked, both, self.numbers) {
                (false, false, _) => with_any_kind!(self, kind => self.by(kind)),
                (true, false, false) => with_kind!(self.element, self.largest, false, kind => self.masked(kind)),
                (false, true, false) => with_kind!(self.element, self.largest, false, kind => self.both(kind)),
                _ => unreachable!("rows under a mask, for both ends of the order or without NaN: two of these at once"),
            }
        }
    }

    /// Notes of the rows of a batch, a bit each, in which an element takes part for sure, and in which that is unknown.
    ///
    /// # Safety
    /// AVX-512 is in force, and there are such rows.
    #[inline(always)]
    pub unsafe fn note(&self, start: usize, there: u64, unknown: u64) {
        // SAFETY: the caller's; there is room for what is written for rows beyond the batch.
        unsafe {
            let others = _mm_maskz_set1_epi8(unknown as u16, UNKNOWN as i8);
            let notes = _mm_or_si128(_mm_movm_epi8(there as u16), others);
            _mm_storeu_epi8(self.to.notes.add(start).cast(), notes);
        }
    }

    /// Whether places alone are wanted.
    pub fn places_alone(&self) -> bool {
        self.to.values.is_null() && self.to.notes.is_null()
    }

    /// Whether values alone are wanted.
    fn values_alone(&self) -> bool {
        self.to.index.is_null() && self.to.notes.is_null()
    }

    /// Whether the rows are padded. (Values alone of wider ones are combined faster in pairs.)
    fn are_padded(&self) -> bool {
        let size = self.element.size();
        self.follow()
            && self.rows >= spread::ROWS
            && padded::serves(size, self.len)
            && (size <= 2 || !self.values_alone())
    }

    /// Whether they are where values alone are wanted.
    fn values_are_padded(&self) -> bool {
        self.follow() && padded_values::serves(self.element.size(), self.rows, self.len)
    }

    /// Does the batches one after the other, the way that is fastest for their rows.
    ///
    /// # Safety
    /// As for [`Batches::run`].
    unsafe fn by<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match () {
                () if K::SIZE <= 2 && self.values_alone() && self.values_are_padded() => self.padded_values(kind),
                () if K::SIZE <= 4 && self.are_padded() => self.padded(kind),
                () if self.rows < K::ROWS => 0,
                () if self.follow() && few::serves(self.len) => self.few(kind),
                () if self.values_alone() && self.len > K::LANES => {
                    let done = self.values_in_chunks(kind);
                    if done == self.rows {
                        return done;
                    }
                    // Where one element is not told by its lane, others will not be: what is left is read with places.
                    let done = done.min(self.rows - K::ROWS);
                    let (lines, to) = (self.lines.from(done as isize), self.to.from(done, K::SIZE));
                    done + Self { lines, rows: self.rows - done, to, ..*self }.in_chunks(kind)
                }
                () => self.in_chunks(kind),
            }
        }
    }

    /// The same of rows under a mask.
    ///
    /// # Safety
    /// As for [`Batches::run`].
    unsafe fn masked<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match () {
                () if K::SIZE <= 2 && self.are_padded() => self.padded_under_mask(kind),
                () if self.rows < K::ROWS => 0,
                () if self.follow() && few::serves(self.len) => self.few_under_mask(kind),
                () => self.in_chunks_under_mask(kind),
            }
        }
    }

    /// The same at both ends.
    ///
    /// # Safety
    /// As for [`Batches::run`], where both ends are wanted.
    unsafe fn both<K: Kind>(&self, kind: K) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match () {
                () if K::SIZE <= 2 && self.values_are_padded() => self.padded_values(kind),
                () if self.rows < K::ROWS => 0,
                () if self.follow() && few::serves(self.len) => self.few_at_both_ends(kind),
                () => self.in_chunks_at_both_ends(kind),
            }
        }
    }
}
