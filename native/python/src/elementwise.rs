//! `maximum` and `minimum`.

use crate::array::Array;
use crate::call::Function;
use crate::errors::{Kind, error, refuse_unknown};
use crate::number::{convert, insert, operands};
use crate::options::omits;
use crate::output::{Output, argument, order_of_memory, tuple};
use crate::work::detached;
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{ElementType, Extreme, Operand, extremum};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

macro_rules! elementwise {
    ($function:ident, $largest:literal, $superlative:literal, $zero:literal, $operators:literal, $(#[doc = $example:literal])+) => {
        #[doc = concat!("Elementwise ", $superlative, " of any number of arrays, in one pass.")]
        ///
        #[doc = concat!("NaN in any operand gives NaN; `", stringify!($function), "(-0.0, +0.0)` is `", $zero, "`")]
        #[doc = concat!("(IEEE 754-2019 ", stringify!($function), "), so the result does not depend on the order of")]
        /// the operands.
        ///
        /// Parameters
        /// ----------
        /// *arrays : array_like
        ///     One or more operands, broadcast against each other. Where their element types differ the result has that
        ///     of ``numpy.result_type``; Python numbers take the element type of the arrays beside them. Never modified.
        /// out : numpy.ndarray, optional
        ///     Receives the result; needs its shape and type, may have any strides, may be one of the operands.
        /// nan_policy : str, default "propagate"
        ///     ``propagate``: NaN (NaT) wins. ``omit``: it gives way to any number, as in ``numpy.fmax`` and
        ///     ``numpy.fmin``. ``raise``: it is an error.
        /// where : array_like of bool, optional
        ///     Positions that are compared; broadcast with the operands. Elsewhere `out` keeps its elements, and without
        ///     `out` the result has those of the first operand.
        ///
        /// Returns
        /// -------
        /// array or scalar
        #[doc = concat!("    The ", $superlative, " elements, in the broadcast shape, as an array of the caller's own")]
        ///     library; `out` where it was given.
        ///
        /// Raises
        /// ------
        /// ArgumentError
        ///     There is no operand, the shapes cannot be broadcast, an element is missing, or NaN under ``raise``, or `out`
        ///     does not fit.
        /// ElementTypeError
        ///     The operands have no common type, or hold elements that have no order here, or whose class has rules of its
        ///     own, such as units.
        ///
        /// Notes
        /// -----
        #[doc = concat!("The operation behind ", $operators, ".")]
        ///
        /// Examples
        /// --------
        /// >>> import numpy as np
        /// >>> import extremum as ex
        $(#[doc = $example])+
        #[pyfunction]
        #[pyo3(
            signature = (*arrays, out=None, nan_policy=None, r#where=None, **unknown),
            text_signature = "(*arrays, out=None, nan_policy='propagate', where=None)"
        )]
        pub fn $function<'py>(
            py: Python<'py>,
            arrays: &Bound<'py, PyTuple>,
            out: Option<&Bound<'py, PyAny>>,
            nan_policy: Option<&Bound<'py, PyAny>>,
            r#where: Option<&Bound<'py, PyAny>>,
            unknown: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            refuse_unknown(stringify!($function), unknown)?;
            call(py, stringify!($function), $largest, arrays, [out, nan_policy, r#where])
        }
    };
}

elementwise! {
    maximum,
    true,
    "largest",
    "+0.0",
    "ONNX Max and DirectML's DML_ELEMENT_WISE_MAX",
    /// >>> ex.maximum(np.array([1, 5]), np.array([4, 2]), np.array([[3], [6]])).tolist()
    /// [[4, 5], [6, 6]]
}

elementwise! {
    minimum,
    false,
    "smallest",
    "-0.0",
    "ONNX Min and DirectML's DML_ELEMENT_WISE_MIN",
    /// >>> ex.minimum(np.array([1.0, np.nan]), np.array([0.5, 2.0]))
    /// array([0.5, nan])
}

/// Answers natively or on the Python side.
fn call<'py>(
    py: Python<'py>,
    function: &str,
    largest: bool,
    arrays: &Bound<'py, PyTuple>,
    [out, nan_policy, r#where]: [Option<&Bound<'py, PyAny>>; 3],
) -> PyResult<Bound<'py, PyAny>> {
    if r#where.is_none()
        && let Some(omit) = omits(nan_policy)
        && let Some(result) = run(py, function, largest, omit, arrays, out)?
    {
        return Ok(result);
    }
    beyond(function, arrays, out, nan_policy, r#where)
}

/// Asks the Python side, which knows other libraries' arrays, numbers that arrays do not hold, times, mixed types, policies
/// and masks.
#[cold]
fn beyond<'py>(
    function: &str,
    arrays: &Bound<'py, PyTuple>,
    out: Option<&Bound<'py, PyAny>>,
    nan_policy: Option<&Bound<'py, PyAny>>,
    r#where: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    static EXTREMUM: Function = Function::new("extremum");
    EXTREMUM.call(arrays.py(), (function, arrays, out, nan_policy, r#where))
}

/// The elementwise extremum of plain arrays of one element type, where NaN may be left out.
#[pyfunction(name = "extremum")]
#[pyo3(signature = (function, arrays, *, largest, omit, out))]
pub fn elementwise<'py>(
    py: Python<'py>,
    function: &str,
    arrays: &Bound<'py, PyTuple>,
    largest: bool,
    omit: bool,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mixed = || {
        let reason = format!("{function}: the operands are not plain arrays of one element type");
        error(py, Kind::ElementType, reason, None, Some("convert them to one element type first".into()))
    };
    run(py, function, largest, omit, arrays, out)?.ok_or_else(mixed)
}

/// Computes with plain arrays of one element type, and numbers that it holds; None where there are others.
fn run<'py>(
    py: Python<'py>,
    function: &str,
    largest: bool,
    omit: bool,
    arrays: &Bound<'py, PyTuple>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut numbers = Vec::new();
    let objects = operands(arrays, &mut numbers);
    let given = convert(&mut numbers, &objects);
    if given.is_none() && !numbers.is_empty() {
        return Ok(None);
    }
    let out = argument(out, function)?;
    // No Python code runs from here until the kernel has ended, except to word an error.
    let mut arrays = Vec::with_capacity(objects.len());
    for object in objects {
        arrays.push(Array::new(object, function)?);
    }
    if let Some(elements) = given {
        insert(&mut numbers, elements, &mut arrays);
    }
    let out = out.map(|out| Array::new(out, function)).transpose()?;
    let Some(first) = arrays.first() else {
        let remedy = Some(format!("call {function}(x) or {function}(x, y, ...)"));
        return Err(error(py, Kind::Argument, format!("{function}: needs at least one array"), None, remedy));
    };
    let elements = first.elements();
    if arrays.iter().any(|array| array.element() != elements.element) {
        return Ok(None);
    }
    let shape = broadcast(py, function, &arrays)?;
    let fresh = out.is_none();
    let output = match out {
        None => Output::fresh(py, &shape, elements, order_of_memory(&arrays, &shape).as_deref())?,
        Some(out) => Output::given(out, function, &shape, elements, &arrays, true)?,
    };
    let kernels: Vec<Operand> = arrays
        .iter()
        .map(|array| {
            let own = array.shape().iter().zip(array.strides()).rev();
            let strides = own.map(|(&len, &stride)| if len == 1 { 0 } else { stride }).collect();
            Operand { data: array.data(), strides, swapped: array.swapped() }
        })
        .collect();
    let target = &output.target;
    let to = target.data();
    let floats = [ElementType::Float16, ElementType::BFloat16, ElementType::Float32, ElementType::Float64];
    let extreme = Extreme::new(largest, omit && floats.contains(&elements.element));
    let axes = shape.iter().copied().zip(target.strides().iter().copied()).rev();
    // SAFETY: the operands describe readable memory of the broadcast shape; the output has been checked.
    detached(py, target.bytes(), || unsafe { extremum(&kernels, elements.element, extreme, axes, to) });
    output.finish(fresh).map(Some)
}

/// The shape that all operands broadcast to, by NumPy's rule.
fn broadcast(py: Python<'_>, function: &str, arrays: &[Array<'_>]) -> PyResult<PerAxis<usize>> {
    let rank = arrays.iter().map(|array| array.shape().len()).max().unwrap_or(0);
    let mut shape = PerAxis::from_elem(1, rank);
    for array in arrays {
        for (whole, &len) in shape.iter_mut().rev().zip(array.shape().iter().rev()) {
            if *whole == 1 {
                *whole = len;
            } else if len != 1 && len != *whole {
                let shapes: Vec<String> = arrays.iter().map(|array| tuple(array.shape())).collect();
                let reason =
                    format!("{function}: operands could not be broadcast together with shapes {}", shapes.join(" "));
                let remedy = "dimensions, aligned at the last one, must be equal or 1";
                return Err(error(py, Kind::Argument, reason, None, Some(remedy.into())));
            }
        }
    }
    Ok(shape)
}
