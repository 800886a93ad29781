"""Content in other files: read from the folder of the model and from nowhere else, whatever the model says."""

import os
from functools import partial

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from extremum import backend
from extremum import directml as dml
from extremum.check import check
from extremum.errors import ExtremumError, ModelError
from extremum.fix import fix
from extremum.onnxruntime import InferenceSession, convert
from models import model
from refusal import error_of, refusal

X = np.array([[1, 5, 5], [7, 7, 2]], np.float32)
W = np.array([4, 0, 9], np.float32)
SECRET = np.array([1111, 2222, 3333], np.float32)


def elsewhere(location, name="w", **more):
    """A tensor of three floats in another file."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[3], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


MAX = "(float[2, 3] x) => (y) { y = Max(x, w) }"
IF = """(bool c, float[2, 3] x) => (y) {
  y = If (c) <then_branch = t () => (a) { a = Max(x, w) }, else_branch = e () => (b) { b = Min(x) }>
}"""
CONSTANT = "(float[2, 3] x) => (y) { w = Constant <value = float[1] {0}> () y = Max(x, w) }"
CALL = "(float[2, 3] x) => (y) { y = own.F(x) }"
FUNCTION = (
    '<domain: "own", opset_import: ["" : 13]> F (x) => (y) { w = Constant <value = float[1] {0}> () y = Max(x, w) }'
)


def in_sparse(proto, tensor):
    sparse = proto.graph.sparse_initializer.add(dims=[3])
    sparse.values.CopyFrom(tensor)
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.arange(3), "i"))


# A model, its function if it has one, and a Python function that puts a tensor into the model.
PLACES = {
    "graph": (MAX, "", lambda proto, tensor: proto.graph.initializer.append(tensor)),
    "subgraph": (IF, "", lambda proto, tensor: proto.graph.node[0].attribute[0].g.initializer.append(tensor)),
    "constant": (CONSTANT, "", lambda proto, tensor: proto.graph.node[0].attribute[0].t.CopyFrom(tensor)),
    "function": (CALL, FUNCTION, lambda proto, tensor: proto.functions[0].node[0].attribute[0].t.CopyFrom(tensor)),
    "default": (
        CALL,
        FUNCTION.replace("value = float[1] {0}", "value : tensor = @k"),
        lambda proto, tensor: proto.functions[0].attribute_proto.append(helper.make_attribute("k", tensor)),
    ),
    "sparse": (MAX, "", in_sparse),
}


def with_tensor(place, tensor):
    body, functions, put = PLACES[place]
    proto = model(body, functions=functions)
    put(proto, tensor)
    return proto


def in_axis(tensor):
    proto = model("(float[2, 3] x) => (y) { y = ArgMax(x) }")
    proto.graph.node[0].attribute.append(helper.make_attribute("axis", tensor))
    return proto


@pytest.fixture
def model_folder(tmp_path, monkeypatch):
    """A folder for a model, next to files that the model must not read; the process runs next to those files."""
    for name in ("inside", "outside"):
        (tmp_path / name).mkdir()
    SECRET.tofile(tmp_path / "outside" / "secret.bin")
    W.tofile(tmp_path / "inside" / "w.bin")
    monkeypatch.chdir(tmp_path / "outside")
    return tmp_path / "inside"


def saved(proto, folder):
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("more", [{}, {"length": 12}], ids=str)
def test_what_is_in_the_folder_is_read(place, more, model_folder):
    np.concatenate([SECRET, W]).tofile(model_folder / "w.bin")
    path = saved(with_tensor(place, elsewhere("w.bin", offset=12, **more)), model_folder)
    feeds = {"x": X, **({"c": np.array(True)} if place == "subgraph" else {})}
    assert backend.prepare(path, engine="reference").run(feeds).y.tolist() == np.maximum(X, W).tolist()
    if place == "graph":
        assert InferenceSession(path).run(None, feeds)[0].tolist() == np.maximum(X, W).tolist()


def links(folder):
    (folder / "link.bin").symlink_to("../outside/secret.bin")
    (folder / "folder").symlink_to(folder.parent / "outside")
    (folder / "round").symlink_to("round")
    os.mkfifo(folder / "pipe")


OUTSIDE = {
    "an absolute path": lambda folder: str(folder.parent / "outside" / "secret.bin"),
    "a path upwards": lambda folder: "../outside/secret.bin",
    "a path down and upwards": lambda folder: "a/../../outside/secret.bin",
    "a path of another system": lambda folder: "..\\outside\\secret.bin",
    "a drive": lambda folder: "C:secret.bin",
    "a file of the process's folder": lambda folder: "secret.bin",
    "a link": lambda folder: "link.bin",
    "a linked folder": lambda folder: "folder/secret.bin",
    "a link to itself": lambda folder: "round",
    "a pipe": lambda folder: "pipe",
    "a folder": lambda folder: ".",
    "nothing": lambda folder: "",
    "a name with a zero": lambda folder: "w.bin\0",
}
READERS = {
    "prepare": backend.prepare,
    "reference": partial(backend.prepare, engine="reference"),
    "onnxruntime": partial(backend.prepare, engine="onnxruntime"),
    "InferenceSession": InferenceSession,
    "lower": dml.lower,
}


# Every way out of the folder from one place, and one way from every other place.
WAYS = [*((case, "graph") for case in OUTSIDE), *(("a link", place) for place in PLACES if place != "graph")]


def keeps_secret(text):
    return not any(number in text for number in ("1111", "2222", "3333"))


@pytest.mark.parametrize(("case", "place"), WAYS)
def test_nothing_else_is_read(case, place, model_folder):
    links(model_folder)
    path = saved(with_tensor(place, elsewhere(OUTSIDE[case](model_folder))), model_folder)
    for read in READERS.values():
        with pytest.raises(Exception) as caught:  # noqa: PT011 - onnxruntime's own have no class in common
            read(path)
        assert isinstance(caught.value, ExtremumError) or "onnxruntime" in type(caught.value).__module__
        assert keeps_secret(str(caught.value))


@pytest.mark.parametrize("case", ["a pipe", "a folder"])
def test_what_is_no_file_is_refused_before_onnxruntime_opens_it(case, model_folder, monkeypatch):
    links(model_folder)
    path = saved(with_tensor("graph", elsewhere(OUTSIDE[case](model_folder))), model_folder)
    monkeypatch.setattr("onnxruntime.InferenceSession.__init__", lambda *_, **__: pytest.fail("it was opened"))
    for reader in (READERS["InferenceSession"], READERS["onnxruntime"]):
        with pytest.raises(ModelError, match=r"the content of tensor '[^']*' cannot be read") as caught:
            reader(path)
        assert "keep the data files in the folder of the model" in str(caught.value)


def message(call, path):
    try:
        call(path)
    except ExtremumError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("case", "place"), [*WAYS, ("a link", "axis")])
def test_what_needs_no_weights_reads_and_prints_none(case, place, model_folder, capfd):
    links(model_folder)
    tensor = elsewhere(OUTSIDE[case](model_folder))
    path = saved(in_axis(tensor) if place == "axis" else with_tensor(place, tensor), model_folder)
    report = check(path)
    texts = [*report.findings, *report.notes, message(convert, path), message(fix, path), *capfd.readouterr()]
    assert keeps_secret("\n".join(map(str, texts)))


def test_a_tensor_for_an_axis_is_named_and_not_shown():
    proto = in_axis(onnx.numpy_helper.from_array(SECRET, "k"))
    (finding,) = check(proto, select=["EX002"]).findings
    assert finding.given == "x: float32[2, 3], axis=<tensor>"


WRONG = "tensor 'w' does not hold what its type and shape say"
EXPECTED = {"INT4": 2, "UINT4": 2, "BFLOAT16": 6, "DOUBLE": 24, "BOOL": 3, "FLOAT8E5M2": 3, "COMPLEX128": 48}


@pytest.mark.parametrize(
    ("element", "more", "message"),
    [
        ("FLOAT", {"offset": 4}, "12 bytes from 4 on, of a file of 12"),
        ("FLOAT", {"offset": 2**62}, f"12 bytes from {2**62} on, of a file of 12"),
        ("FLOAT", {"offset": -4}, "'-4' for a place in a file"),
        ("FLOAT", {"offset": "many"}, "'many' for a place in a file"),
        ("FLOAT", {"length": 8}, "8 bytes where its type and shape take 12"),
        ("FLOAT", {"length": 1 << 40}, f"{1 << 40} bytes where its type and shape take 12"),
        *(
            (element, {"length": 1}, f"1 bytes where its type and shape take {size}")
            for element, size in EXPECTED.items()
        ),
    ],
)
def test_places_in_a_file_that_cannot_be(element, more, message, model_folder):
    tensor = elsewhere("w.bin", **more)
    tensor.data_type = getattr(TensorProto, element)
    error = error_of(ModelError, backend.prepare, saved(with_tensor("graph", tensor), model_folder), engine="reference")
    assert (error.reason, error.given) == (WRONG, message)


@pytest.mark.parametrize("place", PLACES)
def test_a_model_without_a_folder_has_no_other_files(place, model_folder, monkeypatch):
    monkeypatch.chdir(model_folder)
    proto = with_tensor(place, elsewhere("w.bin"))
    for form in (proto, proto.SerializeToString()):
        assert refusal(ModelError, backend.prepare, form) == (
            "the content of tensor 'w' is in another file, and the model came without a folder"
        )
    assert refusal(ModelError, InferenceSession, proto.SerializeToString()) == (
        "the model has weights in other files, and came without a folder"
    )


def test_a_folder_given_to_onnxruntime_is_the_models_and_forgotten_after_it(model_folder):
    import onnxruntime

    key = "session.model_external_initializers_file_folder_path"
    proto = with_tensor("graph", elsewhere("w.bin"))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    InferenceSession(saved(proto, model_folder), options)
    assert not options.get_session_config_entry(key)
    assert "ONNXRuntimeError" in str(error_of(Exception, InferenceSession, proto.SerializeToString(), options))
    options.add_session_config_entry(key, str(model_folder))
    session = InferenceSession(proto.SerializeToString(), options)
    assert session.run(None, {"x": X})[0].tolist() == np.maximum(X, W).tolist()


def sparse(dims, indices):
    proto = model(MAX)
    made = proto.graph.sparse_initializer.add(dims=dims)
    made.values.CopyFrom(onnx.numpy_helper.from_array(np.array([8, 9], np.float32), "w"))
    made.indices.CopyFrom(onnx.numpy_helper.from_array(np.array(indices), "i"))
    return proto


@pytest.mark.parametrize("engine", [None, *backend.ENGINES])
def test_a_sparse_initializer(engine):
    # onnxruntime knows linear indices only.
    for indices in ([1, 3], [[0, 1], [1, 0]])[: 1 if engine == "onnxruntime" else 2]:
        given = sparse([2, 3], indices)
        before = given.SerializeToString()
        assert backend.prepare(given, engine=engine).run([X]).y.tolist() == [[1, 8, 5], [9, 7, 2]]
        assert given.SerializeToString() == before


@pytest.mark.parametrize(
    ("dims", "indices", "message"),
    [
        ([2, 3], [1, 6], "indices out of range"),
        ([2, 3], [-1, 2], "indices out of range"),
        ([2, 3], [[0, 1], [2, 0]], "indices out of range"),
        ([2, 3], [1, 2, 3], "indices [3] for values [2]"),
        ([2, 3], [[1], [2]], "indices [2, 1] for values [2]"),
        ([-2, 3], [1, 2], "sizes [-2, 3]"),
        ([2, 3], [1.0, 2.0], "indices of float64"),
    ],
)
def test_a_sparse_initializer_that_is_wrong(dims, indices, message):
    error = error_of(ModelError, backend.prepare, sparse(dims, indices), engine="reference")
    assert (error.reason, error.given) == (WRONG, message)
