//! `argmax`, `argmin`, `max`, `min` and `minmax`, with the single reduction behind them: values and indices at either end of
//! the order in one pass, which can skip elements. And `hardmax`.

#![expect(clippy::doc_lazy_continuation, reason = "texts for Python are not Markdown")]

use crate::arguments::{Argument, AxisSet, index_type, numbers, omission, or_default};
use crate::array::{
    Array, Elements, Ndarray, Output, first_element, new_array, scalar, strides_like, take_plain, target,
};
use crate::elementwise::bits;
use crate::interpreter::{Object, detach, error, python};
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{ElementType, IndexType, Input, Omit, Target, argreduce, onehot, select};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyTuple};
use smallvec::SmallVec;
use std::hint::select_unpredictable;
use std::{ptr, slice};

/// Finds the extrema over some axes of a plain array, for one or both ends of the order.
///
/// Returns the number of slices in which no element takes part, whose index is -1; and for each end its values and indices,
/// None for those not wanted. The index type has to hold every index.
#[pyfunction]
#[pyo3(signature = (x, axis, *, function, largest, keepdims, select_last_index, omit, times, r#where, values, index))]
#[allow(clippy::type_complexity)]
pub fn reduce<'py>(
    x: &Object<'py>,
    axis: Option<&Object<'py>>,
    function: &str,
    largest: Vec<bool>,
    keepdims: bool,
    select_last_index: bool,
    omit: bool,
    times: bool,
    r#where: Option<&Object<'py>>,
    values: bool,
    index: Option<&Object<'py>>,
) -> PyResult<(usize, Vec<[Option<Object<'py>>; 2]>)> {
    let index = index.map(|index| index_type(Some(index), None, function)).transpose()?;
    let reduction = ReductionCall { function, largest: &largest, keepdims, last: select_last_index };
    let omit = match (omit, times) {
        (false, _) => Omit::Nothing,
        (true, false) => Omit::Nan,
        (true, true) => Omit::NotATime,
    };
    let Some((empty_slices, ends)) = reduction.select(x, axis, omit, r#where, values, index, Empty::Counted)? else {
        let reason = format!("{function}: not a plain array, or a mask that is not one of bool in its shape");
        let remedy = "pass numpy.ndarray, and broadcast the mask to its shape";
        return Err(error(x.py(), python!("ArgumentError"), reason, remedy));
    };
    Ok((empty_slices, ends.into_vec()))
}

/// What a call of `argmax`, `max` or one of their kind wants.
struct ReductionCall<'a> {
    /// The array function, as a message names it.
    function: &'a str,
    /// The wanted ends of the order: true for the largest, false for the smallest.
    largest: &'a [bool],
    /// Whether reduced axes stay, with length 1.
    keepdims: bool,
    /// Whether the last of equal elements wins.
    last: bool,
}

/// What becomes of the slices in which no element takes part.
#[derive(Clone, Copy)]
enum Empty<'a, 'py> {
    /// They keep the index -1, and the caller sees to them.
    Counted,
    /// The Python side refuses them.
    Refused,
    /// They get this index.
    Index(i64),
    /// They get this number as their value.
    Value(&'a Object<'py>),
}

/// The values and the indices at each wanted end of the order; None for those not wanted. Arrays, or scalars in place of
/// arrays without dimensions; arrays alone where empty slices are only counted.
type ValuesAndIndices<'py> = SmallVec<[[Option<Object<'py>>; 2]; 2]>;

/// Memory that receives the values or the indices at one end of the order.
enum Receiver<'py> {
    /// A new array.
    Array(Ndarray<'py>),
    /// One element, which becomes a scalar: an array on the way to it would take a third of the time of a small call.
    Element { bits: u64, elements: Elements },
}

impl<'py> Receiver<'py> {
    /// Makes an array of this shape and these strides, or has room for the only element.
    fn new(py: Python<'py>, shape: &[usize], strides: &[isize], elements: Elements, is_scalar: bool) -> PyResult<Self> {
        match is_scalar {
            true => Ok(Self::Element { bits: 0, elements }),
            false => new_array(py, shape, elements, strides).map(Self::Array),
        }
    }

    /// The address of the first element, as long as the receiver stays where it is.
    fn data(&mut self) -> *mut u8 {
        match self {
            Self::Array(array) => first_element(array),
            Self::Element { bits, .. } => (&raw mut *bits).cast(),
        }
    }

    /// The array or the scalar.
    fn finish(self, py: Python<'py>) -> PyResult<Object<'py>> {
        match self {
            Self::Array(array) => Ok(array.into_any()),
            // SAFETY: the element lies in the first bytes.
            Self::Element { bits, elements } => unsafe { scalar(py, (&raw const bits).cast(), elements) },
        }
    }
}

impl ReductionCall<'_> {
    /// Finds the index of the first or last extremum of a plain array; None if a slice is empty, or too long for the index type.
    #[inline(always)]
    fn index<'py>(
        &self,
        x: Ndarray<'py>,
        axis: Option<&Object<'py>>,
        dtype: Option<&Object<'py>>,
        out: Option<&Object<'py>>,
    ) -> PyResult<Option<Object<'py>>> {
        let py = x.py();
        let function = self.function;
        let numbers = numbers(axis, &x, function)?;
        let out = out.map(|out| target(out, function)).transpose()?;
        let index = index_type(dtype, out.as_ref(), function)?;
        // No Python code runs from here until the kernel has ended, except to word an error.
        let x = Array::new(x, function)?;
        let out = out.map(|out| Array::new(out, function)).transpose()?;
        let axes = AxisSet::of(numbers.as_ref().or(axis), None, &x, function)?;
        let block = block(&x, axes);
        if block == 0 || block - 1 > index.element.max() {
            return Ok(None);
        }
        let largest = self.largest[0];
        let last = self.last;
        // Made where it is used: a move would wait until all its bytes are in memory.
        let omit = Omit::Nothing;
        let mask = ptr::null();
        let input =
            || Input { data: x.data, element: x.element(), swapped: x.elements.swapped, largest, last, omit, mask };
        let lens = &x.shape[..];
        let steps = &x.strides[..];
        if !self.keepdims && out.is_none() && axes == AxisSet::all(lens.len()) {
            let mut place = 0i64;
            let to = (&raw mut place).cast::<u8>();
            let walk = lens.iter().zip(steps).rev().map(|(&len, &step)| (len, step, 0, true));
            // SAFETY: `x` describes readable memory, and only one index is written.
            detach(py, x.bytes(), || unsafe { argreduce(input(), walk, to, index.element) });
            // SAFETY: the index lies there.
            return unsafe { scalar(py, to, index).map(Some) };
        }
        let shape = self.shape(&x, axes);
        let form = (&shape[..], index);
        let model = self.model(steps, axes, shape.len());
        let output = Output::new(py, out, function, form, &model, slice::from_ref(&x), false)?;
        let mut strides = output.target.strides.iter().rev();
        let walk = lens.iter().zip(steps).enumerate().rev().map(|(axis, (&len, &step))| {
            let reduced = axes.contains(axis);
            let stride = if self.keepdims || !reduced { strides.next() } else { None };
            (len, step, stride.map_or(0, |&stride| stride), reduced)
        });
        let to = output.target.data;
        // SAFETY: `x` describes readable memory; the output has been checked to be writable, of the right
        // shape, clear of `x`, and of a type that holds every index.
        detach(py, x.bytes(), || unsafe { argreduce(input(), walk, to, index.element) });
        output.finish().map(Some)
    }

    /// Reduces a plain array; also returns the number of slices in which no element takes part, whose index is -1. None if `x`
    /// is not a plain array, or the mask is not a bool array of its shape. Unless those slices are only counted, also None if `x` is
    /// empty, an index does not fit its type, or the Python side has to see to those slices.
    fn select<'py>(
        &self,
        x: &Object<'py>,
        axis: Option<&Object<'py>>,
        omit: Omit,
        mask: Option<&Object<'py>>,
        values: bool,
        mut index: Option<Elements>,
        empty: Empty<'_, 'py>,
    ) -> PyResult<Option<(usize, ValuesAndIndices<'py>)>> {
        let py = x.py();
        let function = self.function;
        let (x, mask) = match (take_plain(x), mask.map(take_plain)) {
            (None, _) | (_, Some(None)) => return Ok(None),
            (Some(x), mask) => (x, mask.flatten()),
        };
        let numbers = numbers(axis, &x, function)?;
        // No Python code runs from here until the kernel has ended, except to word an error and to make the results.
        let x = Array::new(x, function)?;
        let mask = mask.map(|mask| Array::new(mask, function)).transpose()?;
        let axes = AxisSet::of(numbers.as_ref().or(axis), None, &x, function)?;
        let omit = if omit == Omit::Nan && !x.element().is_float() { Omit::Nothing } else { omit };
        let may_lack = omit != Omit::Nothing || mask.is_some();
        let fits = |index: IndexType| block(&x, axes) - 1 <= index.max() && (!may_lack || index.is_signed());
        if mask.as_ref().is_some_and(|mask| mask.shape != x.shape || mask.element() != ElementType::Bool)
            || !matches!(empty, Empty::Counted)
                && (x.shape.contains(&0) || index.is_some_and(|index| !fits(index.element)))
        {
            return Ok(None);
        }
        let value = match empty {
            Empty::Value(number) => {
                let index_fits = index.is_none_or(|index| index.element == IndexType::Int64);
                let bits = bits(number, x.elements).filter(|_| index_fits && x.element().is_float());
                if bits.is_none() {
                    return Ok(None);
                }
                bits
            }
            _ => None,
        };
        let only_empty = index.is_none();
        if only_empty && (may_lack || block(&x, axes) == 0) {
            // The index shows in which slices no element takes part.
            index = Some(index_type(None, None, function)?);
        }
        let shape = self.shape(&x, axes);
        let strides = strides_like(&shape, &self.model(&x.strides, axes, shape.len()));
        // A caller that sees to empty slices writes to the results.
        let is_scalar = shape.is_empty() && !matches!(empty, Empty::Counted);
        let mut receivers = SmallVec::<[[Option<Receiver>; 2]; 2]>::new();
        for _ in self.largest {
            let receiver = |elements| Receiver::new(py, &shape, &strides, elements, is_scalar);
            receivers.push([values.then_some(x.elements).map(receiver).transpose()?, index.map(receiver).transpose()?]);
        }
        let targets: SmallVec<[Target; 2]> = receivers
            .iter_mut()
            .map(|[values, indices]| {
                let data = |receiver: &mut Option<Receiver>| receiver.as_mut().map_or(ptr::null_mut(), Receiver::data);
                let index = index.map_or(IndexType::Int64, |index| index.element);
                Target { values: data(values), indices: data(indices), index, only_empty }
            })
            .collect();
        let input = Input {
            data: x.data,
            element: x.element(),
            swapped: x.elements.swapped,
            largest: self.largest[0],
            last: self.last,
            omit,
            mask: mask.as_ref().map_or(ptr::null(), |mask| mask.data.cast_const()),
        };
        let mut strides = strides.iter().rev();
        let walk = (0..x.shape.len()).rev().map(|axis| {
            let mask = mask.as_ref().map_or(0, |mask| mask.strides[axis]);
            let reduced = axes.contains(axis);
            let stride = if self.keepdims || !reduced { strides.next() } else { None };
            (x.shape[axis], x.strides[axis], mask, stride.map_or(0, |&stride| stride), reduced)
        });
        let mut empty_slices = 0;
        // SAFETY: `x` and the mask describe readable memory of one shape; the results are new, of the shape of the kept axes,
        // with these strides.
        detach(py, x.bytes(), || empty_slices = unsafe { select(input, walk, &targets) });
        let slices = shape.iter().product();
        match empty {
            _ if empty_slices == 0 => {}
            Empty::Refused => return Ok(None),
            Empty::Index(place) if place != -1 => targets.iter().for_each(|target| fill(target, slices, place)),
            Empty::Index(_) | Empty::Counted => {}
            Empty::Value(_) => {
                let size = x.element().size();
                if let Some(value) = value {
                    targets.iter().for_each(|target| fill_values(target, slices, value, size));
                }
            }
        }
        let mut ends = ValuesAndIndices::new();
        for [values, indices] in receivers {
            let finish = |receiver: Option<Receiver<'py>>| receiver.map(|receiver| receiver.finish(py)).transpose();
            ends.push([finish(values)?, finish(indices)?]);
        }
        Ok(Some((empty_slices, ends)))
    }

    /// The strides, in an array that is reduced, of the axes that a result of several axes has: its model.
    #[inline]
    fn model(&self, strides: &[isize], axes: AxisSet, rank: usize) -> PerAxis<isize> {
        if rank < 2 {
            return PerAxis::new();
        }
        let kept = strides.iter().enumerate().filter(|&(axis, _)| self.keepdims || !axes.contains(axis));
        kept.map(|(_, &stride)| stride).collect()
    }

    /// The shape of a result.
    fn shape(&self, x: &Array<'_>, axes: AxisSet) -> PerAxis<usize> {
        let mut shape = PerAxis::new();
        for (axis, &len) in x.shape.iter().enumerate() {
            match axes.contains(axis) {
                false => shape.push(len),
                true if self.keepdims => shape.push(1),
                true => {}
            }
        }
        shape
    }
}

/// The number of elements of a slice.
fn block(x: &Array<'_>, axes: AxisSet) -> u64 {
    let lens = x.shape.iter().enumerate().filter(|&(axis, _)| axes.contains(axis));
    lens.fold(1, |block, (_, &len)| block.saturating_mul(len as u64))
}

/// Replaces -1, which marks slices in which no element takes part, by a place in new indices.
#[cold]
fn fill(target: &Target, len: usize, place: i64) {
    /// Without a branch, which would be unpredictable.
    ///
    /// # Safety
    /// There are `len` indices.
    unsafe fn replace<T: Copy + PartialEq + From<i8>>(indices: *mut T, len: usize, place: T) {
        // SAFETY: the caller's promise.
        for index in unsafe { slice::from_raw_parts_mut(indices, len) } {
            *index = if *index == T::from(-1) { place } else { *index };
        }
    }
    let indices = target.indices;
    // SAFETY: there are `len` indices, without gaps.
    unsafe {
        match target.index.size() {
            1 => replace(indices.cast(), len, place as i8),
            2 => replace(indices.cast(), len, place as i16),
            4 => replace(indices.cast(), len, place as i32),
            _ => replace(indices.cast(), len, place),
        }
    }
}

/// Writes a value of `size` bytes where the index, of 64 bits, says that no element takes part.
#[cold]
fn fill_values(target: &Target, len: usize, value: u64, size: usize) {
    /// Without a branch, which would be mispredicted.
    ///
    /// # Safety
    /// There are `len` values and indices.
    unsafe fn replace<T: Copy>(values: *mut T, indices: *const i64, len: usize, value: T) {
        // SAFETY: the caller's promise.
        let (values, indices) =
            unsafe { (slice::from_raw_parts_mut(values, len), slice::from_raw_parts(indices, len)) };
        for (value_of_slice, &index) in values.iter_mut().zip(indices) {
            *value_of_slice = select_unpredictable(index == -1, value, *value_of_slice);
        }
    }
    let Target { values, indices, index, .. } = *target;
    assert!(index == IndexType::Int64 && !indices.is_null(), "an index of 64 bits for each slice");
    // SAFETY: there are `len` values and indices, in C order.
    unsafe {
        match size {
            2 => replace(values.cast(), indices.cast(), len, value as u16),
            4 => replace(values.cast(), indices.cast(), len, value as u32),
            _ => replace(values.cast(), indices.cast(), len, value),
        }
    }
}

/// An array function over some axes, with its text. Its flags and its other keywords go to the native
/// function `$answer`. If that gives None, they go by name to the Python side, which handles other libraries' arrays, times, and
/// slices without an element.
macro_rules! reduction {
    ($function:ident $text:literal $signature:literal, [$($flag:ident)*] [$($keyword:ident)*] => $answer:ident($ends:expr)) => {
        #[doc = include_str!($text)]
        #[pyfunction]
        #[pyo3(
            signature = (x, /, axis=None, *, $($flag=Argument::ABSENT,)* $($keyword=None,)*),
            text_signature = $signature
        )]
        pub fn $function<'py>(
            x: &Object<'py>,
            axis: Option<&Object<'py>>,
            $($flag: Argument<'py>,)*
            $($keyword: Option<&Object<'py>>,)*
        ) -> PyResult<Object<'py>> {
            let function = stringify!($function);
            $(let $flag = $flag.flag(stringify!($flag), function)?;)*
            if let Some(result) = $answer(function, $ends, x, axis, [$($flag),*], &[$($keyword),*])? {
                return Ok(result);
            }
            let options = PyDict::new(x.py());
            $(options.set_item(stringify!($flag), $flag)?;)*
            for (name, value) in [$((stringify!($keyword), $keyword)),*] {
                // The name of a raw identifier begins with `r#`.
                value.map_or(Ok(()), |value| options.set_item(name.trim_start_matches("r#"), value))?;
            }
            python!("beyond").call_with(x.py(), (function, x, axis).into_pyobject(x.py())?, Some(&options))
        }
    };
}

reduction! {
    argmax "../docs/argmax.rst"
    "(x, /, axis=None, *, keepdims=False, select_last_index=False, dtype=None, out=None, nan_policy='propagate', where=None, default=None)",
    [keepdims select_last_index] [dtype out nan_policy r#where default] => index(&[true])
}

reduction! {
    argmin "../docs/argmin.rst"
    "(x, /, axis=None, *, keepdims=False, select_last_index=False, dtype=None, out=None, nan_policy='propagate', where=None, default=None)",
    [keepdims select_last_index] [dtype out nan_policy r#where default] => index(&[false])
}

/// Answers `argmax` and `argmin`.
#[inline(always)]
fn index<'py>(
    function: &str,
    largest: &[bool],
    x: &Object<'py>,
    axis: Option<&Object<'py>>,
    [keepdims, last]: [bool; 2],
    &[dtype, out, nan_policy, r#where, default]: &[Option<&Object<'py>>; 5],
) -> PyResult<Option<Object<'py>>> {
    let reduction = ReductionCall { function, largest, keepdims, last };
    if nan_policy.is_none()
        && r#where.is_none()
        && default.is_none()
        && let Some(x) = take_plain(x)
    {
        return reduction.index(x, axis, dtype, out);
    }
    if out.is_some() {
        return Ok(None);
    }
    let index = index_type(dtype, None, function)?;
    let place = default.map(|default| no_place(default, index.element));
    let (Some(omit), None | Some(Some(_))) = (omission(nan_policy), place) else { return Ok(None) };
    let empty = place.flatten().map_or(Empty::Refused, Empty::Index);
    let answer = reduction.select(x, axis, omit, r#where, false, Some(index), empty)?;
    Ok(answer.and_then(|(_, ends)| ends.into_iter().find_map(|[_, indices]| indices)))
}

/// The default for slices without an element, if it is an index that can be written here.
fn no_place(default: &Object<'_>, index: IndexType) -> Option<i64> {
    let place: i64 = default.cast_exact::<PyInt>().ok()?.extract().ok()?;
    let fits = if place < 0 { place == -1 && index.is_signed() } else { place as u64 <= index.max() };
    fits.then_some(place)
}

reduction! {
    max "../docs/max.rst"
    "(x, /, axis=None, *, keepdims=False, return_index=False, select_last_index=False, nan_policy='propagate', where=None, default=None, index_dtype=None, out=None)",
    [keepdims return_index select_last_index] [nan_policy r#where default index_dtype out] => values(&[true])
}

reduction! {
    min "../docs/min.rst"
    "(x, /, axis=None, *, keepdims=False, return_index=False, select_last_index=False, nan_policy='propagate', where=None, default=None, index_dtype=None, out=None)",
    [keepdims return_index select_last_index] [nan_policy r#where default index_dtype out] => values(&[false])
}

reduction! {
    minmax "../docs/minmax.rst"
    "(x, /, axis=None, *, keepdims=False, return_index=False, select_last_index=False, nan_policy='propagate', where=None, default=None, index_dtype=None)",
    [keepdims return_index select_last_index] [nan_policy r#where default index_dtype] => values(&[false, true])
}

/// Answers `max` and `min`, and `minmax`, which takes no `out`.
fn values<'py>(
    function: &str,
    largest: &[bool],
    x: &Object<'py>,
    axis: Option<&Object<'py>>,
    [keepdims, return_index, last]: [bool; 3],
    keywords: &[Option<&Object<'py>>],
) -> PyResult<Option<Object<'py>>> {
    let &[nan_policy, r#where, default, index_dtype, ref out @ ..] = keywords else { unreachable!("each is there") };
    let empty = match default {
        None => Empty::Refused,
        // The Python side knows what other defaults become.
        Some(number) if number.is_exact_instance_of::<PyFloat>() => Empty::Value(number),
        Some(_) => return Ok(None),
    };
    if out.iter().any(Option::is_some) {
        return Ok(None);
    }
    let index = return_index.then(|| index_type(index_dtype, None, function)).transpose()?;
    let reduction = ReductionCall { function, largest, keepdims, last };
    let Some(omit) = omission(nan_policy) else { return Ok(None) };
    let answer = reduction.select(x, axis, omit, r#where, true, index, empty)?;
    answer.map(|(_, ends)| result(x.py(), ends, return_index)).transpose()
}

/// The result: a single value, or a named tuple of all values and then their indices.
fn result<'py>(py: Python<'py>, mut ends: ValuesAndIndices<'py>, indices: bool) -> PyResult<Object<'py>> {
    let mut results = SmallVec::<[_; 4]>::new();
    for what in 0..1 + usize::from(indices) {
        for end in &mut ends {
            results.extend(end[what].take());
        }
    }
    let names = match (ends.len(), indices) {
        (1, false) => return Ok(results.swap_remove(0)),
        (1, true) => python!("ValuesIndices"),
        (_, false) => python!("MinMax"),
        (_, true) => python!("MinMaxIndices"),
    };
    names.call(py, (PyTuple::new(py, results)?,))
}

#[doc = include_str!("../docs/hardmax.rst")]
#[pyfunction]
#[pyo3(
    signature = (x, /, axis=Argument::ABSENT, *, out=None, nan_policy=None, r#where=None),
    text_signature = "(x, /, axis=-1, *, out=None, nan_policy='propagate', where=None)"
)]
pub fn hardmax<'py>(
    x: &Object<'py>,
    axis: Argument<'py>,
    out: Option<&Object<'py>>,
    nan_policy: Option<&Object<'py>>,
    r#where: Option<&Object<'py>>,
) -> PyResult<Object<'py>> {
    let (py, (axis, default)) = (x.py(), axis.or_last_axis());
    let Some(x) = take_plain(x).filter(|_| nan_policy.is_none() && r#where.is_none()) else {
        // The Python side handles other libraries' arrays, times, NaN policies and masks.
        let axis = or_default(py, axis.as_ref(), default);
        return python!("hardmax").call(py, (x, axis, out, nan_policy, r#where));
    };
    let numbers = numbers(axis.as_ref(), &x, "hardmax")?;
    let out = out.map(|out| target(out, "hardmax")).transpose()?;
    // No Python code runs from here until the kernel has ended, except to word an error.
    let x = Array::new(x, "hardmax")?;
    let out = out.map(|out| Array::new(out, "hardmax")).transpose()?;
    let axes = AxisSet::of(numbers.or(axis).as_ref(), default, &x, "hardmax")?;
    let shape = &x.shape[..];
    let form = (shape, x.elements);
    let output = Output::new(py, out, "hardmax", form, &x.strides, slice::from_ref(&x), false)?;
    let data = x.data;
    let element = x.element();
    let swapped = x.elements.swapped;
    let to = output.target.data;
    let strides = &output.target.strides;
    let walk = shape.iter().zip(&x.strides).zip(strides).enumerate().rev();
    let walk = walk.map(|(axis, ((&len, &step), &stride))| (len, step, stride, axes.contains(axis)));
    // SAFETY: `x` describes readable memory; the output has been checked to be writable, of the same shape
    // and type, and clear of `x`.
    detach(py, x.bytes(), || unsafe { onehot(data, element, swapped, walk, to) });
    output.finish()
}
