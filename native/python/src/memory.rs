//! Memory of large results: what arrays give back is kept for the next ones, as far as a limit allows.
//!
//! The system hands out large blocks page by page and clears each first, which takes longer than an operation that fills
//! them. NumPy lets an array have an allocator of its own (NEP 49): the arrays own their memory as all arrays do.

use crate::blocks::{Block, HEAD, LEAST, keep, limit, set_limit, take};
use crate::call::Function;
use crate::errors::{Kind, error};
use pyo3::ffi::{PyCapsule_GetPointer, PyCapsule_New, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

extern "C" fn allocate(_: *mut c_void, size: usize) -> *mut c_void {
    let Some(bytes) = size.checked_add(HEAD) else { return ptr::null_mut() };
    take(bytes).or_else(|| Block::new(bytes)).map_or(ptr::null_mut(), Block::into_memory)
}

extern "C" fn allocate_cleared(context: *mut c_void, count: usize, size: usize) -> *mut c_void {
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    let memory = allocate(context, bytes);
    if !memory.is_null() {
        // SAFETY: so much was allocated.
        unsafe { memory.write_bytes(0, bytes) };
    }
    memory
}

extern "C" fn reallocate(context: *mut c_void, memory: *mut c_void, size: usize) -> *mut c_void {
    let to = allocate(context, size);
    if !memory.is_null() && !to.is_null() {
        // SAFETY: NumPy passes the memory of a block, which it uses no more; both have as many bytes behind their heads.
        unsafe {
            let block = Block::of_memory(memory);
            memory.copy_to_nonoverlapping(to, size.min(block.capacity - HEAD));
            keep(block);
        }
    }
    to
}

extern "C" fn free(_: *mut c_void, memory: *mut c_void, _: usize) {
    if !memory.is_null() {
        // SAFETY: NumPy passes the memory of a block, which it uses no more.
        keep(unsafe { Block::of_memory(memory) });
    }
}

/// NumPy's `PyDataMemAllocator`.
#[repr(C)]
struct Allocator {
    context: *mut c_void,
    malloc: extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: extern "C" fn(*mut c_void, *mut c_void, usize),
}

/// NumPy's `PyDataMem_Handler`.
#[repr(C)]
struct Handler {
    name: [c_char; 127],
    version: u8,
    allocator: Allocator,
}

// SAFETY: it is never written to, and its context is null.
unsafe impl Sync for Handler {}

static HANDLER: Handler = Handler {
    name: name(b"extremum"),
    version: 1,
    allocator: Allocator {
        context: ptr::null_mut(),
        malloc: allocate,
        calloc: allocate_cleared,
        realloc: reallocate,
        free,
    },
};

const fn name(text: &[u8]) -> [c_char; 127] {
    let mut name = [0; 127];
    let mut at = 0;
    while at < text.len() {
        name[at] = text[at] as c_char;
        at += 1;
    }
    name
}

/// The names that NumPy gives a capsule with a handler, and its own handler.
const CAPSULE: &CStr = c"mem_handler";
const DEFAULT: &CStr = c"default_allocator";

/// `PyDataMem_SetHandler`, and its place in NumPy's table of functions.
type SetHandler = unsafe extern "C" fn(*mut PyObject) -> *mut PyObject;
const SET_HANDLER: usize = 304;

struct Numpy {
    set_handler: SetHandler,
    handler: Py<PyAny>,
}

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

impl Numpy {
    fn get(py: Python<'_>) -> PyResult<&'static Self> {
        if let Some(numpy) = NUMPY.get(py) {
            return Ok(numpy);
        }
        static TABLE: Function = Function::new("numpy_table");
        let table = TABLE.call_with(py, PyTuple::empty(py), None)?;
        // SAFETY: the interpreter is attached; NumPy's table has this function since 1.22.
        let numpy = unsafe {
            let table = PyCapsule_GetPointer(table.as_ptr(), ptr::null()).cast::<SetHandler>();
            if table.is_null() {
                return Err(PyErr::fetch(py));
            }
            let handler = PyCapsule_New((&raw const HANDLER).cast_mut().cast(), CAPSULE.as_ptr(), None);
            let handler = Bound::from_owned_ptr_or_err(py, handler)?.unbind();
            Self { set_handler: table.add(SET_HANDLER).read(), handler }
        };
        // As in `Function::find`: nothing runs under the lock.
        let _ = NUMPY.set(py, numpy);
        Ok(NUMPY.get(py).unwrap_or_else(|| unreachable!("it is set now")))
    }

    /// Sets the handler of arrays to come, and returns that of those before.
    fn set<'py>(&self, handler: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the interpreter is attached; NumPy takes a capsule with a handler, and returns a new reference.
        unsafe { Bound::from_owned_ptr_or_err(handler.py(), (self.set_handler)(handler.as_ptr())) }
    }
}

/// Makes an array of so many bytes, whose memory is kept when it goes, if it is large. An allocator that the user has set
/// is left to do its work.
#[inline]
pub fn made<'py>(
    py: Python<'py>,
    bytes: usize,
    make: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if bytes < LEAST { make() } else { made_of_block(py, bytes, make) }
}

#[inline(never)]
fn made_of_block<'py>(
    py: Python<'py>,
    bytes: usize,
    make: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if bytes > limit() {
        return make();
    }
    let numpy = Numpy::get(py)?;
    let before = numpy.set(numpy.handler.bind(py))?;
    // SAFETY: the interpreter is attached; NumPy's capsules hold a handler, whose name ends with a zero.
    let is_default = unsafe {
        let handler = PyCapsule_GetPointer(before.as_ptr(), CAPSULE.as_ptr()).cast::<Handler>();
        !handler.is_null() && CStr::from_ptr((&raw const (*handler).name).cast()) == DEFAULT
    };
    if !is_default {
        numpy.set(&before)?;
        return make();
    }
    let array = make();
    numpy.set(&before)?;
    array
}

/// Set how many bytes of large results are kept after their arrays are gone.
///
/// Parameters
/// ----------
/// n : int
///     At least 0, which gives back what is kept and keeps nothing more.
///
/// Raises
/// ------
/// ArgumentError
///     `n` is below 0.
///
/// Notes
/// -----
/// Memory that is new to the process comes page by page, each of them cleared first: that takes up to three times as long
/// as a `maximum` that fills it. So the memory of results of 4 MiB and more is kept for the next ones, the last 128 MiB of
/// it unless this says otherwise. Larger results, and arrays under an allocator that you have given NumPy, are left to NumPy.
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
        return Err(error(py, Kind::Argument, reason, None, Some("pass an integer of at least 0".into())));
    };
    set_limit(bytes);
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
    limit()
}
