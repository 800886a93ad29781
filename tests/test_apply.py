"""``extremum apply``: files give the same answers as arrays, in little memory."""

import gc
import io
import json
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import netCDF4
import numpy as np
import onnx
import pytest
import xarray as xr

import extremum as ex
from agreement import assert_identical
from commands import refused, run
from extremum.cli.apply import parse_size
from extremum.errors import ArgumentError
from extremum.large import ParameterError, open_source, planned, steps
from extremum.large.lengths import Made, lengths
from extremum.partials import Pieces
from large_files import TWO_OUTPUTS, apply, left, sample, save, save_dataset
from refusal import refusal

pytestmark = pytest.mark.usefixtures("in_a_folder", "in_this_process")

CLASSIFIER = (
    '<ir_version: 8, opset_import: ["" : 13]> g (float[{n}, 6] x) => (int64[{n}, 1] y) {{ y = ArgMax<axis=1>(x) }}'
)


FORMS = ["C", "F", "zarr2", "zarr3", "netcdf"]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("axes", "dtype"), [((0,), "int32"), ((1,), "uint8"), ((2, 0), "int16"), ((), "uint32")], ids=str
)
def test_indices_of_every_format(form, axes, dtype):
    x = sample()
    words = save(x, form) + [word for axis in axes for word in ("--axis", axis)]
    apply("argmax", *words, "-o", "y.npy", "--keepdims", "--dtype", dtype)
    assert_identical(np.load("y.npy"), ex.argmax(x, axes or None, keepdims=True, dtype=dtype))
    apply("argmin", *words, "-o", "z.npy", "--last", "--nan-policy", "omit", "--default", "-1")
    expected = ex.argmin(x, axes or None, select_last_index=True, nan_policy="omit", default=-1)
    assert_identical(np.load("z.npy"), np.asarray(expected))
    apply("hardmax", *words, "-o", "h.npy")
    assert_identical(np.load("h.npy"), ex.hardmax(x, axes or (0, 1, 2)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.int8(3), np.float32(np.nan)], ids=repr)
def test_a_file_of_rank_0(form, value):
    words = save(np.array(value), form)
    apply("argmax", *words, "-o", "y.npy")
    assert_identical(np.load("y.npy"), np.array(0))
    apply("argmin", *words, "-o", "z.npy", "--nan-policy", "omit", "--default", "-1")
    assert_identical(np.load("z.npy"), np.array(-1 if np.isnan(value) else 0))
    apply("hardmax", *words, "-o", "h.npy")
    assert_identical(np.load("h.npy"), np.array(1, value.dtype))
    apply("maximum", words[0], words[0], *words[1:], "-o", "m.npy")
    assert_identical(np.load("m.npy"), np.array(value))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("axes", [(1,), (2, 0)], ids=str)
def test_values_and_their_indices_of_every_format(form, axes):
    x = sample()
    words = save(x, form) + [word for axis in axes for word in ("--axis", axis)]
    apply("min", *words, "--keepdims", "-o", "y.npy")
    assert_identical(np.load("y.npy"), np.asarray(ex.min(x, axes or None, keepdims=True)))
    options = {"axis": axes or None, "nan_policy": "omit", "default": 0.5, "select_last_index": True}
    words += ["--nan-policy", "omit", "--default", "0.5", "--last"]
    apply("max", *words, "--index", "--dtype", "int32", "-o", "y.npy")
    best = ex.max(x, **options, return_index=True, index_dtype=np.int32)
    assert_identical(np.load("y.max.npy"), np.asarray(best.values))
    assert_identical(np.load("y.argmax.npy"), np.asarray(best.indices))
    report = json.loads(apply("minmax", *words, "--index", "-o", "y.nc", "--json"))
    names = [each["output"] for each in report["outputs"]]
    assert names == ["y.min.nc", "y.max.nc", "y.argmin.nc", "y.argmax.nc"]
    for name, expected in zip(names, ex.minmax(x, **options, return_index=True), strict=True):
        with xr.open_dataset(name) as dataset:
            assert_identical(next(iter(dataset.data_vars.values())).values, np.asarray(expected))
    assert not [name for name in left() if name.startswith(".")]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_the_k_best_of_every_format(form, axis):
    x = sample()
    words = [*save(x, form), *(() if axis is None else ("--axis", axis))]
    for k, mode, policy in ((7, "largest", "omit"), (1, "smallest", "propagate"), (0, "largest", "propagate")):
        apply("top_k", *words, "--k", k, "--mode", mode, "--nan-policy", policy, "-o", f"y{k}.npy")
        expected = ex.top_k(x, k, axis, mode=mode, nan_policy=policy)
        for name, each in expected._asdict().items():
            assert_identical(np.load(f"y{k}.{name}.npy"), each)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", [2, 3])
def test_results_in_zarr_have_the_format_of_the_input(form):
    zarr = pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    x = sample()
    save(x, f"zarr{form}")
    apply("minmax", "x.zarr", "--axis", 1, "-o", "y.zarr")
    assert left() == ["x.zarr", "y.max.zarr", "y.min.zarr"]
    for name, expected in zip(("y.min.zarr", "y.max.zarr"), ex.minmax(x, 1), strict=True):
        result = zarr.open_array(name, mode="r")
        assert result.metadata.zarr_format == form
        assert_identical(result[...], expected)


def test_of_several_results_all_are_written_or_none():
    save(sample(), "C")
    Path("y.max.npy").write_bytes(b"mine")
    for words, text in {
        "minmax x.npy -o y.npy": "'y.max.npy' already exists; help: choose another name, or move that file",
        "max x.npy -o y.npy --dtype int32": "max does not use --dtype; help: drop it; max uses ",
        "argmax x.npy -o z.npy --index": "argmax does not use --index; ",
        "argmax x.npy --axis 0 --nan-policy omit -o z.npy --default 0.5": "argmax: default is 0.5, not an index",
        "max x.npy -o z.npy --default much": tuple(f"Invalid value for '--default': {x}" for x in ("could", "much")),
    }.items():
        assert refused("apply", *words.split()).startswith(text)
    assert left() == ["x.npy", "y.max.npy"]


@pytest.mark.usefixtures("small_pieces")
def test_elementwise_extrema_of_several_files():
    pytest.importorskip("zarr")
    x = sample()
    row = sample((1, 30, 7), np.int16, seed=1)
    save(x, "zarr3")
    np.save("row.npy", row)
    np.save("other.npy", x[::-1])
    apply("maximum", "row.npy", "x.zarr", "other.npy", "-o", "y.npy")
    assert_identical(np.load("y.npy"), ex.maximum(row, x, x[::-1]))
    apply("minimum", "x.zarr", "other.npy", "-o", "z.npy", "--nan-policy", "omit")
    assert_identical(np.load("z.npy"), ex.minimum(x, x[::-1], nan_policy="omit"))


@pytest.mark.usefixtures("small_pieces")
def test_elementwise_extrema_of_files_that_are_broadcast():
    """No file may have the shape of the result, and a file may have fewer axes."""
    x = sample((5, 6, 1))
    y = sample((6, 7), seed=1)
    z = sample((7,), seed=2)
    for name, each in {"x": x, "y": y, "z": z, "whole": x + y}.items():
        np.save(f"{name}.npy", each)
    apply("maximum", "x.npy", "y.npy", "-o", "xy.npy")
    assert_identical(np.load("xy.npy"), ex.maximum(x, y))
    apply("minimum", "z.npy", "whole.npy", "-o", "zw.npy")
    assert_identical(np.load("zw.npy"), ex.minimum(z, x + y))


@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_missing_integers_beside_an_array_without(policy):
    """A missing element takes part in the result, or not, as NaN does."""
    numbers = np.array([[3, -9, 7], [-9, 2, 5]])
    xr.Dataset({"v": (("a", "b"), numbers, {"_FillValue": -9})}).to_netcdf("x.nc", engine="netcdf4")
    there = np.array([[1, 1, 9], [4, 4, 4]])
    np.save("there.npy", there)
    apply("maximum", "x.nc", "there.npy", "--variable", "v", "--nan-policy", policy, "-o", "y.nc")
    missing = -9 if policy == "propagate" else np.array([1, 4])
    expected = np.maximum(numbers, there)
    expected[numbers == -9] = missing
    assert_identical(xr.load_dataset("y.nc", mask_and_scale=False).v.values, expected)


def blocks_of(operation, names, axis, memory):
    job = planned(operation, [open_source(name) for name in names], axis, memory)
    return [step.blocks[0] for step in steps(job) if step.place is not None]


def test_a_piece_takes_its_share_of_the_memory():
    """Half of it, because one piece is read while another is compared."""
    share = 20_000
    x = sample((300, 200))
    np.save("x.npy", x)
    np.save("other.npy", -x)
    pieces = blocks_of("maximum", ["x.npy", "other.npy"], None, 2 * share)
    # Two elements, their copies and two results.
    assert share // 2 <= max(24 * each.size for each in pieces) <= share
    wide = sample((6, 40_000))
    np.save("wide.npy", wide)
    ones = blocks_of("hardmax", ["wide.npy"], 1, 2 * share)
    assert sum(each.size for each in ones) == wide.size
    # A result with its place.
    assert share // 2 <= max(12 * each.size for each in ones) <= share


LABELS = {
    "numbers": np.array([30.0, 20, 10]),
    "times": np.array(["2020-01-01", "NaT", "2021-01-01"], "M8[ns]"),
    "texts": np.array(["a", "ü", "c"]),
}


@pytest.mark.parametrize("form", ["nc", "h5", "2.zarr"])
@pytest.mark.parametrize("kind", LABELS)
def test_elements_with_other_labels_are_not_compared(form, kind):
    labels = LABELS[kind]
    x = xr.Dataset({"t": (("lat", "lon"), np.arange(9.0).reshape(3, 3))}, {"lat": labels})
    others = {
        "other labels": x.isel(lat=slice(None, None, -1)),
        "other order": x.transpose("lon", "lat"),
        "one axis": x.isel(lon=0, drop=True),
        "other names": x.rename(lat="y"),
        "no labels": x.drop_vars("lat"),
        "one row": x.isel(lat=slice(1)),
        "float32": x.assign_coords(lat=labels.astype(np.float32)) if kind == "numbers" else x,
        "no names": x.drop_vars("lat").rename(lat="dim_0", lon="dim_1"),
    }
    for name, each in {"x": x, **others}.items():
        save_dataset(each, f"{name}.{form}")
    np.save("bare.npy", x.t.values)
    words = ["maximum", f"x.{form}"]
    ways = {
        "other labels": "differ in their labels along dimension 'lat', and elements are compared by place",
        "other order": "meets dimension 'lat' of",
        "one axis": "meets dimension 'lat' of",
        "other names": "dimension 'lat' of",
    }
    for name in others:
        path = f"{name}.{form}"
        if name in ways:
            assert ways[name] in refused("apply", *words, path, "-o", "y.npy")
        else:
            apply(*words, path, "-o", f"{name}.npy")
    apply(*words, f"x.{form}", "bare.npy", "-o", "same.npy")
    assert_identical(np.load("same.npy"), x.t.values)


def test_dimensions_by_name_and_json():
    x = sample()
    words = save(x, "netcdf")
    assert json.loads(apply("argmax", *words, "--dim", "d1", "--dim", "d0", "-o", "y.npy", "--json")) == {
        "output": "y.npy",
        "type": "int64",
        "shape": [x.shape[2]],
        "read": x.nbytes,
    }
    assert_identical(np.load("y.npy"), ex.argmax(x, (0, 1)))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("batch", ["n", "25"])
def test_a_model_over_the_entries_of_a_file(batch):
    onnx.save(onnx.parser.parse_model(CLASSIFIER.format(n=batch)), "m.onnx")
    x = np.random.default_rng(2).random((500, 6)).astype(np.float32)
    np.save("x.npy", x)
    apply("m.onnx", "x.npy", "-o", "y.npy")
    assert_identical(np.load("y.npy"), ex.argmax(x, 1, keepdims=True))


def test_a_model_takes_integers_of_a_file_that_could_miss_some():
    text = '<ir_version: 8, opset_import: ["" : 13]> g (int64[n] x) => (int64[n] y) { y = Max(x, x) }'
    onnx.save(onnx.parser.parse_model(text), "m.onnx")
    numbers = np.array([2**53 + 1, -7, -5])
    for name, fill in (("whole", -1), ("holes", -5)):
        with netCDF4.Dataset(f"{name}.nc", "w") as file:
            file.createDimension("x", 3)
            variable = file.createVariable("t", "i8", ("x",), fill_value=fill)
            variable.set_auto_mask(False)
            variable[:] = numbers
    apply("m.onnx", "whole.nc", "-o", "y.npy")
    assert_identical(np.load("y.npy"), numbers)
    text = "'holes.nc' has missing elements, and the model takes integers; given: int64[3]; help: fill them first, "
    assert refused("apply", "m.onnx", "holes.nc", "-o", "z.npy").startswith(text)


def test_one_output_of_a_model_that_has_several():
    onnx.save(onnx.parser.parse_model(TWO_OUTPUTS), "m.onnx")
    two = TWO_OUTPUTS.replace(", int64[1, 6] all", "").replace("all = ArgMax<axis=0>(x) ", "")
    onnx.save(onnx.parser.parse_model(two), "two.onnx")
    x = np.random.default_rng(3).random((50, 6)).astype(np.float32)
    np.save("x.npy", x)
    apply("m.onnx", "x.npy", "-o", "z.npy", "--output-name", "z")
    assert_identical(np.load("z.npy"), -x)
    before = left()
    for words, text in {
        "m.onnx x.npy": "run: output 'all' has no axis for the entries of the batch; ",
        "m.onnx x.npy --output-name w": "run: the model has no output 'w'; help: name one of y, z, all",
        "argmax x.npy --output-name y": "argmax does not use --output-name; help: drop it; ",
        "two.onnx x.npy": "the model has 2 outputs; help: name one with --output-name: y, z",
    }.items():
        assert refused("apply", *words.split(), "-o", "y.npy").startswith(text)
        assert left() == before


def test_sizes_of_memory():
    sizes = {"512MB": 512_000_000, "2GiB": 2 << 30, "1.5 gb": 1_500_000_000, "1000000": 1_000_000, "64m": 64_000_000}
    assert {text: parse_size(text) for text in sizes} == sizes
    assert refusal(ArgumentError, parse_size, "-1MB") == "'-1MB' is not a memory size"


def test_pieces_cover_everything_once_and_cost_no_more_than_is_allowed():
    rng = np.random.default_rng(0)
    for _ in range(300):
        rank = int(rng.integers(0, 4))
        shape = tuple(rng.integers(0, 30, rank).tolist())
        granule = tuple(rng.integers(1, 9, rank).tolist())
        order = rng.permutation(rank).tolist()
        limit = int(rng.integers(1, 3000))
        try:
            options = {"reduced": order[: rng.integers(0, rank + 1)], "run": int(rng.integers(1, 100))}
            sizes = lengths(shape, granule, order, lambda s: int(np.prod(s)), limit, **options)
        except ParameterError:
            assert np.prod(np.minimum(granule, shape)) > limit
            continue
        assert np.prod(sizes) <= limit
        assert all(size == n or size % piece == 0 for size, n, piece in zip(sizes, shape, granule, strict=True))
        covered = np.zeros(shape, int)
        for place in Made(shape, sizes, lambda each: each):
            covered[place] += 1
        assert (covered == 1).all()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_nothing_is_merged_where_the_axes_that_stay_can_be_cut(form, axis, monkeypatch):
    monkeypatch.setattr("extremum.large.lengths.ENOUGH", 23000)
    monkeypatch.setattr("extremum.large.jobs.RUN", 1)
    x = sample()
    name, *words = save(x, form)
    job = planned("argmax", [open_source(name, *words[1:])], axis, 1_000_000)
    monkeypatch.setattr(Pieces, "_merge_end", None)
    result = np.empty(job.shape, job.dtypes[0])
    reads = []
    for step in steps(job):
        if step.place is not None:
            (result[step.place],) = step.blocks
        reads.append(step.read)
    assert_identical(result, ex.argmax(x, axis))
    assert len(reads) > 2
    assert sum(reads) == x.nbytes


def test_pieces_are_no_shorter_than_the_candidates_that_are_merged(monkeypatch):
    monkeypatch.setattr("extremum.large.lengths.ENOUGH", 20_000)
    np.save("x.npy", sample((60, 40)))
    job = planned("top_k", [open_source("x.npy")], 0, 10**6, k=25)
    sizes = {place[0].stop - place[0].start for piece in job.pieces for (place,) in piece.reads}
    assert (len(job.pieces) > 1, max(sizes) >= 25) == (True, True)


def test_the_bar_is_shown_where_somebody_looks(monkeypatch):
    save(sample(), "C")
    terminal = type("Terminal", (io.StringIO,), {"isatty": lambda _: True})
    monkeypatch.setattr("commands.io", SimpleNamespace(StringIO=terminal))
    status, out, err = run("apply", "argmax", "x.npy", "-o", "y.npy")
    assert (status, out) == (0, "wrote y.npy: int64, scalar\n")
    assert "kB" in err


def test_npz_and_suffixes_in_capital_letters():
    x = sample((4, 5))
    with Path("X.NPZ").open("wb") as file:
        np.savez_compressed(file, a=x, b=x[0])
    apply("argmax", "X.NPZ", "--variable", "a", "-o", "Y.NPY")
    assert np.load("Y.NPY") == ex.argmax(x)
    with Path("X.NPY").open("wb") as file:
        np.save(file, x)
    apply("argmax", "X.NPY", "-o", "Y.NC")
    assert xr.load_dataset("Y.NC")["argmax"] == ex.argmax(x)
    text = "'X.NPZ': it has 2 arrays; help: name one with --variable: a, b"
    assert refused("apply", "argmax", "X.NPZ", "-o", "z.npy") == text


@pytest.mark.parametrize("variable", ["a", None], ids=["an array", "no choice among two arrays"])
def test_no_file_of_an_archive_stays_open(variable):
    """Python warns of a file that is open when it is freed, and warnings are errors here."""
    np.savez_compressed("x.npz", a=sample(), b=sample())
    with suppress(ParameterError):
        open_source("x.npz", variable)
    gc.collect()


def test_a_dimension_that_occurs_twice_is_named_by_number():
    with netCDF4.Dataset("x.nc", "w") as whole:
        whole.createDimension("x", 3)
        whole.createVariable("t", "i4", ("x", "x"))[:] = np.arange(9).reshape(3, 3)
    text = "'x.nc' has dimension 'x' twice; help: name the axes by number, with --axis"
    assert refused("apply", "argmax", "x.nc", "--dim", "x", "-o", "y.npy") == text
    apply("argmax", "x.nc", "--axis", 1, "--keepdims", "-o", "y.nc")
    assert xr.load_dataset("y.nc").t.dims == ("x_0", "x_1")
