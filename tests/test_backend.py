"""The backend's interface: what it can prepare and run, which engine runs it, and what each run returns."""

from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import onnx
import pytest

from extremum import backend
from extremum.backend.evaluator import Executor
from extremum.backend.session import Session
from extremum.errors import (
    ArgumentError,
    AxisError,
    DependencyError,
    ElementTypeError,
    ExecutionError,
    InputError,
    SpecError,
    UnknownOperatorError,
)
from extremum.graph.walk import all_graphs
from models import model
from refusal import error_of

X = np.array([[1, 5, 5], [7, 7, 2]], np.float32)
A = np.array([1, 4], np.float32)
B = np.array([3, 2], np.float32)
ARGMAX = "(float[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=-1> (x) }"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(ARGMAX, id="our operator alone"),
        pytest.param(
            "(float[n, 3] x) => (int64[n, 1] y) { z = Neg (x) v = Neg (z) y = ArgMax <axis=-1> (v) }",
            id="beside other operators",
        ),
        pytest.param(
            """(float[n, 3] x) => (int64[n, 1] y) {
            b = Constant <value = bool {1}> ()
            y = If (b) <then_branch = t () => (r) { r = ArgMax <axis=-1> (x) },
                        else_branch = e () => (r) { r = ArgMin <axis=-1> (x) }>
        }""",
            id="in branches",
        ),
    ],
)
@pytest.mark.parametrize("name", ["g", ""])
def test_a_model_in_every_form_stays_as_it_is(body, name, tmp_path):
    proto = model(body)
    for each in all_graphs(proto.graph):
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
    ids=[
        "a list",
        "a tuple",
        "by name in another order",
        "a default",
        "a default beside a name",
        "a value in place of the default",
        "two outputs",
        "a nested list",
        "bfloat16",
        "no rows",
        "beside an operator of others",
        "a scalar from the reference evaluator",
    ],
)
def test_inputs_and_outputs_by_position_and_by_name(body, inputs, expected):
    outputs = backend.prepare(model(body)).run(inputs)
    for position, (name, answer) in enumerate(expected.items()):
        value = outputs[name]
        assert value.tolist() == outputs[position].tolist() == getattr(outputs, name).tolist()
        assert value.tolist() == np.asarray(answer).tolist()
        assert not isinstance(answer, np.ndarray) or (value.dtype, value.shape) == (answer.dtype, answer.shape)


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


# Runs of a prepared model one after the other.


REDUCE_MAX = "(float[n, k] x, int64[r] axes) => (y) { y = ReduceMax <keepdims=0> (x, axes) }"


def test_other_shapes_and_types_are_checked_again():
    prepared = backend.prepare(model("(x) => (y) { y = ArgMax <axis=1> (x) }"))
    wide = np.array([[0, 1, 2, 9]], np.int8)
    for _ in range(2):
        for x in (X, X[:1], wide, X.astype(ml_dtypes.bfloat16), X.astype(">f4"), X.T, X[None], np.asfortranarray(X)):
            assert prepared.run([x]).y.tolist() == np.argmax(x.astype(float), 1)[:, None].tolist()
        assert "has axis=1, but its input has rank 1" in str(error_of(AxisError, prepared.run, [X[0]]))
        assert "ArgMax-13 does not take bool" in str(error_of(ElementTypeError, prepared.run, [X > 0]))


def test_axes_that_come_with_a_run_are_read_each_time():
    prepared = backend.prepare(model(REDUCE_MAX, opset=18))
    for _ in range(2):
        assert prepared.run([X, np.array([0])]).y.tolist() == [7, 7, 5]
        assert prepared.run([X, np.array([1])]).y.tolist() == [5, 7]
        assert prepared.run([X, np.array([0, 1])]).y.tolist() == 7
        with pytest.raises(AxisError, match="has 2 among its axes, but its input has rank 2"):
            prepared.run([X, np.array([2])])


def test_attributes_that_come_with_the_call_of_a_function_are_read_each_time():
    body = "(float[n, k] x) => (a, b) { a = own.best <axis=0> (x) b = own.best <axis=1> (x) }"
    functions = '<domain: "own", opset_import: ["" : 13]> best <axis> (x) => (y) { y = ArgMax <axis: int = @axis> (x) }'
    prepared = backend.prepare(model(body, functions=functions))
    for _ in range(2):
        assert [y.tolist() for y in prepared.run([X])] == [[[1, 1, 0]], [[1], [0]]]


def test_a_size_that_contradicts_another_is_refused_after_a_run_too():
    prepared = backend.prepare(model("(float[n] a, float[n] b) => (y) { y = Max(a, b) }"))
    a = np.ones(3, np.float32)
    for _ in range(2):
        assert prepared.run([a, a]).y.tolist() == [1, 1, 1]
        assert "dimension 'n' is 3 in 'a' but 2 in 'b'" in str(error_of(InputError, prepared.run, [a, a[:2]]))


def test_what_is_no_array_is_checked_each_time():
    prepared = backend.prepare(model("(float[n] x) => (y) { y = ArgMax(x) }"))
    for _ in range(2):
        assert prepared.run([np.float32([1, 3])]).y.tolist() == [1]
        error_of(ElementTypeError, prepared.run, [["a", "b"]])


def test_threads_that_run_one_model_with_inputs_of_several_shapes():
    prepared = backend.prepare(model("(float[n, k] x) => (y) { y = ArgMax <axis=1, keepdims=0> (x) }"))
    arrays = [np.eye(size, 9 - size, dtype=np.float32) for size in range(1, 9)] * 50
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda x: prepared.run([x]).y.tolist(), arrays))
    assert results == [np.argmax(x, 1).tolist() for x in arrays]


# With and without onnxruntime: which engine runs a model, and the same answers and refusals from both.


MIXED = "(float[n, 3] x) => (int64[1, 3] y) { z = Neg(x) y = ArgMax(z) }"
OPEN = "(float[n, m] x) => (int64[1, m] y) { z = Neg(x) y = ArgMax(z) }"
GELU = "(float[n, 3] x) => (int64[1, 3] y) { z = com.microsoft.Gelu(x) y = ArgMax(z) }"
ZIPMAP = "(float[n, 3] x) => (y, i) { y = ai.onnx.ml.ZipMap <classlabels_int64s = [7, 8, 9]> (x) i = ArgMax(x) }"
# onnxruntime has no Neg on bfloat16; onnx's reference implementation does.
NEG = "(bfloat16[3] x) => (bfloat16[3] y) { z = Neg(x) y = Max(z) }"


def importing(body):
    """A model that imports the domains of onnxruntime."""
    proto = model(body)
    proto.opset_import.add(domain="com.microsoft", version=1)
    proto.opset_import.add(domain="ai.onnx.ml", version=1)
    return proto


def engine(prepared):
    return type(prepared._executor)


def test_other_operators_run_in_onnxruntime():
    prepared = backend.prepare(model(MIXED))
    assert engine(prepared) is Session
    assert prepared.run([X]).y.tolist() == prepared.run([X.astype(">f4")]).y.tolist() == [[0, 0, 1]]
    assert repr(prepared.run([X]).y) == "array([[0, 0, 1]])"
    assert backend.prepare(importing(GELU)).run([X]).y.tolist() == [[1, 1, 0]]


def test_our_operators_alone_need_no_onnxruntime():
    proto = model(
        "(float[n, 3] x) => (y) { y = own.Arg(x) }",
        functions='<domain: "own", opset_import: ["" : 13]> Arg (x) => (y) { y = ArgMax(x) }',
    )
    assert engine(backend.prepare(proto)) is Executor


def test_what_onnxruntime_refuses_the_reference_runs():
    assert engine(backend.prepare(model(NEG))) is Executor


def test_without_onnxruntime_the_reference_runs_everything_that_it_has(without_onnxruntime):
    prepared = backend.prepare(model(MIXED))
    assert engine(prepared) is Executor
    assert prepared.run([X]).y.tolist() == [[0, 0, 1]]
    for body, name in ((GELU, "com.microsoft.Gelu"), (ZIPMAP, "ai.onnx.ml.ZipMap")):
        error = error_of(UnknownOperatorError, backend.prepare, importing(body))
        assert error.reason == f"there is no implementation of {name}"
        assert error.remedy == (
            "pip install 'extremum[onnxruntime]', which may have it, or give it as a model-local function"
        )
    error_of(DependencyError, backend.prepare, importing(ZIPMAP), engine="onnxruntime")


def test_zipmap_runs_in_onnxruntime_alone():
    outputs = backend.prepare(importing(ZIPMAP)).run([X])
    assert outputs.y == [{7: 1.0, 8: 5.0, 9: 5.0}, {7: 7.0, 8: 7.0, 9: 2.0}]
    assert outputs.i.tolist() == [[1, 1, 0]]
    error = error_of(UnknownOperatorError, backend.prepare, importing(ZIPMAP), engine="reference")
    assert (error.given, error.remedy) == (None, "give it as a model-local function")


@pytest.mark.parametrize(("name", "kind"), [("onnxruntime", Session), ("reference", Executor)])
@pytest.mark.parametrize("body", [MIXED, "(float[n, 3] x) => (int64[1, 3] y) { y = ArgMin(x) }"])
def test_the_engine_that_is_named_runs_the_model(body, name, kind):
    prepared = backend.prepare(model(body), engine=name)
    assert (engine(prepared), prepared.engine) == (kind, name)
    assert prepared.run([X]).y.tolist() == backend.run_model(model(body), [X], engine=name).y.tolist() == [[0, 0, 1]]


def test_an_engine_that_there_is_not():
    error = error_of(ArgumentError, backend.prepare, model(MIXED), engine="tensorrt")
    assert str(error) == "there is no engine 'tensorrt' here\n  help  use 'onnxruntime' or 'reference'"


def test_no_other_engine_takes_over_where_onnxruntime_is_named():
    error = error_of(ExecutionError, backend.prepare, model(NEG), engine="onnxruntime")
    assert error.reason == "onnxruntime does not take the model"
    assert "NOT_IMPLEMENTED" in error.given


EMPTY = np.zeros((0, 3), np.float32)


def test_where_onnxruntime_fails_the_reference_says_why():
    assert str(error_of(SpecError, backend.prepare(model(OPEN)).run, [EMPTY])) == (
        "ArgMax-13 has nothing to choose from: axis 0 of its input has no element\n"
        "  at    graph.node[1], opset 13\n"
        "  given z: float32[0, 3]"
    )


@pytest.mark.parametrize(("body", "name"), [(OPEN, "onnxruntime"), (GELU, None)])
def test_where_no_other_engine_can_run_a_model_onnxruntimes_failure_is_the_error(body, name):
    error = error_of(ExecutionError, backend.prepare(importing(body), engine=name).run, [EMPTY])
    assert error.reason == "onnxruntime could not run the model"
    assert "there is nothing to choose from: axis 0 of the input has no element" in error.given
