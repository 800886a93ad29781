"""onnx's shape inference, which follows what shapes are computed from.

Decides through which nodes it may follow values. Where it does, onnx writes out a dimension for each element of every
vector that it meets, 140 bytes each, however long the vector is. So values are followed only through nodes that read
scalars and short vectors, as shapes are, or what is no vector at all; sizes are inferred of all nodes.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Container, Iterable, Iterator, MutableMapping

import onnx

from extremum.graph import nodes

__all__ = ["inferred"]

# Elements of the longest vector whose values are followed: no shape has so many dimensions.
_SHORT = 1024
# How often sizes that were found lead to values, and these to sizes.
_ROUNDS = 8

# Whether values may be followed through nodes that read a value, by its name.
_Followed = MutableMapping[str, bool]


def inferred(model: onnx.ModelProto) -> onnx.GraphProto:
    """Return the graph of a model with the types that can be inferred, those of its subgraphs included."""
    opsets = nodes.opsets(model.opset_import)
    named = {size.dim_param for value in _values(model.graph) for size in _sizes(value)}
    try:
        sized = onnx.shape_inference.infer_shapes(model)
        for _ in range(_ROUNDS):
            _forget(sized.graph, named)
            if _is_known(sized.graph):
                return sized.graph
            followed = onnx.ModelProto()
            followed.CopyFrom(sized)
            whole = _leave_out(followed.graph, opsets, {})
            followed = onnx.shape_inference.infer_shapes(followed, data_prop=True)
            if whole:
                return followed.graph
            _forget(followed.graph, named)
            learnt = _learn(sized.graph, followed.graph)
            sized = onnx.shape_inference.infer_shapes(sized)
            if not learnt:
                break
    except Exception:
        # What is wrong is said better by whoever looks at the nodes.
        return model.graph
    return sized.graph


def _values(graph: onnx.GraphProto) -> Iterator[onnx.ValueInfoProto]:
    for each in nodes.graphs(graph):
        yield from (*each.input, *each.value_info, *each.output)


def _sizes(value: onnx.ValueInfoProto) -> Iterable[onnx.TensorShapeProto.Dimension]:
    return value.type.tensor_type.shape.dim


def _forget(graph: onnx.GraphProto, named: Container[str]) -> None:
    """Take away the names that inference gives to sizes that it does not know: it would keep to them."""
    for value in _values(graph):
        for size in _sizes(value):
            if size.dim_param and size.dim_param not in named:
                size.Clear()


def _is_known(graph: onnx.GraphProto) -> bool:
    """Return whether there is no size of any value left to find."""
    return all(
        each.type.HasField("tensor_type")
        and each.type.tensor_type.HasField("shape")
        and all(size.WhichOneof("value") is not None for size in each.type.tensor_type.shape.dim)
        for body in nodes.graphs(graph)
        for each in (*body.value_info, *body.output)
    )


def _leave_out(graph: onnx.GraphProto, opsets: dict[str, int], outer: _Followed) -> bool:
    """Take the nodes out of a graph through which no values may be followed; whether there was none."""
    followed: _Followed = ChainMap({}, outer)
    for value in (*graph.input, *graph.value_info, *graph.output):
        followed[value.name] = _may_be_followed(value.type)
    for tensor in graph.initializer:
        followed[tensor.name] = len(tensor.dims) > 1 or all(size <= _SHORT for size in tensor.dims)
    whole, kept = True, []
    for node in graph.node:
        if _follows(node, opsets) and not all(followed.get(name, not name) for name in node.input):
            whole = False
            continue
        for _, subgraph in nodes.subgraphs(node):
            whole &= _leave_out(subgraph, opsets, followed)
        kept.append(onnx.NodeProto.FromString(node.SerializeToString()))
    if len(kept) < len(graph.node):
        del graph.node[:]
        graph.node.extend(kept)
    return whole


def _may_be_followed(kind: onnx.TypeProto) -> bool:
    if not kind.HasField("tensor_type") or not kind.tensor_type.HasField("shape"):
        return False
    sizes = kind.tensor_type.shape.dim
    return len(sizes) != 1 or (sizes[0].HasField("dim_value") and sizes[0].dim_value <= _SHORT)


def _follows(node: onnx.NodeProto, opsets: dict[str, int]) -> bool:
    domain = nodes.canonical(node.domain)
    try:
        schema = onnx.defs.get_schema(node.op_type, opsets.get(domain, 0), domain)
    except onnx.defs.SchemaError:
        return False
    # What is inferred by a body is inferred as the nodes of the body are.
    by_body = not schema.has_type_and_shape_inference_function
    return bool(schema.has_data_propagation_function or by_body)


def _learn(graph: onnx.GraphProto, followed: onnx.GraphProto) -> bool:
    """Give a graph what was found of its values where values were followed; whether that is more than it had."""
    before = {value.name: value.type for value in (*graph.value_info, *graph.output)}
    learnt = any(value.type != before.get(value.name) for value in (*followed.value_info, *followed.output))
    del graph.value_info[:]
    graph.value_info.extend(followed.value_info)
    found = {value.name: value.type for value in followed.output}
    for value in graph.output:
        value.type.CopyFrom(found[value.name])
    return learnt
