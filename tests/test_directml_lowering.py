"""Models in DirectML's operators and their formats: dispatch gives the backend's answers, and refusals say why."""

import json
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import psutil
import pytest

import commands
from extremum import backend
from extremum import directml as dml
from extremum.check import check
from extremum.cli.lower import FORMATS, record
from extremum.directml import AxisDirection, FeatureLevel
from extremum.errors import ArgumentError, ElementTypeError, MemoryLimitError
from models import model
from refusal import error_of
from strategies import sample


def run(lowered, feeds):
    """Dispatch every operator; return the written buffers by the names of their tensors."""
    buffers = {name: np.ravel(x) for name, x in {**lowered.constants, **feeds}.items()}
    written = {}
    for node in lowered.nodes:
        for step in node.steps:
            output = step.desc.output
            if step.output not in written:
                written[step.output] = np.empty(output.extent, output.data_type.name.lower())
            operator = dml.create_operator(step.desc, feature_level=lowered.feature_level)
            operator.dispatch([{**buffers, **written}[name] for name in step.inputs], [written[step.output]])
    return written


def assert_as_backend(source, inputs, level=FeatureLevel.FL_5_1):
    lowered = dml.lower(source, level)
    assert not lowered.refusals
    names = [each.name for each in source.graph.output]
    written = run(lowered, dict(zip((each.name for each in source.graph.input), inputs, strict=True)))
    for name, expected in zip(names, backend.run_model(source, inputs), strict=True):
        assert written[name].dtype == expected.dtype
        assert written[name].tobytes() == expected.tobytes(), name
    return lowered


def only_step(source, **options):
    (node,) = dml.lower(source, **options).nodes
    (step,) = node.steps
    return step


def test_max_is_a_chain_that_gathers_in_the_output_and_broadcasts_through_strides():
    source = model("(float[2, 3] a, float[3] b, float[2, 1] c) => (float[2, 3] y) { y = Max(a, b, c) }")
    (node,) = dml.lower(source).nodes
    assert [(step.inputs, step.output) for step in node.steps] == [(("a", "b"), "y"), (("y", "c"), "y")]
    assert [step.desc.a_tensor.strides for step in node.steps] == [None, None]
    assert [step.desc.b_tensor.strides for step in node.steps] == [(0, 1), (1, 0)]
    assert {tensor.sizes for step in node.steps for tensor in step.desc.inputs.values()} == {(2, 3)}


@pytest.mark.parametrize(
    ("body", "inputs"),
    [
        # One input, scalars, and a constant.
        ("(float[4] a) => (float[4] y) { y = Min(a) }", [[-0.0, np.nan, 1, np.inf]]),
        ("(float a, float b) => (float y) { y = Max(a, b) }", [2, 3]),
        ("(float[2] x) => (float[2] y) { c = Constant<value = float[2] {1.0, -1.0}>() y = Min(x, c) }", [[0, 0]]),
    ],
)
def test_edges_of_max_and_min(body, inputs):
    lowered = assert_as_backend(model(body), [np.array(x, np.float32) for x in inputs])
    (step,) = lowered.nodes[-1].steps
    assert step.desc.a_tensor.sizes == (np.size(inputs[0]),)


def test_before_3_0_tensors_have_4_dimensions():
    source = model("(float[2, 3] a, float[3] b) => (float[2, 3] y) { y = Max(a, b) }")
    step = only_step(source, feature_level=FeatureLevel.FL_2_0)
    assert (step.desc.a_tensor.sizes, step.desc.b_tensor.strides) == ((1, 1, 2, 3), (0, 0, 0, 1))
    assert step.feature_level == FeatureLevel.FL_1_0
    rng = np.random.default_rng(0)
    inputs = [sample(rng, np.dtype(np.float32), shape) for shape in ((2, 3), (3,))]
    assert_as_backend(source, inputs, FeatureLevel.FL_1_0)


def test_nodes_feed_each_other_and_other_operators_are_left_alone():
    source = model(
        """(float[2, 3, 4] x, float[4] b) => (int64[2, 4] y, float[2, 3, 4] z) <float[1] zero = {0.0}>
        { m = Max(x, b, zero) h = Hardmax(m) y = ArgMax<axis=1, keepdims=0>(h) z = Abs(x) }"""
    )
    lowered = dml.lower(source)
    assert [node.place for node in lowered.nodes] == ["graph.node[0]", "graph.node[1]", "graph.node[2]"]
    assert [node.version for node in lowered.nodes] == ["Max-13", "Hardmax-13", "ArgMax-13"]
    assert lowered.constants["zero"].tolist() == [0]
    rng = np.random.default_rng(1)
    inputs = [sample(rng, np.dtype(np.float32), shape) for shape in ((2, 3, 4), (4,))]
    written = run(lowered, {"x": inputs[0], "b": inputs[1]})
    assert written["y"].tobytes() == backend.run_model(source, inputs)[0].tobytes()


def test_functions_are_inlined_and_subgraphs_searched():
    source = model(
        """(float[2, 3] x, bool c) => (int64[2] y)
        { s = own.Best(x) y = If(c) <
            then_branch = t () => (int64[2] p) { p = ArgMax<axis=1, keepdims=0>(x) },
            else_branch = e () => (int64[2] q) { q = Identity(s) }> }""",
        functions='<domain: "own", opset_import: ["" : 13]> Best (a) => (b) { b = ArgMin<axis=1, keepdims=0>(a) }',
    )
    places = [node.place for node in dml.lower(source).nodes]
    assert [place.partition(" ")[0] for place in places] == [
        "functions[0].node[0]",
        "graph.node[1].then_branch.node[0]",
    ]


@pytest.mark.parametrize(
    ("declared", "sizes", "wrong", "names"),
    [
        ("float[n, k] x", {"n": 4, "k": 3}, "batch", "n, k"),
        # A dimension without a name is called after its input and axis, as in run.
        ("float[?, k] X", {"X.0": 4, "k": 3}, "unk__0", "X.0, k"),
    ],
)
def test_dimensions_are_given_sizes_by_name(declared, sizes, wrong, names):
    name = declared[-1]
    source = model(f"({declared}) => (int64[?, 1] y) {{ a = Abs({name}) y = ArgMax<axis=1>(a) }}")
    (refusal,) = dml.lower(source).refusals
    assert (refusal.given, refusal.remedy) == (f"a: float32[{names}]", f"give a size to {names}")
    assert only_step(source, sizes=sizes).desc.input_tensor.sizes == (4, 3)
    error = error_of(ArgumentError, dml.lower, source, sizes={wrong: 4})
    assert str(error) == f"the model has no dimension {wrong!r}\n  help  its symbolic dimensions are: {names}"


@pytest.mark.parametrize("size", [-1, 2**32, 2**63, 1.5, "8", None])
def test_a_size_that_is_none(size):
    error = error_of(
        ArgumentError, dml.lower, model("(float[n] x) => (int64[1] y) { y = ArgMax(x) }"), sizes={"n": size}
    )
    assert str(error) == "the size of dimension 'n' is not a number from 0 to 4294967295"


@pytest.mark.parametrize("operator", ["ArgMax", "ArgMin", "Max", "Min", "Hardmax"])
@pytest.mark.parametrize("shape", ["[n, 3]", "[?, 3]", ""])
def test_a_type_that_no_level_takes_is_refused_before_the_sizes(operator, shape):
    result = "int64" if operator.startswith("Arg") else "double"
    source = model(f"(double{shape} x) => ({result} y) {{ y = {operator}(x) }}")
    for value in (*source.graph.output, *(source.graph.input if not shape else ())):
        value.type.tensor_type.ClearField("shape")
    (refusal,) = dml.lower(source).refusals
    assert type(refusal) is ElementTypeError
    assert " does not take FLOAT64 as " in refusal.reason
    assert refusal.given.startswith("x: float64[")


def test_the_model_that_is_given_stays_as_it_is():
    source = model("(float[n, ?] x) => (int64[1, ?] y) { y = ArgMax(x) }")
    before = source.SerializeToString()
    dml.lower(source, sizes={"n": 4, "x.1": 3})
    assert source.SerializeToString() == before


TWO = "k = Constant <value_ints = [2]> ()"


def test_a_model_becomes_dml_top_k1():
    source = model(f"(float[n, 4] x) => (v, i) {{ {TWO} v, i = TopK <largest = 0> (x, k) }}")
    lowered = dml.lower(source, sizes={"n": 2})
    (step,) = lowered.nodes[0].steps
    assert (step.inputs, step.outputs, step.output, str(step.feature_level)) == (("x",), ("v", "i"), "v", "5_0")
    assert (step.desc.axis, step.desc.k, step.desc.axis_direction) == (1, 2, AxisDirection.INCREASING)
    written = written_as("dxdispatch", lowered)
    assert '"expected": {\n"v": [0.0, 10.0, 20.0, 47.0],\n"i": [0, 3, 2, 0]' in written
    assert "op0_OutputIndexTensor" in written_as("cpp", lowered)
    (refusal,) = dml.lower(
        model("(float[a, b] x, int64[n] k) => (v, i) { v, i = TopK (x, k) }"), sizes={"a": 2, "b": 4, "n": 1}
    ).refusals
    assert (refusal.reason, refusal.remedy) == (
        "the k of TopK-11 is not known before the model runs",
        "give it as an initializer or a Constant",
    )
    (refusal,) = dml.lower(source, "4_1", sizes={"n": 2}).refusals
    assert (type(refusal), refusal.remedy) == (ElementTypeError, "use feature level 5_0 or later")
    assert [each.remedy for each in check(source, feature_level="4_1", select=["EX102"]).findings] == [refusal.remedy]


def test_the_indices_of_one_operator_are_the_elements_of_another():
    body = f"(float[1, 4] x) => (int64[1, 1] y) {{ {TWO} v, i = TopK (x, k) y = ArgMax <axis = 1> (i) }}"
    written = written_as("dxdispatch", dml.lower(model(body)))
    assert written.count('"initialValuesDataType": "UINT64"') == 1


REFUSED = [
    (
        "(float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }",
        "SpecError: DML_ARGMAX needs feature level 3_0 or later\n  at    graph.node[0]\n  given feature level 2_1\n"
        "  help  use feature level 3_0 or later",
    ),
    (
        "(double[3] x) => (int64[1] y) { y = ArgMax(x) }",
        "ElementTypeError: DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor\n  at    graph.node[0]\n"
        "  given input_tensor: FLOAT64[3], output_tensor: INT64[1], axes=(0,), axis_direction=INCREASING\n"
        "  help  the element types of input_tensor in DML_ARGMAX-4_1 are: FLOAT32, FLOAT16, INT32, INT16, "
        "INT8, UINT32, UINT16, UINT8, INT64, UINT64",
    ),
    (
        "(bfloat16[3] x) => (bfloat16[3] y) { y = Hardmax(x) }",
        "ElementTypeError: DirectML has no tensors of bfloat16\n  at    graph.node[0]\n"
        "  help  put a Cast to float before it",
    ),
    (
        "(float[n, 3] x) => (float[n, 3] y) { y = Max(x) }",
        "SpecError: the sizes of 'x' are not known before the model runs, and a description states them\n"
        "  at    graph.node[0]\n  given x: float32[n, 3]\n  help  give a size to n",
    ),
    (
        "(float[] s, int64[2] k) => (float y) { x = Reshape(s, k) y = Max(x) }",
        "SpecError: the sizes of 'x' are not known before the model runs, and a description states them\n"
        "  at    graph.node[1]\n  given x: float32[...]\n  help  declare the sizes of the model's inputs",
    ),
    # The remedy does not ask for the size of a name that inference made up.
    (
        "(float[n, 3] x) => (float[a, b] y) { i = NonZero(x) f = Cast<to = 1>(i) y = Max(f, f) }",
        "SpecError: the sizes of 'f' are not known before the model runs, and a description states them\n"
        "  at    graph.node[2]\n  given f: float32[2, ?]\n  help  declare the sizes of the model's inputs",
    ),
    (
        "(int64[n] x) => (int64[n] y) { y = Max(x, x) }",
        "ElementTypeError: DML_ELEMENT_WISE_MAX-2_1 does not take INT64 as a_tensor "
        "(it came with DML_ELEMENT_WISE_MAX-5_0)\n"
        "  at    graph.node[0]\n  given x: int64[n]\n  help  use feature level 5_0 or later",
    ),
    (
        "(float[3] x) => (int64[1] y) { y = ArgMax<axis=1>(x) }",
        "AxisError: ArgMax-13 has axis=1, but its input has rank 1\n  at    graph.node[0]\n"
        "  given x: float32[3], axis=1\n  help  use a value in [-1, 0]",
    ),
]


@pytest.mark.parametrize(("body", "message"), REFUSED, ids=[body for body, _ in REFUSED])
def test_a_node_that_cannot_go_says_where_why_and_what_would_do(body, message):
    lowered = dml.lower(model(body), FeatureLevel.FL_2_1)
    (refusal,) = lowered.refusals
    assert f"{type(refusal).__name__}: {refusal}" == message
    assert not lowered.nodes


# The formats: tests compare text for readers exactly, and interpret text for programs.

CHAIN = """(float[2, 3, 4] x, float[4] b, int8[3] k, double[3] d)
    => (int64[2, 4] y, float[2, 3, 4] h, int8[3] l, int64[1] q)
    <float[1] low = {-1.5}> {
    m = Max(x, b, low)
    y = ArgMax<axis=1, keepdims=0, select_last_index=1>(m)
    h = Hardmax<axis=0>(m)
    l = Min(k)
    q = ArgMin(d) }"""
ARGMAX = "(float16[2, 3] x) => (int64[2, 1] y) { y = ArgMax<axis=1>(x) }"


def written_as(form, lowered):
    return "".join(FORMATS[form](lowered))


def read(form, lowered):
    """What a program reads that accepts only the numbers of JSON."""
    return json.loads(written_as(form, lowered), parse_constant=pytest.fail)


@pytest.fixture
def chain():
    return dml.lower(model(CHAIN))


def test_text():
    assert written_as("text", dml.lower(model(ARGMAX))) == (
        "graph.node[0]: ArgMax-13\n"
        "  DML_ARGMAX, feature level 3_0\n"
        "    InputTensor    x  FLOAT16[2, 3]\n"
        "    OutputTensor   y  INT64[2, 1]\n"
        "    AxisCount      1\n"
        "    Axes           {1}\n"
        "    AxisDirection  DML_AXIS_DIRECTION_INCREASING\n"
    )


def test_text_of_a_model_without_such_nodes():
    lowered = dml.lower(model("(float[3] x) => (float[3] y) { y = Abs(x) }"))
    assert written_as("text", lowered) == "no node of the model picks the largest or smallest\n"
    assert written_as("cpp", lowered) == ""
    assert read("dxdispatch", lowered) == {"resources": {}, "dispatchables": {}, "commands": [], "expected": {}}


def test_cpp():
    expected = Path(__file__).with_name("answers") / "argmax.cpp"
    assert written_as("cpp", dml.lower(model(ARGMAX))) == expected.read_text(encoding="utf-8")


def test_cpp_names_every_operator_and_points_to_its_strides(chain):
    written = written_as("cpp", chain)
    kinds = ["ELEMENT_WISE_MAX", "ELEMENT_WISE_MAX", "ARGMAX", "ACTIVATION_HARDMAX1", "ELEMENT_WISE_MIN"]
    for number, kind in enumerate(kinds):
        assert f"const DML_OPERATOR_DESC op{number}_operator = {{DML_OPERATOR_{kind}, &op{number}_desc}};" in written
        assert f"const DML_{kind}_OPERATOR_DESC op{number}_desc = {{" in written
    assert "const UINT op0_BTensor_Strides[] = {0u, 0u, 1u};" in written


def test_json(chain):
    written = read("json", chain)
    assert written["feature_level"] == "6_4"
    assert [node["version"] for node in written["nodes"]] == ["Max-13", "ArgMax-13", "Hardmax-13", "Min-13"]
    step = written["nodes"][1]["steps"][0]
    assert step["type"] == "DML_OPERATOR_ARGMAX"
    assert step["bindings"] == {"InputTensor": "m", "OutputTensor": "y"}
    assert step["desc"]["AxisDirection"] == "DML_AXIS_DIRECTION_DECREASING"
    assert step["desc"]["OutputTensor"] == {
        "DataType": "DML_TENSOR_DATA_TYPE_INT64",
        "Flags": "DML_TENSOR_FLAG_NONE",
        "DimensionCount": 3,
        "Sizes": [2, 1, 4],
        "TotalTensorSizeInBytes": 64,
        "GuaranteedBaseOffsetAlignment": 0,
    }
    (refusal,) = written["refusals"]
    assert refusal["reason"] == "DML_ARGMIN-4_1 does not take FLOAT64 as input_tensor"
    assert refusal["where"] == "graph.node[4]"


def test_dxdispatch():
    written = read("dxdispatch", dml.lower(model(ARGMAX)))
    assert written == {
        "resources": {
            "x": {"initialValuesDataType": "FLOAT16", "initialValues": [0.0, 37.0, 74.0, 10.0, 47.0, 84.0]},
            "y": {"initialValuesDataType": "INT64", "initialValues": {"valueCount": 2, "value": 0}},
        },
        "dispatchables": {
            "graph.node[0]": {"type": "DML_OPERATOR_ARGMAX", "desc": record(only_step(model(ARGMAX)).desc)}
        },
        "commands": [
            {
                "type": "dispatch",
                "dispatchable": "graph.node[0]",
                "bindings": {"InputTensor": "x", "OutputTensor": "y"},
            },
            {"type": "print", "resource": "y"},
        ],
        "expected": {"y": [2, 2]},
    }


def test_dxdispatch_expects_what_the_steps_give(chain):
    written = read("dxdispatch", chain)
    feeds = {
        name: np.array(each["initialValues"], each["initialValuesDataType"].lower())
        for name, each in written["resources"].items()
        if isinstance(each["initialValues"], list)
    }
    assert {name: y.tolist() for name, y in run(chain, feeds).items()} == written["expected"]
    assert set(written["expected"]) == {"m", "y", "h", "l"}
    assert written["resources"]["low"]["initialValues"] == [-1.5]
    commands = [each["dispatchable"] for each in written["commands"] if each["type"] == "dispatch"]
    assert commands[:2] == ["graph.node[0] step 0", "graph.node[0] step 1"]


def test_dxdispatch_writes_as_text_what_json_has_no_number_for():
    source = model("(float[3] x) => (float[3] y) { y = Max(x, c) }")
    constant = onnx.numpy_helper.from_array(np.array([np.nan, np.inf, -np.inf], np.float32), "c")
    source.graph.initializer.append(constant)
    written = read("dxdispatch", dml.lower(source))
    assert written["resources"]["c"]["initialValues"] == ["nan", "inf", "-inf"]
    assert written["expected"]["y"] == ["nan", "inf", 74.0]


@pytest.fixture
def path(tmp_path):
    onnx.save(
        model("(float[n, 3] x, double[3] d) => (int64[n, 1] y, int64[1] q) { y = ArgMax<axis=1>(x) q = ArgMax(d) }"),
        tmp_path / "m.onnx",
    )
    return str(tmp_path / "m.onnx")


@pytest.mark.parametrize("form", FORMATS)
def test_the_command_prints_the_format_or_writes_a_file_and_overwrites_none(path, tmp_path, form):
    words = ("lower", path, "--set", "n=2", "--feature-level", "3_0", "--format", form)
    status, printed, err = commands.run(*words)
    out = tmp_path / "lowered"
    assert printed == "".join(FORMATS[form](dml.lower(path, dml.FeatureLevel.FL_3_0, sizes={"n": 2})))
    assert status == 1
    assert err == (
        "DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor; at: graph.node[1]; given: input_tensor: FLOAT64[3], "
        "output_tensor: INT64[1], axes=(0,), axis_direction=INCREASING; help: the element types of input_tensor in "
        "DML_ARGMAX-4_1 are: FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, UINT16, UINT8, INT64, UINT64\n"
    )
    assert commands.run(*words, "-o", out)[:2] == (1, f"wrote {out}\n")
    status, _, err = commands.run(*words, "-o", out)
    assert (status, err.partition(" already")[0]) == (2, f"extremum: '{out}'")
    assert out.read_text(encoding="utf-8") == printed


def test_dxdispatch_takes_the_memory_of_the_tensors():
    size = 200_000
    lowered = dml.lower(model("(float[n] x) => (float[n] y) { y = Max(x, x) }"), sizes={"n": size})
    tracemalloc.start()
    written = sum(map(len, FORMATS["dxdispatch"](lowered)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # x and y take 4 bytes an element each. Their text takes more than 10, and would be held twice as one piece.
    assert written > 10 * size
    assert peak < 12 * size


def test_dxdispatch_writes_nothing_where_the_tensors_do_not_fit_into_memory(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**20))
    lowered = dml.lower(model("(float[n] x) => (float[n] y) { y = Max(x, x) }"), sizes={"n": 2**17 + 1})
    error = error_of(MemoryLimitError, next, FORMATS["dxdispatch"](lowered))
    assert error.reason == "what the operators read and write would not fit into memory"
    lowered = dml.lower(model("(float[n] x) => (float[n] y) { y = Max(x, x) }"), sizes={"n": 2**17})
    assert next(FORMATS["dxdispatch"](lowered)).startswith("{")
