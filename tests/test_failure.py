"""Whatever goes wrong ends with status 2 and one line, and with an object where JSON was asked for."""

import json
import os
import subprocess
import sys
from importlib import import_module

import click
import numpy as np
import onnx
import pytest

from extremum import catalogue
from extremum.cli import main
from extremum.cli.program import COMMANDS
from extremum.cli.user_errors import Failure
from extremum.errors import InputError

REPORT = "help: this is a bug in extremum; please report it with the traceback that EXTREMUM_TRACEBACK=1 prints"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXTREMUM_TRACEBACK", raising=False)


def ended(capsys, *words):
    """The exit status, and what is written to stdout and stderr."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    return (caught.value.code, *capsys.readouterr())


class Panic(BaseException):
    """As the native module's panics, which are no Exceptions."""


def broken(monkeypatch, error):
    """Let the command `ops` fail."""

    def fails(*_):
        raise error

    for name in ("tables", "records"):
        monkeypatch.setattr(catalogue, name, fails)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (KeyError("oops"), f"unexpected KeyError: 'oops'; {REPORT}"),
        (ValueError("first\nsecond"), f"unexpected ValueError: first; {REPORT}"),
        (AssertionError(), f"unexpected AssertionError; {REPORT}"),
        (Panic("attempt to add with overflow"), f"unexpected Panic: attempt to add with overflow; {REPORT}"),
        (RecursionError("too deep"), f"unexpected RecursionError: too deep; {REPORT}"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "unexpected UnicodeDecodeError: 'utf-8' codec can't"),
        (MemoryError(), "out of memory"),
        (MemoryError("Unable to allocate 1 TiB"), "out of memory: Unable to allocate 1 TiB"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (FileNotFoundError(2, "No such file or directory", "a\nb"), r"a\nb: No such file or directory"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_any_exception(capsys, monkeypatch, error, line):
    broken(monkeypatch, error)
    status, out, err = ended(capsys, "ops")
    assert (status, out) == (2, "")
    assert err.startswith(f"extremum: {line}")
    assert len(err.splitlines()) == 1
    status, out, again = ended(capsys, "ops", "--json")
    assert (status, again) == (2, err)
    assert set(json.loads(out)) == {"error"}


def test_the_object_says_what_the_line_says(capsys, monkeypatch):
    parts = {"reason": "input 'x' is missing", "where": "model.onnx", "given": "y", "remedy": "pass x"}
    broken(monkeypatch, InputError(parts["reason"], where="model.onnx", given="y", remedy="pass x"))
    assert json.loads(ended(capsys, "ops", "--json")[1]) == {"error": {"kind": "InputError", **parts}}
    broken(monkeypatch, KeyError("oops"))
    assert json.loads(ended(capsys, "ops", "--json")[1])["error"]["kind"] == "InternalError"


@pytest.mark.parametrize("error", [KeyError("oops"), InputError("wrong")])
def test_the_traceback_is_shown_on_request(capsys, monkeypatch, error):
    broken(monkeypatch, error)
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "1")
    status, out, err = ended(capsys, "ops")
    assert (status, out) == (2, "")
    first, *_, last = err.splitlines()
    assert first == "Traceback (most recent call last):"
    assert last.startswith("extremum: ")
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "0")
    assert len(ended(capsys, "ops")[2].splitlines()) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers_a_mistake_as_json(capsys, command):
    named = getattr(import_module(f"extremum.cli.{command}"), command)
    for each in named.commands.values() if isinstance(named, click.Group) else [named]:
        assert "--json" in {name for option in each.params for name in option.opts}, each.name
    status, out, err = ended(capsys, command, "--json", "--frobnicate")
    assert status == 2
    assert json.loads(out)["error"]["reason"].startswith("No such option")
    assert len(err.splitlines()) == 1
    if command not in ("ops", "explain", "conformance"):
        name = "none.npy" if command == "apply" else "none.onnx"
        words = ("argmax", name, "-o", "y.npy") if command == "apply" else (name,)
        status, out, _ = ended(capsys, command, *words, "--json")
        assert status == 2
        found = json.loads(out)["error"]
        assert (found["kind"], found["reason"]) == ("FileNotFoundError", f"{name}: No such file or directory")


def test_where_json_was_asked_for(capsys):
    for words in (["check", "none", "--format", "json"], ["check", "none", "--format=json"], ["none", "--json"]):
        assert "error" in json.loads(ended(capsys, *words)[1])
    for words in (["check", "--", "--json"], ["check", "none", "--format", "text"]):
        assert ended(capsys, *words)[1] == ""


def test_what_a_module_that_is_missing_is_called():
    failure = Failure.of(ModuleNotFoundError("No module named 'rich'", name="rich"))
    assert failure.record()["kind"] == "DependencyError"
    assert failure.message.one_line() == "this command needs rich; help: pip install 'extremum[cli]'"


def test_warnings_of_libraries_are_no_lines(tmp_path):
    np.save("x.npy", np.ones((2, 4), np.float32))
    # NumPy parses the header as Python, which warns of what it finds there.
    content = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(content.replace(b"(2, 4)", b"(2, 4i"))
    text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 4] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }'
    onnx.save(onnx.parser.parse_model(text), "m.onnx")
    result = subprocess.run(
        [sys.executable, "-m", "extremum", "run", "m.onnx", "-i", "x=x.npy"],
        capture_output=True,
        text=True,
        check=False,
        env={key: value for key, value in os.environ.items() if key != "PYTHONWARNINGS"},
    )
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
