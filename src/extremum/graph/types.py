"""What a model says of its tensors.

What follows of other tensors from that is :mod:`extremum.graph.shown`'s and :mod:`extremum.graph.sites`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

from extremum.graph.tensors import is_small, list_of_integers
from extremum.graph.weights import copy_fields
from extremum.tensors import TensorType

__all__ = ["declared", "known", "skeleton"]

_ELEMENTS = frozenset(onnx.TensorProto.DataType.values())


def skeleton(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of a model in which large initializers, and those that are not loaded, are inputs of their type."""
    # Checking and shape inference serialise the model, which protobuf does up to 2 GB only; and they need no
    # weights.
    copy, source = onnx.ModelProto(), model.graph
    copy_fields(model, copy, but="graph")
    graph = copy.graph
    graph.name = source.name
    graph.node.extend(source.node)
    graph.input.extend(source.input)
    graph.output.extend(source.output)
    graph.value_info.extend(source.value_info)
    graph.sparse_initializer.extend(source.sparse_initializer)
    inputs = {each.name for each in source.input}
    for tensor in source.initializer:
        if is_small(tensor):
            graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return copy


def known(graph: onnx.GraphProto) -> dict[str, TensorType]:
    """Return what a graph says of its tensors, by name."""
    constants = (
        (each.name, TensorType(_element(each.data_type), tuple(each.dims), list_of_integers(each)))
        for each in graph.initializer
    )
    return dict((*_typed(graph.value_info), *_typed(graph.output), *constants, *_typed(graph.input)))


def declared(value: onnx.TypeProto) -> TensorType:
    """Return what a declaration says of a tensor; nothing for what is no tensor."""
    if not value.HasField("tensor_type"):
        return TensorType()
    tensor = value.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(
            each.dim_value if each.HasField("dim_value") else each.dim_param or None for each in tensor.shape.dim
        )
    return TensorType(_element(tensor.elem_type), shape)


def _element(number: int) -> str | None:
    if not number or number not in _ELEMENTS:
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(number)
    return "string" if dtype.kind == "O" else str(dtype.name)


def _typed(values: Iterable[onnx.ValueInfoProto]) -> Iterator[tuple[str, TensorType]]:
    return ((value.name, declared(value.type)) for value in values)
