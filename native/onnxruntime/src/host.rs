//! A host for tests: the few functions of the C API that a kernel calls, over tensors that say what a test wants.

use crate::api::Api;
use ort_sys::{
    ONNXTensorElementDataType, OrtApi, OrtApiBase, OrtErrorCode, OrtKernelContext, OrtKernelInfo, OrtStatus,
    OrtStatusPtr, OrtTensorTypeAndShapeInfo, OrtValue,
};
use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

/// A tensor: what a value and its description point to.
#[derive(Clone, Default)]
pub struct Tensor {
    /// The number of the element type.
    pub number: i32,
    /// The sizes.
    pub shape: Vec<i64>,
    /// The bytes, aligned for every element.
    pub words: Vec<u64>,
}

/// A call of a node: what a context points to.
#[derive(Default)]
pub struct Call {
    /// The inputs, as many as the node has; None for one that is left out.
    pub inputs: Vec<Option<Tensor>>,
    /// The output; None where nobody wants it. Its shape is set by the kernel, its type and its memory by the test.
    pub output: Option<Tensor>,
}

/// A node: what the information for a kernel points to. It states no attribute.
pub struct Node {
    /// How many inputs it has.
    pub inputs: usize,
    /// How many outputs it has.
    pub outputs: usize,
}

/// The API of the host, which is as old as can be.
pub fn api() -> Api {
    static TABLE: OnceLock<usize> = OnceLock::new();
    unsafe extern "system" fn table(_: u32) -> *const OrtApi {
        ptr::with_exposed_provenance(*TABLE.get_or_init(|| {
            let table = Box::leak(Box::new(MaybeUninit::<OrtApi>::zeroed())).as_mut_ptr();
            macro_rules! set {
                ($($name:ident = $function:expr),* $(,)?) => {
                    // SAFETY: the place of a function in a table that nobody else has yet.
                    unsafe { $((&raw mut (*table).$name).write($function);)* }
                };
            }
            set!(
                CreateStatus = create_status,
                ReleaseStatus = release_status,
                KernelInfoGetAttribute_int64 = no_int,
                KernelInfoGetAttribute_float = no_float,
                KernelInfoGetAttribute_string = no_text,
                KernelInfoGetAttributeArray_int64 = no_ints,
                KernelInfoGetAttributeArray_float = no_floats,
                KernelInfo_GetInputCount = input_count,
                KernelInfo_GetOutputCount = output_count,
                KernelContext_GetInput = input,
                KernelContext_GetOutput = output,
                GetTensorMutableData = data,
                GetTensorTypeAndShape = description,
                GetTensorElementType = element_type,
                GetDimensionsCount = rank,
                GetDimensions = sizes,
                ReleaseTensorTypeAndShapeInfo = release_description,
            );
            table.expose_provenance()
        }))
    }
    unsafe extern "system" fn version() -> *const c_char {
        c"1.18.0".as_ptr()
    }
    let base = OrtApiBase { GetApi: table, GetVersionString: version };
    // SAFETY: the table is never released.
    unsafe { Api::new(&raw const base) }.unwrap_or_else(|_| unreachable!("the host is new enough"))
}

/// The text of a status, which is released.
pub fn text(status: OrtStatusPtr) -> Option<String> {
    // SAFETY: a status that `create_status` made, or null.
    (!status.0.is_null()).then(|| *unsafe { Box::from_raw(status.0.cast::<String>()) })
}

const FINE: OrtStatusPtr = OrtStatusPtr(ptr::null_mut());

fn none() -> OrtStatusPtr {
    OrtStatusPtr(Box::into_raw(Box::new(String::from("there is none"))).cast())
}

unsafe extern "system" fn create_status(_: OrtErrorCode, text: *const c_char) -> OrtStatusPtr {
    // SAFETY: the caller gives a text.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    OrtStatusPtr(Box::into_raw(Box::new(text)).cast())
}

unsafe extern "system" fn release_status(status: *mut OrtStatus) {
    text(OrtStatusPtr(status));
}

unsafe extern "system" fn no_int(_: *const OrtKernelInfo, _: *const c_char, _: *mut i64) -> OrtStatusPtr {
    none()
}

unsafe extern "system" fn no_float(_: *const OrtKernelInfo, _: *const c_char, _: *mut f32) -> OrtStatusPtr {
    none()
}

unsafe extern "system" fn no_text(
    _: *const OrtKernelInfo,
    _: *const c_char,
    _: *mut c_char,
    _: *mut usize,
) -> OrtStatusPtr {
    none()
}

unsafe extern "system" fn no_ints(
    _: *const OrtKernelInfo,
    _: *const c_char,
    _: *mut i64,
    _: *mut usize,
) -> OrtStatusPtr {
    none()
}

unsafe extern "system" fn no_floats(
    _: *const OrtKernelInfo,
    _: *const c_char,
    _: *mut f32,
    _: *mut usize,
) -> OrtStatusPtr {
    none()
}

unsafe extern "system" fn input_count(info: *const OrtKernelInfo, count: *mut usize) -> OrtStatusPtr {
    // SAFETY: the information of a test is a node.
    unsafe { *count = (*info.cast::<Node>()).inputs };
    FINE
}

unsafe extern "system" fn output_count(info: *const OrtKernelInfo, count: *mut usize) -> OrtStatusPtr {
    // SAFETY: as above.
    unsafe { *count = (*info.cast::<Node>()).outputs };
    FINE
}

unsafe extern "system" fn input(
    context: *const OrtKernelContext,
    index: usize,
    value: *mut *const OrtValue,
) -> OrtStatusPtr {
    // SAFETY: the context of a test is a call, which nobody else looks at meanwhile.
    let inputs = unsafe { &mut (*context.cast_mut().cast::<Call>()).inputs };
    // SAFETY: the caller gives room for a pointer.
    unsafe { *value = inputs[index].as_mut().map_or(ptr::null_mut(), |tensor| ptr::from_mut(tensor).cast()) };
    FINE
}

unsafe extern "system" fn output(
    context: *mut OrtKernelContext,
    _: usize,
    sizes: *const i64,
    rank: usize,
    value: *mut *mut OrtValue,
) -> OrtStatusPtr {
    // SAFETY: as above; the inputs are another field.
    let output = unsafe { &mut (*context.cast::<Call>()).output };
    if let Some(tensor) = output {
        // SAFETY: the caller gives as many sizes.
        tensor.shape = (0..rank).map(|axis| unsafe { *sizes.add(axis) }).collect();
    }
    // SAFETY: the caller gives room for a pointer.
    unsafe { *value = output.as_mut().map_or(ptr::null_mut(), |tensor| ptr::from_mut(tensor).cast()) };
    FINE
}

unsafe extern "system" fn data(value: *mut OrtValue, data: *mut *mut c_void) -> OrtStatusPtr {
    // SAFETY: a value of a test is a tensor.
    let tensor = unsafe { &mut *value.cast::<Tensor>() };
    // SAFETY: the caller gives room for a pointer.
    unsafe { *data = tensor.words.as_mut_ptr().cast() };
    FINE
}

unsafe extern "system" fn description(
    value: *const OrtValue,
    info: *mut *mut OrtTensorTypeAndShapeInfo,
) -> OrtStatusPtr {
    // SAFETY: as above.
    let tensor = unsafe { &*value.cast::<Tensor>() }.clone();
    // SAFETY: the caller gives room for a pointer.
    unsafe { *info = Box::into_raw(Box::new(tensor)).cast() };
    FINE
}

unsafe extern "system" fn element_type(
    info: *const OrtTensorTypeAndShapeInfo,
    number: *mut ONNXTensorElementDataType,
) -> OrtStatusPtr {
    // SAFETY: a description of a test is a tensor.
    unsafe { *number.cast::<i32>() = (*info.cast::<Tensor>()).number };
    FINE
}

unsafe extern "system" fn rank(info: *const OrtTensorTypeAndShapeInfo, count: *mut usize) -> OrtStatusPtr {
    // SAFETY: as above.
    let tensor = unsafe { &*info.cast::<Tensor>() };
    // SAFETY: the caller gives room for a number.
    unsafe { *count = tensor.shape.len() };
    FINE
}

unsafe extern "system" fn sizes(info: *const OrtTensorTypeAndShapeInfo, sizes: *mut i64, count: usize) -> OrtStatusPtr {
    // SAFETY: as above.
    let tensor = unsafe { &*info.cast::<Tensor>() };
    // SAFETY: the caller gives room for as many.
    unsafe { ptr::copy_nonoverlapping(tensor.shape.as_ptr(), sizes, count) };
    FINE
}

unsafe extern "system" fn release_description(info: *mut OrtTensorTypeAndShapeInfo) {
    // SAFETY: a description that `description` made.
    drop(unsafe { Box::from_raw(info.cast::<Tensor>()) });
}
