"""``extremum fix``: what it prints and writes, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from commands import refused, run
from models import model
from stock import ORT

MODELS = {
    "narrow": (13, "(int16[n, 4] x) => (int64[n, 1] y) { [top] y = ArgMax <axis=1> (x) }"),
    "clean": (13, "(float[n, 4] x) => (int64[n, 1] y) { y = ArgMax <axis=1> (x) }"),
    "early": (1, "(float[n] a, float[n] b) => (float[n] y) { y = Max <consumed_inputs=[0, 0]> (a, b) }"),
}
DIFF = f"""\
@@ graph.node[0] 'top': ArgMax-13 of int16 on wider integers @@
- [top] y = ArgMax <axis: int = 1> (x)
+ "y/0" = Cast <to: int = 6> (x)
+ [top] y = ArgMax <axis: int = 1> ("y/0")
1 node rewritten for {ORT}
"""


@pytest.fixture(autouse=True)
def models_folder(tmp_path, monkeypatch):
    """Change to a folder with the models."""
    for name, (opset, body) in MODELS.items():
        onnx.save(model(body, opset), tmp_path / f"{name}.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fixed(*words):
    """The exit status and what is printed."""
    status, out, _ = run("fix", *words)
    return status, out


def test_writes_a_model_that_stock_onnxruntime_runs():
    assert fixed("narrow.onnx", "-o", "fixed.onnx") == (0, f"1 node rewritten for {ORT}\nwrote fixed.onnx\n")
    session = onnxruntime.InferenceSession("fixed.onnx", providers=["CPUExecutionProvider"])
    (labels,) = session.run(None, {"x": np.array([[1, 3, 3, 2]], np.int16)})
    assert labels.tolist() == [[1]]
    assert fixed("early.onnx", "-o", "raised.onnx", "--raise-opset", "8")[0] == 0
    assert onnx.load("raised.onnx").opset_import[0].version == 8
    onnxruntime.InferenceSession("raised.onnx", providers=["CPUExecutionProvider"])
    assert {path.stem for path in Path().iterdir()} == {*MODELS, "fixed", "raised"}


NODE_BY_NODE = DIFF.replace("1 node", "note: compared node by node, not as a whole, as requested\n1 node")
CLEAN = f"not modified: {ORT} takes every node\n"
EARLY = f"""\
Max-1 of float32 can be rewritten from opset 8 on
  at    graph.node[0], opset 1
  given a: float32[n], b: float32[n], consumed_inputs=[0, 0]
  help  allow opset 8 with raise_opset, if the whole model may be raised
not modified: 1 node cannot be rewritten for {ORT}
"""


@pytest.mark.parametrize(
    ("words", "status", "text", "written"),
    [
        (
            "narrow.onnx",
            0,
            f"graph.node[0] 'top': ArgMax-13 of int16 on wider integers\n1 node rewritten for {ORT}\n"
            "nothing is written: add -o OUT, or --diff to see the changes\n",
            False,
        ),
        ("narrow.onnx --diff", 0, f"{DIFF}nothing is written: add -o OUT\n", False),
        ("narrow.onnx --diff -o fixed.onnx", 0, f"{DIFF}wrote fixed.onnx\n", True),
        ("narrow.onnx --diff --node-by-node", 0, f"{NODE_BY_NODE}nothing is written: add -o OUT\n", False),
        (
            "narrow.onnx --for directml-4_1 -o fixed.onnx",
            0,
            "not modified: DirectML 4_1 takes every node\nwrote fixed.onnx\n",
            True,
        ),
        ("clean.onnx", 0, CLEAN, False),
        ("clean.onnx -o fixed.onnx", 0, f"{CLEAN}wrote fixed.onnx\n", True),
        ("early.onnx", 1, EARLY, False),
        ("early.onnx -o fixed.onnx", 1, EARLY, False),
    ],
    ids=lambda value: str(value).partition("\n")[0],
)
def test_prints_and_writes(words, status, text, written):
    assert fixed(*words.split()) == (status, text)
    assert {path.stem for path in Path().iterdir()} == {*MODELS, *["fixed"] * written}
    if "not modified" in text and written:
        assert Path("fixed.onnx").read_bytes() == Path(words.split()[0]).read_bytes()


def test_json():
    status, text = fixed("narrow.onnx", "--json", "-o", "fixed.onnx")
    before, *after = (line[2:] for line in DIFF.splitlines()[1:4])
    nodes = {"before": before, "after": after}
    change = {"place": "graph.node[0] 'top'", "operator": "ArgMax-13", "element": "int16", **nodes}
    lists = {
        "changes": [{**change, "rewrite": "on wider integers"}],
        "refusals": [],
        "differences": [],
        "kept": [],
        "notes": [],
    }
    assert (status, json.loads(text)) == (0, {"model": "narrow.onnx", "target": ORT, **lists, "written": "fixed.onnx"})
    status, text = fixed("early.onnx", "--json")
    report = json.loads(text)
    assert (status, report["written"]) == (1, None)
    assert report["refusals"][0]["reason"] == "Max-1 of float32 can be rewritten from opset 8 on"


def test_a_copy_is_the_file_as_it_is():
    # A field that onnx does not know; protobuf would write it at another place.
    content = Path("clean.onnx").read_bytes()
    Path("odd.onnx").write_bytes(bytes([0xC2, 0x3E, 1, 65]) + content)
    assert fixed("odd.onnx", "-o", "fixed.onnx")[0] == 0
    assert Path("fixed.onnx").read_bytes() == Path("odd.onnx").read_bytes()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("none.onnx --diff", "none.onnx: No such file or directory"),
        ("narrow.onnx --diff --for toaster", "there is no target 'toaster'; help: the targets are extremum"),
        ("narrow.onnx --diff --raise-opset 0", "Invalid value for '--raise-opset': 0 is not in the range"),
        ("narrow.onnx -o no/m.onnx", "cannot create 'm.onnx': there is no folder 'no'"),
        ("narrow.onnx -o link.onnx", "'link.onnx' already exists"),
        ("narrow.onnx -o narrow.onnx", "'narrow.onnx' already exists"),
        ("narrow.onnx -o mine.onnx", "'mine.onnx' already exists; help: choose another name, or move that file"),
        ("models -o narrow.onnx", "'narrow.onnx' is a file, but several models need a folder; help: name a "),
        ("models models/deep a.onnx -o no/deep", "cannot create the folder 'no/deep': there is no folder"),
        ("narrow.onnx models/narrow.onnx -o out", "'narrow.onnx' and 'models/narrow.onnx' both go to 'out"),
        ("narrow.onnx clean.onnx -o taken", "'taken/clean.onnx' already exists; help: choose another folder"),
        ("empty -o out", "there is no .onnx file in the folder 'empty'; help: name the file of a model"),
    ],
)
def test_refuses(several, words, line):
    Path("link.onnx").symlink_to("elsewhere.onnx")
    for folder in ("empty", "taken"):
        Path(folder).mkdir()
    for name in ("taken/clean.onnx", "mine.onnx"):
        Path(name).write_text("mine")
    assert refused("fix", *words.split()).startswith(line)
    assert Path("taken/clean.onnx").read_text() == Path("mine.onnx").read_text() == "mine"
    assert not Path("elsewhere.onnx").exists()
    assert not Path("out").exists()


def with_weights_beside(folder):
    """A model whose weights are in another file of the folder."""
    folder.mkdir()
    large = model("(float[2, 64] x) => (y) { a = MatMul (x, w) b = Cast <to=5> (a) y = ArgMax <axis=1> (b) }")
    large.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(64, dtype=np.float32), "w"))
    onnx.save(large, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return folder


def test_weights_beside_the_model_stay_there(tmp_path):
    folder = with_weights_beside(tmp_path / "large")
    before = (folder / "w.bin").read_bytes()
    status, text = fixed(str(folder / "m.onnx"), "-o", str(folder / "fixed.onnx"))
    assert status == 0
    assert text.startswith("note: compared node by node, not as a whole: its weights are kept beside the model\n")
    assert (folder / "w.bin").read_bytes() == before
    session = onnxruntime.InferenceSession(folder / "fixed.onnx", providers=["CPUExecutionProvider"])
    x = np.zeros((2, 64), np.float32)
    x[[0, 1], [5, 63]] = 1
    assert session.run(None, {"x": x})[0].tolist() == [[5], [63]]
    assert refused("fix", folder / "m.onnx", "-o", "elsewhere.onnx") == (
        f"the weights of '{folder / 'm.onnx'}' are in other files of its folder; "
        "help: write the fixed model to that folder"
    )
    assert not Path("elsewhere.onnx").exists()


@pytest.fixture
def several(models_folder):
    """Make a folder with models, in which some files are hidden or are not models."""
    for name in ("models/a.onnx", "models/deep/b.ONNX", "models/.git/c.onnx", "models/node_modules/d.onnx"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(Path("narrow.onnx").read_bytes())
    Path("models/notes.txt").write_text("no model")
    Path("models/clean.onnx").write_bytes(Path("clean.onnx").read_bytes())


def test_several_models_go_into_a_folder(several):
    status, text = fixed("models", "narrow.onnx", "-o", "fixed")
    assert status == 0
    heads = [line for line in text.splitlines() if line.endswith(":")]
    assert heads == ["models/a.onnx:", "models/clean.onnx:", "models/deep/b.ONNX:", "narrow.onnx:"]
    written = sorted(str(path) for path in Path("fixed").rglob("*") if path.is_file())
    assert written == ["fixed/a.onnx", "fixed/clean.onnx", "fixed/deep/b.ONNX", "fixed/narrow.onnx"]
    onnxruntime.InferenceSession("fixed/deep/b.ONNX", providers=["CPUExecutionProvider"])


def test_one_model_goes_into_a_folder_that_is_there():
    Path("out").mkdir()
    assert fixed("narrow.onnx", "-o", "out") == (0, f"1 node rewritten for {ORT}\nwrote out/narrow.onnx\n")


def test_a_model_that_cannot_be_fixed_does_not_stop_the_others(several):
    Path("models/b.onnx").write_bytes(b"no model")
    status, out, err = run("fix", "models", "early.onnx", "-o", "fixed")
    assert status == 2
    assert err.startswith("extremum: 'models/b.onnx' holds no ONNX model; ")
    assert err.count("\n") == 1
    assert out.count("wrote ") == 3
    assert "not modified: 1 node cannot be rewritten" in out
    status, text = fixed("models", "early.onnx", "--json")
    document = json.loads(text)
    assert status == 2
    assert [each["model"] for each in document["models"]] == [
        *("models/a.onnx", "models/b.onnx", "models/clean.onnx", "models/deep/b.ONNX", "early.onnx")
    ]
    assert document["error"] == document["models"][1]["error"]
