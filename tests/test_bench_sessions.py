"""benchmarks/sessions.py: what it measures, that answers are compared before, and where the table goes."""

import re
from pathlib import Path

import numpy as np
import pytest

import extremum.onnxruntime
from benchmarks import sessions

DOCUMENT = Path(__file__).parents[1] / "docs" / "onnxruntime.md"


def test_a_node_is_timed_in_both_sessions():
    ours, theirs = sessions.seconds(sessions.node("Max", "float16", "(2,3) (3)"), 1, 0.01)
    assert ours > 0
    assert theirs > 0


def test_a_chain_has_as_many_nodes_as_it_says():
    source, feed = sessions.chain(3)
    session = extremum.onnxruntime.InferenceSession(source)
    assert [output.name for output in session.get_outputs()] == ["x3"]
    np.testing.assert_array_equal(session.run(None, feed)[0], np.maximum(feed["x0"], feed["y"]))


def test_a_wrong_answer_is_not_timed(monkeypatch):
    class Wrong(extremum.onnxruntime.InferenceSession):
        def run(self, *arguments):
            return [output + 1 for output in super().run(*arguments)]

    monkeypatch.setattr(extremum.onnxruntime, "InferenceSession", Wrong)
    with pytest.raises(AssertionError, match="Arrays are not equal"):
        sessions.seconds(sessions.node("ArgMax<axis=1>", "float", "(2,3)"), 1, 0.01)


def test_the_document_shows_every_node_that_is_measured():
    rows = re.findall(r"^\| `(\S+)` (\w+) (\(.*\)) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == sessions.NODES


@pytest.mark.parametrize(("opset", "graph"), [case[1:] for case in sessions.PREPARED])
def test_a_prepared_model_is_timed_beside_its_peers(opset, graph):
    assert list(sessions.prepared_seconds(sessions.model(graph, opset), 0.01)) == ["ours", "onnxruntime", "reference"]


def test_the_document_shows_every_prepared_model_that_is_measured():
    shown = DOCUMENT.read_text(encoding="utf-8").partition("<!-- bench: prepared -->")[2].partition("<!--")[0]
    assert re.findall(r"^\| (\w+-\d+) ", shown, re.MULTILINE) == [name for name, _, _ in sessions.PREPARED]


def test_publishing_leaves_the_text_around_the_figures_alone(tmp_path):
    document = tmp_path / "document.md"
    document.write_text("before\n<!-- bench: sessions -->\nold\n<!-- /bench: sessions -->\nafter\n", encoding="utf-8")
    sessions.publish({"sessions": "| new |"}, document)
    expected = "before\n<!-- bench: sessions -->\n| new |\n<!-- /bench: sessions -->\nafter\n"
    assert document.read_text(encoding="utf-8") == expected
