"""Every rule finds its own example, in the words stated here, and finds nothing in what to write instead."""

import re

import onnx
import pytest

from extremum import runtimes
from extremum.check import RULES, Severity, check, find
from stock import ORT, ByLowerHalves

# For each rule: the reason, what a runtime says or an input that shows it, and the remedy if there is one.
FINDINGS = {
    block[:5]: block[6:].splitlines()
    for block in re.split(
        r"\n(?=EX)",
        f"""\
EX001 ArgMax-11 has no attribute 'select_last_index' (it came with ArgMax-12)
use opset 12 or later, or drop the attribute if its value is 0
EX002 ArgMax-13 takes 0 or 1 for 'keepdims', not 2
runtimes disagree on what any other value means
EX003 ArgMax-13 has axis=2, but its input has rank 2
use a value in [-2, 1]
EX004 ArgMax-12 does not take bfloat16 (it came with ArgMax-13)
Cast to float32 first; the element types of ArgMax-12 are: int8, int16, int32, int64, uint8, uint16, uint32, uint64, \
float16, float32, float64
EX005 ArgMax-13 takes 1 input, not 2
EX006 Max-13 takes inputs of one element type, not of float32 and float64
put a Cast before it
EX007 ArgMax-1 does not say what axis=-1 means
write axis=1, or use opset 11 or later
EX008 Max-6 takes inputs of one shape, not [2, 3] and [3]
use opset 8 or later, which broadcasts
EX009 ArgMax-13 has nothing to choose from: axis 1 of its input has no element
EX010 ArgMax-13 has no axis to look along in a tensor of rank 0
give it at least one
EX011 Hardmax-11 has axis=1, but its input has rank 1
use a value in [-1, 0]
EX012 ArgMax-13 gives int64[4, 1], but its output 'label' is declared int64[4]
EX013 Max-1 does nothing with 'consumed_inputs'
drop it
EX014 TopK-11 takes 9 elements along axis 0 of its input, which has 5
use a k in [0, 5]
EX015 TopK-1 takes no element: its k is 0
use a k of at least 1
EX016 TopK-11 must have a name for its output 'Values'
give it one, even if nothing reads it; extremum fix does
EX017 TopK-11 takes 100 elements along an axis whose size is not known: it fails if there are fewer
extremum fix --limit-k takes as many as there are
EX101 {ORT} does not run ArgMax-13 on int16 at opset 13
[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for ArgMax(13) node with name ''
extremum fix rewrites it
EX102 DML_ARGMAX-3_0 does not take INT64 as input_tensor (it came with DML_ARGMAX-4_1)
use feature level 4_1 or later
EX103 runtimes answer ArgMax-13 differently where its input holds a NaN
make sure that there is none, or run the node with extremum
EX104 Hardmax-11 puts a single 1 into each block of axes 1 to 2; some runtimes put one per row
reshape those axes into one and use opset 13 or later
EX105 onnxruntime runs ArgMax-13 with select_last_index=1 on the CPU, even where a GPU is used
drop it if ties do not matter
EX106 {ORT} does not run Max-13 on uint16 at opset 13
Max (left, right), opset 13; left = uint16[1] [33375]; right = uint16[1] [55073]: [ONNXRuntimeError] : 9 : \
NOT_IMPLEMENTED : Could not find an implementation for Max(13) node with name ''
extremum fix --for onnxruntime rewrites it, if standard ONNX can express it
EX107 onnx.reference {onnx.__version__} answers Hardmax-11 on float32 differently: wrong
Hardmax <axis=1> (scores), opset 11; scores = float32[1, 1, 2] [[[0.1257302165031433, \
-0.13210485875606537]]]; expected float32[1, 1, 2] [[[1.0, 0.0]]]; answered float32[1, 1, 2] [[[1.0, 1.0]]]
the document of the version defines this: report it to the maker of the runtime
EX108 {ORT} compares int64 wrongly in Max-13 where the upper 32 bits are equal
Max (before, now), opset 13; before = int64[1] [2147483648]; now = int64[1] [0]; expected int64[1] [2147483648]; \
answered int64[1] [0]
run the node with extremum.onnxruntime, or write Max and Min as Greater or Less and Where
EX109 onnxruntime may give ArgMax-13 float32 elements where the model has float16, and choose another one
compute in float32, or run the node with extremum.onnxruntime
EX110 {ORT} answers ArgMax-13 on float32 differently: NaN
ArgMax <axis=1> (scores), opset 13; scores = float32[1, 2] [[-inf, nan]]; expected int64[1, 1] [[1]]; answered \
int64[1, 1] [[0]]
no document says what NaN compares to: keep it away from the node
""",
    )
}


@pytest.fixture(autouse=True)
def _lower_halves(request, monkeypatch):
    if "EX108" in request.node.name:
        monkeypatch.setattr(runtimes, "find", lambda name: ByLowerHalves())


def findings(text, code, level=0x3000):
    runtime = {"EX106": "onnxruntime", "EX107": "onnx.reference", "EX110": "onnxruntime"}.get(code)
    return check(onnx.parser.parse_model(text), feature_level=level, runtime=runtime, select=[code]).findings


def test_every_rule_has_an_expected_finding_and_codes_are_in_order():
    assert list(FINDINGS) == [rule.code for rule in RULES] == sorted(FINDINGS)


@pytest.mark.parametrize("code", FINDINGS)
def test_a_rule_finds_its_example_and_nothing_in_what_to_write_instead(code, in_process):
    rule = find(code)
    (finding,) = findings(rule.example, code)
    given = finding.given if code in ("EX101", "EX106", "EX107", "EX108", "EX110") else None
    assert [each for each in (finding.reason, given, finding.remedy) if each] == FINDINGS[code]
    where = (
        f"graph.node[{int(code in ('EX014', 'EX016', 'EX017', 'EX109'))}]",
        onnx.parser.parse_model(rule.example).opset_import[0].version,
    )
    assert (finding.code, finding.severity, finding.place, finding.opset) == (code, rule.severity, *where)
    assert findings(rule.instead, code) == ()
    if rule.severity is Severity.ERROR:
        others = check(onnx.parser.parse_model(rule.instead)).findings
        assert [each for each in others if each.severity is Severity.ERROR] == []


BRANCHES = "then_branch = t () => (r) { r = ArgMax (a) }, else_branch = e () => (r) { r = ArgMin (x) }"


@pytest.mark.parametrize(
    ("code", "body", "opset", "reasons"),
    [
        ("EX001", "(float[3] x) => (y) { y = Max <axis=1, keepdims=0> (x) }", 13, 2),
        ("EX002", "(float[3] x) => (y) { y = ArgMax <keepdims=-1, select_last_index=3> (x) }", 13, 2),
        ("EX003", "(float[3] x) => (y) { y = Hardmax <axis=1> (x) }", 11, 1),
        ("EX003", "(float x) => (y) { y = ArgMax <axis=1, keepdims=7> (x) }", 13, 0),
        ("EX003", "(float[3] x) => (y) { a = Constant <value_ints=[1]> () y = ReduceMin (x, a) }", 18, 1),
        ("EX003", "(float[3] x, int64[1] a) => (y) { y = ReduceMin (x, a) }", 18, 0),
        ("EX004", "(float[3] x, int32[1] a) => (y) { y = ReduceMin (x, a) }", 18, 1),
        ("EX005", '(float[3] x) => (y) { y = ReduceMin (x, "") }', 18, 0),
        ("EX004", "(bool[3] a, bool[3] b) => (y) { y = Max (a, b) }", 13, 1),
        ("EX005", "() => (y) { y = Max () }", 13, 1),
        ("EX005", "(float[3] x) => (y, z) { y, z = ArgMax (x) }", 13, 1),
        ("EX007", "(float[n] x) => (y) { a = Unknown (x) y = Hardmax <axis=-1> (a) }", 10, 1),
        ("EX007", "(float[3, 4] x) => (y) { y = ReduceMax <axes=[0, -1]> (x) }", 10, 1),
        ("EX007", "(float[3, 4] x) => (y) { y = ReduceMax <axes=[0, -1]> (x) }", 11, 0),
        ("EX008", "(float[2, n] a, float[3, n] b) => (y) { y = Max (a, b) }", 13, 1),
        ("EX009", "(float[0] x) => (y) { y = Hardmax (x) }", 13, 0),
        ("EX009", "(float[0, 3] x) => (y) { y = ArgMin <axis=5> (x) }", 13, 0),
        ("EX009", "(float[0, 3] x) => (y) { y = ReduceMax <axes=[0]> (x) }", 12, 1),
        ("EX010", "(float x) => (y) { y = Hardmax (x) }", 13, 1),
        ("EX010", "(float x) => (y) { y = Max (x) }", 13, 0),
        ("EX011", "(float[3] x) => (y) { y = Hardmax (x) }", 13, 0),
        ("EX011", "(float[3] x, int64[1] a) => (y) { y = ReduceMax (x, a) }", 18, 0),
        ("EX012", "(float[3, 2] x) => (float[3] y) { y = ReduceMax (x) }", 13, 1),
        ("EX012", "(float[3] x) => (float[1] y) { y = ArgMax (x) }", 13, 1),
        ("EX012", "(float[n, 3] x) => (int64[n, 2] y) { y = ArgMax <axis=1> (x) }", 13, 1),
        ("EX012", "(float[n, 3] x) => (int64[m, k] y) { y = ArgMax <axis=1> (x) }", 13, 0),
        ("EX101", "(bfloat16[3] x) => (y) { y = Hardmax (x) }", 11, 0),
        ("EX102", "(int64[m, n] x) => (y) { y = ReduceMax <axes=[0]> (x) }", 13, 1),
        ("EX102", "(float[m, n] x, int64[1] a) => (y) { y = ReduceMax (x, a) }", 18, 1),
        ("EX102", "(bfloat16[n] a, bfloat16[n] b) => (y) { y = Max (a, b) }", 13, 1),
        ("EX102", "(int8[m, n] a, int8[3] b) => (y) { y = Max (a, b) }", 13, 0),
        ("EX102", "(float[m, n] a, float[3] b) => (y) { y = Max (a, b) }", 6, 0),
        ("EX102", "(float[2, 0] x) => (y) { y = ArgMax (x) }", 13, 1),
        ("EX102", "(int64[2] x, int64[r] s) => (y) { z = Reshape (x, s) y = ArgMax <axis = 4> (z) }", 13, 1),
        ("EX103", "(bfloat16[3] x) => (y) { y = ArgMax (x) }", 13, 1),
        ("EX103", "(float[3] x) => (y) { y = Max (x) }", 13, 0),
        ("EX104", "(float[2, 3, 4] x) => (y) { y = Hardmax <axis=-2> (x) }", 11, 1),
        ("EX104", "(float[2, 3, 4] x) => (y) { y = Hardmax <axis=3> (x) }", 11, 0),
        ("EX104", "(float[2, 3, 4] x) => (y) { y = Hardmax <axis=1> (x) }", 13, 0),
        ("EX109", "(float16[3] x) => (y) { y = ArgMax (x) }", 13, 0),
        ("EX109", "(float16[3] x) => (y, z) { a = Neg (x) y = ArgMin (a) z = Hardmax (a) }", 13, 2),
        ("EX109", "(float16[3] x) => (y, z) { a = Neg (x) y = ReduceMax (a) z = Max (a, x) }", 13, 0),
        pytest.param(
            "EX109",
            f"(bool c, float16[3] x) => (y) {{ a = Neg (x) y = If (c) <{BRANCHES}> }}",
            13,
            1,
            id="EX109-in a branch, of the graph around it",
        ),
    ],
)
def test_the_edges_of_a_rule(code, body, opset, reasons):
    assert len(findings(f'<ir_version: 8, opset_import: ["" : {opset}]> g {body}', code)) == reasons


def test_directml_is_asked_only_on_request():
    assert findings(find("EX102").example, "EX102", level=None) == ()
