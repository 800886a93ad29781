//! Numbers beside arrays: operands without dimensions, in the arrays' element type.

use crate::descriptor::{Elements, describe, descriptor};
use crate::operand::{Ndarray, Operands, settled};
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{ElementType, Operand};
use numpy::npyffi::{_PyDataType_GET_ITEM_DATA, PY_ARRAY_API, PyArray_Descr};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};
use smallvec::SmallVec;
use std::ptr;

/// The largest finite number of bfloat16.
const BFLOAT16_MAX: f64 = f32::from_bits(0x7f7f_0000) as f64;

/// A number, and its place among the operands.
pub struct Number {
    /// How many operands stand before it.
    pub at: usize,
    /// The type that it was given.
    pub element: ElementType,
    /// The element, at the lowest address.
    bits: u64,
}

impl Number {
    /// The number as the kernels see it, as long as it stays where it is.
    pub fn operand(&self) -> Operand {
        Operand { data: (&raw const self.bits).cast(), strides: PerAxis::new(), swapped: false }
    }
}

/// The numbers of one call, in the order of the operands.
pub type Numbers = SmallVec<[Number; 2]>;

/// Takes arrays with numbers between them; None where one of the operands is for the Python side. The numbers become what
/// the first array holds now, which `Array::new` may find changed.
#[cold]
pub fn split<'py>(objects: &Bound<'py, PyTuple>) -> Option<(Operands<'py>, Numbers)> {
    let (mut arrays, mut others) = (Operands::new(), SmallVec::<[usize; 4]>::new());
    for (at, object) in objects.iter_borrowed().enumerate() {
        match settled(&object) {
            Some(array) => arrays.push(array),
            None => others.push(at),
        }
    }
    // SAFETY: an array has a descriptor.
    let elements = unsafe { describe((*arrays.first()?.fields()).descr) }?;
    let number = |at| {
        let number = objects.get_borrowed_item(at).ok()?;
        let bits = bits(&number, elements)?;
        Some(Number { at, element: elements.element, bits })
    };
    let numbers = others.into_iter().map(number).collect::<Option<_>>()?;
    Some((arrays, numbers))
}

/// The element that a number becomes, exactly as the Python side makes it; None for what is not of the type, nor of a
/// simpler kind, or too large for it.
fn bits(number: &Bound<'_, PyAny>, elements: Elements) -> Option<u64> {
    use ElementType::*;
    let (float, flag) = (number.is_exact_instance_of::<PyFloat>(), number.is_exact_instance_of::<PyBool>());
    if !float && !flag && !number.is_exact_instance_of::<PyInt>() {
        return scalar(number, elements);
    }
    let element = elements.element;
    let spare = 64 - 8 * element.size();
    let bits = match element {
        Float16 | BFloat16 | Float32 | Float64 => {
            let limit = match element {
                Float16 => 65504.0,
                BFloat16 => BFLOAT16_MAX,
                Float32 => f64::from(f32::MAX),
                _ => f64::MAX,
            };
            let value: f64 = number.extract().ok()?;
            if value.is_finite() && value.abs() > limit {
                return None;
            }
            match element {
                Float64 => value.to_bits(),
                Float32 => (value as f32).to_bits().into(),
                _ => rounded(number, elements)?.into(),
            }
        }
        _ if float || element == Bool && !flag => return None,
        Int8 | Int16 | Int32 | Int64 => {
            let value: i64 = number.extract().ok()?;
            (value << spare >> spare == value).then_some(value as u64)?
        }
        _ => {
            let value: u64 = number.extract().ok()?;
            (value << spare >> spare == value).then_some(value)?
        }
    };
    Some(if cfg!(target_endian = "big") { bits << spare } else { bits })
}

/// The element of one of NumPy's scalars, where it is of the type itself: a subclass may give it another meaning.
fn scalar(number: &Bound<'_, PyAny>, elements: Elements) -> Option<u64> {
    let py = number.py();
    let own = descriptor(py, elements.number).ok()?;
    let mut bits = 0u64;
    // SAFETY: the descriptor is alive; NumPy writes an element of the scalar's type, of which none that is known here
    // has more bytes.
    unsafe {
        if number.get_type_ptr() != (*_PyDataType_GET_ITEM_DATA(own.as_ptr() as *const PyArray_Descr)).typeobj {
            return None;
        }
        PY_ARRAY_API.PyArray_ScalarAsCtype(py, number.as_ptr(), (&raw mut bits).cast());
    }
    Some(bits)
}

/// The element of 16 bits that NumPy, or ml_dtypes, rounds a number to.
fn rounded(number: &Bound<'_, PyAny>, elements: Elements) -> Option<u16> {
    let py = number.py();
    let own = descriptor(py, elements.number).ok()?;
    // SAFETY: NumPy takes over the reference to the descriptor, and makes an array of one element.
    unsafe {
        let array = PY_ARRAY_API.PyArray_FromAny(py, number.as_ptr(), own.into_ptr().cast(), 0, 0, 0, ptr::null_mut());
        let array = Ndarray::new(Bound::from_owned_ptr_or_err(py, array).ok()?).ok()?;
        Some((*array.fields()).data.cast::<u16>().read())
    }
}
