//! NumPy arrays as the kernels see them: address, lengths, strides, element type.

use crate::call::{Function, text};
use crate::descriptor::{Elements, describe, descriptor};
use crate::dimensions::Dimensions;
use crate::errors::{Kind, error};
use crate::memory;
use crate::operand::Ndarray;
use extremum_kernels::ElementType;
use numpy::npyffi::{NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object};
use pyo3::prelude::*;
use std::ffi::c_int;
use std::ptr;

/// An array as it was when this value was made; the array itself stays alive as long.
///
/// NumPy lets every piece of Python code and every other thread give an array another shape at any time, and frees the
/// old one. So nothing is ever read from the array a second time, and what belongs to one call is made without any
/// Python code in between. The memory of the elements is NumPy's to keep: it lives as long as the array, except under
/// `resize(refcheck=False)`, which takes it away from NumPy's own functions as well.
pub struct Array<'py> {
    array: Ndarray<'py>,
    data: *mut u8,
    dimensions: Dimensions,
    flags: c_int,
    elements: Elements,
}

impl<'py> Array<'py> {
    /// Reads an array. Runs no Python code, save to word an error.
    #[inline(always)]
    pub fn new(array: Ndarray<'py>, function: &str) -> PyResult<Self> {
        // SAFETY: an array has `nd` lengths, none negative, and as many strides, and a descriptor.
        unsafe {
            let fields = &*array.fields();
            let Some(elements) = describe(fields.descr) else { return Err(refuse(&array, function)) };
            let dimensions = Dimensions::copy(fields.nd as usize, fields.dimensions, fields.strides);
            Ok(Self { data: fields.data.cast(), dimensions, flags: fields.flags, elements, array })
        }
    }

    /// One element as an array without dimensions, which is to be read as long as the element is there. Has no object of
    /// its own: beside this array it needs none.
    pub fn beside(&self, data: *mut u8, elements: Elements) -> Self {
        // SAFETY: there is nothing to copy.
        let dimensions = unsafe { Dimensions::copy(0, ptr::null(), ptr::null()) };
        Self { array: self.array.clone(), data, dimensions, flags: 0, elements }
    }

    /// A new array in this machine's byte order, in C order or with the given strides.
    pub fn empty(py: Python<'py>, shape: &[usize], elements: Elements, strides: Option<&[isize]>) -> PyResult<Self> {
        let descriptor = descriptor(py, elements.number)?;
        let bytes = shape.iter().fold(elements.element.size(), |bytes, &len| bytes.saturating_mul(len));
        // SAFETY: the interpreter is attached; NumPy reads the shape and the strides, and takes over the reference to
        // the descriptor.
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
            Bound::from_owned_ptr_or_err(py, array)
        })?;
        let Ok(array) = Ndarray::new(array) else { unreachable!("NumPy makes arrays") };
        Self::new(array, "")
    }

    /// The Python object.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        self.array.object()
    }

    /// The array, no longer as it was.
    pub fn into_ndarray(self) -> Ndarray<'py> {
        self.array
    }

    /// The Python object; a scalar in place of an array without dimensions, as NumPy's own functions return.
    pub fn into_result(self) -> PyResult<Bound<'py, PyAny>> {
        let py = self.object().py();
        // SAFETY: `PyArray_Return` takes the reference that `into_ptr` gives up.
        unsafe {
            let result = PY_ARRAY_API.PyArray_Return(py, self.array.into_object().into_ptr().cast());
            Bound::from_owned_ptr_or_err(py, result)
        }
    }

    /// The first element.
    #[inline]
    pub fn data(&self) -> *mut u8 {
        self.data
    }

    /// The lengths of the dimensions.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.dimensions.shape()
    }

    /// The strides of the dimensions in bytes.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        self.dimensions.strides()
    }

    /// The element type.
    #[inline]
    pub fn element(&self) -> ElementType {
        self.elements.element
    }

    /// Whether the bytes of each element stand in the order that is foreign to this machine.
    #[inline]
    pub fn swapped(&self) -> bool {
        self.elements.swapped
    }

    /// What the descriptor says of the elements.
    #[inline]
    pub fn elements(&self) -> Elements {
        self.elements
    }

    /// Whether the array may be written to.
    #[inline]
    pub fn is_writable(&self) -> bool {
        self.flags & NPY_ARRAY_WRITEABLE != 0
    }

    /// Whether the elements lie one after the other, in row-major order.
    pub fn is_contiguous(&self) -> bool {
        self.flags & NPY_ARRAY_C_CONTIGUOUS != 0
    }

    /// The number of bytes that all elements have together.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.shape().iter().fold(self.element().size(), |bytes, &len| bytes.saturating_mul(len))
    }

    /// The addresses from the lowest byte of any element to the highest; equal where there is none.
    pub fn extent(&self) -> (usize, usize) {
        let (mut low, mut high) = (self.data as usize, (self.data as usize).saturating_add(self.element().size()));
        for (&len, &stride) in self.shape().iter().zip(self.strides()) {
            let Some(steps) = len.checked_sub(1) else { return (0, 0) };
            let reach = steps.saturating_mul(stride.unsigned_abs());
            match stride < 0 {
                true => low = low.saturating_sub(reach),
                false => high = high.saturating_add(reach),
            }
        }
        (low, high)
    }

    /// What a message shows of the array: `float32[3, 4]`.
    pub fn summary(&self) -> String {
        let name =
            descriptor(self.object().py(), self.elements.number).map_or_else(|_| "?".into(), |dtype| text(&dtype));
        format!("{name}{:?}", self.shape())
    }
}

#[cold]
fn refuse(array: &Ndarray<'_>, function: &str) -> PyErr {
    let py = array.object().py();
    // SAFETY: an array has a descriptor, which is held on to before any Python code runs.
    let descriptor = unsafe { Bound::from_borrowed_ptr(py, (*array.fields()).descr.cast()) };
    let reason = format!("{function}: cannot take elements of type {}", text(&descriptor));
    let remedy = "convert to bool, an integer, float16, bfloat16, float32 or float64";
    error(py, Kind::ElementType, reason, None, Some(remedy.into()))
}

/// Copies the elements of one array into another of the same shape.
pub fn copy(from: &Array<'_>, to: &Ndarray<'_>) -> PyResult<()> {
    // NumPy lets other threads run while it copies, and wants the interpreter back afterwards.
    static COPY: Function = Function::new("copy");
    COPY.call(to.object().py(), (from.object(), to.object())).map(drop)
}
