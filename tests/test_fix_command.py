"""``extremum fix``: what it prints and writes, and what it refuses."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from click.testing import CliRunner

from extremum.cli import main
from extremum.cli.program import program

ORT = f"onnxruntime {onnxruntime.__version__}"
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
def folder(tmp_path, monkeypatch):
    """Make the current folder one with the models."""
    for name, (opset, body) in MODELS.items():
        text = f'<ir_version: {3 if opset < 9 else 8}, opset_import: ["" : {opset}]> g {body}'
        onnx.save(onnx.parser.parse_model(text), tmp_path / f"{name}.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    """The exit status and what is printed."""
    result = CliRunner().invoke(program, ("fix", *words), standalone_mode=False, catch_exceptions=False)
    return result.return_value or 0, result.stdout


def refused(capsys, *words):
    """The one line with which the command is refused."""
    with pytest.raises(SystemExit) as caught:
        main(["fix", *words])
    out, err = capsys.readouterr()
    assert (caught.value.code, out) == (2, "")
    (line,) = err.splitlines()
    return line


def test_writes_a_model_that_stock_onnxruntime_runs():
    assert run("narrow.onnx", "-o", "fixed.onnx") == (0, f"1 node rewritten for {ORT}\nwrote fixed.onnx\n")
    session = onnxruntime.InferenceSession("fixed.onnx", providers=["CPUExecutionProvider"])
    (labels,) = session.run(None, {"x": np.array([[1, 3, 3, 2]], np.int16)})
    assert labels.tolist() == [[1]]
    assert sorted(path.name for path in Path().iterdir()) == ["clean.onnx", "early.onnx", "fixed.onnx", "narrow.onnx"]


def test_shows_the_changes_without_writing(folder):
    assert run("narrow.onnx", "--diff") == (0, DIFF + "nothing is written: add -o OUT\n")
    assert len(list(folder.iterdir())) == len(MODELS)


def test_shows_the_changes_and_writes():
    assert run("narrow.onnx", "--diff", "-o", "fixed.onnx") == (0, DIFF + "wrote fixed.onnx\n")


# What check reports of the same model, so that nobody takes "every node" for "every answer".
NAN = (
    "note: graph.node[0]: runtimes answer ArgMax-13 differently where its input holds a NaN; no rewrite is exact, so "
    "it stays (extremum explain EX103)\n"
)


def test_says_that_nothing_was_modified(folder):
    assert run("clean.onnx", "-o", "fixed.onnx") == (
        0,
        f"{NAN}not modified: {ORT} takes every node\nwrote fixed.onnx\n",
    )
    assert Path("fixed.onnx").read_bytes() == Path("clean.onnx").read_bytes()


def test_node_by_node():
    note = "note: compared node by node, not as a whole, as was asked\n"
    assert run("narrow.onnx", "--diff", "--node-by-node") == (
        0,
        DIFF.replace("1 node", f"{note}1 node") + "nothing is written: add -o OUT\n",
    )


def test_for_directml():
    status, text = run("narrow.onnx", "--for", "directml-4_1", "-o", "fixed.onnx")
    assert (status, text) == (0, "not modified: DirectML 4_1 takes every node\nwrote fixed.onnx\n")


def test_a_node_that_cannot_be_rewritten():
    assert run("early.onnx", "-o", "fixed.onnx") == (
        1,
        "Max-1 of float32 can be rewritten from opset 8 on\n"
        "  at    graph.node[0], opset 1\n"
        "  given a: float32[n], b: float32[n], consumed_inputs=[0, 0]\n"
        "  help  allow opset 8 with raise_opset, if the whole model may be raised\n"
        f"not modified: 1 node cannot be rewritten for {ORT}\n",
    )
    assert not Path("fixed.onnx").exists()


def test_raises_the_opset_on_request():
    assert run("early.onnx", "-o", "fixed.onnx", "--raise-opset", "8")[0] == 0
    fixed = onnx.load("fixed.onnx")
    assert fixed.opset_import[0].version == 8
    onnxruntime.InferenceSession("fixed.onnx", providers=["CPUExecutionProvider"])


def test_json():
    status, text = run("narrow.onnx", "--json", "-o", "fixed.onnx")
    assert status == 0
    assert json.loads(text) == {
        "model": "narrow.onnx",
        "target": ORT,
        "changes": [
            {
                "place": "graph.node[0] 'top'",
                "operator": "ArgMax-13",
                "element": "int16",
                "rewrite": "on wider integers",
                "before": "[top] y = ArgMax <axis: int = 1> (x)",
                "after": ['"y/0" = Cast <to: int = 6> (x)', '[top] y = ArgMax <axis: int = 1> ("y/0")'],
            }
        ],
        "refusals": [],
        "differences": [],
        "notes": [],
        "written": "fixed.onnx",
    }
    status, text = run("early.onnx", "--json")
    report = json.loads(text)
    assert status == 1
    assert report["written"] is None
    assert report["refusals"][0]["reason"] == "Max-1 of float32 can be rewritten from opset 8 on"


def test_a_copy_is_the_file_as_it_is():
    # A field that onnx does not know, which protobuf would write elsewhere.
    content = Path("clean.onnx").read_bytes()
    Path("odd.onnx").write_bytes(bytes([0xC2, 0x3E, 1, 65]) + content)
    assert run("odd.onnx", "-o", "fixed.onnx")[0] == 0
    assert Path("fixed.onnx").read_bytes() == Path("odd.onnx").read_bytes()


def test_a_link_to_nothing_is_no_free_name(capsys):
    Path("link.onnx").symlink_to("elsewhere.onnx")
    assert refused(capsys, "narrow.onnx", "-o", "link.onnx").startswith("extremum: 'link.onnx' already exists")
    assert not Path("elsewhere.onnx").exists()


def test_overwrites_nothing(capsys):
    Path("taken.onnx").write_text("mine")
    assert refused(capsys, "narrow.onnx", "-o", "taken.onnx") == (
        "extremum: 'taken.onnx' already exists; help: choose another name, or move that file"
    )
    assert refused(capsys, "narrow.onnx", "-o", "narrow.onnx").startswith("extremum: 'narrow.onnx' already exists")
    assert Path("taken.onnx").read_text() == "mine"


def test_says_what_would_be_rewritten(folder):
    assert run("narrow.onnx") == (
        0,
        "graph.node[0] 'top': ArgMax-13 of int16 on wider integers\n"
        f"1 node rewritten for {ORT}\n"
        "nothing is written: add -o OUT, or --diff to see the changes\n",
    )
    assert run("clean.onnx") == (0, f"{NAN}not modified: {ORT} takes every node\n")
    status, text = run("early.onnx")
    assert status == 1
    assert text.endswith(f"not modified: 1 node cannot be rewritten for {ORT}\n")
    assert len(list(folder.iterdir())) == len(MODELS)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["none.onnx", "--diff"], "none.onnx: No such file or directory"),
        (
            ["narrow.onnx", "--diff", "--for", "toaster"],
            "there is no target 'toaster'; help: the targets are extremum",
        ),
        (["narrow.onnx", "--diff", "--raise-opset", "0"], "Invalid value for '--raise-opset': 0 is not in the range"),
        (["narrow.onnx", "-o", "no/m.onnx"], "cannot create 'm.onnx': there is no folder 'no'"),
    ],
)
def test_refuses(words, line, capsys):
    assert refused(capsys, *words).startswith(f"extremum: {line}")


def with_weights_beside(folder):
    """A model whose weights are in another file of the folder."""
    folder.mkdir()
    text = """<ir_version: 8, opset_import: ["" : 13]>
        g (float[2, 64] x) => (y) { a = MatMul (x, w) b = Cast <to=5> (a) y = ArgMax <axis=1> (b) }"""
    model = onnx.parser.parse_model(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.eye(64, dtype=np.float32), "w"))
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return folder


def test_weights_beside_the_model_stay_there(tmp_path):
    folder = with_weights_beside(tmp_path / "large")
    before = (folder / "w.bin").read_bytes()
    status, text = run(str(folder / "m.onnx"), "-o", str(folder / "fixed.onnx"))
    assert status == 0
    assert text.startswith("note: compared node by node, not as a whole: its weights are kept beside the model\n")
    assert (folder / "w.bin").read_bytes() == before
    session = onnxruntime.InferenceSession(folder / "fixed.onnx", providers=["CPUExecutionProvider"])
    x = np.zeros((2, 64), np.float32)
    x[[0, 1], [5, 63]] = 1
    assert session.run(None, {"x": x})[0].tolist() == [[5], [63]]


def test_a_model_goes_nowhere_without_its_weights(tmp_path, capsys):
    folder = with_weights_beside(tmp_path / "large")
    assert refused(capsys, str(folder / "m.onnx"), "-o", "elsewhere.onnx") == (
        f"extremum: the weights of '{folder / 'm.onnx'}' are in other files of its folder; "
        "help: write the fixed model to that folder"
    )
    assert not Path("elsewhere.onnx").exists()


@pytest.fixture
def several(folder):
    """Make a folder with models in it, some of which are hidden or no models."""
    for name in ("models/a.onnx", "models/deep/b.ONNX", "models/.git/c.onnx", "models/node_modules/d.onnx"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(Path("narrow.onnx").read_bytes())
    Path("models/notes.txt").write_text("no model")
    Path("models/clean.onnx").write_bytes(Path("clean.onnx").read_bytes())


def test_several_models_go_into_a_folder(several):
    status, text = run("models", "narrow.onnx", "-o", "fixed")
    assert status == 0
    heads = [line for line in text.splitlines() if line.endswith(":")]
    assert heads == ["models/a.onnx:", "models/clean.onnx:", "models/deep/b.ONNX:", "narrow.onnx:"]
    written = sorted(str(path) for path in Path("fixed").rglob("*") if path.is_file())
    assert written == ["fixed/a.onnx", "fixed/clean.onnx", "fixed/deep/b.ONNX", "fixed/narrow.onnx"]
    onnxruntime.InferenceSession("fixed/deep/b.ONNX", providers=["CPUExecutionProvider"])


def test_one_model_goes_into_a_folder_that_is_there():
    Path("out").mkdir()
    assert run("narrow.onnx", "-o", "out") == (0, f"1 node rewritten for {ORT}\nwrote out/narrow.onnx\n")


def test_a_model_that_cannot_be_fixed_does_not_stop_the_others(several, capsys):
    Path("models/b.onnx").write_bytes(b"no model")
    with pytest.raises(SystemExit) as caught:
        main(["fix", "models", "early.onnx", "-o", "fixed"])
    out, err = capsys.readouterr()
    assert caught.value.code == 2
    assert err.startswith("extremum: 'models/b.onnx' holds no ONNX model; ")
    assert err.count("\n") == 1
    assert out.count("wrote ") == 3
    assert "not modified: 1 node cannot be rewritten" in out
    status, text = run("models", "early.onnx", "--json")
    document = json.loads(text)
    assert status == 2
    assert [each["model"] for each in document["models"]] == [
        *("models/a.onnx", "models/b.onnx", "models/clean.onnx", "models/deep/b.ONNX", "early.onnx")
    ]
    assert document["error"] == document["models"][1]["error"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["models", "-o", "narrow.onnx"], "'narrow.onnx' is a file, but several models need a folder; help: name a "),
        (
            ["models", "models/deep", "a.onnx", "-o", "no/deep"],
            "cannot create the folder 'no/deep': there is no folder",
        ),
        (
            ["narrow.onnx", "models/narrow.onnx", "-o", "out"],
            "'narrow.onnx' and 'models/narrow.onnx' both go to 'out",
        ),
        (
            ["narrow.onnx", "clean.onnx", "-o", "taken"],
            "'taken/clean.onnx' already exists; help: choose another folder",
        ),
        (["empty", "-o", "out"], "there is no .onnx file in the folder 'empty'; help: name the file of a model"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_refuses_several(several, capsys, words, line):
    for folder in ("empty", "taken"):
        Path(folder).mkdir()
    Path("taken/clean.onnx").write_text("mine")
    assert refused(capsys, *words).startswith(f"extremum: {line}")
    assert Path("taken/clean.onnx").read_text() == "mine"
    assert not Path("out").exists()
