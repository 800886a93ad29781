//! The results of a tile, or of one block of it.

use crate::element::compare::Key;
use crate::element::with_element_and_order;
use crate::isa::dispatch;
use crate::kernels::cache_line::Aligned;
use crate::kernels::combine::Combine;
use crate::kernels::descent::TILE;
use crate::kernels::outputs::Outputs;
use crate::operations::input::Input;
use crate::operations::plan::POSITIONS;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// A key and an index for every position of a tile.
pub struct Results {
    keys: Aligned<[MaybeUninit<u64>; TILE / 8]>,
    index: Aligned<[MaybeUninit<i64>; POSITIONS]>,
}

impl Results {
    pub const fn new() -> Self {
        Self {
            keys: Aligned([const { MaybeUninit::uninit() }; TILE / 8]),
            index: Aligned([const { MaybeUninit::uninit() }; POSITIONS]),
        }
    }

    /// Takes over the first `len` results of `other`, whose keys have `size` bytes.
    pub fn copy(&mut self, other: &Self, len: usize, size: usize) {
        self.keys.0[..(len * size).div_ceil(8)].copy_from_slice(&other.keys.0[..(len * size).div_ceil(8)]);
        self.index.0[..len].copy_from_slice(&other.index.0[..len]);
    }

    /// Where the keys and the indices are. Both at once, because to ask again ends what was asked before.
    pub fn pointers(&mut self) -> (*mut u8, *mut i64) {
        (self.keys.0.as_mut_ptr().cast(), self.index.0.as_mut_ptr().cast())
    }

    /// Where the keys and the indices of several results go.
    pub fn outputs<const N: usize>(all: &mut [Self; N]) -> [Outputs; N] {
        all.each_mut().map(|results| {
            let (keys, index) = results.pointers();
            Outputs { keys, values: ptr::null_mut(), index }
        })
    }

    /// The first `len` indices.
    ///
    /// # Safety
    /// They have been written.
    pub unsafe fn index_slice(&mut self, len: usize) -> &mut [i64] {
        debug_assert!(len <= POSITIONS);
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.index.0.as_mut_ptr().cast(), len) }
    }
    /// Combines the first `len` results with those of `other` from position `from` on, the last of equals winning where
    /// `last`.
    ///
    /// # Safety
    /// Both have `len` results there, of elements of the input.
    pub unsafe fn combine(&mut self, len: usize, other: &mut Self, from: usize, input: &Input, last: bool) {
        debug_assert!(from + len <= POSITIONS);
        let ((keys, index), (block_keys, block_index)) = (self.pointers(), other.pointers());
        // SAFETY: the caller's promise.
        with_element_and_order!(input.element, input.largest, E, O => unsafe { dispatch(Combine::<Key<E>, O> {
            len,
            keys: keys.cast(),
            index,
            block_keys: block_keys.cast::<Key<E>>().wrapping_add(from),
            block_index: block_index.wrapping_add(from),
            last,
            order: PhantomData,
        }) })
    }
}
