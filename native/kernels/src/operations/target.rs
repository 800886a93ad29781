//! Where the results of a reduction go.

use crate::element::{ElementType, IndexType};

/// One end of the order, and where its results go: in row-major order of the dimensions that are kept.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Whether the largest is wanted, or the smallest.
    pub largest: bool,
    /// Receives the elements, their bytes in this machine's order; may be null.
    pub values: *mut u8,
    /// Receives the row-major indices, -1 where no element takes part; may be null.
    pub indices: *mut u8,
    /// The type of the indices.
    pub index: IndexType,
}

impl Target {
    /// Says of all results that no element takes part.
    ///
    /// # Safety
    /// There is room for as many results.
    pub unsafe fn leave(&self, results: usize, element: ElementType) {
        // SAFETY: the caller's; all bits set is -1 in every type of index.
        unsafe {
            if !self.indices.is_null() {
                self.indices.write_bytes(0xff, results * self.index.size());
            }
            if !self.values.is_null() {
                let loser = element.loser(self.largest);
                (0..results as isize).for_each(|position| self.write_value(position, loser, element.size()));
            }
        }
    }

    /// Writes the bits of an element.
    ///
    /// # Safety
    /// There is room for it.
    #[inline]
    pub unsafe fn write_value(&self, position: isize, bits: u64, size: usize) {
        let values = self.values;
        // SAFETY: the caller's; NumPy aligns what it allocates, but nothing here needs it.
        unsafe {
            match size {
                1 => values.wrapping_offset(position).write(bits as u8),
                2 => values.cast::<u16>().wrapping_offset(position).write_unaligned(bits as u16),
                4 => values.cast::<u32>().wrapping_offset(position).write_unaligned(bits as u32),
                _ => values.cast::<u64>().wrapping_offset(position).write_unaligned(bits),
            }
        }
    }
}
