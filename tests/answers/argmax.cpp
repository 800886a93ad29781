// graph.node[0]: ArgMax-13, feature level 3_0
// InputTensor = 'x', OutputTensor = 'y'
const UINT op0_InputTensor_Sizes[] = {2u, 3u};
const DML_BUFFER_TENSOR_DESC op0_InputTensor_buffer = {
    DML_TENSOR_DATA_TYPE_FLOAT16,  // DataType
    DML_TENSOR_FLAG_NONE,          // Flags
    2u,                            // DimensionCount
    op0_InputTensor_Sizes,         // Sizes
    nullptr,                       // Strides
    12u,                           // TotalTensorSizeInBytes
    0u,                            // GuaranteedBaseOffsetAlignment
};
const DML_TENSOR_DESC op0_InputTensor = {DML_TENSOR_TYPE_BUFFER, &op0_InputTensor_buffer};
const UINT op0_OutputTensor_Sizes[] = {2u, 1u};
const DML_BUFFER_TENSOR_DESC op0_OutputTensor_buffer = {
    DML_TENSOR_DATA_TYPE_INT64,  // DataType
    DML_TENSOR_FLAG_NONE,        // Flags
    2u,                          // DimensionCount
    op0_OutputTensor_Sizes,      // Sizes
    nullptr,                     // Strides
    16u,                         // TotalTensorSizeInBytes
    0u,                          // GuaranteedBaseOffsetAlignment
};
const DML_TENSOR_DESC op0_OutputTensor = {DML_TENSOR_TYPE_BUFFER, &op0_OutputTensor_buffer};
const UINT op0_Axes[] = {1u};
const DML_ARGMAX_OPERATOR_DESC op0_desc = {
    &op0_InputTensor,               // InputTensor
    &op0_OutputTensor,              // OutputTensor
    1u,                             // AxisCount
    op0_Axes,                       // Axes
    DML_AXIS_DIRECTION_INCREASING,  // AxisDirection
};
const DML_OPERATOR_DESC op0_operator = {DML_OPERATOR_ARGMAX, &op0_desc};
