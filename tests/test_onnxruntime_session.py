"""The session: functions in other operators, shapes, threads, bfloat16 arrays, and every error in one clear line."""

import importlib
import sys
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from extremum import backend
from extremum.errors import DependencyError
from extremum.onnxruntime import InferenceSession, library
from models import model
from refusal import error_of
from sessions import run_model, session

X = np.array([[1, 5, np.nan], [7, 7, 2]], np.float32)


def extended(body, opset=13):
    """A model that uses the operators of ai.extremum directly."""
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : {opset}, "ai.extremum" : 1]> g {body}')


@pytest.mark.parametrize("operator", ["ReduceMax", "Hardmax", "Min"])
def test_what_a_function_gives_goes_on_into_other_operators(operator):
    """onnxruntime does not ask a custom operator inside a function for its type."""
    inner = '<domain: "own", opset_import: ["" : 13]> Inner <along> (x) => (y) { y = Abs (x) }'
    inner = inner.replace("Abs", operator if operator == "Min" else f"{operator} <ALONG>")
    inner = inner.replace("ALONG", "axis: int = @along" if operator == "Hardmax" else "axes: ints = @along")
    along = {"ReduceMax": "<along = [1]> ", "Hardmax": "<along = 1> ", "Min": ""}[operator]
    text = f"""<ir_version: 9, opset_import: ["" : 13, "own" : 1]> g (float[2, 3] x, bool c) => (float[a, b] y) {{
          k = own.Outer (x)
          l = If (c) <
            then_branch = t () => (float[d, e] p) {{ m = own.Inner {along}(k) p = Neg(m) }},
            else_branch = f () => (float[d, e] q) {{ q = Neg(k) }}
          >
          y = Neg(l)
        }}
        <domain: "own", opset_import: ["" : 13, "own" : 1]> Outer (x) => (y) {{ t = own.Inner {along}(x) y = Neg(t) }}
        {inner}"""
    proto = onnx.parser.parse_model(text)
    for c in (np.array(True), np.array(False)):
        ours = run_model(proto, [X, c])
        expected = backend.run_model(proto, [X, c], engine="reference")
        np.testing.assert_array_equal(ours[0], expected[0])


def test_several_axes_at_once():
    proto = extended("(float[2, 3] x) => (int64 y) { y = ai.extremum.ArgReduce <axes = [0, -1], keepdims = 0> (x) }")
    assert run_model(proto, [X])[0].tolist() == 2
    proto = extended("(float[2, 3] x) => (float[2, 3] y) { y = ai.extremum.OneHot <axis = 0, to_last = 1> (x) }")
    assert run_model(proto, [X])[0].tolist() == [[0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("element", ["bool", "float16", "float", "double", "int8", "uint64"])
def test_operators_take_bool_too(element):
    proto = extended(f"({element}[n] a, {element}[1] b) => ({element}[n] y) {{ y = ai.extremum.Extremum(a, b) }}")
    dtype = helper.tensor_dtype_to_np_dtype(proto.graph.input[0].type.tensor_type.elem_type)
    assert run_model(proto, [np.array([0, 1], dtype), np.array([0], dtype)])[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("declared", "node", "expected"),
    [
        ("float[n, 3] a", "ArgReduce(a)", [1, 3]),
        ("float[n, 3] a", "ArgReduce <axis = 1, keepdims = 0> (a)", ["n"]),
        ("float[n, 3] a", "OneHot(a)", ["n", 3]),
        ("float[n, 3] a", "Reduce(a)", [1, 1]),
        ("float[n, 3] a", "Reduce <axes = [1], keepdims = 0> (a)", ["n"]),
        ("float[n, 3] a", "Reduce <noop_with_empty_axes = 1> (a)", ["n", 3]),
        ("float[n, 1] a, float[m] b", "Extremum(a, b)", ["n", "m"]),
        ("float[n, 1] a, float[4] b", "Extremum(a, b)", ["n", 4]),
        ("float[n, 1] a, float[k, 1, m] b", "Extremum(a, b)", ["k", "n", "m"]),
    ],
)
def test_shapes_are_inferred(declared, node, expected):
    kind = "int64" if "ArgReduce" in node else "float"
    proto = extended(f"({declared}) => ({kind}[...] y) {{ y = ai.extremum.{node} }}".replace("[...]", ""))
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    assert session(proto).get_outputs()[0].shape == expected


def test_inputs_of_unknown_rank():
    proto = model("(float[1] a, float[1] b) => (float[1] y) { y = Max(a, b) }")
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.ClearField("shape")
    assert run_model(proto, [X, np.float32([6])])[0].shape == (2, 3)


def test_weights_beside_the_file(tmp_path, monkeypatch):
    proto = model("(float[3] x) => (float[3] m, int64[1] y) { m = Max(x, w) y = ArgMax(m) }")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(3, dtype=np.float32), "w"))
    path = tmp_path / "model.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    monkeypatch.chdir("/")
    for given in (str(path), path):
        outputs = InferenceSession(given).run(None, {"x": np.float32([1, 0, 0])})
        assert [output.tolist() for output in outputs] == [[1, 1, 2], [2]]


def test_onnxruntimes_own_format_is_taken_as_it_is(tmp_path):
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "model.ort")
    options.add_session_config_entry("session.save_model_format", "ORT")
    proto = model("(uint16[3] x) => (int64[1] y) { y = ArgMax(x) }")
    InferenceSession(proto.SerializeToString(), options)
    for source in (tmp_path / "model.ort", (tmp_path / "model.ort").read_bytes()):
        reopened = InferenceSession(source)
        assert reopened.conversion is None
        assert reopened.run(None, {"x": np.array([1, 3, 3], np.uint16)})[0].tolist() == [1]


def test_it_is_onnxruntimes_session():
    proto = model("(float[3] x) => (float[3] y) { y = Neg(x) }")
    plain = session(proto, nodes="unsupported")
    assert isinstance(plain, onnxruntime.InferenceSession)
    assert not plain.conversion.modified
    assert plain.get_providers() == onnxruntime.InferenceSession(proto.SerializeToString()).get_providers()
    binding = plain.io_binding()
    binding.bind_cpu_input("x", np.float32([1, 2, 3]))
    binding.bind_output("y")
    plain.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].tolist() == [-1, -2, -3]


def test_options_serve_any_number_of_sessions():
    options = onnxruntime.SessionOptions()
    proto = model("(uint16[3] x) => (int64[1] y) { y = ArgMin(x) }").SerializeToString()
    sessions = [InferenceSession(proto, options) for _ in range(3)]
    library.register(options)
    for each in sessions:
        assert each.run(None, {"x": np.array([3, 1, 1], np.uint16)})[0].tolist() == [1]


def test_many_threads_on_one_session():
    proto = model(
        "(float[n, 64] x) => (int64[n] i, float[n, 64] h) { i = ArgMax <axis = 1, keepdims = 0> (x) h = Hardmax(x) }"
    )
    shared = session(proto)
    rng = np.random.default_rng(0)
    inputs = [rng.integers(0, 9, (n, 64)).astype(np.float32) for n in (1, 7, 100, 20_000)] * 25
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda x: shared.run(None, {"x": x}), inputs))
    for x, (index, hot) in zip(inputs, answers, strict=True):
        assert np.array_equal(index, x.argmax(1))
        assert np.array_equal(hot.argmax(1), index)


NUMBERS = np.zeros((2, 0), np.float32)
ROW = np.zeros(3, np.float32)


@pytest.mark.parametrize(
    ("proto", "inputs", "message"),
    [
        pytest.param(
            model("(float[n, m] x) => (int64[a, b] y) { y = ArgMax <axis = 1> (x) }"),
            [NUMBERS],
            "ArgReduce: there is nothing to choose from: axis 1 of the input has no element; given: float32[2, 0]; "
            "help: reduce axes that are not empty",
            id="an empty axis",
        ),
        pytest.param(
            model("(float[n] x, float[m] y) => (float[k] z) { z = Max(x, y) }", opset=6),
            [ROW, ROW[:1]],
            "Extremum: the operands differ in shape; given: float32[3], float32[1]; "
            "help: give operands of one shape, or set broadcast=1",
            id="shapes that differ",
        ),
        pytest.param(
            model("(float[n] x, float[m] y) => (float[k] z) { z = Min(x, y) }"),
            [ROW, ROW[:2]],
            "Extremum: the operands cannot be broadcast against each other; given: float32[3], float32[2]; "
            "help: dimensions, aligned at the last one, must be equal or 1",
            id="shapes that cannot be broadcast",
        ),
    ],
)
def test_a_refusal_at_run_time_is_onnxruntimes_error_with_our_text(proto, inputs, message):
    with pytest.raises(Exception, match="INVALID_ARGUMENT") as caught:
        run_model(proto, [np.asarray(x) for x in inputs])
    assert str(caught.value).partition("Status Message: ")[2] == message


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("ArgReduce <keepdims = 2> (x)", "ArgReduce: attribute 'keepdims' takes 0 or 1, not 2; help: use 0 or 1"),
        (
            "OneHot <axis = 1, axes = [1]> (x)",
            "OneHot: attribute 'axes' excludes 'axis' and 'to_last'; help: list all axes, or give one axis",
        ),
        ('Extremum <order = "up"> (x)', "Extremum: attribute 'order' is 'up'; help: use 'max', the default, or 'min'"),
    ],
)
def test_a_bad_attribute_is_refused_when_the_session_is_made(node, message):
    kind = "int64" if "ArgReduce" in node else "float"
    proto = extended(f"(float[n, 3] x) => ({kind}[a, b] y) {{ y = ai.extremum.{node} }}")
    with pytest.raises(Exception, match="RUNTIME_EXCEPTION") as caught:
        session(proto)
    assert str(caught.value).endswith(message)


def test_a_library_that_cannot_be_loaded(monkeypatch, tmp_path):
    torn = tmp_path / "torn.so"
    torn.write_text("no library")
    monkeypatch.setattr(library, "library_path", lambda: torn)
    assert (
        error_of(DependencyError, InferenceSession, b"")
        .one_line()
        .startswith(f"onnxruntime cannot load the library of custom operators; at: {torn}; given: ")
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda patch: patch.setitem(sys.modules, "onnxruntime", None), "onnxruntime cannot be imported; given: "),
        (
            lambda patch: patch.setattr(onnxruntime, "__version__", "1.20.1"),
            "onnxruntime is too old: 1.21 is the first to run what is converted here; given: onnxruntime 1.20.1; ",
        ),
    ],
)
def test_onnxruntime_is_missing_or_too_old(monkeypatch, change, message):
    change(monkeypatch)
    error = error_of(DependencyError, importlib.reload, library)
    assert error.one_line().startswith(message)
    assert error.remedy == "pip install 'extremum[onnxruntime]'"


# bfloat16 arrays go in and come out, bit by bit.

BITS = np.array([[0x3F80, 0x7FC1, 0x8000], [0xFF81, 0x0001, 0x7F80]], np.uint16)
HALVES = BITS.view(ml_dtypes.bfloat16)
BODY = "(bfloat16[n, k] x) => (bfloat16[n, k] y) { y = Identity (x) }"


@pytest.mark.parametrize("x", [HALVES, HALVES.T, HALVES[:, ::2], HALVES[::-1], HALVES[:0], HALVES[:1, 1:2]], ids=str)
def test_every_bit_goes_in_and_comes_out(x):
    each = session(model(BODY))
    (y,) = each.run(None, {"x": x})
    # Outputs hold their own memory, which a second run does not change.
    each.run(None, {"x": np.zeros(x.shape, ml_dtypes.bfloat16)})
    assert (y.dtype, y.shape) == (ml_dtypes.bfloat16, x.shape)
    assert y.view(np.uint16).tolist() == np.ascontiguousarray(x).view(np.uint16).tolist()


@pytest.mark.parametrize(
    ("body", "feed", "expected"),
    [
        ("(bfloat16 x) => (bfloat16 y) { y = Identity (x) }", {"x": HALVES[0, :1].reshape(())}, [1]),
        ("(bfloat16[n, k] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }", {"x": HALVES}, [[[1], [0]]]),
        (
            "(float[n, k] x) => (bfloat16[n, k] y) { z = Cast <to=16> (x) y = Hardmax (z) }",
            {"x": np.array([[1, 3, 2]], np.float32)},
            [[[0, 1, 0]]],
        ),
        (
            "(bfloat16[n, k] x, string[n] s) => (string[n] t, int64[n, 1] i) { t = Identity(s) i = ArgMax<axis=1>(x) }",
            {"x": HALVES, "s": np.array(["a", "żółw"], object)},
            [["a", "żółw"], [[1], [0]]],
        ),
    ],
    ids=["rank 0", "as the input", "as the output", "beside text"],
)
def test_as_the_input_or_the_output_alone_and_beside_text(body, feed, expected):
    assert [y.tolist() for y in session(model(body)).run([], feed)] == expected


MIXED = """(bfloat16[n, k] x, float[k] f) => (string[k] t, bfloat16[n, k] y, float[k] g, int64[n, 1] i) {
    t = Cast <to=8> (f) y = Max (x, x) g = Neg (f) i = ArgMax <axis=1> (x)
}"""


def test_other_types_in_any_order_of_outputs():
    each = session(model(MIXED))
    feed = {"x": HALVES, "f": np.arange(6, dtype=np.float32)[::2]}
    t, y, g, i = each.run(None, feed)
    assert (t.tolist(), g.tolist(), i.tolist()) == (["0", "2", "4"], [-0.0, -2, -4], [[1], [0]])
    assert y.dtype == ml_dtypes.bfloat16
    again, twice, i = each.run(["y", "y", "i"], feed)
    assert again.dtype == twice.dtype == ml_dtypes.bfloat16
    assert i.tolist() == [[1], [0]]
    assert each.run(["g"], feed)[0].tolist() == [-0.0, -2, -4]


def test_an_ort_value_is_taken_as_before():
    value = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(BITS, 16)
    (y,) = session(model(BODY)).run(None, {"x": value})
    assert y.view(np.uint16).tolist() == BITS.tolist()


def test_options_of_a_run_hold():
    options = onnxruntime.RunOptions()
    options.terminate = True
    assert "terminate" in str(error_of(Exception, session(model(BODY)).run, None, {"x": HALVES}, options))


def test_an_array_of_another_type_is_refused():
    assert "tensor(bfloat16)" in str(error_of(Exception, session(model(BODY)).run, None, {"x": BITS}))
