"""Reading an ONNX model: the model itself, its nodes, its functions, and the types of its tensors."""
