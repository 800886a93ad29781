//! `hardmax`.

use crate::arguments::{Axes, Given, settle};
use crate::array::{Array, Output, order_of_memory, settled, target};
use crate::interpreter::{Function, detached, refuse_unknown};
use extremum_kernels::onehot;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::slice;

/// One at the first largest element over a set of axes, zero elsewhere.
///
/// NaN is larger than every number; `-0.0` equals `+0.0`.
///
/// Parameters
/// ----------
/// x : array_like
///     Any shape and layout; bool, any integer, float16, bfloat16, float32 or float64. Never modified.
/// axis : int or tuple of int, default -1
///     The axes that together hold exactly one 1.
/// out : numpy.ndarray, optional
///     Receives the result; needs its shape and type, may have any strides.
/// nan_policy : str, default "propagate"
///     ``propagate``: NaN (NaT) is the largest. ``omit``: it does not take part. ``raise``: it is an error.
/// where : array_like of bool, optional
///     Elements that take part; broadcast to the shape of `x`. Where none does there is no 1.
///
/// Returns
/// -------
/// array
///     Zeros and ones in the shape and element type of `x` (int64 for times), as an array of the caller's own library;
///     `out` where it was given.
///
/// Raises
/// ------
/// AxisError
///     An axis is out of range or given twice.
/// ArgumentError
///     `out` does not fit.
/// ElementTypeError
///     `x` holds elements that have no order here, or that are missing.
///
/// Notes
/// -----
/// The operation behind ONNX Hardmax (one axis from version 13 on, all axes from `axis` on before) and
/// DirectML's DML_ACTIVATION_HARDMAX1.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import extremum as ex
/// >>> ex.hardmax(np.array([[3.0, 0.0, 3.0], [1.0, 2.0, 1.0]]))
/// array([[1., 0., 0.],
///        [0., 1., 0.]])
#[pyfunction]
#[pyo3(
    signature = (x, /, axis=Given::NOT, *, out=None, nan_policy=None, r#where=None, **unknown),
    text_signature = "(x, /, axis=-1, *, out=None, nan_policy='propagate', where=None)"
)]
pub fn hardmax<'py>(
    x: &Bound<'py, PyAny>,
    axis: Given<'py>,
    out: Option<&Bound<'py, PyAny>>,
    nan_policy: Option<&Bound<'py, PyAny>>,
    r#where: Option<&Bound<'py, PyAny>>,
    unknown: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    refuse_unknown("hardmax", unknown)?;
    let py = x.py();
    let Some(x) = settled(x).filter(|_| nan_policy.is_none() && r#where.is_none()) else {
        // The Python side knows other libraries' arrays, times and what may be left out.
        static HARDMAX: Function = Function::new("hardmax");
        let axis = axis.0.map_or_else(|| (-1).into_bound_py_any(py), Ok)?;
        return HARDMAX.call(py, (x, axis, out, nan_policy, r#where));
    };
    let settled = settle(axis.0.as_ref(), &x, "hardmax")?;
    let out = out.map(|out| target(out, "hardmax")).transpose()?;
    // No Python code runs from here until the kernel has ended, except to word an error.
    let x = Array::new(x, "hardmax")?;
    let out = out.map(|out| Array::new(out, "hardmax")).transpose()?;
    let axes = Axes::of(settled.or(axis.0).as_ref(), Some(-1), &x, "hardmax")?;
    let (operands, shape) = (slice::from_ref(&x), &x.shape[..]);
    let order = (false, || order_of_memory(operands, shape));
    let output = Output::new(py, out, "hardmax", (shape, x.elements), operands, order)?;
    let (data, element, swapped) = (x.data, x.element(), x.elements.swapped);
    let (to, strides) = (output.target.data, &output.target.strides);
    let walk = shape.iter().zip(&x.strides).zip(strides).enumerate().rev();
    let walk = walk.map(|(axis, ((&len, &step), &stride))| (len, step, stride, axes.contains(axis)));
    // SAFETY: `x` describes readable memory; the output has been checked to be writable, of the same shape
    // and type, and clear of `x`.
    detached(py, x.bytes(), || unsafe { onehot(data, element, swapped, walk, to) });
    output.finish()
}
