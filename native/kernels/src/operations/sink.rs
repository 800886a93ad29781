//! Where the results of a reduction go, and how those of blocks become those of a tile.

use crate::element::compare::{HasLane, Key, Lane, utmost};
use crate::element::order::Order;
use crate::element::rank::Extreme;
use crate::element::{with_element_and_extreme, with_element_and_order};
use crate::isa::{Task, dispatch};
use crate::kernels::lanes::{LINE, Outputs, Scratch};
use crate::kernels::streaming::copy_past_caches;
use crate::layout::{ReductionAxis, ReductionOffsets};
use crate::operations::input::Input;
use std::marker::PhantomData;
use std::ptr;

/// Where finished tiles go.
pub trait Sink {
    /// Bytes moved for each byte of the input, where results are as large as the input.
    const TRAFFIC: usize = 1;

    /// What the sink has to know about each position, if this is what an index of -1 says.
    #[inline]
    fn wants(&self, _minus_one: MinusOne) -> Wants {
        Wants { values: false, index: true, always_called: false }
    }

    /// The output itself, as far as the results of a tile may be written directly to it.
    #[inline]
    fn direct_output(&self, _at: ReductionOffsets, _axis: &ReductionAxis) -> Direct {
        Direct::NOTHING
    }

    /// Takes a tile that starts at `at` and runs along `axis`; not called where all of it has gone to the output,
    /// unless the sink wants to see it.
    ///
    /// # Safety
    /// The tile holds what the sink [wants](Self::wants) for each of its positions, and lies in the layout of the reduction that
    /// the sink was made for.
    unsafe fn take(&self, at: ReductionOffsets, axis: &ReductionAxis, tile: Tile);
}

/// Places in the output itself, for the results of a tile; null where they have another layout or type.
#[derive(Clone, Copy, Debug)]
pub struct Direct {
    pub values: *mut u8,
    pub index: *mut i64,
}

impl Direct {
    pub const NOTHING: Self = Self { values: ptr::null_mut(), index: ptr::null_mut() };

    /// Whether there is a place for all that a sink wants, so that it need not take the tile.
    #[inline]
    pub fn has(self, wants: Wants) -> bool {
        let has_values = !wants.values || !self.values.is_null();
        let has_index = !wants.index || !self.index.is_null();
        has_values && has_index && !wants.always_called
    }
}

/// What a sink has to know about each position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// The elements that were found.
    pub values: bool,
    /// Where they lie.
    pub index: bool,
    /// Whether each tile has to be seen, even where all of it has gone to the output.
    pub always_called: bool,
}

/// What an index of -1 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MinusOne {
    /// Nothing: the kernel has ignored what is skipped, and an index may be that of a skipped element.
    Unused,
    /// No element of the slice takes part.
    Empty,
    /// No element of the slice takes part, or each that does equals the identity.
    EmptyOrIdentity,
}

/// The results of a tile, one for each position. They may lie in the output itself.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    pub len: usize,
    /// The row-major indices; null where they are not wanted.
    pub index: *mut i64,
    /// The elements, their bytes in this machine's order; null where they have to be fetched.
    pub values: *const u8,
    /// Whether zeros and NaN among the values may be others than those that were found, and infinities may stand for NaN: these have to
    /// be fetched.
    pub has_any_equals: bool,
    /// What an index of -1 says.
    pub minus_one: MinusOne,
}

impl Tile {
    /// The first `len` results, whose elements have `size` bytes.
    ///
    /// # Safety
    /// There are as many, written as far as they are wanted.
    #[inline(always)]
    pub unsafe fn of(results: Outputs, len: usize, size: usize, minus_one: MinusOne) -> Self {
        // SAFETY: the caller's promise.
        unsafe {
            let index = results.places_of(len).address().cast();
            let values = results.values_of(len, size).address();
            Self { len, index, values, has_any_equals: false, minus_one }
        }
    }

    /// Where the index of a position stands.
    ///
    /// # Safety
    /// Indices were wanted, and the tile has this position.
    #[inline(always)]
    unsafe fn place_of(&self, position: usize) -> *mut i64 {
        debug_assert!(position < self.len && !self.index.is_null(), "no index at {position} of {self:?}");
        // SAFETY: the caller's promise.
        unsafe { self.index.add(position) }
    }

    /// The index of a position.
    ///
    /// # Safety
    /// Indices were wanted, and the tile has this position.
    #[inline(always)]
    pub unsafe fn index(&self, position: usize) -> i64 {
        // SAFETY: the caller's promise; the output need not be aligned.
        unsafe { self.place_of(position).read_unaligned() }
    }

    /// Sets the index of a position.
    ///
    /// # Safety
    /// Indices were wanted, and the tile has this position.
    #[inline(always)]
    pub unsafe fn set_index(&self, position: usize, index: i64) {
        // SAFETY: the caller's promise; the output need not be aligned.
        unsafe { self.place_of(position).write_unaligned(index) }
    }

    /// The number of positions whose index is -1.
    ///
    /// # Safety
    /// Indices were wanted.
    pub unsafe fn empty_slices(&self) -> usize {
        // The sign bit of an index is set for -1 alone.
        // SAFETY: the caller's promise.
        let is_empty = |position| unsafe { self.index(position) } as u64 >> 63;
        (0..self.len).fold(0, |empty_slices, position| empty_slices + is_empty(position)) as usize
    }
}

/// Memory for a key, or an element, and an index for every position of a tile.
pub struct Results {
    memory: Scratch,
    len: usize,
    size: usize,
}

impl Results {
    /// Memory for `len` positions, of keys of `size` bytes.
    pub fn new(len: usize, size: usize) -> Self {
        Self { memory: Scratch::default(), len, size }
    }

    pub fn outputs(&mut self) -> Outputs {
        let (keys, index) = self.reserve();
        // SAFETY: the memory has that much room.
        unsafe { Outputs::new(keys, ptr::null_mut(), index, self.len) }
    }

    /// Memory for keys, then for indices.
    #[inline(always)]
    fn reserve(&mut self) -> (*mut u8, *mut i64) {
        let keys = (self.len * self.size).next_multiple_of(LINE);
        let memory = self.memory.reserve(keys + self.len * size_of::<i64>());
        (memory, memory.wrapping_add(keys).cast())
    }

    /// Where the `len` results of a tile go, as far as they are wanted: directly to the output, or else to this memory, also where
    /// they are copied `past_caches` afterwards.
    ///
    /// # Safety
    /// The output has room for the tile where it is written directly.
    #[inline]
    pub unsafe fn with(&mut self, direct: Direct, wants: Wants, len: usize, past_caches: bool) -> Place {
        let mut values = if wants.values { direct.values } else { ptr::null_mut() };
        let mut index = if wants.index { direct.index } else { ptr::null_mut() };
        let own_values = wants.values && values.is_null();
        let own_index = wants.index && index.is_null();
        let takes = !direct.has(wants);
        let copied = past_caches && !takes;
        let later = if copied { Direct { values, index } } else { Direct::NOTHING };
        if own_values || own_index || copied {
            debug_assert!(len <= self.len, "{len} results, and memory for {}", self.len);
            // Elements take the memory of keys, which are not wanted.
            let memory = self.reserve();
            values = if own_values || !later.values.is_null() { memory.0 } else { values };
            index = if own_index || !later.index.is_null() { memory.1 } else { index };
        }
        // SAFETY: the caller's promise, and the assertion.
        let to = unsafe { Outputs::new(ptr::null_mut(), values, index, len) };
        Place { to, takes, later }
    }
}

/// Where the results of a tile go.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Where a kernel writes them.
    pub to: Outputs,
    /// Whether the sink takes the tile.
    pub takes: bool,
    /// Where in the output they are copied to, past the caches.
    later: Direct,
}

impl Place {
    /// Copies the first `len` results to the output past the caches, unless they are there already.
    ///
    /// # Safety
    /// As many have been written, of elements of `size` bytes.
    #[inline]
    pub unsafe fn copy_past_caches(&self, len: usize, size: usize) {
        let Direct { values, index } = self.later;
        // SAFETY: the caller's promise; the output has room for the tile.
        unsafe {
            if !values.is_null() {
                copy_past_caches(self.to.values_of(len, size).address(), values, len * size);
            }
            if !index.is_null() {
                copy_past_caches(self.to.places_of(len).address(), index.cast(), len * size_of::<i64>());
            }
        }
    }
}

/// Combines the first `len` results with those of a block; where `last`, the last of equal elements wins.
///
/// # Safety
/// Both have `len` keys of the input's type and `len` indices, all of them written.
pub unsafe fn combine(len: usize, so_far: Outputs, block: Outputs, input: &Input, last: bool) {
    with_element_and_order!(input.element, input.largest, E, O => {
        // SAFETY: the caller's promise.
        unsafe {
            dispatch(Combine::<Key<E>, O> {
                len,
                keys: so_far.keys_of::<Key<E>>(len).address().cast(),
                index: so_far.places_of(len).address().cast(),
                block_keys: block.keys_of::<Key<E>>(len).address().cast(),
                block_index: block.places_of(len).address().cast(),
                last,
                order: PhantomData,
            })
        }
    })
}

/// Turns the first `len` keys into elements that have them, in the same memory. A zero or a NaN may be another than the one that was
/// found, and a NaN of 16 bits becomes an infinity.
///
/// # Safety
/// There are `len` keys of the input's type, all of them written.
pub unsafe fn elements_of_keys(len: usize, results: Outputs, input: &Input) {
    // The keys of 16-bit floats depend on where NaN stands.
    let extreme = Extreme { largest: input.largest, omit: input.ignores_nan() };
    with_element_and_extreme!(input.element, extreme, E, O => {
        // SAFETY: the caller's promise.
        let keys = unsafe { results.keys_of::<Key<E>>(len) };
        // SAFETY: as above.
        unsafe { dispatch(ElementsOfKeys::<E, O> { len, keys: keys.address().cast(), order: PhantomData }) }
    })
}

struct ElementsOfKeys<E: HasLane, O> {
    len: usize,
    keys: *mut Key<E>,
    order: PhantomData<O>,
}

impl<E: HasLane, O: Order> Task for ElementsOfKeys<E, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.keys.is_aligned() && size_of::<E::Ordered>() == size_of::<Key<E>>());
        for at in 0..self.len {
            let key = self.keys.wrapping_add(at);
            // SAFETY: there are as many keys, as `elements_of_keys` was promised; an element has the size of its key.
            unsafe { key.cast::<E::Ordered>().write_unaligned(E::Ordered::from_lane::<O>(*key).0) };
        }
    }
}

/// Whether no key beats any of the first `len` results.
///
/// # Safety
/// There are `len` keys of the input's type, all of them written.
pub unsafe fn are_utmost(len: usize, results: Outputs, input: &Input) -> bool {
    with_element_and_order!(input.element, input.largest, E, O => {
        // SAFETY: the caller's promise.
        let keys = unsafe { results.keys_of::<Key<E>>(len) };
        // SAFETY: the caller's promise.
        (0..len).all(|at| unsafe { *keys.element::<Key<E>>(at) } == utmost::<O, _>())
    })
}

/// The only combination of (key, index), which is associative: it joins blocks, threads and chunks. It looks only at keys and
/// row-major indices, never at the order of arrival.
struct Combine<K, O> {
    len: usize,
    keys: *mut K,
    index: *mut i64,
    block_keys: *const K,
    block_index: *const i64,
    last: bool,
    order: PhantomData<O>,
}

impl<K: Lane + Ord, O: Order> Task for Combine<K, O> {
    type Output = ();
    #[inline(always)]
    unsafe fn run(self) {
        debug_assert!(self.keys.is_aligned() && self.block_keys.is_aligned());
        debug_assert!(self.index.is_aligned() && self.block_index.is_aligned());
        for at in 0..self.len {
            // SAFETY: both have as many results, as `combine` was promised.
            let [key, champion] = unsafe { [*self.block_keys.add(at), *self.keys.add(at)] };
            // SAFETY: as above.
            let [index, place] = unsafe { [*self.block_index.add(at), *self.index.add(at)] };
            // Without a branch, so that the compiler vectorises the loop: with `||` it stores keys of 8 and 16 bits under a condition, lane
            // by lane (85 blocks of (1024, 3) of them took 1.7 to 2 times as long: AVX2, Xeon, family 6, model 167).
            let earlier = if self.last { index > place } else { index < place };
            let wins = O::better(key, champion) | ((key == champion) & earlier);
            // SAFETY: as above.
            unsafe {
                *self.keys.add(at) = if wins { key } else { champion };
                *self.index.add(at) = if wins { index } else { place };
            }
        }
    }
}
