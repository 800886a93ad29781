//! Where a kernel reads lanes: plain memory, or memory of which a mask leaves elements out.

use crate::element::compare::{Compared, Key, Lane, worst};
use crate::element::order::Order;
use std::ptr;

/// Contiguous elements, of any alignment.
pub trait Source: Copy {
    /// What is read.
    type Element: Compared;
    /// The same memory, read as other elements of the same layout.
    type As<F: Compared>: Source<Element = F>;
    /// Whether there is a mask.
    const MASKED: bool;
    /// From the first element, and its place in the mask where there is one.
    fn new(data: *const u8, mask: *const u8) -> Self;
    /// The lane of the element at `at`: the worst there is where the element is left out.
    ///
    /// # Safety
    /// The element may be read, and its place in the mask.
    unsafe fn lane<O: Order>(self, at: usize) -> <Self::Element as Compared>::Lane;
    /// The element at `at`: one that loses to all others where it is left out.
    ///
    /// # Safety
    /// As for [`lane`](Self::lane).
    unsafe fn element<O: Order>(self, at: usize) -> Self::Element;
    /// The elements from another one on.
    fn skip(self, elements: usize) -> Self;
    /// The first element.
    fn data(self) -> *const Self::Element;
}

impl<E: Compared> Source for *const E {
    type Element = E;
    type As<F: Compared> = *const F;
    const MASKED: bool = false;
    #[inline(always)]
    fn new(data: *const u8, _: *const u8) -> Self {
        data.cast()
    }
    #[inline(always)]
    unsafe fn lane<O: Order>(self, at: usize) -> E::Lane {
        // SAFETY: the caller's.
        unsafe { self.element::<O>(at) }.lane::<O>()
    }
    #[inline(always)]
    unsafe fn element<O: Order>(self, at: usize) -> E {
        // SAFETY: the caller's; alignment is not needed.
        unsafe { self.add(at).read_unaligned() }
    }
    #[inline(always)]
    fn skip(self, elements: usize) -> Self {
        self.wrapping_add(elements)
    }
    #[inline(always)]
    fn data(self) -> *const E {
        self
    }
}

/// Elements of which those are left out whose byte in the mask is 0.
#[derive(Clone, Copy)]
pub struct Masked<E> {
    data: *const E,
    mask: *const u8,
}

impl<E: Compared> Source for Masked<E> {
    type Element = E;
    type As<F: Compared> = Masked<F>;
    const MASKED: bool = true;
    #[inline(always)]
    fn new(data: *const u8, mask: *const u8) -> Self {
        Self { data: data.cast(), mask }
    }
    #[inline(always)]
    unsafe fn lane<O: Order>(self, at: usize) -> E::Lane {
        // SAFETY: the caller's. The element is read first, so that there is nothing to jump over.
        unsafe {
            let lane = self.data.lane::<O>(at);
            if *self.mask.add(at) != 0 { lane } else { worst::<O, _>() }
        }
    }
    #[inline(always)]
    unsafe fn element<O: Order>(self, at: usize) -> E {
        // SAFETY: the caller's.
        unsafe {
            match *self.mask.add(at) {
                0 => E::from_lane::<O>(worst::<O, _>()).0,
                _ => self.data.element::<O>(at),
            }
        }
    }
    #[inline(always)]
    fn skip(self, elements: usize) -> Self {
        Self { data: self.data.wrapping_add(elements), mask: self.mask.wrapping_add(elements) }
    }
    #[inline(always)]
    fn data(self) -> *const E {
        self.data
    }
}

/// Lines of contiguous elements, with their lines of a mask where there is one.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// The first element of the first line.
    pub data: *const u8,
    /// Bytes from one line to the next.
    pub stride: isize,
    /// The place of the first element in the mask, 0 where the element is left out; null without a mask.
    pub mask: *const u8,
    /// Bytes from one line of the mask to the next.
    pub mask_stride: isize,
}

impl Lines {
    /// Lines without a mask.
    pub fn plain(data: *const u8, stride: isize) -> Self {
        Self { data, stride, mask: ptr::null(), mask_stride: 0 }
    }

    /// The lines from another one on.
    #[inline(always)]
    pub fn from(self, line: isize) -> Self {
        let data = self.data.wrapping_offset(self.stride * line);
        Self { data, mask: self.mask.wrapping_offset(self.mask_stride * line), ..self }
    }

    /// The same lines, of which only every so manieth is there.
    #[inline(always)]
    pub fn every(self, lines: isize) -> Self {
        Self { stride: self.stride * lines, mask_stride: self.mask_stride * lines, ..self }
    }

    /// The elements of a line.
    #[inline(always)]
    pub fn line<S: Source>(self, line: isize) -> S {
        let lines = self.from(line);
        S::new(lines.data, lines.mask)
    }

    /// Writes the keys of the elements at a place of each of some lines.
    ///
    /// # Safety
    /// There are such places, and room for as many keys.
    pub unsafe fn write_keys<S: Source, O: Order>(self, lines: usize, places: *const i64, keys: *mut u8) {
        for line in 0..lines {
            // SAFETY: the caller's.
            unsafe {
                let lane = self.line::<S>(line as isize).lane::<O>(places.add(line).read_unaligned() as usize);
                keys.cast::<Key<S::Element>>().add(line).write(lane.key::<O>());
            }
        }
    }
}
