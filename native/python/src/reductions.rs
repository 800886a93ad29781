//! `argmax`, `argmin`, `max`, `min` and `minmax`, with the single reduction behind them: values and indices at either end of
//! the order in one pass, which can skip elements. And `hardmax`.

use crate::arguments::{Argument, Axes, index_type, numbers, omission, or_default};
use crate::array::{Array, Elements, Ndarray, Output, descriptor, into_result, take_plain, target};
use crate::interpreter::{Object, detach, error, python};
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{ElementType, IndexType, Input, Omit, Target, argreduce, onehot, select};
use numpy::npyffi::PY_ARRAY_API;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple};
use smallvec::SmallVec;
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
) -> PyResult<(usize, Vec<[Option<Ndarray<'py>>; 2]>)> {
    let index = index.map(|index| index_type(Some(index), None, function)).transpose()?;
    let reduction = Reduction { function, largest: &largest, keepdims, last: select_last_index };
    let omit = match (omit, times) {
        (false, _) => Omit::Nothing,
        (true, false) => Omit::Nan,
        (true, true) => Omit::NotATime,
    };
    let Some((blanks, ends)) = reduction.select(x, axis, omit, r#where, values, index, None)? else {
        let reason = format!("{function}: not a plain array, or a mask that is not one of bool in its shape");
        let remedy = "pass numpy.ndarray, and broadcast the mask to its shape";
        return Err(error(x.py(), python!("ArgumentError"), reason, remedy));
    };
    Ok((blanks, ends.into_vec()))
}

struct Reduction<'a> {
    /// The array function, as a message names it.
    function: &'a str,
    /// The wanted ends of the order: true for the largest, false for the smallest.
    largest: &'a [bool],
    /// Whether reduced axes stay, with length 1.
    keepdims: bool,
    /// Whether the last of equal elements wins.
    last: bool,
}

/// The values and the indices at each wanted end of the order; None for those not wanted.
type Ends<'py> = SmallVec<[[Option<Ndarray<'py>>; 2]; 2]>;

impl Reduction<'_> {
    /// Finds the index of the first or last extremum of a plain array; None if a slice is empty, or too long for the index type.
    #[inline(always)]
    fn index<'py>(
        &self,
        x: Ndarray<'py>,
        axis: Option<&Object<'py>>,
        dtype: Option<&Object<'py>>,
        out: Option<&Object<'py>>,
    ) -> PyResult<Option<Object<'py>>> {
        let (py, function) = (x.py(), self.function);
        let numbers = numbers(axis, &x, function)?;
        let out = out.map(|out| target(out, function)).transpose()?;
        let index = index_type(dtype, out.as_ref(), function)?;
        // No Python code runs from here until the kernel has ended, except to word an error.
        let x = Array::new(x, function)?;
        let out = out.map(|out| Array::new(out, function)).transpose()?;
        let axes = Axes::of(numbers.as_ref().or(axis), None, &x, function)?;
        let block = block(&x, axes);
        if block == 0 || block - 1 > index.element.max() {
            return Ok(None);
        }
        let (largest, last) = (self.largest[0], self.last);
        // Made where it is used: a move would wait until all its bytes are in memory.
        let (omit, mask) = (Omit::Nothing, ptr::null());
        let input =
            || Input { data: x.data, element: x.element(), swapped: x.elements.swapped, largest, last, omit, mask };
        let (lens, steps) = (&x.shape[..], &x.strides[..]);
        if !self.keepdims && out.is_none() && axes == Axes::all(lens.len()) {
            let mut place = 0i64;
            let to = (&raw mut place).cast::<u8>();
            let walk = lens.iter().zip(steps).rev().map(|(&len, &step)| (len, step, 0, true));
            // SAFETY: `x` describes readable memory, and only one index is written.
            detach(py, x.bytes(), || unsafe { argreduce(input(), walk, to, index.element) });
            let descriptor = descriptor(py, index.number)?;
            // SAFETY: NumPy reads one element of the descriptor's type.
            return unsafe {
                let scalar = PY_ARRAY_API.PyArray_Scalar(py, to.cast(), descriptor.as_ptr().cast(), ptr::null_mut());
                Bound::from_owned_ptr_or_err(py, scalar).map(Some)
            };
        }
        let shape = self.shape(&x, axes);
        let form = (&shape[..], index);
        let output = Output::new(py, out, function, form, slice::from_ref(&x), false)?;
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
    /// is not a plain array, or the mask is not a bool array of its shape. `complete` says that the result has to be complete,
    /// with this index for those slices: then also None if they have no index, `x` is empty, or an index does not fit its type.
    fn select<'py>(
        &self,
        x: &Object<'py>,
        axis: Option<&Object<'py>>,
        omit: Omit,
        mask: Option<&Object<'py>>,
        values: bool,
        mut index: Option<Elements>,
        complete: Option<Option<i64>>,
    ) -> PyResult<Option<(usize, Ends<'py>)>> {
        let (py, function) = (x.py(), self.function);
        let (x, mask) = match (take_plain(x), mask.map(take_plain)) {
            (None, _) | (_, Some(None)) => return Ok(None),
            (Some(x), mask) => (x, mask.flatten()),
        };
        let numbers = numbers(axis, &x, function)?;
        // No Python code runs from here until the kernel has ended, except to word an error and to make the results.
        let x = Array::new(x, function)?;
        let mask = mask.map(|mask| Array::new(mask, function)).transpose()?;
        let axes = Axes::of(numbers.as_ref().or(axis), None, &x, function)?;
        let omit = if omit == Omit::Nan && !x.element().is_float() { Omit::Nothing } else { omit };
        let may_lack = omit != Omit::Nothing || mask.is_some();
        let fits = |index: IndexType| block(&x, axes) - 1 <= index.max() && (!may_lack || index.is_signed());
        if mask.as_ref().is_some_and(|mask| mask.shape != x.shape || mask.element() != ElementType::Bool)
            || complete.is_some() && (x.shape.contains(&0) || index.is_some_and(|index| !fits(index.element)))
        {
            return Ok(None);
        }
        if may_lack && index.is_none() {
            // The index shows in which slices no element takes part.
            index = Some(index_type(None, None, function)?);
        }
        let shape = self.shape(&x, axes);
        let mut ends = Ends::new();
        let mut targets = SmallVec::<[Target; 2]>::new();
        for _ in self.largest {
            let values = values.then(|| Array::empty(py, &shape, x.elements, None)).transpose()?;
            let indices = index.map(|index| Array::empty(py, &shape, index, None)).transpose()?;
            let data = |array: &Option<Array>| array.as_ref().map_or(ptr::null_mut(), |array| array.data);
            let index = index.map_or(IndexType::Int64, |index| index.element);
            targets.push(Target { values: data(&values), indices: data(&indices), index });
            ends.push([values, indices].map(|array| array.map(|array| array.object)));
        }
        let input = Input {
            data: x.data,
            element: x.element(),
            swapped: x.elements.swapped,
            largest: self.largest[0],
            last: self.last,
            omit,
            mask: mask.as_ref().map_or(ptr::null(), |mask| mask.data.cast_const()),
        };
        let walk = (0..x.shape.len()).rev().map(|axis| {
            let mask = mask.as_ref().map_or(0, |mask| mask.strides[axis]);
            (x.shape[axis], x.strides[axis], mask, axes.contains(axis))
        });
        let mut blanks = 0;
        // SAFETY: `x` and the mask describe readable memory of one shape; the results are new, in C order, of the shape of
        // the kept axes.
        detach(py, x.bytes(), || blanks = unsafe { select(input, walk, &targets) });
        match complete {
            Some(None) if blanks > 0 => return Ok(None),
            Some(Some(place)) if blanks > 0 && place != -1 => {
                targets.iter().for_each(|target| fill(target, shape.iter().product(), place))
            }
            _ => {}
        }
        Ok(Some((blanks, ends)))
    }

    /// The shape of a result.
    fn shape(&self, x: &Array<'_>, axes: Axes) -> PerAxis<usize> {
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
fn block(x: &Array<'_>, axes: Axes) -> u64 {
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
    // SAFETY: there are `len` indices, in C order.
    unsafe {
        match target.index.size() {
            1 => replace(indices.cast(), len, place as i8),
            2 => replace(indices.cast(), len, place as i16),
            4 => replace(indices.cast(), len, place as i32),
            _ => replace(indices.cast(), len, place),
        }
    }
}

/// An array function over some axes. Its flags and its other keywords go to the native function `$answer`. If that gives None,
/// they go by name to the Python side, which handles other libraries' arrays, times, and slices without an element.
macro_rules! reduction {
    ($function:ident $text:literal, [$($flag:ident)*] [$($keyword:ident)*] => $answer:ident($ends:expr);
     $(#[$summary:meta])+; $(#[$parameter:meta])+; $(#[$result:meta])+; $operators:literal; $(#[$example:meta])+) => {
        $(#[$summary])+
        ///
        /// Equal elements: the first wins, or the last on request; `-0.0` equals `+0.0`. NaN is beyond every number.
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
        /// select_last_index : bool, default False
        ///     Among equal elements take the last instead of the first.
        /// nan_policy : str, default "propagate"
        ///     ``propagate``: NaN (NaT) is the extremum. ``omit``: it does not take part. ``raise``: it is an error.
        /// where : array_like of bool, optional
        ///     Elements that take part; broadcast to the shape of `x`. Indices still count all elements.
        $(#[$parameter])+
        ///
        /// Returns
        /// -------
        $(#[$result])+
        ///
        /// Raises
        /// ------
        /// AxisError
        ///     An axis is out of range or given twice.
        /// ArgumentError
        ///     A slice has no element to choose from and there is no default, an index would not fit its type, an element is
        ///     NaN under ``raise``, an option has an unknown value, or `out` does not fit.
        /// ElementTypeError
        ///     `x` holds elements that have no order here, the indices would not be integers, the mask is not of bool, or the
        ///     default cannot be in the result.
        ///
        /// Notes
        /// -----
        #[doc = concat!("The operation behind ", $operators, ".")]
        ///
        /// Examples
        /// --------
        /// >>> import numpy as np
        /// >>> import extremum as ex
        $(#[$example])+
        #[pyfunction]
        #[pyo3(
            signature = (x, /, axis=None, *, $($flag=Argument::ABSENT,)* $($keyword=None,)*),
            text_signature = $text
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

macro_rules! arg {
    ($function:ident, $largest:literal, $superlative:literal, $operators:literal, $(#[$example:meta])+) => {
        reduction! {
            $function
            "(x, /, axis=None, *, keepdims=False, select_last_index=False, dtype=None, out=None, nan_policy='propagate', where=None, default=None)",
            [keepdims select_last_index] [dtype out nan_policy r#where default] => index(&[$largest]);
            #[doc = concat!("Index of the ", $superlative, " element over any set of axes.")]
            ;
            /// dtype : data type, default int64
            ///     Type of the indices: any integer that holds the last index of a slice. If only `out` is given, its type.
            /// default : int, optional
            ///     The index of a slice in which no element takes part. Without it such a slice is an error.
            /// out : numpy.ndarray, optional
            ///     Receives the result; needs its shape and type, may have any strides.
            ;
            /// array or integer
            ///     The indices, in the shape of `x` without the reduced axes, as an array of the caller's own library; `out`
            ///     where it was given. Over several axes they count row-major within the reduced block, in dimension order.
            ;
            $operators;
            $(#[$example])+
        }
    };
}

arg! {
    argmax, true, "largest", "ONNX ArgMax and DirectML's DML_ARGMAX",
    /// >>> x = np.array([[1, 5, 5], [7, 0, 7]], dtype=np.int16)
    /// >>> ex.argmax(x, axis=1)
    /// array([1, 0])
    /// >>> ex.argmax(x, axis=1, select_last_index=True)
    /// array([2, 2])
    /// >>> int(ex.argmax(x, axis=(0, 1)))
    /// 3
}

arg! {
    argmin, false, "smallest", "ONNX ArgMin and DirectML's DML_ARGMIN",
    /// >>> int(ex.argmin(np.array([3.0, np.nan, 1.0])))
    /// 1
    /// >>> ex.argmin(np.array([[3, 1], [2, 1]]), axis=0, dtype=np.uint32)
    /// array([1, 0], dtype=uint32)
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
    let reduction = Reduction { function, largest, keepdims, last };
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
    let answer = reduction.select(x, axis, omit, r#where, false, Some(index), Some(place.flatten()))?;
    answer.and_then(|(_, ends)| ends.into_iter().find_map(|[_, indices]| indices)).map(into_result).transpose()
}

/// The default for slices without an element, if it is an index that can be written here.
fn no_place(default: &Object<'_>, index: IndexType) -> Option<i64> {
    let place: i64 = default.cast_exact::<PyInt>().ok()?.extract().ok()?;
    let fits = if place < 0 { place == -1 && index.is_signed() } else { place as u64 <= index.max() };
    fits.then_some(place)
}

macro_rules! one_end {
    ($function:ident, $largest:literal, $superlative:literal, $operators:literal, $(#[$example:meta])+) => {
        reduction! {
            $function
            "(x, /, axis=None, *, keepdims=False, return_index=False, select_last_index=False, nan_policy='propagate', where=None, default=None, index_dtype=None, out=None)",
            [keepdims return_index select_last_index] [nan_policy r#where default index_dtype out] => values(&[$largest]);
            #[doc = concat!($superlative, " element over any set of axes, with its index on request, in one pass.")]
            ;
            /// return_index : bool, default False
            ///     Return the indices too, as :func:`extremum.argmax` and :func:`extremum.argmin` give them.
            /// index_dtype : data type, default int64
            ///     Type of the indices: any integer that holds the last index of a slice.
            /// default : scalar, optional
            ///     The value of a slice in which no element takes part; its index is -1. Without it such a slice is an error.
            /// out : numpy.ndarray, optional
            ///     Receives the values; needs their shape and type.
            ;
            /// array or scalar, or ValuesIndices
            ///     Elements of `x`, bit for bit; with ``return_index`` a named tuple ``(values, indices)``. Arrays of PyTorch,
            ///     JAX and other libraries come back as their own.
            ;
            $operators;
            $(#[$example])+
        }
    };
}

one_end! {
    max, true, "Largest", "ONNX ReduceMax and DirectML's DML_REDUCE_FUNCTION_MAX",
    /// >>> x = np.array([[1.0, np.nan, 5.0], [7.0, 0.0, 7.0]])
    /// >>> ex.max(x, axis=1, nan_policy="omit")
    /// array([5., 7.])
    /// >>> ex.max(x[1], return_index=True).indices.item()
    /// 0
}

one_end! {
    min, false, "Smallest", "ONNX ReduceMin and DirectML's DML_REDUCE_FUNCTION_MIN",
    /// >>> x = np.array([[4, 2], [3, 8]])
    /// >>> ex.min(x, axis=0, where=[[True, False], [True, False]], default=-1)
    /// array([ 3, -1])
}

reduction! {
    minmax
    "(x, /, axis=None, *, keepdims=False, return_index=False, select_last_index=False, nan_policy='propagate', where=None, default=None, index_dtype=None)",
    [keepdims return_index select_last_index] [nan_policy r#where default index_dtype] => values(&[false, true]);
    /// Smallest and largest element over any set of axes, with their indices on request, in one pass.
    ;
    /// return_index, index_dtype
    ///     As for :func:`extremum.max`.
    /// default : scalar or pair of scalars, optional
    ///     The smallest and the largest of a slice in which no element takes part; a single value is used for both.
    ;
    /// MinMax or MinMaxIndices
    ///     A named tuple ``(min, max)``, or ``(min, max, argmin, argmax)`` with ``return_index``.
    ;
    "ONNX ReduceMin and ReduceMax together";
    /// >>> low, high = ex.minmax(np.array([[1, 5], [7, 0]]), axis=1)
    /// >>> low, high
    /// (array([1, 0]), array([5, 7]))
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
    if default.is_some() || out.iter().any(Option::is_some) {
        return Ok(None);
    }
    let index = return_index.then(|| index_type(index_dtype, None, function)).transpose()?;
    let reduction = Reduction { function, largest, keepdims, last };
    let Some(omit) = omission(nan_policy) else { return Ok(None) };
    let answer = reduction.select(x, axis, omit, r#where, true, index, Some(None))?;
    answer.map(|(_, ends)| result(x.py(), ends, return_index)).transpose()
}

/// The result: a single value, or a named tuple of all values and then their indices.
fn result<'py>(py: Python<'py>, mut ends: Ends<'py>, indices: bool) -> PyResult<Object<'py>> {
    let mut results = SmallVec::<[_; 4]>::new();
    for what in 0..1 + usize::from(indices) {
        for end in &mut ends {
            results.extend(end[what].take().map(into_result).transpose()?);
        }
    }
    let names = match (ends.len(), indices) {
        (1, false) => return Ok(results.swap_remove(0)),
        (1, true) => python!("ValuesIndices"),
        (_, false) => python!("MinMax"),
        (_, true) => python!("MinMaxIndices"),
    };
    names.call_with(py, PyTuple::new(py, results)?, None)
}

/// One at the first largest element over a set of axes, zero elsewhere.
///
/// NaN is larger than every number; `-0.0` equals `+0.0`.
///
/// Parameters
/// ----------
/// x : array_like
///     Any shape and layout; bool, any integer, float16, bfloat16, float32, float64, datetime64 or timedelta64. Never modified.
/// axis : int or tuple of int, default -1
///     The axes that together hold exactly one 1; None stands for all axes.
/// out : numpy.ndarray, optional
///     Receives the result; needs its shape and type, may have any strides.
/// nan_policy : str, default "propagate"
///     ``propagate``: NaN (NaT) is the largest. ``omit``: it does not take part. ``raise``: it is an error.
/// where : array_like of bool, optional
///     Elements that take part; broadcast to the shape of `x`. A slice in which no element takes part has no 1.
///
/// Returns
/// -------
/// array
///     Zeros and ones in the shape and element type of `x` (int64 for times), as an array of the caller's own library;
///     `out` where it was given.
///
/// Raises
/// ------
/// AxisError
///     An axis is out of range or given twice.
/// ArgumentError
///     An element is NaN under ``raise``, or `out` does not fit.
/// ElementTypeError
///     `x` holds elements that have no order here.
///
/// Notes
/// -----
/// The operation behind ONNX Hardmax (one axis from version 13 on, before that all axes from `axis` on) and
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
    let axes = Axes::of(numbers.or(axis).as_ref(), default, &x, "hardmax")?;
    let shape = &x.shape[..];
    let output = Output::new(py, out, "hardmax", (shape, x.elements), slice::from_ref(&x), false)?;
    let (data, element, swapped) = (x.data, x.element(), x.elements.swapped);
    let (to, strides) = (output.target.data, &output.target.strides);
    let walk = shape.iter().zip(&x.strides).zip(strides).enumerate().rev();
    let walk = walk.map(|(axis, ((&len, &step), &stride))| (len, step, stride, axes.contains(axis)));
    // SAFETY: `x` describes readable memory; the output has been checked to be writable, of the same shape
    // and type, and clear of `x`.
    detach(py, x.bytes(), || unsafe { onehot(data, element, swapped, walk, to) });
    output.finish()
}
