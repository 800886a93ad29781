//! The `out` argument, and where results go when it cannot be written directly.

use crate::array::{Array, Elements, Ndarray, copy, descriptor, target};
use crate::interpreter::{Kind, error};
use extremum_kernels::layout::{PerAxis, sort};
use pyo3::prelude::*;

/// The caller's array for the result, where one is given. May run Python code.
#[inline(always)]
pub fn argument<'py>(out: Option<&Bound<'py, PyAny>>, function: &str) -> PyResult<Option<Ndarray<'py>>> {
    match out {
        Some(out) if !out.is_none() => array(out, function).map(Some),
        _ => Ok(None),
    }
}

fn array<'py>(out: &Bound<'py, PyAny>, function: &str) -> PyResult<Ndarray<'py>> {
    if Ndarray::new(out.clone()).is_err() {
        let reason = format!("{function}: out is {}, not an array", out.get_type().name()?);
        return Err(error(out.py(), Kind::ArgumentType, reason, None, Some("pass a numpy.ndarray".into())));
    }
    target(out, function)
}

/// The array that kernels write to, and the one that the caller gets.
pub struct Output<'py> {
    /// What the kernels write: never byte-swapped, never overlapping an operand.
    pub target: Array<'py>,
    /// The caller's own array, where `target` is not it.
    destination: Option<Ndarray<'py>>,
}

impl<'py> Output<'py> {
    /// A new array; `strides` order its axes in memory.
    pub fn fresh(py: Python<'py>, shape: &[usize], elements: Elements, strides: Option<&[isize]>) -> PyResult<Self> {
        Ok(Self { target: Array::empty(py, shape, elements, strides)?, destination: None })
    }

    /// The caller's array, after it has been checked.
    ///
    /// `clear_of` are the operands that must not be overwritten before they have been read; where `in_place` is
    /// true, one of them may be the output itself.
    pub fn given(
        out: Array<'py>,
        function: &str,
        shape: &[usize],
        elements: Elements,
        clear_of: &[Array<'py>],
        in_place: bool,
    ) -> PyResult<Self> {
        let py = out.object().py();
        check(&out, function, shape, elements)?;
        let reach = out.extent();
        let clash = |operand: &Array<'_>| {
            let same =
                operand.data() == out.data() && operand.shape() == out.shape() && operand.strides() == out.strides();
            let (low, high) = operand.extent();
            low < reach.1 && reach.0 < high && !(in_place && same && !operand.swapped())
        };
        if out.swapped() || clear_of.iter().any(clash) {
            let target = Array::empty(py, shape, elements, None)?;
            return Ok(Self { target, destination: Some(out.into_ndarray()) });
        }
        Ok(Self { target: out, destination: None })
    }

    /// What the function returns: the caller's array, or a fresh one.
    pub fn finish(self, fresh: bool) -> PyResult<Bound<'py, PyAny>> {
        if let Some(destination) = self.destination {
            copy(&self.target, &destination)?;
            return Ok(destination.into_object());
        }
        if fresh { self.target.into_result() } else { Ok(self.target.into_ndarray().into_object()) }
    }
}

fn check(out: &Array<'_>, function: &str, shape: &[usize], elements: Elements) -> PyResult<()> {
    let py = out.object().py();
    let refuse = |kind, reason, remedy| error(py, kind, reason, Some(format!("out: {}", out.summary())), Some(remedy));
    if elements.element != out.element() {
        let (is, has) = (descriptor(py, out.elements().number)?, descriptor(py, elements.number)?);
        let reason = format!("{function}: out has element type {is}, the result has {has}");
        return Err(refuse(Kind::ElementType, reason, format!("pass an array of {has}")));
    }
    if out.shape() != shape {
        let reason = format!("{function}: out has shape {}, the result has shape {}", tuple(out.shape()), tuple(shape));
        return Err(refuse(Kind::Argument, reason, format!("pass an array of shape {}", tuple(shape))));
    }
    if !out.is_writable() || !is_apart(out) {
        let reason = format!("{function}: out cannot be written to");
        let remedy = "pass an array that is writable and whose elements do not share memory";
        return Err(refuse(Kind::Argument, reason, remedy.into()));
    }
    Ok(())
}

/// Whether no two elements share memory, as far as lengths and strides show: each axis has to step over all that the
/// axes of shorter steps span. Layouts whose elements interleave without meeting are refused with those that meet.
#[inline]
fn is_apart(out: &Array<'_>) -> bool {
    let axes = out.shape().iter().zip(out.strides()).map(|(&len, &stride)| (len, stride.unsigned_abs()));
    if out.shape().contains(&0) || steps_over(axes.clone().rev(), out.element().size()) {
        return true;
    }
    let mut axes: PerAxis<(usize, usize)> = axes.collect();
    sort(&mut axes, |&(_, stride)| stride);
    steps_over(axes.into_iter(), out.element().size())
}

/// Whether each axis, innermost first, steps over what the ones before it span, the first over an element.
#[inline]
fn steps_over(axes: impl Iterator<Item = (usize, usize)>, size: usize) -> bool {
    let mut span = size;
    for (len, stride) in axes.filter(|&(len, _)| len > 1) {
        if stride < span {
            return false;
        }
        span = span.saturating_add((len - 1).saturating_mul(stride));
    }
    true
}

/// A shape as Python writes it.
pub fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Strides for a new output whose axes lie in memory as those of the operands do, where that is not C order.
#[inline]
pub fn order_of_memory(arrays: &[Array<'_>], shape: &[usize]) -> Option<PerAxis<isize>> {
    // One axis has one order.
    if shape.len() > 1 { order_of_axes(arrays, shape) } else { None }
}

#[inline(never)]
fn order_of_axes(arrays: &[Array<'_>], shape: &[usize]) -> Option<PerAxis<isize>> {
    let model = arrays.iter().find(|array| array.shape() == shape)?;
    let distance = |axis: &usize| std::cmp::Reverse(model.strides()[*axis].unsigned_abs());
    let mut axes: PerAxis<usize> = (0..shape.len()).filter(|&axis| shape[axis] > 1).collect();
    if axes.is_sorted_by_key(distance) {
        return None;
    }
    sort(&mut axes, distance);
    let size = model.element().size() as isize;
    let mut strides = PerAxis::from_elem(size, shape.len());
    let mut step = size;
    for axis in axes.into_iter().rev() {
        strides[axis] = step;
        step *= shape[axis] as isize;
    }
    Some(strides)
}
