"""The command line answers, and refuses with one line on stderr, exit status 2 and nothing written."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import extremum
from extremum import catalogue
from extremum.cli import main
from extremum.cli.program import COMMANDS, program

MODELS = {
    "labels": "g (float[batch, 3] scores) => (int64[batch, 1] labels) { labels = ArgMax<axis = -1>(scores) }",
    "larger": "g (float[n, 1] x, float[1, n] y) => (float[n, n] z) { z = Max(x, y) }",
    "brain": "g (bfloat16[n, 4] x) => (bfloat16[n, 4] y) { y = Hardmax(x) }",
    "unknown": "g (float[3] x) => (float[3] y) { y = Frobnicate(x) }",
    "wrong": "g (float[3] x) => (int64[1] y) { y = ArgMax<axis = 5>(x) }",
}
SCORES = np.array([[1, 5, 2], [7, 0, 7]], np.float32)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make the current folder one with models, good inputs and bad ones."""
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
    np.savez(tmp_path / "all.npz", scores=SCORES, others=-SCORES)
    (tmp_path / "scores.pb").write_bytes(onnx.numpy_helper.from_array(SCORES).SerializeToString())
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "labels.npy").write_text("mine")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def extremum_process(*words, **options):
    """Run the installed command in a process of its own."""
    script = shutil.which("extremum", path=sysconfig.get_path("scripts"))
    return subprocess.run([script, *words], capture_output=True, text=True, check=False, **options)


def answer(*words):
    """Run the command in this process and return what it prints."""
    result = CliRunner().invoke(program, words, standalone_mode=False, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def ended(capsys, *words):
    """Run the command in this process; return its status and what it prints to stdout and stderr."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    return (caught.value.code, *capsys.readouterr())


def refusal(capsys, *words):
    """Run the command in this process and return the one line it is refused with."""
    status, out, err = ended(capsys, *words)
    assert (status, out, err[-1:]) == (2, "", "\n")
    (line,) = err.splitlines()
    return line


def tree(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("source", ["scores.npy", "all.npz:scores", "scores.pb"])
def test_runs_a_model_on_an_array_from_a_file(folder, source):
    report = json.loads(answer("run", "labels.onnx", "-i", f"scores={source}", "--json"))
    assert report["inputs"] == [
        {"name": "scores", "type": "float32", "shape": [2, 3], "preview": "1.0 5.0 2.0 7.0 0.0 7.0"}
    ]
    assert report["outputs"] == [{"name": "labels", "type": "int64", "shape": [2, 1], "preview": "1 0"}]
    assert report["seconds"] > 0
    assert report["files"] == []


@pytest.mark.parametrize("engine", ["onnxruntime", "reference"])
def test_prints_names_types_shapes_elements_and_the_time(folder, engine):
    text = answer("run", "labels.onnx", "-i", "scores=scores.npy", "--engine", engine)
    rows = [line.split() for line in text.splitlines()]
    assert ["scores", "float32", "2", "x", "3", "1.0", "5.0", "2.0", "7.0", "0.0", "7.0"] in rows
    assert ["labels", "int64", "2", "x", "1", "1", "0"] in rows
    assert rows[-1][1] == "ms"


def test_draws_random_inputs_for_the_sizes_set(folder):
    words = ("run", "labels.onnx", "--random", "--set", "batch=50", "--json")
    first, again, other = (json.loads(answer(*words, "--seed", seed)) for seed in ("1", "1", "2"))
    assert first["outputs"][0]["shape"] == [50, 1]
    assert first["inputs"] == again["inputs"]
    assert first["inputs"] != other["inputs"]


def test_draws_indices_and_ranges(folder):
    body = "g (int64[50] i) => (float[50] y) <float[3] t = {5, 6, 7}> { y = Gather(t, i) }"
    text = f'<ir_version: 8, opset_import: ["" : 13]> {body}'
    onnx.save(onnx.parser.parse_model(text), "gather.onnx")
    answer("run", "gather.onnx", "--random", "-o", "usual")
    assert set(np.load("usual/y.npy")) == {5, 6}
    answer("run", "gather.onnx", "--random", "--range", "i=1:2", "-o", "ranged")
    assert set(np.load("ranged/y.npy")) == {6, 7}


def test_takes_bfloat16_as_numpy_stores_it_and_writes_it_so(folder):
    np.save("x.npy", np.array([[1, 9, 9, 2]], ml_dtypes.bfloat16))
    answer("run", "brain.onnx", "-i", "x=x.npy", "-o", "answers")
    np.testing.assert_array_equal(np.load("answers/y.npy").view(ml_dtypes.bfloat16).astype(int), [[0, 1, 0, 0]])


REFUSALS = {
    "a truncated model": (["truncated.onnx"], "truncated.onnx"),
    "a text file as a model": (["text.onnx"], "text.onnx"),
    "an empty file as a model": (["empty.onnx"], "empty.onnx"),
    "a missing model": (["none.onnx"], "none.onnx"),
    "a folder as a model": (["taken"], "taken"),
    "no input": (
        ["labels.onnx"],
        "input 'scores' is missing; given: inputs none; help: pass -i scores=FILE, or add --random",
    ),
    "an unknown input": (
        ["labels.onnx", "-i", "score=scores.npy"],
        "the model has no input 'score'; help: it has scores",
    ),
    "an input of the wrong type": (["labels.onnx", "-i", "scores=doubles.npy"], "float64"),
    "an input of the wrong shape": (["labels.onnx", "-i", "scores=wide.npy"], "[2, 4]"),
    "an unknown operator": (["unknown.onnx", "--random"], "Frobnicate"),
    "an axis out of range": (["wrong.onnx", "--random"], "axis"),
    "an output larger than memory": (["larger.onnx", "--random", "--set", "n=3000000", "-o", "answers"], "memory"),
    "a missing input file": (["labels.onnx", "-i", "scores=none.npy"], "none.npy: No such file"),
    "an output file that exists": (
        # The input is missing: the output is looked at first.
        ["labels.onnx", "-i", "scores=none.npy", "-o", "taken"],
        f"'{Path('taken', 'labels.npy')}' already exists; help: choose another folder, or move that file",
    ),
    "a malformed size": (["labels.onnx", "--set", "batch"], "'batch' is not of the form dimension=size"),
    "an unknown option": (["labels.onnx", "--frobnicate"], "No such option"),
}


@pytest.mark.parametrize(("words", "expected"), REFUSALS.values(), ids=[name.replace(" ", "_") for name in REFUSALS])
def test_refuses(folder, capsys, words, expected):
    before = tree(folder)
    line = refusal(capsys, "run", *words)
    assert line.startswith("extremum: ")
    assert expected in line
    assert tree(folder) == before


def test_runs_in_a_real_process(folder):
    words = ("run", "labels.onnx", "-i", "scores=scores.npy", "-o", "answers")
    result = extremum_process(*words)
    assert (result.returncode, result.stderr) == (0, "")
    assert "answers" in result.stdout
    np.testing.assert_array_equal(np.load("answers/labels.npy"), [[1], [0]])
    result = extremum_process(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"extremum: '{Path('answers', 'labels.npy')}' already exists; help: ")
    assert len(result.stderr.splitlines()) == 1


def test_an_interruption_ends_with_130(monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(catalogue, "tables", interrupted)
    assert ended(capsys, "ops") == (130, "", "extremum: interrupted\n")


@pytest.mark.parametrize(
    ("missing", "words", "said"),
    [
        ("click", ["ops"], "this command needs click; help: pip install 'extremum[cli]'"),
        ("rich", ["ops"], "this command needs rich; help: pip install 'extremum[cli]'"),
        ("onnx", ["run", "labels.onnx"], "extremum.backend needs onnx; help: pip install 'extremum[onnx]'"),
    ],
)
def test_names_what_to_install(folder, missing, words, said):
    (folder / "hidden").mkdir()
    (folder / "hidden" / f"{missing}.py").write_text(f"raise ModuleNotFoundError('hidden', name={missing!r})\n")
    result = extremum_process(
        *words, env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder / "hidden"), *sys.path[1:]))}
    )
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"extremum: {said}\n")


def test_lists_every_operator_version():
    assert json.loads(answer("ops", "--json")) == catalogue.records()
    assert answer("ops", "--markdown") == catalogue.markdown()
    printed = [line.split() for line in answer("ops").splitlines()]
    for headings, *rows in catalogue.tables():
        assert {word for line in printed for word in line} >= set(", ".join(headings).split(", "))
        for operator, versions, *since in rows:
            assert [operator, *versions.split(), *since] in printed


def test_says_its_version():
    assert answer("--version") == f"extremum {extremum.__version__}\n"


def test_says_what_is_installed():
    record = json.loads(answer("--version", "--json"))
    assert record == json.loads(answer("--json", "--version"))
    assert record["extremum"] == extremum.__version__
    assert record["packages"]["numpy"] == np.__version__
    assert record["runtimes"]["onnx.reference"] == onnx.__version__
    assert record["instruction_set"] in record["instruction_sets"]
    assert None not in record["packages"].values()


def test_json_without_a_command_is_refused(capsys):
    status, out, err = ended(capsys, "--json")
    assert status == 2
    assert err == "extremum: --json goes after the command, as in: extremum ops --json\n"
    assert json.loads(out)["error"]["kind"] == "ArgumentError"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["ops", "--json", "--markdown"], "--json and --markdown are both given; help: drop one of them"),
        (["check", "m.onnx", "--format", "text", "--json"], "--format and --json are both given; help: drop one of "),
        (["lower", "m.onnx", "--json", "--format", "cpp"], "--json and --format are both given; help: drop one of "),
        (["explain", "--markdown", "--json"], "--markdown and --json are both given; help: drop one of them"),
        (["explain", "EX103", "--markdown"], "--markdown prints the page about all rules, not about 'EX103'; help: "),
        (["explain", "AxisError", "--markdown"], "--markdown prints the page about all rules, not about 'AxisError'"),
        (["conformance", "run", "--json", "--markdown"], "--json and --markdown are both given; help: drop one of "),
        (["conformance", "run", "--json", "--compare", "a", "b"], "--compare and --json are both given; help: drop "),
        (["run", "m.onnx", "--seed", "3"], "--seed has no effect without --random; help: add --random"),
        (["run", "m.onnx", "--range", "x=0:1"], "--range has no effect without --random; help: add --random"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_option_that_does_nothing_is_refused(capsys, words, reason):
    status, _, err = ended(capsys, *words)
    assert status == 2
    assert err.startswith(f"extremum: {reason}")


def test_help_without_a_command(capsys):
    assert ended(capsys, "conformance") == ended(capsys, "conformance", "--help")
    status, out, _ = ended(capsys)
    assert status == 0
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["chek"], "there is no command 'chek'; help: did you mean 'check'?"),
        (["conformance", "rum"], "there is no command 'conformance rum'; help: did you mean 'run'?"),
        (["conformance", "x"], "there is no command 'conformance x'; help: the commands are card, export, run"),
        (["frobnicate"], f"there is no command 'frobnicate'; help: the commands are {', '.join(COMMANDS)}"),
    ],
    ids=str,
)
def test_refuses_an_unknown_command(capsys, words, line):
    assert refusal(capsys, *words) == f"extremum: {line}"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_their_own_help_says(name):
    command = getattr(import_module(f"extremum.cli.{name}"), name)
    assert command.get_short_help_str(limit=200) == COMMANDS[name]


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
