"""No name from a model or of a file reaches a terminal, a log or a workflow as anything but text on its line."""

import json
import re

import numpy as np
import onnx
import pytest

from extremum.cli import main
from extremum.printable import printable

NAMES = {
    "escape sequences": "\x1b[2J\x1b]0;owned\x07\x9b31m",
    "line breaks": "a\r\n::error::injected\n::stop-commands::x\x0b\x0c\x1c\x85b",
    "a workflow command": "::error::injected",
    "a workflow command behind spaces": "   ::warning file=a::injected",
    "an older workflow command": "##[error]injected",
    "a command of another service": "a##vso[task.setvariable variable=PATH]injected",
    "a command beyond the width of a terminal": "x" * 78 + " ::error::injected",
    "directions of writing": "\u202egnp\u2066.exe\u200f",
    "separators": "a\u2028::error::b\u2029c\u00a0d",
    "NUL": "a\0b",
    "what ends a comment": "*/ int main() {} // \\",
    "trigraphs": "a ??/",
    "markup": "[bold red]a[/] :smile: <b>",
    "invisible": "\ufeff\u200b\u00ad\U000e0041",
    "very long": "long" * 100_000,
    "very long and escaped": "\x1b" * 100_000,
}
IDS = [name.replace(" ", "_") for name in NAMES]


def model(name, body, *, opset=13, element=onnx.TensorProto.FLOAT):
    """A model in which everything that can have a name has this one."""
    operator, attributes, domain = body
    x, y = f"{name}x", f"{name}y"
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(operator, [x], [y], name=name, domain=domain, **attributes)],
        name,
        [onnx.helper.make_tensor_value_info(x, element, [f"{name}n", 4])],
        [onnx.helper.make_empty_tensor_value_info(y)],
        doc_string=name,
    )
    imports = [onnx.helper.make_opsetid("", opset)]
    if domain:
        imports.append(onnx.helper.make_opsetid(domain, 1))
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name=name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXTREMUM_TRACEBACK", raising=False)
    return tmp_path


@pytest.fixture(params=NAMES.values(), ids=IDS)
def name(request, folder):
    """A hostile name, and in the current folder the models that have it."""
    name = request.param
    bodies = {
        "right": model(name, ("ArgMax", {"axis": 1}, "")),
        "wrong": model(name, ("ArgMax", {"axis": 7}, "")),
        "attribute": model(name, ("ArgMax", {name: 7}, "")),
        "unknown": model(name, (f"{name}Op", {}, name)),
        "narrow": model(name, ("ArgMax", {"axis": 1}, ""), element=onnx.TensorProto.INT16),
        "double": model(name, ("ArgMax", {"axis": 1}, ""), element=onnx.TensorProto.DOUBLE),
        "early": model(name, ("Max", {}, ""), opset=1),
        "words": model(name, ("Identity", {}, ""), element=onnx.TensorProto.STRING),
    }
    for each, proto in bodies.items():
        onnx.save(proto, folder / f"{each}.onnx")
    np.save("x.npy", np.ones((2, 4), np.float32))
    words = onnx.numpy_helper.from_array(np.array([[name] * 4], object))
    (folder / "words.pb").write_bytes(words.SerializeToString())
    return name


def said(capfd, *words):
    """The exit status and all that is written, by native libraries too, once it is seen to be harmless."""
    with pytest.raises(SystemExit) as caught:
        main(words)
    out, err = capfd.readouterr()
    for line in f"{out}{err}".split("\n"):
        assert line.isprintable(), line[:1000]
        assert "json" in words or "--json" in words or "dxdispatch" in words or len(line) < 20_000
        assert "##" not in line
        # The command's own annotations are the only ones.
        assert "github" in words or not line.lstrip().startswith("::"), line[:1000]
    if "github" in words:
        assert all(line.startswith(("::error file=", "::warning file=", "::notice file=")) for line in out.splitlines())
    if "json" in words or "--json" in words:
        json.loads(out)
    return caught.value.code, out, err


def word(name):
    """A part of the name that has to be seen: whoever reads a message has to be able to tell what is meant."""
    return max(re.findall(r"[a-z]+", name[:50]), key=len, default="")


def test_run(name, capfd):
    words = ("run", "right.onnx", "--random", "--set", f"{name}n=2")
    for more in ([], ["--json"]):
        status, out, _ = said(capfd, *words, *more)
        assert status == 0
    assert [each["name"] for each in json.loads(out)["inputs"]] == [f"{name}x"]
    status, out, _ = said(capfd, *words, "-o", "answers")
    assert (status, "wrote answers" in out) == (0, True)
    # Where a name has an equals sign it ends there.
    assert said(capfd, "run", "right.onnx", "-i", f"{name}x=x.npy")[0] == (2 if "=" in name else 0)
    assert said(capfd, "run", "words.onnx", "-i", f"{name}x=words.pb")[0] == (2 if "=" in name else 0)


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_run_refuses(name, capfd, more):
    for words in (
        ("right.onnx",),
        ("right.onnx", "--random"),
        ("right.onnx", "-i", f"{name}=x.npy"),
        ("right.onnx", "-i", f"{name}x={name}.npy"),
        ("right.onnx", "-i", f"{name}x={name}"),
        ("right.onnx", "-i", name),
        ("right.onnx", "--set", name),
        ("right.onnx", "--set", f"{name}=8"),
        ("right.onnx", "--random", "--range", name),
        ("right.onnx", "--random", "--range", f"{name}=0:1"),
        ("wrong.onnx", "--random"),
        ("attribute.onnx", "--random"),
        ("unknown.onnx", "--random"),
        (f"{name}.onnx",),
        (f"--{name}",),
    ):
        status, _, err = said(capfd, "run", *(word.replace("\0", "") for word in words), *more)
        assert status == 2
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "more", [[], ["--infos"], ["--json"], ["--strict", "--format", "github"]], ids=["text", "infos", "json", "github"]
)
def test_check(name, capfd, more):
    for each, status in (("right", 0), ("wrong", 1), ("attribute", 1), ("unknown", 0), ("narrow", 1), ("early", 1)):
        found = said(capfd, "check", f"{each}.onnx", *more)
        assert found[0] == (1 if each == "right" and "--strict" in more else status)
    out = said(capfd, "check", "right.onnx", "wrong.onnx", *more)[1]
    assert word(name) in out
    assert said(capfd, "check", "wrong.onnx", f"{name}.onnx".replace("\0", ""), *more)[0] == 2


@pytest.mark.parametrize("form", ["text", "json", "cpp", "dxdispatch"])
def test_lower(name, capfd, form):
    words = ("--format", form, "--set", f"{name}n=2")
    status, out, _ = said(capfd, "lower", "right.onnx", *words)
    assert status == 0
    assert word(name) in out
    if form == "cpp":
        comments = [line for line in out.splitlines() if line.startswith("//")]
        assert len(comments) == 2
        assert not any(line.endswith(("\\", "??/")) for line in comments)
    status, _, err = said(capfd, "lower", "double.onnx", *words)
    assert (status, len(err.splitlines())) == (1, 1)
    status, _, err = said(capfd, "lower", "right.onnx", "--format", form)
    assert (status, len(err.splitlines())) == (1, 1)
    assert said(capfd, "lower", "right.onnx", "--format", form, "--set", f"{name}=8")[0] == 2


@pytest.mark.parametrize("more", [["--diff"], ["--json"]], ids=["diff", "json"])
def test_fix(name, capfd, more):
    status, out, _ = said(capfd, "fix", "narrow.onnx", *more, "-o", "fixed.onnx")
    assert status == 0
    assert word(name) in out
    assert said(capfd, "fix", "early.onnx", *more)[0] in (0, 1)
    assert said(capfd, "fix", "wrong.onnx", *more)[0] == 1
    assert said(capfd, "fix", "unknown.onnx", *more)[0] == 0
    assert said(capfd, "fix", "narrow.onnx", *more, "--for", name)[0] == 2
    assert said(capfd, "fix", "narrow.onnx", *more, "-o", f"no/{name}".replace("\0", ""))[0] == 2


def test_usage_and_traceback(name, capfd, monkeypatch):
    for words in ((name,), ("check", "--select", name, "right.onnx"), ("explain", name), ("lower", "--format", name)):
        assert said(capfd, *words)[0] == 2
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "1")
    assert said(capfd, "run", "unknown.onnx", "--random")[0] == 2


def test_text_is_escaped_once():
    for name in NAMES.values():
        assert printable(printable(name)) == printable(name)
        assert len(printable(name)) <= 1000
    assert printable("a\ud800b") == r"a\ud800b"
    for text in ("graph.node[0] 'block/scores:0'", "aten::argmax", "größe_名前", r"C:\models\a.onnx", "#1", "50 %"):
        assert printable(text) == text
