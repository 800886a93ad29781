"""What a shell is told when a command line is completed."""

import os
import subprocess
import sys

import pytest

from extremum.check import RULES


def asked(**variables):
    """Return the answer to a shell."""
    words = [sys.executable, "-m", "extremum"]
    done = subprocess.run(words, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def completed(*words):
    """The words that bash is offered for the last of these."""
    place = {"COMP_WORDS": " ".join(["extremum", *words]), "COMP_CWORD": str(len(words))}
    return [tuple(each.split(",", 1)) for each in asked(_EXTREMUM_COMPLETE="bash_complete", **place).splitlines()]


def offered(*words):
    return {word for _, word in completed(*words)}


@pytest.mark.parametrize(
    ("words", "some"),
    [
        (["c"], {"check", "conformance"}),
        (["conformance", "r"], {"run"}),
        (["apply", "arg"], {"argmax", "argmin"}),
        (["explain", "EX10"], {rule.code for rule in RULES if rule.code.startswith("EX10")}),
        (["explain", "Axis"], {"AxisError"}),
        (["check", "m.onnx", "--for", "onnx"], {"onnxruntime", "onnx.reference", "onnx2torch"}),
        (["check", "m.onnx", "--select", "EX003,EX00"], {f"EX003,{r.code}" for r in RULES if r.code[:4] == "EX00"}),
        (["check", "m.onnx", "--ignore", "ex003"], {"EX003"}),
        (["fix", "m.onnx", "--for", "directml-4"], {"directml-4_0", "directml-4_1"}),
        (["conformance", "run", "extr"], {"extremum"}),
        (["conformance", "run", "--compare", "extremum", "onnx.r"], {"onnx.reference"}),
        (["conformance", "export", "suite", "--operator", "Arg"], {"ArgMax", "ArgMin"}),
        (["conformance", "run", "--type", "bf"], {"bfloat16"}),
        (["conformance", "run", "--topic", "na"], {"nan"}),
        (["run", "m.onnx", "--engine", "ref"], {"reference"}),
        (["lower", "m.onnx", "--format", "dx"], {"dxdispatch"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_words(words, some):
    assert offered(*words) == some


@pytest.mark.parametrize("words", [["apply", "mod"], ["apply", "argmax", "x"], ["check", "m"], ["lower", "m"]])
def test_files(words):
    assert {kind for kind, _ in completed(*words)} == {"file"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_ask(shell):
    assert f"_EXTREMUM_COMPLETE={shell}_complete" in asked(_EXTREMUM_COMPLETE=f"{shell}_source")
