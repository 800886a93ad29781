"""The command line answers, or ends with one line on stderr, status 2, nothing written, and an object as JSON."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import warnings
from importlib import import_module
from itertools import chain
from pathlib import Path

import click
import ml_dtypes
import numpy as np
import onnx
import pytest
from click.shell_completion import ShellComplete

import extremum
from commands import printed, refused, run, tree
from extremum.check import RULES
from extremum.cli.ops import tables
from extremum.cli.program import COMMANDS, program
from extremum.cli.terminal import show_error
from extremum.errors import InputError
from extremum.spec import OPERATORS

MODELS = {
    "labels": "g (float[batch, 3] scores) => (int64[batch, 1] labels) { labels = ArgMax<axis = -1>(scores) }",
    "larger": "g (float[n, 1] x, float[1, n] y) => (float[n, n] z) { z = Max(x, y) }",
    "brain": "g (bfloat16[n, 4] x) => (bfloat16[n, 4] y) { y = Hardmax(x) }",
    "unknown": "g (float[3] x) => (float[3] y) { y = Frobnicate(x) }",
    "wrong": "g (float[3] x) => (int64[1] y) { y = ArgMax<axis = 5>(x) }",
    "gather": "g (int64[50] i) => (float[50] y) <float[3] t = {5, 6, 7}> { y = Gather(t, i) }",
}
SCORES = np.array([[1, 5, 2], [7, 0, 7]], np.float32)


@pytest.fixture(autouse=True)
def models_folder(tmp_path, monkeypatch):
    """Change to a folder with models, good inputs and bad inputs."""
    for name, text in MODELS.items():
        model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> {text}')
        onnx.save(model, tmp_path / f"{name}.onnx")
    whole = (tmp_path / "labels.onnx").read_bytes()
    (tmp_path / "truncated.onnx").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.onnx").write_text("This is a letter, not a model.\n")
    (tmp_path / "empty.onnx").write_bytes(b"")
    np.save(tmp_path / "scores.npy", SCORES)
    np.save(tmp_path / "doubles.npy", SCORES.astype(np.float64))
    np.save(tmp_path / "wide.npy", np.ones((2, 4), np.float32))
    # NumPy warns about a header that Python 2 wrote.
    (tmp_path / "old.npy").write_bytes((tmp_path / "scores.npy").read_bytes().replace(b"(2, 3)", b"(2L,3)"))
    np.savez(tmp_path / "all.npz", scores=SCORES, others=-SCORES)
    (tmp_path / "scores.pb").write_bytes(onnx.numpy_helper.from_array(SCORES).SerializeToString())
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "labels.npy").write_text("mine")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXTREMUM_TRACEBACK", raising=False)
    return tmp_path


def extremum_process(*words, **options):
    """Run the installed command in a process of its own."""
    script = shutil.which("extremum", path=sysconfig.get_path("scripts"))
    return subprocess.run([script, *words], capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("source", ["scores.npy", "all.npz:scores", "scores.pb"])
def test_runs_a_model_on_an_array_from_a_file(source):
    report = json.loads(printed("run", "labels.onnx", "-i", f"scores={source}", "--json"))
    assert report["inputs"] == [
        {"name": "scores", "type": "float32", "shape": [2, 3], "preview": "1.0 5.0 2.0 7.0 0.0 7.0"}
    ]
    assert report["outputs"] == [{"name": "labels", "type": "int64", "shape": [2, 1], "preview": "1 0"}]
    assert report["seconds"] > 0
    assert report["files"] == []


@pytest.mark.parametrize("engine", ["onnxruntime", "reference"])
def test_prints_names_types_shapes_elements_and_the_time(engine):
    text = printed("run", "labels.onnx", "-i", "scores=scores.npy", "--engine", engine)
    rows = [line.split() for line in text.splitlines()]
    assert ["scores", "float32", "2", "x", "3", "1.0", "5.0", "2.0", "7.0", "0.0", "7.0"] in rows
    assert ["labels", "int64", "2", "x", "1", "1", "0"] in rows
    assert rows[-1][1] == "ms"


def test_draws_random_inputs():
    words = ("run", "labels.onnx", "--random", "--set", "batch=50", "--json")
    first, again, other = (json.loads(printed(*words, "--seed", seed)) for seed in (1, 1, 2))
    assert first["outputs"][0]["shape"] == [50, 1]
    assert first["inputs"] == again["inputs"]
    assert first["inputs"] != other["inputs"]
    printed("run", "gather.onnx", "--random", "-o", "usual")
    assert set(np.load("usual/y.npy")) == {5, 6}
    printed("run", "gather.onnx", "--random", "--range", "i=1:2", "-o", "ranged")
    assert set(np.load("ranged/y.npy")) == {6, 7}


def test_takes_bfloat16_as_numpy_stores_it_and_writes_it_so():
    np.save("x.npy", np.array([[1, 9, 9, 2]], ml_dtypes.bfloat16))
    printed("run", "brain.onnx", "-i", "x=x.npy", "-o", "answers")
    np.testing.assert_array_equal(np.load("answers/y.npy").view(ml_dtypes.bfloat16).astype(int), [[0, 1, 0, 0]])


BOTH = "--json and --markdown are both given; help: drop one of them"
NO_STREAM = (
    "extremum: '-' does not stand for standard input or output; help: name a file; './-' is the file of that name"
)
# The words of a command, and a part of the line that refuses it, or the whole line if it begins with "extremum: ".
REFUSED = {
    "run truncated.onnx": "truncated.onnx",
    "run text.onnx": "text.onnx",
    "run empty.onnx": "empty.onnx",
    "run none.onnx": "none.onnx",
    "run taken": "taken",
    "run labels.onnx": "input 'scores' is missing; given: inputs none; help: pass -i scores=FILE, or add --random",
    "run labels.onnx -i score=scores.npy": "the model has no input 'score'; help: it has scores",
    "run labels.onnx -i scores=doubles.npy": "float64",
    "run labels.onnx -i scores=wide.npy": "[2, 4]",
    "run unknown.onnx --random": "Frobnicate",
    "run wrong.onnx --random": "axis",
    "run larger.onnx --random --set n=3000000 -o answers": "memory",
    "run labels.onnx -i scores=none.npy": "none.npy: No such file",
    # The input is missing too, but the output is checked first.
    "run labels.onnx -i scores=none.npy -o taken": (
        f"'{Path('taken', 'labels.npy')}' already exists; help: choose another folder, or move that file"
    ),
    "run labels.onnx --set batch": "'batch' is not of the form dimension=size",
    "run labels.onnx --frobnicate": "No such option",
    "run labels.onnx --seed 3": "--seed has no effect without --random; help: add --random",
    "run labels.onnx --range x=0:1": "--range has no effect without --random; help: add --random",
    "ops --markdown --json": "--markdown and --json are both given; help: drop one of them",
    "check m.onnx --format text --json": "--format and --json are both given; help: drop one of them",
    "lower m.onnx --json --format cpp": "--json and --format are both given; help: drop one of them",
    "explain --json --markdown": BOTH,
    "explain EX103 --markdown": "--markdown prints the page about all rules, not about 'EX103'; help: drop one of them",
    "conformance run --json --markdown": BOTH,
    "conformance run --json --compare a b": "--compare and --json are both given; help: drop one of them",
    "check -": NO_STREAM,
    "check labels.onnx --adapter -": NO_STREAM,
    "fix labels.onnx -o -": NO_STREAM,
    "lower labels.onnx -o -": NO_STREAM,
    "run labels.onnx --random -o -": NO_STREAM,
    "apply argmax scores.npy -o -": NO_STREAM,
    "conformance export -": NO_STREAM,
    "conformance card - --picture card.png": NO_STREAM,
    "--json": "--json goes after the command, as in: extremum ops --json",
    "chek": "there is no command 'chek'; help: did you mean 'check'?",
    "conformance rum": "there is no command 'conformance rum'; help: did you mean 'run'?",
    "frobnicate": f"there is no command 'frobnicate'; help: the commands are {', '.join(COMMANDS)}",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_refused_is_said_in_one_line_and_leaves_nothing(line, models_folder):
    before = tree(models_folder)
    status, out, err = run(*line.split())
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("extremum: ")
    assert REFUSED[line] in err
    assert set(json.loads(out)) == {"error"} if "--json" in line else out == ""
    assert tree(models_folder) == before


@pytest.mark.parametrize(
    ("missing", "words", "message"),
    [
        ("click", ["ops"], "this command needs click; help: pip install 'extremum[cli]'"),
        ("rich", ["ops"], "this command needs rich; help: pip install 'extremum[cli]'"),
        ("onnx", ["run", "labels.onnx"], "extremum.backend needs onnx; help: pip install 'extremum[onnx]'"),
    ],
)
def test_names_what_to_install(models_folder, missing, words, message):
    (models_folder / "hidden").mkdir()
    (models_folder / "hidden" / f"{missing}.py").write_text(f"raise ModuleNotFoundError('hidden', name={missing!r})\n")
    result = extremum_process(
        *words, env={**os.environ, "PYTHONPATH": os.pathsep.join((str(models_folder / "hidden"), *sys.path[1:]))}
    )
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"extremum: {message}\n")
    failure = show_error(ModuleNotFoundError("No module named 'rich'", name="rich"))
    assert failure.record()["kind"] == "DependencyError"


def test_lists_every_operator_version():
    records = [(each["operator"], each["version"], each["types"]) for each in json.loads(printed("ops", "--json"))]
    assert records == [(each.name, each.version, list(each.types)) for each in chain(*OPERATORS.values())]
    lines = [line.split() for line in printed("ops").splitlines()]
    for headings, *rows in tables():
        assert set(chain(*lines)) >= set(", ".join(headings).split(", "))
        for operator, versions, *since in rows:
            assert [operator, *versions.split(), *since] in lines


def test_says_its_version_and_what_is_installed():
    assert printed("--version") == f"extremum {extremum.__version__}\n"
    record = json.loads(printed("--version", "--json"))
    assert record == json.loads(printed("--json", "--version"))
    assert record["extremum"] == extremum.__version__
    assert record["packages"]["numpy"] == np.__version__
    assert record["runtimes"]["onnx.reference"] == onnx.__version__
    assert record["instruction_set"] in record["instruction_sets"]
    assert isinstance(record["gpus"], list)
    assert None not in record["packages"].values()


def test_help_without_a_command():
    assert printed("conformance") == printed("conformance", "--help")
    assert all(name in printed() for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command(name):
    """The list of commands shows the same text as each command's help; each command reports a mistake as JSON."""
    command = getattr(import_module(f"extremum.cli.{name}"), name)
    assert command.get_short_help_str(limit=200) == COMMANDS[name]
    parts = command.commands.values() if isinstance(command, click.Group) else [command]
    for each in parts:
        assert "--json" in {word for option in each.params for word in option.opts}, each.name
    mistakes = {"--frobnicate": ("ArgumentError", "No such option")}
    if name == "apply":
        mistakes["argmax x.npy -o y.npy"] = ("FileNotFoundError", "x.npy: No such file or directory")
    elif name not in ("ops", "explain", "conformance"):
        mistakes["none.onnx"] = ("FileNotFoundError", "none.onnx: No such file or directory")
    for line, (kind, reason) in mistakes.items():
        status, out, err = run(name, "--json", *line.split())
        error = json.loads(out)["error"]
        assert (status, error["kind"], error["reason"][: len(reason)], err.count("\n")) == (2, kind, reason, 1)


def test_a_command_is_imported_only_when_it_is_called():
    code = """
import sys
from extremum.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print(sorted(name for name in sys.modules if name.split(".")[0] in {"onnx", "rich"} or name == "extremum.cli.run"))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


# Internal errors.


class Panic(BaseException):
    """Like the native module's panics, which are not Exceptions."""


@pytest.fixture
def broken(monkeypatch):
    """Let the command `ops` fail."""

    def broken(error):
        def fails(*_):
            raise error

        for name in ("tables", "json_text"):
            monkeypatch.setattr(sys.modules["extremum.cli.ops"], name, fails)

    return broken


REPORT = "help: this is a bug in extremum; please report it with the traceback that EXTREMUM_TRACEBACK=1 prints"


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
def test_any_exception(broken, monkeypatch, error, line):
    broken(error)
    text = refused("ops")
    assert text.startswith(line)
    status, out, err = run("ops", "--json")
    assert (status, err, list(json.loads(out))) == (2, f"extremum: {text}\n", ["error"])
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "1")
    status, out, err = run("ops")
    first, *_, last = err.splitlines()
    assert (status, out, first, last) == (2, "", "Traceback (most recent call last):", f"extremum: {text}")
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "0")
    assert refused("ops") == text


def test_the_object_says_what_the_line_says(broken):
    parts = {"reason": "input 'x' is missing", "where": "model.onnx", "given": "y", "remedy": "pass x"}
    broken(InputError(parts["reason"], where="model.onnx", given="y", remedy="pass x"))
    assert json.loads(run("ops", "--json")[1]) == {"error": {"kind": "InputError", **parts}}
    broken(KeyError("oops"))
    assert json.loads(run("ops", "--json")[1])["error"]["kind"] == "InternalError"
    for words in ("check none --format json", "check none --format=json", "none --json"):
        assert "error" in json.loads(run(*words.split())[1])
    for words in ("check -- --json", "check none --format text"):
        assert run(*words.split())[1] == ""


def test_warnings_of_libraries_are_no_lines(monkeypatch):
    monkeypatch.setattr(sys, "warnoptions", [])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        printed("run", "labels.onnx", "-i", "scores=old.npy")
    assert not caught


# What a shell gets when it completes a command line.


def offered(line):
    """The completions of the last word of a line, each with its kind."""
    *words, last = line.split()
    items = ShellComplete(program, {}, "extremum", "_EXTREMUM_COMPLETE").get_completions(words, last)
    return {(each.type, each.value) for each in items}


COMPLETIONS = {
    "c": {"check", "conformance"},
    "conformance r": {"run"},
    "apply arg": {"argmax", "argmin"},
    "explain EX10": {rule.code for rule in RULES if rule.code.startswith("EX10")},
    "explain Axis": {"AxisError"},
    "check m.onnx --for onnx": {"onnxruntime", "onnx.reference", "onnx2torch"},
    "check m.onnx --select EX003,EX00": {f"EX003,{rule.code}" for rule in RULES if rule.code[:4] == "EX00"},
    "check m.onnx --ignore ex003": {"EX003"},
    "fix m.onnx --for directml-4": {"directml-4_0", "directml-4_1"},
    "conformance run extr": {"extremum"},
    "conformance run --compare extremum onnx.r": {"onnx.reference"},
    "conformance export suite --operator Arg": {"ArgMax", "ArgMin"},
    "conformance run --type bf": {"bfloat16"},
    "conformance run --topic na": {"nan"},
    "run m.onnx --engine ref": {"reference"},
    "lower m.onnx --format dx": {"dxdispatch"},
}


@pytest.mark.parametrize(("line", "words"), COMPLETIONS.items(), ids=COMPLETIONS)
def test_completes_words(line, words):
    assert offered(line) == {("plain", word) for word in words}


@pytest.mark.parametrize("line", ["apply mod", "apply argmax x", "check m", "lower m"])
def test_completes_files(line):
    assert {kind for kind, _ in offered(line)} == {"file"}


@pytest.mark.parametrize(
    ("variables", "answer"),
    [
        ({"_EXTREMUM_COMPLETE": "fish_source"}, "_EXTREMUM_COMPLETE=fish_complete"),
        ({"_EXTREMUM_COMPLETE": "bash_complete", "COMP_WORDS": "extremum c", "COMP_CWORD": "1"}, "plain,check\nplain,"),
    ],
    ids=["the script of fish", "a word for bash"],
)
def test_answers_a_shell(variables, answer):
    result = extremum_process(env={**os.environ, **variables})
    assert (result.returncode, result.stderr) == (0, "")
    assert answer in result.stdout
