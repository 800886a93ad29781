"""Standard output and error in any state: another encoding, full, closed, or read by nobody who stays."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

NAME = "größe→名前\U0001f600"
SCRIPT = [sys.executable, "-m", "extremum"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Make the current folder one with a model whose names are not ASCII, right and wrong."""
    for name, axis in (("right", 1), ("wrong", 7)):
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("ArgMax", [NAME], ["y"], name=NAME, axis=axis)],
            "g",
            [onnx.helper.make_tensor_value_info(NAME, onnx.TensorProto.FLOAT, [2, 4])],
            [onnx.helper.make_empty_tensor_value_info("y")],
        )
        onnx.save(
            onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)]), tmp_path / f"{name}.onnx"
        )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, **variables):
    return subprocess.run([*SCRIPT, *words], capture_output=True, check=False, env={**os.environ, **variables})


def shell(command):
    return subprocess.run(
        ["bash", "-c", command.replace("extremum", " ".join(SCRIPT))], capture_output=True, check=False
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("run", "right.onnx", "--random"), 0),
        (("run", "wrong.onnx", "--random"), 2),
        (("check", "right.onnx", "wrong.onnx", "--infos"), 1),
        (("check", "wrong.onnx", "--format", "github"), 1),
        (("lower", "right.onnx", "--format", "cpp"), 0),
        (("lower", "wrong.onnx"), 1),
        (("fix", "wrong.onnx", "--diff"), 1),
        (("ops",), 0),
        ((NAME,), 2),
    ],
    ids=str,
)
def test_a_stream_that_knows_ascii_only(words, status):
    result = run(*words, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == status
    assert (result.stdout + result.stderr).isascii()
    assert words[0] == "ops" or b"gr\\xf6\\xdfe" in result.stdout + result.stderr
    assert len(result.stderr.splitlines()) == int(status == 2 or (words[0] == "lower" and status))


@pytest.mark.parametrize("words", [("ops",), ("run", "right.onnx", "--random")])
@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"COLUMNS": "1"}, {"COLUMNS": "x", "NO_COLOR": "1"}])
def test_no_terminal(words, variables):
    result = run(*words, **variables)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"\x1b" not in result.stdout
    # Nothing is folded.
    assert max(map(len, result.stdout.splitlines())) > 40


@pytest.mark.skipif(shutil.which("script") is None, reason="a terminal is made by the program script")
def test_a_terminal_one_column_wide():
    command = " ".join([*SCRIPT, "run", "right.onnx", "--random"])
    result = subprocess.run(
        ["script", "-qec", f"stty cols 1; {command}", "/dev/null"],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert result.returncode == 0
    assert b"Traceback" not in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device there that is always full")
def test_a_full_output():
    for words in ("ops", "ops --json", "check wrong.onnx", "run right.onnx --random --json", "--help"):
        result = shell(f"extremum {words} >/dev/full")
        assert result.returncode == 2
        assert result.stderr == b"extremum: No space left on device\n"
    assert shell("extremum check none.onnx --json >/dev/full").returncode == 2
    assert shell("extremum check none.onnx 2>/dev/full").returncode == 2


def test_a_reader_that_has_seen_enough():
    for words in ("ops --json", "explain --markdown", "check right.onnx --infos"):
        # Nothing is read at all, and the writer knows it from its first flush.
        result = shell(f"extremum {words} | true; exit ${{PIPESTATUS[0]}}")
        assert result.returncode in (0, 2)
        assert result.stderr == b""
    result = shell("extremum ops --json | head -c 1; exit ${PIPESTATUS[0]}")
    assert (result.stdout, result.stderr) == (b"[", b"")


@pytest.mark.parametrize(
    ("redirection", "words", "status"),
    [
        (">&-", "ops", 0),
        (">&-", "check wrong.onnx", 1),
        (">&-", "run right.onnx --random", 0),
        (">&-", "check none.onnx --json", 2),
        ("2>&-", "check none.onnx", 2),
        (">&- 2>&-", "check none.onnx --json", 2),
        ("<&- >&- 2>&-", "check wrong.onnx", 1),
    ],
)
def test_a_closed_stream(redirection, words, status):
    result = shell(f"extremum {words} {redirection}")
    assert result.returncode == status
    assert b"Traceback" not in result.stdout + result.stderr
    if "2>" in redirection:
        # What is for stderr is not taken for an answer.
        assert result.stdout == b""


def test_json_is_ascii():
    result = run("run", "right.onnx", "--random", "--json")
    assert result.stdout.isascii()
    assert json.loads(result.stdout)["inputs"][0]["name"] == NAME
