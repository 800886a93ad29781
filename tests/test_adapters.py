"""Adapters of runtimes: those that fail are blamed by name, and those that are files are found."""

import json
import sys
import textwrap
from pathlib import Path

import onnx
import pytest

from extremum import runtimes
from extremum.cli import main
from extremum.conformance import Selection, cases, run
from extremum.errors import ArgumentError, DependencyError, ExecutionError
from hostile_runtimes import make_known

FEW = ["--operator", "ArgMax", "--opset", "13", "--type", "int8", "--topic", "ties"]
MINE = """
    from beside import answer

    class Mine:
        def __init__(self, name):
            self.name, self.version = name, "7"

        def load(self, model):
            return lambda feeds: answer(model, feeds)

    def runtimes():
        return [Mine("mine"), Mine("mine:other")]
"""
BESIDE = """
    from extremum import backend

    def answer(model, feeds):
        return backend.run_model(model, list(feeds.values()))
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runtimes, "_FILES", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    runtimes._open.cache_clear()
    yield tmp_path
    runtimes._open.cache_clear()
    sys.modules.pop("beside", None)


def command(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(["conformance", "run", *words])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def written(name, text):
    Path(name).write_text(textwrap.dedent(text))
    return name


# The module of the adapter, and what is said of it.
BROKEN = {
    "its own failure": ("def runtimes():\n    return {}['x']\n", "line 2", "KeyError: 'x'"),
    "a list that is none": (
        "def runtimes():\n    pass\n",
        None,
        "TypeError: runtimes() gives NoneType, and not a list",
    ),
    "no runtime in it": ("def runtimes():\n    return [3]\n", None, "TypeError: int.name must be text"),
    "no function": ("", None, "has no attribute 'runtimes'"),
    "a file that is no Python": ("this is no Python", "line 1", "SyntaxError: invalid syntax"),
    "an import that fails inside of what is installed": ("import halted\n", "line 1", "ModuleNotFoundError: No module"),
    "a name that is not in what is installed": (
        "from json import nothing_of_this_name\n",
        "line 1",
        "ImportError: cannot import name 'nothing_of_this_name'",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("way", ["entry point", "file"])
def test_an_adapter_that_fails_is_blamed(folder, monkeypatch, capsys, way, case):
    text, line, given = BROKEN[case]
    written("broken.py", text)
    written("halted.py", "import nothing_that_there_is\n")
    monkeypatch.syspath_prepend(folder)
    for name in ("broken", "halted"):
        sys.modules.pop(name, None)
    if way == "entry point":
        make_known(folder, monkeypatch, broken="broken:runtimes")
    words, name = (["broken"], "broken") if way == "entry point" else (["--adapter", "broken.py"], "broken.py")
    status, out, err = command(capsys, *words, *FEW)
    assert (status, out) == (2, "")
    assert err.startswith(f"extremum: the adapter of the runtime '{name}' fails; ")
    assert given in err
    assert line is None or f".py, {line}; given:" in err
    assert err.endswith("help: mend the adapter, or what it imports; EXTREMUM_TRACEBACK=1 shows the traceback\n")
    assert err.count("\n") == 1
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "1")
    runtimes._open.cache_clear()
    assert given.partition(":")[0] in command(capsys, *words, *FEW)[2].partition("The above exception")[0]


@pytest.mark.parametrize("has_backport", [False, True])
@pytest.mark.parametrize("text", ["import nothing_that_there_is\n", "raise ImportError('it needs version 3')\n"])
def test_what_an_adapter_needs_is_not_installed(folder, monkeypatch, text, has_backport):
    if has_backport:
        # What it gives is found instead of the standard library's.
        backport = pytest.importorskip("importlib_metadata", reason="nothing that is installed brings it")
        monkeypatch.setattr(runtimes, "entry_points", backport.entry_points)
    written("lacking.py", text)
    monkeypatch.syspath_prepend(folder)
    sys.modules.pop("lacking", None)
    make_known(folder, monkeypatch, lacking="lacking:runtimes")
    with pytest.raises(ArgumentError, match="lacking is not installed"):
        runtimes.find("lacking")
    with pytest.raises(DependencyError, match=r"'lacking\.py' imports a package that is not installed"):
        runtimes.add_file("lacking.py")


def test_a_package_that_is_installed_and_cannot_be_imported(folder, monkeypatch):
    (folder / "openvino").mkdir()
    written("openvino/__init__.py", "raise ImportError('libtbb.so.12: cannot open', name='_pyopenvino')\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "openvino", raising=False)
    with pytest.raises(ExecutionError, match="the adapter of the runtime 'openvino' fails") as caught:
        runtimes.find("openvino")
    monkeypatch.delitem(sys.modules, "openvino", raising=False)
    assert caught.value.given == "ImportError: libtbb.so.12: cannot open"
    assert caught.value.where == f"{folder / 'openvino' / '__init__.py'}, line 1"


def test_the_others_are_asked_where_one_fails(folder, monkeypatch, capsys):
    make_known(folder, monkeypatch, fails="hostile_runtimes:fails")
    monkeypatch.setattr(runtimes, "ADAPTERS", {"extremum": runtimes.ADAPTERS["extremum"]})
    with pytest.warns(RuntimeWarning, match="the adapter of the runtime 'fails' fails"):
        assert "extremum" in [each.name for each in runtimes.installed()]
    with pytest.raises(SystemExit) as ended:
        main(["--version", "--json"])
    assert ended.value.code == 0
    assert "extremum" in json.loads(capsys.readouterr().out)["runtimes"]


def test_an_adapter_from_a_file(capsys):
    written("beside.py", BESIDE)
    status, out, err = command(capsys, "--adapter", written("mine.py", MINE), *FEW)
    assert (status, err) == (0, "")
    assert out == "mine 7\n  exact      4\nmine:other 7\n  exact      4\n"
    status, out, err = command(capsys, "mine:other", "--adapter", "mine.py", *FEW)
    assert (status, err) == (0, "")
    assert "mine:other 7\n" in out


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("none.py", "none.py: No such file or directory"),
        ("folder", "'folder' is not a regular file; help: name the Python file of an adapter"),
        ("known.py", "there is a runtime 'onnxruntime' already; at: known.py; help: give it another name"),
    ],
)
def test_a_file_that_is_no_adapter(folder, capsys, name, line):
    (folder / "folder").mkdir()
    written("beside.py", BESIDE)
    written("known.py", MINE.replace('"mine"', '"onnxruntime"'))
    status, out, err = command(capsys, "--adapter", name, *FEW)
    assert (status, out, err) == (2, "", f"extremum: {line}\n")


def test_an_adapter_that_gives_nothing_to_run(folder, monkeypatch, capsys):
    make_known(folder, monkeypatch, forgetful="hostile_runtimes:forgetful")
    reason = "load gives NoneType, and not a function that runs the model"
    status, out, err = command(capsys, "forgetful", *FEW)
    assert status == 0
    assert out == f"forgetful 1.0\n  refused      4\n  refused: argmax_13_int8_ties_rows: {reason}\n"
    assert err == f"extremum: forgetful refuses every case; is its adapter right? first reason: {reason}\n"


NAME = "argmax_13_float32_nan_middle_row"


@pytest.mark.parametrize("prefix", ["", "test_"])
def test_a_case_by_its_name(capsys, prefix):
    status, out, err = command(capsys, "extremum", "--case", prefix + NAME)
    assert (status, err) == (0, "")
    assert out == f"extremum {runtimes.find('extremum').version}\n  exact      1\n  exact: {NAME}\n"
    assert f"  NaN: {NAME}: int64[" in command(capsys, "onnxruntime", "--case", prefix + NAME)[1]


def test_run_takes_a_file(folder):
    written("beside.py", BESIDE)
    written("mine.py", MINE)
    assert [each.name for each in runtimes.add_file("mine.py")] == ["mine", "mine:other"]
    (result,) = run("mine", cases(Selection(names=[NAME]))).results
    assert result.conforms


def test_check_and_fix_take_an_adapter(folder, capsys):
    written("beside.py", BESIDE)
    written("one.py", MINE.replace('Mine("mine"), ', ""))
    written("mine.py", MINE.replace("mine", "two"))
    text = '<ir_version: 8, opset_import: ["" : 13]> g (int8[2, 3] x) => (y) { y = ArgMax <axis=1> (x) }'
    onnx.save(onnx.parser.parse_model(text), "m.onnx")

    def said(*words):
        with pytest.raises(SystemExit) as ended:
            main([*words])
        return ended.value.code, "".join(capsys.readouterr())

    assert said("fix", "m.onnx", "--adapter", "one.py") == (0, "not modified: mine:other 7 takes every node\n")
    assert said("check", "m.onnx", "--adapter", "one.py")[0] == 0
    line = "extremum: --adapter gives two, two:other; help: name one of them with --for\n"
    for words in (["check", "m.onnx"], ["fix", "m.onnx"], ["check", "m.onnx", "--for", "onnxruntime"]):
        assert said(*words, "--adapter", "mine.py") == (2, line)
    assert said("check", "m.onnx", "--adapter", "mine.py", "--for", "two")[0] == 0
