//! NumPy arrays as the kernels see them: address, lengths, strides, element type.
//!
//! How an argument becomes an array may run Python code, which may do anything to any array. What an array looks like is
//! therefore read afterwards, once for all arrays of the call, by `Array::new`.

use crate::interpreter::{Function, Kind, error, text};
use crate::memory;
use extremum_kernels::ElementType;
use numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, _PyDataType_GET_ITEM_DATA, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NPY_TYPES,
    NpyTypes, PY_ARRAY_API, PyArray_Check, PyArray_Descr, PyArrayObject, PyArrayObject_fields, PyDataType_ELSIZE,
    get_type_object,
};
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

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

/// Axes that are kept without an allocation, which is a large part of the cost of a small call, as is every byte moved.
const FEW: usize = 4;

/// One length and one stride in bytes for each axis.
pub struct Dimensions {
    rank: usize,
    /// What is beyond the rank means nothing.
    shape: [usize; FEW],
    strides: [isize; FEW],
    /// Where there are more axes than few.
    many: Option<Box<Many>>,
}

struct Many {
    shape: Box<[usize]>,
    strides: Box<[isize]>,
}

impl Dimensions {
    /// Copies them.
    ///
    /// # Safety
    /// Both pointers lead to as many values as there are axes; no length is negative.
    #[inline(always)]
    pub unsafe fn copy(rank: usize, lengths: *const isize, steps: *const isize) -> Self {
        // Written out, so that the values stay in registers until they have found their place.
        let at = |axis| match axis < rank {
            // SAFETY: the caller's.
            true => unsafe { (*lengths.add(axis) as usize, *steps.add(axis)) },
            false => (0, 0),
        };
        let ((a, s), (b, t), (c, u), (d, v)) = (at(0), at(1), at(2), at(3));
        // SAFETY: the caller's.
        let many = if rank > FEW { Some(unsafe { Many::copy(rank, lengths, steps) }) } else { None };
        Self { rank, shape: [a, b, c, d], strides: [s, t, u, v], many }
    }

    /// The lengths.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        match &self.many {
            None => &self.shape[..self.rank],
            Some(many) => &many.shape,
        }
    }

    /// The strides.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        match &self.many {
            None => &self.strides[..self.rank],
            Some(many) => &many.strides,
        }
    }
}

impl Many {
    #[cold]
    unsafe fn copy(rank: usize, lengths: *const isize, steps: *const isize) -> Box<Self> {
        // SAFETY: the caller's.
        let (shape, strides) =
            unsafe { (std::slice::from_raw_parts(lengths.cast(), rank), std::slice::from_raw_parts(steps, rank)) };
        Box::new(Self { shape: shape.into(), strides: strides.into() })
    }
}

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

/// An object that is a NumPy array, by its real type: a proxy makes `isinstance` say so of itself.
#[derive(Clone)]
pub struct Ndarray<'py>(Bound<'py, PyAny>);

impl<'py> Ndarray<'py> {
    /// The object, where it is an array.
    pub fn new(object: Bound<'py, PyAny>) -> Result<Self, Bound<'py, PyAny>> {
        // SAFETY: the interpreter is attached and the object is alive.
        let is = unsafe { PyArray_Check(object.py(), object.as_ptr()) != 0 };
        if is { Ok(Self(object)) } else { Err(object) }
    }

    /// The object.
    #[inline]
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.0
    }

    /// The object.
    pub fn into_object(self) -> Bound<'py, PyAny> {
        self.0
    }

    /// What NumPy holds of the array at this moment.
    #[inline]
    pub fn fields(&self) -> *const PyArrayObject_fields {
        // SAFETY: the object is an array.
        unsafe { _PyArray_GET_ITEM_DATA(self.0.as_ptr() as *const PyArrayObject) }
    }
}

/// The operands of one call.
pub type Operands<'py> = SmallVec<[Ndarray<'py>; 4]>;

/// Takes an array of elements that kernels know, and of no subclass, which may give them another meaning; None where it is for
/// the Python side.
#[inline]
pub fn settled<'py>(object: &Bound<'py, PyAny>) -> Option<Ndarray<'py>> {
    if !is_plain(object) {
        return None;
    }
    // SAFETY: the object is an array, which always has a descriptor; nothing runs before `meet` holds on to it.
    unsafe {
        let descriptor = (*_PyArray_GET_ITEM_DATA(object.as_ptr() as *const PyArrayObject)).descr;
        if is_time(descriptor) {
            return None;
        }
        let array = Ndarray(object.clone());
        meet(object.py(), descriptor);
        Some(array)
    }
}

/// Takes a plain array; the Python side has made one of anything else.
#[inline]
pub fn operand<'py>(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Ndarray<'py>> {
    if !is_plain(object) {
        return Err(no_array(object, function));
    }
    let array = Ndarray(object.clone());
    // SAFETY: an array always has a descriptor; nothing runs before `meet` holds on to it.
    unsafe { meet(object.py(), (*array.fields()).descr) };
    Ok(array)
}

/// Takes an array to write to: one of a subclass by way of the Python side, which knows whether it may be.
#[inline]
pub fn target<'py>(object: &Bound<'py, PyAny>, function: &str) -> PyResult<Ndarray<'py>> {
    if !is_plain(object) {
        static AS_OUTPUT: Function = Function::new("as_output");
        AS_OUTPUT.call(object.py(), (object, function))?;
    }
    let array = Ndarray::new(object.clone()).map_err(|object| no_array(&object, function))?;
    // SAFETY: as above.
    unsafe { meet(object.py(), (*array.fields()).descr) };
    Ok(array)
}

#[cold]
fn no_array(object: &Bound<'_, PyAny>, function: &str) -> PyErr {
    let reason = format!("{function}: {} is not a plain array", text(object.get_type().as_any()));
    error(object.py(), Kind::ArgumentType, reason, None, Some("pass a numpy.ndarray".into()))
}

/// Whether an object is an array and of no subclass, which may give its elements another meaning.
#[inline]
fn is_plain(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the interpreter is attached.
    let plain = unsafe { get_type_object(object.py(), NpyTypes::PyArray_Type) };
    object.get_type_ptr() == plain
}
