//! The `dtype` argument: the type of the indices.

use crate::array::Array;
use crate::axes::Axes;
use crate::call::Function;
use crate::descriptor::{Elements, describe, descriptor};
use crate::errors::{Kind, error};
use crate::operand::Ndarray;
use extremum_kernels::{ElementType, IndexType};
use numpy::PyArrayDescr;
use numpy::npyffi::{NpyTypes, get_type_object};
use pyo3::prelude::*;
use std::ffi::c_int;
use std::ptr;

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
