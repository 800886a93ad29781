"""What a fix rewrites, what it leaves alone, what it refuses, and what it says about it."""

import ml_dtypes
import numpy as np
import onnx
import pytest

from extremum import backend
from extremum import fix as fixing
from extremum.check import check
from extremum.errors import ArgumentError, ModelError
from extremum.fix import changes, fix
from extremum.fix import target as targets
from extremum.fix.target import same_bits
from models import model
from refusal import refusal
from stock import ORT, in_stock, one_node


def test_an_opset_that_need_not_be_raised_is_not():
    fixed = fix(one_node("ArgMax", "int16", 7, "<axis=1>"), raise_opset=13)
    assert fixed.model.opset_import[0].version == 7


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


def test_new_names_meet_no_old_ones():
    original = model('(int16[5] x) => (y, "y/0", "y//0") { "y/0" = Neg (x) "y//0" = Abs (x) y = ArgMax (x) }')
    fixed = fix(original)
    names = [name for node in fixed.model.graph.node for name in node.output]
    assert len(names) == len(set(names)) == 4


def test_a_model_that_runs_is_not_modified():
    original = model("(float[3] x) => (int64[1] y) { y = ArgMax (x) }")
    fixed = fix(original)
    assert fixed.summary() == f"not modified: {ORT} takes every node"
    assert fixed.model is original


def test_a_node_that_breaks_its_promise_is_not_rewritten():
    fixed = fix(model("(int16[3] x, int16[3] z) => (y, w) { y = ArgMax <axis=4> (x) w = Max (x, z) }"))
    assert fixed.summary() == f"not modified: 1 node cannot be rewritten for {ORT}"
    assert [str(each) for each in fixed.refusals] == [
        "ArgMax-13 has axis=4, but its input has rank 1\n"
        "  at    graph.node[0], opset 13\n"
        "  given x: int16[3], axis=4\n"
        "  help  use a value in [-1, 0]"
    ]


def test_a_function_called_with_two_types_is_not_rewritten():
    functions = '<domain: "own", opset_import: ["" : 13]> F (x) => (y) { y = ArgMax (x) }'
    body = "(int16[3] a, float[3] b) => (y, z) { y = own.F (a) z = own.F (b) }"
    (refused,) = fix(model(body, functions=functions)).refusals
    assert refused.reason == "ArgMax-13 is in a function that is called with several element types"
    assert refused.remedy == "inline the function first"


def test_an_axis_that_comes_with_the_call_needs_inlining():
    functions = '<domain: "own", opset_import: ["" : 13]> F <k> (x) => (y) { y = ArgMax <axis: int = @k> (x) }'
    body = "(bfloat16[3] a) => (y) { y = own.F <k=0> (a) }"
    (refused,) = fix(model(body, functions=functions)).refusals
    assert refused.reason == "ArgMax-13 gets its axis from the call of its function"


def test_a_hardmax_of_unknown_rank_needs_a_shape():
    original = model("(double[3, 4] x, int64[r] s) => (y) { a = Reshape (x, s) y = Hardmax (a) }")
    (refused,) = fix(original).refusals
    assert (refused.reason, refused.remedy) == (
        "the rank of the input of Hardmax-13 is not known",
        "state the shape in the model",
    )


def test_an_index_of_unknown_rank_is_rewritten():
    original = model("(uint64[3, 4] x, int64[r] s) => (y) { a = Reshape (x, s) y = ArgMax <axis=1> (a) }")
    assert len(fix(original).changes) == 1


def test_a_replacement_that_answers_otherwise_is_not_taken(monkeypatch):
    monkeypatch.setattr(targets, "same_bits", lambda first, second: False)
    (refused,) = fix(model("(int16[3] x) => (int64[1] y) { y = ArgMax (x) }")).refusals
    assert str(refused) == (
        f"the replacement of ArgMax-13 gives other answers in {ORT}\n"
        "  at    graph.node[0]\n"
        "  given int16 on wider integers"
    )


def test_a_library_of_someone_else_is_not_needed():
    original = model("(int16[3] x) => (y, z) { y = ArgMax (x) z = own.Special (x) }")
    fixed = fix(original)
    assert len(fixed.changes) == 1
    (note,) = fixed.notes
    assert note.startswith(f"compared node by node, not as a whole: {ORT} does not load the fixed model; given: ")


def test_says_what_was_not_compared():
    assert fix(one_node("ArgMax", "int16", 13)).notes == ()
    assert fix(model("(bfloat16[3] x) => (int64[1] y) { y = ArgMax (x) }")).notes == ()
    (note,) = fix(model("(int16[3] x, string[3] s) => (y, t) { y = ArgMax (x) t = Identity (s) }")).notes
    assert note == (
        "compared node by node, not as a whole: input 's' cannot be drawn: the model does not state its type and rank"
    )


def test_refuses_a_target_that_is_none():
    original = model("(int16[3] x) => (y) { y = ArgMax (x) }")
    assert refusal(ArgumentError, fix, original, "directml-9_9") == "there is no target 'directml-9_9'"


LATER = [
    (8, "(int64[n, 5] a, int64[n, 5] b) => (int64[n, 5] y) { y = Min (a, b) }", 12, ["Min"]),
    (8, "(int16[n, 5] a, int16[n, 5] b) => (int16[n, 5] y) { y = Max (a, b) }", 12, ["Cast", "Cast", "Max", "Cast"]),
    (11, "(float[n, 5] x) => (y) { y = ArgMax <axis=1, select_last_index=1> (x) }", 12, ["ArgMax"]),
    (7, "(float[4, 5] a, float[5] b) => (float[4, 5] y) { y = Max (a, b) }", 8, None),
    (11, "(int8[n, 5] x) => (int8[n, 1] y) { y = ReduceMax <axes=[1]> (x) }", 12, ["ReduceMax"]),
    (12, "(bfloat16[n, 5] x) => (int64[n, 1] y) { y = ArgMin <axis=1> (x) }", 13, None),
    (11, "(bfloat16[n, 5] x) => (bfloat16[n, 5] y) { y = Hardmax (x) }", 13, None),
]


@pytest.mark.parametrize(("opset", "body", "later", "operators"), LATER)
def test_a_node_that_a_later_version_takes(opset, body, later, operators):
    original = model(body, opset=opset)
    assert [each.remedy for each in fix(original).refusals] == [
        f"allow opset {later} with raise_opset, if the whole model may be raised"
    ]
    assert fix(original, raise_opset=later - 1).changes == ()
    fixed = fix(original, raise_opset=later)
    assert (fixed.refusals, len(fixed.changes), fixed.model.opset_import[0].version) == ((), 1, later)
    assert check(fixed.model, select=["EX004", "EX005", "EX006", "EX101"]).findings == ()
    if operators is not None:
        assert [node.op_type for node in fixed.model.graph.node] == operators


def test_an_attribute_that_is_an_input_later():
    body = "(int8[n, 5] x) => (int8[n, 1] y) { y = ReduceMax <axes=[1]> (x) }"
    fixed = fix(model(body, opset=11), raise_opset=18)
    assert [node.op_type for node in fixed.model.graph.node] == ["Constant", "ReduceMax"]
    assert str(fixed.changes[0]) == "graph.node[0]: ReduceMax-11 of int8 as ReduceMax-18"


def test_a_hardmax_whose_meaning_a_later_opset_changes_is_not_raised():
    body = "(uint64[9] i, float[2, 3, 4] x) => (y, z) { y = ArgMax (i) z = Hardmax (x) }"
    for whole in (True, False):
        (refused,) = fix(model(body, opset=7), raise_opset=13, whole=whole).refusals
        assert refused.one_line() == (
            "Hardmax-1 and Hardmax-13 mean different things here; at: graph.node[1], opset 7; "
            "given: x: float32[2, 3, 4]; help: allow opset 12 with raise_opset, if it suffices"
        )
    assert len(fix(model(body, opset=7), raise_opset=12).changes) == 1
    assert len(fix(model(body.replace("[2, 3, 4]", "[2, 3]"), opset=7), raise_opset=12).changes) == 1


def test_refuses_to_raise_a_model_with_functions():
    functions = '<domain: "own", opset_import: ["" : 7]> F (x) => (y) { y = Neg (x) }'
    original = model("(uint64[3] x) => (y, z) { y = ArgMax (x) z = own.F (x) }", opset=7, functions=functions)
    assert refusal(ModelError, fix, original, raise_opset=9) == ("the opset of a model with functions cannot be raised")


def test_raises_a_model_that_onnx_does_not_survive():
    # Behind a value of unknown type LabelEncoder ends the process in onnx's inference, which its converter asks.
    encoder = "s = own.Special(f) l = ai.onnx.ml.LabelEncoder<keys_floats = [1.0], values_int64s = [1]>(s)"
    original = model(f"(float[2] f, uint64[3] x) => (y, l) {{ y = ArgMax(x) {encoder} }}", opset=7)
    original.opset_import.add(domain="ai.onnx.ml", version=2)
    fixed = fix(original, raise_opset=9, whole=False)
    assert len(fixed.changes) == 1
    domains = [(node.op_type, node.domain) for node in fixed.model.graph.node][-2:]
    assert domains == [("Special", "own"), ("LabelEncoder", "ai.onnx.ml")]
    assert {each.domain: each.version for each in fixed.model.opset_import} == {"": 9, "own": 1, "ai.onnx.ml": 2}


@pytest.mark.parametrize(
    ("converter", "said"),
    [
        ("import os; os.abort()", "onnx's converter ended with SIGABRT"),
        ("raise SystemExit(5)", "onnx's converter ended with exit status 5"),
        ("import time; time.sleep(60)", "onnx's converter did not end in 2 s"),
    ],
)
def test_a_converter_that_ends_without_an_answer(monkeypatch, converter, said):
    monkeypatch.setattr(changes, "_CONVERTER", converter)
    monkeypatch.setattr(changes, "_LIMIT", 2.0)
    original = model("(uint64[3] x) => (y) { y = ArgMax(x) }", opset=7)
    with pytest.raises(ModelError) as caught:
        fix(original, raise_opset=9)
    assert caught.value.one_line() == f"the model cannot be raised to opset 9; given: {said}"


def test_can_leave_out_the_model_as_a_whole(monkeypatch):
    monkeypatch.setattr(fixing, "verify_model", None)
    fixed = fix(model("(int16[3] x) => (int64[1] y) { y = ArgMax (x) }"), whole=False)
    assert fixed.notes == ("compared node by node, not as a whole, as was asked",)


def test_needs_onnxruntime(without_onnxruntime):
    original = model("(int16[3] x) => (int64[1] y) { y = ArgMax (x) }")
    assert refusal(ArgumentError, fix, original) == "onnxruntime is not installed"
    assert fix(original, "directml-4_1").changes == ()


def test_outputs_that_are_no_tensors_are_compared():
    original = model("(int16[3] x) => (s) { y = ArgMax (x) s = SequenceConstruct (y, y) }")
    fixed = fix(original)
    assert (len(fixed.changes), fixed.notes) == (1, ())


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ([np.arange(3)], (np.arange(3),), True),
        ([np.arange(3)], [np.arange(3), np.arange(3)], False),
        ({"a": 1.5}, {"a": 1.5}, True),
        ({"a": 1.5}, {"b": 1.5}, False),
        ({"a": 1.5}, [1.5], False),
        (np.float32(1), np.float64(1), False),
        (np.array(["a"], object), np.array(["a"], object), True),
        (np.array([-0.0], ml_dtypes.bfloat16), np.array([0.0], ml_dtypes.bfloat16), False),
        (np.array([np.nan], ml_dtypes.bfloat16), np.array([-np.nan], ml_dtypes.bfloat16), True),
    ],
)
def test_bits(first, second, same):
    assert same_bits(first, second) is same
