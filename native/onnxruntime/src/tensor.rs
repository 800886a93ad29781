//! What a tensor is, by the cheapest call that an ONNX Runtime has, and element types under their numbers in the C API.

use crate::api::{Api, Result, call};
use extremum_kernels::ElementType;
use ort_sys::{ONNXTensorElementDataType as Number, OrtTensorTypeAndShapeInfo, OrtValue};
use std::borrow::Cow;
use std::{ptr, slice};

/// The element type of a tensor, by its number in the C API, and its shape.
pub struct Tensor<'a> {
    /// The number; not an enumerator, for ONNX Runtime may know more than are declared.
    pub number: i32,
    /// The sizes.
    pub shape: Cow<'a, [i64]>,
}

/// What a description says.
///
/// # Safety
/// The description is of the API's ONNX Runtime.
pub unsafe fn described(api: Api, info: *const OrtTensorTypeAndShapeInfo) -> Result<Tensor<'static>> {
    let (mut number, mut rank) = (0i32, 0);
    call!(api, GetTensorElementType(info, (&raw mut number).cast()));
    call!(api, GetDimensionsCount(info, &raw mut rank));
    let mut shape = vec![0; rank];
    call!(api, GetDimensions(info, shape.as_mut_ptr(), rank));
    Ok(Tensor { number, shape: shape.into() })
}

/// What a tensor is.
///
/// # Safety
/// The value is of the API's ONNX Runtime and outlives what is returned.
pub unsafe fn of_value<'a>(api: Api, value: *const OrtValue) -> Result<Tensor<'a>> {
    if api.refers_to_shapes {
        // A description is three allocations: a fifth of what a small node costs.
        let (mut number, mut sizes, mut rank) = (0i32, ptr::null(), 0);
        let element = (&raw mut number).cast();
        call!(api, GetTensorElementTypeAndShapeDataReference(value, element, &raw mut sizes, &raw mut rank));
        // SAFETY: the sizes belong to the tensor; of rank 0 there may be none.
        let shape = if rank == 0 { &[] } else { unsafe { slice::from_raw_parts(sizes, rank) } };
        return Ok(Tensor { number, shape: shape.into() });
    }
    let mut info = ptr::null_mut();
    call!(api, GetTensorTypeAndShape(value, &raw mut info));
    // SAFETY: the description was made by the API's ONNX Runtime.
    let tensor = unsafe { described(api, info) };
    // SAFETY: the description is ours, and this is its only release.
    unsafe { ((*api.table).ReleaseTensorTypeAndShapeInfo)(info) };
    tensor
}

/// Every element type that has an order, and its number.
pub const ELEMENT_TYPES: [(Number, ElementType); 13] = [
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, ElementType::Bool),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, ElementType::Int8),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, ElementType::Int16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, ElementType::Int32),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, ElementType::Int64),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, ElementType::UInt8),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, ElementType::UInt16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, ElementType::UInt32),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, ElementType::UInt64),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, ElementType::Float16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, ElementType::BFloat16),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, ElementType::Float32),
    (Number::ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, ElementType::Float64),
];

/// The number of an element type, if it is one that has an order. ONNX Runtime may have numbers that are not declared.
pub fn number(number: i32) -> Option<Number> {
    ELEMENT_TYPES.iter().map(|&(known, _)| known).find(|&known| known as i32 == number)
}

/// The name of an element type in messages.
pub fn name(element: ElementType) -> String {
    format!("{element:?}").to_lowercase()
}
