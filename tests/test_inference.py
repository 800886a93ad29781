"""What onnx's shape inference gets from a model: enough to infer what follows, and nothing that ends the process."""

import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import helper

from extremum.graph.inference import InferenceInput
from extremum.graph.sites import sites
from models import model
from schema_nodes import ENTRIES
from watched import environment, run_watched

SAMPLE = {"inference": 211, "check": 2003, "convert": 809, "lower": 811, "prepare": 2999}


def nodes_of_inference(proto):
    return [node.op_type for node in InferenceInput(proto).model.graph.node]


def input_types(proto):
    """The first input of each node of the family, as its site knows it."""
    return [str(site.inputs[0]) for site in sites(proto) if site.schema is not None]


def test_no_node_of_any_operator_ends_the_process():
    assert SAMPLE.keys() == ENTRIES.keys()
    assert run_watched("schema_nodes", 0, *(word for way in SAMPLE.items() for word in way), seconds=900)


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(8))
@pytest.mark.parametrize("entry", ENTRIES)
def test_no_node_of_any_operator_ends_the_process_exhaustively(entry, first):
    assert run_watched("schema_nodes", first, entry, 8, seconds=1800)


DEADLY = {
    "an untyped input": ("(x) => (z) { r = RegexFullMatch(x) z = Max(r) }", 20),
    "an untyped value": ("(x) => (z) { i = Identity(x) r = EyeLike<dtype = 1, k = 1>(i) z = Max(r) }", 9),
    "behind an unknown operator": (
        "(float[2] x) => (z) { i = own.Any(x) r = RegexFullMatch(i) z = Max(r) }",
        20,
    ),
    "behind one that breaks its promise": (
        "(string[2] a, string[3] b) => (z) { s = StringConcat(a, b) "
        "r = RegexFullMatch(s) c = Cast<to = 1>(r) z = Max(c) }",
        20,
    ),
    **{
        f"{name} over a scalar, in onnx 1.19": (
            f"(float x, float w, float r) => (z) {{ l = {name}<hidden_size = 1>(x, w, r) z = Max(l) }}",
            6,
        )
        for name in ("RNN", "GRU", "LSTM")
    },
    "a negative number of batch dimensions": (
        "(float[2, 2, 2] x, int64[2, 1] i) => (z) { r = GatherND<batch_dims = -2>(x, i) z = Max(r) }",
        13,
    ),
    "an equation of other signs": ('(float[2] x) => (z) { e = Einsum<equation = "(">(x, x) z = Max(e) }', 12),
    "more outputs than it counts": (
        "(float[4, 2] x) => (z) { a, b, c = Split<num_outputs = 1, axis = 1>(x) z = Max(a) }",
        18,
    ),
}


@pytest.mark.parametrize("case", DEADLY)
def test_what_is_left_out(case):
    body, opset = DEADLY[case]
    proto = model(body, opset)
    # The last node has an input of known kind, or is left out too; a deadly node never reaches inference.
    deadly = {"RegexFullMatch", "EyeLike", "GatherND", "Einsum", "RNN", "GRU", "LSTM", "Split"}
    assert not deadly & set(nodes_of_inference(proto)) or case.startswith("behind one")
    InferenceInput(proto).infer()


def test_inference_gets_nothing_of_a_model_without_our_operators():
    assert nodes_of_inference(model("(float[2] x) => (y) { y = Neg(x) }")) == []


OUTER = """
<domain: "own", opset_import: ["" : 13, "own" : 1]> Outer (x) => (y) { t = own.Turn <way = 0> (x) y = Max(t) }
<domain: "own", opset_import: ["" : 13]> Turn <way> (x) => (y) {
  a = Transpose <perm = [1, 0]> (x) y = ReduceSum <keepdims: int = @way> (a)
}"""
SAME = '<domain: "own", opset_import: ["" : 13]> Same (x) => (x) { u = Neg(x) }'
IF = """(bool c, float[2, 3] x) => (z) {
  y = If (c) <then_branch = t () => (a) { a = Abs(x) }, else_branch = e () => (b) { b = Neg(x) }> z = Max(y)
}"""


@pytest.mark.parametrize(
    ("body", "functions", "types"),
    [
        # Kinds that the schema of a left-out node determines.
        (
            "(x) => (z) { s = Shape(x) i = ArgMax(s) c = Cast<to = 10>(x) z = Hardmax(c) }",
            "",
            ["int64[...]", "float16[...]"],
        ),
        ("(float[2, 3] x) => (z) { z = own.Outer(x) }", OUTER, ["float32[]"]),
        ("(float[2, 3] x) => (z) { y = own.Same(x) z = Max(y) }", SAME, ["float32[2, 3]"]),
        (IF, "", ["float32[2, 3]"]),
        # The values of a shape.
        (
            "(float[2, 3] x) => (z) <int64[1] k = {0}> { s = Shape(x) n = Gather(s, k) y = Expand(x, s) z = Max(y) }",
            "",
            ["float32[2, 3]"],
        ),
    ],
    ids=["kinds", "functions", "a function that gives its input", "subgraphs", "values"],
)
def test_what_follows_is_known(body, functions, types):
    assert input_types(model(body, functions=functions)) == types


@pytest.mark.parametrize(
    "tensor",
    [
        onnx.TensorProto(name="w", data_type=7, dims=[2**62]),
        onnx.TensorProto(name="w", data_type=7, dims=[2], raw_data=b"\1"),
        onnx.TensorProto(name="w", data_type=7, dims=[-1]),
        onnx.TensorProto(name="w", data_type=99, dims=[1], raw_data=b"\1"),
        onnx.TensorProto(name="w", data_type=7, dims=[1], data_location=onnx.TensorProto.EXTERNAL),
        onnx.numpy_helper.from_array(np.zeros(1000), "w"),
    ],
    ids=["huge", "torn", "negative", "of no type", "elsewhere", "large"],
)
def test_inference_gets_no_tensor_that_is_not_what_it_says(tensor):
    proto = model("(float[2] x) => (z) { s = Size(w) c = Reshape(x, w) z = Max(x, c) }")
    proto.graph.initializer.append(tensor)
    proto.graph.node.append(helper.make_node("Constant", [], ["v"], value=tensor))
    source = InferenceInput(proto)
    assert not source.model.graph.initializer
    assert "Constant" not in nodes_of_inference(proto)
    source.infer()


LONG = 3_000_000
# Each ends in a vector of that length, known from a declaration, from inference, or only from following values.
VECTORS = {
    "declared": f"(int64[{LONG}] v) => (z) {{",
    "flattened": f"(int64[{LONG // 1000}, 1000] x) => (z) <int64[1] all = {{-1}}> {{ v = Reshape(x, all)",
    "filled": f"() => (z) <int64[1] size = {{{LONG}}}> {{ v = ConstantOfShape(size)",
    "computed": f"(float[{LONG // 1000}, 1000] x) => (z) <int64[1] first = {{0}}, int64[1] second = {{1}}> {{ "
    "shape = Shape(x) a = Gather(shape, first) b = Gather(shape, second) size = Mul(a, b) v = ConstantOfShape(size)",
    "in a branch": f"(bool c, int64[{LONG}] x) => (z) {{ v = If (c) <then_branch = t () => (a) {{ a = Add(x, x) }}, "
    "else_branch = e () => (b) { b = Cast<to = 7>(x) }>",
}
READERS = {
    "Cast": "r = Cast<to = 1>(v)",
    "Add": "r = Add(v, v)",
    "Mul": "r = Mul(v, v)",
    "Sub": "r = Sub(v, v)",
    "Size": "r = Size(v)",
    "Concat": "r = Concat<axis = 0>(v, v)",
    "Squeeze": "u = Unsqueeze(v, axis) r = Squeeze(u, axis)",
    "Slice": "r = Slice(v, axis, axis)",
    "Gather": "r = Gather(v, axis)",
    # Inferred through the nodes of the operator's function body.
    "GreaterOrEqual": "s = GreaterOrEqual(v, v) r = Cast<to = 7>(s)",
}
MEASURE = """
import sys
import onnx
from extremum.graph.sites import sites
def peak():
    # Of this program alone: getrusage begins with what whoever started it had.
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
proto = onnx.ModelProto.FromString(sys.stdin.buffer.read())
list(sites(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g (int64[2] x) => (z) { z = Max(x) }')))
before = peak()
found = list(sites(proto))
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the most memory that a process had this way")
@pytest.mark.parametrize("vector", VECTORS)
def test_no_vector_is_written_out(vector):
    readers = " ".join(
        text.replace("r = ", f"r{index} = ").replace("s)", f"s{index})").replace("s = ", f"s{index} = ")
        for index, text in enumerate(READERS.values())
    )
    constant = "axis = Constant<value = int64[1] {0}>()"
    proto = model(f"{VECTORS[vector]} {constant} {readers} z = Max(v) }}", 13)
    command = [sys.executable, "-c", MEASURE]
    child = subprocess.run(command, input=proto.SerializeToString(), capture_output=True, env=environment(), check=True)
    # In units of 1024 bytes. A vector that is written out once takes 400 MiB.
    assert int(child.stdout) < 100 << 10


def known(body):
    (last,) = [site for site in sites(model(body, 13)) if site.node.op_type == "ArgMax"]
    return last.inputs[0].shape


COMPUTED = "shape = Shape(x) back = Gather(shape, two) last = Concat<axis = 0>(back, six) r = ConstantOfShape(last)"
CONSTANTS = "<int64[1] two = {2}, int64[1] six = {6}, int64[1] zero = {0}>"


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        (f"(float[2, 3, 4] x) => (y) {CONSTANTS} {{ {COMPUTED} y = ArgMax(r) }}", (4, 6)),
        (f"(float[2, 3, 4] x) => (y) {CONSTANTS} {{ {COMPUTED} c = Cast<to = 11>(r) y = ArgMax(c) }}", (4, 6)),
        (
            f"(float[2, 3, 4] x, float[{LONG}] v) => (y, w) {CONSTANTS} "
            f"{{ w = Cast<to = 7>(v) {COMPUTED} c = Add(r, r) y = ArgMax(c) }}",
            (4, 6),
        ),
        (
            f"(float[2, 3, 4] x, float[{LONG}] v) => (y, w) {CONSTANTS} {{ w = Cast<to = 7>(v) {COMPUTED} "
            "c = Add(r, r) again = Shape(c) first = Gather(again, zero) "
            "all = Concat<axis = 0>(first, six) q = ConstantOfShape(all) y = ArgMax(q) }",
            (4, 6),
        ),
    ],
    ids=["computed", "read on", "beside a long vector", "twice"],
)
def test_values_that_shapes_are_computed_from_are_followed(body, shape):
    assert known(body) == shape


def test_the_operators_that_onnx_follows_values_through_are_those_tried_here():
    follows = {each.name for each in onnx.defs.get_all_schemas_with_history() if each.has_data_propagation_function}
    assert follows - {"Shape", "Unsqueeze"} <= set(READERS)
