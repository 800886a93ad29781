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
ARGMAX = "(float[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=-1> (x) }"


def run(body, *inputs, **options):
    return [output.tolist() for output in backend.prepare(model(body, **options)).run(list(inputs))]


def test_a_model_in_every_form(tmp_path):
    proto = model(ARGMAX)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    for form in (proto, proto.SerializeToString(), path, str(path)):
        (y,) = backend.run_model(form, [X])
        assert y.dtype == np.int64
        assert y.tolist() == [[1], [0]]


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
def test_graphs_without_a_name(body, tmp_path):
    proto = model(body)
    for each in nodes.graphs(proto.graph):
        each.name = ""
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    for form in (proto, proto.SerializeToString(), path):
        assert backend.run_model(form, [X]).y.tolist() == [[1], [0]]
    assert proto.graph.name == ""


def test_inputs_by_position_and_by_name():
    prepared = backend.prepare(model("(float[2] a, float[2] b) => (float[2] y) { y = Max(a, b) }"))
    a, b = np.array([1, 4], np.float32), np.array([3, 2], np.float32)
    for inputs in ([a, b], (a, b), {"b": b, "a": a}):
        assert prepared.run(inputs).y.tolist() == [3, 4]


def test_outputs_by_position_and_by_name():
    outputs = backend.run_model(
        model("(float[2] a) => (int64[1] first, int64[1] y) { first = ArgMax(a) y = ArgMin(a) }"),
        [np.array([1, 4], np.float32)],
    )
    assert [each.tolist() for each in outputs] == [[1], [0]]
    assert outputs.first.tolist() == outputs["first"].tolist() == [1]


def test_an_input_with_an_initializer_is_optional():
    prepared = backend.prepare(
        model("(float[2] a, float[2] b) => (float[2] y) <float[2] b = {3, 3}> { y = Max(a, b) }")
    )
    a = np.array([1, 4], np.float32)
    assert prepared.run([a]).y.tolist() == prepared.run({"a": a}).y.tolist() == [3, 4]
    assert prepared.run([a, np.array([9, 0], np.float32)]).y.tolist() == [9, 4]


def test_other_libraries_arrays_and_lists():
    prepared = backend.prepare(model("(int64[2, 2] x) => (int64[1, 2] y) { y = ArgMax(x) }"))
    assert prepared.run([[[1, 5], [2, 4]]]).y.tolist() == [[1, 0]]


def test_bfloat16():
    x = np.array([1, np.nan, 3], ml_dtypes.bfloat16)
    body = "(bfloat16[3] x) => (int64[1] i, bfloat16[3] h) { i = ArgMin(x) h = Hardmax(x) }"
    i, h = backend.run_model(model(body), [x])
    assert i.tolist() == [1]
    assert h.dtype == ml_dtypes.bfloat16
    assert h.astype(int).tolist() == [0, 1, 0]


def test_empty_results():
    body = "(float[n, 3] x) => (int64[n] i, float[n, 3] h) { i = ArgMax <axis=1, keepdims=0> (x) h = Hardmax(x) }"
    i, h = backend.run_model(model(body), [np.zeros((0, 3), np.float32)])
    assert (i.shape, i.dtype, h.shape) == ((0,), np.int64, (0, 3))


def test_a_model_with_other_operators():
    body = "(float[n, 2] x, float[2, 3] w) => (int64[n] y) { s = MatMul(x, w) y = ArgMax <axis=1, keepdims=0> (s) }"
    assert run(body, np.eye(2, dtype=np.float32), X) == [[1, 0]]


def test_neither_the_model_nor_the_inputs_change():
    proto, x = model(ARGMAX), X.copy()
    before = proto.SerializeToString(deterministic=True)
    backend.run_model(proto, [x])
    assert proto.SerializeToString(deterministic=True) == before
    assert x.tobytes() == X.tobytes()


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
    assert run("(float[2, 3] x) => (int64[2, 1] y) { y = ArgMax <axis=-1> (x) }", X, opset=1) == [[[1], [0]]]


def test_both_spellings_of_onnx_domain():
    proto = model("(float[2, 3] x) => (int64[2, 1] y) { y = ai.onnx.ArgMax <axis=-1> (x) z = Neg(x) }")
    proto.graph.node[0].domain = "ai.onnx"
    proto.opset_import[0].domain = "ai.onnx"
    assert backend.run_model(proto, [X]).y.tolist() == [[1], [0]]


def test_run_node():
    node = onnx.helper.make_node("ArgMax", ["x"], ["y"], axis=1, select_last_index=1)
    outputs = backend.run_node(node, [X], "CPU", outputs_info=[(np.dtype(np.int64), (2, 1))], opset_version=12)
    assert outputs.y.tolist() == [[2], [1]]
    assert backend.run_node(node, {"x": X})[0].tolist() == [[2], [1]]


def test_run_node_with_one_array_twice():
    node = onnx.helper.make_node("Max", ["x", "x"], ["y"])
    assert backend.run_node(node, [X]).y.tolist() == X.tolist()


def test_run_node_of_another_operator():
    node = onnx.helper.make_node("Clip", ["x", "", "top"], ["y"])
    assert backend.run_node(node, [X, np.float32(5)]).y.max() == 5


def test_devices():
    assert backend.supports_device("CPU")
    assert backend.supports_device("CPU:0")
    assert not backend.supports_device("CUDA")
    with pytest.raises(ArgumentError, match=r"^there is no device 'CUDA:1' here\n  help  use 'CPU'$"):
        backend.prepare(model(ARGMAX), "CUDA:1")


def test_is_compatible():
    assert backend.is_compatible(model(ARGMAX))
    assert not backend.is_compatible(model("(float[2] x) => (float[2] y) { y = Unheard(x) }"))
    assert not backend.is_compatible(model(ARGMAX), "CUDA")


def test_unknown_options():
    with pytest.raises(ArgumentError, match=r"^there is no option 'streams' here$"):
        backend.prepare(model(ARGMAX), streams=3)
    with pytest.raises(ArgumentError, match=r"^there is no option 'only' here$"):
        backend.prepare(model(ARGMAX)).run([X], only="y")


def test_module_and_class_are_the_same():
    for name in ("prepare", "run_model", "run_node", "supports_device", "is_compatible"):
        assert getattr(backend, name) == getattr(backend.Backend, name)


def with_external_data(folder):
    weight = np.arange(12, dtype=np.float32).reshape(3, 4)
    proto = model("(float[n, 3] x) => (int64[n, 1] y) { s = MatMul(x, w) y = ArgMax <axis=1> (s) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    path = folder / "model.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    return path


def test_weights_kept_beside_the_model(tmp_path):
    path = with_external_data(tmp_path)
    assert (tmp_path / "weights.bin").exists()
    assert backend.run_model(path, [X]).y.tolist() == [[3], [3]]


def test_large_weights_are_kept_out_of_what_protobuf_has_to_serialise():
    proto = model("(float[n, 300] x) => (y) { s = MatMul(x, w) y = ArgMax <axis=1> (s) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros((300, 400), np.float32), "w"))
    assert skeleton(proto).ByteSize() < 300
    assert backend.run_model(proto, [np.zeros((2, 300), np.float32)]).y.tolist() == [[0], [0]]


def test_a_scalar_of_the_reference_evaluator_is_a_tensor():
    # Its Neg gives a NumPy scalar for a tensor of rank 0.
    prepared = backend.prepare(model("(float x, float[2] z) => (float[2] y) { a = Neg (x) y = Max (a, z) }"))
    np.testing.assert_array_equal(prepared.run([np.float32(-2), np.array([1, 3], np.float32)])[0], [2, 3])
