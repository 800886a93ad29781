"""TopK whose k is limited to the size of its axis, as detection heads need where fewer boxes than k are left."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import deepcopy

import numpy as np
import onnx

from extremum import validate
from extremum.errors import SpecError, within
from extremum.graph import types
from extremum.graph.calls import key_of
from extremum.graph.inference import InferenceInput
from extremum.graph.sites import Site, sites
from extremum.graph.splice import splice
from extremum.graph.walk import all_nodes, bodies_of, nodes_with_paths, subgraphs_of
from extremum.spec import ONNX, Family
from extremum.tensors import Dimension, TensorType

K_IS_INPUT_SINCE = 10
_MIN_TAKES_INTEGERS_SINCE = 12
_GATHER_TAKES_NEGATIVE_SINCE = 11


def may_exceed(site: Site) -> bool:
    """Return whether the k of a selection may be above the size of its axis, as far as the model alone shows."""
    schema = site.schema
    if schema is None or schema.family is not Family.TOP:
        return False
    if len(site.inputs) < schema.least_inputs:
        # Another rule says so.
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
    number = _axis(site)
    body = [make("Shape", [data], [shape]), _constant(axis, number)]
    if number >= 0 or opset >= _GATHER_TAKES_NEGATIVE_SINCE:
        body.append(make("Gather", [shape, axis], [size]))
    else:
        # The last axis ends where the shape does.
        end = f"{prefix}end"
        body.append(_constant(end, number + 1 or np.iinfo(np.int64).max))
        body.append(make("Slice", [shape, axis, end], [size]))
    if opset >= _MIN_TAKES_INTEGERS_SINCE:
        body.append(make("Min", [k, size], [least]))
    else:
        body.append(make("Less", [k, size], [f"{prefix}fits"]))
        body.append(make("Where", [f"{prefix}fits", k, size], [least]))
    top = onnx.NodeProto()
    top.CopyFrom(site.node)
    top.input[1] = least
    return [*body, top]


def with_limited_k(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model in which every TopK takes at most the elements of its axis, or the model itself if all do."""
    names = {name for _, _, node in all_nodes(model) for name in (*node.input, *node.output)}
    replacements: dict[str, list[onnx.NodeProto]] = {}
    outputs = set[str]()
    for site in sites(model):
        if not may_exceed(site):
            continue
        prefix = f"{next(filter(None, site.node.output), '')}/limit/"
        while any(name.startswith(prefix) for name in names):
            prefix += "/"
        with within(site.where):
            body = limited(site, site.opsets[ONNX], prefix)
        if body is not None:
            replacements[site.path] = body
            outputs.update(filter(None, site.node.output))
    if not replacements:
        return model
    result = splice(model, replacements)
    open_sizes(result, outputs)
    return result


def _axis(site: Site) -> int:
    """Return the axis, counted from the front if the rank is known."""
    axis = site.accepted["axis"]
    assert isinstance(axis, int)
    rank = site.inputs[0].rank
    if rank is not None:
        (axis,) = validate.axes(site.version, site.accepted, rank)
    return axis


def _constant(name: str, number: int) -> onnx.NodeProto:
    value = onnx.numpy_helper.from_array(np.array([number], np.int64))
    return onnx.helper.make_node("Constant", [], [name], value=value)


def open_sizes(model: onnx.ModelProto, limited_outputs: Collection[str]) -> None:
    """Take back what a model declares about sizes that depend on the outputs of selections, now that k may be less.

    A runtime may reserve memory by a declared size, and then refuse a smaller value.
    """
    reached = _reached(model, limited_outputs)
    bodies = [body for _, _, body in bodies_of(model)]
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
    for _, node in nodes_with_paths(body.node, ""):
        for _, graph in subgraphs_of(node):
            yield graph


def _reached(model: onnx.ModelProto, sources: Collection[str]) -> set[str]:
    """Return the names of all values that depend on some values; names of functions and graphs are taken as one."""
    reached = set(sources)
    functions = {key_of(function): function for function in model.functions}
    everywhere = [node for _, _, node in all_nodes(model)]
    before = -1
    while before != len(reached):
        before = len(reached)
        for node in everywhere:
            names = {*node.input}
            for _, graph in subgraphs_of(node):
                names.update(value.name for value in graph.output)
            called = functions.get(key_of(node))
            if called is not None:
                names.update(called.output)
                if not reached.isdisjoint(node.input):
                    reached.update(called.input)
            if not reached.isdisjoint(names - {""}):
                reached.update(filter(None, node.output))
    return reached
