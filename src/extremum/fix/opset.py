"""A model raised to a later opset, on request.

Decides what is refused; the conversion is onnx's own.
"""

from __future__ import annotations

import onnx
import onnx.version_converter

from extremum.errors import ModelError, first_line
from extremum.graph import nodes

__all__ = ["raised"]


def raised(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return a model at a later opset."""
    if nodes.opsets(model.opset_import).get("", 0) >= opset:
        return model
    if model.functions:
        raise ModelError("the opset of a model with functions cannot be raised", remedy="inline them first")
    try:
        return onnx.version_converter.convert_version(model, opset)
    except Exception as error:
        # The converter raises RuntimeError, ValueError and its own ConvertError.
        given = first_line(error)
        raise ModelError(f"the model cannot be raised to opset {opset}", given=given) from error
