//! `max`, `min` and `minmax`.

use crate::call::Function;
use crate::errors::refuse_unknown;
use crate::index::Index;
use crate::options::Flag;
use crate::reduce::{Ends, Reduction, Terms};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

macro_rules! one_end {
    ($function:ident, $largest:literal, $superlative:literal, $arg:literal, $operators:literal, $(#[doc = $example:literal])+) => {
        #[doc = concat!($superlative, " element over any set of axes, with its index on request, in one pass.")]
        ///
        /// Parameters
        /// ----------
        /// x : array_like
        ///     Any shape and layout; bool, any integer, float16, bfloat16, float32, float64, datetime64 or timedelta64. Never
        ///     modified.
        /// axis : int or tuple of int, optional
        ///     The axes to reduce; all of them by default.
        /// keepdims : bool, default False
        ///     Keep reduced axes with length 1.
        /// return_index : bool, default False
        #[doc = concat!("    Return the indices too, as :func:`extremum.", $arg, "` gives them.")]
        /// select_last_index : bool, default False
        ///     Among equal elements take the last instead of the first; zeros of both signs are equal.
        /// nan_policy : str, default "propagate"
        ///     ``propagate``: NaN (NaT) is the extremum. ``omit``: it does not take part. ``raise``: it is an error.
        /// where : array_like of bool, optional
        ///     Elements that take part; broadcast to the shape of `x`.
        /// default : scalar, optional
        ///     The value of a slice in which no element takes part; its index is -1. Without it such a slice is an error.
        /// index_dtype : data type, default int64
        ///     Type of the indices: any integer that holds the last index of a slice.
        /// out : numpy.ndarray, optional
        ///     Receives the values; needs their shape and type.
        ///
        /// Returns
        /// -------
        /// array or scalar, or ValuesIndices
        ///     Elements of `x`, bit for bit; with ``return_index`` a named tuple ``(values, indices)``. Arrays of PyTorch, JAX
        ///     and other libraries come back as their own.
        ///
        /// Raises
        /// ------
        /// AxisError
        ///     An axis is out of range or given twice.
        /// ArgumentError
        ///     A slice has no element to choose from and there is no default, an element is NaN under ``raise``, an option has
        ///     no such value, or `out` does not fit.
        /// ElementTypeError
        ///     `x` holds elements that have no order here, the mask is not of bool, or the default is no element of `x`.
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
            signature = (
                x, /, axis=None, *, keepdims=Flag::UNSET, return_index=Flag::UNSET, select_last_index=Flag::UNSET,
                nan_policy=None, r#where=None, default=None, index_dtype=None, out=None, **unknown
            ),
            text_signature = "(x, /, axis=None, *, keepdims=False, return_index=False, select_last_index=False, nan_policy='propagate', where=None, default=None, index_dtype=None, out=None)"
        )]
        #[allow(clippy::too_many_arguments)]
        pub fn $function<'py>(
            x: &Bound<'py, PyAny>,
            axis: Option<&Bound<'py, PyAny>>,
            keepdims: Flag<'py>,
            return_index: Flag<'py>,
            select_last_index: Flag<'py>,
            nan_policy: Option<&Bound<'py, PyAny>>,
            r#where: Option<&Bound<'py, PyAny>>,
            default: Option<&Bound<'py, PyAny>>,
            index_dtype: Option<&Bound<'py, PyAny>>,
            out: Option<&Bound<'py, PyAny>>,
            unknown: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            refuse_unknown(stringify!($function), unknown)?;
            let flags = [keepdims, return_index, select_last_index];
            answer(stringify!($function), &[$largest], x, axis, flags, [nan_policy, r#where, default, index_dtype, out])
        }
    };
}

one_end! {
    max,
    true,
    "Largest",
    "argmax",
    "ONNX ReduceMax and DirectML's DML_REDUCE_FUNCTION_MAX",
    /// >>> x = np.array([[1.0, np.nan, 5.0], [7.0, 0.0, 7.0]])
    /// >>> ex.max(x, axis=1, nan_policy="omit")
    /// array([5., 7.])
    /// >>> ex.max(x[1], return_index=True).indices.item()
    /// 0
}

one_end! {
    min,
    false,
    "Smallest",
    "argmin",
    "ONNX ReduceMin and DirectML's DML_REDUCE_FUNCTION_MIN",
    /// >>> x = np.array([[4, 2], [3, 8]])
    /// >>> ex.min(x, axis=0, where=[[True, False], [True, False]], default=-1)
    /// array([ 3, -1])
}

/// Smallest and largest element over any set of axes, with their indices on request, in one pass.
///
/// Parameters
/// ----------
/// x, axis, keepdims, return_index, select_last_index, nan_policy, where, index_dtype
///     As for :func:`extremum.max`.
/// default : scalar or pair of scalars, optional
///     The smallest and the largest of a slice in which no element takes part; one value stands for both.
///
/// Returns
/// -------
/// MinMax or MinMaxIndices
///     A named tuple ``(min, max)``, or ``(min, max, argmin, argmax)`` with ``return_index``.
///
/// Raises
/// ------
/// AxisError, ArgumentError, ElementTypeError
///     As :func:`extremum.max`.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import extremum as ex
/// >>> low, high = ex.minmax(np.array([[1, 5], [7, 0]]), axis=1)
/// >>> low, high
/// (array([1, 0]), array([5, 7]))
#[pyfunction]
#[pyo3(
    signature = (
        x, /, axis=None, *, keepdims=Flag::UNSET, return_index=Flag::UNSET, select_last_index=Flag::UNSET,
        nan_policy=None, r#where=None, default=None, index_dtype=None, **unknown
    ),
    text_signature = "(x, /, axis=None, *, keepdims=False, return_index=False, select_last_index=False, nan_policy='propagate', where=None, default=None, index_dtype=None)"
)]
#[allow(clippy::too_many_arguments)]
pub fn minmax<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: Flag<'py>,
    return_index: Flag<'py>,
    select_last_index: Flag<'py>,
    nan_policy: Option<&Bound<'py, PyAny>>,
    r#where: Option<&Bound<'py, PyAny>>,
    default: Option<&Bound<'py, PyAny>>,
    index_dtype: Option<&Bound<'py, PyAny>>,
    unknown: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    refuse_unknown("minmax", unknown)?;
    let flags = [keepdims, return_index, select_last_index];
    answer("minmax", &[false, true], x, axis, flags, [nan_policy, r#where, default, index_dtype, None])
}

fn answer<'py>(
    function: &str,
    largest: &[bool],
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    flags: [Flag<'py>; 3],
    [nan_policy, r#where, default, index_dtype, out]: [Option<&Bound<'py, PyAny>>; 5],
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let [keepdims, return_index, last] = flags;
    let keepdims = keepdims.read("keepdims", function)?;
    let return_index = return_index.read("return_index", function)?;
    let last = last.read("select_last_index", function)?;
    if out.is_none() && default.is_none() {
        let index = return_index.then(|| Index::new(py, index_dtype, function)).transpose()?;
        let reduction = Reduction { function, largest, keepdims, last, values: true };
        let terms = Terms { nan_policy, r#where, no_place: None };
        if let Some(ends) = reduction.plain(x, axis, index, &terms)? {
            return named(py, ends, largest.len() == 2, return_index);
        }
    }
    // The Python side knows other libraries' arrays, times, and what slices without an element give.
    static BEYOND: Function = Function::new("beyond");
    BEYOND.call(py, (function, x, axis, keepdims, return_index, last, nan_policy, r#where, default, index_dtype, out))
}

/// What was found, under its names where it is more than one value.
fn named<'py>(py: Python<'py>, ends: Ends<'py>, both: bool, return_index: bool) -> PyResult<Bound<'py, PyAny>> {
    static VALUES_INDICES: Function = Function::new("ValuesIndices");
    static MIN_MAX: Function = Function::new("MinMax");
    static MIN_MAX_INDICES: Function = Function::new("MinMaxIndices");
    let mut results = ends.results(return_index)?;
    let names = match (both, return_index) {
        (false, false) => return Ok(results.swap_remove(0)),
        (false, true) => &VALUES_INDICES,
        (true, false) => &MIN_MAX,
        (true, true) => &MIN_MAX_INDICES,
    };
    names.call_with(py, PyTuple::new(py, results)?, None)
}
