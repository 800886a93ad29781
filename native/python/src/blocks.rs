//! Blocks of memory, the last of which are kept for results to come.

use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Bytes of the smallest result whose memory is kept. NumPy asks for huge pages from here on.
pub const LEAST: usize = 4 << 20;

/// Bytes that are kept at most, unless somebody sets another limit.
const MOST: usize = 128 << 20;

/// Bytes in front of an array's memory, in which its block says how long it is: a line of the cache.
pub const HEAD: usize = 64;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// A block of memory; dropped, it goes back to the system.
pub struct Block {
    start: NonNull<u8>,
    /// How long it is.
    pub capacity: usize,
}

// SAFETY: a block belongs to whoever has it.
unsafe impl Send for Block {}

impl Block {
    /// A block of so many bytes; None where there is no memory for it.
    pub fn new(capacity: usize) -> Option<Self> {
        // SAFETY: a block is longer than nothing.
        let start = NonNull::new(unsafe { alloc(Self::layout(capacity)?) })?;
        #[cfg(target_os = "linux")]
        // SAFETY: the whole huge pages of the block; the system may decline.
        unsafe {
            libc::madvise(start.as_ptr().cast(), capacity / HUGE * HUGE, libc::MADV_HUGEPAGE);
        }
        Some(Self { start, capacity })
    }

    fn layout(capacity: usize) -> Option<Layout> {
        Layout::from_size_align(capacity, HUGE).ok()
    }

    /// The memory behind the head, for an array.
    pub fn into_memory(self) -> *mut c_void {
        // SAFETY: a block is longer than its head, and aligned for it.
        unsafe {
            self.start.cast::<usize>().write(self.capacity);
            let memory = self.start.as_ptr().add(HEAD).cast();
            std::mem::forget(self);
            memory
        }
    }

    /// The block of an array's memory.
    ///
    /// # Safety
    /// The memory is that of a block, and nobody uses it afterwards but through this one.
    pub unsafe fn of_memory(memory: *mut c_void) -> Self {
        // SAFETY: the caller's.
        unsafe {
            let start = NonNull::new_unchecked(memory.cast::<u8>().sub(HEAD));
            Self { start, capacity: start.cast::<usize>().read() }
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(layout) = Self::layout(self.capacity) else { unreachable!("it was made with this layout") };
        // SAFETY: made so, and in nobody's use.
        unsafe { dealloc(self.start.as_ptr(), layout) };
    }
}

/// The memory of blocks that arrays gave back, null where there is none. (There is no lock here: one that another thread held
/// during `fork` would stay locked in the child.)
static KEPT: [AtomicPtr<c_void>; 8] = [const { AtomicPtr::new(ptr::null_mut()) }; 8];

/// How many bytes they have.
static BYTES: AtomicUsize = AtomicUsize::new(0);

/// How many they may have.
static LIMIT: AtomicUsize = AtomicUsize::new(MOST);

/// Takes what is kept in a place.
fn take_out(place: &AtomicPtr<c_void>) -> Option<Block> {
    let memory = NonNull::new(place.swap(ptr::null_mut(), Ordering::Acquire))?;
    // SAFETY: who takes it out has it alone.
    let block = unsafe { Block::of_memory(memory.as_ptr()) };
    BYTES.fetch_sub(block.capacity, Ordering::Relaxed);
    Some(block)
}

/// Takes a block that has room for so many bytes, and no more than a quarter besides.
pub fn take(bytes: usize) -> Option<Block> {
    KEPT.iter().find_map(|place| {
        let block = take_out(place)?;
        if (bytes..=bytes + bytes / 4).contains(&block.capacity) {
            return Some(block);
        }
        keep(block);
        None
    })
}

/// Keeps a block as far as the limit allows; others go for it.
pub fn keep(block: Block) {
    let (capacity, limit) = (block.capacity, limit());
    if capacity < LEAST {
        return;
    }
    let fits = |bytes: usize| bytes.checked_add(capacity).filter(|&bytes| bytes <= limit);
    let mut places = KEPT.iter();
    while BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_err() {
        let Some(place) = places.next() else { return };
        take_out(place);
    }
    let memory = block.into_memory();
    let puts = |place: &AtomicPtr<c_void>| {
        place.compare_exchange(ptr::null_mut(), memory, Ordering::Release, Ordering::Relaxed).is_ok()
    };
    if !KEPT.iter().any(puts) {
        BYTES.fetch_sub(capacity, Ordering::Relaxed);
        // SAFETY: nobody else has seen it.
        drop(unsafe { Block::of_memory(memory) });
    }
}

/// How many bytes are kept at most.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// Sets how many are, and gives back what is too much.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
    for place in &KEPT {
        if BYTES.load(Ordering::Relaxed) > bytes {
            take_out(place);
        }
    }
}
