"""Axes of ReduceMax and K of TopK as inputs of a node: known before the model runs or not; refusals."""

import re

import numpy as np
import onnx
import pytest

import onnx_cases
from agreement import assert_same_bits
from extremum import backend, spec
from extremum.check import check
from extremum.errors import AxisError, SpecError
from extremum.graph.sites import sites
from extremum.onnxruntime import convert
from models import model
from refusal import error_of, explained
from sessions import run_model, run_node
from stock import ORT

X = np.array([[3, 9, 1, 9], [5, 0, 7, 6]], np.float32)
BEST = np.array([[9, 9], [7, 6]], np.float32), np.array([[1, 3], [2, 3]])


def answers(source, inputs):
    """The outputs, which a session must give too."""
    outputs = backend.run_model(source, inputs)
    for one, other in zip(run_model(source, inputs), outputs, strict=True):
        assert_same_bits(one, other)
    return outputs


TWO = "k = Constant <value_ints = [2]> ()"
NODE = "v, i = TopK (x, k)"
REDUCE = "y = ReduceMax (x, axes)"


@pytest.mark.parametrize(
    ("opset", "body", "shape"),
    [
        (18, f"(float[a, b] x) => (y) <int64[1] axes = {{1}}> {{ {REDUCE} }}", "[a, 1]"),
        (18, f"(float[a, b] x) => (y) {{ axes = Constant <value_ints = [0]> () {REDUCE} }}", "[1, b]"),
        (18, f"(float[a, b] x) => (y) {{ axes = Constant <value = int64[1] {{0}}> () {REDUCE} }}", "[1, b]"),
        (18, f"(float[a, b] x, int64[1] axes) => (y) {{ {REDUCE} }}", "[?, ?]"),
        (18, f"(float[a, b] x, int64[0] axes) => (y) {{ {REDUCE} }}", "[1, 1]"),
        (18, '(float[a, b] x) => (y) { y = ReduceMax (x, "") }', "[1, 1]"),
        (18, "(float[a, b] x, int64[1] i) => (y) { o = Identity (i) y = ReduceMax <keepdims = 0> (x, o) }", "[...]"),
        (12, f"(float[a, 4] x) => (v, i) <int64[1] k = {{2}}> {{ {NODE} }}", "[a, 2]"),
        (12, f"(float[a, 4] x) => (v, i) {{ {TWO} {NODE} }}", "[a, 2]"),
        (12, f"(float[a, 4] x) => (v, i) {{ k = Constant <value = int64[1] {{2}}> () {NODE} }}", "[a, 2]"),
        (12, f"(float[a, b] x, int64[1] k) => (v, i) {{ {NODE} }}", "[a, ?]"),
        (12, f"(float[a, b] x, int64[n] m) => (v, i) {{ k = Identity (m) {NODE} }}", "[a, ?]"),
        (12, "(float[a, 4] x) => (float[a, b] v, int64[a, b] i) { v, i = own.of_attribute <most = 2> (x) }", "[...]"),
    ],
)
def test_what_is_known_before_the_model_runs(opset, body, shape):
    function = (
        '<domain: "own", opset_import: ["" : 1]> of_attribute <most> (x) => (v, i) { v, i = TopK <k: int = @most> (x) }'
    )
    source = model(body, opset, functions=function if "own" in body else "")
    (site,) = (each for each in sites(source) if each.schema is not None)
    types = ["float32", "int64"][: len(site.outputs())]
    assert list(map(str, site.outputs())) == [f"{each}{shape}" for each in types]
    assert not check(source, select=["EX002", "EX005", "EX014", "EX015"]).findings
    if opset == 12:
        for one, other in zip(answers(source, [X, np.array([2])][: len(source.graph.input)]), BEST, strict=True):
            assert_same_bits(one, other)


@pytest.mark.parametrize(
    ("body", "name", "results"),
    [
        (f"(float[a, b] x, int64[1] axes) => (y) {{ {REDUCE} }}", "axes", {0: [[5, 9, 7, 9]], 1: [[9], [7]]}),
        (f"(float[a, b] x, int64[1] k) => (i) {{ {NODE} }}", "k", {1: [[1], [2]], 0: [[], []], 2: BEST[1].tolist()}),
    ],
)
def test_a_call_may_replace_an_initializer_and_a_node_reads_a_new_one_each_time(body, name, results):
    source = model(body, opset=18)
    source.graph.initializer.append(onnx.numpy_helper.from_array(np.array([next(iter(results))]), name))
    (site,) = sites(source)
    assert str(site.outputs()[0]) == ("float32[?, ?]" if name == "axes" else "float32[a, ?]")
    prepared = backend.prepare(source)
    assert prepared.run({"x": X})[0].tolist() == next(iter(results.values()))
    for value in [*results, *results]:
        assert prepared.run({"x": X, name: np.array([value])})[0].tolist() == results[value]


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
    x = X.reshape(2, 2, 2)
    expected = x.max(0, keepdims=True), x.min((1, 2), keepdims=True), x.min(2, keepdims=True)
    for actual, answer in zip(answers(source, [x]), expected, strict=True):
        assert_same_bits(actual, answer)
    known = {str(site.schema): str(*site.outputs()) for site in sites(source) if site.schema is not None}
    assert known == {"ReduceMax-18": "float32[1, 2, 2]", "ReduceMin-18": "float32[?, ?, ?]"}


@pytest.mark.parametrize(
    ("given", "largest", "smallest", "names", "expected"),
    [
        ("axes = Constant <value_ints = [1]> ()", "ReduceMax (x, axes)", "ReduceMin (x, axes)", "y", [[9], [7]]),
        (TWO, "TopK (x, k)", "TopK <largest = 0> (x, k)", "v, i", [[9, 9], [7, 6]]),
    ],
)
def test_a_branch_reads_what_the_graph_around_it_gives(given, largest, smallest, names, expected):
    inner = names.replace("v", "p").replace("i", "q").replace("y", "p")
    body = f"""(float[2, 4] x, bool c) => ({names}) {{ {given}
        {names} = If (c) <then_branch = a () => ({inner}) {{ {inner} = {largest} }},
                          else_branch = b () => ({inner}) {{ {inner} = {smallest} }}> }}"""
    source = model(body, opset=18)
    assert answers(source, [X, np.array(True)])[0].tolist() == expected
    assert answers(source, [X, np.array(False)])[0].tolist() == np.sort(X)[:, : len(expected[0])].tolist()
    shapes = [str(site.outputs()[0]) for site in sites(source) if site.schema is not None]
    assert shapes == [f"float32[2, {len(expected[0])}]"] * 2


def test_one_output_of_two_is_enough():
    for of in ("v, q", "w, i"):
        (one,) = answers(model(f"(float[2, 4] x) => ({of.strip('wq, ')}) {{ {TWO} {of} = TopK (x, k) }}"), [X])
        assert one.tolist() == BEST["i" in of].tolist()


KNOWN = "(float[2, 4] x) => (v, i) <int64[{}] k = {{{}}}> {{ v, i = TopK (x, k) }}"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (model(KNOWN.format(1, 5)), "takes 5 elements along axis 1 of its input, which has 4; help: use a k in [0, 4]"),
        (model(KNOWN.format(1, -1)), "takes 0 or more elements, not k=-1"),
        (model(KNOWN.format(2, "1, 2")), "takes K as a list of 1 element, not of 2"),
        (model(KNOWN.format(0, "")), "takes K as a list of 1 element, not of 0"),
        (
            model(f"(float[2, 4] x, int64 k) => (v, i) {{ {NODE} }}"),
            "takes K as a list, not as a tensor of rank 0; help: Reshape it to [1]",
        ),
        (model(f"(float[2, 4] x, int32[1] k) => (v, i) {{ {NODE} }}"), "takes K of int64, not int32"),
        (model("(float[2, 4] x) => (v, i) { v, i = TopK (x) }"), "needs the input 'K'"),
        (model('(float[2, 4] x) => (v, i) { v, i = TopK (x, "") }'), "needs the input 'K'"),
        (model("(float[2, 4] x, int64[1] k) => (v) { v = TopK (x, k) }"), "has 2 outputs, not 1"),
        (
            model("(float[2, 4] x, int64[1] k) => (v, i) { v, i = TopK <k = 2> (x, k) }"),
            "has no attribute 'k' any more: it is an input; help: give K as a list of int64 after the data",
        ),
        (
            model("(float[2, 4] x) => (v, i) { v, i = TopK <k = 2, largest = 1> (x) }", 9),
            "has no attribute 'largest' (it came with TopK-11); help: use opset 11 or later, or drop the attribute if "
            "its value is 1",
        ),
        (model("(float[2, 4] x) => (v, i) { v, i = TopK (x) }", 9), "needs the attribute 'k'"),
    ],
    ids=[
        "k beyond the axis",
        "k below 0",
        "two numbers for k",
        "no number for k",
        "k of rank 0",
        "k of int32",
        "no k",
        "k left out",
        "one output",
        "k as an attribute too",
        "an attribute of a later version",
        "no k in the first version",
    ],
)
def test_what_is_refused_before_the_model_runs(source, message):
    row = "TopK-1" if source.opset_import[0].version < 10 else "TopK-11"
    for by in (backend.prepare, convert):
        if "outputs" not in message or by is backend.prepare:
            assert explained(by, source).partition(": ")[2] == f"{row} {message}"


ONE_K = "TopK-11 takes K as a list of 1 element, not of"
NO_K = "TopK: k is not one number from 0 on"
MANY = "TopK-11 takes {} elements along axis 1 of its input, which has 4"
GIVEN = "Reduce: axis .*; given: float32[2, 4], axes: {};"


@pytest.mark.parametrize(
    ("name", "value", "error", "reason", "in_session"),
    [
        ("axes", [2], AxisError, "ReduceMax-18 has 2 among its axes, but its input has rank 2", GIVEN.format([2])),
        ("axes", [0, -2], AxisError, "ReduceMax-18 takes each axis once", GIVEN.format([0, -2])),
        ("k", [5], SpecError, MANY.format(5), "TopK: k is 5, but axis 1 of the input has 4"),
        ("k", [2**62], SpecError, MANY.format(2**62), f"TopK: k is {2**62}, but"),
        ("k", [-1], SpecError, "TopK-11 takes 0 or more elements, not k=-1", NO_K),
        ("k", [1, 2], SpecError, f"{ONE_K} 2", NO_K),
        ("k", [], SpecError, f"{ONE_K} 0", NO_K),
    ],
)
def test_what_turns_out_wrong(name, value, error, reason, in_session):
    outputs, node = ("v, i", NODE) if name == "k" else ("y", REDUCE)
    source = model(f"(float[a, b] x, int64[n] {name}) => ({outputs}) {{ {node} }}", opset=18)
    inputs = [X, np.array(value, np.int64)]
    caught = error_of(error, backend.run_model, source, inputs)
    assert (caught.reason, caught.where) == (reason, "graph.node[0], opset 18")
    assert caught.given == f"x: float32[2, 4], {name}: int64[{len(value)}] = {value}"
    with pytest.raises(Exception, match=".*".join(map(re.escape, in_session.split(".*")))):
        run_model(source, inputs)


@pytest.mark.parametrize("name", ["ReduceMax", "ReduceMin"])
def test_version_12_has_nothing_to_choose_from(name):
    row = spec.find(spec.ONNX, name, 12)
    nothing = np.empty((2, 0), np.float32)
    assert "has nothing to choose from" in str(error_of(SpecError, onnx_cases.run, row, {}, [nothing]))
    with pytest.raises(Exception, match="Reduce: there is nothing to choose from: axis 1 of the input has no element"):
        run_node(row, {}, [nothing], [np.empty((1, 1), np.float32)])


def test_check_asks_a_runtime_and_a_feature_level_with_as_many_elements_as_are_selected():
    source = model(f"(uint16[a, b] x) => (v, i) <int64[1] k = {{200}}> {{ {NODE} }}")
    (finding,) = check(source, runtime="onnxruntime", select=["EX106", "EX107"]).findings
    assert finding.reason == f"{ORT} does not run TopK-11 on uint16 at opset 13"
    source = model(f"(double[a, b] x) => (v, i) <int64[1] k = {{200}}> {{ {NODE} }}")
    (finding,) = check(source, feature_level="5_0", select=["EX102"]).findings
    assert finding.reason == "DML_TOP_K1-5_0 does not take FLOAT64 as input_tensor"
    (finding,) = check(model(f"(bfloat16[3] x) => (v, i) {{ {TWO} {NODE} }}", opset=24), select=["EX101"]).findings
    assert finding.remedy == "extremum fix rewrites it"
    # onnx's reference evaluator sorts bfloat16 NaN to any place.
    source = model(f"(bfloat16[a, b] x) => (v, i) {{ {TWO} {NODE} }}", opset=24)
    (finding,) = check(source, runtime="onnx.reference", select=["EX106", "EX107", "EX110"]).findings
    assert finding.reason.endswith(" answers TopK-24 on bfloat16 differently: NaN")
    assert "; expected bfloat16[1, 2] " in finding.given
    # No axis has that many elements, so no runtime is asked.
    source = model(f"(float[a, b] x) => (v, i) <int64[1] k = {{{2**62}}}> {{ {NODE} }}")
    assert check(source, runtime="onnx.reference", select=["EX106", "EX107"]).findings == ()
