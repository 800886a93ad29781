"""TopK whose k is limited to the size of its axis, as detection heads need where fewer boxes than k are left."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import deepcopy

import numpy as np
import onnx

from extremum import validate
from extremum.errors import SpecError
from extremum.graph import nodes, types
from extremum.graph.inference import InferenceInput
from extremum.graph.sites import Site
from extremum.spec import Family
from extremum.tensors import Dimension, TensorType

K_IS_INPUT_SINCE = 10
_MIN_TAKES_INTEGERS_SINCE = 12
_GATHER_TAKES_NEGATIVE_SINCE = 11


def may_exceed(site: Site) -> bool:
    """Return whether the k of a selection may be above the size of its axis, as far as the model alone shows."""
    if site.schema is None or site.schema.family is not Family.TOP or len(site.inputs) < site.schema.least_inputs:
        return False
    k = site.accepted["k"]
    size = size_along_axis(site)
    return not isinstance(k, int) or size is None or k > size


def dimension_along_axis(site: Site) -> Dimension:
    """Return the size of the axis along which a node selects, its name, or None if the model does not state it."""
    shape = site.inputs[0].shape
    if shape is None:
        return None
    (axis,) = validate.axes(site.version, site.accepted, len(shape))
    return shape[axis]


def size_along_axis(site: Site) -> int | None:
    """Return the size of the axis along which a node selects, if the model states it."""
    size = dimension_along_axis(site)
    return size if isinstance(size, int) else None


def limited(site: Site, opset: int, prefix: str) -> list[onnx.NodeProto] | None:
    """Return a TopK that takes at most the elements of its axis, after the nodes that compute its k.

    None if its k is always in range. The names of new values begin with the prefix.
    """
    if not may_exceed(site):
        return None
    if opset < K_IS_INPUT_SINCE or len(site.names) < 2:
        raise SpecError(
            f"{site.version} states k as an attribute, which cannot depend on the axis",
            remedy=f"raise the model to opset {K_IS_INPUT_SINCE}, as extremum fix --raise-opset does",
        )
    data, k = site.names
    shape, axis, size, least = (f"{prefix}{name}" for name in ("shape", "axis", "size", "k"))
    make = onnx.helper.make_node
    body = [
        make("Shape", [data], [shape]),
        make("Constant", [], [axis], value=onnx.numpy_helper.from_array(np.array([_axis(site, opset)], np.int64))),
        make("Gather", [shape, axis], [size]),
    ]
    if opset >= _MIN_TAKES_INTEGERS_SINCE:
        body.append(make("Min", [k, size], [least]))
    else:
        body.append(make("Less", [k, size], [f"{prefix}fits"]))
        body.append(make("Where", [f"{prefix}fits", k, size], [least]))
    top = onnx.NodeProto()
    top.CopyFrom(site.node)
    top.input[1] = least
    return [*body, top]


def _axis(site: Site, opset: int) -> int:
    """Return the axis as Gather takes it at an opset."""
    axis = site.accepted["axis"]
    assert isinstance(axis, int)
    rank = site.inputs[0].rank
    if rank is not None:
        (axis,) = validate.axes(site.version, site.accepted, rank)
    elif axis < 0 and opset < _GATHER_TAKES_NEGATIVE_SINCE:
        raise SpecError(
            f"the rank of the input of {site.version} is not known, and its axis is counted from the end",
            remedy="state the shape in the model",
        )
    return axis


def open_sizes(model: onnx.ModelProto, limited_outputs: Collection[str]) -> None:
    """Take back what a model declares about sizes that depend on the outputs of selections, now that k may be less.

    A runtime may reserve memory by a declared size, and then refuse a smaller value.
    """
    reached = _reached(model, limited_outputs)
    bodies = [body for _, _, body in nodes.bodies(model)]
    graphs = [graph for body in bodies for graph in _graphs(body)]
    declared = [value for graph in graphs for value in graph.value_info]
    declared += [value for function in model.functions for value in function.value_info]
    for value in declared:
        if value.name in reached:
            value.type.tensor_type.ClearField("shape")
    outputs = [value for graph in graphs for value in graph.output if value.name in reached]
    before = [deepcopy(value.type) for value in outputs]
    for value in outputs:
        value.type.tensor_type.ClearField("shape")
    # What inference knows without the declarations stays.
    known = types.types_in(InferenceInput(model).infer())
    for value, stated in zip(outputs, before, strict=True):
        value.type.CopyFrom(stated)
        shape = known.get(value.name, TensorType()).shape
        for at, dimension in enumerate(value.type.tensor_type.shape.dim):
            is_known = shape is not None and at < len(shape) and isinstance(shape[at], int)
            if dimension.HasField("dim_value") and not is_known:
                dimension.ClearField("value")


def _graphs(body: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and those that nodes hold."""
    if isinstance(body, onnx.GraphProto):
        yield body
    for _, node in nodes.with_paths(body.node, ""):
        for _, graph in nodes.subgraphs(node):
            yield graph


def _reached(model: onnx.ModelProto, sources: Collection[str]) -> set[str]:
    """Return the names of all values that depend on some values; names of functions and graphs are taken as one."""
    reached = set(sources)
    functions = {nodes.key(function): function for function in model.functions}
    everywhere = [node for _, _, node in nodes.everywhere(model)]
    before = -1
    while before != len(reached):
        before = len(reached)
        for node in everywhere:
            names = {*node.input}
            for _, graph in nodes.subgraphs(node):
                names.update(value.name for value in graph.output)
            called = functions.get(nodes.key(node))
            if called is not None:
                names.update(called.output)
                if not reached.isdisjoint(node.input):
                    reached.update(called.input)
            if not reached.isdisjoint(names - {""}):
                reached.update(filter(None, node.output))
    return reached
