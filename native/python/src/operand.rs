//! How the arguments of a call become arrays.
//!
//! All of this may run Python code, which may do anything to any array. What an array looks like is therefore read
//! afterwards, once for all arrays of the call, by `Array::new`.

use crate::call::{Function, text};
use crate::descriptor::{is_time, meet};
use crate::errors::{Kind, error};
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, NpyTypes, PyArray_Check, PyArrayObject, PyArrayObject_fields, get_type_object,
};
use pyo3::prelude::*;
use smallvec::SmallVec;

/// An object that is a NumPy array, by its real type: a proxy makes `isinstance` say so of itself.
#[derive(Clone)]
pub struct Ndarray<'py>(Bound<'py, PyAny>);

impl<'py> Ndarray<'py> {
    /// The object, where it is an array.
    pub fn new(object: Bound<'py, PyAny>) -> Result<Self, Bound<'py, PyAny>> {
        // SAFETY: the interpreter is attached and the object is alive.
        let is = unsafe { PyArray_Check(object.py(), object.as_ptr()) != 0 };
        if is { Ok(Self(object)) } else { Err(object) }
    }

    /// The object.
    #[inline]
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.0
    }

    /// The object.
    pub fn into_object(self) -> Bound<'py, PyAny> {
        self.0
    }

    /// What NumPy holds of the array at this moment.
    #[inline]
    pub fn fields(&self) -> *const PyArrayObject_fields {
        // SAFETY: the object is an array.
        unsafe { _PyArray_GET_ITEM_DATA(self.0.as_ptr() as *const PyArrayObject) }
    }
}

/// The operands of one call.
pub type Operands<'py> = SmallVec<[Ndarray<'py>; 4]>;

/// Takes an array of elements that kernels know, and of no subclass, which may give them another meaning; None where it is for
/// the Python side.
#[inline]
pub fn settled<'py>(object: &Bound<'py, PyAny>) -> Option<Ndarray<'py>> {
    if !is_plain(object) {
        return None;
    }
    // SAFETY: the object is an array, which always has a descriptor; nothing runs before `meet` holds on to it.
    unsafe {
        let descriptor = (*_PyArray_GET_ITEM_DATA(object.as_ptr() as *const PyArrayObject)).descr;
        if is_time(descriptor) {
            return None;
        }
        let array = Ndarray(object.clone());
        meet(object.py(), descriptor);
        Some(array)
    }
}

/// Takes a plain array; the Python side has made one of anything else.
#[inline]
pub fn operand<'py>(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Ndarray<'py>> {
    if !is_plain(object) {
        return Err(no_array(object, function));
    }
    let array = Ndarray(object.clone());
    // SAFETY: an array always has a descriptor; nothing runs before `meet` holds on to it.
    unsafe { meet(object.py(), (*array.fields()).descr) };
    Ok(array)
}

/// Takes an array to write to: one of a subclass by way of the Python side, which knows whether it may be.
#[inline]
pub fn target<'py>(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Ndarray<'py>> {
    if !is_plain(object) {
        static AS_OUTPUT: Function = Function::new("as_output");
        AS_OUTPUT.call(object.py(), (object, function))?;
    }
    let array = Ndarray::new(object.clone()).map_err(|object| no_array(&object, function))?;
    // SAFETY: as above.
    unsafe { meet(object.py(), (*array.fields()).descr) };
    Ok(array)
}

#[cold]
fn no_array(object: &Bound<'_, PyAny>, function: &str) -> PyErr {
    let reason = format!("{function}: {} is not a plain array", text(object.get_type().as_any()));
    error(object.py(), Kind::ArgumentType, reason, None, Some("pass a numpy.ndarray".into()))
}

/// Whether an object is an array and of no subclass, which may give its elements another meaning.
#[inline]
fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the interpreter is attached.
    let plain = unsafe { get_type_object(object.py(), NpyTypes::PyArray_Type) };
    object.get_type_ptr() == plain
}
