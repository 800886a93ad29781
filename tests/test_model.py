"""A model is read once and its weights are held once: what a session gets, and that nothing is lost on the way."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from extremum import backend
from extremum.errors import ExecutionError, ModelError
from extremum.onnxruntime import library
from extremum.tensors import ELEMENT_TYPES, element_of
from models import model

N = 2000
W = np.linspace(-1, 1, N).astype(np.float32)
X = np.zeros(N, np.float32)
BODY = f"(float[{N}] x) => (float[{N}] y, int64[1] i) {{ z = Add(x, w) y = Max(z, x) i = ArgMax(y) }}"


def weighed(body=BODY, functions="", **weights):
    proto = model(body, functions=functions)
    for name, array in (weights or {"w": W}).items():
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return proto


def beside(proto, folder):
    onnx.save(proto, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return folder / "m.onnx"


def inside(proto, folder):
    onnx.save(proto, folder / "m.onnx")
    return folder / "m.onnx"


GIVEN = {
    "a file": inside,
    "a file and another": lambda proto, folder: beside(onnx.ModelProto.FromString(proto.SerializeToString()), folder),
    "bytes": lambda proto, folder: proto.SerializeToString(),
    "a ModelProto": lambda proto, folder: proto,
}


@pytest.fixture
def handed(monkeypatch):
    """What onnxruntime gets as models."""
    seen = []
    inner = library.open_session

    def open_session(source, *options):
        seen.append(source)
        return inner(source, *options)

    monkeypatch.setattr(library, "open_session", open_session)
    return seen


@pytest.mark.parametrize("given", GIVEN)
def test_a_session_gets_no_weights_in_the_message_and_the_model_has_them_afterwards(given, tmp_path, handed):
    proto = weighed()
    proto.graph.doc_string = "graph"
    proto.doc_string = "model"
    proto.metadata_props.add(key="a", value="b")
    proto.graph.quantization_annotation.add(tensor_name="w")
    proto.graph.initializer[0].doc_string = "weight"
    before = proto.SerializeToString(deterministic=True)
    prepared = backend.prepare(GIVEN[given](proto, tmp_path))
    assert prepared.engine == "onnxruntime"
    assert len(handed) == 1
    assert len(handed[0]) < W.nbytes / 4
    outputs = prepared.run([X])
    assert outputs.y.tolist() == np.maximum(W, X).tolist()
    assert outputs.i.tolist() == [N - 1]
    assert prepared.model.SerializeToString(deterministic=True) == before
    assert prepared.model is prepared.model
    assert (prepared.model is proto) == (given == "a ModelProto")
    assert proto.SerializeToString(deterministic=True) == before


def test_large_weights_in_other_files_are_there_when_a_model_is_prepared_and_read_when_they_are_asked_for(tmp_path):
    path = GIVEN["a file and another"](weighed(), tmp_path)
    prepared = backend.prepare(path)
    assert prepared.loaded.proto.ByteSize() < W.nbytes / 4
    (tmp_path / "w.bin").unlink()
    with pytest.raises(ModelError, match="the content of tensor 'w' cannot be read"):
        prepared.model  # noqa: B018 - asking is enough
    with pytest.raises(ModelError, match="the content of tensor 'w' cannot be read"):
        backend.prepare(path)


@pytest.mark.parametrize("element", [each.name for each in ELEMENT_TYPES])
def test_weights_of_every_element_type(element):
    values = (np.arange(N * 4) % 2).astype(element_of(element).dtype).reshape(4, N)
    proto = weighed(f"(int64[1] j) => (float[1, {N}] y) {{ g = Gather(w, j) y = Cast <to=1> (g) }}", w=values)
    prepared = backend.prepare(proto, engine="onnxruntime")
    assert np.array_equal(prepared.run([np.array([2])]).y, values[2:3].astype(np.float32))


def as_numbers(proto):
    del proto.graph.initializer[:]
    proto.graph.initializer.append(onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [N], W))


FORGETS = '<domain: "own", opset_import: ["" : 13]> Forget (x, w) => (y) { y = Neg(x) }'
BRANCH = f"g () => (float[{N}] y) {{ y = Add(x, w) }}"
ADD = f"(float[{N}] x) => (float[{N}] y) {{ y = Add(x, w) }}"
# A model, a change to the model, and the output for zeros.
UNUSUAL = {
    "a value without a reader": (f"(float[{N}] x) => (float[{N}] y) {{ z = Neg(x) y = Max(z) }}", None, X),
    "given to a function that does not read it": (
        f"(float[{N}] x) => (float[{N}] y) {{ z = own.Forget(x, w) y = Max(z) }}",
        None,
        X,
    ),
    "read in a subgraph alone": (
        f"(bool c, float[{N}] x) => (y) {{ y = If (c) <then_branch = {BRANCH}, else_branch = {BRANCH}> }}",
        None,
        W,
    ),
    "an output itself": (f"(float[{N}] x) => (float[{N}] w) {{ y = Abs(x) }}", None, W),
    "an input too": (ADD.replace(" x)", f" x, float[{N}] w)", 1), None, W),
    "twice": (ADD, lambda proto: proto.graph.initializer.append(proto.graph.initializer[0]), W),
    "numbers, not bytes": (ADD, as_numbers, W),
}


@pytest.mark.parametrize("case", UNUSUAL)
def test_weights_in_unusual_places(case):
    body, change, expected = UNUSUAL[case]
    proto = weighed(body, FORGETS)
    if change is not None:
        change(proto)
    prepared = backend.prepare(proto)
    assert prepared.engine == "onnxruntime"
    feeds = {"x": X, "c": np.array(True)} if "bool" in body else {"x": X}
    assert prepared.run(feeds)[0].tolist() == expected.tolist()


def test_an_input_with_a_large_default_can_be_given():
    assert backend.prepare(weighed(UNUSUAL["an input too"][0])).run({"x": X, "w": X}).y.tolist() == X.tolist()


def test_weights_that_are_too_few_are_refused_as_onnxruntime_refuses_them():
    proto = weighed()
    proto.graph.initializer[0].raw_data = W.tobytes()[:-4]
    with pytest.raises(ExecutionError, match="onnxruntime does not take the model"):
        backend.prepare(proto, engine="onnxruntime")


def test_who_takes_over_has_the_weights(tmp_path):
    # onnxruntime has no Neg on bfloat16; onnx's reference implementation does.
    bfloat16 = element_of("bfloat16").dtype
    proto = weighed(f"(bfloat16[{N}] x) => (bfloat16[{N}] y) {{ z = Neg(w) y = Max(z, x) }}", w=W.astype(bfloat16))
    prepared = backend.prepare(inside(proto, tmp_path))
    assert prepared.engine == "reference"
    expected = np.maximum(-W.astype(bfloat16), X.astype(bfloat16))
    assert np.array_equal(prepared.run([X.astype(bfloat16)]).y, expected)
