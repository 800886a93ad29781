"""What a fix rewrites, what it leaves alone, what it refuses, and what it says about it."""

import numpy as np
import onnx
import pytest

from commands import printed
from extremum import backend, runtimes
from extremum.check import check
from extremum.check.question import samples
from extremum.errors import ArgumentError, ModelError
from extremum.fix import convert as converting
from extremum.fix import decide as deciding
from extremum.fix import fix
from extremum.fix.verify import same_bits
from extremum.graph.sites import sites
from hostile_runtimes import make_known
from models import model
from refusal import error_of, refusal
from sessions import loads_opset
from stock import ORT, ByLowerHalves, in_stock

NARROW = "(int16[3] x) => (int64[1] y) { y = ArgMax (x) }"


def test_rewrites_subgraphs_and_functions():
    functions = """<domain: "own", opset_import: ["" : 13]>
        Last <last: int = 1> (x) => (y) { a = Abs (x) y = ArgMax <axis=1, select_last_index: int = @last> (a) }"""
    body = """(bool c, int16[n, 5] x) => (int64[n, 1] y, int64[n, 1] z) {
        y = If (c) <
            then_branch = t () => (r) { r = ArgMax <axis=1> (x) },
            else_branch = e () => (r) { m = Max (x, x) r = ArgMin <axis=1> (m) }>
        z = own.Last <last=0> (x)
    }"""
    original = model(body, functions=functions)
    fixed = fix(original)
    assert [change.place for change in fixed.changes] == [
        "graph.node[0].then_branch.node[0]",
        "graph.node[0].else_branch.node[0]",
        "graph.node[0].else_branch.node[1]",
        "functions[0].node[1]",
    ]
    x = np.array([[3, -7, 7, 7, -7], [0, 0, 0, 0, 0]], np.int16)
    for condition in (False, True):
        feeds = {"c": np.array(condition), "x": x}
        assert all(map(same_bits, in_stock(fixed.model, feeds), backend.run_model(original, feeds)))


def test_everything_else_stays_byte_for_byte():
    original = model(
        "(int16[n, 5] x, float[n] w) => (int64[n, 1] y, float[n] v) { v = Neg (w) [top] y = ArgMax <axis=1> (x) }"
    )
    original.graph.initializer.append(onnx.numpy_helper.from_array(np.arange(5.0), "unused"))
    original.graph.doc_string = "about it"
    original.metadata_props.add(key="owner", value="somebody")
    before = original.SerializeToString(deterministic=True)
    fixed = fix(original)
    assert original.SerializeToString(deterministic=True) == before
    assert [node.op_type for node in fixed.model.graph.node] == ["Neg", "Cast", "ArgMax"]
    assert fixed.model.graph.node[2].name == "top"
    restored = onnx.ModelProto()
    restored.CopyFrom(fixed.model)
    del restored.graph.node[1:]
    restored.graph.node.append(original.graph.node[1])
    assert restored.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize(
    ("body", "operators"),
    [
        # Other nodes have the names that new nodes would get; the rank is not known; the output is not a tensor.
        ('(int16[5] x) => (y, "y/0") { "y/0" = Neg (x) "y//0" = Abs (x) y = ArgMax (x) }', "Neg Abs Cast ArgMax"),
        ("(int16[3, 4] x, int64[r] s) => (y) { a = Reshape (x, s) y = ArgMax (a) }", "Reshape Cast ArgMax"),
        ("(int16[3] x) => (s) { y = ArgMax (x) s = SequenceConstruct (y, y) }", "Cast ArgMax SequenceConstruct"),
    ],
)
def test_rewrites(body, operators):
    fixed = fix(model(body))
    assert " ".join(node.op_type for node in fixed.model.graph.node) == operators
    names = [name for node in fixed.model.graph.node for name in node.output]
    assert len(names) == len(set(names))
    assert (len(fixed.changes), bool(fixed.notes)) == (1, "Reshape" in operators)


FUNCTION = '<domain: "own", opset_import: ["" : 13]> F'
TWICE = "(int16[3] a, float[3] b) => (y, z) { y = own.F (a) z = own.F (b) }"
ONCE = "(bfloat16[3] a) => (y) { y = own.F <k=0> (a) }"


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ("(int16[3] x) => (y) { y = ArgMax <axis=4> (x) }", "ArgMax-13 has axis=4, but its input has rank 1; at: "),
        (
            f"{TWICE} {FUNCTION} (x) => (y) {{ y = ArgMax (x) }}",
            "ArgMax-13 is in a function that is called with several element types; at: functions[0].node[0], ",
        ),
        (
            f"{ONCE} {FUNCTION} <k> (x) => (y) {{ y = ArgMax <axis: int = @k> (x) }}",
            "ArgMax-13 gets its axis from the call of its function; at: functions[0].node[0], opset 13; ",
        ),
        (
            "(double[3, 4] x, int64[r] s) => (y) { a = Reshape (x, s) y = Hardmax (a) }",
            "the rank of the input of Hardmax-13 is not known; at: graph.node[1], opset 13; ",
        ),
        (
            "(uint32[m, n] x, int64[k] axes) => (y) { y = ReduceMax (x, axes) }",
            "the axes of ReduceMax-18 are not known before the model runs; ",
        ),
    ],
    ids=[
        "a node that is not valid",
        "a function of several types",
        "an attribute from the call",
        "an unknown rank",
        "unknown axes",
    ],
)
def test_what_cannot_be_rewritten(body, refusal):
    fixed = fix(model(body, 18 if "axes)" in body else 13))
    (error,) = fixed.refusals
    assert error.one_line().startswith(refusal)
    assert error.remedy in REMEDIES
    assert fixed.summary() == f"not modified: 1 node cannot be rewritten for {ORT}"


REMEDIES = (
    "use a value in [-1, 0]",
    "inline the function first",
    "state the shape in the model",
    "give them as an initializer or a Constant",
)


WHOLE = "compared node by node, not as a whole"


@pytest.mark.parametrize(
    ("body", "whole", "note"),
    [
        ("(int16[3] x) => (y) { y = ArgMax (x) }", True, ""),
        ("(bfloat16[3] x) => (int64[1] y) { y = ArgMax (x) }", True, ""),
        ("(int16[3] x) => (y) { y = ArgMax (x) }", False, f"{WHOLE}, as requested"),
        (
            "(int16[3] x) => (y, z) { y = ArgMax (x) z = own.Special (x) }",
            True,
            f"{WHOLE}: {ORT} does not load the fixed model; given: ",
        ),
        (
            "(int16[3] x, string[3] s) => (y, t) { y = ArgMax (x) t = Identity (s) }",
            True,
            f"{WHOLE}: input 's' cannot be drawn: the model does not state its type and rank",
        ),
    ],
    ids=[
        "all is compared",
        "bfloat16 is compared too",
        "node by node on request",
        "an operator that the target lacks",
        "an input that cannot be drawn",
    ],
)
def test_says_what_was_not_compared(body, whole, note, monkeypatch):
    if not whole:
        monkeypatch.setattr(deciding, "verify_model", None)
    fixed = fix(model(body), whole=whole)
    assert len(fixed.changes) == 1
    assert len(fixed.notes) == bool(note)
    assert "".join(fixed.notes).startswith(note)


class Differing:
    """onnxruntime for each node alone, and `load` for a whole model."""

    name = "onnxruntime"
    version = ORT.split()[1]

    def __init__(self, load):
        self.stock = runtimes.find("onnxruntime")
        self.whole = load

    def load(self, proto):
        return (self.stock.load if proto.graph.name == "question" else self.whole)(proto)


def fails(_):
    raise RuntimeError("not today")


ALONE = NARROW
WITH_ANOTHER = "(int16[3] x) => (y, z) { y = ArgMax (x) z = Neg (y) }"


@pytest.mark.parametrize(
    ("body", "load", "message"),
    [
        (ALONE, fails, f"{ORT} does not load the fixed model; given: not today"),
        (ALONE, lambda proto: fails, f"{ORT} does not run the fixed model; given: not today"),
        (ALONE, lambda proto: lambda feeds: [9], f"the fixed model gives other answers in {ORT}"),
        (WITH_ANOTHER, lambda proto: lambda feeds: [9, 9], None),
    ],
    ids=["load", "run", "answers", "answers of other operators"],
)
def test_a_target_that_takes_each_node_but_not_the_whole_model(body, load, message, monkeypatch):
    stock = Differing(load)
    monkeypatch.setattr(runtimes, "find", lambda name: stock)
    if message is None:
        note = f"the same answers here; others in {ORT}, whose other operators may round differently"
        assert fix(model(body)).notes == (note,)
    else:
        assert error_of(ModelError, fix, model(body)).one_line() == message


def test_a_fixed_model_that_answers_differently_here_is_refused(monkeypatch):
    other = model(NARROW.replace("Max", "Min"))
    monkeypatch.setattr(deciding, "splice", lambda source, replacements: other)
    stock = Differing(lambda proto: None)
    monkeypatch.setattr(runtimes, "find", lambda name: stock)
    assert refusal(ModelError, fix, model(NARROW)) == "the fixed model gives other answers"


def test_needs_a_target_that_is_there(without_onnxruntime):
    assert refusal(ArgumentError, fix, model(NARROW), "directml-9_9") == "there is no target 'directml-9_9'"
    assert refusal(ArgumentError, fix, model(NARROW)) == "onnxruntime is not installed"
    assert fix(model(NARROW), "directml-4_1").changes == ()


LATER = [
    (8, "int64[n, 5] a, int64[n, 5] b", "Min (a, b)", 12, ["Min"] if loads_opset(24) else ["Less", "Where"]),
    (8, "uint64[n, 5] a, uint64[n, 5] b", "Max (a, b)", 12, ["Max"]),
    (11, "float[n, 5] x", "ArgMax <axis=1, select_last_index=1> (x)", 12, ["ArgMax"]),
    (7, "float[4, 5] a, float[5] b", "Max (a, b)", 8, None),
    (12, "bfloat16[n, 5] x", "ArgMin <axis=1> (x)", 13, None),
    (11, "bfloat16[n, 5] x", "Hardmax (x)", 13, None),
    # The version of these nodes takes the element type, but a rewrite needs a later opset.
    (1, "float[n, 5] a, float[n, 5] b", "Max (a, b)", 8, None),
    (6, "double[n, 5] a, double[n, 5] b", "Min (a, b)", 8, None),
    (1, "int16[n, 5] x", "ArgMax <axis=1> (x)", 6, ["Cast", "ArgMax"]),
    (1, "uint64[n, 5] x", "ArgMin <axis=1> (x)", 9, None),
    (1, "double[n, 5] x", "Hardmax (x)", 9, None),
]


@pytest.fixture
def converter_here(monkeypatch):
    """Run onnx's converter in this process: starting a process for it takes longer than a fix."""
    monkeypatch.setattr(deciding, "convert", onnx.version_converter.convert_version)


@pytest.mark.parametrize(("opset", "inputs", "node", "later", "operators"), LATER)
def test_a_node_that_runs_at_a_later_opset(opset, inputs, node, later, operators, converter_here):
    original = model(f"({inputs}) => (y) {{ y = {node} }}", opset=opset)
    if later < 18:
        remedy = f"allow opset {later} with raise_opset, if the whole model may be raised"
        assert [each.remedy for each in fix(original).refusals] == [remedy]
        assert operators != ["Min"] or fix(original, raise_opset=later - 1).changes == ()
    fixed = fix(original, raise_opset=later)
    assert (fixed.refusals, len(fixed.changes), fixed.model.opset_import[0].version) == ((), 1, later)
    assert check(fixed.model, select=["EX004", "EX005", "EX006", "EX101"]).findings == ()
    assert operators in (None, [each.op_type for each in fixed.model.graph.node])


def test_a_hardmax_whose_meaning_a_later_opset_changes_is_not_raised(converter_here):
    body = "(uint64[9] i, float[2, 3, 4] x) => (y, z) { y = ArgMax (i) z = Hardmax (x) }"
    (refused,) = fix(model(body, opset=7), raise_opset=13).refusals
    assert refused.one_line() == (
        "Hardmax-1 and Hardmax-13 mean different things here; at: graph.node[1], opset 7; "
        "given: x: float32[2, 3, 4]; help: allow opset 12 with raise_opset, if it suffices"
    )
    assert [each.title for each in fix(model(body, opset=7), raise_opset=12).changes] == [
        "on int64 in the same order",
        "as rows of a matrix",
    ]
    assert len(fix(model(body.replace("[2, 3, 4]", "[2, 3]"), opset=7), raise_opset=12).changes) == 1


def test_refuses_to_raise_a_model_with_functions():
    functions = '<domain: "own", opset_import: ["" : 7]> F (x) => (y) { y = Neg (x) }'
    original = model("(uint64[3] x) => (y, z) { y = ArgMax (x) z = own.F (x) }", opset=7, functions=functions)
    assert refusal(ModelError, fix, original, raise_opset=9) == ("the opset of a model with functions cannot be raised")


def test_raises_a_model_that_onnx_does_not_survive():
    # LabelEncoder on a value of unknown type ends the process in onnx's inference, which onnx's converter runs.
    encoder = "s = own.Special(f) l = ai.onnx.ml.LabelEncoder<keys_floats = [1.0], values_int64s = [1]>(s)"
    original = model(f"(float[2] f, uint64[3] x) => (y, l) {{ y = ArgMax(x) {encoder} }}", opset=7)
    original.opset_import.add(domain="ai.onnx.ml", version=2)
    fixed = fix(original, raise_opset=9, whole=False)
    assert len(fixed.changes) == 1
    domains = [(node.op_type, node.domain) for node in fixed.model.graph.node][-2:]
    assert domains == [("Special", "own"), ("LabelEncoder", "ai.onnx.ml")]
    assert {each.domain: each.version for each in fixed.model.opset_import} == {"": 9, "own": 1, "ai.onnx.ml": 2}


@pytest.mark.parametrize(
    ("converter", "limit", "message"),
    [
        ("import os; os.abort()", 60.0, "onnx's converter ended with SIGABRT"),
        ("raise SystemExit(5)", 60.0, "onnx's converter ended with exit status 5"),
        ("import time; time.sleep(60)", 0.2, "onnx's converter did not end in 0.2 s"),
    ],
)
def test_a_converter_that_ends_without_an_answer(monkeypatch, converter, limit, message):
    monkeypatch.setattr(converting, "_CONVERTER", converter)
    monkeypatch.setattr(converting, "_LIMIT", limit)
    original = model("(uint64[3] x) => (y) { y = ArgMax(x) }", opset=7)
    error = error_of(ModelError, fix, original, raise_opset=9)
    assert error.one_line() == f"the model cannot be raised to opset 9; given: {message}"


REFERENCE = f"onnx.reference {onnx.__version__}"


# The reference evaluator puts a 1 into each row of a coerced Hardmax, skips NaN in some reductions, and returns either
# of two zeros.
@pytest.mark.parametrize(
    ("inputs", "node", "opset", "title"),
    [
        ("float[2, 3, 4] x", "Hardmax <axis=1> (x)", 11, "as the places of an index"),
        ("double[n, 3] x", "ReduceMin <axes=[1]> (x)", 13, "as the elements at an index"),
        ("float[n, 3] x, float[3] z", "Max (x, z)", 13, "as choices between two"),
        ("float16[n, 3] x, float16[3] z", "Min (x, z)", 13, "as choices between two"),
        ("double[n, 3] x, double[3] z, double[1] v", "Min (x, z, v)", 12, "as choices between two"),
    ],
)
def test_a_node_that_is_answered_differently_is_rewritten(inputs, node, opset, title, in_process):
    original = model(f"({inputs}) => (y) {{ y = {node} }}", opset)
    fixed = fix(original, "onnx.reference", strict=True)
    assert [change.title for change in fixed.changes] == [title]
    assert (fixed.summary(), fixed.differences) == (f"1 node rewritten for {REFERENCE}", ())
    run, before = (runtimes.find("onnx.reference").load(each) for each in (fixed.model, original))
    (site,) = sites(original)
    differ = 0
    prepared = backend.prepare(original)
    for feeds in samples(site):
        with np.errstate(all="ignore"):
            expected = prepared.run(dict(feeds))
            assert same_bits(run(feeds), expected)
            differ += not same_bits(before(feeds), expected)
    assert differ
    assert check(fixed.model, select=["EX001", "EX004"]).findings == ()


@pytest.mark.parametrize(
    ("inputs", "node", "operators"),
    [
        ("int64[n, 3] x, int64[3] z", "Max (x, z)", ["Greater", "Where"]),
        ("int64[n, 3] x, int64[3] z, int64[1] v", "Min (x, z, v)", ["Less", "Where"] * 2),
        ("int64[n, 3] x", "ReduceMax <axes=[1]> (x)", ["ArgMax", "GatherElements"]),
    ],
)
def test_int64_that_onnxruntime_compares_by_halves(inputs, node, operators, monkeypatch):
    monkeypatch.setattr(runtimes, "find", lambda name: ByLowerHalves())
    fixed = fix(model(f"({inputs}) => (y) {{ y = {node} }}"))
    assert (fixed.refusals, fixed.differences) == ((), ())
    assert [node.op_type for node in fixed.model.graph.node] == operators


LEFT = "(float[2, 3] x, int64[r] s, float[2, 3] h) => (y, z) { a = Reshape (x, s) y = ReduceMax (a) z = Hardmax (h) }"


def test_a_node_without_an_exact_rewrite_stays_and_the_rest_is_rewritten(in_process):
    body = LEFT.replace("Hardmax (h)", "Max (h, x)")
    fixed = fix(model(body), "onnx.reference", strict=True)
    assert [change.title for change in fixed.changes] == ["as choices between two"]
    (left,) = fixed.differences
    assert left.reason == f"{REFERENCE} answers ReduceMax-13 on float32 differently: sign of zero"
    assert left.where == "graph.node[1], opset 13"
    assert left.remedy == (
        "it stays as it is: the rank of the input of ReduceMax-13 is not known; state the shape in the model"
    )
    assert fixed.summary() == f"1 node rewritten for {REFERENCE}, which answers 1 node differently"
    assert [node.op_type for node in fixed.model.graph.node][:2] == ["Reshape", "ReduceMax"]


def test_the_command_says_so_and_writes_the_model(tmp_path, in_process):
    path = tmp_path / "m.onnx"
    out = tmp_path / "out.onnx"
    onnx.save(model(LEFT), path)
    text = printed("fix", path, "--for", "onnx.reference", "--strict", "-o", out, status=1)
    assert text.startswith(f"{REFERENCE} answers ReduceMax-13 on float32 differently: sign of zero\n  at    graph.node")
    assert text.endswith(f"not modified: {REFERENCE} takes every node, but answers 1 node differently\nwrote {out}\n")
    assert out.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("element", "why"),
    [
        ("int32", "hostile:last 1.0 takes no exact replacement of ArgMax-13 of int32"),
        ("float", "the replacement of ArgMax-13 gives other answers in hostile:last 1.0"),
    ],
)
def test_a_difference_that_no_rewrite_mends(element, why, tmp_path, monkeypatch, in_process):
    make_known(tmp_path, monkeypatch)
    fixed = fix(model(f"({element}[n, 3] x) => (int64[n, 1] y) {{ y = ArgMax <axis=1> (x) }}"), "hostile:last")
    assert (fixed.changes, fixed.refusals) == ((), ())
    (left,) = fixed.differences
    assert left.reason.startswith("hostile:last 1.0 answers ArgMax-13 on ")
    assert left.remedy == f"it stays as it is: {why}"
