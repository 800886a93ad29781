//! The `dtype` argument: the type of the indices.

use crate::array::describe;
use crate::errors::{Kind, error};
use extremum_kernels::{ElementType, IndexType};
use numpy::npyffi::{PY_ARRAY_API, PyArray_Descr};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ptr;

/// The index type that is asked for, and NumPy's descriptor of it.
#[inline]
pub fn index_type(
    py: Python<'_>,
    dtype: Option<&Bound<'_, PyAny>>,
    function: &str,
) -> PyResult<(IndexType, Descriptor)> {
    let mut descriptor: *mut PyArray_Descr = ptr::null_mut();
    let Some(dtype) = dtype.filter(|dtype| !dtype.is_none()) else {
        // NPY_LONG or NPY_LONGLONG, whichever NumPy calls int64.
        let number = if size_of::<std::ffi::c_long>() == 8 { 7 } else { 9 };
        // SAFETY: the interpreter is attached.
        let descriptor = unsafe { PY_ARRAY_API.PyArray_DescrFromType(py, number) };
        return Ok((IndexType::Int64, Descriptor(descriptor)));
    };
    // SAFETY: the interpreter is attached; NumPy writes a new reference where it returns 1.
    if unsafe { PY_ARRAY_API.PyArray_DescrConverter(py, dtype.as_ptr(), &raw mut descriptor) } != 1 {
        return Err(PyErr::fetch(py));
    }
    let descriptor = Descriptor(descriptor);
    // SAFETY: the descriptor is alive.
    let described = unsafe { describe(py, descriptor.get()) };
    let index = match described {
        Some((ElementType::Int64, false)) => Some(IndexType::Int64),
        Some((ElementType::Int32, false)) => Some(IndexType::Int32),
        Some((ElementType::UInt64, false)) => Some(IndexType::UInt64),
        Some((ElementType::UInt32, false)) => Some(IndexType::UInt32),
        _ => None,
    };
    match index {
        Some(index) => Ok((index, descriptor)),
        None => {
            // SAFETY: the descriptor is alive and owned by `descriptor`.
            let name = unsafe { Bound::from_borrowed_ptr(py, descriptor.get().cast()) };
            let reason = format!("{}: index type {name} is not one of int64, int32, uint64, uint32", function);
            Err(error(py, Kind::ElementType, reason, None, Some("use dtype=int64, the default".into())))
        }
    }
}

/// An owned reference to a NumPy descriptor.
pub struct Descriptor(*mut PyArray_Descr);

impl Descriptor {
    /// The borrowed pointer.
    pub fn get(&self) -> *mut PyArray_Descr {
        self.0
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and values of this type do not leave the calls that hold the interpreter.
        unsafe { ffi::Py_DECREF(self.0.cast()) }
    }
}
