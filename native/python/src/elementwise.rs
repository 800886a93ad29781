//! `maximum` and `minimum`.

use crate::array::Array;
use crate::errors::{Kind, error};
use crate::output::{Output, order_of_memory, tuple};
use crate::work::detached;
use extremum_kernels::{Operand, extremum};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Elementwise largest of any number of arrays, in one pass.
///
/// NaN in any operand gives NaN; `maximum(-0.0, +0.0)` is `+0.0` (IEEE 754-2019 maximum), so the result does
/// not depend on the order of the operands.
///
/// Parameters
/// ----------
/// *arrays : array_like
///     One or more operands of one element type, broadcast against each other. Python numbers take the
///     element type of the arrays beside them. Never modified.
/// out : numpy.ndarray, optional
///     Receives the result; needs its shape and type, may have any strides, may be one of the operands.
///
/// Returns
/// -------
/// numpy.ndarray or numpy.generic
///     The largest elements, in the broadcast shape; `out` where it was given.
///
/// Raises
/// ------
/// ArgumentError
///     There is no operand, the shapes cannot be broadcast, or `out` does not fit.
/// ElementTypeError
///     The operands differ in element type, or it has no order here.
///
/// Notes
/// -----
/// The operation behind ONNX Max and DirectML's DML_ELEMENT_WISE_MAX.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import extremum as ex
/// >>> ex.maximum(np.array([1, 5]), np.array([4, 2]), np.array([[3], [6]]))
/// array([[4, 5],
///        [6, 6]])
#[pyfunction]
#[pyo3(signature = (*arrays, out=None))]
pub fn maximum<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyTuple>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    run(py, "maximum", true, arrays, out)
}

/// Elementwise smallest of any number of arrays, in one pass.
///
/// NaN in any operand gives NaN; `minimum(-0.0, +0.0)` is `-0.0` (IEEE 754-2019 minimum), so the result does
/// not depend on the order of the operands.
///
/// Parameters
/// ----------
/// *arrays : array_like
///     One or more operands of one element type, broadcast against each other. Python numbers take the
///     element type of the arrays beside them. Never modified.
/// out : numpy.ndarray, optional
///     Receives the result; needs its shape and type, may have any strides, may be one of the operands.
///
/// Returns
/// -------
/// numpy.ndarray or numpy.generic
///     The smallest elements, in the broadcast shape; `out` where it was given.
///
/// Raises
/// ------
/// ArgumentError
///     There is no operand, the shapes cannot be broadcast, or `out` does not fit.
/// ElementTypeError
///     The operands differ in element type, or it has no order here.
///
/// Notes
/// -----
/// The operation behind ONNX Min and DirectML's DML_ELEMENT_WISE_MIN.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import extremum as ex
/// >>> ex.minimum(np.array([1.0, np.nan]), np.array([0.5, 2.0]))
/// array([0.5, nan])
#[pyfunction]
#[pyo3(signature = (*arrays, out=None))]
pub fn minimum<'py>(
    py: Python<'py>,
    arrays: &Bound<'py, PyTuple>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    run(py, "minimum", false, arrays, out)
}

fn run<'py>(
    py: Python<'py>,
    function: &str,
    largest: bool,
    arrays: &Bound<'py, PyTuple>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let arrays = operands(arrays, function)?;
    let Some(first) = arrays.first() else {
        let remedy = Some(format!("call {function}(x) or {function}(x, y, ...)"));
        return Err(error(py, Kind::Argument, format!("{function}: needs at least one array"), None, remedy));
    };
    if let Some(other) = arrays.iter().find(|array| array.element != first.element) {
        let (one, two) = (first.object().getattr("dtype")?, other.object().getattr("dtype")?);
        let reason = format!("{function}: operands differ in element type: {one} and {two}");
        return Err(error(py, Kind::ElementType, reason, None, Some("convert them to one element type first".into())));
    }
    let shape = broadcast(py, function, &arrays)?;
    let output = match out {
        None => Output::fresh(py, &shape, first.descriptor(), order_of_memory(&arrays, &shape).as_deref())?,
        Some(out) => Output::given(out, function, &shape, first.descriptor(), &arrays, true)?,
    };
    let mut kernels: Vec<Operand> = arrays
        .iter()
        .map(|array| {
            let own = array.shape().iter().zip(array.strides()).rev();
            let strides = own.map(|(&len, &stride)| if len == 1 { 0 } else { stride }).collect();
            Operand { data: array.data(), strides, swapped: array.swapped }
        })
        .collect();
    let target = &output.target;
    let (element, to) = (first.element, target.data());
    let axes = shape.iter().copied().zip(target.strides().iter().copied()).rev();
    // SAFETY: the operands describe readable memory of the broadcast shape; the output has been checked.
    detached(py, target.bytes(), || unsafe { extremum(&mut kernels, element, largest, axes, to) });
    output.finish()
}

/// The operands as arrays; Python's own numbers take the element type of the first that is not one.
fn operands<'py>(objects: &Bound<'py, PyTuple>, function: &str) -> PyResult<Vec<Array<'py>>> {
    let like = objects.iter().find(|object| !Array::is_number(object));
    let like = like.map(|object| Array::operand(&object, function)).transpose()?;
    let convert = |object: Bound<'py, PyAny>| match &like {
        Some(like) if Array::is_number(&object) => Array::number(&object, like, function),
        _ => Array::operand(&object, function),
    };
    objects.iter().map(convert).collect()
}

/// The shape that all operands broadcast to, by NumPy's rule.
fn broadcast(py: Python<'_>, function: &str, arrays: &[Array<'_>]) -> PyResult<Vec<usize>> {
    let rank = arrays.iter().map(|array| array.shape().len()).max().unwrap_or(0);
    let mut shape = vec![1; rank];
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
