"""What a file cannot hold (text, maps, rare element types) is refused before anything is written."""

import dask.array as da
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import extremum.dask
from commands import refused
from extremum import backend
from extremum.errors import ArgumentError
from large_files import apply, left

pytestmark = pytest.mark.usefixtures("in_a_folder")

NAMES = ["?", "dog", "żółw", "a\0b"]
X = np.eye(4, dtype=np.float32)[[1, 2, 3]]


def written(nodes, **outputs):
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4])]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_value_info(*each) for each in outputs.items()])
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 2)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), "m.onnx")
    np.save("x.npy", X)
    return "m.onnx"


@pytest.fixture
def text():
    indices = helper.make_node("ArgMax", ["x"], ["i"], axis=1, keepdims=0)
    names = helper.make_node(
        "LabelEncoder", ["i"], ["names"], domain="ai.onnx.ml", keys_int64s=range(4), values_strings=NAMES
    )
    types = {"names": TensorProto.STRING, "i": TensorProto.INT64}
    return written(
        [indices, names], **{name: helper.make_tensor_type_proto(type_, ["n"]) for name, type_ in types.items()}
    )


@pytest.fixture
def maps():
    node = helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml", classlabels_int64s=range(4))
    of_map = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    return written([node], z=helper.make_sequence_type_proto(of_map))


@pytest.fixture
def brain():
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)
    return written([node], y=helper.make_tensor_type_proto(TensorProto.BFLOAT16, ["n", 4]))


@pytest.mark.parametrize(
    ("model", "out", "reason"),
    [
        *(("text", out, "output 'names' is text") for out in ("y.npy", "y.zarr", "y.nc")),
        *(("maps", out, "output 'z' is not a tensor; given: a list") for out in ("y.npy", "y.zarr", "y.nc")),
        ("brain", "y.zarr", "Zarr does not store elements of type bfloat16"),
        ("brain", "y.nc", "NetCDF does not store elements of type bfloat16"),
    ],
)
def test_apply_refuses(model, out, reason, request):
    if out.endswith(".zarr"):
        pytest.importorskip("zarr")
    words = [request.getfixturevalue(model), "x.npy", "-o", out]
    before = left()
    line = refused("apply", *words, *(["--output-name", "names"] if model == "text" else []))
    assert line.removeprefix("run: ").startswith(reason)
    assert left() == before
    assert model != "text" or apply(*words, "--output-name", "i")


@pytest.mark.parametrize("engine", backend.ENGINES)
def test_text_of_every_chunk_is_whole(text, engine, monkeypatch):
    prepared = backend.prepare
    monkeypatch.setattr(backend, "prepare", lambda model, threads: prepared(model, engine=engine, threads=threads))
    names = extremum.dask.run(text, da.from_array(X, chunks=(1, 4)), output="names")
    assert names.dtype == object
    assert names.compute(scheduler="sync").tolist() == NAMES[1:]


@pytest.mark.parametrize("output", [None, "z"])
def test_maps_have_no_array_of_dask(maps, output):
    with pytest.raises(ArgumentError, match="run: output 'z' is not a tensor"):
        extremum.dask.run(maps, da.from_array(X, chunks=(1, 4)), output=output)
