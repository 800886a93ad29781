//! NumPy's descriptors: which element type each of them stands for.

use crate::call::Function;
use extremum_kernels::ElementType;
use numpy::npyffi::{_PyDataType_GET_ITEM_DATA, NPY_TYPES, PY_ARRAY_API, PyArray_Descr, PyDataType_ELSIZE};
use pyo3::prelude::*;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicI32, Ordering};

/// NumPy's number of ml_dtypes' bfloat16, once an array of it was met: NumPy gives such types a number at run time.
static BFLOAT16: AtomicI32 = AtomicI32::new(-1);

/// What a descriptor says of the elements.
#[derive(Clone, Copy)]
pub struct Elements {
    /// The element type.
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
    let element = match number {
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
        number if is_registered(number) && number == BFLOAT16.load(Ordering::Relaxed) => ElementType::BFloat16,
        _ => return None,
    };
    let foreign = if cfg!(target_endian = "little") { b'>' } else { b'<' };
    Some(Elements { number, element, swapped: fields.byteorder == foreign as c_char })
}

/// NumPy's descriptor of a type, in this machine's byte order.
pub fn descriptor(py: Python<'_>, number: c_int) -> PyResult<Bound<'_, PyAny>> {
    // SAFETY: the interpreter is attached; NumPy returns a new reference, or null for a number it does not know.
    unsafe {
        let descriptor = PY_ARRAY_API.PyArray_DescrFromType(py, number);
        Bound::from_owned_ptr_or_err(py, descriptor.cast())
    }
}

/// Makes [`describe`] know bfloat16, where this is the first descriptor of it. May run Python code.
///
/// # Safety
/// The descriptor is alive and stays so.
#[inline]
pub unsafe fn meet(py: Python<'_>, descriptor: *const PyArray_Descr) {
    // SAFETY: the caller's.
    let number = unsafe { (*_PyDataType_GET_ITEM_DATA(descriptor)).type_num };
    if is_registered(number) && number != BFLOAT16.load(Ordering::Relaxed) {
        // SAFETY: the caller's.
        if unsafe { is_bfloat16(py, descriptor) }.unwrap_or(false) {
            BFLOAT16.store(number, Ordering::Relaxed);
        }
    }
}

/// Whether a descriptor is that of dates or of durations, whose elements the Python side takes apart.
///
/// # Safety
/// The descriptor is alive.
#[inline]
pub unsafe fn is_time(descriptor: *const PyArray_Descr) -> bool {
    // SAFETY: the caller's.
    let number = unsafe { (*_PyDataType_GET_ITEM_DATA(descriptor)).type_num };
    number == NPY_TYPES::NPY_DATETIME as c_int || number == NPY_TYPES::NPY_TIMEDELTA as c_int
}

/// Whether a type was registered with NumPy by another library.
#[inline]
fn is_registered(number: c_int) -> bool {
    number >= NPY_TYPES::NPY_USERDEF as c_int
}

/// Whether a registered type is the one that ml_dtypes calls bfloat16, two bytes wide: a name alone proves neither.
///
/// # Safety
/// The descriptor is alive and stays so.
#[cold]
unsafe fn is_bfloat16(py: Python<'_>, descriptor: *const PyArray_Descr) -> PyResult<bool> {
    // SAFETY: the caller's; a descriptor's scalar type is alive as long as the descriptor.
    let (size, scalar) = unsafe {
        let scalar = (*_PyDataType_GET_ITEM_DATA(descriptor)).typeobj;
        (PyDataType_ELSIZE(py, descriptor), Bound::from_borrowed_ptr(py, scalar.cast()))
    };
    static IS_BFLOAT16: Function = Function::new("is_bfloat16");
    Ok(size == 2 && IS_BFLOAT16.call(py, (scalar,))?.extract()?)
}
