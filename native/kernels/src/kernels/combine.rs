//! The one associative combine on (key, index): what joins blocks, threads and chunks.
//!
//! It looks at keys and row-major indices alone, never at the order of arrival.

use crate::element::compare::Lane;
use crate::element::order::Order;
use crate::isa::Task;
use std::marker::PhantomData;

/// Combines the results of one block with those so far, position by position.
pub struct Combine<K, O> {
    /// Number of positions.
    pub len: usize,
    /// The keys so far.
    pub keys: *mut K,
    /// Their row-major indices.
    pub index: *mut i64,
    /// The keys of the block.
    pub block_keys: *const K,
    /// Their row-major indices.
    pub block_index: *const i64,
    /// Whether the last of equals wins.
    pub last: bool,
    /// The order.
    pub order: PhantomData<O>,
}

impl<K: Lane + Ord, O: Order> Task for Combine<K, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.keys.is_aligned() && self.block_keys.is_aligned());
        for at in 0..self.len {
            // SAFETY: the caller vouches for `len` positions in each array.
            unsafe {
                let (key, index) = (*self.block_keys.add(at), *self.block_index.add(at));
                let (champion, place) = (*self.keys.add(at), *self.index.add(at));
                let earlier = if self.last { index > place } else { index < place };
                let wins = O::better(key, champion) || (key == champion && earlier);
                *self.keys.add(at) = if wins { key } else { champion };
                *self.index.add(at) = if wins { index } else { place };
            }
        }
    }
}
