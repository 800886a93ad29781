"""The backend's interface: what can be prepared and run, and what comes out."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from extremum import backend
from extremum.errors import ArgumentError
from extremum.graph import nodes
from extremum.graph.types import skeleton
from models import model

X = np.array([[1, 5, 5], [7, 7, 2]], np.float32)
A, B = np.array([1, 4], np.float32), np.array([3, 2], np.float32)
ARGMAX = "(float[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=-1> (x) }"


@pytest.mark.parametrize(
    "body",
    [
        ARGMAX,
        "(float[n, 3] x) => (int64[n, 1] y) { z = Neg (x) v = Neg (z) y = ArgMax <axis=-1> (v) }",
        """(float[n, 3] x) => (int64[n, 1] y) {
            b = Constant <value = bool {1}> ()
            y = If (b) <then_branch = t () => (r) { r = ArgMax <axis=-1> (x) },
                        else_branch = e () => (r) { r = ArgMin <axis=-1> (x) }>
        }""",
    ],
)
@pytest.mark.parametrize("name", ["g", ""])
def test_a_model_in_every_form_stays_as_it_is(body, name, tmp_path):
    proto = model(body)
    for each in nodes.graphs(proto.graph):
        each.name = name
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    before = proto.SerializeToString(deterministic=True)
    for form in (proto, proto.SerializeToString(), path, str(path)):
        (y,) = backend.run_model(form, [X])
        assert (y.dtype, y.tolist()) == (np.int64, [[1], [0]])
    assert proto.SerializeToString(deterministic=True) == before
    assert X.tolist() == [[1, 5, 5], [7, 7, 2]]


BFLOAT16 = np.array([1, np.nan, 3], ml_dtypes.bfloat16)


@pytest.mark.parametrize(
    ("body", "inputs", "expected"),
    [
        *(
            ("(float[2] a, float[2] b) => (float[2] y) { y = Max(a, b) }", inputs, {"y": [3, 4]})
            for inputs in ([A, B], (A, B), {"b": B, "a": A})
        ),
        *(
            ("(float[2] a, float[2] b) => (float[2] y) <float[2] b = {3, 3}> { y = Max(a, b) }", inputs, {"y": [w, 4]})
            for inputs, w in (([A], 3), ({"a": A}, 3), ([A, np.float32([9, 0])], 9))
        ),
        (
            "(float[2] a) => (int64[1] first, int64[1] y) { first = ArgMax(a) y = ArgMin(a) }",
            [A],
            {"first": [1], "y": [0]},
        ),
        ("(int64[2, 2] x) => (int64[1, 2] y) { y = ArgMax(x) }", [[[1, 5], [2, 4]]], {"y": [[1, 0]]}),
        (
            "(bfloat16[3] x) => (int64[1] i, bfloat16[3] h) { i = ArgMin(x) h = Hardmax(x) }",
            [BFLOAT16],
            {"i": [1], "h": np.array([0, 1, 0], BFLOAT16.dtype)},
        ),
        (
            "(float[n, 3] x) => (int64[n] i, float[n, 3] h) { i = ArgMax <axis=1, keepdims=0> (x) h = Hardmax(x) }",
            [X[:0]],
            {"i": np.zeros(0, np.int64), "h": X[:0]},
        ),
        (
            "(float[n, 2] x, float[2, 3] w) => (int64[n] y) { s = MatMul(x, w) y = ArgMax <axis=1, keepdims=0> (s) }",
            [np.eye(2, dtype=np.float32), X],
            {"y": [1, 0]},
        ),
        # The reference evaluator's Neg gives a NumPy scalar for a tensor of rank 0.
        (
            "(float x, float[2] z) => (float[2] y) { a = Neg (x) y = Max (a, z) }",
            [np.float32(-2), np.float32([1, 3])],
            {"y": [2, 3]},
        ),
    ],
)
def test_inputs_and_outputs_by_position_and_by_name(body, inputs, expected):
    outputs = backend.prepare(model(body)).run(inputs)
    for position, (name, answer) in enumerate(expected.items()):
        found = outputs[name]
        assert found.tolist() == outputs[position].tolist() == getattr(outputs, name).tolist()
        assert found.tolist() == np.asarray(answer).tolist()
        assert not isinstance(answer, np.ndarray) or (found.dtype, found.shape) == (answer.dtype, answer.shape)


@pytest.mark.parametrize(
    ("opset", "expected"), [(1, [[[0, 0], [1, 0]]]), (11, [[[0, 0], [1, 0]]]), (13, [[[0, 1], [1, 0]]])]
)
def test_each_opset_has_its_own_hardmax(opset, expected):
    x = np.array([[[1, 2], [4, 3]]], np.float32)
    proto = model("(float[1, 2, 2] x) => (float[1, 2, 2] y) { y = Hardmax(x) }", opset)
    assert backend.run_model(proto, [x]).y.tolist() == expected
    evaluator = ReferenceEvaluator(proto, new_ops=backend.reference_ops())
    assert evaluator.run(None, {"x": x})[0].tolist() == expected
    (y,) = backend.run_node(proto.graph.node[0], [x], opset_version=opset)
    assert y.tolist() == expected


def test_a_negative_axis_runs_in_version_1():
    assert backend.run_model(model(ARGMAX, opset=1), [X]).y.tolist() == [[1], [0]]


def test_both_spellings_of_onnx_domain():
    proto = model("(float[2, 3] x) => (int64[2, 1] y) { y = ai.onnx.ArgMax <axis=-1> (x) z = Neg(x) }")
    proto.graph.node[0].domain = proto.opset_import[0].domain = "ai.onnx"
    assert backend.run_model(proto, [X]).y.tolist() == [[1], [0]]


def test_run_node():
    node = onnx.helper.make_node("ArgMax", ["x"], ["y"], axis=1, select_last_index=1)
    outputs = backend.run_node(node, [X], "CPU", outputs_info=[(np.dtype(np.int64), (2, 1))], opset_version=12)
    assert outputs.y.tolist() == [[2], [1]]
    assert backend.run_node(node, {"x": X})[0].tolist() == [[2], [1]]
    assert backend.run_node(onnx.helper.make_node("Max", ["x", "x"], ["y"]), [X]).y.tolist() == X.tolist()
    other = onnx.helper.make_node("Clip", ["x", "", "top"], ["y"])
    assert backend.run_node(other, [X, np.float32(5)]).y.max() == 5


def test_devices_and_options():
    assert backend.supports_device("CPU")
    assert backend.supports_device("CPU:0")
    assert not backend.supports_device("CUDA")
    with pytest.raises(ArgumentError, match=r"^there is no device 'CUDA:1' here\n  help  use 'CPU'$"):
        backend.prepare(model(ARGMAX), "CUDA:1")
    with pytest.raises(ArgumentError, match=r"^there is no option 'streams' here$"):
        backend.prepare(model(ARGMAX), streams=3)
    with pytest.raises(ArgumentError, match=r"^there is no option 'only' here$"):
        backend.prepare(model(ARGMAX)).run([X], only="y")


def test_is_compatible():
    assert backend.is_compatible(model(ARGMAX))
    assert not backend.is_compatible(model("(float[2] x) => (float[2] y) { y = Unheard(x) }"))
    assert not backend.is_compatible(model(ARGMAX), "CUDA")


@pytest.mark.parametrize(("version", "runs"), [(15, True), (13, False)])
def test_an_operator_is_asked_about_in_each_version(version, runs):
    body = f"""(float[n] x) => (y, z) {{ z = Bernoulli (x) y = own.f (x) }}
    <domain: "own", opset_import: ["" : {version}]> f (a) => (b) {{ b = Bernoulli (a) }}"""
    assert backend.is_compatible(model(body, 15), engine="reference") is runs


def test_module_and_class_are_the_same():
    for name in ("prepare", "run_model", "run_node", "supports_device", "is_compatible"):
        assert getattr(backend, name) == getattr(backend.Backend, name)


def test_large_weights_are_kept_out_of_what_protobuf_has_to_serialise():
    proto = model("(float[n, 300] x) => (y) { s = MatMul(x, w) y = ArgMax <axis=1> (s) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros((300, 400), np.float32), "w"))
    assert skeleton(proto).ByteSize() < 300
    assert backend.run_model(proto, [np.zeros((2, 300), np.float32)]).y.tolist() == [[0], [0]]
