//! How the arguments of a call become arrays.
//!
//! All of this may run Python code, which may do anything to any array. What an array looks like is therefore read
//! afterwards, once for all arrays of the call, by `Array::new`.

use crate::descriptor::meet;
use crate::errors::{Kind, error, within};
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, NpyTypes, PyArray_Check, PyArrayObject, PyArrayObject_fields, get_type_object,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};
use smallvec::SmallVec;

/// What a call does with the elements of an array.
#[derive(Clone, Copy)]
pub enum Use {
    /// It compares those of one array with each other.
    Compare,
    /// It takes them into a result, beside those of other arrays.
    Take,
    /// It overwrites them.
    Fill,
}

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

/// Takes an argument of `function`: a plain array as it is, anything else by way of `extremum.arrays`.
#[inline]
pub fn operand<'py>(object: &Bound<'py, PyAny>, what: Use, function: &str) -> PyResult<Ndarray<'py>> {
    let array = if is_plain(object) { Ndarray(object.clone()) } else { convert(object, what, function)? };
    // SAFETY: an array always has a descriptor; nothing runs before `meet` holds on to it.
    unsafe { meet(object.py(), (*array.fields()).descr) };
    Ok(array)
}

/// Takes several; Python's own numbers take the element type of the first that is not one.
#[inline]
pub fn operands<'py>(objects: &Bound<'py, PyTuple>, function: &str) -> PyResult<Operands<'py>> {
    if objects.iter_borrowed().any(|object| !is_plain(&object) && is_number(&object)) {
        return beside_numbers(objects, function);
    }
    let mut arrays = Operands::with_capacity(objects.len());
    for object in objects.iter_borrowed() {
        arrays.push(operand(&object, Use::Take, function)?);
    }
    Ok(arrays)
}

#[cold]
fn beside_numbers<'py>(objects: &Bound<'py, PyTuple>, function: &str) -> PyResult<Operands<'py>> {
    let as_element = objects.py().import("extremum.arrays")?.getattr("as_element")?;
    let mut arrays = Vec::with_capacity(objects.len());
    for object in objects.iter() {
        arrays.push(if is_number(&object) { None } else { Some(operand(&object, Use::Take, function)?) });
    }
    let like = arrays.iter().flatten().next().map(|array| array.object().getattr("dtype")).transpose()?;
    let settle = |(object, array): (Bound<'py, PyAny>, Option<Ndarray<'py>>)| match (array, &like) {
        (Some(array), _) => Ok(array),
        (None, Some(dtype)) => converted(as_element.call1((&object, dtype)), &object, function),
        (None, None) => convert(&object, Use::Take, function),
    };
    objects.iter().zip(arrays).map(settle).collect()
}

/// Whether an object is a number of Python's own: a bool, an int or a float.
fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyFloat>()
}

/// Whether an object is an array and of no subclass, which may give its elements another meaning.
#[inline]
fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the interpreter is attached.
    let plain = unsafe { get_type_object(object.py(), NpyTypes::PyArray_Type) };
    object.get_type_ptr() == plain
}

#[cold]
fn convert<'py>(object: &Bound<'py, PyAny>, what: Use, function: &str) -> PyResult<Ndarray<'py>> {
    let by = match what {
        Use::Compare => "as_array",
        Use::Take => "as_elements",
        Use::Fill => "as_output",
    };
    converted(object.py().import("extremum.arrays")?.getattr(by)?.call1((object,)), object, function)
}

/// The answer of `extremum.arrays`, held to its promise to be an array.
fn converted<'py>(
    answer: PyResult<Bound<'py, PyAny>>,
    object: &Bound<'py, PyAny>,
    function: &str,
) -> PyResult<Ndarray<'py>> {
    let py = object.py();
    let array = answer.map_err(|error| within(py, error, function))?;
    Ndarray::new(array).or_else(|_| {
        let reason = format!("{function}: extremum.arrays made no array of {}", object.get_type().name()?);
        Err(error(py, Kind::ArgumentType, reason, None, None))
    })
}
