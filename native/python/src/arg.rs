//! `argmax` and `argmin`.

use crate::array::Array;
use crate::axes::{Axes, Default, Named};
use crate::call::Function;
use crate::errors::{Kind, error, refuse_unknown};
use crate::index::{Index, block, too_far};
use crate::operand::{Ndarray, settled};
use crate::options::Flag;
use crate::output::{Output, argument, tuple};
use crate::reduce::{Reduction, Terms};
use crate::work::detached;
use extremum_kernels::layout::PerAxis;
use extremum_kernels::{IndexType, Input, argreduce};
use numpy::npyffi::PY_ARRAY_API;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt};
use std::{ptr, slice};

macro_rules! arg {
    ($function:ident, $largest:literal, $superlative:literal, $comparative:literal, $operators:literal, $(#[doc = $example:literal])+) => {
        #[doc = concat!("Index of the ", $superlative, " element over any set of axes.")]
        ///
        /// Equal elements: the first wins, or the last on request.
        #[doc = concat!("NaN is ", $comparative, " than every number; `-0.0` equals `+0.0`.")]
        /// Over several axes the index counts row-major within the reduced block, in dimension order.
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
        /// dtype : data type, default int64
        ///     Type of the indices: any integer that holds the last index of a slice. That of `out` where none is named.
        /// out : numpy.ndarray, optional
        ///     Receives the result; needs its shape and type, may have any strides.
        /// nan_policy : str, default "propagate"
        ///     ``propagate``: NaN (NaT) is the extremum. ``omit``: it does not take part. ``raise``: it is an error.
        /// where : array_like of bool, optional
        ///     Elements that take part; broadcast to the shape of `x`. Indices count all elements all the same.
        /// default : int, optional
        ///     The index of a slice in which no element takes part. Without it such a slice is an error.
        ///
        /// Returns
        /// -------
        /// array or integer
        ///     The indices, in the shape of `x` without the reduced axes, as an array of the caller's own library; `out`
        ///     where it was given.
        ///
        /// Raises
        /// ------
        /// AxisError
        ///     An axis is out of range or given twice.
        /// ArgumentError
        ///     A slice has no element to choose from and there is no default, an index would not fit `dtype`, an element is
        ///     NaN under ``raise``, or `out` does not fit.
        /// ElementTypeError
        ///     `x` holds elements that have no order here, `dtype` is no index type, or the mask is not of bool.
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
                x, /, axis=None, *, keepdims=Flag::UNSET, select_last_index=Flag::UNSET, dtype=None, out=None,
                nan_policy=None, r#where=None, default=None, **unknown
            ),
            text_signature = "(x, /, axis=None, *, keepdims=False, select_last_index=False, dtype=None, out=None, nan_policy='propagate', where=None, default=None)"
        )]
        #[allow(clippy::too_many_arguments)]
        pub fn $function<'py>(
            x: &Bound<'py, PyAny>,
            axis: Option<&Bound<'py, PyAny>>,
            keepdims: Flag<'py>,
            select_last_index: Flag<'py>,
            dtype: Option<&Bound<'py, PyAny>>,
            out: Option<&Bound<'py, PyAny>>,
            nan_policy: Option<&Bound<'py, PyAny>>,
            r#where: Option<&Bound<'py, PyAny>>,
            default: Option<&Bound<'py, PyAny>>,
            unknown: Option<&Bound<'py, PyDict>>,
        ) -> PyResult<Bound<'py, PyAny>> {
            let function = stringify!($function);
            refuse_unknown(function, unknown)?;
            let last = select_last_index.read("select_last_index", function)?;
            let keepdims = keepdims.read("keepdims", function)?;
            let call = Call { function, largest: $largest, last, keepdims };
            match settled(x) {
                Some(x) if nan_policy.is_none() && r#where.is_none() && default.is_none() => call.run(x, axis, dtype, out),
                _ => call.beyond(x, axis, dtype, out, [nan_policy, r#where, default]),
            }
        }
    };
}

arg! {
    argmax,
    true,
    "largest",
    "larger",
    "ONNX ArgMax and DirectML's DML_ARGMAX",
    /// >>> x = np.array([[1, 5, 5], [7, 0, 7]], dtype=np.int16)
    /// >>> ex.argmax(x, axis=1)
    /// array([1, 0])
    /// >>> ex.argmax(x, axis=1, select_last_index=True)
    /// array([2, 2])
    /// >>> int(ex.argmax(x, axis=(0, 1)))
    /// 3
}

arg! {
    argmin,
    false,
    "smallest",
    "smaller",
    "ONNX ArgMin and DirectML's DML_ARGMIN",
    /// >>> int(ex.argmin(np.array([3.0, np.nan, 1.0])))
    /// 1
    /// >>> ex.argmin(np.array([[3, 1], [2, 1]]), axis=0, dtype=np.uint32)
    /// array([1, 0], dtype=uint32)
}

struct Call {
    function: &'static str,
    largest: bool,
    last: bool,
    keepdims: bool,
}

impl Call {
    #[inline]
    fn run<'py>(
        &self,
        x: Ndarray<'py>,
        axis: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, function) = (x.object().py(), self.function);
        let axes = Named::new(axis, Default::All, &x, function)?;
        let out = argument(out, function)?;
        let index = Index::beside(py, dtype, out.as_ref(), function)?;
        // No Python code runs from here until the kernel has ended, except to word an error.
        let x = Array::new(x, function)?;
        let out = out.map(|out| Array::new(out, function)).transpose()?;
        let axes = axes.of(&x, function)?;
        self.check(&x, axes, index.kernel())?;
        let (largest, last) = (self.largest, self.last);
        // Made where it is used: moved there, it would be waited for until all its bytes are in memory.
        let input =
            || Input { data: x.data(), element: x.element(), swapped: x.swapped(), largest, last, numbers: false };
        let (lens, steps) = (x.shape(), x.strides());
        if !self.keepdims && out.is_none() && axes.are_all(lens.len()) {
            let mut place = 0i64;
            let to = (&raw mut place).cast::<u8>();
            let walk = lens.iter().zip(steps).rev().map(|(&len, &step)| (len, step, 0, true));
            // SAFETY: `x` describes readable memory, and one index is all there is to write.
            detached(py, x.bytes(), || unsafe { argreduce(input(), walk, to, index.kernel()) });
            // SAFETY: NumPy reads one element of the descriptor's type.
            return unsafe {
                let scalar =
                    PY_ARRAY_API.PyArray_Scalar(py, to.cast(), index.descriptor.as_ptr().cast(), ptr::null_mut());
                Bound::from_owned_ptr_or_err(py, scalar)
            };
        }
        let mut shape = PerAxis::new();
        for (axis, &len) in lens.iter().enumerate() {
            match axes.contains(axis) {
                false => shape.push(len),
                true if self.keepdims => shape.push(1),
                true => {}
            }
        }
        let fresh = out.is_none();
        let output = match out {
            None => Output::fresh(py, &shape, index.elements, None)?,
            Some(out) => Output::given(out, function, &shape, index.elements, slice::from_ref(&x), false)?,
        };
        // A reduced axis has no stride in the output, whether it was kept there with length 1 or not.
        let mut kept = output.target.strides().iter();
        let mut stride_of = |axis| match (axes.contains(axis), self.keepdims) {
            (true, false) => 0,
            (true, true) => kept.next().map_or(0, |_| 0),
            (false, _) => kept.next().copied().unwrap_or(0),
        };
        let strides: PerAxis<isize> = (0..lens.len()).map(&mut stride_of).collect();
        let walk = lens.iter().zip(steps).zip(&strides).enumerate().rev();
        let walk = walk.map(|(axis, ((&len, &step), &stride))| (len, step, stride, axes.contains(axis)));
        let to = output.target.data();
        // SAFETY: `x` describes readable memory; the output has been checked to be writable, of the right
        // shape, clear of `x`, and of a type that holds every index.
        detached(py, x.bytes(), || unsafe { argreduce(input(), walk, to, index.kernel()) });
        output.finish(fresh)
    }

    /// Leaves out elements, or asks the Python side, which knows other libraries' arrays and times too.
    #[cold]
    fn beyond<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        axis: Option<&Bound<'py, PyAny>>,
        dtype: Option<&Bound<'py, PyAny>>,
        out: Option<&Bound<'py, PyAny>>,
        [nan_policy, r#where, default]: [Option<&Bound<'py, PyAny>>; 3],
    ) -> PyResult<Bound<'py, PyAny>> {
        if out.is_none() {
            let Self { function, largest, last, keepdims } = *self;
            let reduction = Reduction { function, largest: &[largest], keepdims, last, values: false };
            let index = Index::new(x.py(), dtype, function)?;
            if let Some(no_place) = no_place(default, index.kernel()) {
                let terms = Terms { nan_policy, r#where, no_place };
                if let Some(ends) = reduction.plain(x, axis, Some(index), &terms)? {
                    return ends.one_place();
                }
            }
        }
        static ARG: Function = Function::new("arg");
        let (keepdims, last) = (self.keepdims, self.last);
        ARG.call(x.py(), (self.function, x, axis, keepdims, last, dtype, out, nan_policy, r#where, default))
    }

    /// Refuses what has no answer: nothing to choose from, or an index that could not be written down.
    #[inline]
    fn check(&self, x: &Array<'_>, axes: Axes, index: IndexType) -> PyResult<()> {
        let block = block(x, axes);
        if block == 0 || block - 1 > index.max() {
            return Err(self.refuse(x, axes, index, block));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, x: &Array<'_>, axes: Axes, index: IndexType, block: u64) -> PyErr {
        let py = x.object().py();
        let function = self.function;
        let reduced: PerAxis<usize> = (0..x.shape().len()).filter(|&axis| axes.contains(axis)).collect();
        let (reason, remedy) = if block == 0 {
            let reason = format!(
                "{function}: the reduced axes {} of shape {} hold no element",
                tuple(&reduced),
                tuple(x.shape())
            );
            (reason, "reduce axes that are not empty, or pass a default".into())
        } else {
            return too_far(x, index, block, function);
        };
        error(py, Kind::Argument, reason, Some(x.summary()), Some(remedy))
    }
}

/// The index of no element, where the native side can write it; None where the Python side has to say what it is.
fn no_place(default: Option<&Bound<'_, PyAny>>, index: IndexType) -> Option<Option<i32>> {
    let Some(default) = default else { return Some(None) };
    let place = default.cast_exact::<PyInt>().ok()?.extract::<i32>().ok()?;
    let least = if index.is_signed() { -1 } else { 0 };
    (place >= least && (place < 0 || place as u64 <= index.max())).then_some(Some(place))
}
