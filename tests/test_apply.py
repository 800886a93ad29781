"""``extremum apply``: answers of files as of arrays, in little memory; what is refused leaves nothing behind."""

import json
import resource
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
import xarray as xr

import extremum as ex
import extremum.xarray as exx
from agreement import assert_identical
from extremum.cli import main
from extremum.errors import ArgumentError, MemoryLimitError
from extremum.large import jobs
from extremum.large.grid import lengths, parse_size, places
from refusal import refusal

with warnings.catch_warnings():
    # Built for a later NumPy, it says so.
    warnings.simplefilter("ignore")
    import netCDF4  # noqa: F401

CLASSIFIER = (
    '<ir_version: 8, opset_import: ["" : 13]> g (float[{n}, 6] x) => (int64[{n}, 1] y) {{ y = ArgMax<axis=1>(x) }}'
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small_pieces(monkeypatch):
    """Cut what would be one piece into many."""
    monkeypatch.setattr(jobs, "ENOUGH", 3000)


def apply(*words):
    """Run the command and return its status."""
    with pytest.raises(SystemExit) as caught:
        main(["apply", *map(str, words)])
    return caught.value.code


def sample(shape=(20, 30, 7), dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, shape).astype(dtype)
    if x.dtype.kind == "f":
        x[rng.random(shape) < 0.05] = np.nan
        x[rng.random(shape) < 0.2] = -0.0
    return x


def save(x, form):
    """Write an array in some form and return the words that name it."""
    if form in ("C", "F"):
        np.save("x.npy", np.asarray(x, order=form))
        return ["x.npy"]
    if form == "netcdf":
        names = [f"d{axis}" for axis in range(x.ndim)]
        whole = xr.Dataset({"t": (names, x), "other": ("d0", np.zeros(len(x)))})
        whole.to_netcdf("x.nc", engine="netcdf4", encoding={"t": {"chunksizes": (4, 11, 7)}})
        return ["x.nc", "--variable", "t"]
    zarr = pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    array = zarr.create_array(
        store="x.zarr", shape=x.shape, chunks=(6, 11, 3), dtype=x.dtype, zarr_format=int(form[-1])
    )
    array[...] = x
    return ["x.zarr"]


FORMS = ["C", "F", "zarr2", "zarr3", "netcdf"]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("axes", [(0,), (1,), (2, 0), ()], ids=str)
def test_indices_of_every_format(form, axes):
    x = sample()
    words = save(x, form) + [word for axis in axes for word in ("--axis", axis)]
    assert apply("argmax", *words, "-o", "y.npy", "--keepdims", "--dtype", "int32") == 0
    assert_identical(np.load("y.npy"), ex.argmax(x, axes or None, keepdims=True, dtype=np.int32))
    assert apply("argmin", *words, "-o", "z.npy", "--last", "--nan-policy", "omit", "--default", "-1") == 0
    expected = ex.argmin(x, axes or None, select_last_index=True, nan_policy="omit", default=-1)
    assert_identical(np.load("z.npy"), np.asarray(expected))
    assert apply("hardmax", *words, "-o", "h.npy") == 0
    assert_identical(np.load("h.npy"), ex.hardmax(x, axes or (0, 1, 2)))


@pytest.mark.usefixtures("small_pieces")
def test_elementwise_extrema_of_several_files():
    pytest.importorskip("zarr")
    x, row = sample(), sample((1, 30, 7), np.int16, seed=1)
    save(x, "zarr3")
    np.save("row.npy", row)
    np.save("other.npy", x[::-1])
    assert apply("maximum", "row.npy", "x.zarr", "other.npy", "-o", "y.npy") == 0
    assert_identical(np.load("y.npy"), ex.maximum(row, x, x[::-1]))
    assert apply("minimum", "x.zarr", "other.npy", "-o", "z.npy", "--nan-policy", "omit") == 0
    assert_identical(np.load("z.npy"), ex.minimum(x, x[::-1], nan_policy="omit"))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("form", [2, 3])
def test_a_result_in_zarr_has_the_format_of_the_input(form):
    zarr = pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    x = sample()
    save(x, f"zarr{form}")
    assert apply("argmax", "x.zarr", "--axis", 1, "-o", "y.zarr") == 0
    found = zarr.open_array("y.zarr", mode="r")
    assert found.metadata.zarr_format == form
    assert_identical(found[...], ex.argmax(x, 1))


def test_dimensions_by_name_and_json(capsys):
    x = sample()
    words = save(x, "netcdf")
    assert apply("argmax", *words, "--dim", "d2", "--dim", "d0", "-o", "y.npy", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "output": "y.npy",
        "type": "int64",
        "shape": [30],
        "read": x.nbytes,
    }
    assert_identical(np.load("y.npy"), ex.argmax(x, (0, 2)))


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("batch", ["n", "25"])
def test_a_model_over_the_entries_of_a_file(batch):
    onnx.save(onnx.parser.parse_model(CLASSIFIER.format(n=batch)), "m.onnx")
    x = np.random.default_rng(2).random((500, 6)).astype(np.float32)
    np.save("x.npy", x)
    assert apply("m.onnx", "x.npy", "-o", "y.npy") == 0
    assert_identical(np.load("y.npy"), ex.argmax(x, 1, keepdims=True))


TWO = (
    '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 6] x) => (int64[n, 1] y, float[n, 6] z, int64[1, 6] all) '
    "{ y = ArgMax<axis=1>(x) z = Neg(x) all = ArgMax<axis=0>(x) }"
)


def test_one_output_of_a_model_that_has_several(capsys):
    onnx.save(onnx.parser.parse_model(TWO), "m.onnx")
    x = np.random.default_rng(3).random((50, 6)).astype(np.float32)
    np.save("x.npy", x)
    assert apply("m.onnx", "x.npy", "-o", "z.npy", "--output-name", "z") == 0
    assert_identical(np.load("z.npy"), -x)
    capsys.readouterr()
    before = left()
    for words, text in (
        (["m.onnx", "x.npy"], "run: output 'all' has no axis for the entries of the batch; "),
        (["m.onnx", "x.npy", "--output-name", "w"], "run: the model has no output 'w'; help: name one of y, z, all"),
        (["argmax", "x.npy", "--output-name", "y"], "argmax has one output; help: leave --output-name away"),
        (["two.onnx", "x.npy"], "the model has 2 outputs; help: name one with --output-name: y, z"),
    ):
        if words[0] == "two.onnx":
            two = TWO.replace(", int64[1, 6] all", "").replace("all = ArgMax<axis=0>(x) ", "")
            onnx.save(onnx.parser.parse_model(two), "two.onnx")
            before = left()
        assert apply(*words, "-o", "y.npy") == 2
        assert capsys.readouterr().err.startswith(f"extremum: {text}")
        assert left() == before


def labelled(dtype=np.float32):
    """A file with every kind of coordinate, and the variable that is in it."""
    coords = {
        "time": np.arange("2020-01-01", "2020-01-21", dtype="datetime64[D]").astype("datetime64[ns]"),
        "y": np.linspace(40, 50, 30),
        "height": ("x", np.arange(7, dtype=np.int16)),
        "area": (("y", "x"), np.ones((30, 7))),
        "season": ("time", np.arange(20) // 5),
        "station": 7,
    }
    whole = xr.Dataset({"t": (("time", "y", "x"), sample(dtype=dtype), {"units": "K"})}, coords)
    whole.to_netcdf("x.nc", engine="netcdf4", encoding={"t": {"chunksizes": (4, 11, 7)}})
    return xr.load_dataset("x.nc").t


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("dims", [["time"], ["x", "y"], [], ["x"]], ids=str)
def test_a_result_in_netcdf_has_the_labels_that_stay(dims):
    x = labelled()
    words = [word for name in dims for word in ("--dim", name)]
    assert apply("argmax", "x.nc", *words, "-o", "y.nc") == 0
    xr.testing.assert_identical(xr.load_dataset("y.nc").t, exx.argmax(x, dims or None))
    assert apply("hardmax", "x.nc", *words, "-o", "h.nc") == 0
    xr.testing.assert_identical(xr.load_dataset("h.nc").t, exx.hardmax(x, dims or None))
    assert apply("argmin", "x.nc", *words, "-o", "k.nc", "--keepdims") == 0
    xr.testing.assert_identical(xr.load_dataset("k.nc").t, exx.argmin(x, dims or None, keepdims=True))
    assert apply("minimum", "x.nc", "h.nc", "-o", "m.nc") == 0
    xr.testing.assert_identical(xr.load_dataset("m.nc").t, exx.minimum(x, exx.hardmax(x, dims or None)))


@pytest.mark.usefixtures("small_pieces")
def test_a_result_in_netcdf_of_what_has_no_labels(capsys):
    x = sample((50, 6))
    np.save("x.npy", x)
    assert apply("argmax", "x.npy", "--axis", 0, "-o", "y.nc", "--dtype", "uint32") == 0
    found = xr.load_dataset("y.nc")["argmax"]
    assert found.dims == ("dim_1",)
    assert_identical(found.values, ex.argmax(x, 0, dtype=np.uint32))
    onnx.save(onnx.parser.parse_model(TWO.replace("] z", '] "a/z"').replace(" z =", ' "a/z" =')), "m.onnx")
    assert apply("m.onnx", "x.npy", "-o", "z.nc", "--output-name", "a/z") == 0
    found = xr.load_dataset("z.nc")["a_z"]
    assert found.dims == ("dim_0", "dim_1")
    assert_identical(found.values, -x)
    np.save("half.npy", x.astype(np.float16))
    np.save("none.npy", x[:0])
    capsys.readouterr()
    before = left()
    assert apply("maximum", "half.npy", "-o", "m.nc") == 2
    assert capsys.readouterr().err == (
        "extremum: NetCDF has no elements of type float16; help: name a .npy or a .zarr file\n"
    )
    assert left() == before
    assert apply("maximum", "none.npy", "-o", "n.nc") == 0
    assert_identical(xr.load_dataset("n.nc")["maximum"].values, x[:0])
    # A variable that is its own coordinate.
    labelled()
    assert apply("hardmax", "x.nc", "--variable", "y", "-o", "h.nc") == 0
    assert_identical(xr.load_dataset("h.nc")["y_"].values, ex.hardmax(np.linspace(40, 50, 30)))


def left():
    return sorted(path.name for path in Path().iterdir())


REFUSED = {
    "an output that is there": (
        ["argmax", "x.npy", "-o", "x.npy"],
        "'x.npy' exists already; help: name another file, or move that one away",
    ),
    "an output of no format": (
        ["argmax", "x.npy", "-o", "y.txt"],
        "'y.txt' has no known format; help: name a .npy, a .zarr or a .nc file",
    ),
    "an input that is not there": (["argmax", "z.npy", "-o", "y.npy"], "z.npy: No such file or directory"),
    "a Zarr that is not there": (["argmax", "z.zarr", "-o", "y.npy"], "z.zarr: No such file or directory"),
    "an input of no format": (
        ["argmax", "x.txt", "-o", "y.npy"],
        "'x.txt' has no known format; help: use .npy, .zarr, .nc or .h5",
    ),
    "a file that is cut": (
        ["argmax", "cut.npy", "-o", "y.npy"],
        "'cut.npy' is not a valid .npy file; given: its header promises float32[20, 30, 7], 16,800 bytes, but 872 "
        "follow",
    ),
    "no NetCDF": (["argmax", "bad.nc", "-o", "y.npy"], "'bad.nc' is not a valid .nc file; given: "),
    "no Zarr": (["argmax", "bad.zarr", "-o", "y.npy"], "'bad.zarr' is not a valid .zarr file; given: "),
    "an axis out of range": (
        ["argmax", "x.npy", "--axis", "3", "-o", "y.npy"],
        "argmax: axis 3 is out of range for an array with 3 dimensions; given: float32[20, 30, 7]; "
        "help: use an axis in [-3, 2]",
    ),
    "a dimension without a name": (
        ["argmax", "x.npy", "--dim", "d0", "-o", "y.npy"],
        "'x.npy' has no dimension 'd0'; help: it has none with a name",
    ),
    "no size of memory": (
        ["argmax", "x.npy", "-o", "y.npy", "--memory", "much"],
        "'much' is no size of memory; help: write for example 512MB or 2GiB",
    ),
    "no memory": (
        ["argmax", "x.npy", "-o", "y.npy", "--memory", "1kB"],
        "1kB is too little memory for anything; help: give 1MB or more",
    ),
    "a chunk larger than memory": (
        ["argmax", "large.nc", "-o", "y.npy", "--memory", "1MB"],
        "so little memory does not hold one piece; given: 500,000 bytes of 16,000,064 for 1000000 elements and their "
        "results; help: give more with --memory, or write the file in smaller chunks",
    ),
    "an operation that there is not": (
        ["median", "x.npy", "-o", "y.npy"],
        "there is no operation 'median'; help: use argmax, argmin, hardmax, maximum, minimum or the file of a model",
    ),
    "shapes that do not fit": (
        ["maximum", "x.npy", "row.npy", "-o", "y.npy"],
        "maximum: operands could not be broadcast together with shapes (20, 30, 7) (5,); help: dimensions, aligned "
        "at the last one, must be equal or 1",
    ),
    "elements that decide": (
        ["argmax", "x.npy", "-o", "y.npy", "--nan-policy", "raise"],
        "argmax: the array holds NaN; given: float32[20, 30, 7], nan_policy='raise'; help: use nan_policy='omit' or "
        "'propagate', or mend the data",
    ),
    "a scheduler that is not there": (
        ["argmax", "x.npy", "-o", "y.npy", "--scheduler", "tcp://127.0.0.1:9"],
        "no scheduler answers at tcp://127.0.0.1:9; given: [Errno 111] Connection refused; help: start one with: "
        "dask scheduler",
    ),
}


@pytest.fixture
def files():
    save(sample(), "C")
    Path("cut.npy").write_bytes(Path("x.npy").read_bytes()[:1000])
    np.save("row.npy", np.zeros(5, np.float32))
    Path("bad.nc").write_bytes(b"nothing that anybody reads")
    Path("bad.zarr").mkdir()
    encoding = {"t": {"chunksizes": (1_000_000,)}}
    xr.Dataset({"t": ("d", np.zeros(2_000_000))}).to_netcdf("large.nc", engine="netcdf4", encoding=encoding)
    return left()


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_said_in_one_line_and_leaves_nothing(case, files, capsys):
    if "zarr" in case.lower():
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    words, text = REFUSED[case]
    assert apply(*words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith(f"extremum: {text}")
    assert left() == files


def test_a_damaged_chunk_is_named(capsys):
    pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    save(sample(), "zarr3")
    chunk = Path("x.zarr/c/0/0/0")
    chunk.write_bytes(chunk.read_bytes()[:7])
    before = left()
    assert apply("argmax", "x.zarr", "-o", "y.npy") == 2
    err = capsys.readouterr().err
    assert err.startswith("extremum: 'x.zarr' is damaged: a chunk cannot be read; given: elements 0:20, 0:30, 0:7: ")
    assert left() == before


@pytest.mark.parametrize("out", ["y.npy", "y.zarr", "y.nc"])
def test_a_disk_that_is_full_leaves_nothing(out, capsys):
    """Of a .npy file it is known before anything is computed."""
    if out == "y.zarr":
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    np.save("x.npy", np.random.default_rng(0).integers(0, 9, (400_000, 2)).astype(np.int8))
    before, limit = left(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limit[1]))
    try:
        status = apply("argmax", "x.npy", "--axis", 1, "-o", out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert status == 2
    err = capsys.readouterr().err
    if out == "y.nc":
        assert err.startswith("extremum: y.nc: it could not be written: ")
        assert err.count("\n") == 1
    else:
        assert err == f"extremum: {out}: File too large\n"
    assert left() == before


SLOW = """
import signal, sys, time
from extremum.cli import main
from extremum.large import jobs
from extremum.large.npy import NpySource

# What runs in the background of a shell ignores it, and so does what it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
jobs.ENOUGH = 3000
read = NpySource.read

def slowly(self, place):
    print("reading", flush=True)
    time.sleep(0.2)
    return read(self, place)

NpySource.read = slowly
main(sys.argv[1:])
"""


@pytest.mark.parametrize("out", ["y.npy", "y.zarr", "y.nc"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_leaves_nothing_under_the_name(number, out):
    if out == "y.zarr":
        pytest.importorskip("zarr", reason="zarr 3 needs Python 3.11")
    save(sample(), "C")
    words = [sys.executable, "-c", SLOW, "apply", "argmax", "x.npy", "--axis", "2", "-o", out]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        for _ in range(3):
            assert process.stdout.readline() == b"reading\n"
        process.send_signal(number)
        process.wait(20)
    assert not Path(out).exists()
    if number == signal.SIGKILL:
        assert any(name.startswith(".extremum-") for name in left())
    # The next one clears up.
    assert apply("argmax", "x.npy", "--axis", 2, "-o", out) == 0
    assert left() == ["x.npy", out]


def test_sizes_of_memory():
    assert [parse_size(text) for text in ("512MB", "2GiB", "1.5 gb", "1000000", "64m")] == [
        512_000_000,
        2 << 30,
        1_500_000_000,
        1_000_000,
        64_000_000,
    ]
    assert refusal(ArgumentError, parse_size, "-1MB") == "'-1MB' is no size of memory"


def test_pieces_cover_everything_once_and_cost_no_more_than_is_allowed():
    rng = np.random.default_rng(0)
    for _ in range(300):
        rank = int(rng.integers(0, 4))
        shape = tuple(rng.integers(0, 30, rank).tolist())
        granule = tuple(rng.integers(1, 9, rank).tolist())
        order = rng.permutation(rank).tolist()
        limit = int(rng.integers(1, 3000))
        try:
            sizes = lengths(shape, granule, order, lambda s: int(np.prod(s)), limit, limit)
        except MemoryLimitError:
            assert np.prod(np.minimum(granule, shape)) > limit
            continue
        assert np.prod(sizes) <= limit
        assert all(size == n or size % piece == 0 for size, n, piece in zip(sizes, shape, granule, strict=True))
        covered = np.zeros(shape, int)
        for place in places(shape, sizes):
            covered[place] += 1
        assert (covered == 1).all()


def test_the_bar_is_shown_where_somebody_looks(capsys, monkeypatch):
    save(sample(), "C")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert apply("argmax", "x.npy", "-o", "y.npy") == 0
    out, err = capsys.readouterr()
    assert out == "wrote y.npy: int64, scalar\n"
    assert "kB" in err
