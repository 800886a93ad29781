//! `top_k`, and the operation behind it.

use crate::arguments::{Argument, AxisSet, INT64, is_number, omission, word};
use crate::array::{Array, Ndarray, first_element, new_array, strides_like, take_plain};
use crate::interpreter::{Object, detach, error, python};
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{ElementType, Omit, TopK, top_k as find};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use std::ptr;

/// What is wanted along an axis.
struct Query {
    k: usize,
    largest: bool,
    sorted: bool,
    nan_first: bool,
    times: bool,
}

/// Finds the k best elements of a plain array along an axis; without an axis, of all its elements.
///
/// `k` is at most the length of the axis. NaN, and with `times` the smallest integer, comes before or after every number. Where the
/// mask leaves fewer than `k` elements of a slice, the last indices are -1, and their values mean nothing.
#[pyfunction]
#[pyo3(signature = (x, k, axis, *, function, largest, sorted, nan_first, times=false, r#where=None))]
#[allow(clippy::too_many_arguments, reason = "the options of a call, by their names")]
pub fn top_k_plain<'py>(
    x: &Object<'py>,
    k: usize,
    axis: Option<&Object<'py>>,
    function: &str,
    largest: bool,
    sorted: bool,
    nan_first: bool,
    times: bool,
    r#where: Option<&Object<'py>>,
) -> PyResult<(Ndarray<'py>, Ndarray<'py>)> {
    let query = Query { k, largest, sorted, nan_first, times };
    let results = match (take_plain(x), r#where.map(take_plain)) {
        (None, _) | (_, Some(None)) => None,
        (Some(array), mask) => query.find(array, mask.flatten().as_ref(), axis, None, function)?,
    };
    let Some([values, indices]) = results else {
        let reason = format!(
            "{function}: not a plain array, one with fewer than {k} elements along the axis, or a mask that is not one of bool in its shape"
        );
        let remedy = "pass numpy.ndarray, k within it, and broadcast the mask to its shape";
        return Err(error(x.py(), python!("ArgumentError"), reason, remedy));
    };
    Ok((values, indices))
}

impl Query {
    /// Finds the k best elements along an axis, or the default axis, or of the whole array: their values and their indices. None if
    /// there are fewer than k, or the mask is not a bool array of its shape.
    #[inline(always)]
    fn find<'py>(
        &self,
        x: Ndarray<'py>,
        mask: Option<&Ndarray<'py>>,
        axis: Option<&Object<'py>>,
        default: Option<i64>,
        function: &str,
    ) -> PyResult<Option<[Ndarray<'py>; 2]>> {
        let py = x.py();
        // No Python code runs from here until the kernel has ended, except to word an error and to make the results.
        let x = Array::new(x, function)?;
        let mask = mask.map(|mask| Array::new(mask.clone(), function)).transpose()?;
        if mask.as_ref().is_some_and(|mask| mask.shape != x.shape || mask.element() != ElementType::Bool) {
            return Ok(None);
        }
        let axes = AxisSet::of(axis, default, &x, function)?;
        let &Self { k, largest, sorted, nan_first, times } = self;
        let mut len = 1usize;
        let mut shape = PerAxis::<usize>::new();
        let mut place = 0;
        for (axis, &each) in x.shape.iter().enumerate() {
            if axes.contains(axis) {
                (len, place) = (len.saturating_mul(each), shape.len());
            } else {
                shape.push(each);
            }
        }
        if k > len {
            return Ok(None);
        }
        shape.insert(place, k);
        let strides = strides_like(&shape, &[]);
        let values = new_array(py, &shape, x.elements, &strides)?;
        let indices = new_array(py, &shape, INT64, &strides)?;
        let to_values = first_element(&values);
        let to_indices = first_element(&indices).cast();
        let data = x.data;
        let element = x.element();
        let swapped = x.elements.swapped;
        let first = mask.as_ref().map_or(ptr::null(), |mask| mask.data.cast_const());
        let input = TopK { data, element, swapped, largest, nan_first, times, k, sorted, mask: first };
        let walk = (0..x.shape.len()).rev().map(|axis| {
            let of_mask = mask.as_ref().map_or(0, |mask| mask.strides[axis]);
            (x.shape[axis], x.strides[axis], of_mask, axes.contains(axis))
        });
        // SAFETY: `x` and the mask describe readable memory of one shape; the results are new, in C order.
        detach(py, x.bytes(), || unsafe { find(input, walk, to_values, to_indices) });
        Ok(Some([values, indices]))
    }
}

/// The k largest or smallest elements along an axis with their indices, from the best to the worst.
///
/// Equal elements come by ascending index in both modes; `-0.0` equals `+0.0`.
///
/// Parameters
/// ----------
/// x : array_like
///     Any shape and layout; bool, any integer, float16, bfloat16, float32, float64, datetime64 or timedelta64. Never modified.
/// k : int
///     How many elements are wanted, from 0 to the length of the axis.
/// axis : int, default -1
///     The axis along which they are wanted; None for all elements in row-major order.
/// mode : str, default "largest"
///     ``largest`` or ``smallest``.
/// sorted : bool, default True
///     Whether the elements come from the best to the worst; otherwise the same elements come in any order.
/// nan_policy : str, default "propagate"
///     ``propagate``: NaN (NaT) comes first at either end, so that `k=1` is argmax or argmin. ``omit``: it comes after every
///     number, or with a `default` does not take part. ``raise``: it is an error.
/// where : array_like of bool, optional
///     Elements that take part; broadcast to the shape of `x`. Indices still count all elements.
/// default : scalar, optional
///     The value, with index -1, that fills the last places of a slice in which fewer than `k` elements take part. Without
///     it such a slice is an error.
/// index_dtype : data type, default int64
///     Type of the indices: any integer that holds the last index of a slice.
///
/// Returns
/// -------
/// ValuesIndices
///     `values`, in the element type of `x`, and `indices`: in the shape of `x` with `k` in the place of the axis, as arrays
///     of the caller's own library.
///
/// Raises
/// ------
/// AxisError
///     The axis is out of range.
/// ArgumentError
///     `k` is negative or above the length of the axis, `mode` is unknown, fewer than `k` elements of a slice take part and there
///     is no default, an element is NaN under ``raise``, or an index would not fit its type.
/// ArgumentTypeError
///     `k` or `axis` is not an integer.
/// ElementTypeError
///     `x` holds elements that have no order here, the indices would not be integers, the mask is not of bool, or the default
///     cannot be in the result.
///
/// Notes
/// -----
/// The operation behind ONNX TopK and DirectML's DML_TOP_K and DML_TOP_K1, where NaN is greater than every number.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import extremum as ex
/// >>> best = ex.top_k(np.array([[3, 7, 1, 7], [2, 0, 2, 2]]), 2)
/// >>> best.values
/// array([[7, 7],
///        [2, 2]])
/// >>> best.indices
/// array([[1, 3],
///        [0, 2]])
#[pyfunction]
#[pyo3(
    signature = (
        x, /, k, axis=Argument::ABSENT, *, mode=None, sorted=None, nan_policy=None, r#where=None, default=None, index_dtype=None
    ),
    text_signature = "(x, /, k, axis=-1, *, mode='largest', sorted=True, nan_policy='propagate', where=None, default=None, index_dtype=None)"
)]
#[allow(clippy::too_many_arguments, reason = "the options of a call, by their names")]
pub fn top_k<'py>(
    x: &Object<'py>,
    k: &Object<'py>,
    axis: Argument<'py>,
    mode: Option<&Object<'py>>,
    sorted: Option<&Object<'py>>,
    nan_policy: Option<&Object<'py>>,
    r#where: Option<&Object<'py>>,
    default: Option<&Object<'py>>,
    index_dtype: Option<&Object<'py>>,
) -> PyResult<Object<'py>> {
    let py = x.py();
    let last = axis.0.is_none().then_some(-1);
    let axis = axis.0.filter(|axis| !axis.is_none());
    let is_usual = r#where.is_none() && default.is_none() && index_dtype.is_none();
    let usual = || {
        let k = is_number(k).then(|| k.extract().ok()).flatten()?;
        let largest = match mode.map_or(Some("largest"), word)? {
            "largest" => true,
            "smallest" => false,
            _ => return None,
        };
        let sorted = sorted.map_or(Some(true), |sorted| Some(sorted.cast::<PyBool>().ok()?.is_true()))?;
        let nan_first = omission(nan_policy)? == Omit::Nothing;
        Some(Query { k, largest, sorted, nan_first, times: false })
    };
    if is_usual
        && let Some(array) = take_plain(x)
        && axis.as_ref().is_none_or(is_number)
        && let Some(query) = usual()
        && let Some(results) = query.find(array, None, axis.as_ref(), last, "top_k")?
    {
        return python!("ValuesIndices").call(py, (PyTuple::new(py, results)?,));
    }
    // The Python side handles other libraries' arrays, times and masks, and words errors.
    let axis = last.map(|last| last.into_bound_py_any(py)).transpose()?.or(axis);
    python!("top_k").call(py, (x, k, axis, mode, sorted, nan_policy, r#where, default, index_dtype))
}
