"""``extremum check`` and ``extremum explain``: what they print, the exit status, settings, SARIF and the action."""

import json
import os
import pydoc
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

import onnx
import pytest

from commands import printed, refused, run
from extremum import errors
from extremum.check import RULES, check
from extremum.cli.explain import markdown, record_of_rule
from models import model

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")

MODELS = {
    "clean": (13, "(float[n, 4] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"),
    "wrong": (13, "(float[n, 4] x) => (int64[n, 1] y) { [top] y = ArgMax <axis=2> (x) }"),
    "older": (10, "(float[n, 4] x) => (int64[n, 1] y) { y = ArgMax <axis=-1> (x) }"),
    "narrow": (13, "(int16[n, 4] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"),
    "wide": (13, "(int64[n, 4] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"),
}
WRONG = """\
EX003 error: ArgMax-13 has axis=2, but its input has rank 2
  at    graph.node[0] 'top', opset 13
  given x: float32[n, 4], axis=2
  help  use a value in [-2, 1]
1 node checked: 1 error, no warnings, 1 info (--infos shows it)
"""


@pytest.fixture(autouse=True)
def models_folder(tmp_path, monkeypatch):
    """Change to a folder with the models."""
    for name, (opset, body) in MODELS.items():
        onnx.save(model(body, opset), tmp_path / f"{name}.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


CLEAN = "1 node checked: no errors, no warnings, 1 info (--infos shows it)\n"
NOTHING = "1 node checked: no errors, no warnings, no info\n"
GITHUB = (
    "::error file=wrong.onnx,title=EX003 axis out of range::ArgMax-13 has axis=2, but its input has rank 2"
    "%0A  at    graph.node[0] 'top', opset 13%0A  given x: float32[n, 4], axis=2%0A  help  use a value in [-2, 1]\n"
)


@pytest.mark.parametrize(
    ("words", "status", "start", "end"),
    [
        ("clean.onnx", 0, CLEAN, CLEAN),
        ("wrong.onnx", 1, WRONG, WRONG),
        ("older.onnx", 1, "EX007 warning: ", ""),
        ("clean.onnx --strict", 1, "EX103 info: ", ""),
        ("clean.onnx --infos", 0, "EX103 info: ", "1 node checked: no errors, no warnings, 1 info\n"),
        ("narrow.onnx --for onnxruntime", 1, "EX106 warning: ", ""),
        ("wide.onnx", 0, NOTHING, NOTHING),
        ("wide.onnx --feature-level 4_1", 0, NOTHING, NOTHING),
        ("wide.onnx --feature-level 3_0", 1, "EX102 warning: ", ""),
        ("wrong.onnx --select EX001 --select EX002", 0, NOTHING, NOTHING),
        ("wrong.onnx --format github", 1, GITHUB, GITHUB),
        ("clean.onnx --format github", 0, "", ""),
        ("clean.onnx --format github --strict", 1, "::notice file=clean.onnx,", ""),
        ("clean.onnx --format github --infos", 0, "::notice file=clean.onnx,", ""),
        ("clean.onnx wrong.onnx", 1, f"clean.onnx:\n{CLEAN}wrong.onnx:\n{WRONG}", WRONG),
    ],
    ids=lambda value: str(value).partition("\n")[0],
)
def test_prints(words, status, start, end):
    text = printed("check", *words.split(), status=status)
    assert text.startswith(start)
    assert text.endswith(end)
    assert start != end or text == start


@pytest.mark.parametrize("words", [("--json",), ("--format", "json")])
def test_json(words):
    (report,) = json.loads(printed("check", "wrong.onnx", *words, status=1))["models"]
    assert (report["model"], report["nodes"], report["notes"]) == ("wrong.onnx", 1, [])
    assert [each["code"] for each in report["findings"]] == ["EX003", "EX103"]
    assert report["findings"][0] == {
        "code": "EX003",
        "severity": "error",
        "operator": "ArgMax-13",
        "place": "graph.node[0] 'top'",
        "opset": 13,
        "reason": "ArgMax-13 has axis=2, but its input has rank 2",
        "given": "x: float32[n, 4], axis=2",
        "remedy": "use a value in [-2, 1]",
    }


def test_a_model_that_cannot_be_checked_does_not_stop_the_others():
    Path("text.onnx").write_text("This is a letter, not a model.\n")
    words = ("absent.onnx", "wrong.onnx", "text.onnx", "clean.onnx")
    reason = "'text.onnx' holds no ONNX model"
    remedy = "give a file written by onnx.save, complete and unchanged"
    missing = "absent.onnx: No such file or directory"
    status, text, err = run("check", *words)
    assert (status, err) == (2, f"extremum: {missing}\nextremum: {reason}; help: {remedy}\n")
    assert text.startswith(f"wrong.onnx:\n{WRONG}clean.onnx:\n1 node checked: ")
    report = json.loads(run("check", *words, "--json")[1])
    models = report["models"]
    assert [(each["model"], "error" in each) for each in models] == list(zip(words, [True, False] * 2, strict=True))
    nothing = {"where": None, "given": None, "remedy": None}
    assert models[2]["error"] == {**nothing, "kind": "ModelError", "reason": reason, "remedy": remedy}
    assert (
        report["error"]
        == models[0]["error"]
        == {"kind": "FileNotFoundError", "reason": missing, "remedy": None, **nothing}
    )
    status, text, _ = run("check", *words, "--format", "github")
    titles = [line.partition(",title=")[0] for line in text.splitlines()]
    assert (status, titles) == (2, [f"::error file={name}" for name in words[:3]])
    assert refused("check", "absent.onnx") == missing


def test_a_mistake_in_one_check_does_not_stop_the_others(monkeypatch):
    def fails(model, **_):
        if model == "clean.onnx":
            raise KeyError("oops")
        return check(model)

    monkeypatch.setattr(import_module("extremum.cli.check"), "look", fails)
    status, text, _ = run("check", "clean.onnx", "wrong.onnx", "--json")
    report = json.loads(text)
    assert status == 2
    assert report["error"]["reason"] == "unexpected KeyError: 'oops'"
    assert report["models"][1]["findings"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("check clean.onnx --select EX999", "there is no rule 'EX999'; help: the codes are EX001, "),
        ("check clean.onnx --select=", "there is no rule ''; help: the codes are EX001, "),
        ("check clean.onnx --select EX0,", "there is no rule ''; help: the codes are EX001, "),
        ("check clean.onnx --select EX0,EX2", "there is no rule 'EX2'; help: the codes are EX001, "),
        ("check clean.onnx --feature-level 9_9", "Invalid value for '--feature-level': '9_9' is not one of "),
        ("check clean.onnx --format xml", "Invalid value for '--format': 'xml' is not one of "),
        ("check clean.onnx --for nobody", "there is no runtime 'nobody'"),
        ("check empty", "there is no .onnx file in the folder 'empty'; help: name the file of a model"),
        ("explain EX999", "there is no rule 'EX999'; help: the codes are EX001, "),
        ("explain Oops", "there is no rule and no error 'Oops'; help: run extremum explain for a list"),
    ],
)
def test_refuses(words, line):
    Path("empty").mkdir()
    assert refused(*words.split()).startswith(line)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_explains_a_rule(rule):
    text = printed("explain", rule.code.lower())
    assert text.startswith(f"{rule.code} {rule.title} ({rule.severity.value})\n\n")
    words = " ".join(text.split())
    for part in (rule.what, rule.why, rule.example, rule.instead):
        assert " ".join(part.split()) in words
    assert max(map(len, text.splitlines())) <= 80
    assert json.loads(printed("explain", rule.code, "--json")) == [record_of_rule(rule)]


ERRORS = [name for name in errors.__all__ if name.endswith("Error")]


@pytest.mark.parametrize("name", ERRORS)
def test_explains_an_error(name):
    text = printed("explain", name.lower())
    title, what, *_, caught = (" ".join(each.split()) for each in text.split("\n\n"))
    assert title == name
    assert what in " ".join(getattr(errors, name).__doc__.split())
    classes = caught.removeprefix("It is caught as ").removesuffix(" too.").split(", ")
    assert classes
    for each in classes:
        assert issubclass(getattr(errors, name), getattr(errors, each, None) or pydoc.locate(each))
    assert max(map(len, text.splitlines())) <= 80
    (record,) = json.loads(printed("explain", name, "--json"))
    assert (record["error"], record["caught_as"]) == (name, classes)
    assert f"{name} " in printed("explain")
    assert printed("explain", f"extremum.errors.{name}") == text


@pytest.mark.parametrize("code", ["EX003", "AxisError"])
def test_explains_the_same_where_python_drops_docstrings(code):
    command = [sys.executable, "-OO", "-m", "extremum", "explain", code]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == printed("explain", code)


def test_lists_the_rules_and_the_errors_and_prints_the_page():
    lines = filter(None, printed("explain").splitlines())
    assert [line.split()[0] for line in lines] == [*(rule.code for rule in RULES), *ERRORS]
    assert printed("explain", "--markdown") == markdown()
    assert json.loads(printed("explain", "--json")) == list(map(record_of_rule, RULES))


def test_a_folder_stands_for_the_models_below_it(models_folder):
    for name in ("models/deep/wrong.onnx", "models/clean.onnx", "models/.hidden/wrong.onnx", "models/deep/wrong.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(Path(Path(name).stem + ".onnx").read_bytes())
    text = printed("check", "models", status=1)
    heads = [line for line in text.splitlines() if line.endswith(":")]
    assert heads == ["models/clean.onnx:", "models/deep/wrong.onnx:"]
    text = printed("check", "models/deep", "clean.onnx", "--json", status=1)
    assert [each["model"] for each in json.loads(text)["models"]] == ["models/deep/wrong.onnx", "clean.onnx"]


def settings(text, folder="."):
    text = f"[tool.extremum.check]\n{text}\n" if text else '[project]\nname = "x"\n'
    Path(folder, "pyproject.toml").write_text(text, encoding="utf-8")


def outcome(*words):
    """The codes of the findings, and the status."""
    status, text, _ = run("check", *words, "--json")
    (report,) = json.loads(text)["models"]
    return sorted(each["code"] for each in report["findings"]), status


BOTH = ["EX003", "EX103"]
WRONG_AXIS = ["EX003"]
NAN = ["EX103"]


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
        ('ignore = ["EX0"]', "--ignore EX1", WRONG_AXIS, 1),
        ('ignore = ["EX0"]\nstrict = true', "", NAN, 1),
        ('ignore = ["EX0"]\nstrict = true', "--no-strict", NAN, 0),
        ('ignore = ["EX0"]', "--config other.toml", WRONG_AXIS, 1),
    ],
)
def test_options_and_settings(text, words, codes, status, models_folder):
    settings(text)
    (models_folder / "other.toml").write_text('[tool.extremum.check]\nselect = ["EX003"]\n', encoding="utf-8")
    assert outcome("wrong.onnx", *words.split()) == (codes, status)


def test_settings_are_those_of_the_nearest_file(models_folder):
    settings('ignore = ["EX0"]')
    below = models_folder / "a" / "b"
    below.mkdir(parents=True)
    os.chdir(below)
    assert outcome("../../wrong.onnx") == (NAN, 0)
    settings('select = ["EX003"]', folder="..")
    assert outcome("../../wrong.onnx") == (WRONG_AXIS, 1)


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
        ("[tool.extremum]\nselect = []\nignore = []", ["there is no 'ignore' under [tool.extremum]"]),
        ("[tool]\nextremum = 3", ["'extremum' must be a table"]),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(text, errors, models_folder):
    settings(text)
    if text.startswith("["):
        (models_folder / "pyproject.toml").write_text(text, encoding="utf-8")
    message = refused("check", "wide.onnx")
    assert all(error in message for error in errors)


def sarif(*words, status):
    (code, text, _) = run("check", "--format", "sarif", *words)
    assert code == status
    return json.loads(text)


def test_sarif_has_findings_rules_and_places():
    log = sarif("wrong.onnx", "wide.onnx", status=1)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == [rule.code for rule in RULES]
    assert {each["defaultConfiguration"]["level"] for each in rules} == {"error", "warning", "note"}
    (result,) = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "EX003"
    assert result["level"] == "error"
    assert result["message"]["text"].startswith("ArgMax-13 has axis=2, but its input has rank 2\n")
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "wrong.onnx"
    assert place["logicalLocations"] == [{"fullyQualifiedName": "graph.node[0] 'top'"}]
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    (run,) = sarif("clean.onnx", "--infos", status=0)["runs"]
    assert {each["level"] for each in run["results"]} == {"note"}


def test_sarif_tells_two_findings_of_one_model_apart(models_folder):
    onnx.save(
        model("(float[3] x) => (y, z) { y = ArgMax <axis=1> (x) z = ArgMax <axis=1> (x) }"), models_folder / "two.onnx"
    )

    def prints(*words):
        (run,) = sarif(*words, "--select", "EX003", status=1)["runs"]
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in run["results"]]

    three = prints("two.onnx", "wrong.onnx")
    assert len(set(three)) == len(three) == 3
    assert prints("two.onnx") == three[:2]


def test_sarif_has_models_that_could_not_be_checked(models_folder):
    (models_folder / "a letter.onnx").write_text("This is a letter.\n", encoding="utf-8")
    (run,) = sarif("a letter.onnx", str(models_folder / "wrong.onnx"), status=2)["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    (place,) = notification["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "a%20letter.onnx"
    (result,) = run["results"]
    assert (
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == (models_folder / "wrong.onnx").as_uri()
    )


def test_the_settings_of_the_page_are_settings(models_folder):
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (models_folder / "pyproject.toml").write_text(text, encoding="utf-8")
    assert outcome("wrong.onnx") == (["EX003"], 1)
    assert outcome("clean.onnx") == ([], 0)


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
def test_the_action(models_folder):
    (models_folder / "below").mkdir()
    shutil.copy("wrong.onnx", models_folder / "below" / "with space.onnx")
    done = act(SARIF="findings.sarif")
    assert done.returncode == 1, done.stderr
    titles = re.findall(r"^::error file=(.*?),title=(EX\d+)", done.stdout, re.MULTILINE)
    assert sorted(titles) == [("below/with space.onnx", "EX003"), ("wrong.onnx", "EX003")]
    (run,) = json.loads((models_folder / "findings.sarif").read_text(encoding="utf-8"))["runs"]
    assert {each["ruleId"] for each in run["results"]} == {"EX003", "EX007", "EX101"}
    assert act(MODELS="wide.onnx\nwro*.onnx\n", OPTIONS="--strict --select EX1 --ignore EX103").returncode == 0
    done = act(MODELS="none/*.onnx")
    assert (done.returncode, done.stdout) == (2, "::error::no model is named so: none/*.onnx\n")
