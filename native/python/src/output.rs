//! The `out` argument, and where results go when it cannot be written directly.

use crate::array::{Array, copy};
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
    /// A new array, or the caller's after it has been checked.
    ///
    /// `strides` order a new array's axes in memory; `clear_of` are the operands that must not be overwritten
    /// before they have been read. Where `in_place` is true, an operand may be the output itself.
    pub fn new(
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        function: &str,
        shape: &[usize],
        descriptor: *mut PyArray_Descr,
        strides: Option<&[isize]>,
        clear_of: &[Array<'py>],
        in_place: bool,
    ) -> PyResult<Self> {
        let Some(out) = out.filter(|out| !out.is_none()) else {
            let target = Array::empty(py, shape, descriptor, strides)?;
            return Ok(Self { target, destination: None, given: false });
        };
        // SAFETY: the interpreter is attached and the object is alive.
        if unsafe { numpy::npyffi::PyArray_Check(py, out.as_ptr()) } == 0 {
            let reason = format!("{function}: out is {}, not an array", out.get_type().name()?);
            return Err(error(py, Kind::ArgumentType, reason, None, Some("pass a numpy.ndarray".into())));
        }
        let out = Array::operand(out, function)?;
        let fresh = || Array::empty(py, shape, descriptor, None);
        check(&out, function, shape, &Array::empty(py, &[0], descriptor, None)?)?;
        let reach = out.extent();
        let clash = |operand: &Array<'_>| {
            let same = operand.data() == out.data() && operand.shape() == out.shape() && operand.strides() == out.strides();
            let (low, high) = operand.extent();
            low < reach.1 && reach.0 < high && !(in_place && same && !operand.swapped)
        };
        if out.swapped || clear_of.iter().any(clash) {
            return Ok(Self { target: fresh()?, destination: Some(out), given: true });
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

fn check(out: &Array<'_>, function: &str, shape: &[usize], like: &Array<'_>) -> PyResult<()> {
    let py = out.object().py();
    let given = Some(format!("out: {}", out.summary()));
    if out.element != like.element {
        let (is, has) = (out.object().getattr("dtype")?, like.object().getattr("dtype")?);
        let reason = format!("{function}: out has element type {is}, the result has {has}");
        return Err(error(py, Kind::ElementType, reason, given, Some(format!("pass an array of {has}"))));
    }
    if out.shape() != shape {
        let reason = format!("{function}: out has shape {}, the result has shape {}", tuple(out.shape()), tuple(shape));
        let remedy = format!("pass an array of shape {}", tuple(shape));
        return Err(error(py, Kind::Argument, reason, given, Some(remedy)));
    }
    let repeats = out.bytes() > 0 && out.shape().iter().zip(out.strides()).any(|(&len, &stride)| len > 1 && stride == 0);
    if !out.is_writable() || repeats {
        let reason = format!("{function}: out cannot be written to");
        let remedy = "pass an array that is writable and whose elements do not share memory";
        return Err(error(py, Kind::Argument, reason, given, Some(remedy.into())));
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
