//! Arguments that are not arrays: axes, the type of the indices, flags, words.

use crate::array::{Array, Elements, Ndarray, describe, element_type, elements_of};
use crate::interpreter::{Object, error_of, python};
use extremum_kernels::{ElementType, Omit};
use numpy::PyArrayDescr;
use numpy::npyffi::{NpyTypes, get_type_object};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};
use std::ffi::c_int;
use std::ptr;

/// Converts an axis argument to an integer or a tuple of integers; None if it is one already. May run Python code.
// Inlined: a returned result goes through memory in pieces, and waiting for it takes a tenth of the time of a small call.
#[inline(always)]
pub fn numbers<'py>(axis: Option<&Object<'py>>, array: &Ndarray<'py>, function: &str) -> PyResult<Option<Object<'py>>> {
    let open = axis.filter(|axis| !are_numbers(axis));
    open.map(|axis| match axis.cast_exact::<PyList>().map(PyListMethods::to_tuple) {
        Ok(axes) if are_numbers(&axes) => Ok(axes.into_any()),
        _ => python!("integers").call(axis.py(), (function, axis, array)),
    })
    .transpose()
}

fn are_numbers(axis: &Object<'_>) -> bool {
    is_number(axis) || axis.cast::<PyTuple>().is_ok_and(|axes| axes.iter_borrowed().all(|axis| is_number(&axis)))
}

/// Whether an axis is an integer. A bool does not count, although it is an integer to Python.
pub fn is_number(axis: &Object<'_>) -> bool {
    axis.is_instance_of::<PyInt>() && !axis.is_instance_of::<PyBool>()
}

/// A set of axes of one array. NumPy arrays have at most 64 dimensions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AxisSet(u64);

impl AxisSet {
    /// The axes that a numeric argument names; without it, the default axis or all. Runs Python code only to word an error.
    #[inline(always)]
    pub fn of(axis: Option<&Object<'_>>, default: Option<i64>, array: &Array<'_>, function: &str) -> PyResult<Self> {
        let rank = array.shape.len();
        let mut axes = Self(0);
        let mut add = |number: i64| {
            let from_front = if number < 0 { number + rank as i64 } else { number };
            if !(0..rank as i64).contains(&from_front) || axes.contains(from_front as usize) {
                return Err(refuse(axis, default, array, function));
            }
            axes.0 |= 1 << from_front;
            Ok(())
        };
        // An integer of more than 64 bits is out of range for every array, and so is `i64::MAX`.
        let number = |each: &Object<'_>| each.extract().unwrap_or(i64::MAX);
        match (axis, default) {
            (None, None) => return Ok(Self::all(rank)),
            (None, Some(default)) => add(default)?,
            (Some(axis), _) if axis.is_instance_of::<PyInt>() => add(number(axis))?,
            (Some(axis), _) => axis.cast::<PyTuple>()?.iter_borrowed().try_for_each(|each| add(number(&each)))?,
        }
        Ok(axes)
    }

    pub fn all(rank: usize) -> Self {
        Self(if rank == 64 { u64::MAX } else { (1 << rank) - 1 })
    }

    pub fn contains(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }
}

#[cold]
fn refuse(axis: Option<&Object<'_>>, default: Option<i64>, array: &Array<'_>, function: &str) -> PyErr {
    let py = array.object.py();
    let axis = or_default(py, axis, default);
    error_of(python!("axis_error").call(py, (function, axis, &array.shape[..], &array.object)))
}

/// An axis, or the default axis without one, for Python code.
pub fn or_default<'py>(py: Python<'py>, axis: Option<&Object<'py>>, default: Option<i64>) -> Option<Object<'py>> {
    axis.cloned().or_else(|| default.map(|default| PyInt::new(py, default).into_any()))
}

/// NPY_LONG or NPY_LONGLONG, whichever NumPy calls int64.
const LONG: c_int = if size_of::<std::ffi::c_long>() == 8 { 7 } else { 9 };
/// The default type of indices.
pub const INT64: Elements = Elements { number: LONG, element: ElementType::Int64, swapped: false };

/// Reads the type of the indices. By default it is the type of `out` if that is an integer type, else int64. May run Python code.
#[inline(always)]
pub fn index_type<'py>(dtype: Option<&Object<'py>>, out: Option<&Ndarray<'py>>, function: &str) -> PyResult<Elements> {
    let own = match (dtype, out) {
        (Some(dtype), _) => of_dtype(dtype, function)?,
        (None, Some(out)) => elements_of(out).filter(|own| own.element.is_integer()).unwrap_or(INT64),
        (None, None) => INT64,
    };
    Ok(Elements { swapped: false, ..own })
}

// Not inlined, so that calls without a type stay small.
#[inline(never)]
fn of_dtype(dtype: &Object<'_>, function: &str) -> PyResult<Elements> {
    let index = |dtype: &Object<'_>| {
        let descriptor = dtype.cast::<PyArrayDescr>().ok()?;
        // SAFETY: the object is a descriptor, and alive.
        let elements = unsafe { describe(descriptor.as_ptr().cast()) };
        elements.filter(|elements| !elements.swapped && elements.element.is_integer())
    };
    let py = dtype.py();
    let other = || python!("dtype").call(py, (dtype,)).ok().and_then(|dtype| index(&dtype));
    match of_class(dtype).or_else(|| index(dtype)).or_else(other) {
        Some(elements) => Ok(elements),
        // The Python side refuses it, so that the words are in one place.
        None => Ok(index(&python!("index_type").call(py, (function, dtype))?).expect("a type of indices")),
    }
}

/// The type of indices that a class such as `numpy.int32` names. NumPy takes longer to convert a class than it takes to find the
/// largest of a few elements.
fn of_class(dtype: &Object<'_>) -> Option<Elements> {
    use NpyTypes::*;
    // In the order of NumPy's type numbers, from 1 on.
    let classes = [
        PyByteArrType_Type, PyUByteArrType_Type, PyShortArrType_Type, PyUShortArrType_Type, PyIntArrType_Type,
        PyUIntArrType_Type, PyLongArrType_Type, PyULongArrType_Type, PyLongLongArrType_Type, PyULongLongArrType_Type,
    ];
    // SAFETY: the interpreter is attached.
    let is = |class| ptr::eq(unsafe { get_type_object(dtype.py(), class) }.cast(), dtype.as_ptr());
    let number = 1 + classes.into_iter().position(is)? as c_int;
    Some(Elements { number, element: element_type(number)?, swapped: false })
}

/// An argument that may be left out, which is not the same as None.
pub struct Argument<'py>(pub Option<Object<'py>>);

impl<'py> FromPyObject<'_, 'py> for Argument<'py> {
    type Error = PyErr;
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Some(object.to_owned())))
    }
}

impl<'py> Argument<'py> {
    /// The argument is left out.
    pub const ABSENT: Self = Self(None);

    /// Reads an axis, None for all axes, and the default axis: the last if the argument is left out.
    #[inline(always)]
    pub fn or_last_axis(self) -> (Option<Object<'py>>, Option<i64>) {
        let default = self.0.is_none().then_some(-1);
        (self.0.filter(|axis| !axis.is_none()), default)
    }

    /// Reads a flag, which is false if it is left out; refuses what is not a flag.
    #[inline(always)]
    pub fn flag(self, name: &str, function: &str) -> PyResult<bool> {
        match &self.0 {
            None => Ok(false),
            Some(value) => flag(value, name, function),
        }
    }
}

fn flag(value: &Object<'_>, name: &str, function: &str) -> PyResult<bool> {
    match value.cast::<PyBool>() {
        Ok(flag) => Ok(flag.is_true()),
        Err(_) => python!("flag").call(value.py(), (function, name, value))?.extract(),
    }
}

/// The elements that a NaN policy leaves out; None for a policy that only the Python side knows.
#[inline]
pub fn omission(nan_policy: Option<&Object<'_>>) -> Option<Omit> {
    let Some(policy) = nan_policy else { return Some(Omit::Nothing) };
    match word(policy)? {
        "propagate" => Some(Omit::Nothing),
        "omit" => Some(Omit::Nan),
        _ => None,
    }
}

/// The text of a string; None for an object of another class.
#[inline]
pub fn word<'a>(word: &'a Object<'_>) -> Option<&'a str> {
    word.cast_exact::<PyString>().ok()?.to_str().ok()
}
