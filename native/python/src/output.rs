//! The `out` argument, and where results go when it cannot be written directly.

use crate::array::{Array, Elements, Ndarray, copy, descriptor, into_result};
use crate::interpreter::Function;
use extremum_kernels::layout::{PerAxis, sort};
use numpy::npyffi::NPY_ARRAY_WRITEABLE;
use pyo3::prelude::*;

/// The array that kernels write to, and the one that the caller gets.
pub struct Output<'py> {
    /// What the kernels write: never byte-swapped, never overlapping an operand.
    pub target: Array<'py>,
    /// The caller's own array, where `target` is not it.
    destination: Option<Ndarray<'py>>,
    /// Whether the caller has given none.
    fresh: bool,
}

impl<'py> Output<'py> {
    /// The caller's array, after it has been checked, or a new one, whose axes lie in memory as those of its `model` do.
    ///
    /// The operands must not be overwritten before they have been read; where `in_place` is true, one of them may be the
    /// output itself.
    #[inline(always)]
    pub fn new(
        py: Python<'py>,
        out: Option<Array<'py>>,
        function: &str,
        (shape, elements): (&[usize], Elements),
        operands: &[Array<'py>],
        (in_place, strides): (bool, impl FnOnce() -> Option<PerAxis<isize>>),
    ) -> PyResult<Self> {
        let Some(out) = out else {
            let target = Array::empty(py, shape, elements, strides().as_deref())?;
            return Ok(Self { target, destination: None, fresh: true });
        };
        if !fits(&out, shape, elements) {
            static WRONG_OUTPUT: Function = Function::new("wrong_output");
            return Err(WRONG_OUTPUT.error(py, (function, &out.object, descriptor(py, elements.number)?, shape)));
        }
        let reach = out.extent();
        let clash = |operand: &Array<'_>| {
            let same = operand.data == out.data && operand.shape == out.shape && operand.strides == out.strides;
            let (low, high) = operand.extent();
            low < reach.1 && reach.0 < high && !(in_place && same && !operand.elements.swapped)
        };
        if out.elements.swapped || operands.iter().any(clash) {
            let target = Array::empty(py, shape, elements, None)?;
            return Ok(Self { target, destination: Some(out.object), fresh: false });
        }
        Ok(Self { target: out, destination: None, fresh: false })
    }

    /// What the function returns: the caller's array, or a fresh one.
    pub fn finish(self) -> PyResult<Bound<'py, PyAny>> {
        if let Some(destination) = self.destination {
            copy(&self.target, &destination)?;
            return Ok(destination.into_any());
        }
        if self.fresh { into_result(self.target.object) } else { Ok(self.target.object.into_any()) }
    }
}

fn fits(out: &Array<'_>, shape: &[usize], elements: Elements) -> bool {
    elements.element == out.element() && *out.shape == *shape && out.has(NPY_ARRAY_WRITEABLE) && is_apart(out)
}

/// Whether no two elements share memory, as far as lengths and strides show: each axis has to step over all that the
/// axes of shorter steps span. Layouts whose elements interleave without meeting are refused with those that meet.
#[inline]
fn is_apart(out: &Array<'_>) -> bool {
    let axes = out.shape.iter().zip(&out.strides).map(|(&len, &stride)| (len, stride.unsigned_abs()));
    if out.shape.contains(&0) || steps_over(axes.clone().rev(), out.element().size()) {
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

/// Strides for a new output whose axes lie in memory as those of the operands do, where that is not C order.
#[inline]
pub fn order_of_memory(arrays: &[Array<'_>], shape: &[usize]) -> Option<PerAxis<isize>> {
    // One axis has one order.
    if shape.len() > 1 { order_of_axes(arrays, shape) } else { None }
}

#[inline(never)]
fn order_of_axes(arrays: &[Array<'_>], shape: &[usize]) -> Option<PerAxis<isize>> {
    let model = arrays.iter().find(|array| *array.shape == *shape)?;
    let distance = |axis: &usize| std::cmp::Reverse(model.strides[*axis].unsigned_abs());
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
