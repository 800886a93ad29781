//! `maximum` and `minimum`.

#![expect(clippy::doc_lazy_continuation, reason = "texts for Python are not Markdown")]

use crate::arguments::omission;
use crate::array::{Array, Elements, Ndarray, Output, elements_of, take_plain, target};
use crate::interpreter::{Object, detach, error, error_of, python};
use extremum_kernels::layout::{PerAxis, sort};
use extremum_kernels::{ElementType, Extreme, Omit, Operand, extremum};
use numpy::npyffi::PY_ARRAY_API;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyTuple};
use smallvec::SmallVec;

/// A function of any number of operands, with its text.
macro_rules! elementwise {
    ($function:ident, $largest:literal, $text:literal) => {
        #[doc = include_str!($text)]
        #[pyfunction]
        #[pyo3(signature = (*arrays, out=None, nan_policy=None, r#where=None))]
        #[pyo3(text_signature = "(*arrays, out=None, nan_policy='propagate', where=None)")]
        pub fn $function<'py>(
            py: Python<'py>,
            arrays: &Bound<'py, PyTuple>,
            out: Option<&Object<'py>>,
            nan_policy: Option<&Object<'py>>,
            r#where: Option<&Object<'py>>,
        ) -> PyResult<Object<'py>> {
            if r#where.is_none()
                && let Some(omit) = omission(nan_policy)
                && let Some(result) = run(py, stringify!($function), $largest, omit == Omit::Nan, arrays, out)?
            {
                return Ok(result);
            }
            // The Python side handles other libraries' arrays, numbers that do not fit the element type, times, mixed types,
            // NaN policies and masks.
            python!("extremum").call(py, (stringify!($function), arrays, out, nan_policy, r#where))
        }
    };
}

elementwise!(maximum, true, "../docs/maximum.rst");
elementwise!(minimum, false, "../docs/minimum.rst");

/// The elementwise extremum of plain arrays of one element type; with `omit`, NaN gives way to any number.
#[pyfunction(name = "extremum")]
#[pyo3(signature = (function, arrays, *, largest, omit, out))]
pub fn elementwise<'py>(
    py: Python<'py>,
    function: &str,
    arrays: &Bound<'py, PyTuple>,
    largest: bool,
    omit: bool,
    out: Option<&Object<'py>>,
) -> PyResult<Object<'py>> {
    let failure = || {
        let reason = format!("{function}: the operands are not plain arrays of one element type");
        error(py, python!("ElementTypeError"), reason, "convert them to one element type first")
    };
    run(py, function, largest, omit, arrays, out)?.ok_or_else(failure)
}

/// Computes with plain arrays of one element type, and numbers that fit the type; None if there are other operands.
fn run<'py>(
    py: Python<'py>,
    function: &str,
    largest: bool,
    omit: bool,
    arrays: &Bound<'py, PyTuple>,
    out: Option<&Object<'py>>,
) -> PyResult<Option<Object<'py>>> {
    // The operands that are not arrays, each with its position: numbers, or objects for the Python side.
    let mut numbers = Vec::new();
    let mut objects = SmallVec::<[Ndarray<'py>; 4]>::with_capacity(arrays.len());
    for (at, object) in arrays.iter_borrowed().enumerate() {
        match take_plain(&object) {
            Some(array) => objects.push(array),
            None => numbers.push((at, object)),
        }
    }
    let scalars = if numbers.is_empty() { Some(None) } else { convert(&numbers, &objects).map(Some) };
    let Some(scalars) = scalars else { return Ok(None) };
    let out = out.map(|out| target(out, function)).transpose()?;
    // No Python code runs from here until the kernel has ended, except to word an error.
    let mut arrays = Vec::with_capacity(objects.len());
    for object in objects {
        arrays.push(Array::new(object, function)?);
    }
    let out = out.map(|out| Array::new(out, function)).transpose()?;
    let Some(&Array { elements, .. }) = arrays.first() else { return Ok(None) };
    let converted_to = scalars.as_ref().map(|&(element, _)| element);
    if arrays.iter().map(Array::element).chain(converted_to).any(|element| element != elements.element) {
        return Ok(None);
    }
    let shape = broadcast(py, function, &arrays)?;
    let model = model(&arrays, &shape);
    let output = Output::new(py, out, function, (&shape, elements), model, &arrays, true)?;
    let mut kernels: Vec<Operand> = arrays
        .iter()
        .map(|array| {
            let own = array.shape.iter().zip(&array.strides).rev();
            let strides = own.map(|(&len, &stride)| if len == 1 { 0 } else { stride }).collect();
            Operand { data: array.data, strides, swapped: array.elements.swapped }
        })
        .collect();
    // The numbers go to their positions among the operands: the position decides which of several NaNs is the result.
    for ((at, _), bits) in numbers.iter().zip(scalars.iter().flat_map(|(_, bits)| bits)) {
        kernels.insert(*at, Operand { data: (&raw const *bits).cast(), strides: PerAxis::new(), swapped: false });
    }
    let target = &output.target;
    let to = target.data;
    let extreme = Extreme { largest, omit: omit && elements.element.is_float() };
    let axes = shape.iter().copied().zip(target.strides.iter().copied()).rev();
    // SAFETY: the operands describe readable memory of the broadcast shape; the output has been checked.
    detach(py, target.bytes(), || unsafe { extremum(&kernels, elements.element, extreme, axes, to) });
    output.finish().map(Some)
}

/// The strides that a result should have: those of the operand of its shape whose lines are the longest, or of the first such operand.
fn model<'a>(arrays: &'a [Array<'_>], shape: &[usize]) -> &'a [isize] {
    let mut whole = arrays.iter().filter(|array| shape.len() > 1 && *array.shape == *shape);
    let Some(first) = whole.next() else { return &[] };
    let are_alike = whole.all(|array| array.strides == first.strides);
    if are_alike {
        return &first.strides;
    }
    let whole: SmallVec<[&Array<'_>; 4]> = arrays.iter().filter(|array| *array.shape == *shape).collect();
    // Of equal keys, `max_by_key` takes the last.
    whole.iter().rev().max_by_key(|array| line(array, &whole)).map_or(&[], |array| &array.strides)
}

/// The elements of a line in the order of an array's memory: along its nearest axis, and along those that continue it in all arrays.
fn line(array: &Array<'_>, all: &[&Array<'_>]) -> usize {
    let mut axes: PerAxis<usize> = (0..array.shape.len()).filter(|&axis| array.shape[axis] > 1).collect();
    sort(&mut axes, |&axis| array.strides[axis].unsigned_abs());
    let mut len = 1;
    for (number, &axis) in axes.iter().enumerate() {
        let continues = |array: &&Array<'_>| {
            let before = axes[number - 1];
            array.strides[axis] == array.strides[before].wrapping_mul(array.shape[before] as isize)
        };
        if number > 0 && !all.iter().all(continues) {
            break;
        }
        len *= array.shape[axis];
    }
    len
}

/// The shape that all operands broadcast to, by NumPy's rule.
fn broadcast(py: Python<'_>, function: &str, arrays: &[Array<'_>]) -> PyResult<PerAxis<usize>> {
    let rank = arrays.iter().map(|array| array.shape.len()).max().unwrap_or(0);
    let mut shape = PerAxis::from_elem(1, rank);
    for array in arrays {
        for (whole, &len) in shape.iter_mut().rev().zip(array.shape.iter().rev()) {
            if *whole == 1 {
                *whole = len;
            } else if len != 1 && len != *whole {
                let shapes = arrays.iter().map(|array| PyTuple::new(py, &array.shape)).collect::<PyResult<Vec<_>>>()?;
                return Err(error_of(python!("broadcast_shape").call(py, (function, shapes))));
            }
        }
    }
    Ok(shape)
}

/// Converts numbers to the element type that the first array has now, which `Array::new` may find changed; None if a number is
/// for the Python side.
#[cold]
fn convert(
    numbers: &[(usize, Borrowed<'_, '_, PyAny>)],
    arrays: &[Ndarray<'_>],
) -> Option<(ElementType, SmallVec<[u64; 4]>)> {
    let elements = elements_of(arrays.first()?)?;
    let bits = numbers.iter().map(|(_, number)| bits(number, elements)).collect::<Option<_>>()?;
    Some((elements.element, bits))
}

/// The bits of the element that a number becomes, exactly as the Python side converts it; None for a number that may be too
/// large, or is neither of the type's kind nor of a simpler kind.
pub fn bits(number: &Object<'_>, elements: Elements) -> Option<u64> {
    use ElementType::*;
    let element = elements.element;
    let float = number.is_exact_instance_of::<PyFloat>();
    let flag = number.is_exact_instance_of::<PyBool>();
    if !float && !flag && !number.is_exact_instance_of::<PyInt>() {
        return scalar(number, elements);
    }
    let spare = 64 - 8 * element.size();
    let bits = match element {
        Float16 | BFloat16 | Float32 | Float64 => {
            let value = if float { number.extract().ok()? } else { number.extract::<i64>().ok()? as f64 };
            match element {
                Float64 => value.to_bits(),
                Float32 if value.is_finite() && value.abs() > f64::from(f32::MAX) => return None,
                Float32 => (value as f32).to_bits().into(),
                _ => exact(value, element)?,
            }
        }
        _ if float || element == Bool && !flag => return None,
        _ => {
            let integer: i128 = number.extract().ok()?;
            let (least, most) =
                (if element.is_signed() { i128::from(!element.max() as i64) } else { 0 }, element.max());
            (least..=most.into()).contains(&integer).then_some(integer as u64)?
        }
    };
    Some(if cfg!(target_endian = "big") { bits << spare } else { bits })
}

/// The bits of a NumPy scalar of exactly this type: a subclass may give them another meaning. None for bfloat16: NumPy looks for
/// the bits of ml_dtypes' scalars in the wrong place.
fn scalar(number: &Object<'_>, elements: Elements) -> Option<u64> {
    if elements.element == ElementType::BFloat16 {
        return None;
    }
    let py = number.py();
    let mut bits = 0u64;
    // SAFETY: the interpreter is attached; NumPy returns a new reference, and writes an element of the scalar's type, at most
    // 8 bytes.
    unsafe {
        let class = PY_ARRAY_API.PyArray_TypeObjectFromType(py, elements.number);
        if !number.get_type().is(&Bound::from_owned_ptr_or_opt(py, class)?) {
            return None;
        }
        PY_ARRAY_API.PyArray_ScalarAsCtype(py, number.as_ptr(), (&raw mut bits).cast());
    }
    Some(bits)
}

/// The bits of a number that float16 or bfloat16 holds exactly. None for NaN, for a number that NumPy or ml_dtypes would have to
/// round, and for a number that is too small or too large for the step that finds the bits.
fn exact(value: f64, element: ElementType) -> Option<u64> {
    // How much less the exponent bias is than that of float32, the bits of the fraction that are left out, and the usual numbers.
    let (bias, spare, usual) = match element {
        ElementType::BFloat16 => (0, 16, 0.0..=f32::INFINITY),
        _ => (112, 13, 2f32.powi(-14)..=65504.0),
    };
    let single = value as f32;
    if f64::from(single) != value || single != 0.0 && !usual.contains(&single.abs()) {
        return None;
    }
    let bits = (single * 2f32.powi(-bias)).to_bits();
    (bits & ((1 << spare) - 1) == 0).then_some(u64::from(bits >> 16 & 0x8000 | bits >> spare & 0x7fff))
}
