//! Element types under their numbers in the C API.

use extremum_kernels::ElementType;
use ort_sys::ONNXTensorElementDataType as Number;

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
