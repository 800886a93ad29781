//! The interpreter: calls into Python code, its errors, and work that is detached from it.
//!
//! Before 3.14 Python ends a thread that attaches while the interpreter shuts down: the C library unwinds its stack. pyo3
//! catches what unwinds into a native function, and because of that catch the C library ends the whole process. So such a
//! thread is parked here for ever, as Python 3.14 does.

use extremum_kernels::threads;
use pyo3::exceptions::PyImportError;
use pyo3::ffi::{PyObject, PyObject_Call};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyDict, PyString, PyTuple};
use std::{hint, mem, ptr, thread};

pub type Object<'py> = Bound<'py, PyAny>;

/// Finds a Python function by its name: `extremum.callbacks.find`.
static FIND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Tell this module how to find the Python functions that it calls, before any other call; return the value of
/// `EXTREMUM_NUM_THREADS` if it is not a number of threads.
#[pyfunction]
#[pyo3(signature = (find, /))]
pub fn register(find: Object<'_>) -> Option<String> {
    let py = find.py();
    let _ = FIND.set(py, find.unbind());
    threads::environment()?.err()
}

/// A Python function that native code calls.
pub struct Function {
    name: &'static str,
    cell: PyOnceLock<Py<PyAny>>,
}

impl Function {
    pub const fn new(name: &'static str) -> Self {
        Self { name, cell: PyOnceLock::new() }
    }

    pub fn call<'py, A>(&self, py: Python<'py>, args: A) -> PyResult<Object<'py>>
    where
        A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    {
        self.call_with(py, args.into_pyobject(py)?, None)
    }

    /// Calls the function with named arguments too.
    #[cold]
    #[inline(never)]
    pub fn call_with<'py>(
        &self,
        py: Python<'py>,
        args: Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Object<'py>> {
        let function = match self.cell.get(py) {
            Some(function) => function.clone_ref(py),
            None => self.find(py)?,
        };
        call(function.bind(py), &args, kwargs)
    }

    /// Finds the function, which may run Python code that imports its module.
    #[cold]
    fn find(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let Some(find) = FIND.get(py) else { return Err(PyImportError::new_err("extremum is not imported")) };
        let object = call(find.bind(py), &PyTuple::new(py, [self.name])?, None)?.unbind();
        // Another thread may have found it meanwhile. Not `get_or_init`: it lets other threads run while it holds a lock, and
        // in a child forked at that moment the lock would stay taken.
        let _ = self.cell.set(py, object.clone_ref(py));
        Ok(object)
    }
}

/// A Python function that `extremum.callbacks` finds by its name, at the first call.
macro_rules! python {
    ($name:expr) => {{
        static FUNCTION: $crate::interpreter::Function = $crate::interpreter::Function::new($name);
        &FUNCTION
    }};
}
pub(crate) use python;

/// The text that `str` gives for an object, for a message.
#[cold]
pub fn text(object: &Object<'_>) -> String {
    let text = python!("str").call(object.py(), (object,)).ok();
    let text = text.as_ref().and_then(|text| text.cast::<PyString>().ok());
    text.map_or_else(|| "an object that cannot be shown".into(), |text| text.to_string_lossy().into_owned())
}

type Call = unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// Calls an object. A thread that Python ends during the call never returns from it.
fn call<'py>(
    callable: &Object<'py>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let kwargs = kwargs.map_or(ptr::null_mut(), |dict| dict.as_ptr());
    // pyo3 declares that no C function unwinds. If the compiler saw which function this is, it would remove the guard.
    // SAFETY: the types differ only in whether they unwind.
    let call = hint::black_box(unsafe { mem::transmute::<*const (), Call>(PyObject_Call as *const ()) });
    let guard = Guard;
    // SAFETY: all three objects are alive and of the required types, and the interpreter is attached.
    let result = unsafe { call(callable.as_ptr(), args.as_ptr(), kwargs) };
    mem::forget(guard);
    // SAFETY: the result is a new reference, or null with an error set.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), result) }
}

/// Parks the thread that drops it, for ever.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        loop {
            thread::park();
        }
    }
}

/// Makes an error; if that fails, its failure is the error.
#[cold]
pub fn error(py: Python<'_>, class: &Function, reason: String, remedy: &str) -> PyErr {
    let instance = || {
        let remedy = [("remedy", remedy)].into_py_dict(py)?;
        class.call_with(py, PyTuple::new(py, [&reason])?, Some(&remedy))
    };
    error_of(instance())
}

/// The error that a call has returned or raised.
#[cold]
pub fn error_of(call: PyResult<Object<'_>>) -> PyErr {
    call.map_or_else(|failure| failure, PyErr::from_value)
}

/// Bytes from which on it pays to let other Python threads run.
const LARGE: usize = 1 << 16;

/// Runs `work`, detached from the interpreter if it takes long enough for other threads to notice.
#[inline(always)]
pub fn detach(py: Python<'_>, bytes: usize, work: impl FnOnce()) {
    if bytes < LARGE {
        return work();
    }
    apart(py, work);
}

#[cold]
fn apart(py: Python<'_>, work: impl FnOnce()) {
    let work = Unbound(work);
    py.detach(move || {
        let Unbound(work) = { work };
        work()
    })
}

/// Work that reads and writes array memory through raw pointers and touches no Python object.
struct Unbound<F>(F);

// SAFETY: the closure runs on the thread that made it; `detach` asks for Send to keep Python objects out.
unsafe impl<F> Send for Unbound<F> {}
