"""What docs/runtimes.md shows, on few cases: its commands, and its adapter as an installed package."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from extremum.cli import main
from extremum.runtimes import registry
from refusal import error_of

pytest.importorskip("onnxruntime")

PAGE = (Path(__file__).parents[1] / "docs" / "runtimes.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(?:\$ |.*\brun: (?:.*&& )?)extremum (.*)$", PAGE, re.MULTILINE)
# The whole suite takes minutes.
FEW = ("--opset", "13", "--type", "float32", "--topic", "ties", "--topic", "nan", "--operator", "ArgMax")
# A session as the page uses it, for a runtime that does not exist.
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
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return text


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install the package `mine` of the page."""
    group, name, function = re.fullmatch(r'\[project\.entry-points\."(.*)"\]\n(\w+) = "(.*)"\n', block("toml")).groups()
    files = {
        "mine/__init__.py": SESSION,
        "mine/conformance.py": f"import mine\n\n{block('python')}",
        "mine-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n",
        "mine-1.0.dist-info/entry_points.txt": f"[{group}]\n{name} = {function}\n",
    }
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    registry._open.cache_clear()


def test_every_command_of_the_page_runs(installed, in_process, capsys):
    assert len(COMMANDS) == 7
    for line in [*COMMANDS, "conformance run mine"]:
        # Two jobs of the page write a folder of this name.
        shutil.rmtree("suite", ignore_errors=True)
        words, _, file = line.partition(" > ")
        words = shlex.split(words.partition(" >> ")[0])
        error = error_of(SystemExit, main, [*words, *(FEW if words[1] in ("run", "export") else ())])
        out, err = capsys.readouterr()
        # Status 1: a runtime's answer differs from what a document says.
        assert error.code in (0, 1), f"{line}: {err}"
        if file:
            Path(file).write_text(out, encoding="utf-8")
    assert re.search(r"^mine 1\.0\b", out, re.MULTILINE), out
