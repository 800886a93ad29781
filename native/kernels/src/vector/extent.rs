//! Pointers that know what they may read or write, in builds with debug assertions.
//!
//! A [`Readable`] or [`Writable`] is made once, from the layout of the rows or of the results, and a kernel moves it to wherever it
//! loads or stores. With debug assertions each access is then checked against these rows, on every machine and in every test.
//! Without them the pointer is only an address, and its operations are those of the address.

use std::ptr;

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
        if offset + count <= self.bytes {
            // The lowest line holds them: most accesses do without the division below.
            return true;
        }
        if self.stride <= self.bytes {
            return offset + count <= self.stride * (self.lines - 1) + self.bytes;
        }
        offset / self.stride < self.lines && offset % self.stride + count <= self.bytes
    }
}

/// Declares a pointer that knows its extent, and the operations that do not depend on whether it reads or writes.
macro_rules! pointer {
    ($(#[$doc:meta])* $name:ident $raw:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            at: $raw,
            #[cfg(debug_assertions)]
            extent: Extent,
        }

        impl $name {
            /// A pointer to the first of some lines of `bytes` bytes, which are `stride` bytes apart.
            ///
            /// # Safety
            /// All bytes of the lines are there for as long as the pointer is used.
            #[inline(always)]
            pub unsafe fn lines(at: $raw, stride: isize, lines: usize, bytes: usize) -> Self {
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
            pub unsafe fn bytes(at: $raw, count: usize) -> Self {
                // SAFETY: the caller's promise.
                unsafe { Self::lines(at, 0, 1, count) }
            }

            /// Whether nothing is there.
            #[inline(always)]
            pub fn is_null(self) -> bool {
                self.at.is_null()
            }

            /// The address, for arithmetic and for what checks its own bounds.
            #[inline(always)]
            pub fn address(self) -> $raw {
                self.at
            }

            /// Stops a test at an access outside of the lines; without debug assertions it does nothing.
            #[inline(always)]
            #[track_caller]
            fn check(self, at: usize, count: usize) {
                #[cfg(debug_assertions)]
                assert!(self.extent.holds(at, count), "{count} bytes at {at:#x} are outside of {:x?}", self.extent);
                let _ = (at, count);
            }

            /// Stops a test unless some lines that a kernel is told of, of `bytes` bytes each and `stride` bytes apart, are all
            /// there from this place on; without debug assertions it does nothing.
            #[inline(always)]
            #[track_caller]
            pub fn debug_assert_lines(self, stride: isize, lines: usize, bytes: usize) {
                // Lines are equally far apart, so those between the first and the last are there if these two are.
                if cfg!(debug_assertions) && lines > 0 && bytes > 0 {
                    self.check(self.at as usize, bytes);
                    let last = self.at.wrapping_offset(stride * (lines as isize - 1));
                    self.check(last as usize, bytes);
                }
            }

            /// A pointer to another place, which belongs to the same lines.
            #[inline(always)]
            fn moved(self, at: $raw) -> Self {
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

        // In release a pointer that knows its extent is a pointer.
        #[cfg(not(debug_assertions))]
        const _: () = assert!(size_of::<$name>() == size_of::<$raw>());
    };
}

pointer! {
    /// A pointer to bytes that may be read. It may be moved anywhere: what counts is where it reads.
    Readable *const u8
}

pointer! {
    /// A pointer to bytes that may be written, and read once they are. It may be moved anywhere.
    Writable *mut u8
}

impl Readable {
    /// A null pointer, for what is not there: nothing may be read.
    #[inline(always)]
    pub fn none() -> Self {
        // SAFETY: there are no lines.
        unsafe { Self::lines(ptr::null(), 0, 0, 0) }
    }

    /// Where `count` bytes are read.
    #[inline(always)]
    #[track_caller]
    pub fn read(self, count: usize) -> *const u8 {
        self.check(self.at as usize, count);
        self.at
    }

    /// Where the element number `at` is read, counted from this pointer.
    ///
    /// # Safety
    /// The element belongs to the lines.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn element<T>(self, at: usize) -> *const T {
        // SAFETY: the caller's promise.
        let element = unsafe { self.at.cast::<T>().add(at) };
        self.check(element as usize, size_of::<T>());
        element
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
}

impl Writable {
    /// A null pointer, for what is not wanted: nothing may be written.
    #[inline(always)]
    pub fn none() -> Self {
        // SAFETY: there are no lines.
        unsafe { Self::lines(ptr::null_mut(), 0, 0, 0) }
    }

    /// Where `count` bytes are written.
    #[inline(always)]
    #[track_caller]
    pub fn write(self, count: usize) -> *mut u8 {
        self.check(self.at as usize, count);
        self.at
    }

    /// Where the element number `at` is written, counted from this pointer.
    ///
    /// # Safety
    /// The element belongs to the lines.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn element<T>(self, at: usize) -> *mut T {
        // SAFETY: the caller's promise.
        let element = unsafe { self.at.cast::<T>().add(at) };
        self.check(element as usize, size_of::<T>());
        element
    }

    /// The same bytes, to be read.
    #[inline(always)]
    pub fn readable(self) -> Readable {
        Readable {
            at: self.at,
            #[cfg(debug_assertions)]
            extent: self.extent,
        }
    }
}

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
