"""Adapters of runtimes: an error names the adapter that fails, and adapters in files are found."""

import json
import os
import shutil
import sys

import onnx
import pytest

from commands import run
from extremum import runtimes
from extremum.errors import ArgumentError, DependencyError, ExecutionError
from extremum.runtimes import registry
from hostile_runtimes import make_known

FEW = ["--operator", "ArgMax", "--opset", "13", "--type", "int8", "--topic", "ties"]
NAME = "argmax_13_float32_nan_middle_row"
MINE = """
from types import SimpleNamespace
from beside import load

def runtimes():
    return [SimpleNamespace(name=name, version="7", load=load) for name in ["mine", "mine:other"]]
"""
TINYGRAD = ("tinygrad", "tinygrad.nn", "tinygrad.nn.onnx")
BESIDE = """
from extremum import backend

def load(model):
    return lambda feeds: backend.run_model(model, list(feeds.values()))
"""


@pytest.fixture(autouse=True)
def modules_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(registry, "_FILES", {})
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name in ("beside", "broken", "halted", "lacking", "openvino", *TINYGRAD):
        monkeypatch.delitem(sys.modules, name, raising=False)
    registry._open.cache_clear()
    (tmp_path / "beside.py").write_text(BESIDE)
    (tmp_path / "mine.py").write_text(MINE)
    yield tmp_path
    registry._open.cache_clear()
    for name in ("beside", "openvino", *TINYGRAD):
        sys.modules.pop(name, None)


def run_command(*words):
    return run("conformance", "run", *words)


# The adapter's code, the place that the error names, and the error's text.
BROKEN = {
    "its own failure": ("def runtimes():\n    return {}['x']\n", "line 2", "KeyError: 'x'"),
    "no list": ("def runtimes():\n    pass\n", None, "TypeError: runtimes() gives NoneType, and not a list"),
    "no runtime in it": ("def runtimes():\n    return [3]\n", None, "TypeError: int.name must be text"),
    "no function": ("", None, "has no attribute 'runtimes'"),
    "an exit": ("import sys\nsys.exit()\n", "line 2", "SystemExit"),
    "a file that is no Python": ("this is no Python", "line 1", "SyntaxError: invalid syntax"),
    "an import that fails inside of what is installed": ("import halted\n", "line 1", "ModuleNotFoundError: No module"),
    "a name that is not there": ("from json import nothing\n", "line 1", "ImportError: cannot import name 'nothing'"),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("way", ["entry point", "file"])
def test_an_adapter_that_fails_is_blamed(modules_folder, monkeypatch, way, case):
    text, line, given = BROKEN[case]
    (modules_folder / "broken.py").write_text(text)
    (modules_folder / "halted.py").write_text("import nothing_that_there_is\n")
    if way == "entry point":
        make_known(modules_folder, monkeypatch, broken="broken:runtimes")
    words, name = (["broken"], "broken") if way == "entry point" else (["--adapter", "broken.py"], "broken.py")
    status, out, err = run_command(*words, *FEW)
    assert (status, out) == (2, "")
    assert err.startswith(f"extremum: the adapter of the runtime '{name}' fails; ")
    assert given in err
    assert line is None or f".py, {line}; given:" in err
    assert err.endswith("help: mend the adapter, or what it imports; EXTREMUM_TRACEBACK=1 shows the traceback\n")
    assert err.count("\n") == 1
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "1")
    registry._open.cache_clear()
    assert given.partition(":")[0] in run_command(*words, *FEW)[2].partition("The above exception")[0]


@pytest.mark.parametrize("has_backport", [False, True])
@pytest.mark.parametrize("text", ["import nothing_that_there_is\n", "raise ImportError('it needs version 3')\n"])
def test_what_an_adapter_needs_is_not_installed(modules_folder, monkeypatch, text, has_backport):
    if has_backport:
        # Use the backport's entry points instead of the standard library's.
        backport = pytest.importorskip("importlib_metadata", reason="nothing that is installed brings it")
        monkeypatch.setattr(registry, "entry_points", backport.entry_points)
    (modules_folder / "lacking.py").write_text(text)
    make_known(modules_folder, monkeypatch, lacking="lacking:runtimes")
    with pytest.raises(ArgumentError, match="lacking is not installed"):
        runtimes.find("lacking")
    with pytest.raises(DependencyError, match=r"'lacking\.py' imports a package that is not installed"):
        runtimes.add_file("lacking.py")


def test_a_package_that_is_installed_and_cannot_be_imported(modules_folder, monkeypatch):
    (modules_folder / "openvino").mkdir()
    text = "raise ImportError('libtbb.so.12: cannot open', name='_pyopenvino')\n"
    (modules_folder / "openvino" / "__init__.py").write_text(text)
    with pytest.raises(ExecutionError, match="the adapter of the runtime 'openvino' fails") as caught:
        runtimes.find("openvino")
    assert caught.value.given == "ImportError: libtbb.so.12: cannot open"
    assert caught.value.where == f"{modules_folder / 'openvino' / '__init__.py'}, line 1"


@pytest.mark.parametrize(
    ("given", "tools", "device"),
    [({}, [], "PYTHON"), ({}, ["clang"], "CPU"), ({"CC": "other"}, ["clang"], "PYTHON"), ({"DEV": "CUDA"}, [], "CUDA")],
)
def test_tinygrad_compiles_where_there_is_a_compiler(modules_folder, monkeypatch, given, tools, device):
    files = {
        "tinygrad/__init__.py": "Tensor = None\n",
        "tinygrad/nn/__init__.py": "",
        "tinygrad/nn/onnx.py": "OnnxRunner = None\n",
        "tinygrad-7.dist-info/METADATA": "Metadata-Version: 2.1\nName: tinygrad\nVersion: 7\n",
    }
    for file, text in files.items():
        (modules_folder / file).parent.mkdir(exist_ok=True)
        (modules_folder / file).write_text(text)
    environment = dict(given)
    monkeypatch.setattr(os, "environ", environment)
    monkeypatch.setattr(shutil, "which", {name: f"/usr/bin/{name}" for name in tools}.get)
    assert runtimes.find("tinygrad").version == "7"
    assert environment["DEV"] == device


def test_the_others_are_asked_where_one_fails(modules_folder, monkeypatch):
    make_known(modules_folder, monkeypatch, fails="hostile_runtimes:fails")
    monkeypatch.setattr(registry, "ADAPTERS", {"extremum": registry.ADAPTERS["extremum"]})
    with pytest.warns(RuntimeWarning, match="the adapter of the runtime 'fails' fails"):
        assert "extremum" in [each.name for each in runtimes.installed()]
    status, out, _ = run("--version", "--json")
    assert status == 0
    assert "extremum" in json.loads(out)["runtimes"]


def test_an_adapter_from_a_file():
    status, out, err = run_command("mine:other", "--adapter", "mine.py", *FEW)
    assert (status, " ".join(out.split()), err) == (0, "mine:other 7 exact 4 mine 7 exact 4", "")
    assert [each.name for each in runtimes.add_file("mine.py")] == ["mine", "mine:other"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("none.py", "none.py: No such file or directory"),
        ("folder", "'folder' is not a regular file; help: name the Python file of an adapter"),
        ("known.py", "there is a runtime 'onnxruntime' already; at: known.py; help: give it another name"),
    ],
)
def test_a_file_that_is_no_adapter(modules_folder, name, line):
    (modules_folder / "folder").mkdir()
    (modules_folder / "known.py").write_text(MINE.replace('"mine"', '"onnxruntime"'))
    status, out, err = run_command("--adapter", name, *FEW)
    assert (status, out, err) == (2, "", f"extremum: {line}\n")


def test_an_adapter_that_gives_nothing_to_run(modules_folder, in_process, monkeypatch):
    make_known(modules_folder, monkeypatch, forgetful="hostile_runtimes:forgetful")
    reason = "load gives NoneType, and not a function that runs the model"
    status, out, err = run_command("forgetful", *FEW)
    assert status == 0
    assert out == f"forgetful 1.0\n  refused      4\n  refused: argmax_13_int8_ties_rows: {reason}\n"
    assert err == f"extremum: forgetful refuses every case; is its adapter right? first reason: {reason}\n"


@pytest.mark.parametrize("prefix", ["", "test_"])
def test_a_case_by_its_name(in_process, prefix):
    status, out, err = run_command("extremum", "--case", prefix + NAME)
    assert (status, err) == (0, "")
    assert out == f"extremum {runtimes.find('extremum').version}\n  exact      1\n  exact: {NAME}\n"
    assert f"  NaN: {NAME}: int64[" in run_command("onnxruntime", "--case", prefix + NAME)[1]


def test_check_and_fix_take_an_adapter(modules_folder):
    (modules_folder / "one.py").write_text(MINE.replace('"mine", ', ""))
    (modules_folder / "two.py").write_text(MINE.replace("mine", "two"))
    text = '<ir_version: 8, opset_import: ["" : 13]> g (int8[2, 3] x) => (y) { y = ArgMax <axis=1> (x) }'
    onnx.save(onnx.parser.parse_model(text), "m.onnx")
    taken = "not modified: mine:other 7 takes every node\n"
    assert "".join(run("fix", "m.onnx", "--adapter", "one.py")[1:]) == taken
    assert run("check", "m.onnx", "--adapter", "one.py")[0] == 0
    line = "extremum: --adapter gives two, two:other; help: name one of them with --for\n"
    for words in (["check", "m.onnx"], ["fix", "m.onnx"], ["check", "m.onnx", "--for", "onnxruntime"]):
        assert run(*words, "--adapter", "two.py") == (2, "", line)
    assert run("check", "m.onnx", "--adapter", "two.py", "--for", "two")[0] == 0
