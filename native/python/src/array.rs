//! NumPy arrays as the kernels see them, inputs and outputs: address, lengths, strides, element type.
//!
//! Turning an argument into an array may run Python code, which may change any array. So `Array::new` reads the arrays of a
//! call afterwards, each of them once.

use crate::interpreter::{Object, error, error_of, python, text};
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
use std::ffi::{c_char, c_int};
use std::ptr;
use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicI32, Ordering};

/// An object whose real type is a NumPy array: a proxy can make `isinstance` say that it is one.
pub type Ndarray<'py> = Bound<'py, PyUntypedArray>;

/// NumPy's fields of an array, as they are at this moment.
fn fields(array: *mut PyArrayObject) -> *const PyArrayObject_fields {
    // SAFETY: the object is an array.
    unsafe { _PyArray_GET_ITEM_DATA(array) }
}

/// The element type of an array at this moment; None for a type without an order here.
pub fn elements_of(array: &Ndarray<'_>) -> Option<Elements> {
    // SAFETY: an array has a descriptor, which stays alive until the array gets another.
    unsafe { describe((*fields(array.as_array_ptr())).descr) }
}

/// Axes that need no allocation. An allocation is a large part of the cost of a small call, and so is every byte moved.
const FEW: usize = 4;

/// A snapshot of an array, which keeps the array itself alive.
///
/// Any Python code and any other thread may give an array another shape at any time, and NumPy then frees the old shape.
/// So nothing is read from an array twice, and no Python code runs between the snapshots of one call. NumPy keeps the
/// memory of the elements as long as the array lives, except under `resize(refcheck=False)`, which takes the memory away
/// from NumPy's own functions as well.
pub struct Array<'py> {
    /// The array itself, which may have changed since.
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
    /// Reads an array. Runs Python code only to word an error.
    #[inline(always)]
    pub fn new(array: Ndarray<'py>, function: &str) -> PyResult<Self> {
        // SAFETY: an array has `nd` lengths, none of them negative, `nd` strides and a descriptor.
        unsafe {
            let PyArrayObject_fields { data, nd, dimensions, strides, descr, flags, .. } =
                *fields(array.as_array_ptr());
            let Some(elements) = describe(descr) else { return Err(refuse(&array, function)) };
            let rank = nd as usize;
            // Unrolled by hand, so that the values stay in registers until they are stored.
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

    /// A snapshot of a [`new_array`].
    pub fn empty(py: Python<'py>, shape: &[usize], elements: Elements, model: &[isize]) -> PyResult<Self> {
        Self::new(new_array(py, shape, elements, &strides_like(shape, model))?, "")
    }

    pub fn element(&self) -> ElementType {
        self.elements.element
    }

    /// The number of bytes of all elements together.
    pub fn bytes(&self) -> usize {
        self.shape.iter().fold(self.element().size(), |bytes, &len| bytes.saturating_mul(len))
    }

    /// The address of the lowest byte of any element, and the address after the highest; equal if there is no element.
    pub fn extent(&self) -> (usize, usize) {
        let mut low = self.data as usize;
        let mut high = (self.data as usize).saturating_add(self.element().size());
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

/// The strides, in elements, of an array without gaps. Its axes lie in memory in the order of those of a model, which has a stride
/// for each: those of a new array should lie as those of the array that it is made from, so that both are walked in one order. Of
/// equal strides the last is the innermost, so that a model without strides gives C order.
#[inline]
pub fn strides_like(shape: &[usize], model: &[isize]) -> PerAxis<isize> {
    // A single axis has only one order.
    if shape.len() < 2 { PerAxis::from_elem(1, shape.len()) } else { strides_in_order(shape, model) }
}

/// [`strides_like`] for several axes. Not inlined: most small results need none of its memory.
#[inline(never)]
fn strides_in_order(shape: &[usize], model: &[isize]) -> PerAxis<isize> {
    let mut innermost_first: PerAxis<usize> = (0..shape.len()).rev().collect();
    sort(&mut innermost_first, |&axis| model.get(axis).map_or(0, |stride| stride.unsigned_abs()));
    let mut strides = PerAxis::from_elem(0, shape.len());
    let mut step = 1isize;
    for axis in innermost_first {
        strides[axis] = step;
        step = step.saturating_mul(shape[axis].max(1) as isize);
    }
    strides
}

/// Makes an array in this machine's byte order, with strides as [`strides_like`] gives them.
pub fn new_array<'py>(
    py: Python<'py>,
    shape: &[usize],
    elements: Elements,
    strides: &[isize],
) -> PyResult<Ndarray<'py>> {
    let descriptor = descriptor(py, elements.number)?;
    let bytes = shape.iter().fold(elements.element.size(), |bytes, &len| bytes.saturating_mul(len));
    let size = elements.element.size() as isize;
    let mut in_bytes = PerAxis::<isize>::new();
    let in_bytes = match shape.len() {
        // NumPy knows the only order.
        0 | 1 => ptr::null_mut(),
        _ => {
            in_bytes.extend(strides.iter().map(|stride| stride.saturating_mul(size)));
            in_bytes.as_mut_ptr()
        }
    };
    // SAFETY: the interpreter is attached; NumPy reads the shape and the strides, takes over the reference to the descriptor,
    // and allocates as many elements as the shape has, which those strides do not leave.
    memory::new_array(py, bytes, || unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descriptor.into_ptr().cast(),
            shape.len() as c_int,
            shape.as_ptr().cast_mut().cast(),
            in_bytes,
            ptr::null_mut(),
            0,
            ptr::null_mut(),
        );
        Ok(Bound::from_owned_ptr_or_err(py, array)?.cast_into_unchecked())
    })
}

/// The first element of an array. Where a new array is only filled, a snapshot of it would take longer than a small result.
pub fn first_element(array: &Ndarray<'_>) -> *mut u8 {
    // SAFETY: an array has its fields.
    unsafe { (*fields(array.as_array_ptr())).data.cast() }
}

#[cold]
fn refuse(array: &Ndarray<'_>, function: &str) -> PyErr {
    let reason = format!("{function}: cannot take elements of type {}", text(&array.dtype()));
    let remedy = "convert to bool, an integer, float16, bfloat16, float32 or float64";
    error(array.py(), python!("ElementTypeError"), reason, remedy)
}

/// A scalar, from the bytes of an element in this machine's order.
///
/// # Safety
/// The element is readable.
#[inline(always)]
pub unsafe fn scalar(py: Python<'_>, from: *const u8, elements: Elements) -> PyResult<Object<'_>> {
    let descriptor = descriptor(py, elements.number)?;
    // SAFETY: the interpreter is attached; NumPy reads one element of the descriptor's type.
    unsafe {
        let from = from.cast_mut().cast();
        let scalar = PY_ARRAY_API.PyArray_Scalar(py, from, descriptor.as_ptr().cast(), ptr::null_mut());
        Bound::from_owned_ptr_or_err(py, scalar)
    }
}

/// Returns the array, or a scalar in place of an array without dimensions, as NumPy's own functions do.
pub fn into_result<'py>(array: Ndarray<'py>) -> PyResult<Object<'py>> {
    let py = array.py();
    // SAFETY: `PyArray_Return` takes the reference that `into_ptr` gives up.
    unsafe { Bound::from_owned_ptr_or_err(py, PY_ARRAY_API.PyArray_Return(py, array.into_ptr().cast())) }
}

/// NumPy's type number of ml_dtypes' bfloat16, once an array of this type was met: NumPy assigns such numbers at run time.
static BFLOAT16: AtomicI32 = AtomicI32::new(i32::MIN);

/// What a descriptor says about the elements.
#[derive(Clone, Copy)]
pub struct Elements {
    pub element: ElementType,
    /// NumPy's type number.
    pub number: c_int,
    /// Whether the bytes of each element are in the byte order that is foreign to this machine.
    pub swapped: bool,
}

/// Reads a descriptor; None for an element type without an order here. Runs no Python code.
///
/// # Safety
/// The descriptor is alive and the interpreter attached.
#[inline]
pub unsafe fn describe(descriptor: *const PyArray_Descr) -> Option<Elements> {
    // SAFETY: the caller's promise.
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

/// Remembers the number of a registered type if the type is ml_dtypes' bfloat16 and two bytes wide: a name alone proves neither.
#[cold]
fn meet(descriptor: Bound<'_, PyArrayDescr>) {
    let is = || python!("is_bfloat16").call(descriptor.py(), (descriptor.typeobj(),))?.extract();
    if descriptor.itemsize() == 2 && is().unwrap_or(false) {
        BFLOAT16.store(descriptor.num(), Ordering::Relaxed);
    }
}

/// Takes an array. The first bfloat16 array makes [`describe`] know the type. May run Python code.
#[inline]
fn take<'py>(array: &Ndarray<'py>) -> Ndarray<'py> {
    let number = type_number(array);
    // Another library has registered this type.
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

/// An object as an array; None for any other object and for a subclass, which may give its elements another meaning.
#[inline]
fn plain<'a, 'py>(object: &'a Object<'py>) -> Option<&'a Ndarray<'py>> {
    // SAFETY: the interpreter is attached; an object of this type is an array.
    unsafe {
        let class = get_type_object(object.py(), NpyTypes::PyArray_Type);
        (object.get_type_ptr() == class).then(|| object.cast_unchecked())
    }
}

/// Takes an array of no subclass, and without dates or durations; None for anything else, which the Python side handles.
#[inline]
pub fn take_plain<'py>(object: &Object<'py>) -> Option<Ndarray<'py>> {
    let array = plain(object)?;
    let number = type_number(array);
    let is_time = number == NPY_TYPES::NPY_DATETIME as c_int || number == NPY_TYPES::NPY_TIMEDELTA as c_int;
    (!is_time).then(|| take(array))
}

/// Takes an array to write to. The Python side decides whether an array of a subclass may be written to.
pub fn target<'py>(object: &Object<'py>, function: &str) -> PyResult<Ndarray<'py>> {
    if let Some(array) = plain(object) {
        return Ok(take(array));
    }
    python!("as_output").call(object.py(), (object, function))?;
    Ok(take(object.cast()?))
}

/// The array that kernels write to, and the one that the caller gets.
pub struct Output<'py> {
    /// The array that the kernels write: never byte-swapped, never overlapping an operand unless it is that operand.
    pub target: Array<'py>,
    /// The array that the caller has given: the target itself, or the array that the target is copied to in the end.
    out: Option<Ndarray<'py>>,
}

impl<'py> Output<'py> {
    /// The caller's array, after a check, or a new array, whose axes lie in memory as those of the `model`: see [`strides_like`].
    ///
    /// The operands must not be overwritten before they have been read. Where `in_place` is true, an operand may be the
    /// output itself.
    #[inline(always)]
    pub fn new(
        py: Python<'py>,
        out: Option<Array<'py>>,
        function: &str,
        (shape, elements): (&[usize], Elements),
        model: &[isize],
        operands: &[Array<'py>],
        in_place: bool,
    ) -> PyResult<Self> {
        let Some(out) = out else {
            return Ok(Self { target: Array::empty(py, shape, elements, model)?, out: None });
        };
        let fits = elements.element == out.element() && *out.shape == *shape && out.flags & NPY_ARRAY_WRITEABLE != 0;
        if !fits || !is_apart(&out)? {
            let wrong = python!("wrong_output");
            return Err(error_of(wrong.call(py, (function, &out.object, descriptor(py, elements.number)?, shape))));
        }
        let reach = out.extent();
        let clash = |operand: &Array<'_>| {
            let same = operand.data == out.data && operand.shape == out.shape && operand.strides == out.strides;
            let (low, high) = operand.extent();
            low < reach.1 && reach.0 < high && !(in_place && same && !operand.elements.swapped)
        };
        if out.elements.swapped || operands.iter().any(clash) {
            let target = Array::empty(py, shape, elements, model)?;
            return Ok(Self { target, out: Some(out.object) });
        }
        let object = Some(out.object.clone());
        Ok(Self { target: out, out: object })
    }

    /// What the function returns: the caller's array, or a fresh one.
    pub fn finish(self) -> PyResult<Object<'py>> {
        let Some(out) = self.out else { return into_result(self.target.object) };
        if !out.is(&self.target.object) {
            // NumPy detaches from the interpreter while it copies, and attaches again: such calls go through `interpreter`.
            python!("copy").call(out.py(), (&self.target.object, &out))?;
        }
        Ok(out.into_any())
    }
}

/// Whether no two elements share memory. In most arrays each axis steps over all that the axes inside it span.
fn is_apart(out: &Array<'_>) -> PyResult<bool> {
    let axes = out.shape.iter().zip(&out.strides).map(|(&len, &stride)| (len, stride.unsigned_abs()));
    let size = out.element().size();
    if out.shape.contains(&0) || steps_over(axes.clone().rev(), size) {
        return Ok(true);
    }
    let mut axes: PerAxis<(usize, usize)> = axes.collect();
    sort(&mut axes, |&(_, stride)| stride);
    if steps_over(axes.into_iter(), size) {
        return Ok(true);
    }
    python!("is_apart").call(out.object.py(), (&out.object, &out.shape[..], &out.strides[..]))?.extract()
}

/// Whether each axis steps over all that the axes before it span, and the first axis over an element.
fn steps_over(axes: impl Iterator<Item = (usize, usize)>, mut span: usize) -> bool {
    axes.filter(|&(len, _)| len > 1).all(|(len, stride)| {
        let before = span;
        span = span.saturating_add((len - 1).saturating_mul(stride));
        stride >= before
    })
}
