//! Refuses keywords that a function does not have, in the words of the Python side.
//!
//! pyo3 refuses them before a function runs, in words of its own. So each function gets a wrapper that asks Python, after an
//! error, whether a keyword was unknown.
//!
//! Simpler ways cost a call too much, or are not there. For a signature with `**`, pyo3 takes the slower of Python's calling
//! conventions: a small call takes half as long again. A wrapper that calls the function as an object needs
//! `PyObject_Vectorcall`, which the stable ABI has from Python 3.12 on, and this module is built for 3.10. A wrapper that knows
//! its function by its `self` would no longer be pickled as a function of its module. So there is a wrapper for each function,
//! which calls what CPython itself would call.

use crate::interpreter::{Object, error_of, python};
use pyo3::ffi::{self, PyCFunctionFastWithKeywords, PyMethodDef, PyMethodDefPointer, PyObject};
use pyo3::prelude::*;
use std::ffi::CString;
use std::sync::OnceLock;

/// One wrapper for each function, by number; a few more than there are functions.
const WRAPPERS: [PyCFunctionFastWithKeywords; 12] = [
    call::<0>, call::<1>, call::<2>, call::<3>, call::<4>, call::<5>, call::<6>, call::<7>, call::<8>, call::<9>,
    call::<10>, call::<11>,
];

/// The functions as pyo3 made them, with their names, by the numbers of their wrappers.
static PLAIN: [OnceLock<(PyCFunctionFastWithKeywords, &str)>; WRAPPERS.len()] =
    [const { OnceLock::new() }; WRAPPERS.len()];

/// Replaces functions of a module by wrappers.
pub fn wrap(module: &Bound<'_, PyModule>, names: &[&'static str]) -> PyResult<()> {
    assert!(names.len() <= WRAPPERS.len(), "{} functions, and {} wrappers", names.len(), WRAPPERS.len());
    for ((&name, plain), wrapper) in names.iter().zip(&PLAIN).zip(WRAPPERS) {
        let function = module.getattr(name)?;
        let doc = format!("{name}{}\n--\n\n{}", function.getattr("__text_signature__")?, function.getattr("__doc__")?);
        let flags = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;
        let definition = PyMethodDef {
            ml_name: CString::new(name)?.into_raw(),
            ml_meth: PyMethodDefPointer { PyCFunctionFastWithKeywords: wrapper },
            ml_flags: flags,
            ml_doc: CString::new(doc)?.into_raw(),
        };
        // SAFETY: `function` is native: it has flags, and a pointer to a function of the type that they tell. CPython, too, casts
        // the pointer to that type. The definition lives as long as the process.
        let object = unsafe {
            assert_eq!(ffi::PyCFunction_GetFlags(function.as_ptr()), flags, "{name} has the fast calling convention");
            let own = ffi::PyCFunction_GetFunction(function.as_ptr()).expect("a native function");
            let own = PyMethodDefPointer { PyCFunction: own }.PyCFunctionFastWithKeywords;
            let _ = plain.set((own, name));
            let owner = module.name()?;
            let object = ffi::PyCFunction_NewEx(Box::leak(Box::new(definition)), module.as_ptr(), owner.as_ptr());
            Bound::from_owned_ptr_or_err(module.py(), object)?
        };
        module.setattr(name, object)?;
    }
    Ok(())
}

/// Calls the function as pyo3 made it.
unsafe extern "C" fn call<const NUMBER: usize>(
    module: *mut PyObject,
    arguments: *const *mut PyObject,
    count: ffi::Py_ssize_t,
    keywords: *mut PyObject,
) -> *mut PyObject {
    let Some(&(plain, name)) = PLAIN[NUMBER].get() else { unreachable!("set before Python has the wrapper") };
    // SAFETY: the caller's promise.
    let result = unsafe { plain(module, arguments, count, keywords) };
    if result.is_null() && !keywords.is_null() {
        // SAFETY: Python calls with the interpreter attached, an error set, and a tuple of names.
        unsafe { refuse_unknown(name, Bound::from_borrowed_ptr(Python::assume_attached(), keywords)) };
    }
    result
}

/// Replaces the error that is set, if a keyword is unknown.
#[cold]
fn refuse_unknown(function: &str, keywords: Object<'_>) {
    let py = keywords.py();
    // SAFETY: the interpreter is attached. The check comes before `fetch`, which would resume a panic.
    if unsafe { ffi::PyErr_ExceptionMatches(ffi::PyExc_TypeError) } == 0 {
        return;
    }
    let failure = PyErr::fetch(py);
    match python!("unknown_keyword").call(py, (function, keywords)) {
        Ok(answer) if answer.is_none() => failure,
        other => error_of(other),
    }
    .restore(py);
}
