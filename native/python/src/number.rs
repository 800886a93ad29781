//! Numbers beside arrays: operands without dimensions, in the arrays' element type.

use crate::array::Array;
use crate::descriptor::{Elements, describe, descriptor};
use crate::operand::{Ndarray, Operands, settled};
use extremum_kernels::ElementType;
use numpy::npyffi::{_PyDataType_GET_ITEM_DATA, PY_ARRAY_API, PyArray_Descr};
use pyo3::ffi::{PyFloat_AsDouble, PyLong_AsLongLongAndOverflow};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};

/// What is no array: a number, or for the Python side.
pub struct Number<'a, 'py> {
    /// How many operands stand before it.
    at: usize,
    object: Borrowed<'a, 'py, PyAny>,
    /// The element that it becomes, at the lowest address.
    bits: u64,
}

/// Takes the arrays of one call; what [`settled`] does not take goes to the numbers.
#[inline]
pub fn operands<'a, 'py>(objects: &'a Bound<'py, PyTuple>, numbers: &mut Vec<Number<'a, 'py>>) -> Operands<'py> {
    let mut arrays = Operands::with_capacity(objects.len());
    for (at, object) in objects.iter_borrowed().enumerate() {
        match settled(&object) {
            Some(array) => arrays.push(array),
            None => note(numbers, at, object),
        }
    }
    arrays
}

/// Notes an operand that is no array.
#[cold]
#[inline(never)]
pub fn note<'a, 'py>(numbers: &mut Vec<Number<'a, 'py>>, at: usize, object: Borrowed<'a, 'py, PyAny>) {
    numbers.push(Number { at, object, bits: 0 });
}

/// Gives numbers the element type that the first array has now, which `Array::new` may find changed, and says which it is;
/// None where there is no number, or one for the Python side.
#[inline]
pub fn convert(numbers: &mut [Number<'_, '_>], arrays: &[Ndarray<'_>]) -> Option<Elements> {
    if numbers.is_empty() { None } else { converted(numbers, arrays) }
}

#[cold]
fn converted(numbers: &mut [Number<'_, '_>], arrays: &[Ndarray<'_>]) -> Option<Elements> {
    // SAFETY: an array has a descriptor.
    let elements = unsafe { describe((*arrays.first()?.fields()).descr) }?;
    for number in numbers {
        number.bits = bits(&number.object, elements)?;
    }
    Some(Elements { swapped: false, ..elements })
}

/// Puts numbers between the arrays, as arrays without dimensions, where they stand among the operands: the place decides
/// which of several NaNs is the result. The numbers have to stay where they are until the arrays have been read.
#[cold]
pub fn insert<'py>(numbers: &mut [Number<'_, 'py>], elements: Elements, arrays: &mut Vec<Array<'py>>) {
    for number in numbers {
        if let Some(first) = arrays.first() {
            let array = first.beside((&raw mut number.bits).cast(), elements);
            arrays.insert(number.at, array);
        }
    }
}

/// The element that a number becomes, exactly as the Python side makes it; None for what is neither of the type's kind nor
/// of a simpler one, or may be too large.
fn bits(number: &Bound<'_, PyAny>, elements: Elements) -> Option<u64> {
    use ElementType::*;
    let element = elements.element;
    let (float, flag) = (number.is_exact_instance_of::<PyFloat>(), number.is_exact_instance_of::<PyBool>());
    if !float && !flag && !number.is_exact_instance_of::<PyInt>() {
        return scalar(number, elements);
    }
    let mut overflow = 0;
    // SAFETY: the number is alive, and of the class that is asked for.
    let (value, integer) = unsafe {
        match float {
            true => (PyFloat_AsDouble(number.as_ptr()), 0),
            false => {
                let integer = PyLong_AsLongLongAndOverflow(number.as_ptr(), &mut overflow);
                (integer as f64, integer)
            }
        }
    };
    let spare = 64 - 8 * element.size();
    let bits = match element {
        Float16 | BFloat16 | Float32 | Float64 => {
            let limit = if element == Float32 { f64::from(f32::MAX) } else { f64::MAX };
            if overflow != 0 || value.is_finite() && value.abs() > limit {
                return None;
            }
            match element {
                Float64 => value.to_bits(),
                Float32 => (value as f32).to_bits().into(),
                _ => exact(value, element)?,
            }
        }
        _ if float || element == Bool && !flag => return None,
        UInt64 if overflow > 0 => number.extract().ok()?,
        _ => {
            let bits = integer as u64;
            let fits = match element {
                Int8 | Int16 | Int32 | Int64 => integer << spare >> spare == integer,
                _ => integer >= 0 && bits << spare >> spare == bits,
            };
            (overflow == 0 && fits).then_some(bits)?
        }
    };
    Some(if cfg!(target_endian = "big") { bits << spare } else { bits })
}

/// The element of a scalar of NumPy's, where it is of the type itself: a subclass may give it another meaning. (NumPy looks for
/// that of ml_dtypes' scalars in the wrong place.)
fn scalar(number: &Bound<'_, PyAny>, elements: Elements) -> Option<u64> {
    if elements.element == ElementType::BFloat16 {
        return None;
    }
    let py = number.py();
    let own = descriptor(py, elements.number).ok()?;
    let mut bits = 0u64;
    // SAFETY: the descriptor is alive; NumPy writes an element of the scalar's type, which has no more bytes.
    unsafe {
        let class = (*_PyDataType_GET_ITEM_DATA(own.as_ptr() as *const PyArray_Descr)).typeobj;
        if number.get_type_ptr() != class {
            return None;
        }
        PY_ARRAY_API.PyArray_ScalarAsCtype(py, number.as_ptr(), (&raw mut bits).cast());
    }
    Some(bits)
}

/// A number that float16 or bfloat16 holds as it is; None where NumPy or ml_dtypes would have to round it, and for NaN, and for
/// what is too small or large for the step that finds the bits.
fn exact(value: f64, element: ElementType) -> Option<u64> {
    let single = value as f32;
    if f64::from(single) != value {
        return None;
    }
    if element == ElementType::BFloat16 {
        let bits = single.to_bits();
        return (bits & 0xffff == 0).then_some(u64::from(bits >> 16));
    }
    if single != 0.0 && !(2f32.powi(-14)..=65504.0).contains(&single.abs()) {
        return None;
    }
    // The exponent of float16 is counted from 112 less.
    let bits = (single * 2f32.powi(-112)).to_bits();
    (bits & 0x1fff == 0).then_some(u64::from(bits >> 16 & 0x8000 | bits >> 13 & 0x7fff))
}
