//! `extremum._native`: reads the arguments of the array functions, checks them, and calls the kernels.
//!
//! Each call crosses from Python once, whatever the element type. The Python side of the package does everything off the
//! fast path: it converts foreign arrays and words errors.

#![allow(clippy::too_many_arguments, reason = "functions of Python have as many")]

mod arguments;
mod array;
mod elementwise;
mod interpreter;
mod keywords;
mod memory;
mod reductions;
mod settings;
mod top_k;

// ONNX Runtime finds `RegisterCustomOps` by its name in the file of this module, so the wheel has the kernels only once.
use extremum_onnxruntime as _;
use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use crate::{
        elementwise::{elementwise, maximum, minimum},
        interpreter::register,
        memory::{get_kept_memory, set_kept_memory},
        reductions::{argmax, argmin, hardmax, max, min, minmax, reduce},
        settings::{get_instruction_set, get_num_threads, instruction_sets},
        settings::{set_bytes_per_thread, set_instruction_set, set_num_threads, set_small_limit},
        top_k::{top_k, top_k_plain},
    };
    use numpy::npyffi::NPY_TYPES;
    use pyo3::exceptions::PyImportError;
    use pyo3::ffi::{PyInterpreterState_Get, PyInterpreterState_GetID};
    use pyo3::prelude::*;
    use std::ffi::c_int;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // SAFETY: the interpreter is attached.
        if unsafe { PyInterpreterState_GetID(PyInterpreterState_Get()) } != 0 {
            return Err(PyImportError::new_err(
                "extremum runs in the main interpreter of a process only, as NumPy does",
            ));
        }
        // NumPy's functions are looked up under a lock: do it now, before a fork can happen during a call.
        crate::array::descriptor(module.py(), NPY_TYPES::NPY_BOOL as c_int)?;
        let names = ["argmax", "argmin", "hardmax", "max", "maximum", "min", "minimum", "minmax", "top_k"];
        crate::keywords::wrap(module, &names)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
