"""The page about the code says what the code does: its picture is fresh, and a model's way is the one it describes."""

import importlib.util
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest

import extremum
from extremum import backend
from extremum.graph.load import Model
from models import model

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = Path(extremum.__file__).parent


@pytest.fixture(scope="module")
def architecture():
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_fresh(architecture):
    assert architecture.picture() in PAGE, "python docs/architecture.py draws it anew"


def test_the_picture_shows_every_package(architecture):
    picture = architecture.picture()
    shown = {path.stem for path in PACKAGE.iterdir() if path.stem not in ("__init__", "__pycache__", "py")}
    assert {name for name in shown if f'["{name.removesuffix(".abi3")}"]' not in picture} == set()


def test_every_arrow_points_down(architecture):
    height = {name: -index for index, layer in enumerate(architecture.layers()) for name in layer}
    arrows = architecture.imports()
    assert len(arrows) > 50
    assert [pair for pair in arrows if height[pair[0]] <= height[pair[1]]] == []


def test_what_the_page_names_is_there():
    paths = re.findall(r"`([\w/]+(?:/|\.py|\.rs))`", PAGE)
    kernels = ROOT / "native" / "kernels" / "src"
    missing = {path for path in paths if not any((root / path).exists() for root in (PACKAGE, ROOT, kernels))}
    modules = re.findall(r"`((?:graph|backend|onnxruntime|runtimes)\.[a-z_]+)`", PAGE)
    missing |= {name for name in modules if not (PACKAGE / f"{name.replace('.', '/')}.py").exists()}
    assert missing == set()
    assert len(paths) > 20
    assert len(modules) > 5


def file_of(code):
    path = Path(code.co_filename)
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else None


def way_of(call):
    """The calls from one file of the package into another: who, whom, and whether the model is handed on."""
    way, seen = [], []

    def note(frame, event, _):
        # A generator that goes on is no new call; frames are kept, so that none is taken for another.
        if event != "call" or any(frame is each for each in seen) or (callee := file_of(frame.f_code)) is None:
            return
        seen.append(frame)
        holds = any(isinstance(each, Model | onnx.ModelProto) for each in frame.f_locals.values())
        back = frame.f_back
        while back is not None and file_of(back.f_code) is None:
            back = back.f_back
        caller = None if back is None else file_of(back.f_code)
        if caller not in (None, callee):
            way.append((caller, callee, holds))

    # Whoever else looks on, such as coverage, goes on afterwards.
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return way


BODIES = {
    "with other operators": "(float[n, 3] x) => (int64[1, 3] y) { z = Neg(x) y = ArgMax(z) }",
    "without": "(float[n, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }",
}


@pytest.mark.parametrize("body", BODIES)
def test_a_model_on_its_way_enters_no_file_often_and_never_climbs(body, architecture, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model(BODIES[body]), path)
    # What is imported on the way the first time is none of it.
    backend.prepare(path).run([np.zeros((2, 3), np.float32)])
    way = way_of(lambda: backend.prepare(path))
    height = {name: -index for index, layer in enumerate(architecture.layers()) for name in layer}

    def layer(file):
        return height[file.partition("/")[0].removesuffix(".py")]

    assert [(caller, callee) for caller, callee, _ in way if layer(callee) > layer(caller)] == []
    entered = Counter(callee for _, callee, holds in way if holds)
    assert {file: count for file, count in entered.items() if count > 4} == {}
    assert len(entered) > 5
