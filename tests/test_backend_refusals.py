"""What the backend refuses, when, and in which words: `prepare` refuses what the model shows, `run` the rest."""

from functools import partial

import ml_dtypes
import numpy as np
import onnx
import psutil
import pytest

from extremum import backend
from extremum.check import check
from extremum.errors import (
    AxisError,
    ElementTypeError,
    ExecutionError,
    InputError,
    MemoryLimitError,
    ModelError,
    SpecError,
    UnknownOperatorError,
)
from extremum.onnxruntime import convert
from models import model
from refusal import error_of

X = np.array([[1, 5, 5], [7, 7, 2]], np.float32)
ARGMAX = "(float[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=-1> (x) }"


def refusal(kind, call, *arguments):
    """The error that a call raises, its parts in one line."""
    error = error_of(kind, call, *arguments)
    assert type(error) is kind
    return "; ".join(line.strip() for line in str(error).splitlines())


@pytest.mark.parametrize(
    ("opset", "body", "kind", "message"),
    [
        (
            11,
            "(float[1, 1000] scores) => (y) { [argmax_0] y = ArgMax <select_last_index=1> (scores) }",
            SpecError,
            "ArgMax-11 has no attribute 'select_last_index' (it came with ArgMax-12); "
            "at    graph.node[0] 'argmax_0', opset 11; given scores: float32[1, 1000], select_last_index=1; "
            "help  use opset 12 or later, or drop the attribute if its value is 0",
        ),
        (
            13,
            "(float[3] x) => (y) { y = com.example.Op(x) }",
            ModelError,
            "no version of the domain 'com.example' of Op is imported; at    graph.node[0]",
        ),
        (
            13,
            "(float[2] x) => (y) { y = Neg(z) }",
            ModelError,
            "the model is not valid; given Nodes in a graph must be topologically sorted, however input 'z' of node:",
        ),
    ],
    ids=["an attribute of a later version", "a domain that is not imported", "an input that nothing makes"],
)
def test_refused_by_prepare(opset, body, kind, message):
    assert refusal(kind, backend.prepare, model(body, opset)) == message
    if kind is SpecError:
        assert refusal(kind, convert, model(body, opset)) == message


@pytest.mark.parametrize(
    ("body", "name", "where"),
    [
        ("(float[3] x) => (y) { a = Neg(x) y = Unheard(a) }", "Unheard", "graph.node[1], opset 13"),
        ("(float[3] x) => (y) { y = own.Unheard(x) }", "own.Unheard", "graph.node[0], opset 1"),
    ],
)
def test_an_operator_without_an_implementation(body, name, where):
    message = refusal(UnknownOperatorError, backend.prepare, model(body))
    assert message.startswith(f"there is no implementation of {name}; at    {where}; given onnxruntime ")
    assert message.endswith("; help  give it as a model-local function")
    assert refusal(UnknownOperatorError, partial(backend.prepare, engine="reference"), model(body)) == (
        f"there is no implementation of {name}; at    {where}; help  give it as a model-local function"
    )


WRONG_SHAPES = {
    "ArgMax": "(float[2, 3] x) => (int64[7] y) { y = ArgMax <axis = 0> (x) }",
    "Max": "(float[2, 3] x) => (float[2, 3, 1] y) { y = Max(x, x) }",
    "Hardmax": "(float[2, 3] x) => (float[2, 4] y) { y = Hardmax(x) }",
    "ArgMin behind another": "(float[2, 3] x) => (int64[1, 4] y) { a = Abs(x) y = ArgMin <axis = 0> (a) }",
}


@pytest.mark.parametrize(("engine", "opset"), [(None, 6), (None, 11), *((engine, 18) for engine in backend.ENGINES)])
@pytest.mark.parametrize("case", WRONG_SHAPES)
def test_a_declared_shape_that_cannot_be_runs_at_every_opset(case, engine, opset):
    given = model(WRONG_SHAPES[case], opset)
    (y,) = backend.prepare(given, engine=engine).run([X])
    assert y.shape == ((1, 3) if y.dtype == np.int64 else (2, 3))
    assert [finding.code for finding in check(given, select=["EX012"]).counted()] == ["EX012"]


@pytest.mark.parametrize("opset", [6, 11, 13])
def test_a_wrong_shape_in_the_middle_is_not_believed(opset):
    given = model("(float[2, 3] x) => (y) { m = Max(x) a = Abs(m) y = ArgMax <axis = 1> (a) }", opset)
    given.graph.value_info.extend(onnx.helper.make_tensor_value_info(name, 1, [7]) for name in "ma")
    assert backend.prepare(given).run([X]).y.tolist() == [[1], [0]]


def test_a_shape_that_only_the_model_knows_is_believed():
    given = model("(float[6] x, int64[k] s) => (y) { r = Reshape(x, s) a = Abs(r) y = ArgMax <axis = 2> (a) }")
    given.graph.value_info.append(onnx.helper.make_tensor_value_info("r", 1, [2, 3]))
    assert "ArgMax-13 has axis=2, but its input has rank 2" in refusal(AxisError, backend.prepare, given)


@pytest.mark.parametrize("opset", [6, 11, 13])
def test_a_declared_element_type_that_cannot_be_is_refused_at_every_opset(opset):
    given = model("(float[2, 3] x) => (float[1, 3] y) { y = ArgMax(x) }", opset)
    for engine in (None, *backend.ENGINES):
        message = refusal(ElementTypeError, partial(backend.prepare, engine=engine), given)
        assert message.endswith(
            f" gives int64, but its output 'y' is declared float32; at    graph.node[0], opset {opset}"
        )


@pytest.mark.parametrize("data", [b"", b"not a model", b"\x08\x07", bytes(100)])
def test_bytes_that_are_no_model(data, tmp_path):
    advice = "no ONNX model; help  give a file written by onnx.save, complete and unchanged"
    (tmp_path / "broken.onnx").write_bytes(data)
    for given, source in (
        (data, "the bytes hold"),
        (tmp_path / "broken.onnx", f"'{tmp_path / 'broken.onnx'}' holds"),
        (onnx.ModelProto(ir_version=8), "the ModelProto holds"),
    ):
        assert refusal(ModelError, backend.prepare, given) == f"{source} {advice}"


@pytest.mark.filterwarnings("ignore:The onnxtxt format is experimental")
@pytest.mark.parametrize("name", ["onnxtxt", "textproto", "json"])
def test_a_model_as_text(name, tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(model(ARGMAX), path, format=name)
    advice = (
        f"a model as text; given the format {name!r} of onnx; "
        f"help  convert it: onnx.save(onnx.load(path, format={name!r}), 'model.onnx')"
    )
    assert refusal(ModelError, backend.prepare, path) == f"{str(path)!r} holds {advice}"
    assert refusal(ModelError, backend.prepare, path.read_bytes()) == f"the bytes hold {advice}"
    # What the remedy makes of it.
    onnx.save(onnx.load(path, format=name), tmp_path / "binary.onnx")
    backend.prepare(tmp_path / "binary.onnx")


@pytest.mark.parametrize("beginning", [b"# Exported today.\n", b"\n  "])
def test_a_model_as_text_after_a_comment(beginning):
    content = beginning + b'ir_version: 8 graph { name: "g" }'
    assert "a model as text; given the format 'textproto'" in refusal(ModelError, backend.prepare, content)


def test_a_truncated_model():
    whole = model(ARGMAX).SerializeToString()
    for end in range(whole.index(b"ArgMax")):
        assert "no ONNX model" in refusal(ModelError, backend.prepare, whole[:end])


TWO_INPUTS = "(float[n, 3] a, float[n, m] b, bfloat16[2] c) => (y, z) { y = Max(a, b) z = ArgMax(c) }"
A = np.zeros((2, 3), np.float32)
C = np.zeros(2, ml_dtypes.bfloat16)
DECLARED = "; help  the model declares float32[n, 3]"
PATTERNS = "; help  if these are bit patterns, say so: c.view(ml_dtypes.bfloat16)"


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        pytest.param([A, A], "the model takes 3 inputs, not 2; help  in this order: a, b, c", id="one input too few"),
        pytest.param(
            A,
            "the inputs are neither a list nor a dict; given ndarray; help  put a single array into a list: run([x])",
            id="an array in place of a list",
        ),
        pytest.param({"a": A, "b": A}, "input 'c' is missing; given inputs a, b", id="a name missing"),
        pytest.param({}, "input 'a' is missing; given inputs none", id="no names"),
        pytest.param(
            {"a": A, "b": A, "c": C, "d": A},
            "the model has no input 'd'; help  its inputs are: a, b, c",
            id="an unknown name",
        ),
        pytest.param(
            [A.astype(np.float64), A, C],
            f"input 'a' has elements of type float64, not float32; given a: float64[2, 3]{DECLARED}",
            id="type",
        ),
        pytest.param(
            [np.array([["a"]]), A, C],
            f"input 'a' has elements of type str32, not float32; given a: str32[1, 1]{DECLARED}",
            id="type of text",
        ),
        pytest.param([A[0], A, C], f"input 'a' has rank 1, not 2; given a: float32[3]{DECLARED}", id="rank"),
        pytest.param(
            [A[:, :2], A, C],
            f"input 'a' has 2 elements along axis 1, where the model declares 3; given a: float32[2, 2]{DECLARED}",
            id="length of an axis",
        ),
        pytest.param(
            [A, A[:1], C],
            "dimension 'n' is 2 in 'a' but 1 in 'b'; given b: float32[1, 3]; help  the model declares float32[n, m]",
            id="a dimension with two values",
        ),
        pytest.param(
            [A, A, np.zeros(2, np.uint16)],
            f"input 'c' has elements of type uint16, not bfloat16; given c: uint16[2]{PATTERNS}",
            id="type beside bfloat16",
        ),
        pytest.param(
            [A, A, np.zeros(2, "V2")],
            f"input 'c' has elements of type void16, not bfloat16; given c: void16[2]{PATTERNS}",
            id="bit patterns of bfloat16",
        ),
    ],
)
def test_inputs_refused_by_run(inputs, message):
    assert refusal(InputError, backend.prepare(model(TWO_INPUTS)).run, inputs) == message


def test_numbers_where_text_is_declared():
    message = refusal(InputError, backend.run_model, model("(string[1] x) => (y) { y = Identity(x) }"), [A[0, :1]])
    assert message.startswith("input 'x' has elements of type float32, not text; ")


def test_what_only_a_run_shows_is_refused_in_the_same_words():
    prepared = backend.prepare(model("(float[n] a, float[m] b) => (y) { [widest] y = Max(a, b) }", 6))
    assert refusal(SpecError, prepared.run, [A[0, :1], A[0, :2]]) == (
        "Max-6 takes inputs of one shape, not [1] and [2]; at    graph.node[0] 'widest', opset 6; "
        "given a: float32[1], b: float32[2]; help  use opset 8 or later, which broadcasts"
    )


def test_run_node_says_no_less():
    node = onnx.helper.make_node("Max", ["a", "b"], ["y"], "pair")
    assert refusal(ElementTypeError, backend.run_node, node, [A, A.astype(int)]).startswith(
        "Max-13 takes inputs of one element type, not of float32 and int64; at    graph.node[0] 'pair', opset "
    )
    assert refusal(ElementTypeError, backend.run_node, node, [A, [1, 2]]).startswith("Max-13 takes tensors; ")


def test_another_operator_that_fails():
    prepared = backend.prepare(
        model("(float[n, 3] x, float[n, 3] w) => (y) { [product] s = MatMul(x, w) y = ArgMax(s) }")
    )
    message = refusal(ExecutionError, prepared.run, [A, A])
    assert message.startswith("MatMul failed; at    graph.node[0] 'product'; given ValueError: ")


HUGE = 1 << 30


@pytest.mark.parametrize(
    "body",
    [
        f"(float[{HUGE}, 1] a, float[1, {HUGE}] b) => (y) {{ y = Max(a, b) }}",
        f"(float[3] x) => (y) <int64[2] s = {{{HUGE}, {HUGE}}}> {{ y = ConstantOfShape(s) z = ArgMax(y) }}",
    ],
)
def test_an_output_of_known_size_that_does_not_fit_is_refused_by_prepare(body):
    message = refusal(MemoryLimitError, backend.prepare, model(body))
    assert message.startswith(
        f"'y' would not fit into memory; at    graph.node[0], opset 13; given float32[{HUGE}, {HUGE}]: "
    )


@pytest.mark.parametrize("engine", backend.ENGINES)
@pytest.mark.parametrize(
    "body",
    [
        f"(float[n] x) => (v, i) <int64[1] k = {{{2**33 + 5}}}> {{ v, i = TopK(x, k) }}",
        f"(float[n] x) => (y, i) <int64[1] k = {{{2**62}}}> {{ v, i = TopK(x, k) w = Neg(v) y = Max(w, w) }}",
        "(float[n] x, int64[1] k) => (v, i) { v, i = TopK(x, k) }",
    ],
    ids=["an initializer", "with nodes after it", "an input"],
)
def test_a_k_that_no_memory_holds_is_above_the_size_of_the_axis(body, engine):
    if engine == "onnxruntime":
        pytest.importorskip("onnxruntime")
    prepared = backend.prepare(model(body), engine=engine)
    inputs = [np.ones(3, np.float32), np.array([2**33 + 5])][: 1 + ("int64[1] k)" in body)]
    error = SpecError
    words = " elements along axis 0 of its input, which has 3"
    if engine == "onnxruntime":
        error = ExecutionError
        words = ", but axis 0 of the input has 3 elements"
    assert words in str(error_of(error, prepared.run, inputs))


def test_an_output_that_does_not_fit_is_refused_before_it_is_allocated():
    prepared = backend.prepare(model("(float[n, 1] a, float[1, m] b) => (y) { y = Max(a, b) }"))
    # One element, seen a billion times.
    wide = np.broadcast_to(np.float32(1), (1, HUGE))
    assert refusal(MemoryLimitError, prepared.run, [wide.T, wide]).startswith(
        "the output of Max-13 would not fit into memory; at    graph.node[0], opset 13; given float32["
    )


def test_the_limit_is_the_memory_available(monkeypatch):
    prepared = backend.prepare(model(ARGMAX))
    rows = np.broadcast_to(X[:1], (1 << 18, 3))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"available": 2_097_151}))
    # The second run has inputs of the same types, and checks the memory again.
    for _ in range(2):
        assert prepared.run([rows[:-1]]).y.shape == (262143, 1)
        message = refusal(MemoryLimitError, prepared.run, [rows])
        assert message.endswith("int64[262144, 1]: 2,097,152 bytes, of which 2,097,151 are available")


def test_another_operator_that_runs_out_of_memory():
    body = "(int64[2] s) => (y) { z = ConstantOfShape(s) y = ArgMax(z) }"
    message = refusal(MemoryLimitError, backend.run_model, model(body), [np.array([1 << 40, 1 << 20])])
    assert message.startswith("ConstantOfShape ran out of memory; at    graph.node[0]; given ")
