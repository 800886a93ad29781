//! Arguments that are not arrays: axes, the type of the indices, flags, words.

use crate::array::{Array, Elements, Ndarray, describe, descriptor};
use crate::interpreter::{Function, Kind, error, repr, text};
use extremum_kernels::{ElementType, IndexType};
use numpy::PyArrayDescr;
use numpy::npyffi::{NpyTypes, get_type_object};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};
use std::ffi::c_int;
use std::ptr;

/// The axes that count where none is named.
#[derive(Clone, Copy)]
pub enum Default {
    /// All of them.
    All,
    /// The last.
    Last,
}

/// The axes that an argument names, before it is known which array they are of.
pub struct Named<'a, 'py> {
    given: Option<&'a Bound<'py, PyAny>>,
    /// The same as integers, or a tuple of them, where `given` is something else: reading it again may run Python code.
    integers: Option<Bound<'py, PyAny>>,
    default: Default,
}

impl<'a, 'py> Named<'a, 'py> {
    /// Reads an axis argument; `array` is only named in messages. May run Python code.
    // A result that is returned goes through memory in pieces, and is waited for: a tenth of the time of a small call.
    #[inline(always)]
    pub fn new(
        given: Option<&'a Bound<'py, PyAny>>,
        default: Default,
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
        let mut axes = Axes(0);
        match (self.integers.as_ref().or(self.given), self.default) {
            (None, Default::All) => {
                axes = Axes::all(array.shape().len());
            }
            (None, Default::Last) => self.add(&mut axes, -1, None, array, function)?,
            (Some(axis), _) if axis.is_instance_of::<PyInt>() => {
                self.add(&mut axes, number(axis)?, Some(axis), array, function)?;
            }
            (Some(several), _) => {
                for axis in several.cast::<PyTuple>()?.iter_borrowed() {
                    self.add(&mut axes, number(&axis)?, Some(&axis), array, function)?;
                }
            }
        }
        Ok(axes)
    }

    #[inline]
    fn add(
        &self,
        axes: &mut Axes,
        number: i64,
        axis: Option<&Bound<'py, PyAny>>,
        array: &Array<'py>,
        function: &str,
    ) -> PyResult<()> {
        let rank = array.shape().len() as i64;
        let from_front = if number < 0 { number + rank } else { number };
        if !(0..rank).contains(&from_front) || axes.contains(from_front as usize) {
            let axis = axis.map_or_else(|| number.to_string(), text);
            return Err(self.refuse(&axis, from_front, array, function));
        }
        axes.0 |= 1 << from_front;
        Ok(())
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
        error(array.object().py(), Kind::Axis, format!("{function}: {reason}"), Some(given), Some(remedy))
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
            let summary = Array::new(array.clone(), function)?.summary();
            let reason = format!("{function}: axis {} is not an integer", repr(&axis));
            let remedy = Some("pass an int or a tuple of ints".into());
            Err(error(py, Kind::ArgumentType, reason, Some(format!("{summary}, axis={}", text(given))), remedy))
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
const INT64: Elements = {
    let number = if size_of::<std::ffi::c_long>() == 8 { 7 } else { 9 };
    Elements { number, element: ElementType::Int64, swapped: false }
};

/// The type of the indices.
pub struct Index<'py> {
    /// What an array of it has.
    pub elements: Elements,
    /// As NumPy knows it.
    pub descriptor: Bound<'py, PyAny>,
}

impl<'py> Index<'py> {
    /// Reads the argument. May run Python code.
    #[inline(always)]
    pub fn new(py: Python<'py>, dtype: Option<&Bound<'py, PyAny>>, function: &str) -> PyResult<Self> {
        match dtype {
            Some(dtype) if !dtype.is_none() => Self::named(dtype, function),
            _ => Ok(Self { elements: INT64, descriptor: descriptor(py, INT64.number)? }),
        }
    }

    /// Reads the argument; where it is left out, the type is that of `out`, if indices can have that. May run Python code.
    #[inline(always)]
    pub fn beside(
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Ndarray<'py>>,
        function: &str,
    ) -> PyResult<Self> {
        match (dtype, out) {
            (None, Some(out)) => {
                // SAFETY: an array has a descriptor, which is alive as long as the array is not given another.
                let elements = unsafe { describe((*out.fields()).descr) };
                let own = elements.filter(|elements| kernel(elements.element).is_some()).unwrap_or(INT64);
                let elements = Elements { swapped: false, ..own };
                Ok(Self { elements, descriptor: descriptor(py, elements.number)? })
            }
            _ => Self::new(py, dtype, function),
        }
    }

    /// As the kernels know it.
    #[inline]
    pub fn kernel(&self) -> IndexType {
        kernel(self.elements.element).unwrap_or(IndexType::Int64)
    }

    // (Not inlined, so that calls that name none stay small.)
    #[inline(never)]
    fn named(dtype: &Bound<'py, PyAny>, function: &str) -> PyResult<Self> {
        let py = dtype.py();
        if let Some(number) = number_of_class(dtype) {
            let descriptor = descriptor(py, number)?;
            // SAFETY: the descriptor is alive.
            let elements = unsafe { describe(descriptor.as_ptr().cast()) };
            if let Some(elements) = elements {
                return Ok(Self { elements, descriptor });
            }
        }
        static DTYPE: Function = Function::new("dtype");
        static INDEX_TYPE: Function = Function::new("index_type");
        let described = |descriptor: &Bound<'py, PyArrayDescr>| {
            // SAFETY: it is a descriptor, and alive.
            let elements = unsafe { describe(descriptor.as_ptr().cast()) };
            elements.filter(|elements| !elements.swapped && kernel(elements.element).is_some())
        };
        let asked = match dtype.cast::<PyArrayDescr>() {
            Ok(descriptor) => Ok(descriptor.clone()),
            Err(_) => DTYPE.call(py, (dtype,)).and_then(|descriptor| Ok(descriptor.cast_into()?)),
        };
        let descriptor = match asked {
            Ok(descriptor) if described(&descriptor).is_some() => descriptor,
            // Refused in words that are said in one place.
            _ => INDEX_TYPE.call(py, (function, dtype))?.cast_into()?,
        };
        let elements = described(&descriptor).expect("a type of indices");
        Ok(Self { elements, descriptor: descriptor.into_any() })
    }
}

/// NumPy's number of a type of indices that is named by its class, as `numpy.int32` is: to convert a class takes NumPy
/// longer than to find the largest of a few elements.
#[inline]
fn number_of_class(dtype: &Bound<'_, PyAny>) -> Option<c_int> {
    let wide = size_of::<std::ffi::c_long>() == 8;
    let classes = [
        (NpyTypes::PyByteArrType_Type, 1),
        (NpyTypes::PyUByteArrType_Type, 2),
        (NpyTypes::PyShortArrType_Type, 3),
        (NpyTypes::PyUShortArrType_Type, 4),
        (NpyTypes::PyIntArrType_Type, 5),
        (NpyTypes::PyUIntArrType_Type, 6),
        if wide { (NpyTypes::PyLongArrType_Type, 7) } else { (NpyTypes::PyLongLongArrType_Type, 9) },
        if wide { (NpyTypes::PyULongArrType_Type, 8) } else { (NpyTypes::PyULongLongArrType_Type, 10) },
    ];
    // SAFETY: the interpreter is attached.
    let is = |class| ptr::eq(unsafe { get_type_object(dtype.py(), class) }.cast(), dtype.as_ptr());
    classes.into_iter().find_map(|(class, number)| is(class).then_some(number))
}

/// The index type of some elements, where they can be indices.
#[inline]
fn kernel(element: ElementType) -> Option<IndexType> {
    match element {
        ElementType::Int64 => Some(IndexType::Int64),
        ElementType::Int32 => Some(IndexType::Int32),
        ElementType::UInt64 => Some(IndexType::UInt64),
        ElementType::UInt32 => Some(IndexType::UInt32),
        ElementType::Int16 => Some(IndexType::Int16),
        ElementType::UInt16 => Some(IndexType::UInt16),
        ElementType::Int8 => Some(IndexType::Int8),
        ElementType::UInt8 => Some(IndexType::UInt8),
        _ => None,
    }
}

/// The elements of the axes that are reduced.
pub fn block(x: &Array<'_>, axes: Axes) -> u64 {
    let lens = x.shape().iter().enumerate().filter(|&(axis, _)| axes.contains(axis));
    lens.fold(1, |block, (_, &len)| block.saturating_mul(len as u64))
}

/// An index that could not be written down.
#[cold]
pub fn too_far(x: &Array<'_>, index: IndexType, block: u64, function: &str) -> PyErr {
    let name = format!("{index:?}").to_lowercase();
    let reason = format!("{function}: an index up to {} does not fit {name}", block - 1);
    let name = if function.starts_with("arg") { "dtype" } else { "index_dtype" };
    error(x.object().py(), Kind::Argument, reason, Some(x.summary()), Some(format!("use {name}=int64")))
}

/// A flag, or what was given in its place.
pub struct Flag<'py>(Result<bool, Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Flag<'py> {
    type Error = PyErr;
    #[inline]
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(object.cast::<PyBool>().map_or_else(|_| Err(object.to_owned()), |flag| Ok(flag.is_true()))))
    }
}

impl Flag<'_> {
    /// What a flag is that is not given.
    pub const UNSET: Self = Self(Ok(false));

    /// Reads the argument; what is no flag is refused.
    #[inline]
    pub fn read(self, name: &str, function: &str) -> PyResult<bool> {
        self.0.or_else(|given| other(&given, name, function))
    }
}

#[cold]
fn other(given: &Bound<'_, PyAny>, name: &str, function: &str) -> PyResult<bool> {
    static FLAG: Function = Function::new("flag");
    FLAG.call(given.py(), (function, name, given))?.extract()
}

/// Whether the word for what is done about NaN leaves it out; None where it says something else, which the Python side knows.
#[inline]
pub fn omits(nan_policy: Option<&Bound<'_, PyAny>>) -> Option<bool> {
    nan_policy.map_or(Some(false), word)
}

fn word(nan_policy: &Bound<'_, PyAny>) -> Option<bool> {
    match nan_policy.cast_exact::<PyString>().ok()?.to_str().ok()? {
        "propagate" => Some(false),
        "omit" => Some(true),
        _ => None,
    }
}
