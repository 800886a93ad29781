//! Memory between two pages that nobody may touch.

use std::ptr;

/// The memory.
pub struct Fenced {
    base: *mut u8,
    pub page: usize,
    pub bytes: usize,
}

/// Bytes of the largest array.
pub const MOST: usize = 1 << 17;

impl Fenced {
    pub fn new() -> Self {
        // SAFETY: new pages, which belong to nobody else.
        unsafe {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let bytes = MOST.next_multiple_of(page);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let base = libc::mmap(ptr::null_mut(), bytes + 2 * page, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(base, libc::MAP_FAILED);
            let fenced = Self { base: base.cast(), page, bytes };
            fenced.allow(0, bytes);
            fenced
        }
    }

    /// Lets some bytes be read and written again.
    pub fn allow(&self, start: usize, bytes: usize) {
        // SAFETY: pages of its own.
        let denied = unsafe {
            libc::mprotect(self.base.add(self.page + start).cast(), bytes, libc::PROT_READ | libc::PROT_WRITE)
        };
        assert_eq!(denied, 0);
    }

    /// Unmaps some bytes in the middle.
    pub fn deny(&self, start: usize, bytes: usize) {
        // SAFETY: pages of its own.
        let denied = unsafe { libc::mprotect(self.base.add(self.page + start).cast(), bytes, libc::PROT_NONE) };
        assert_eq!(denied, 0);
    }

    /// `len` bytes that end (or begin) where the pages do.
    pub fn place(&self, len: usize, at_end: bool) -> *mut u8 {
        assert!(len <= self.bytes);
        self.base.wrapping_add(self.page + if at_end { self.bytes - len } else { 0 })
    }
}

impl Drop for Fenced {
    fn drop(&mut self) {
        // SAFETY: nobody reads it any more.
        unsafe { libc::munmap(self.base.cast(), self.bytes + 2 * self.page) };
    }
}
