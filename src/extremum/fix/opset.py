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
    """Return a model at a later opset.

    Parameters
    ----------
    model : onnx.ModelProto
        Left as it is; with its weights.
    opset : int
        The version of ONNX's domain to import.

    Returns
    -------
    onnx.ModelProto
        The model itself if it imports that version or a later one.

    Raises
    ------
    ModelError
        If onnx cannot convert it.

    Examples
    --------
    >>> import onnx
    >>> from extremum.fix.opset import raised
    >>> text = '<ir_version: 3, opset_import: ["" : 1]> g (float[3] x) => (float[3] y) { y = Max(x) }'
    >>> raised(onnx.parser.parse_model(text), 11).opset_import[0].version
    11
    """
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
