//! The results of a tile, or of one block of it.

use crate::element::compare::{Key, utmost};
use crate::element::with_element_and_order;
use crate::isa::dispatch;
use crate::kernels::cache_line::Aligned;
use crate::kernels::columns::TILE;
use crate::kernels::combine::Combine;
use crate::kernels::outputs::Outputs;
use crate::operations::input::Input;
use crate::operations::plan::POSITIONS;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

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
            Outputs { keys, index, ..Outputs::NOTHING }
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

    /// Whether no key beats the first, of an element of the input.
    ///
    /// # Safety
    /// It has been written.
    pub unsafe fn is_utmost(&mut self, input: &Input) -> bool {
        let keys = self.pointers().0;
        // SAFETY: the caller's promise.
        with_element_and_order!(input.element, input.largest, E, O => unsafe { *keys.cast::<Key<E>>() == utmost::<O, _>() })
    }

    /// Combines the first `len` results with those of `other` from position `from` on, the last of equals winning where
    /// `last`.
    ///
    /// # Safety
    /// Both have `len` results there, of elements of the input.
    pub unsafe fn combine(&mut self, len: usize, other: &mut Self, from: usize, input: &Input, last: bool) {
        debug_assert!(from + len <= POSITIONS);
        let (keys, index) = other.pointers();
        let size = input.element.size();
        // SAFETY: the caller's promise.
        unsafe { self.combine_with(len, keys.wrapping_add(from * size), index.wrapping_add(from), input, last) }
    }

    /// # Safety
    /// As for [`combine`](Self::combine), of keys and indices that lie somewhere else.
    unsafe fn combine_with(
        &mut self,
        len: usize,
        block_keys: *const u8,
        block_index: *const i64,
        input: &Input,
        last: bool,
    ) {
        let (keys, index) = self.pointers();
        // SAFETY: the caller's promise.
        with_element_and_order!(input.element, input.largest, E, O => unsafe { dispatch(Combine::<Key<E>, O> {
            len,
            keys: keys.cast(),
            index,
            block_keys: block_keys.cast(),
            block_index,
            last,
            order: PhantomData,
        }) })
    }
}

/// The results of a part of a tile, in no more memory than they need: to make all of [`Results`] for each task takes longer
/// than to read a hundred kilobytes.
pub struct Partial {
    keys: Vec<u64>,
    index: Vec<i64>,
}

impl Partial {
    /// The first `len` of some results, whose keys have `size` bytes.
    ///
    /// # Safety
    /// They have been written.
    pub unsafe fn of(results: &mut Results, len: usize, size: usize) -> Self {
        let (from, words) = (results.pointers().0, (len * size).div_ceil(8));
        let mut keys = vec![0; words];
        // SAFETY: the caller's promise.
        unsafe {
            from.copy_to_nonoverlapping(keys.as_mut_ptr().cast(), len * size);
            Self { keys, index: results.index_slice(len).to_vec() }
        }
    }

    /// Combines them with those of a tile, the last of equals winning where `last`.
    ///
    /// # Safety
    /// They are as many as the tile has, of elements of the input.
    pub unsafe fn combine_into(&self, total: &mut Results, input: &Input) {
        // SAFETY: the caller's promise.
        unsafe {
            total.combine_with(self.index.len(), self.keys.as_ptr().cast(), self.index.as_ptr(), input, input.last);
        }
    }

    /// Puts them where a tile's go.
    pub fn copy_into(&self, total: &mut Results) {
        let (keys, index) = total.pointers();
        // SAFETY: a tile has room for them.
        unsafe {
            keys.copy_from_nonoverlapping(self.keys.as_ptr().cast(), self.keys.len() * 8);
            index.copy_from_nonoverlapping(self.index.as_ptr(), self.index.len());
        }
    }
}
