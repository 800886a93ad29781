//! Where a kernel reads lanes, from plain memory or under a mask, and where it writes its results.

use crate::element::compare::{HasLane, Key, Lane, worst};
use crate::element::order::Order;
use crate::vector::extent::{Readable, Writable};
use std::marker::PhantomData;

/// Bytes of a cache line: the unit that the processor moves between memory and its caches.
pub const LINE: usize = 64;

/// A value that begins at a cache line.
///
/// Otherwise scratch memory on the stack would begin at a different place of a line in each process. A vector that straddles two
/// lines takes twice as long, and a load of what such a store has just written takes longer still: the same kernel was measured
/// up to 15 % slower or faster from one process to the next.
#[repr(align(64))]
pub struct Aligned<T>(pub T);

const _: () = assert!(align_of::<Aligned<u8>>() == LINE);

/// Prefetches `BYTES` bytes at `from`, which will be read after a pause; any address is allowed. It does nothing on architectures
/// without a stable intrinsic for it.
#[inline(always)]
pub fn prefetch<const BYTES: usize>(from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..BYTES).step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// Prefetches `bytes` bytes of each of some rows; any address is allowed.
#[inline(always)]
pub fn prefetch_rows(from: *const u8, stride: isize, rows: usize, bytes: usize) {
    for row in 0..rows {
        let from = from.wrapping_offset(stride * row as isize);
        for line in (0..bytes).step_by(LINE) {
            prefetch::<LINE>(from.wrapping_add(line));
        }
    }
}

/// Contiguous elements, of any alignment.
pub trait Source: Copy {
    /// The element type.
    type Element: HasLane;
    /// The same memory, read as other elements of the same layout.
    type As<F: HasLane>: Source<Element = F>;
    /// Whether there is a mask.
    const MASKED: bool;
    /// Takes the first element and its byte in the mask, if there is a mask.
    fn new(data: Readable, mask: Readable) -> Self;
    /// The lane of the element at `at`: the worst lane if the element is masked out.
    ///
    /// # Safety
    /// The element and its byte in the mask may be read.
    unsafe fn lane<O: Order>(self, at: usize) -> <Self::Element as HasLane>::Lane;
    /// The same lane, but that of a NaN that loses: see [`HasLane::lane_or_nan`].
    ///
    /// # Safety
    /// As for [`lane`](Self::lane).
    #[inline(always)]
    unsafe fn lane_or_nan<O: Order>(self, at: usize) -> <Self::Element as HasLane>::Lane {
        // SAFETY: the caller's promise.
        unsafe { self.lane::<O>(at) }
    }
    /// The element at `at`, as a result has it: the identity if this one is masked out.
    ///
    /// # Safety
    /// As for [`lane`](Self::lane).
    unsafe fn element<O: Order>(self, at: usize) -> Self::Element;
    /// The elements after the first `elements`.
    fn skip(self, elements: usize) -> Self;
    /// The elements without their mask.
    fn plain(self) -> Plain<Self::Element>;
    /// Prefetches elements from `from` on, with their mask if there is one.
    fn prefetch(self, from: usize, elements: usize);
}

/// The lane of the elements of a source.
pub type LaneOf<S> = <<S as Source>::Element as HasLane>::Lane;

/// An index as wide as such a lane.
pub type IndexOf<S> = <LaneOf<S> as Lane>::Index;

/// Elements without a mask.
#[derive(Clone, Copy)]
pub struct Plain<E> {
    data: Readable,
    element: PhantomData<E>,
}

impl<E: Copy> Plain<E> {
    /// The address of the first element.
    #[inline(always)]
    pub fn address(self) -> *const u8 {
        self.data.address()
    }

    /// The same memory, read as other elements of the same layout.
    #[inline(always)]
    pub fn cast<F>(self) -> Plain<F> {
        Plain { data: self.data, element: PhantomData }
    }

    /// The element at `at`.
    ///
    /// # Safety
    /// The element may be read.
    #[inline(always)]
    pub unsafe fn get(self, at: usize) -> E {
        // SAFETY: the caller's promise; alignment is not needed.
        unsafe { self.data.element::<E>(at).read_unaligned() }
    }
}

impl<E: HasLane> Source for Plain<E> {
    type Element = E;
    type As<F: HasLane> = Plain<F>;
    const MASKED: bool = false;
    #[inline(always)]
    fn new(data: Readable, _: Readable) -> Self {
        Self { data, element: PhantomData }
    }
    #[inline(always)]
    unsafe fn lane<O: Order>(self, at: usize) -> E::Lane {
        // SAFETY: the caller's promise.
        unsafe { self.get(at) }.lane::<O>()
    }
    #[inline(always)]
    unsafe fn lane_or_nan<O: Order>(self, at: usize) -> E::Lane {
        // SAFETY: the caller's promise.
        unsafe { self.get(at) }.lane_or_nan::<O>()
    }
    #[inline(always)]
    unsafe fn element<O: Order>(self, at: usize) -> E {
        // SAFETY: the caller's promise.
        unsafe { self.get(at) }.as_result()
    }
    #[inline(always)]
    fn skip(self, elements: usize) -> Self {
        Self { data: self.data.wrapping_add(elements * size_of::<E>()), ..self }
    }
    #[inline(always)]
    fn plain(self) -> Self {
        self
    }
    #[inline(always)]
    fn prefetch(self, from: usize, elements: usize) {
        prefetch_rows(self.skip(from).data.address(), 0, 1, elements * size_of::<E>());
    }
}

/// Elements under a mask: an element whose byte is 0 is skipped.
#[derive(Clone, Copy)]
pub struct Masked<E> {
    data: Plain<E>,
    mask: Readable,
}

impl<E: HasLane> Source for Masked<E> {
    type Element = E;
    type As<F: HasLane> = Masked<F>;
    const MASKED: bool = true;
    #[inline(always)]
    fn new(data: Readable, mask: Readable) -> Self {
        Self { data: Plain::new(data, mask), mask }
    }
    #[inline(always)]
    unsafe fn lane<O: Order>(self, at: usize) -> E::Lane {
        // SAFETY: the caller's promise. The element is read first, so that no branch is needed to skip the read.
        unsafe {
            let lane = self.data.lane::<O>(at);
            if *self.mask.element::<u8>(at) != 0 { lane } else { worst::<O, _>() }
        }
    }
    #[inline(always)]
    unsafe fn element<O: Order>(self, at: usize) -> E {
        // SAFETY: the caller's promise.
        unsafe {
            match *self.mask.element::<u8>(at) {
                0 => E::from_lane::<O>(worst::<O, _>()).0,
                _ => self.data.element::<O>(at),
            }
        }
    }
    #[inline(always)]
    fn skip(self, elements: usize) -> Self {
        Self { data: self.data.skip(elements), mask: self.mask.wrapping_add(elements) }
    }
    #[inline(always)]
    fn plain(self) -> Plain<E> {
        self.data
    }
    #[inline(always)]
    fn prefetch(self, from: usize, elements: usize) {
        self.data.prefetch(from, elements);
        prefetch_rows(self.mask.address().wrapping_add(from), 0, 1, elements);
    }
}

/// Lines of contiguous elements, with the lines of their mask, if there is one. Both pointers know these lines.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// The first element of the first line.
    pub data: Readable,
    /// Bytes from one line to the next.
    pub stride: isize,
    /// The byte of the first element in the mask, 0 where an element is skipped; null without a mask.
    pub mask: Readable,
    /// Bytes from one line of the mask to the next.
    pub mask_stride: isize,
}

impl Lines {
    /// `lines` lines of `bytes` bytes without a mask.
    ///
    /// # Safety
    /// All of them may be read for as long as the lines are used.
    #[inline(always)]
    pub unsafe fn plain(data: *const u8, stride: isize, lines: usize, bytes: usize) -> Self {
        // SAFETY: the caller's promise.
        let data = unsafe { Readable::lines(data, stride, lines, bytes) };
        Self { data, stride, mask: Readable::none(), mask_stride: 0 }
    }

    /// Stops a test unless `lines` lines of `len` elements of type `E` are all there, with their mask; without debug assertions it
    /// does nothing. A kernel begins with it: this is the condition under which it may be called.
    #[inline(always)]
    #[track_caller]
    pub fn debug_assert_there<E>(self, lines: usize, len: usize) {
        self.data.debug_assert_lines(self.stride, lines, len * size_of::<E>());
        if !self.mask.is_null() {
            self.mask.debug_assert_lines(self.mask_stride, lines, len);
        }
    }

    /// The lines from number `line` on.
    #[inline(always)]
    pub fn from(self, line: isize) -> Self {
        let data = self.data.wrapping_offset(self.stride * line);
        Self { data, mask: self.mask.wrapping_offset(self.mask_stride * line), ..self }
    }

    /// Every `lines`-th of these lines.
    #[inline(always)]
    pub fn every(self, lines: isize) -> Self {
        Self { stride: self.stride * lines, mask_stride: self.mask_stride * lines, ..self }
    }

    /// The same lines without their first `elements`, of type `E`.
    #[inline(always)]
    pub fn skip<E>(self, elements: usize) -> Self {
        let data = self.data.wrapping_add(elements * size_of::<E>());
        Self { data, mask: self.mask.wrapping_add(elements), ..self }
    }

    /// The elements of a line.
    #[inline(always)]
    pub fn line<S: Source>(self, line: isize) -> S {
        let lines = self.from(line);
        S::new(lines.data, lines.mask)
    }

    /// Writes the key of one element of each line: the element at the line's place, which `to` has.
    ///
    /// # Safety
    /// The lines have these places, and `to` has room for one key per line.
    pub unsafe fn write_keys<S: Source, O: Order>(self, lines: usize, to: Outputs) {
        // SAFETY: the caller's promise.
        let [places, keys] = unsafe { [to.places_of(lines), to.keys_of::<Key<S::Element>>(lines)] };
        for line in 0..lines {
            // SAFETY: the caller's promise.
            unsafe {
                let place = places.element::<i64>(line).read_unaligned() as usize;
                let lane = self.line::<S>(line as isize).lane::<O>(place);
                keys.element::<Key<S::Element>>(line).write(lane.key::<O>());
            }
        }
    }
}

/// Memory for the results of a block, which are contiguous. What is not wanted has no memory.
///
/// Who makes one promises the room; with debug assertions it is remembered, and checked wherever results are written or read.
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    /// Receives the key of each extremum; or null.
    keys: *mut u8,
    /// Receives the element itself; or null. Alignment is not needed.
    values: *mut u8,
    /// Receives its place along the reduced axis, or -1 from a kernel that tells slices of NaN alone from others; or null. Alignment
    /// is not needed.
    places: *mut i64,
    room: Room,
}

/// For how many results there is room: known in builds with debug assertions alone.
#[derive(Clone, Copy, Debug)]
struct Room {
    #[cfg(debug_assertions)]
    results: usize,
}

impl Room {
    const fn new(results: usize) -> Self {
        #[cfg(not(debug_assertions))]
        let _ = results;
        Self {
            #[cfg(debug_assertions)]
            results,
        }
    }

    /// The room behind some results.
    #[inline(always)]
    #[track_caller]
    fn from(self, position: usize) -> Self {
        #[cfg(debug_assertions)]
        return Self::new(self.results.checked_sub(position).expect("a position with room"));
        #[cfg(not(debug_assertions))]
        {
            let _ = position;
            self
        }
    }

    /// Stops a test unless there is room for some results.
    #[inline(always)]
    #[track_caller]
    fn check(self, results: usize) {
        #[cfg(debug_assertions)]
        assert!(results <= self.results, "{results} results, and room for {}", self.results);
        let _ = results;
    }
}

impl Outputs {
    /// Memory for `room` results.
    ///
    /// # Safety
    /// Each pointer that is not null has room for as many, for as long as the outputs are used; that of keys is aligned to them.
    #[inline(always)]
    pub unsafe fn new(keys: *mut u8, values: *mut u8, places: *mut i64, room: usize) -> Self {
        Self { keys, values, places, room: Room::new(room) }
    }

    /// Whether keys are wanted.
    #[inline(always)]
    pub fn wants_keys(self) -> bool {
        !self.keys.is_null()
    }

    /// Whether the elements themselves are wanted.
    #[inline(always)]
    pub fn wants_values(self) -> bool {
        !self.values.is_null()
    }

    /// Whether places are wanted.
    #[inline(always)]
    pub fn wants_places(self) -> bool {
        !self.places.is_null()
    }

    /// Memory for the results from a position on, of elements of `size` bytes.
    #[inline(always)]
    pub fn from(self, position: usize, size: usize) -> Self {
        let at = |start: *mut u8| if start.is_null() { start } else { start.wrapping_add(position * size) };
        let places = if self.places.is_null() { self.places } else { self.places.wrapping_add(position) };
        Self { keys: at(self.keys), values: at(self.values), places, room: self.room.from(position) }
    }

    /// Where the keys of `results` results go.
    ///
    /// # Safety
    /// There is room for them, unless they are not wanted.
    #[inline(always)]
    pub unsafe fn keys_of<K>(self, results: usize) -> Writable {
        debug_assert!(self.keys.cast::<K>().is_aligned(), "keys are in scratch memory, which is aligned");
        // SAFETY: the caller's promise.
        unsafe { self.keys_of_size(results, size_of::<K>()) }
    }

    /// The same for keys of `size` bytes.
    ///
    /// # Safety
    /// As for [`keys_of`](Self::keys_of).
    #[inline(always)]
    pub unsafe fn keys_of_size(self, results: usize, size: usize) -> Writable {
        self.room.check(results);
        // SAFETY: the caller's promise.
        unsafe { Writable::bytes(self.keys, results * size) }
    }

    /// Where the elements of `results` results go, of `size` bytes each.
    ///
    /// # Safety
    /// As for [`keys_of`](Self::keys_of).
    #[inline(always)]
    pub unsafe fn values_of(self, results: usize, size: usize) -> Writable {
        self.room.check(results);
        // SAFETY: the caller's promise.
        unsafe { Writable::bytes(self.values, results * size) }
    }

    /// Where the places of `results` results go.
    ///
    /// # Safety
    /// As for [`keys_of`](Self::keys_of).
    #[inline(always)]
    pub unsafe fn places_of(self, results: usize) -> Writable {
        self.room.check(results);
        // SAFETY: the caller's promise.
        unsafe { Writable::bytes(self.places.cast(), results * size_of::<i64>()) }
    }

    /// Replaces each of the first `results` places by what is made of its position and of it.
    ///
    /// # Safety
    /// Places are wanted, and as many have been written.
    #[inline(always)]
    pub unsafe fn map_places(self, results: usize, new: impl Fn(usize, i64) -> i64) {
        // SAFETY: the caller's promise.
        let places = unsafe { self.places_of(results) };
        for position in 0..results {
            // SAFETY: the caller's promise.
            unsafe {
                let place = places.element::<i64>(position);
                place.write_unaligned(new(position, place.read_unaligned()));
            }
        }
    }

    /// Takes the first `results` keys, of `size` bytes each, and places from other memory.
    ///
    /// # Safety
    /// Both have keys and places of as many results, those of the other are written, and they do not overlap.
    #[inline(always)]
    pub unsafe fn copy_from(self, other: Self, results: usize, size: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            let keys = self.keys_of_size(results, size).address();
            keys.copy_from_nonoverlapping(other.keys_of_size(results, size).address(), results * size);
            let bytes = results * size_of::<i64>();
            self.places_of(results).address().copy_from_nonoverlapping(other.places_of(results).address(), bytes);
        }
    }
}

/// The bits of an element of `size` bytes. Alignment is not needed.
///
/// # Safety
/// The element may be read.
#[inline(always)]
pub unsafe fn read_bits(from: *const u8, size: usize) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => u64::from(*from),
            2 => u64::from(from.cast::<u16>().read_unaligned()),
            4 => u64::from(from.cast::<u32>().read_unaligned()),
            _ => from.cast::<u64>().read_unaligned(),
        }
    }
}

/// The bits of an element of `size` bytes, which may be in the other byte order. Alignment is not needed.
///
/// # Safety
/// The element may be read.
#[inline]
pub unsafe fn bits(from: *const u8, size: usize, swapped: bool) -> u64 {
    // SAFETY: the caller's promise.
    let bits = unsafe { read_bits(from, size) };
    if swapped { bits.swap_bytes() >> (64 - 8 * size) } else { bits }
}

/// Writes the bits of an element of `size` bytes. Alignment is not needed.
///
/// # Safety
/// The element may be written.
#[inline(always)]
pub unsafe fn write_bits(to: *mut u8, bits: u64, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            1 => to.write(bits as u8),
            2 => to.cast::<u16>().write_unaligned(bits as u16),
            4 => to.cast::<u32>().write_unaligned(bits as u32),
            _ => to.cast::<u64>().write_unaligned(bits),
        }
    }
}

/// Copies elements of `size` bytes that follow one another to places `step` bytes apart. Alignment is not needed.
///
/// # Safety
/// `len` elements may be read, and there is room for them; the two do not overlap.
pub unsafe fn spread_elements(from: *const u8, to: *mut u8, step: isize, len: usize, size: usize) {
    /// # Safety
    /// As for [`spread_elements`].
    unsafe fn spread<T: Copy>(from: *const T, to: *mut u8, step: isize, len: usize) {
        for at in 0..len {
            // SAFETY: the caller's promise.
            unsafe { to.offset(step * at as isize).cast::<T>().write_unaligned(from.add(at).read_unaligned()) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match size {
            _ if step == size as isize => from.copy_to_nonoverlapping(to, len * size),
            1 => spread::<u8>(from, to, step, len),
            2 => spread::<u16>(from.cast(), to, step, len),
            4 => spread::<u32>(from.cast(), to, step, len),
            _ => spread::<u64>(from.cast(), to, step, len),
        }
    }
}

/// Lines of contiguous elements that a kernel writes, and may read again.
#[derive(Clone, Copy, Debug)]
pub struct LinesToWrite {
    /// The first element of the first line.
    pub data: Writable,
    /// Bytes from one line to the next.
    pub stride: isize,
}

impl LinesToWrite {
    /// `lines` lines of `bytes` bytes.
    ///
    /// # Safety
    /// All of them may be written for as long as the lines are used.
    #[inline(always)]
    pub unsafe fn new(data: *mut u8, stride: isize, lines: usize, bytes: usize) -> Self {
        // SAFETY: the caller's promise.
        Self { data: unsafe { Writable::lines(data, stride, lines, bytes) }, stride }
    }

    /// As [`Lines::debug_assert_there`].
    #[inline(always)]
    #[track_caller]
    pub fn debug_assert_there<E>(self, lines: usize, len: usize) {
        self.data.debug_assert_lines(self.stride, lines, len * size_of::<E>());
    }

    /// Where a line begins.
    #[inline(always)]
    pub fn line(self, line: isize) -> Writable {
        self.data.wrapping_offset(self.stride * line)
    }

    /// The same lines, to be read.
    #[inline(always)]
    pub fn readable(self) -> Lines {
        Lines { data: self.data.readable(), stride: self.stride, mask: Readable::none(), mask_stride: 0 }
    }
}

/// Scratch memory, allocated on demand.
#[derive(Default)]
pub struct Scratch(Vec<Aligned<[u8; LINE]>>);

impl Scratch {
    /// At least `bytes` bytes. A request that is larger than all before it discards the contents.
    pub fn reserve(&mut self, bytes: usize) -> *mut u8 {
        self.0.reserve(bytes.div_ceil(LINE));
        self.0.as_mut_ptr().cast()
    }
}
