"""Names in models and names of files reach a terminal, a log or a workflow only as text on their line."""

import json
import re

import numpy as np
import onnx
import pytest

from extremum.cli import main
from extremum.printable import printable
from refusal import error_of

NAMES = {
    "escape sequences": "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnp\u2066.exe\u200f\ufeff\u200b\u00ad\U000e0041",
    "line breaks": "a\r\n::error::injected\n::stop-commands::x\x0b\x0c\x1c\x85b\u2028::error::b\u2029c\u00a0d\0e",
    "a workflow command": "::error::injected",
    "a workflow command behind spaces": "   ::warning file=a::injected",
    "an older workflow command": "##[error]injected",
    "a command of another service": "a##vso[task.setvariable variable=PATH]injected",
    "a command beyond the width of a terminal": "x" * 78 + " ::error::injected",
    "what ends a comment": "*/ int main() {} // \\",
    "trigraphs and markup": "[bold red]a[/] :smile: <b> ??/",
    "very long": "long" * 10_000,
    "very long and escaped": "\x1b" * 30_000,
}


def model(name, operator="ArgMax", opset=13, element=onnx.TensorProto.FLOAT, domain="", **attributes):
    """A model in which everything that can have a name has this one."""
    x = f"{name}x"
    y = f"{name}y"
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(operator, [x], [y], name=name, domain=domain, **attributes)],
        name,
        [onnx.helper.make_tensor_value_info(x, element, [f"{name}n", 4])],
        [onnx.helper.make_empty_tensor_value_info(y)],
        doc_string=name,
    )
    imports = [onnx.helper.make_opsetid("", opset), *([onnx.helper.make_opsetid(domain, 1)] if domain else [])]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=8, producer_name=name)


@pytest.fixture(params=NAMES.values(), ids=NAMES)
def name(request, tmp_path, monkeypatch):
    """A hostile name; the current folder holds the models that use it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXTREMUM_TRACEBACK", raising=False)
    name = request.param
    models = {
        "right": model(name, axis=1),
        "wrong": model(name, axis=7),
        "attribute": model(name, **{name: 7}),
        "unknown": model(name, f"{name}Op", domain=name),
        "narrow": model(name, element=onnx.TensorProto.INT16, axis=1),
        "double": model(name, element=onnx.TensorProto.DOUBLE, axis=1),
        "early": model(name, "Max", 1),
        "words": model(name, "Identity", element=onnx.TensorProto.STRING),
    }
    for each, proto in models.items():
        onnx.save(proto, tmp_path / f"{each}.onnx")
    np.save("x.npy", np.ones((2, 4), np.float32))
    words = onnx.numpy_helper.from_array(np.array([[name] * 4], object))
    (tmp_path / "words.pb").write_bytes(words.SerializeToString())
    return name


@pytest.fixture
def output(capfd):
    """Run a command, check that its output, native libraries' included, is harmless, and return status and output."""

    def output(line, *words, status=None):
        words = [*line.split(), *words]
        error = error_of(SystemExit, main, words)
        out, err = capfd.readouterr()
        for text in f"{out}{err}".split("\n"):
            assert text.isprintable(), text[:1000]
            assert not {"json", "--json", "dxdispatch"}.isdisjoint(words) or len(text) < 20_000
            assert "##" not in text
            # The command's own annotations are the only ones.
            assert "github" in words or not text.lstrip().startswith("::"), text[:1000]
        if "github" in words:
            annotations = ("::error file=", "::warning file=", "::notice file=")
            assert all(text.startswith(annotations) for text in out.splitlines())
        if "json" in words or "--json" in words:
            json.loads(out)
        assert status in (None, error.code), err
        return error.code, out, err

    return output


def word(name):
    """A part of the name that a message has to show, so that its reader can tell which name is meant."""
    return max(re.findall(r"[a-z]+", name[:50]), key=len, default="")


def test_run(name, output):
    words = ("run right.onnx --random --set", f"{name}n=2")
    output(*words, status=0)
    _, out, _ = output(*words, "--json", status=0)
    assert [each["name"] for each in json.loads(out)["inputs"]] == [f"{name}x"]
    assert "wrote answers" in output(*words, "-o", "answers", status=0)[1]
    # An equals sign ends the name.
    output("run right.onnx -i", f"{name}x=x.npy", status=2 if "=" in name else 0)
    output("run words.onnx -i", f"{name}x=words.pb", status=2 if "=" in name else 0)


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_run_refuses(name, output, more):
    bare = name.replace("\0", "")
    for words in (
        ["right.onnx"],
        ["right.onnx --random"],
        *(["right.onnx -i", text] for text in (f"{name}=x.npy", f"{name}x={bare}.npy", f"{name}x={bare}", name)),
        *(["right.onnx --set", text] for text in (name, f"{name}=8")),
        *(["right.onnx --random --range", text] for text in (name, f"{name}=0:1")),
        *([f"{each}.onnx --random"] for each in ("wrong", "attribute", "unknown")),
        ["", f"{bare}.onnx"],
        ["", f"--{name}"],
    ):
        err = output(f"run {words[0]}", *words[1:], *more, status=2)[2]
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("more", ["--infos", "--json", "--strict --format github"])
def test_check(name, output, more):
    for each, status in (("right", 0), ("wrong", 1), ("attribute", 1), ("unknown", 0), ("narrow", 1), ("early", 1)):
        output(f"check {each}.onnx {more}", status=1 if each == "right" and "--strict" in more else status)
    assert word(name) in output(f"check right.onnx wrong.onnx {more}")[1]
    output(f"check wrong.onnx {more}", f"{name}.onnx".replace("\0", ""), status=2)


@pytest.mark.parametrize("form", ["text", "json", "cpp", "dxdispatch"])
def test_lower(name, output, form):
    right = f"lower right.onnx --format {form}"
    sizes = ("--set", f"{name}n=2")
    out = output(right, *sizes, status=0)[1]
    assert word(name) in out
    if form == "cpp":
        comments = [line for line in out.splitlines() if line.startswith("//")]
        assert len(comments) == 2
        assert not any(line.endswith(("\\", "??/")) for line in comments)
    for words in ((right,), (right.replace("right", "double"), *sizes)):
        assert len(output(*words, status=1)[2].splitlines()) == 1
    output(right, "--set", f"{name}=8", status=2)


@pytest.mark.parametrize("more", ["--diff", "--json"])
def test_fix(name, output, more):
    narrow = f"fix narrow.onnx {more}"
    assert word(name) in output(f"{narrow} -o fixed.onnx", status=0)[1]
    if more == "--diff":
        for each, status in (("early", None), ("wrong", 1), ("unknown", 0)):
            output(f"fix {each}.onnx {more}", status=status)
    output(f"{narrow} --for", name, status=2)
    output(f"{narrow} -o", f"no/{name}".replace("\0", ""), status=2)


def test_usage_and_traceback(name, output, monkeypatch):
    for line in ("", "check right.onnx --select", "explain", "lower --format"):
        output(line, name, status=2)
    monkeypatch.setenv("EXTREMUM_TRACEBACK", "1")
    output("run unknown.onnx --random", status=2)


def test_text_is_escaped_once():
    for name in (*NAMES.values(), "a\0b", "\u202egnp", "a\u2028b", "##x"):
        assert printable(printable(name)) == printable(name)
        assert printable(name).isprintable()
        assert len(printable(name)) <= 1000
    assert printable("a\ud800b") == r"a\ud800b"
    for text in ("graph.node[0] 'block/scores:0'", "aten::argmax", "größe_名前", r"C:\models\a.onnx", "#1", "50 %"):
        assert printable(text) == text
