//! `reduce`: values and indices of either end of the order in one pass, with elements left out. What the array functions
//! of the Python side are made of.

use crate::array::Array;
use crate::axes::{Axes, Default, Named};
use crate::errors::{Kind, error};
use crate::index::{Index, block, too_far};
use crate::operand::operand;
use crate::work::detached;
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{Dimension, Omit, Selection, Target, select};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ptr;

/// Finds the extrema over some axes of a plain array, for one or both ends of the order.
///
/// Returns the number of slices in which no element takes part, whose index is -1, and for each end its values and its
/// indices, or None in their place: scalars in place of arrays without dimensions.
#[pyfunction]
#[pyo3(signature = (x, axis, *, function, largest, keepdims, select_last_index, omit, times, r#where, values, index))]
#[allow(clippy::too_many_arguments)]
pub fn reduce<'py>(
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    function: &str,
    largest: Vec<bool>,
    keepdims: bool,
    select_last_index: bool,
    omit: bool,
    times: bool,
    r#where: Option<&Bound<'py, PyAny>>,
    values: bool,
    index: Option<&Bound<'py, PyAny>>,
) -> PyResult<(usize, Bound<'py, PyTuple>)> {
    let py = x.py();
    let x = operand(x, function)?;
    let axes = Named::new(axis, Default::All, &x, function)?;
    let index = index.map(|index| Index::new(py, Some(index), function)).transpose()?;
    let mask = r#where.map(|mask| operand(mask, function)).transpose()?;
    // No Python code runs from here until the kernel has ended, except to word an error and to make the results.
    let x = Array::new(x, function)?;
    let mask = mask.map(|mask| Array::new(mask, function)).transpose()?;
    if let Some(mask) = &mask
        && (mask.shape() != x.shape() || mask.element() != extremum_kernels::ElementType::Bool)
    {
        let reason = format!("{function}: where is {}, not bool in the shape of the array", mask.summary());
        return Err(error(py, Kind::Argument, reason, Some(x.summary()), None));
    }
    let axes = axes.of(&x, function)?;
    if let Some(index) = &index {
        let block = block(&x, axes);
        if block.saturating_sub(1) > index.kernel().max() {
            return Err(too_far(&x, index.kernel(), block, function));
        }
    }
    let shape = kept(&x, axes, keepdims);
    let mut ends = Vec::with_capacity(largest.len());
    for &largest in &largest {
        ends.push(End::new(py, &x, &shape, values, index.as_ref(), largest)?);
    }
    let targets: Vec<Target> = ends.iter().map(|end| end.target(index.as_ref())).collect();
    let omit = match (omit, times) {
        (false, _) => Omit::Nothing,
        (true, false) => Omit::Nan,
        (true, true) => Omit::NotATime,
    };
    let selection = Selection {
        data: x.data(),
        element: x.element(),
        swapped: x.swapped(),
        last: select_last_index,
        omit,
        mask: mask.as_ref().map_or(ptr::null(), |mask| mask.data().cast_const()),
    };
    let walk = (0..x.shape().len()).rev().map(|axis| Dimension {
        len: x.shape()[axis],
        stride: x.strides()[axis],
        mask: mask.as_ref().map_or(0, |mask| mask.strides()[axis]),
        reduced: axes.contains(axis),
    });
    let mut lacking = 0;
    // SAFETY: `x` and the mask describe readable memory of one shape; the results are new, in C order, of the shape of
    // the kept axes, and their types hold every index and every element.
    detached(py, x.bytes(), || lacking = unsafe { select(selection, walk, &targets) });
    let results = ends.into_iter().map(|end| end.finish(py)).collect::<PyResult<Vec<_>>>()?;
    Ok((lacking, PyTuple::new(py, results)?))
}

/// The shape of a result.
fn kept(x: &Array<'_>, axes: Axes, keepdims: bool) -> PerAxis<usize> {
    let lens = x.shape().iter().enumerate();
    lens.filter_map(|(axis, &len)| match axes.contains(axis) {
        false => Some(len),
        true => keepdims.then_some(1),
    })
    .collect()
}

/// The results at one end of the order.
struct End<'py> {
    largest: bool,
    values: Option<Array<'py>>,
    indices: Option<Array<'py>>,
}

impl<'py> End<'py> {
    fn new(
        py: Python<'py>,
        x: &Array<'py>,
        shape: &[usize],
        values: bool,
        index: Option<&Index<'py>>,
        largest: bool,
    ) -> PyResult<Self> {
        let values = values.then(|| Array::empty(py, shape, x.elements(), None)).transpose()?;
        let indices = index.map(|index| Array::empty(py, shape, index.elements, None)).transpose()?;
        Ok(Self { largest, values, indices })
    }

    fn target(&self, index: Option<&Index<'py>>) -> Target {
        let data = |array: &Option<Array<'py>>| array.as_ref().map_or(ptr::null_mut(), Array::data);
        Target {
            largest: self.largest,
            values: data(&self.values),
            indices: data(&self.indices),
            index: index.map_or(extremum_kernels::IndexType::Int64, Index::kernel),
        }
    }

    fn finish(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let object = |array: Option<Array<'py>>| array.map(Array::into_result).transpose();
        PyTuple::new(py, [object(self.values)?, object(self.indices)?])
    }
}
