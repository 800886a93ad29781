//! Values and indices of either end of the order in one pass, with elements left out: what the array functions are made of.

use crate::array::Array;
use crate::axes::{Axes, Default, Named};
use crate::errors::{Kind, error};
use crate::index::{Index, block, too_far};
use crate::operand::{operand, settled};
use crate::options::omits;
use crate::work::detached;
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{Dimension, ElementType, IndexType, Omit, Selection, Target, select};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use smallvec::SmallVec;
use std::{ptr, slice};

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
        && !fits(mask, &x)
    {
        let reason = format!("{function}: where is {}, not bool in the shape of the array", mask.summary());
        return Err(error(py, Kind::Argument, reason, Some(x.summary()), None));
    }
    let axes = axes.of(&x, function)?;
    let omit = match (omit, times) {
        (false, _) => Omit::Nothing,
        (true, false) => Omit::Nan,
        (true, true) => Omit::NotATime,
    };
    let reduction = Reduction { function, largest: &largest, keepdims, last: select_last_index, values };
    let (lacking, Ends(ends)) = reduction.find(&x, axes, omit, mask.as_ref(), index.as_ref())?;
    let results = ends.into_iter().map(|end| end.finish(py)).collect::<PyResult<Vec<_>>>()?;
    Ok((lacking, PyTuple::new(py, results)?))
}

/// What is asked of a reduction.
pub struct Reduction<'a> {
    /// The array function, as a message names it.
    pub function: &'a str,
    /// For each end of the order that is wanted, whether it is the largest.
    pub largest: &'a [bool],
    /// Whether reduced axes stay, with length 1.
    pub keepdims: bool,
    /// Whether the last of equals wins.
    pub last: bool,
    /// Whether values are wanted.
    pub values: bool,
}

/// Which elements take part, as the caller says it.
pub struct Terms<'a, 'py> {
    /// The word for what is done about NaN.
    pub nan_policy: Option<&'a Bound<'py, PyAny>>,
    /// The mask.
    pub r#where: Option<&'a Bound<'py, PyAny>>,
    /// The index of a slice in which no element takes part, where there is one.
    pub no_place: Option<i32>,
}

impl Reduction<'_> {
    /// Reduces what needs nothing more than this module: a plain array with elements, a mask that is one of bool in its shape,
    /// and slices of which each has something to choose from. None for all else, which is the Python side's to answer or to
    /// refuse.
    pub fn plain<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        axis: Option<&Bound<'py, PyAny>>,
        index: Option<Index<'py>>,
        terms: &Terms<'_, 'py>,
    ) -> PyResult<Option<Ends<'py>>> {
        let (py, function) = (x.py(), self.function);
        let Some(omits) = omits(terms.nan_policy) else { return Ok(None) };
        let Some(x) = settled(x) else { return Ok(None) };
        let mask = match terms.r#where.map(settled) {
            Some(None) => return Ok(None),
            mask => mask.flatten(),
        };
        let axes = Named::new(axis, Default::All, &x, function)?;
        // No Python code runs from here until the kernel has ended, except to word an error and to make the results.
        let x = Array::new(x, function)?;
        let mask = mask.map(|mask| Array::new(mask, function)).transpose()?;
        let omit = omits && is_float(x.element());
        let may_lack = omit || mask.is_some();
        // The index says of a slice that no element takes part in it.
        if x.shape().contains(&0)
            || mask.as_ref().is_some_and(|mask| !fits(mask, &x))
            || may_lack && index.as_ref().is_some_and(|index| !index.kernel().is_signed())
        {
            return Ok(None);
        }
        let axes = axes.of(&x, function)?;
        let index = match index {
            None if may_lack => Some(Index::new(py, None, function)?),
            index => index,
        };
        let omit = if omit { Omit::Nan } else { Omit::Nothing };
        let (lacking, mut ends) = self.find(&x, axes, omit, mask.as_ref(), index.as_ref())?;
        match terms.no_place {
            None if lacking > 0 => return Ok(None),
            Some(place) if lacking > 0 && place != -1 => ends.0.iter_mut().for_each(|end| end.fill(place)),
            _ => {}
        }
        Ok(Some(ends))
    }

    /// Reduces a plain array; returns the number of slices in which no element takes part, too.
    fn find<'py>(
        &self,
        x: &Array<'py>,
        axes: Axes,
        omit: Omit,
        mask: Option<&Array<'py>>,
        index: Option<&Index<'py>>,
    ) -> PyResult<(usize, Ends<'py>)> {
        let py = x.object().py();
        if let Some(index) = index {
            let block = block(x, axes);
            if block.saturating_sub(1) > index.kernel().max() {
                return Err(too_far(x, index.kernel(), block, self.function));
            }
        }
        let shape = self.kept(x, axes);
        let mut ends = SmallVec::<[End; 2]>::new();
        for &largest in self.largest {
            ends.push(End::new(py, x, &shape, self.values, index, largest)?);
        }
        let targets: SmallVec<[Target; 2]> = ends.iter().map(End::target).collect();
        let selection = Selection {
            data: x.data(),
            element: x.element(),
            swapped: x.swapped(),
            last: self.last,
            omit,
            mask: mask.map_or(ptr::null(), |mask| mask.data().cast_const()),
        };
        let walk = (0..x.shape().len()).rev().map(|axis| Dimension {
            len: x.shape()[axis],
            stride: x.strides()[axis],
            mask: mask.map_or(0, |mask| mask.strides()[axis]),
            reduced: axes.contains(axis),
        });
        let mut lacking = 0;
        // SAFETY: `x` and the mask describe readable memory of one shape; the results are new, in C order, of the shape of
        // the kept axes, and their types hold every index and every element.
        detached(py, x.bytes(), || lacking = unsafe { select(selection, walk, &targets) });
        Ok((lacking, Ends(ends)))
    }

    /// The shape of a result.
    fn kept(&self, x: &Array<'_>, axes: Axes) -> PerAxis<usize> {
        let lens = x.shape().iter().enumerate();
        lens.filter_map(|(axis, &len)| match axes.contains(axis) {
            false => Some(len),
            true => self.keepdims.then_some(1),
        })
        .collect()
    }
}

fn is_float(element: ElementType) -> bool {
    !element.is_integer() && element != ElementType::Bool
}

/// Whether an array is a mask of another one.
fn fits(mask: &Array<'_>, x: &Array<'_>) -> bool {
    mask.shape() == x.shape() && mask.element() == ElementType::Bool
}

/// What a reduction found, in the order in which the ends were asked for.
pub struct Ends<'py>(SmallVec<[End<'py>; 2]>);

impl<'py> Ends<'py> {
    /// The values of all ends, and then their indices where those are wanted: scalars in place of arrays without dimensions.
    pub fn results(self, places: bool) -> PyResult<SmallVec<[Bound<'py, PyAny>; 4]>> {
        let mut results = SmallVec::new();
        let mut indices = SmallVec::<[_; 2]>::new();
        for end in self.0 {
            results.extend(end.values.map(Array::into_result).transpose()?);
            indices.extend(end.indices.filter(|_| places));
        }
        for place in indices {
            results.push(place.into_result()?);
        }
        Ok(results)
    }

    /// The indices of the one end.
    pub fn one_place(self) -> PyResult<Bound<'py, PyAny>> {
        let found = self.0.into_iter().find_map(|end| end.indices);
        found.unwrap_or_else(|| unreachable!("indices are wanted")).into_result()
    }
}

/// The results at one end of the order.
struct End<'py> {
    largest: bool,
    values: Option<Array<'py>>,
    indices: Option<Array<'py>>,
    index: IndexType,
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
        Ok(Self { largest, values, indices, index: index.map_or(IndexType::Int64, Index::kernel) })
    }

    fn target(&self) -> Target {
        let data = |array: &Option<Array<'py>>| array.as_ref().map_or(ptr::null_mut(), Array::data);
        Target { largest: self.largest, values: data(&self.values), indices: data(&self.indices), index: self.index }
    }

    /// Writes a place where no element takes part, which -1 says so far.
    #[cold]
    fn fill(&mut self, place: i32) {
        let Some(indices) = &self.indices else { return };
        let len = indices.shape().iter().product();
        // SAFETY: the array is new and in C order, of as many signed integers.
        unsafe {
            match self.index.size() {
                1 => replace(slice::from_raw_parts_mut(indices.data().cast(), len), place as i8),
                2 => replace(slice::from_raw_parts_mut(indices.data().cast(), len), place as i16),
                4 => replace(slice::from_raw_parts_mut(indices.data().cast(), len), place),
                _ => replace(slice::from_raw_parts_mut(indices.data().cast(), len), i64::from(place)),
            }
        }
    }

    fn finish(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let object = |array: Option<Array<'py>>| array.map(Array::into_result).transpose();
        PyTuple::new(py, [object(self.values)?, object(self.indices)?])
    }
}

fn replace<T: Copy + PartialEq + From<i8>>(places: &mut [T], place: T) {
    for each in places {
        if *each == T::from(-1) {
            *each = place;
        }
    }
}
