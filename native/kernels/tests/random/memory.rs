//! Arrays in separate memory that ends with their last element: an inaccessible page lies before the first byte or after the
//! last. Without `mmap`, and under Miri, which watches every access itself, they are ordinary bytes.

use crate::Random;
use crate::key::{bytes_of, landmarks};
use extremum_kernels::ElementType;
use std::ops::{Deref, DerefMut, Range};

/// An array: exactly the bytes that its elements span, and at times a few bytes before them, which change the alignment.
pub struct Memory {
    pub bytes: Bytes,
    pub strides: Vec<isize>,
    /// Where the first element, as the caller sees it, begins.
    pub first: usize,
    size: usize,
    /// The bytes before the call.
    before: Vec<u8>,
}

impl Memory {
    /// Memory for elements of `size` bytes, which do not overlap if `apart`.
    pub fn new(random: &mut Random, lens: &[usize], size: usize, apart: bool) -> Self {
        let strides = strides(random, lens, size, apart);
        let reach = |sign: isize| -> usize {
            let spans = lens.iter().zip(&strides).map(|(&len, &stride)| (len as isize - 1) * stride * sign);
            spans.filter(|&span| span > 0).sum::<isize>() as usize
        };
        let lead = if random.one_in(2) { 0 } else { random.below(64) };
        let len = if lens.contains(&0) { 0 } else { lead + reach(-1) + reach(1) + size };
        let first = if len == 0 { 0 } else { lead + reach(-1) };
        Self { bytes: Bytes::new(len, !random.one_in(4)), strides, first, size, before: Vec::new() }
    }

    /// The first element; if there is no element, a pointer that must not be dereferenced.
    pub fn data(&self) -> *const u8 {
        self.bytes.as_ptr().wrapping_add(self.first)
    }

    pub fn data_mut(&mut self) -> *mut u8 {
        self.bytes.as_mut_ptr().wrapping_add(self.first)
    }

    /// Where the elements of each slice begin, in row-major order: a slice lies along the axes that are `inside`. An array without
    /// elements has slices that begin outside its memory.
    pub fn slices(&self, lens: &[usize], inside: &[bool]) -> Vec<Vec<usize>> {
        let along = |start: usize, wanted: bool| {
            (0..lens.len()).filter(|&axis| inside[axis] == wanted).fold(vec![start], |all, axis| {
                let step = |at: usize| self.strides[axis] * at as isize;
                let line = |from: usize| (0..lens[axis]).map(move |at| from.wrapping_add_signed(step(at)));
                all.into_iter().flat_map(line).collect()
            })
        };
        along(self.first, false).into_iter().map(|start| along(start, true)).collect()
    }

    /// Where all elements begin, in row-major order.
    pub fn elements(&self, lens: &[usize]) -> Vec<usize> {
        self.slices(lens, &vec![true; lens.len()]).concat()
    }

    pub fn element(&self, at: usize) -> &[u8] {
        &self.bytes[at..][..self.size]
    }

    /// The bytes of an element in this machine's order.
    pub fn in_order(&self, at: usize, swapped: bool) -> Vec<u8> {
        let mut element = self.element(at).to_vec();
        if swapped {
            element.reverse();
        }
        element
    }

    /// Whether the bytes are no longer what [`fill`](Self::fill) wrote.
    pub fn is_changed(&self) -> bool {
        *self.bytes != self.before
    }

    /// Denies access to the pages between the elements until [`Bytes::allow`].
    pub fn deny_gaps(&self, lens: &[usize]) {
        self.bytes.deny_all_but(self.elements(lens).into_iter().map(|at| at..at + self.size));
    }

    /// Fills the memory, gaps too, with bytes that depend on their place.
    pub fn fill_by(&mut self, mut byte: impl FnMut(usize) -> u8) {
        self.bytes.iter_mut().enumerate().for_each(|(at, to)| *to = byte(at));
        self.before = self.bytes.to_vec();
    }

    /// Fills the memory, gaps too, with values that tie and with those that win: NaN, infinities, limits.
    pub fn fill(&mut self, random: &mut Random, element: ElementType) {
        let size = self.size;
        let first = self.first;
        let texture = random.below(5);
        let constant = random.next().to_le_bytes();
        let rare: [u8; 3] = random.pick(&[[0x7f, 0xff, 0x80], [0x7f; 3], [0xff; 3]]);
        self.fill_by(|at| {
            let place = (at + size - first % size) % size;
            let outer = place == if cfg!(target_endian = "big") { 0 } else { size - 1 };
            match texture {
                _ if element == ElementType::Bool => random.below(2) as u8,
                0 => random.next() as u8,
                1 => constant[place],
                2 if random.one_in(400) => random.pick(&rare),
                2 if outer => random.pick(&[0, 0x3f]),
                3 if outer => random.pick(&[0, 0x80]),
                4 if outer => random.pick(&[0, 0x80, 0x3f, 0xbf, 0x7c, 0xfc, 0x7f, 0xff]),
                4 => random.pick(&[0, 0x80, 0xc0, 0xff, 0]),
                _ => 0,
            }
        });
        // Stretches of one value, among them the least, the largest and the infinities: kernels must not confuse them with lanes
        // that a row does not fill.
        if random.one_in(4) {
            let len = random.pick(&[3, 16, 100]);
            let share = random.pick(&[1, 2, 5]);
            for stretch in self.bytes.get_mut(first % size..).unwrap_or_default().chunks_mut(len * size) {
                if random.one_in(share) && stretch.len() > size {
                    let (first, rest) = stretch.split_at_mut(size);
                    rest.chunks_exact_mut(size).for_each(|element| element.copy_from_slice(first));
                }
            }
            self.before = self.bytes.to_vec();
        }
    }

    /// Puts NaN of either sign in place of some elements, or of all.
    pub fn put_nan(&mut self, random: &mut Random, element: ElementType, lens: &[usize], swapped: bool) {
        let size = self.size;
        let share = random.pick(&[1, 4, 7, 8]);
        let sign = 1 << (8 * size - 1);
        for at in self.elements(lens) {
            if random.below(8) < share {
                let (infinity, _) = landmarks(element);
                let mut nan = bytes_of((infinity + 1 + random.below(9) as u64) | random.pick(&[0, sign]), size);
                if swapped {
                    nan.reverse();
                }
                self.bytes[at..][..size].copy_from_slice(&nan);
            }
        }
        self.before = self.bytes.to_vec();
    }
}

/// Bytes next to inaccessible pages.
#[cfg(all(unix, not(miri)))]
pub struct Bytes {
    base: *mut u8,
    page: usize,
    pages: usize,
    start: usize,
    len: usize,
}

#[cfg(all(unix, not(miri)))]
impl Bytes {
    /// Zeros that end (or begin) where the pages do.
    pub fn new(len: usize, at_end: bool) -> Self {
        // SAFETY: new pages, which belong to this test alone.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let pages = len.div_ceil(page).max(1);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(std::ptr::null_mut(), (pages + 2) * page, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            let start = page + if at_end { pages * page - len } else { 0 };
            let bytes = Self { base: base.cast(), page, pages, start, len };
            bytes.protect(0, pages, libc::PROT_READ | libc::PROT_WRITE);
            bytes
        }
    }

    fn protect(&self, first: usize, pages: usize, access: i32) {
        // SAFETY: pages of its own.
        let status =
            unsafe { libc::mprotect(self.base.add(self.page * (1 + first)).cast(), self.page * pages, access) };
        assert_eq!(status, 0);
    }

    /// Denies access to the pages that hold no wanted bytes.
    pub fn deny_all_but(&self, ranges: impl Iterator<Item = Range<usize>>) {
        let mut pages = vec![false; self.pages];
        for range in ranges {
            let page = |byte: usize| (self.start + byte) / self.page - 1;
            pages[page(range.start)..=page(range.end - 1)].fill(true);
        }
        let others = pages.into_iter().enumerate().filter(|&(_, is_open)| !is_open);
        others.for_each(|(page, _)| self.protect(page, 1, libc::PROT_NONE));
    }

    /// Allows access to all pages again.
    pub fn allow(&self) {
        self.protect(0, self.pages, libc::PROT_READ | libc::PROT_WRITE);
    }

    fn slice(&self) -> *mut [u8] {
        std::ptr::slice_from_raw_parts_mut(self.base.wrapping_add(self.start), self.len)
    }
}

#[cfg(all(unix, not(miri)))]
impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: nothing reads it any more.
        unsafe { libc::munmap(self.base.cast(), (self.pages + 2) * self.page) };
    }
}

#[cfg(not(all(unix, not(miri))))]
pub struct Bytes(std::cell::UnsafeCell<Box<[u8]>>);

#[cfg(not(all(unix, not(miri))))]
impl Bytes {
    pub fn new(len: usize, _: bool) -> Self {
        Self(vec![0; len].into_boxed_slice().into())
    }

    pub fn deny_all_but(&self, _: impl Iterator<Item = Range<usize>>) {}

    pub fn allow(&self) {}

    fn slice(&self) -> *mut [u8] {
        // SAFETY: the box is not replaced.
        unsafe { &raw mut **self.0.get() }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes are its own, as long as it exists.
        unsafe { &*self.slice() }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { &mut *self.slice() }
    }
}

/// Bytes that an array may span; Miri takes microseconds for each.
const SPAN: usize = if cfg!(miri) { 1 << 10 } else { 1 << 21 };

/// Strides for axes in any order, with gaps, unaligned, backwards; unless `apart`, also overlapping or broadcast (stride 0).
fn strides(random: &mut Random, lens: &[usize], size: usize, apart: bool) -> Vec<isize> {
    let ways = if random.one_in(3) { 1 } else { 13 };
    let strides = build(random, lens, size, if apart { ways.min(8) } else { ways });
    let span: usize = lens.iter().zip(&strides).map(|(&len, &stride)| len * stride.unsigned_abs()).sum();
    if span > SPAN { build(random, lens, size, 1) } else { strides }
}

/// Strides, in elements, for axes in any order, without gaps.
pub fn strides_without_gaps(random: &mut Random, lens: &[usize]) -> Vec<isize> {
    build(random, lens, 1, 1).into_iter().map(isize::abs).collect()
}

/// Visits the axes, nearest in memory first, and chooses their strides in one of so many ways.
fn build(random: &mut Random, lens: &[usize], size: usize, ways: usize) -> Vec<isize> {
    let mut order: Vec<usize> = (0..lens.len()).rev().collect();
    if random.one_in(3) {
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
    }
    let backwards = random.one_in(4);
    let mut strides = vec![0; lens.len()];
    let mut step = size;
    for axis in order {
        let (stride, overlaps) = match random.below(ways) {
            0..=4 => (step, false),
            5 => (step * (2 + random.below(3)), false),
            6 => (step + size * random.below(20), false),
            7 => (step + random.below(9), false),
            8 => (0, true),
            9 => (1 + random.below(2 * size), true),
            // Whole pages apart, with inaccessible pages in between.
            10 => (step.next_multiple_of(1 << 13), false),
            _ => (size, true),
        };
        step = if overlaps { step.max(stride * lens[axis]) } else { stride * lens[axis].max(1) };
        strides[axis] = if backwards && random.one_in(2) { -(stride as isize) } else { stride as isize };
    }
    strides
}
