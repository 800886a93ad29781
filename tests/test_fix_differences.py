"""Nodes that a target takes and answers differently: rewritten where a rewrite is exact, said where there is none."""

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
def test_a_node_that_is_answered_differently_is_rewritten(inputs, node, opset, title):
    original = model(f"({inputs}) => (y) {{ y = {node} }}", opset)
    fixed = fix(original, "onnx.reference")
    assert [change.title for change in fixed.changes] == [title]
    assert (fixed.summary(), fixed.differences) == (f"1 node rewritten for {REFERENCE}", ())
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
        node = proto.graph.node[-1]

        def run(feeds):
            arrays = np.broadcast_arrays(*feeds.values())
            if node.op_type not in ("Max", "Min", "ReduceMax", "ReduceMin") or arrays[0].dtype != np.int64:
                return backend.run_model(proto, dict(feeds))
            best = np.argmax if node.op_type.endswith("Max") else np.argmin
            x, axis = (arrays[0], 1) if node.op_type.startswith("Reduce") else (np.stack(arrays), 0)
            result = np.take_along_axis(x, best(x.astype(np.int32), axis, keepdims=True), axis)
            return [result if axis else result[0]]

        return run


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


def test_a_node_without_an_exact_rewrite_stays_and_the_rest_is_rewritten():
    body = LEFT.replace("Hardmax (h)", "Max (h, x)")
    fixed = fix(model(body), "onnx.reference")
    assert [change.title for change in fixed.changes] == ["as choices between two"]
    (left,) = fixed.differences
    assert left.reason == f"{REFERENCE} answers ReduceMax-13 on float32 differently: sign of zero"
    assert left.where == "graph.node[1], opset 13"
    assert left.remedy == (
        "it stays as it is: the rank of the input of ReduceMax-13 is not known; state the shape in the model"
    )
    assert fixed.summary() == f"1 node rewritten for {REFERENCE}, which answers 1 node differently"
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
        f"{REFERENCE} answers ReduceMax-13 on float32 differently: sign of zero\n  at    graph.node[1]"
    )
    assert text.endswith(f"not modified: {REFERENCE} takes every node, but answers 1 node differently\nwrote {out}\n")
    assert out.read_bytes() == path.read_bytes()
    status, text = called("--json")
    assert (status, len(json.loads(text)["differences"])) == (1, 1)


@pytest.mark.parametrize(
    ("element", "why"),
    [
        ("int32", "hostile:last 1.0 takes no exact replacement of ArgMax-13 of int32"),
        ("float", "the replacement of ArgMax-13 gives other answers in hostile:last 1.0"),
    ],
)
def test_a_difference_that_no_rewrite_mends(element, why, tmp_path, monkeypatch):
    make_known(tmp_path, monkeypatch)
    fixed = fix(model(f"({element}[n, 3] x) => (int64[n, 1] y) {{ y = ArgMax <axis=1> (x) }}"), "hostile:last")
    assert (fixed.changes, fixed.refusals) == ((), ())
    (left,) = fixed.differences
    assert left.reason.startswith("hostile:last 1.0 answers ArgMax-13 on ")
    assert left.remedy == f"it stays as it is: {why}"
