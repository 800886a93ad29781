//! Where a kernel writes what it has found.

use std::ptr;

/// Memory for the results of a block, one after the other; null where they are not wanted.
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    /// Receives the key of each extremum.
    pub keys: *mut u8,
    /// Receives the element itself. Alignment is not needed.
    pub values: *mut u8,
    /// Receives its place along the reduced axis. Alignment is not needed.
    pub index: *mut i64,
}

impl Outputs {
    /// Nothing is wanted.
    pub const NOTHING: Self = Self { keys: ptr::null_mut(), values: ptr::null_mut(), index: ptr::null_mut() };

    /// Memory for the results from a position on, of elements of `size` bytes.
    #[inline(always)]
    pub fn from(self, position: usize, size: usize) -> Self {
        let at = |start: *mut u8| if start.is_null() { start } else { start.wrapping_add(position * size) };
        let index = if self.index.is_null() { self.index } else { self.index.wrapping_add(position) };
        Self { keys: at(self.keys), values: at(self.values), index }
    }
}
