"""Valid and invalid nodes of each version of every onnx operator; `schema_nodes.py FIRST ENTRY STEP...` prints them."""

import contextlib
import itertools
import sys
from functools import partial

import onnx
from onnx import helper

from extremum import backend
from extremum import directml as dml
from extremum.check import check
from extremum.errors import ExtremumError
from extremum.graph.inference import InferenceInput
from extremum.onnxruntime import convert
from watched import say

SCHEMAS = sorted(
    onnx.defs.get_all_schemas_with_history(), key=lambda each: (each.domain, each.name, each.since_version)
)
FLOAT = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, None)
TYPES = {
    "untyped": None,
    "no element type": onnx.TypeProto(tensor_type=onnx.TypeProto.Tensor()),
    "float": FLOAT,
    "scalar": helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ()),
    "vector": helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ("n",)),
    "rank 4": helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, (0, 2, None, 3)),
    "rank 100": helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, (1,) * 100),
    "negative": helper.make_tensor_type_proto(onnx.TensorProto.INT64, (-1, -(2**63))),
    "huge": helper.make_tensor_type_proto(onnx.TensorProto.INT64, (2**62,)),
    "integers": helper.make_tensor_type_proto(onnx.TensorProto.INT64, (2, 3)),
    "text": helper.make_tensor_type_proto(onnx.TensorProto.STRING, (2,)),
    "unknown element type": helper.make_tensor_type_proto(99, (2,)),
    "sequence": helper.make_sequence_type_proto(FLOAT),
    "sequence of nothing": onnx.TypeProto(sequence_type=onnx.TypeProto.Sequence()),
    "optional": helper.make_optional_type_proto(FLOAT),
    "optional nothing": onnx.TypeProto(optional_type=onnx.TypeProto.Optional()),
    "map": onnx.TypeProto(map_type=onnx.TypeProto.Map(key_type=7, value_type=FLOAT)),
    "map of nothing": onnx.TypeProto(map_type=onnx.TypeProto.Map(key_type=7)),
    "sparse": helper.make_sparse_tensor_type_proto(onnx.TensorProto.FLOAT, (2, 3)),
}
KIND = onnx.defs.OpSchema.AttrType
TENSOR = helper.make_tensor("t", onnx.TensorProto.FLOAT, [1], [1.0])
VALUES = {
    KIND.INT: 1,
    KIND.FLOAT: 1.0,
    KIND.STRING: b"a",
    KIND.INTS: [1],
    KIND.FLOATS: [1.0],
    KIND.STRINGS: [b"a"],
    KIND.TENSOR: TENSOR,
    KIND.GRAPH: helper.make_graph([], "held", [], []),
    KIND.TENSORS: [TENSOR],
    KIND.TYPE_PROTO: FLOAT,
}


def attribute_sets(schema):
    """Sets of attributes: the required ones, none, all, all of a wrong kind, all of another wrong kind."""
    right = {each.name: VALUES[each.type] for each in schema.attributes.values() if each.type in VALUES}
    yield "required", {name: value for name, value in right.items() if schema.attributes[name].required}
    yield "none", {}
    yield "all", right
    yield "wrong", {name: b"a" if each.type == KIND.INT else 1 for name, each in schema.attributes.items()}
    yield "lists", {each: [1.0, 2.0] for each in schema.attributes}


def nodes(schema):
    """Yield a description, a function that makes the node, and the type of its inputs."""
    few = schema.min_input
    many = max(1, min(schema.max_input, 5))
    outputs = [f"y{index}" for index in range(max(1, min(schema.max_output, 3)))]
    for name, attributes in attribute_sets(schema):
        for given, declared in TYPES.items():
            for count in sorted({0, 1, few, many, many + 2}):
                yield f"{name}, {given}, {count} inputs", partial(node, schema, count, outputs, attributes), declared
        yield f"{name}, no outputs", partial(node, schema, many, [], attributes), None
        yield f"{name}, unnamed outputs", partial(node, schema, many, [""] * len(outputs), attributes), FLOAT
        nine = [f"y{index}" for index in range(9)]
        yield f"{name}, many outputs", partial(node, schema, many, nine, attributes), FLOAT
        yield f"{name}, inputs left out", partial(node, schema, many, outputs, attributes, ""), None


def node(schema, inputs, outputs, attributes, name="x{}"):
    made = onnx.NodeProto(op_type=schema.name, domain=schema.domain, output=outputs)
    made.input.extend(name.format(index) for index in range(inputs))
    for name, value in attributes.items():
        made.attribute.append(helper.make_attribute(name, value))
    return made


def model(schema, made, declared):
    """A model of a node, with a Max on its outputs so that their types are needed."""
    graph = onnx.GraphProto(name="g", node=[made])
    graph.node.append(helper.make_node("Max", [*filter(None, made.output), "x"], ["z"]))
    for name in dict.fromkeys(("x", *filter(None, made.input))):
        graph.input.add(name=name)
        if declared is not None:
            graph.input[-1].type.CopyFrom(declared)
    graph.output.add(name="z")
    versions = {"": 13, schema.domain: schema.since_version}
    imports = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    return onnx.ModelProto(ir_version=9, graph=graph, opset_import=imports)


ENTRIES = {
    "inference": lambda proto: InferenceInput(proto).infer(),
    "check": check,
    "convert": convert,
    "lower": dml.lower,
    "prepare": backend.prepare,
}


def main(first, *steps):
    """Run every STEP-th node of each version through an entry; each version starts at another node."""
    ways = zip(steps[::2], steps[1::2], strict=True)
    for (entry, step), (shift, schema) in itertools.product(ways, enumerate(SCHEMAS)):
        for text, made, declared in itertools.islice(nodes(schema), (int(first) + shift) % int(step), None, int(step)):
            say(f"{entry} {schema.domain}.{schema.name}-{schema.since_version}: {text}")
            with contextlib.suppress(ExtremumError):
                ENTRIES[entry](model(schema, made(), declared))


if __name__ == "__main__":
    main(*sys.argv[1:])
