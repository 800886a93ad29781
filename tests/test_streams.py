"""Standard output and error in any state: another encoding, full, closed, or with a reader that leaves early."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from commands import printed
from extremum.cli import main
from extremum.cli.program import COMMANDS
from models import model
from refusal import error_of

NAME = "größe→名前\U0001f600"
SCRIPT = f"{sys.executable} -m extremum"


@pytest.fixture(autouse=True)
def models_folder(tmp_path, monkeypatch):
    """Change to a folder with a right and a wrong model whose names are not ASCII."""
    for name, axis in (("right", 1), ("wrong", 7)):
        proto = model(f"(float[2, 4] x) => (y) {{ y = ArgMax <axis = {axis}> (x) }}")
        proto.graph.input[0].name = proto.graph.node[0].name = proto.graph.node[0].input[0] = NAME
        onnx.save(proto, tmp_path / f"{name}.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(command):
    return subprocess.run(["bash", "-c", command.replace("extremum", SCRIPT)], capture_output=True, check=False)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("run right.onnx --random", 0),
        ("run right.onnx --random --json", 0),
        ("run wrong.onnx --random", 2),
        ("check right.onnx wrong.onnx --infos", 1),
        ("check wrong.onnx --format github", 1),
        ("lower right.onnx --format cpp", 0),
        ("lower wrong.onnx", 1),
        ("fix wrong.onnx --diff", 1),
        ("ops", 0),
        (NAME, 2),
    ],
)
def test_a_stream_that_knows_ascii_only(line, status, monkeypatch):
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2)]
    for name, stream in zip(("stdout", "stderr"), streams, strict=True):
        monkeypatch.setattr(sys, name, stream)
    error = error_of(SystemExit, main, line.split())
    out, err = (stream.buffer.getvalue() for stream in streams)
    assert error.code == status
    assert line == "ops" or rb"gr\xf6\xdfe" in out + err or json.loads(out)["inputs"][0]["name"] == NAME
    assert len(err.splitlines()) == int(status == 2 or line == "lower wrong.onnx")


@pytest.mark.parametrize("line", ["ops", "run right.onnx --random"])
@pytest.mark.parametrize("variables", [{"TERM": "dumb"}, {"COLUMNS": "1"}, {"COLUMNS": "x", "NO_COLOR": "1"}])
def test_no_terminal(line, variables, monkeypatch):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    out = printed(*line.split())
    assert "\x1b" not in out
    # No line is wrapped.
    assert max(map(len, out.splitlines())) > 40


@pytest.mark.skipif(shutil.which("script") is None, reason="a terminal is made by the program script")
def test_a_terminal_one_column_wide():
    command = ["script", "-qec", f"stty cols 1; {SCRIPT} run right.onnx --random", "/dev/null"]
    result = subprocess.run(command, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert result.returncode == 0
    assert b"Traceback" not in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device there that is always full")
@pytest.mark.parametrize("line", ["ops --json", "run right.onnx --random"])
def test_a_full_output(line):
    result = shell(f"extremum {line} >/dev/full")
    assert (result.returncode, result.stderr) == (2, b"extremum: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device there that is always full")
def test_full_errors():
    assert shell("extremum check none.onnx --json >/dev/full 2>/dev/full").returncode == 2


def test_a_reader_that_has_seen_enough():
    # The reader reads nothing at all, and the writer notices with its first flush.
    result = shell("extremum explain --markdown | true; exit ${PIPESTATUS[0]}")
    assert result.returncode in (0, 2)
    assert result.stderr == b""
    result = shell("extremum ops --json | head -c 1; exit ${PIPESTATUS[0]}")
    assert (result.stdout, result.stderr) == (b"[", b"")


CASE = "--operator Hardmax --opset 13 --type float16 --topic nan"
# What each command does: answers, finds something, refuses.
LINES = [
    "--help",
    "--version",
    "--frobnicate",
    "run right.onnx --random",
    "run wrong.onnx --random",
    "apply argmax scores.npy -o best.npy",
    "apply argmax none.npy -o best.npy",
    "lower right.onnx",
    "lower wrong.onnx",
    "check right.onnx wrong.onnx",
    "check wrong.onnx none.onnx",
    "explain",
    "explain EX001",
    "explain --markdown",
    "explain nothing",
    "fix wrong.onnx --diff",
    "fix none.onnx --diff",
    "conformance",
    f"conformance export suite {CASE}",
    f"conformance run onnx.reference {CASE}",
    "conformance run nobody",
    "ops",
    "ops --markdown",
]
# These have no --json, or start a process each time and write through the same functions.
PLAIN = ("--", "explain --markdown", "conformance run onnx.reference", "ops --markdown")
JSON = [f"{line} --json" for line in LINES if not line.startswith(PLAIN) and line != "conformance"]


def answer(line, unread=None):
    """The status, stdout and stderr of a command; the stream of the name `unread` is a pipe whose reader has gone."""
    shutil.rmtree("suite", ignore_errors=True)
    Path("best.npy").unlink(missing_ok=True)
    np.save("scores.npy", np.eye(3))
    streams = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    if unread is not None:
        reader, writer = os.pipe()
        os.close(reader)
        streams[unread] = os.fdopen(writer, "w", encoding="utf-8")
    with contextlib.redirect_stdout(streams["stdout"]), contextlib.redirect_stderr(streams["stderr"]):
        status = error_of(SystemExit, main, line.split()).code
    texts = [None if name == unread else stream.getvalue() for name, stream in streams.items()]
    for stream in streams.values():
        # As the interpreter does at its end: nothing may be left to write.
        stream.close()
    return status, *texts


def test_every_command_has_a_line():
    assert {line.split()[0] for line in LINES} == {"--help", "--version", "--frobnicate", *COMMANDS}
    assert {line.split()[0] for line in JSON} == {*COMMANDS}


@pytest.mark.parametrize("line", [*LINES, *JSON])
def test_a_command_ends_silently_without_a_reader_of_its_output(line):
    status, out, err = answer(line)
    silent = answer(line, unread="stdout")
    assert silent[0] == (2 if out else status)
    # A message that follows the output is not written any more.
    assert err.startswith(silent[2])


@pytest.mark.parametrize("line", [*LINES, *JSON])
def test_a_command_goes_on_without_a_reader_of_its_messages(line):
    status, out, _ = answer(line)
    deaf = answer(line, unread="stderr")
    assert deaf[0] == status
    # Times differ.
    assert re.sub(r"[\d.]+(e-\d+)?", "", deaf[1]) == re.sub(r"[\d.]+(e-\d+)?", "", out)


@pytest.mark.parametrize(
    ("redirection", "line", "status"),
    [
        (">&-", "run right.onnx --random", 0),
        (">&-", "check none.onnx --json", 2),
        ("2>&-", "check none.onnx", 2),
        ("<&- >&- 2>&-", "check wrong.onnx", 1),
    ],
)
def test_a_closed_stream(redirection, line, status):
    result = shell(f"extremum {line} {redirection}")
    assert result.returncode == status
    assert b"Traceback" not in result.stdout + result.stderr
    if "2>" in redirection:
        # Text for stderr does not appear on stdout.
        assert result.stdout == b""
