//! NumPy arrays as the kernels see them: address, shape, strides, element type. No copies, no reference counts
//! beyond the one that keeps the array alive.

use crate::errors::{Kind, error, within};
use extremum_kernels::ElementType;
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, _PyDataType_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE, NPY_TYPES, PY_ARRAY_API, PyArray_Check,
    PyArray_Descr, PyArrayObject, PyArrayObject_fields,
};
use pyo3::ffi::{self, PyObject, PyTypeObject};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The scalar type of bfloat16 once one was met: NumPy gives such types a number at run time only.
static BFLOAT16: AtomicPtr<PyTypeObject> = AtomicPtr::new(ptr::null_mut());

/// An array that stays alive as long as this value.
pub struct Array<'py> {
    object: Bound<'py, PyAny>,
    fields: *const PyArrayObject_fields,
    /// The element type.
    pub element: ElementType,
    /// Whether the bytes of each element stand in the order that is foreign to this machine.
    pub swapped: bool,
}

impl<'py> Array<'py> {
    /// Takes an operand of `function`: an array as it is, anything else by way of `extremum.arrays.as_array`.
    #[inline]
    pub fn operand(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Self> {
        let py = object.py();
        // SAFETY: the interpreter is attached and the object is alive.
        if unsafe { PyArray_Check(py, object.as_ptr()) } != 0 {
            return Self::new(object.clone(), function);
        }
        let convert = py.import("extremum.arrays")?.getattr("as_array")?;
        let array = convert.call1((object,)).map_err(|error| within(py, error, function))?;
        Self::new(array, function)
    }

    /// Takes a Python number as an element of the type that `like` has, where it can be one.
    pub fn number(object: &Bound<'py, PyAny>, like: &Self, function: &str) -> PyResult<Self> {
        let py = object.py();
        let convert = py.import("extremum.arrays")?.getattr("as_element")?;
        let array =
            convert.call1((object, like.object.getattr("dtype")?)).map_err(|error| within(py, error, function))?;
        Self::new(array, function)
    }

    /// Takes an object that is known to be an array.
    #[inline]
    fn new(object: Bound<'py, PyAny>, function: &str) -> PyResult<Self> {
        // SAFETY: the object is an array and `object` keeps it alive.
        let fields = unsafe { _PyArray_GET_ITEM_DATA(object.as_ptr() as *const PyArrayObject) };
        // SAFETY: as above; an array always has a descriptor.
        let described = unsafe { describe(object.py(), (*fields).descr) };
        match described {
            Some((element, swapped)) => Ok(Self { object, fields, element, swapped }),
            None => {
                let reason = format!("{function}: cannot take elements of type {}", object.getattr("dtype")?);
                let remedy = "convert to bool, an integer, float16, bfloat16, float32 or float64";
                Err(error(object.py(), Kind::ElementType, reason, None, Some(remedy.into())))
            }
        }
    }

    /// A new array in this machine's byte order, in C order or with the given strides.
    pub fn empty(
        py: Python<'py>,
        shape: &[usize],
        descriptor: *mut PyArray_Descr,
        strides: Option<&[isize]>,
    ) -> PyResult<Self> {
        // SAFETY: the interpreter is attached; NumPy reads the shape and the strides, and takes over one
        // reference to the descriptor.
        unsafe {
            let descriptor = match describe(py, descriptor) {
                Some((_, true)) => PY_ARRAY_API.PyArray_DescrNewByteorder(py, descriptor, b'=' as c_char),
                _ => {
                    ffi::Py_INCREF(descriptor.cast());
                    descriptor
                }
            };
            let array = PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                numpy::npyffi::get_type_object(py, numpy::npyffi::NpyTypes::PyArray_Type),
                descriptor,
                shape.len() as c_int,
                shape.as_ptr().cast_mut().cast(),
                strides.map_or(ptr::null_mut(), |strides| strides.as_ptr().cast_mut().cast()),
                ptr::null_mut(),
                0,
                ptr::null_mut(),
            );
            Self::new(Bound::from_owned_ptr_or_err(py, array)?, "")
        }
    }

    /// The Python object.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// The Python object; a scalar in place of an array without dimensions, as NumPy's own functions return.
    pub fn into_result(self) -> PyResult<Bound<'py, PyAny>> {
        let py = self.object.py();
        // SAFETY: `PyArray_Return` takes the reference that `into_ptr` gives up.
        unsafe {
            let result = PY_ARRAY_API.PyArray_Return(py, self.object.into_ptr().cast());
            Bound::from_owned_ptr_or_err(py, result)
        }
    }

    #[inline]
    fn fields(&self) -> &PyArrayObject_fields {
        // SAFETY: `object` keeps the array alive, and the fields used here do not change while it is.
        unsafe { &*self.fields }
    }

    /// The first element.
    #[inline]
    pub fn data(&self) -> *mut u8 {
        self.fields().data.cast()
    }

    /// The lengths of the dimensions.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        let fields = self.fields();
        if fields.nd == 0 {
            return &[];
        }
        // SAFETY: an array has `nd` dimensions, none negative.
        unsafe { std::slice::from_raw_parts(fields.dimensions.cast(), fields.nd as usize) }
    }

    /// The strides of the dimensions in bytes.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        let fields = self.fields();
        if fields.nd == 0 {
            return &[];
        }
        // SAFETY: an array has `nd` strides.
        unsafe { std::slice::from_raw_parts(fields.strides.cast(), fields.nd as usize) }
    }

    /// The descriptor of the element type.
    #[inline]
    pub fn descriptor(&self) -> *mut PyArray_Descr {
        self.fields().descr
    }

    /// Whether the array may be written to.
    pub fn is_writable(&self) -> bool {
        self.fields().flags & NPY_ARRAY_WRITEABLE != 0
    }

    /// The number of bytes that all elements have together.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.shape().iter().product::<usize>().saturating_mul(self.element.size())
    }

    /// Whether an object is a number of Python's own: a bool, an int or a float.
    pub fn is_number(object: &Bound<'_, PyAny>) -> bool {
        object.is_exact_instance_of::<PyBool>()
            || object.is_exact_instance_of::<PyInt>()
            || object.is_exact_instance_of::<PyFloat>()
    }

    /// The addresses from the lowest byte of any element to the highest; equal where there is none.
    pub fn extent(&self) -> (usize, usize) {
        let (mut low, mut high) = (self.data() as isize, self.data() as isize + self.element.size() as isize);
        for (&len, &stride) in self.shape().iter().zip(self.strides()) {
            if len == 0 {
                return (0, 0);
            }
            let reach = (len as isize - 1) * stride;
            low += reach.min(0);
            high += reach.max(0);
        }
        (low as usize, high as usize)
    }

    /// What a message shows of the array: `float32[3, 4]`.
    pub fn summary(&self) -> String {
        let name = self.object.getattr("dtype").map_or_else(|_| "?".into(), |dtype| dtype.to_string());
        format!("{name}{:?}", self.shape())
    }
}

/// Copies the elements of one array into another of the same shape.
pub fn copy(from: &Array<'_>, to: &Array<'_>) -> PyResult<()> {
    let py = from.object.py();
    // SAFETY: both objects are arrays and alive.
    let status = unsafe { PY_ARRAY_API.PyArray_CopyInto(py, to.object.as_ptr().cast(), from.object.as_ptr().cast()) };
    if status < 0 { Err(PyErr::fetch(py)) } else { Ok(()) }
}

/// The element type that a descriptor stands for, and whether its bytes are swapped.
///
/// # Safety
/// The descriptor is alive and the interpreter attached.
#[inline]
pub unsafe fn describe(py: Python<'_>, descriptor: *const PyArray_Descr) -> Option<(ElementType, bool)> {
    // SAFETY: the caller's.
    let fields = unsafe { &*_PyDataType_GET_ITEM_DATA(descriptor) };
    let element = match fields.type_num {
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
        number if number >= NPY_TYPES::NPY_USERDEF as c_int && is_bfloat16(py, fields.typeobj) => ElementType::BFloat16,
        _ => return None,
    };
    let foreign = if cfg!(target_endian = "little") { b'>' } else { b'<' };
    Some((element, fields.byteorder == foreign as c_char))
}

fn is_bfloat16(py: Python<'_>, scalar: *mut PyTypeObject) -> bool {
    if BFLOAT16.load(Ordering::Relaxed) == scalar {
        return true;
    }
    // SAFETY: a descriptor's scalar type is alive as long as the descriptor.
    let class = unsafe { Bound::from_borrowed_ptr(py, scalar.cast::<PyObject>()) };
    let named = class.getattr("__name__").is_ok_and(|name| name.eq("bfloat16").unwrap_or(false));
    if named {
        BFLOAT16.store(scalar, Ordering::Relaxed);
    }
    named
}
