"""What a file cannot hold (text, maps, rare element types) is refused before anything is written."""

import dask.array as da
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import extremum.dask
from extremum import backend
from extremum.cli.new_files import write_outputs
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
    return written(
        [indices, names],
        names=helper.make_tensor_type_proto(TensorProto.STRING, ["n"]),
        i=helper.make_tensor_type_proto(TensorProto.INT64, ["n"]),
    )


@pytest.fixture
def maps():
    node = helper.make_node("ZipMap", ["x"], ["z"], domain="ai.onnx.ml", classlabels_int64s=range(4))
    of_map = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    return written([node], z=helper.make_sequence_type_proto(of_map))


@pytest.mark.parametrize("out", ["y.npy", "y.zarr", "y.nc"])
def test_apply_writes_no_text(text, out, capsys):
    before = left()
    assert apply(text, "x.npy", "-o", out, "--output-name", "names") == 2
    assert "output 'names' is text" in capsys.readouterr().err
    assert left() == before
    assert apply(text, "x.npy", "-o", out, "--output-name", "i") == 0


@pytest.mark.parametrize("out", ["y.npy", "y.zarr", "y.nc"])
def test_apply_writes_no_maps(maps, out, capsys):
    before = left()
    assert apply(maps, "x.npy", "-o", out) == 2
    assert "output 'z' is no tensor; given: a list" in capsys.readouterr().err
    assert left() == before


@pytest.mark.parametrize(("out", "name"), [("y.zarr", "Zarr"), ("y.nc", "NetCDF")])
def test_apply_writes_no_type_that_a_format_has_not(out, name, capsys):
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.BFLOAT16)
    model = written([node], y=helper.make_tensor_type_proto(TensorProto.BFLOAT16, ["n", 4]))
    before = left()
    assert apply(model, "x.npy", "-o", out) == 2
    assert f"{name} does not store elements of type bfloat16" in capsys.readouterr().err
    assert left() == before


@pytest.mark.parametrize("engine", backend.ENGINES)
def test_run_writes_text_of_fixed_width(text, engine, tmp_path):
    outputs = backend.prepare(text, engine=engine).run([X])
    paths = write_outputs({"names": outputs.names}, tmp_path / "answers")
    assert np.load(paths["names"]).tolist() == NAMES[1:]


def test_text_that_fixed_width_would_cut_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="text that ends with NUL"):
        write_outputs({"x": np.array(["a\0"], object)}, tmp_path / "answers")
    assert not (tmp_path / "answers").exists()


def test_no_text_at_all(tmp_path):
    paths = write_outputs({"x": np.array([], object)}, tmp_path / "answers")
    assert np.load(paths["x"]).shape == (0,)


@pytest.mark.parametrize("engine", backend.ENGINES)
def test_text_of_every_chunk_is_whole(text, engine, monkeypatch):
    prepared = backend.prepare
    monkeypatch.setattr(backend, "prepare", lambda model, threads: prepared(model, engine=engine, threads=threads))
    names = extremum.dask.run(text, da.from_array(X, chunks=(1, 4)), output="names")
    assert names.dtype == object
    assert names.compute(scheduler="sync").tolist() == NAMES[1:]


@pytest.mark.parametrize("output", [None, "z"])
def test_maps_have_no_array_of_dask(maps, output):
    with pytest.raises(ArgumentError, match="run: output 'z' is no tensor"):
        extremum.dask.run(maps, da.from_array(X, chunks=(1, 4)), output=output)
