"""What onnx's shape inference gets: enough to infer what follows, and nothing that it does not survive."""

import numpy as np
import onnx
import pytest
from onnx import helper

from extremum.graph.inference import InferenceInput
from extremum.graph.sites import sites
from models import model
from schema_nodes import ENTRIES
from watched import run_watched

SAMPLE = {"inference": 83, "check": 601, "convert": 211, "lower": 211, "prepare": 1999}


def nodes_of_inference(proto):
    return [node.op_type for node in InferenceInput(proto).model.graph.node]


def input_types(proto):
    """The first input of each node of the family, as its site knows it."""
    return [str(site.inputs[0]) for site in sites(proto) if site.schema is not None]


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_node_of_any_operator_ends_the_process(entry):
    assert run_watched("schema_nodes", entry, 0, SAMPLE[entry])


@pytest.mark.exhaustive
@pytest.mark.parametrize("first", range(8))
@pytest.mark.parametrize("entry", ENTRIES)
def test_no_node_of_any_operator_ends_the_process_exhaustively(entry, first):
    assert run_watched("schema_nodes", entry, first, 8, seconds=1800)


DEADLY = {
    "an untyped input": ("(x) => (z) { r = RegexFullMatch(x) z = Max(r) }", 20),
    "an untyped value": ("(x) => (z) { i = Identity(x) r = EyeLike<dtype = 1, k = 1>(i) z = Max(r) }", 9),
    "behind an operator that nobody knows": (
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
    # The last node has an input whose kind is known, or is left out too; what kills never gets there.
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
        # Kinds that the schema of a left out node decides.
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
