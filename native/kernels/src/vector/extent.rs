//! Pointers that know what they may read, in builds with debug assertions.
//!
//! A kernel makes a [`Readable`] once, from the layout of its rows, and moves it to wherever it loads. With debug assertions each
//! load is then checked against these rows, on every machine and in every test. Without them the pointer is only an address, and
//! its operations are those of the address.

/// Lines of bytes, a number of bytes apart. The gaps between lines are no part of them.
#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// The address of the lowest line.
    lowest: usize,
    /// Bytes from one line to the next higher one.
    stride: usize,
    lines: usize,
    /// Bytes of a line.
    bytes: usize,
}

#[cfg(debug_assertions)]
impl Extent {
    fn new(first: usize, stride: isize, lines: usize, bytes: usize) -> Self {
        #[cfg(test)]
        let bytes = bytes - tests::CUT.get().min(bytes);
        // Lines that run down in memory are counted from the last of them.
        let below = if stride < 0 { stride.unsigned_abs() * lines.saturating_sub(1) } else { 0 };
        Self { lowest: first - below, stride: stride.unsigned_abs(), lines, bytes }
    }

    /// Whether all of `count` bytes belong to a line; they may belong to several lines that leave no gap.
    fn holds(&self, address: usize, count: usize) -> bool {
        let Some(offset) = address.checked_sub(self.lowest) else { return false };
        if self.lines == 0 {
            return false;
        }
        if self.stride <= self.bytes {
            return offset + count <= self.stride * (self.lines - 1) + self.bytes;
        }
        offset / self.stride < self.lines && offset % self.stride + count <= self.bytes
    }
}

/// A pointer to bytes that may be read. It may be moved anywhere: what counts is where it reads.
#[derive(Clone, Copy, Debug)]
pub struct Readable {
    at: *const u8,
    #[cfg(debug_assertions)]
    extent: Extent,
}

impl Readable {
    /// A pointer to the first of some lines of `bytes` bytes, which are `stride` bytes apart.
    ///
    /// # Safety
    /// All bytes of the lines may be read for as long as the pointer is used.
    #[inline(always)]
    pub unsafe fn lines(at: *const u8, stride: isize, lines: usize, bytes: usize) -> Self {
        #[cfg(not(debug_assertions))]
        let _ = (stride, lines, bytes);
        Self {
            at,
            #[cfg(debug_assertions)]
            extent: Extent::new(at as usize, stride, lines, bytes),
        }
    }

    /// A pointer to the first of `count` bytes.
    ///
    /// # Safety
    /// As for [`lines`](Self::lines).
    #[inline(always)]
    pub unsafe fn bytes(at: *const u8, count: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::lines(at, 0, 1, count) }
    }

    /// Where `count` bytes are read.
    #[inline(always)]
    pub fn read(self, count: usize) -> *const u8 {
        #[cfg(debug_assertions)]
        assert!(
            self.extent.holds(self.at as usize, count),
            "{count} bytes at {:p} are outside of {:x?}",
            self.at,
            self.extent
        );
        let _ = count;
        self.at
    }

    /// The address, which must not be read.
    #[inline(always)]
    pub fn address(self) -> *const u8 {
        self.at
    }

    /// A pointer to another place, which may read the same lines.
    #[inline(always)]
    fn moved(self, at: *const u8) -> Self {
        Self {
            at,
            #[cfg(debug_assertions)]
            extent: self.extent,
        }
    }

    /// The pointer, some bytes higher.
    ///
    /// # Safety
    /// The result lies inside the lines, between them, or at their end.
    #[inline(always)]
    pub unsafe fn add(self, bytes: usize) -> Self {
        // SAFETY: the caller's promise.
        self.moved(unsafe { self.at.add(bytes) })
    }

    /// The pointer, some bytes higher or lower.
    ///
    /// # Safety
    /// As for [`add`](Self::add).
    #[inline(always)]
    pub unsafe fn offset(self, bytes: isize) -> Self {
        // SAFETY: the caller's promise.
        self.moved(unsafe { self.at.offset(bytes) })
    }

    /// The pointer, some bytes higher, wherever that is.
    #[inline(always)]
    pub fn wrapping_add(self, bytes: usize) -> Self {
        self.moved(self.at.wrapping_add(bytes))
    }

    /// The pointer, some bytes higher or lower, wherever that is.
    #[inline(always)]
    pub fn wrapping_offset(self, bytes: isize) -> Self {
        self.moved(self.at.wrapping_offset(bytes))
    }
}

// In release a pointer that knows its range is a pointer.
#[cfg(not(debug_assertions))]
const _: () = assert!(size_of::<Readable>() == size_of::<*const u8>());

#[cfg(all(test, debug_assertions))]
pub mod tests {
    use super::Extent;
    use std::cell::Cell;

    thread_local! {
        /// Bytes by which every line counts as shorter than it is: a wrong extent, for tests.
        pub static CUT: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn an_extent_holds_the_bytes_of_its_lines_and_no_others() {
        for stride in [-20isize, -12, -7, 0, 7, 12, 20] {
            for (lines, bytes) in [(0, 12), (1, 12), (3, 12), (3, 1)] {
                let extent = Extent::new(1000, stride, lines, bytes);
                let holds = |byte: usize| {
                    let first = |line: usize| (1000 + stride * line as isize) as usize;
                    (0..lines).any(|line| (first(line)..first(line) + bytes).contains(&byte))
                };
                // Miri would take minutes for all of them.
                for address in (900..1100).step_by(if cfg!(miri) { 37 } else { 1 }) {
                    for count in [1, 2, 8, 12, 16] {
                        let expected = (address..address + count).all(holds);
                        assert_eq!(
                            extent.holds(address, count),
                            expected,
                            "{stride} {lines} {bytes}: {count} at {address}"
                        );
                    }
                }
            }
        }
    }
}
