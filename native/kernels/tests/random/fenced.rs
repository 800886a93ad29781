//! Bytes beside which nobody may read or write: a page without access lies before the first or behind the last.
//!
//! Where there is no `mmap`, and under Miri, which watches every access itself, they are bytes like others.

use std::ops::{Deref, DerefMut, Range};

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
        // SAFETY: new pages, which belong to nobody else.
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
        let denied =
            unsafe { libc::mprotect(self.base.add(self.page * (1 + first)).cast(), self.page * pages, access) };
        assert_eq!(denied, 0);
    }

    /// Takes away the pages on which none of some bytes lie.
    pub fn deny_all_but(&self, wanted: impl Iterator<Item = Range<usize>>) {
        let mut pages = vec![false; self.pages];
        for range in wanted {
            let page = |byte: usize| (self.start + byte) / self.page - 1;
            pages[page(range.start)..=page(range.end - 1)].fill(true);
        }
        let denied = pages.into_iter().enumerate().filter(|&(_, wanted)| !wanted);
        denied.for_each(|(page, _)| self.protect(page, 1, libc::PROT_NONE));
    }

    /// Gives all pages back.
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
        // SAFETY: nobody reads it any more.
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
        // SAFETY: bytes of its own, as long as it is there.
        unsafe { &*self.slice() }
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { &mut *self.slice() }
    }
}
