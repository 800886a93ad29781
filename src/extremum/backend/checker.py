"""Whether a model is well formed, as onnx's checker sees it."""

from __future__ import annotations

import onnx

from extremum.errors import ModelError, first_line
from extremum.graph import nodes

__all__ = ["require_valid"]


def require_valid(model: onnx.ModelProto) -> None:
    """Refuse what onnx's checker refuses, but neither a graph without a name nor a value without type or rank."""
    typed = onnx.ModelProto()
    typed.CopyFrom(model)
    for value in (*typed.graph.input, *typed.graph.output):
        # Runtimes take a value of open rank and infer outputs; the checker wants something there, and looks no further.
        if value.type.WhichOneof("value") is None:
            value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.shape.SetInParent()
    # Nothing depends on the name of a graph.
    typed.graph.name = typed.graph.name or "graph"
    for _, _, node in nodes.everywhere(typed):
        node.domain = nodes.canonical(node.domain)
        for _, graph in nodes.subgraphs(node):
            graph.name = graph.name or "graph"
    try:
        # A function may import another version than its model: it is run with its own.
        onnx.checker.check_model(typed, skip_opset_compatibility_check=True)
    except (onnx.checker.ValidationError, ValueError) as error:
        raise ModelError("the model is not valid", given=first_line(error)) from None
