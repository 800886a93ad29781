"""`extremum check` in other people's CI: settings, SARIF, the hook and the action, with the examples of docs/ci.md."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner

from extremum.check import RULES
from extremum.cli import main
from extremum.cli.program import program
from models import model

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
MODELS = {
    # A broken promise, an answer about NaN that differs, nothing at all.
    "broken.onnx": "(float[3] x) => (int64[1] y) { y = ArgMax <axis=1> (x) }",
    "differs.onnx": "(float[3] x) => (int64[1] y) { y = ArgMax (x) }",
    "clean.onnx": "(int32[3] x) => (int64[1] y) { y = ArgMax <axis=0> (x) }",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    for name, body in MODELS.items():
        onnx.save(model(body), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings(text, folder="."):
    text = f"[tool.extremum.check]\n{text}\n" if text else '[project]\nname = "x"\n'
    Path(folder, "pyproject.toml").write_text(text, encoding="utf-8")


def found(*words):
    """The codes that count, and the status."""
    result = CliRunner().invoke(program, ["check", *words, "--json"], standalone_mode=False, catch_exceptions=False)
    (report,) = json.loads(result.stdout)["models"]
    return sorted(each["code"] for each in report["findings"]), result.return_value


def refusal(capsys, *words):
    with pytest.raises(SystemExit) as caught:
        main(["check", *words])
    assert caught.value.code == 2
    return capsys.readouterr().err


BOTH, BROKEN, NAN = ["EX003", "EX103"], ["EX003"], ["EX103"]


@pytest.mark.parametrize(
    ("text", "words", "codes", "status"),
    [
        ("", "", BOTH, 1),
        ("", "--select EX1", NAN, 0),
        ("", "--ignore ex0", NAN, 0),
        ("", "--select EX --ignore EX0 --ignore EX103", [], 0),
        ("", "--select EX003,EX103", BOTH, 1),
        ("", "--ignore EX0,EX1", [], 0),
        ('ignore = ["EX0, EX1"]', "", [], 0),
        ('ignore = ["EX0"]', "", NAN, 0),
        ('ignore = ["EX0"]', "--ignore EX1", BROKEN, 1),
        ('ignore = ["EX0"]\nstrict = true', "", NAN, 1),
        ('ignore = ["EX0"]\nstrict = true', "--no-strict", NAN, 0),
        ('ignore = ["EX0"]', "--config other.toml", BROKEN, 1),
    ],
)
def test_options_and_settings(text, words, codes, status, folder):
    settings(text)
    (folder / "other.toml").write_text('[tool.extremum.check]\nselect = ["EX003"]\n', encoding="utf-8")
    assert found("broken.onnx", *words.split()) == (codes, status)


@pytest.mark.parametrize("code", ["", "EX2", "X", "EX0,", "EX0,EX2"])
def test_a_prefix_of_no_rule_is_refused(code, capsys):
    assert f"there is no rule {code.rpartition(',')[2]!r}" in refusal(capsys, "clean.onnx", "--select", code)


def test_settings_are_those_of_the_nearest_file(folder):
    settings('ignore = ["EX0"]')
    below = folder / "a" / "b"
    below.mkdir(parents=True)
    os.chdir(below)
    assert found("../../broken.onnx") == (NAN, 0)
    settings('select = ["EX003"]', folder="..")
    assert found("../../broken.onnx") == (BROKEN, 1)


@pytest.mark.parametrize(
    ("text", "errors"),
    [
        ('slect = ["EX0"]', ["there is no setting 'slect'"]),
        ('select = "EX0"', ["the setting 'select' must be a list of strings"]),
        ("select = [1]", ["the setting 'select' must be a list of strings"]),
        ('strict = "yes"', ["the setting 'strict' must be true or false"]),
        ("for = 3", ["the setting 'for' must be a string"]),
        ('feature-level = "9"', ["'9' is not one of"]),
        ('select = ["EX999"]', ["there is no rule 'EX999'"]),
        ("select =", ["is not valid TOML"]),
        (
            '[tool.extremum]\nselect = ["EX0"]',
            ["there is no 'select' under [tool.extremum]", "settings are under [tool.extremum.check]"],
        ),
        ("[tool]\nextremum = 3", ["'extremum' must be a table"]),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(text, errors, folder, capsys):
    settings(text)
    if text.startswith("["):
        (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    said = refusal(capsys, "clean.onnx")
    assert all(error in said for error in errors)


def sarif(*words, status):
    result = CliRunner().invoke(program, ["check", "--format", "sarif", *words], standalone_mode=False)
    assert result.return_value == status
    return json.loads(result.stdout)


def test_sarif_has_findings_rules_and_places():
    log = sarif("broken.onnx", "clean.onnx", status=1)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [rule.code for rule in RULES]
    (result,) = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "EX003"
    assert result["level"] == "error"
    assert result["message"]["text"].startswith("ArgMax-13 has axis=1, but its input has rank 1\n")
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "broken.onnx"
    assert place["logicalLocations"] == [{"fullyQualifiedName": "graph.node[0]"}]
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_sarif_tells_two_findings_of_one_model_apart(folder):
    onnx.save(model("(float[3] x) => (y, z) { y = ArgMax <axis=1> (x) z = ArgMax <axis=1> (x) }"), folder / "two.onnx")

    def prints(*words):
        (run,) = sarif(*words, "--select", "EX003", status=1)["runs"]
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in run["results"]]

    three = prints("two.onnx", "broken.onnx")
    assert len(set(three)) == len(three) == 3
    assert prints("two.onnx") == three[:2]


def test_sarif_shows_infos_on_request():
    (run,) = sarif("differs.onnx", "--infos", status=0)["runs"]
    assert {each["level"] for each in run["results"]} == {"note"}


def test_sarif_has_models_that_could_not_be_checked(folder):
    (folder / "a letter.onnx").write_text("This is a letter.\n", encoding="utf-8")
    (run,) = sarif("a letter.onnx", str(folder / "broken.onnx"), status=2)["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    (place,) = notification["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a%20letter.onnx"
    (result,) = run["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (folder / "broken.onnx").as_uri()


def test_the_settings_of_the_page_are_settings(folder):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    assert found("broken.onnx") == (["EX003"], 1)
    assert found("differs.onnx") == ([], 0)


def scripts():
    """The environment in which the command is found."""
    return {**os.environ, "PATH": os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"]))}


def act(**inputs):
    """Run the last step of the action as a runner does."""
    (step,) = re.findall(r"      run: \|\n((?: {8}.*\n)+)", ACTION)
    lines = "".join(line[8:] for line in step.splitlines(keepends=True))
    given = {"MODELS": "**/*.onnx", "OPTIONS": "", "SARIF": "", **inputs}
    assert set(re.findall(r"^        ([A-Z]+): \$\{\{ inputs\.\w+ \}\}", ACTION, re.MULTILINE)) == {*given, "PACKAGE"}
    # As the runner calls it.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", lines]
    return subprocess.run(command, env={**scripts(), **given}, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="the shell of a runner on Windows is not on its path")
def test_the_action(folder):
    (folder / "below").mkdir()
    shutil.copy("broken.onnx", folder / "below" / "with space.onnx")
    done = act(SARIF="findings.sarif")
    assert done.returncode == 1, done.stderr
    titles = re.findall(r"^::error file=(.*?),title=(EX\d+)", done.stdout, re.MULTILINE)
    assert sorted(titles) == [("below/with space.onnx", "EX003"), ("broken.onnx", "EX003")]
    (run,) = json.loads((folder / "findings.sarif").read_text(encoding="utf-8"))["runs"]
    assert len(run["results"]) == 2
    assert act(MODELS="clean.onnx\ndif*.onnx\n").returncode == 0
    assert act(MODELS="clean.onnx\ndif*.onnx", OPTIONS="--strict --select EX103").returncode == 1
    done = act(MODELS="none/*.onnx")
    assert (done.returncode, done.stdout) == (2, "::error::no model is named so: none/*.onnx\n")
