//! `hardmax`.

use crate::array::Array;
use crate::axes::Axes;
use crate::output::{Output, order_of_memory};
use crate::work::detached;
use extremum_kernels::onehot;
use pyo3::prelude::*;

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
///
/// Returns
/// -------
/// numpy.ndarray
///     Zeros and ones in the shape and element type of `x`; `out` where it was given.
///
/// Raises
/// ------
/// AxisError
///     An axis is out of range or given twice.
/// ArgumentError
///     `out` does not fit.
/// ElementTypeError
///     `x` holds elements that have no order here.
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
#[pyo3(signature = (x, /, axis=Given(None), *, out=None), text_signature = "(x, /, axis=-1, *, out=None)")]
pub fn hardmax<'py>(
    x: &Bound<'py, PyAny>,
    axis: Given<'py>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let x = Array::operand(x, "hardmax")?;
    let axis = axis.0.map_or_else(|| Ok((-1i64).into_pyobject(py)?.into_any()), PyResult::Ok)?;
    let axes = Axes::new(Some(&axis), &x, "hardmax")?;
    let operands = [x];
    let shape = operands[0].shape();
    let descriptor = operands[0].descriptor();
    let strides = order_of_memory(&operands, shape);
    let output = match out {
        None => Output::fresh(py, shape, descriptor, strides.as_deref())?,
        Some(out) => Output::given(out, "hardmax", shape, descriptor, &operands, false)?,
    };
    let [x] = &operands;
    let (data, element, swapped) = (x.data(), x.element, x.swapped);
    let (to, strides) = (output.target.data(), output.target.strides());
    let walk = (0..shape.len()).rev().map(|axis| (shape[axis], x.strides()[axis], strides[axis], axes.contains(axis)));
    // SAFETY: `x` describes readable memory; the output has been checked to be writable, of the same shape
    // and type, and clear of `x`.
    detached(py, x.bytes(), || unsafe { onehot(data, element, swapped, walk, to) });
    output.finish()
}

/// An argument that may be left out, but not given as None.
pub struct Given<'py>(Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = PyErr;
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(Some(object.to_owned())))
    }
}
