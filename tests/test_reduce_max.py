"""ReduceMax and ReduceMin in models: axes from wherever they come, and no element."""

import re

import numpy as np
import onnx
import pytest

import onnx_cases
from agreement import assert_same_bits
from extremum import backend, spec
from extremum.errors import AxisError, SpecError
from extremum.graph.sites import sites
from models import model
from sessions import run_model, run_node


def answers(source, inputs):
    """The outputs of a model by the backend, which are those of a session."""
    outputs = backend.run_model(source, inputs)
    for ours, inside in zip(outputs, run_model(source, inputs), strict=True):
        assert_same_bits(inside, ours)
    return outputs


X = np.array([[[4, 9], [9, 0]], [[1, 1], [2, 9]]], np.float32)


@pytest.mark.parametrize(
    ("body", "shape"),
    [
        ("(float[a, b] x) => (y) <int64[1] axes = {1}> { y = ReduceMax (x, axes) }", "[a, 1]"),
        ("(float[a, b] x) => (y) { axes = Constant <value_ints = [0]> () y = ReduceMax (x, axes) }", "[1, b]"),
        ("(float[a, b] x) => (y) { axes = Constant <value = int64[1] {0}> () y = ReduceMax (x, axes) }", "[1, b]"),
        ("(float[a, b] x, int64[1] axes) => (y) { y = ReduceMax (x, axes) }", "[?, ?]"),
        ("(float[a, b] x, int64[0] axes) => (y) { y = ReduceMax (x, axes) }", "[1, 1]"),
        ('(float[a, b] x) => (y) { y = ReduceMax (x, "") }', "[1, 1]"),
        ("(float[a, b] x, int64[1] i) => (y) { axes = Identity (i) y = ReduceMax <keepdims = 0> (x, axes) }", "[...]"),
    ],
)
def test_what_is_known_of_the_axes_before_the_model_runs(body, shape):
    (site,) = (each for each in sites(model(body, opset=18)) if each.schema is not None)
    assert str(*site.outputs()) == f"float32{shape}"


def test_an_initializer_that_a_call_may_replace_is_not_taken_for_granted():
    source = model("(float[2, 2, 2] x, int64[1] axes) => (y) { y = ReduceMax (x, axes) }", opset=18)
    source.graph.initializer.append(onnx.numpy_helper.from_array(np.array([0]), "axes"))
    (site,) = sites(source)
    assert str(*site.outputs()) == "float32[?, ?, ?]"
    assert_same_bits(backend.run_model(source, {"x": X})[0], X.max(0, keepdims=True))
    assert_same_bits(backend.run_model(source, {"x": X, "axes": np.array([1])})[0], X.max(1, keepdims=True))


FUNCTIONS = """
<ir_version: 9, opset_import: ["" : 18, "own" : 1]>
g (float[2, 2, 2] x) => (float[a, b, c] y, float[a, d, e] z, float[a, b, f] w) {
    first = Constant <value_ints = [0]> ()
    y = own.of_input (x, first)
    z = own.of_attribute <along = [1, 2]> (x)
    w = own.of_attribute (x)
}
<domain: "own", opset_import: ["" : 18]>
of_input (x, axes) => (y) { y = ReduceMax (x, axes) }
<domain: "own", opset_import: ["" : 18]>
of_attribute <along: ints = [2]> (x) => (y) { axes = Constant <value_ints: ints = @along> () y = ReduceMin (x, axes) }
"""


def test_axes_within_functions():
    source = onnx.parser.parse_model(FUNCTIONS)
    expected = X.max(0, keepdims=True), X.min((1, 2), keepdims=True), X.min(2, keepdims=True)
    for found, answer in zip(answers(source, [X]), expected, strict=True):
        assert_same_bits(found, answer)
    known = {str(site.schema): str(*site.outputs()) for site in sites(source) if site.schema is not None}
    assert known == {"ReduceMax-18": "float32[1, 2, 2]", "ReduceMin-18": "float32[?, ?, ?]"}


def test_a_branch_reads_the_axes_of_the_graph_around_it():
    body = """(float[2, 2, 2] x, bool c) => (y) {
        axes = Constant <value_ints = [1]> ()
        y = If (c) <then_branch = a () => (t) { t = ReduceMax (x, axes) },
                    else_branch = b () => (e) { e = ReduceMin (x, axes) }>
    }"""
    source = model(body, opset=18)
    assert_same_bits(answers(source, [X, np.array(True)])[0], X.max(1, keepdims=True))
    assert_same_bits(answers(source, [X, np.array(False)])[0], X.min(1, keepdims=True))
    shapes = [str(*site.outputs()) for site in sites(source) if site.schema is not None]
    assert shapes == ["float32[2, 1, 2]"] * 2


@pytest.mark.parametrize(
    ("axes", "reason"),
    [
        ([3], "ReduceMax-18 has 3 among its axes, but its input has rank 3"),
        ([0, -3], "ReduceMax-18 takes each axis once"),
    ],
)
def test_axes_that_turn_out_wrong(axes, reason):
    source = model("(float[2, 2, 2] x, int64[k] axes) => (y) { y = ReduceMax (x, axes) }", opset=18)
    with pytest.raises(AxisError) as caught:
        backend.run_model(source, [X, np.array(axes)])
    assert (caught.value.reason, caught.value.where) == (reason, "graph.node[0], opset 18")
    assert caught.value.given == f"x: float32[2, 2, 2], axes: int64[{len(axes)}] = {axes}"
    text = re.escape(f"given: float32[2, 2, 2], axes: {axes};")
    with pytest.raises(Exception, match=f"Reduce: axis .*; {text}"):
        run_model(source, [X, np.array(axes)])


@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin"])
def test_version_12_has_nothing_to_choose_from(name):
    row, nothing = spec.find(spec.ONNX, name, 12), np.empty((2, 0), np.float32)
    with pytest.raises(SpecError, match="has nothing to choose from"):
        onnx_cases.run(row, {}, [nothing])
    with pytest.raises(Exception, match="Reduce: there is nothing to choose from: axis 1 of the input has no element"):
        run_node(row, {}, [nothing], [np.empty((1, 1), np.float32)])
