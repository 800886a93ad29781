//! Arguments that are not arrays: axes, the type of the indices, flags, words.

use crate::array::{Array, Elements, Ndarray, describe, elements_of};
use crate::interpreter::{ARGUMENT_TYPE, AXIS, Function, error, spelled, text};
use extremum_kernels::ElementType;
use numpy::PyArrayDescr;
use numpy::npyffi::{NpyTypes, get_type_object};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};
use std::ffi::c_int;
use std::ptr;

/// The axes that an argument names, before it is known which array they are of.
pub struct Named<'a, 'py> {
    given: Option<&'a Bound<'py, PyAny>>,
    /// The same as integers, or a tuple of them, where `given` is something else: reading it again may run Python code.
    integers: Option<Bound<'py, PyAny>>,
    /// The axis that counts where none is named; all count where there is none.
    default: Option<i64>,
}

impl<'a, 'py> Named<'a, 'py> {
    /// Reads an axis argument; `array` is only named in messages. May run Python code.
    // A result that is returned goes through memory in pieces, and is waited for: a tenth of the time of a small call.
    #[inline(always)]
    pub fn new(
        given: Option<&'a Bound<'py, PyAny>>,
        default: Option<i64>,
        array: &Ndarray<'py>,
        function: &str,
    ) -> PyResult<Self> {
        let integers = match given {
            Some(axis) if !is_settled(axis) => Some(settle(axis, array, function)?),
            _ => None,
        };
        Ok(Self { given, integers, default })
    }

    /// The axes of an array. Runs no Python code, save to word an error.
    #[inline(always)]
    pub fn of(&self, array: &Array<'py>, function: &str) -> PyResult<Axes> {
        let rank = array.shape().len();
        let mut axes = Axes(0);
        let mut add = |number: i64, axis: Option<&Bound<'py, PyAny>>| {
            let from_front = if number < 0 { number + rank as i64 } else { number };
            if !(0..rank as i64).contains(&from_front) || axes.contains(from_front as usize) {
                let axis = axis.map_or_else(|| number.to_string(), text);
                return Err(self.refuse(&axis, from_front, array, function));
            }
            axes.0 |= 1 << from_front;
            Ok(())
        };
        match (self.integers.as_ref().or(self.given), self.default) {
            (None, None) => return Ok(Axes::all(rank)),
            (None, Some(default)) => add(default, None)?,
            (Some(axis), _) if axis.is_instance_of::<PyInt>() => add(number(axis)?, Some(axis))?,
            (Some(several), _) => {
                for axis in several.cast::<PyTuple>()?.iter_borrowed() {
                    add(number(&axis)?, Some(&axis))?;
                }
            }
        }
        Ok(axes)
    }

    #[cold]
    fn refuse(&self, axis: &str, from_front: i64, array: &Array<'py>, function: &str) -> PyErr {
        let rank = array.shape().len();
        let (reason, remedy) = if (0..rank as i64).contains(&from_front) {
            (format!("axis {from_front} is given more than once"), "list each axis once".into())
        } else {
            let plural = if rank == 1 { "" } else { "s" };
            let remedy = match rank {
                0 => "pass an array with at least one dimension".into(),
                _ => format!("use an axis in [-{rank}, {}]", rank - 1),
            };
            (format!("axis {axis} is out of range for an array with {rank} dimension{plural}"), remedy)
        };
        let given = self.given.map_or_else(|| axis.into(), text);
        let given = format!("{}, axis={given}", array.summary());
        error(array.object.py(), &AXIS, format!("{function}: {reason}"), Some(given), &remedy)
    }
}

/// Whether reading an argument again runs no Python code and gives the same: an integer, or a tuple of integers.
#[inline]
fn is_settled(axis: &Bound<'_, PyAny>) -> bool {
    is_number(axis) || axis.cast::<PyTuple>().is_ok_and(|axes| axes.iter_borrowed().all(|axis| is_number(&axis)))
}

/// Whether an axis is an integer and no truth value, which Python counts among them.
#[inline]
fn is_number(axis: &Bound<'_, PyAny>) -> bool {
    axis.is_instance_of::<PyInt>() && !axis.is_instance_of::<PyBool>()
}

/// Reads an argument once and for all.
#[cold]
fn settle<'py>(given: &Bound<'py, PyAny>, array: &Ndarray<'py>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = given.py();
    let integer = |axis: Bound<'py, PyAny>| {
        static INDEX: Function = Function::new("index");
        let number = match axis.is_instance_of::<PyBool>() {
            true => Err(PyTypeError::new_err("a truth value")),
            false => INDEX.call(py, (&axis,)),
        };
        number.or_else(|failure| {
            // Not what else went wrong in an `__index__`.
            if !failure.is_instance_of::<PyTypeError>(py) {
                return Err(failure);
            }
            static REPR: Function = Function::new("repr");
            let reason = format!("{function}: axis {} is not an integer", spelled(&REPR, &axis));
            let given = format!("{}, axis={}", Array::new(array.clone(), function)?.summary(), text(given));
            Err(error(py, &ARGUMENT_TYPE, reason, Some(given), "pass an int or a tuple of ints"))
        })
    };
    if !(given.is_instance_of::<PyTuple>() || given.is_instance_of::<PyList>()) {
        return integer(given.clone());
    }
    // The items of a list may change while they are read, and a subclass may have a way of its own to give them.
    static TUPLE: Function = Function::new("tuple");
    let several = TUPLE.call(py, (given,))?;
    let axes = several.cast::<PyTuple>()?.iter().map(integer).collect::<PyResult<Vec<_>>>()?;
    Ok(PyTuple::new(py, axes)?.into_any())
}

/// The number of an integer; one of more than 64 bits is outside every array, as the largest number is.
#[inline]
fn number(axis: &Bound<'_, PyAny>) -> PyResult<i64> {
    axis.extract().or_else(|failure: PyErr| match failure.is_instance_of::<PyOverflowError>(axis.py()) {
        true => Ok(i64::MAX),
        false => Err(failure),
    })
}

/// A set of axes of one array; more than 64 dimensions NumPy does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Axes(u64);

impl Axes {
    /// All axes of an array.
    #[inline]
    fn all(rank: usize) -> Self {
        Self(if rank == 64 { u64::MAX } else { (1 << rank) - 1 })
    }

    /// Whether the set holds all axes of an array.
    #[inline]
    pub fn are_all(self, rank: usize) -> bool {
        self == Self::all(rank)
    }

    /// Whether the set holds an axis.
    #[inline]
    pub fn contains(self, axis: usize) -> bool {
        self.0 >> axis & 1 == 1
    }
}

/// NPY_LONG or NPY_LONGLONG, whichever NumPy calls int64.
const LONG: c_int = if size_of::<std::ffi::c_long>() == 8 { 7 } else { 9 };
const INT64: Elements = Elements { number: LONG, element: ElementType::Int64, swapped: false };

/// Reads the type of the indices; where it is left out, it is that of `out`, if indices can have that. May run Python code.
#[inline(always)]
pub fn index_type<'py>(
    dtype: Option<&Bound<'py, PyAny>>,
    out: Option<&Ndarray<'py>>,
    function: &str,
) -> PyResult<Elements> {
    let own = match (dtype, out) {
        (Some(dtype), _) => named(dtype, function)?,
        (None, Some(out)) => elements_of(out).filter(|own| own.element.is_integer()).unwrap_or(INT64),
        (None, None) => INT64,
    };
    Ok(Elements { swapped: false, ..own })
}

// (Not inlined, so that calls that name none stay small.)
#[inline(never)]
fn named(dtype: &Bound<'_, PyAny>, function: &str) -> PyResult<Elements> {
    static DTYPE: Function = Function::new("dtype");
    static INDEX_TYPE: Function = Function::new("index_type");
    if let Some(known) = of_class(dtype) {
        return Ok(known);
    }
    let index = |dtype: &Bound<'_, PyAny>| {
        let descriptor = dtype.cast::<PyArrayDescr>().ok()?;
        // SAFETY: it is a descriptor, and alive.
        let elements = unsafe { describe(descriptor.as_ptr().cast()) };
        elements.filter(|elements| !elements.swapped && elements.element.is_integer())
    };
    let py = dtype.py();
    let known = match dtype.is_instance_of::<PyArrayDescr>() {
        true => index(dtype),
        false => DTYPE.call(py, (dtype,)).ok().and_then(|dtype| index(&dtype)),
    };
    match known {
        Some(known) => Ok(known),
        // Refused in words that are said in one place.
        None => Ok(index(&INDEX_TYPE.call(py, (function, dtype))?).expect("a type of indices")),
    }
}

/// The type of indices that is named by its class, as `numpy.int32` is: to convert a class takes NumPy longer than to find the
/// largest of a few elements.
#[inline]
fn of_class(dtype: &Bound<'_, PyAny>) -> Option<Elements> {
    let wide = size_of::<std::ffi::c_long>() == 8;
    let classes = [
        (NpyTypes::PyByteArrType_Type, 1, ElementType::Int8),
        (NpyTypes::PyUByteArrType_Type, 2, ElementType::UInt8),
        (NpyTypes::PyShortArrType_Type, 3, ElementType::Int16),
        (NpyTypes::PyUShortArrType_Type, 4, ElementType::UInt16),
        (NpyTypes::PyIntArrType_Type, 5, ElementType::Int32),
        (NpyTypes::PyUIntArrType_Type, 6, ElementType::UInt32),
        (if wide { NpyTypes::PyLongArrType_Type } else { NpyTypes::PyLongLongArrType_Type }, LONG, ElementType::Int64),
        (
            if wide { NpyTypes::PyULongArrType_Type } else { NpyTypes::PyULongLongArrType_Type },
            LONG + 1,
            ElementType::UInt64,
        ),
    ];
    // SAFETY: the interpreter is attached.
    let is = |class| ptr::eq(unsafe { get_type_object(dtype.py(), class) }.cast(), dtype.as_ptr());
    classes
        .into_iter()
        .find_map(|(class, number, element)| is(class).then_some(Elements { number, element, swapped: false }))
}

/// An argument that may be left out, but not given as None.
pub struct Given<'py>(pub Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;
    #[inline]
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Some(object.to_owned())))
    }
}

impl Given<'_> {
    /// What is left out.
    pub const NOT: Self = Self(None);

    /// Reads a flag, false where it is left out; what is no flag is refused.
    #[inline(always)]
    pub fn flag(self, name: &str, function: &str) -> PyResult<bool> {
        match &self.0 {
            None => Ok(false),
            Some(given) => flag(given, name, function),
        }
    }
}

fn flag(given: &Bound<'_, PyAny>, name: &str, function: &str) -> PyResult<bool> {
    static FLAG: Function = Function::new("flag");
    match given.cast::<PyBool>() {
        Ok(flag) => Ok(flag.is_true()),
        Err(_) => FLAG.call(given.py(), (function, name, given))?.extract(),
    }
}

/// Whether the word for what is done about NaN leaves it out; None where it says something else, which the Python side knows.
#[inline]
pub fn omits(nan_policy: Option<&Bound<'_, PyAny>>) -> Option<bool> {
    let Some(word) = nan_policy else { return Some(false) };
    match word.cast_exact::<PyString>().ok()?.to_str().ok()? {
        "propagate" => Some(false),
        "omit" => Some(true),
        _ => None,
    }
}
