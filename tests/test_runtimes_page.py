"""What docs/runtimes.md shows, on few cases: its commands, and its adapter as a package that is installed."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

PAGE = (Path(__file__).parents[1] / "docs" / "runtimes.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(?:\$ |.*\brun: (?:.*&& )?)(extremum .*)$", PAGE, re.MULTILINE)
# The whole suite takes minutes.
FEW = ("--opset", "13", "--type", "float32", "--topic", "ties", "--topic", "nan", "--operator", "ArgMax")
# A session as the page uses one, for the runtime that nobody has.
SESSION = """
from onnx import load_from_string
from onnx.reference import ReferenceEvaluator

class Session:
    def __init__(self, model):
        self.model = ReferenceEvaluator(load_from_string(model))

    def run(self, feeds):
        return self.model.run(None, feeds)
"""


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return found


@pytest.fixture
def extremum(tmp_path):
    """Run a command in a folder in which the package `mine` is installed; what it prints goes where the line says."""
    site = tmp_path / "site"
    (site / "mine").mkdir(parents=True)
    (site / "mine" / "__init__.py").write_text(SESSION, encoding="utf-8")
    (site / "mine" / "conformance.py").write_text(f"import mine\n\n{block('python')}", encoding="utf-8")
    installed = site / "mine-1.0.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", encoding="utf-8")
    group, name, function = re.fullmatch(r'\[project\.entry-points\."(.*)"\]\n(\w+) = "(.*)"\n', block("toml")).groups()
    (installed / "entry_points.txt").write_text(f"[{group}]\n{name} = {function}\n", encoding="utf-8")

    def run(line):
        line, _, file = line.partition(" > ")
        words = shlex.split(line.partition(" >> ")[0])
        few = FEW if words[2] in ("run", "export") else ()
        done = subprocess.run(
            [sys.executable, "-m", *words, *few],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        # 1: a runtime answers otherwise than a document says.
        assert done.returncode in (0, 1), f"{line}: {done.stderr}"
        if file:
            (tmp_path / file).write_text(done.stdout, encoding="utf-8")
        return done

    return run


def test_every_command_of_the_page_runs(extremum, tmp_path):
    assert len(COMMANDS) == 7
    for line in COMMANDS:
        # Two jobs of the page write a folder of this name.
        shutil.rmtree(tmp_path / "suite", ignore_errors=True)
        extremum(line)


def test_the_adapter_of_the_page_is_found_and_asked(extremum):
    done = extremum("extremum conformance run mine")
    assert re.search(r"^mine 1\.0\b", done.stdout, re.MULTILINE), done.stdout
