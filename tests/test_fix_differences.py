"""Nodes that a target takes and answers otherwise: rewritten where a rewrite is exact, said where there is none."""

import json

import numpy as np
import onnx
import pytest

from extremum import backend, runtimes
from extremum.check import check
from extremum.check.question import samples
from extremum.cli import main
from extremum.fix import fix
from extremum.fix.target import same_bits
from extremum.graph.sites import sites
from hostile_runtimes import make_known
from models import model

REFERENCE = f"onnx.reference {onnx.__version__}"

CHOICES = "as choices between two"
# The reference evaluator puts a 1 into each row of a coerced Hardmax, skips NaN in some reductions, and returns either
# of two zeros.
DIFFERENT = [
    ("(float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Hardmax <axis=1> (x) }", 11, "as the places of an index"),
    ("(double[n, 3] x) => (double[n, 1] y) { y = ReduceMin <axes=[1]> (x) }", 13, "as the elements at an index"),
    ("(float[n, 3] x, float[3] z) => (float[n, 3] y) { y = Max (x, z) }", 13, CHOICES),
    ("(float16[n, 3] x, float16[3] z) => (float16[n, 3] y) { y = Min (x, z) }", 13, CHOICES),
    (
        "(double[n, 3] x, double[3] z, double[1] v) => (double[n, 3] y) { y = Min (x, z, v) }",
        12,
        "as choices between two",
    ),
]


@pytest.mark.parametrize(("body", "opset", "title"), DIFFERENT)
def test_a_node_that_is_answered_otherwise_is_rewritten(body, opset, title):
    original = model(body, opset)
    fixed = fix(original, "onnx.reference")
    assert [change.title for change in fixed.changes] == [title]
    assert (fixed.refusals, fixed.differences) == ((), ())
    assert fixed.summary() == f"1 node rewritten for {REFERENCE}"
    run, before = (runtimes.find("onnx.reference").load(each) for each in (fixed.model, original))
    (site,) = sites(original)
    differ = 0
    for feeds in samples(site):
        with np.errstate(all="ignore"):
            expected = backend.run_model(original, dict(feeds))
            assert same_bits(run(feeds), expected)
            differ += not same_bits(before(feeds), expected)
    assert differ
    assert check(fixed.model, select=["EX001", "EX004"]).findings == ()


class ByLowerHalves:
    """onnxruntime as it is on some processors: it compares int64 by their lower 32 bits, and is right otherwise."""

    name, version = "onnxruntime", "1.99"

    def load(self, proto):
        def run(feeds):
            node = proto.graph.node[-1]
            x = next(iter(feeds.values()))
            if node.op_type not in ("Max", "Min", "ReduceMax", "ReduceMin") or x.dtype != np.int64:
                return backend.run_model(proto, dict(feeds))
            return [by_lower_halves(node, feeds)]

        return run


def by_lower_halves(node, feeds):
    """The answer of an operator that sees the lower halves alone."""
    best = np.argmax if node.op_type.endswith("Max") else np.argmin
    if node.op_type in ("Max", "Min"):
        x = np.stack(np.broadcast_arrays(*feeds.values()))
        axis, keep = 0, False
    else:
        x, axis, keep = next(iter(feeds.values())), 1, True
    index = best(x.astype(np.int32), axis, keepdims=True)
    result = np.take_along_axis(x, index, axis)
    return result if keep else result[0]


@pytest.mark.parametrize(
    ("body", "operators"),
    [
        ("(int64[n, 3] x, int64[3] z) => (y) { y = Max (x, z) }", ["Greater", "Where"]),
        ("(int64[n, 3] x, int64[3] z, int64[1] v) => (y) { y = Min (x, z, v) }", ["Less", "Where"] * 2),
        ("(int64[n, 3] x) => (y) { y = ReduceMax <axes=[1]> (x) }", ["ArgMax", "GatherElements"]),
    ],
)
def test_int64_that_onnxruntime_compares_by_halves(body, operators, monkeypatch):
    monkeypatch.setattr(runtimes, "find", lambda name: ByLowerHalves())
    fixed = fix(model(body))
    assert (fixed.refusals, fixed.differences) == ((), ())
    assert [node.op_type for node in fixed.model.graph.node] == operators


LEFT = "(float[2, 3] x, int64[r] s, float[2, 3] h) => (y, z) { a = Reshape (x, s) y = ReduceMax (a) z = Hardmax (h) }"


def test_a_node_without_an_exact_rewrite_stays_and_the_rest_is_rewritten():
    body = LEFT.replace("Hardmax (h)", "Max (h, x)")
    fixed = fix(model(body), "onnx.reference")
    assert [change.title for change in fixed.changes] == ["as choices between two"]
    (left,) = fixed.differences
    assert left.reason == f"{REFERENCE} answers ReduceMax-13 on float32 otherwise: sign of zero"
    assert left.where == "graph.node[1], opset 13"
    assert left.remedy == (
        "it stays as it is: the rank of the input of ReduceMax-13 is not known; state the shape in the model"
    )
    assert fixed.summary() == f"1 node rewritten for {REFERENCE}, which answers 1 node otherwise"
    assert [node.op_type for node in fixed.model.graph.node][:2] == ["Reshape", "ReduceMax"]


def test_the_command_says_so_and_writes_the_model(tmp_path, capsys):
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(model(LEFT), path)

    def called(*options):
        with pytest.raises(SystemExit) as ended:
            main(["fix", str(path), "--for", "onnx.reference", *options])
        return ended.value.code, capsys.readouterr().out

    status, text = called("-o", str(out))
    assert status == 1
    assert text.startswith(
        f"{REFERENCE} answers ReduceMax-13 on float32 otherwise: sign of zero\n  at    graph.node[1]"
    )
    assert text.endswith(f"not modified: {REFERENCE} takes every node, but answers 1 node otherwise\nwrote {out}\n")
    assert out.read_bytes() == path.read_bytes()
    status, text = called("--json")
    assert (status, len(json.loads(text)["differences"])) == (1, 1)


def test_a_type_for_which_there_is_no_rewrite(tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)
    fixed = fix(model("(int32[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"), "hostile:last")
    assert (fixed.changes, fixed.refusals) == ((), ())
    (left,) = fixed.differences
    assert left.reason == "hostile:last 1.0 answers ArgMax-13 on int32 otherwise: tie"
    assert left.remedy == ("it stays as it is: hostile:last 1.0 takes no exact replacement of ArgMax-13 of int32")


def test_a_rewrite_that_the_target_answers_otherwise_too_is_not_taken(tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)
    fixed = fix(model("(float[n, 3] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"), "hostile:last")
    (left,) = fixed.differences
    assert left.remedy == "it stays as it is: the replacement of ArgMax-13 gives other answers in hostile:last 1.0"
