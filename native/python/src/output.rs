//! The `out` argument, and where results go when it cannot be written directly.

use crate::array::{Array, copy, describe};
use crate::errors::{Kind, error};
use numpy::npyffi::PyArray_Descr;
use pyo3::prelude::*;

/// The array that kernels write to, and the one that the caller gets.
pub struct Output<'py> {
    /// What the kernels write: never byte-swapped, never overlapping an operand.
    pub target: Array<'py>,
    /// The caller's own array, where `target` is not it.
    destination: Option<Array<'py>>,
    given: bool,
}

impl<'py> Output<'py> {
    /// A new array; `strides` order its axes in memory.
    pub fn fresh(
        py: Python<'py>,
        shape: &[usize],
        descriptor: *mut PyArray_Descr,
        strides: Option<&[isize]>,
    ) -> PyResult<Self> {
        Ok(Self { target: Array::empty(py, shape, descriptor, strides)?, destination: None, given: false })
    }

    /// The caller's array, after it has been checked.
    ///
    /// `clear_of` are the operands that must not be overwritten before they have been read; where `in_place` is
    /// true, one of them may be the output itself.
    pub fn given(
        out: &Bound<'py, PyAny>,
        function: &str,
        shape: &[usize],
        descriptor: *mut PyArray_Descr,
        clear_of: &[Array<'py>],
        in_place: bool,
    ) -> PyResult<Self> {
        let py = out.py();
        // SAFETY: the interpreter is attached and the object is alive.
        if unsafe { numpy::npyffi::PyArray_Check(py, out.as_ptr()) } == 0 {
            let reason = format!("{function}: out is {}, not an array", out.get_type().name()?);
            return Err(error(py, Kind::ArgumentType, reason, None, Some("pass a numpy.ndarray".into())));
        }
        let out = Array::operand(out, function)?;
        check(&out, function, shape, descriptor)?;
        let reach = out.extent();
        let clash = |operand: &Array<'_>| {
            let same =
                operand.data() == out.data() && operand.shape() == out.shape() && operand.strides() == out.strides();
            let (low, high) = operand.extent();
            low < reach.1 && reach.0 < high && !(in_place && same && !operand.swapped)
        };
        if out.swapped || clear_of.iter().any(clash) {
            let target = Array::empty(py, shape, descriptor, None)?;
            return Ok(Self { target, destination: Some(out), given: true });
        }
        Ok(Self { target: out, destination: None, given: true })
    }

    /// What the function returns.
    pub fn finish(self) -> PyResult<Bound<'py, PyAny>> {
        if let Some(destination) = self.destination {
            copy(&self.target, &destination)?;
            return Ok(destination.object().clone());
        }
        if self.given { Ok(self.target.object().clone()) } else { self.target.into_result() }
    }
}

fn check(out: &Array<'_>, function: &str, shape: &[usize], descriptor: *mut PyArray_Descr) -> PyResult<()> {
    let py = out.object().py();
    let refuse = |kind, reason, remedy| error(py, kind, reason, Some(format!("out: {}", out.summary())), Some(remedy));
    // SAFETY: the interpreter is attached; the descriptor is one of NumPy's.
    let wanted = unsafe { describe(py, descriptor) };
    if wanted.is_none_or(|(element, _)| element != out.element) {
        let is = out.object().getattr("dtype")?;
        let has = Array::empty(py, &[0], descriptor, None)?.object().getattr("dtype")?;
        let reason = format!("{function}: out has element type {is}, the result has {has}");
        return Err(refuse(Kind::ElementType, reason, format!("pass an array of {has}")));
    }
    if out.shape() != shape {
        let reason = format!("{function}: out has shape {}, the result has shape {}", tuple(out.shape()), tuple(shape));
        return Err(refuse(Kind::Argument, reason, format!("pass an array of shape {}", tuple(shape))));
    }
    let repeats =
        out.bytes() > 0 && out.shape().iter().zip(out.strides()).any(|(&len, &stride)| len > 1 && stride == 0);
    if !out.is_writable() || repeats {
        let reason = format!("{function}: out cannot be written to");
        let remedy = "pass an array that is writable and whose elements do not share memory";
        return Err(refuse(Kind::Argument, reason, remedy.into()));
    }
    Ok(())
}

/// A shape as Python writes it.
pub fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Strides for a new output whose axes lie in memory as those of the operands do, where that is not C order.
pub fn order_of_memory(arrays: &[Array<'_>], shape: &[usize]) -> Option<Vec<isize>> {
    let model = arrays.iter().find(|array| array.shape() == shape)?;
    let distance = |axis: &usize| std::cmp::Reverse(model.strides()[*axis].unsigned_abs());
    let mut axes: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] > 1).collect();
    if axes.is_sorted_by_key(distance) {
        return None;
    }
    axes.sort_by_key(distance);
    let size = model.element.size() as isize;
    let mut strides = vec![size; shape.len()];
    let mut step = size;
    for axis in axes.into_iter().rev() {
        strides[axis] = step;
        step *= shape[axis] as isize;
    }
    Some(strides)
}
