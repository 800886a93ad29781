//! NumPy arrays as the kernels see them: address, lengths, strides, element type; those that are read, and that which is written.
//!
//! How an argument becomes an array may run Python code, which may do anything to any array. What an array looks like is
//! therefore read afterwards, once for all arrays of the call, by `Array::new`.

use crate::interpreter::{Object, error, python, raised, text};
use crate::memory;
use extremum_kernels::ElementType;
use extremum_kernels::layout::{PerAxis, sort};
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, _PyDataType_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE, NPY_TYPES, NpyTypes, PY_ARRAY_API,
    PyArray_Descr, PyArrayObject, PyArrayObject_fields, get_type_object,
};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicI32, Ordering};

/// An object that is a NumPy array, by its real type: a proxy makes `isinstance` say so of itself.
pub type Ndarray<'py> = Bound<'py, PyUntypedArray>;

/// What NumPy holds of an array at this moment.
fn fields(array: *mut PyArrayObject) -> *const PyArrayObject_fields {
    // SAFETY: the object is an array.
    unsafe { _PyArray_GET_ITEM_DATA(array) }
}

/// What the elements of an array are at this moment, where they have an order here.
pub fn elements_of(array: &Ndarray<'_>) -> Option<Elements> {
    // SAFETY: an array has a descriptor, which is alive as long as the array is not given another.
    unsafe { describe((*fields(array.as_array_ptr())).descr) }
}

/// Axes that are kept without an allocation, which is a large part of the cost of a small call, as is every byte moved.
const FEW: usize = 4;

/// An array as it was when this value was made; the array itself stays alive as long.
///
/// NumPy lets every piece of Python code and every other thread give an array another shape at any time, and frees the
/// old one. So nothing is ever read from the array a second time, and what belongs to one call is made without any
/// Python code in between. The memory of the elements is NumPy's to keep: it lives as long as the array, except under
/// `resize(refcheck=False)`, which takes it away from NumPy's own functions as well.
pub struct Array<'py> {
    /// The array, no longer as it was.
    pub object: Ndarray<'py>,
    /// The first element.
    pub data: *mut u8,
    pub elements: Elements,
    flags: c_int,
    pub shape: SmallVec<[usize; FEW]>,
    /// The strides of the dimensions in bytes.
    pub strides: SmallVec<[isize; FEW]>,
}

impl<'py> Array<'py> {
    /// Reads an array. Runs no Python code, save to word an error.
    #[inline(always)]
    pub fn new(array: Ndarray<'py>, function: &str) -> PyResult<Self> {
        // SAFETY: an array has `nd` lengths, none negative, and as many strides, and a descriptor.
        unsafe {
            let PyArrayObject_fields { data, nd, dimensions, strides, descr, flags, .. } =
                *fields(array.as_array_ptr());
            let Some(elements) = describe(descr) else { return Err(refuse(&array, function)) };
            let rank = nd as usize;
            // Written out, so that the values stay in registers until they have found their place.
            let at = |axis| match axis < rank {
                true => (*dimensions.add(axis) as usize, *strides.add(axis)),
                false => (0, 0),
            };
            let ((a, s), (b, t), (c, u), (d, v)) = (at(0), at(1), at(2), at(3));
            let (shape, strides) = match rank {
                0..=FEW => {
                    (SmallVec::from_buf_and_len([a, b, c, d], rank), SmallVec::from_buf_and_len([s, t, u, v], rank))
                }
                _ => (from_raw_parts(dimensions.cast(), rank).into(), from_raw_parts(strides, rank).into()),
            };
            Ok(Self { object: array, data: data.cast(), elements, flags, shape, strides })
        }
    }

    /// One element as an array without dimensions, which is to be read as long as the element is there. Has no object of
    /// its own: beside this array it needs none.
    pub fn beside(&self, data: *mut u8, elements: Elements) -> Self {
        let (shape, strides) = (SmallVec::new(), SmallVec::new());
        Self { object: self.object.clone(), data, elements, flags: 0, shape, strides }
    }

    /// A new array in this machine's byte order, in C order or with the given strides.
    pub fn empty(py: Python<'py>, shape: &[usize], elements: Elements, strides: Option<&[isize]>) -> PyResult<Self> {
        let descriptor = descriptor(py, elements.number)?;
        let bytes = shape.iter().fold(elements.element.size(), |bytes, &len| bytes.saturating_mul(len));
        // SAFETY: the interpreter is attached; NumPy reads the shape and the strides, takes over the reference to the
        // descriptor, and makes an array.
        let array = memory::made(py, bytes, || unsafe {
            let array = PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                get_type_object(py, NpyTypes::PyArray_Type),
                descriptor.into_ptr().cast(),
                shape.len() as c_int,
                shape.as_ptr().cast_mut().cast(),
                strides.map_or(ptr::null_mut(), |strides| strides.as_ptr().cast_mut().cast()),
                ptr::null_mut(),
                0,
                ptr::null_mut(),
            );
            Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked())
        })?;
        Self::new(array, "")
    }

    pub fn element(&self) -> ElementType {
        self.elements.element
    }

    /// The number of bytes that all elements have together.
    pub fn bytes(&self) -> usize {
        self.shape.iter().fold(self.element().size(), |bytes, &len| bytes.saturating_mul(len))
    }

    /// The addresses from the lowest byte of any element to the highest; equal where there is none.
    pub fn extent(&self) -> (usize, usize) {
        let (mut low, mut high) = (self.data as usize, (self.data as usize).saturating_add(self.element().size()));
        for (&len, &stride) in self.shape.iter().zip(&self.strides) {
            let Some(steps) = len.checked_sub(1) else { return (0, 0) };
            let reach = steps.saturating_mul(stride.unsigned_abs());
            match stride < 0 {
                true => low = low.saturating_sub(reach),
                false => high = high.saturating_add(reach),
            }
        }
        (low, high)
    }
}

#[cold]
fn refuse(array: &Ndarray<'_>, function: &str) -> PyErr {
    let reason = format!("{function}: cannot take elements of type {}", text(&array.dtype()));
    let remedy = "convert to bool, an integer, float16, bfloat16, float32 or float64";
    error(array.py(), python!("ElementTypeError"), reason, remedy)
}

/// The array; a scalar in place of an array without dimensions, as NumPy's own functions return.
pub fn into_result<'py>(array: Ndarray<'py>) -> PyResult<Object<'py>> {
    let py = array.py();
    // SAFETY: `PyArray_Return` takes the reference that `into_ptr` gives up.
    unsafe { Bound::from_owned_ptr_or_err(py, PY_ARRAY_API.PyArray_Return(py, array.into_ptr().cast())) }
}

/// NumPy's number of ml_dtypes' bfloat16, once an array of it was met: NumPy gives such types a number at run time.
static BFLOAT16: AtomicI32 = AtomicI32::new(i32::MIN);

/// What a descriptor says of the elements.
#[derive(Clone, Copy)]
pub struct Elements {
    pub element: ElementType,
    /// NumPy's number of the type.
    pub number: c_int,
    /// Whether the bytes of each element stand in the order that is foreign to this machine.
    pub swapped: bool,
}

/// Reads a descriptor; None where its elements have no order here. Runs no Python code.
///
/// # Safety
/// The descriptor is alive and the interpreter attached.
#[inline]
pub unsafe fn describe(descriptor: *const PyArray_Descr) -> Option<Elements> {
    // SAFETY: the caller's.
    let fields = unsafe { &*_PyDataType_GET_ITEM_DATA(descriptor) };
    let number = fields.type_num;
    let foreign = if cfg!(target_endian = "little") { b'>' } else { b'<' };
    Some(Elements { number, element: element_type(number)?, swapped: fields.byteorder == foreign as c_char })
}

#[inline]
pub fn element_type(number: c_int) -> Option<ElementType> {
    Some(match number {
        0 => ElementType::Bool,
        1 => ElementType::Int8,
        2 => ElementType::UInt8,
        3 => ElementType::Int16,
        4 => ElementType::UInt16,
        5 => ElementType::Int32,
        6 => ElementType::UInt32,
        // C's long: the one integer whose width depends on the platform.
        7 if size_of::<std::ffi::c_long>() == 4 => ElementType::Int32,
        8 if size_of::<std::ffi::c_long>() == 4 => ElementType::UInt32,
        7 | 9 => ElementType::Int64,
        8 | 10 => ElementType::UInt64,
        11 => ElementType::Float32,
        12 => ElementType::Float64,
        23 => ElementType::Float16,
        number if number == BFLOAT16.load(Ordering::Relaxed) => ElementType::BFloat16,
        _ => return None,
    })
}

/// NumPy's descriptor of a type, in this machine's byte order.
pub fn descriptor(py: Python<'_>, number: c_int) -> PyResult<Object<'_>> {
    // SAFETY: the interpreter is attached; NumPy returns a new reference, or null for a number it does not know.
    unsafe { Bound::from_owned_ptr_or_err(py, PY_ARRAY_API.PyArray_DescrFromType(py, number).cast()) }
}

/// Keeps the number of a registered type where it is the one that ml_dtypes calls bfloat16, two bytes wide: a name alone proves
/// neither.
#[cold]
fn meet(descriptor: Bound<'_, PyArrayDescr>) {
    let is = || python!("is_bfloat16").call(descriptor.py(), (descriptor.typeobj(),))?.extract();
    if descriptor.itemsize() == 2 && is().unwrap_or(false) {
        BFLOAT16.store(descriptor.num(), Ordering::Relaxed);
    }
}

/// Takes an array and makes [`describe`] know bfloat16, where this is the first of it. May run Python code.
#[inline]
fn met<'py>(array: &Ndarray<'py>) -> Ndarray<'py> {
    let number = type_number(array);
    // Another library has registered this one.
    if number >= NPY_TYPES::NPY_USERDEF as c_int && number != BFLOAT16.load(Ordering::Relaxed) {
        meet(array.dtype());
    }
    array.clone()
}

#[inline]
fn type_number(array: &Ndarray<'_>) -> c_int {
    // SAFETY: an array has a descriptor.
    unsafe { (*_PyDataType_GET_ITEM_DATA((*fields(array.as_array_ptr())).descr)).type_num }
}

/// An object as an array, where it is one and of no subclass, which may give its elements another meaning.
#[inline]
fn plain<'a, 'py>(object: &'a Object<'py>) -> Option<&'a Ndarray<'py>> {
    // SAFETY: the interpreter is attached; an object of this type is an array.
    unsafe {
        let class = get_type_object(object.py(), NpyTypes::PyArray_Type);
        (object.get_type_ptr() == class).then(|| object.cast_unchecked())
    }
}

/// Takes an array of elements that kernels know, and of no subclass; None where it is for the Python side, which takes dates
/// and durations apart.
#[inline]
pub fn settled<'py>(object: &Object<'py>) -> Option<Ndarray<'py>> {
    let array = plain(object)?;
    let number = type_number(array);
    let is_time = number == NPY_TYPES::NPY_DATETIME as c_int || number == NPY_TYPES::NPY_TIMEDELTA as c_int;
    (!is_time).then(|| met(array))
}

/// Takes an array to write to: one of a subclass by way of the Python side, which knows whether it may be.
pub fn target<'py>(object: &Object<'py>, function: &str) -> PyResult<Ndarray<'py>> {
    if let Some(array) = plain(object) {
        return Ok(met(array));
    }
    python!("as_output").call(object.py(), (object, function))?;
    Ok(met(object.cast()?))
}

/// The array that kernels write to, and the one that the caller gets.
pub struct Output<'py> {
    /// What the kernels write: never byte-swapped, never overlapping an operand.
    pub target: Array<'py>,
    /// The array that the caller has given, which may be the target's.
    given: Option<Ndarray<'py>>,
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
            return Ok(Self { target, given: None });
        };
        let fits = elements.element == out.element() && *out.shape == *shape && out.flags & NPY_ARRAY_WRITEABLE != 0;
        if !fits || !is_apart(&out) {
            let wrong = python!("wrong_output");
            return Err(raised(wrong.call(py, (function, &out.object, descriptor(py, elements.number)?, shape))));
        }
        let reach = out.extent();
        let clash = |operand: &Array<'_>| {
            let same = operand.data == out.data && operand.shape == out.shape && operand.strides == out.strides;
            let (low, high) = operand.extent();
            low < reach.1 && reach.0 < high && !(in_place && same && !operand.elements.swapped)
        };
        if out.elements.swapped || operands.iter().any(clash) {
            let target = Array::empty(py, shape, elements, None)?;
            return Ok(Self { target, given: Some(out.object) });
        }
        let given = Some(out.object.clone());
        Ok(Self { target: out, given })
    }

    /// What the function returns: the caller's array, or a fresh one.
    pub fn finish(self) -> PyResult<Object<'py>> {
        let Some(given) = self.given else { return into_result(self.target.object) };
        if !given.is(&self.target.object) {
            // NumPy lets other threads run while it copies, and wants the interpreter back afterwards.
            python!("copy").call(given.py(), (&self.target.object, &given))?;
        }
        Ok(given.into_any())
    }
}

/// Whether no two elements share memory: mostly, each axis steps over all that the axes inside it span.
fn is_apart(out: &Array<'_>) -> bool {
    let axes = out.shape.iter().zip(&out.strides).map(|(&len, &stride)| (len, stride.unsigned_abs()));
    let size = out.element().size();
    out.shape.contains(&0) || steps_over(axes.clone().rev(), size) || !collide(axes, size)
}

/// Whether each axis steps over what the ones before it span, the first over an element.
fn steps_over(axes: impl Iterator<Item = (usize, usize)>, mut span: usize) -> bool {
    axes.filter(|&(len, _)| len > 1).all(|(len, stride)| {
        let before = span;
        span = span.saturating_add((len - 1).saturating_mul(stride));
        stride >= before
    })
}

/// Whether two elements share a byte: then some steps along axes lead from one to the other, the longest ones forwards.
#[cold]
#[inline(never)]
fn collide(axes: impl Iterator<Item = (usize, usize)> + Clone, size: usize) -> bool {
    if steps_over(axes.clone(), size) {
        return false;
    }
    let axes = axes.filter(|&(len, _)| len > 1).map(|(len, stride)| (len as isize - 1, stride as isize));
    let mut axes: PerAxis<(isize, isize)> = axes.collect();
    sort(&mut axes, |&(_, stride)| stride);
    let (mut reach, mut tries) = (size as isize - 1, TRIES);
    axes.iter().enumerate().any(|(at, &(steps, stride))| {
        let meets = |step| come_near(&axes[..at], reach, step * stride, &mut tries);
        // (No memory is so long that a sum would not fit.)
        let found = reach > isize::MAX / 4 || (1..=steps).take_while(|step| step * stride <= reach).any(meets);
        reach = reach.saturating_add(steps.saturating_mul(stride));
        found
    })
}

/// Sums to look at before an array counts as one whose elements share memory: in general, to know takes for ever.
const TRIES: usize = 1 << 20;

/// Whether steps along axes, either way, add up to a distance, or to less than an element beside it: `reach` is the most that
/// they add up to, and that.
fn come_near(axes: &[(isize, isize)], reach: isize, distance: isize, tries: &mut usize) -> bool {
    let Some((&(steps, stride), inner)) = axes.split_last().filter(|_| *tries > 0) else { return true };
    *tries -= 1;
    let reach = reach - steps * stride;
    let first = (distance - reach + stride - 1).div_euclid(stride).max(-steps);
    let last = (distance + reach).div_euclid(stride).min(steps);
    (first..=last).any(|step| come_near(inner, reach, distance - step * stride, tries))
}

/// Strides for a new output whose axes lie in memory as those of the operands do, where that is not C order.
pub fn order_of_memory(arrays: &[Array<'_>], shape: &[usize]) -> Option<PerAxis<isize>> {
    // (One axis has one order.)
    let model = arrays.iter().find(|array| *array.shape == *shape && shape.len() > 1)?;
    let distance = |axis: &usize| Reverse(model.strides[*axis].unsigned_abs());
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
