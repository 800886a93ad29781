//! Memory of large results: memory that arrays give back is kept for the next arrays, up to a limit.
//!
//! The system hands out large blocks page by page and clears each page first, which takes longer than an operation that
//! fills them. NumPy lets an array have its own allocator (NEP 49), so these arrays own their memory as all arrays do.

use crate::interpreter::{error, python};
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_New, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_char, c_void};
use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;

extern "C" fn allocate(_: *mut c_void, size: usize) -> *mut c_void {
    let Some(bytes) = size.checked_add(HEAD) else { return ptr::null_mut() };
    let block = take(bytes).or_else(|| KeptBlock::new(bytes));
    block.map_or(ptr::null_mut(), |block| ManuallyDrop::new(block).0.as_ptr())
}

extern "C" fn allocate_cleared(context: *mut c_void, count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    let memory = allocate(context, bytes);
    if !memory.is_null() {
        // SAFETY: this many bytes were allocated.
        unsafe { memory.write_bytes(0, bytes) };
    }
    memory
}

extern "C" fn reallocate(context: *mut c_void, memory: *mut c_void, size: usize) -> *mut c_void {
    let to = allocate(context, size);
    if let Some(block) = NonNull::new(memory).map(KeptBlock)
        && !to.is_null()
    {
        // SAFETY: NumPy passes the memory of a block and no longer uses it; both blocks have that many bytes behind their heads.
        unsafe { memory.copy_to_nonoverlapping(to, size.min(block.capacity() - HEAD)) };
        keep(Some(block));
    }
    to
}

extern "C" fn free(_: *mut c_void, memory: *mut c_void, _: usize) {
    // NumPy passes the memory of a block, and no longer uses it.
    let _ = NonNull::new(memory).map(|memory| keep(Some(KeptBlock(memory))));
}

/// NumPy's `PyDataMem_Handler`, with the `PyDataMemAllocator` at its end.
#[repr(C)]
struct Handler {
    name: [c_char; 127],
    version: u8,
    context: *mut c_void,
    malloc: extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: extern "C" fn(*mut c_void, *mut c_void, usize),
}

/// `PyDataMem_SetHandler`, and its place in NumPy's table of functions and constants.
type SetHandler = unsafe extern "C" fn(*mut PyObject) -> *mut PyObject;
const SET_HANDLER: usize = 304;
/// The place of `PyDataMem_DefaultHandler`.
const DEFAULT_HANDLER: usize = 306;

/// NumPy's function, our handler in its capsule, and NumPy's own in its capsule.
static NUMPY: PyOnceLock<(SetHandler, Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();

fn numpy(py: Python<'_>) -> PyResult<&'static (SetHandler, Py<PyAny>, Py<PyAny>)> {
    if let Some(numpy) = NUMPY.get(py) {
        return Ok(numpy);
    }
    let table = python!("numpy_table").call_with(py, PyTuple::empty(py), None)?;
    let context = ptr::null_mut();
    let malloc = allocate as _;
    let calloc = allocate_cleared as _;
    let realloc = reallocate as _;
    let handler = Handler { name: [0; 127], version: 1, context, malloc, calloc, realloc, free };
    let handler = Box::leak(Box::new(handler));
    handler.name[..8].copy_from_slice(&b"extremum".map(|byte| byte as c_char));
    // SAFETY: the interpreter is attached; NumPy's table has this function and the address of this constant since 1.22.
    let numpy = unsafe {
        let table = PyCapsule_GetPointer(table.as_ptr(), ptr::null()).cast::<SetHandler>();
        if table.is_null() {
            return Err(PyErr::fetch(py));
        }
        let handler = PyCapsule_New((&raw mut *handler).cast(), c"mem_handler".as_ptr(), None);
        let default = Bound::from_borrowed_ptr(py, **table.add(DEFAULT_HANDLER).cast::<*const *mut PyObject>());
        (table.add(SET_HANDLER).read(), Bound::from_owned_ptr_or_err(py, handler)?.unbind(), default.unbind())
    };
    // As in `Function::find`: nothing runs under the lock.
    let _ = NUMPY.set(py, numpy);
    Ok(NUMPY.get(py).unwrap_or_else(|| unreachable!("it is set now")))
}

/// Makes an array of `bytes` bytes. The memory of a large array is kept after the array is gone, unless the user has set an
/// allocator.
pub fn new_array<T>(py: Python<'_>, bytes: usize, make: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    if bytes < LEAST || bytes > get_kept_memory() { make() } else { new_in_block(py, make) }
}

#[inline(never)]
fn new_in_block<T>(py: Python<'_>, make: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let (set_handler, ours, default) = numpy(py)?;
    // SAFETY: the interpreter is attached; NumPy takes a capsule with a handler, and returns the previous one.
    let set = |handler: *mut PyObject| unsafe { Bound::from_owned_ptr_or_err(py, set_handler(handler)) };
    let before = set(ours.as_ptr())?;
    if !before.is(default) {
        set(before.as_ptr())?;
        return make();
    }
    let array = make();
    set(before.as_ptr())?;
    array
}

/// Set how many bytes of large results are kept after their arrays are gone.
///
/// Parameters
/// ----------
/// n : int
///     At least 0; 0 gives back what is kept and keeps nothing more.
///
/// Raises
/// ------
/// ArgumentError
///     `n` is below 0.
///
/// Notes
/// -----
/// Memory that is new to the process comes page by page, and the system clears each page first: that takes up to three
/// times as long as a `maximum` that fills it. So the memory of results of 4 MiB and more is kept for the next results, by
/// default the last 128 MiB. Results above the limit, and arrays under an allocator that you have set, are left to NumPy.
///
/// Examples
/// --------
/// >>> import extremum as ex
/// >>> before = ex.get_kept_memory()
/// >>> ex.set_kept_memory(0)
/// >>> ex.set_kept_memory(before)
#[pyfunction]
#[pyo3(signature = (n, /))]
pub fn set_kept_memory(py: Python<'_>, n: i64) -> PyResult<()> {
    let Ok(bytes) = usize::try_from(n) else {
        let reason = format!("set_kept_memory: {n} is not a number of bytes");
        return Err(error(py, python!("ArgumentError"), reason, "pass an integer of at least 0"));
    };
    LIMIT.store(bytes, Ordering::Relaxed);
    keep(None);
    Ok(())
}

/// How many bytes of large results are kept at most after their arrays are gone.
///
/// Returns
/// -------
/// int
///     At least 0.
///
/// Examples
/// --------
/// >>> import extremum as ex
/// >>> ex.get_kept_memory() >= 0
/// True
#[pyfunction]
pub fn get_kept_memory() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// Bytes of the smallest result whose memory is kept. From this size on NumPy asks for huge pages.
const LEAST: usize = 4 << 20;

/// Bytes that are kept at most by default.
const MOST: usize = 128 << 20;

/// Bytes in front of an array's memory that hold the length of its block: one cache line.
const HEAD: usize = 64;

/// Bytes of a huge page.
const HUGE: usize = 2 << 20;

/// A block of memory, as a pointer to the array's memory behind its head. A dropped block goes back to the system.
struct KeptBlock(NonNull<c_void>);

// SAFETY: the block has one owner.
unsafe impl Send for KeptBlock {}

impl KeptBlock {
    /// A block of `capacity` bytes; None if there is no memory for it.
    fn new(capacity: usize) -> Option<Self> {
        // SAFETY: a block is longer than its head, and aligned for it. The system may decline the request for huge pages.
        unsafe {
            let start = NonNull::new(alloc(Self::layout(capacity)?))?;
            #[cfg(target_os = "linux")]
            libc::madvise(start.as_ptr().cast(), capacity / HUGE * HUGE, libc::MADV_HUGEPAGE);
            start.cast::<usize>().write(capacity);
            Some(Self(start.add(HEAD).cast()))
        }
    }

    fn layout(capacity: usize) -> Option<Layout> {
        Layout::from_size_align(capacity, HUGE).ok()
    }

    fn start(&self) -> NonNull<usize> {
        // SAFETY: the head is there.
        unsafe { self.0.byte_sub(HEAD).cast() }
    }

    /// The length of the block, with its head.
    fn capacity(&self) -> usize {
        // SAFETY: the head holds the length.
        unsafe { self.start().read() }
    }
}

impl Drop for KeptBlock {
    fn drop(&mut self) {
        let Some(layout) = Self::layout(self.capacity()) else { unreachable!("it was made with this layout") };
        // SAFETY: the block was allocated with this layout, and is not used any more.
        unsafe { dealloc(self.start().as_ptr().cast(), layout) };
    }
}

/// Blocks that arrays gave back, the oldest first.
static BLOCKS: Mutex<Vec<KeptBlock>> = Mutex::new(Vec::new());

/// Locks the blocks, but does not wait for ever: if another thread held the lock during a `fork`, the child keeps nothing.
fn blocks() -> Option<MutexGuard<'static, Vec<KeptBlock>>> {
    let attempt = || BLOCKS.try_lock().inspect_err(|_| thread::yield_now()).ok();
    (0..100).find_map(|_| attempt())
}

/// How many bytes of blocks may be kept.
static LIMIT: AtomicUsize = AtomicUsize::new(MOST);

/// Takes a block that has room for `bytes` bytes, and at most a quarter more.
fn take(bytes: usize) -> Option<KeptBlock> {
    let mut blocks = blocks()?;
    let at = blocks.iter().rposition(|block| (bytes..=bytes + bytes / 4).contains(&block.capacity()))?;
    Some(blocks.remove(at))
}

/// Keeps a block, if there is one, and frees the oldest blocks beyond the limit.
fn keep(block: Option<KeptBlock>) {
    let Some(mut blocks) = blocks() else { return };
    blocks.extend(block.filter(|block| block.capacity() >= LEAST));
    let mut room = get_kept_memory();
    let stay = blocks.iter().rev().take(8).take_while(|block| {
        let fits = block.capacity() <= room;
        room = room.saturating_sub(block.capacity());
        fits
    });
    let go = blocks.len() - stay.count();
    let oldest: Vec<KeptBlock> = blocks.drain(..go).collect();
    drop(blocks);
    // After the lock is released: the system takes long to free memory.
    drop(oldest);
}
