"""What `extremum apply` refuses, and what ends it early: one line, and nothing under the final name."""

import errno
import http.server
import os
import resource
import signal
import socketserver
import subprocess
import sys
import threading
from pathlib import Path

import click
import h5py
import numpy as np
import onnx
import pytest
import xarray as xr

from commands import refused, run
from extremum.cli.apply import apply as apply_command
from large_files import TWO_OUTPUTS, apply, left, sample, save

try:
    import zarr
except ImportError:
    zarr = None

WITH_ZARR = pytest.mark.skipif(zarr is None, reason="zarr 3 needs Python 3.11")


def needs_zarr(*values):
    return pytest.param(*values, marks=WITH_ZARR)


pytestmark = pytest.mark.usefixtures("in_a_folder", "in_this_process")


# The words of a command, to which -o y.npy is added, and the line that refuses it, or its beginning.
REFUSED = {
    "argmax x.npy -o x.npy": "'x.npy' already exists; help: choose another name, or move that file",
    "argmax x.npy -o y.txt": "'y.txt' has no known format; help: use .npy, .zarr or .nc",
    "argmax z.npy": "z.npy: No such file or directory",
    "argmax x.txt": "'x.txt' has no known format; help: use .npy, .npz, .zarr, .nc or .h5",
    "argmax cut.npy": (
        "'cut.npy' is not a valid .npy file; given: its header declares float32[20, 30, 7], 16,800 bytes, but the "
        "file holds 872"
    ),
    "argmax bad.nc": "'bad.nc' is not a valid .nc file; given: ",
    "argmax bad.zarr": "'bad.zarr' is not a valid .zarr file; given: ",
    "top_k x.npy": "top_k selects a number of elements; help: give one --k",
    "top_k x.npy --k 1 --axis 1 --axis 2": "top_k: axis (1, 2) is not one axis; help: pass an int, or None for all",
    "top_k x.npy --k 1 --last": "top_k does not use --last; help: drop it; top_k uses ",
    "argmax x.npy --dim d0": "'x.npy' has no dimension 'd0'; help: it has none with a name",
    "argmax x.npy --memory much": "'much' is not a memory size; help: write for example 512MB or 2GiB",
    "argmax x.npy --memory 1kB": "1kB is too little memory; help: give 1MB or more",
    "argmax large.nc --memory 1MB": (
        "one piece of the file does not fit the memory limit; given: a limit of 500,000 bytes; 1000000 elements "
        "and their results take 16,000,064; help: raise --memory, or write the file in smaller chunks"
    ),
    "median x.npy": (
        "there is no operation 'median'; help: use argmax, argmin, idxmax, idxmin, max, min, minmax, hardmax, maximum, "
        "minimum, top_k or the file of a model"
    ),
    "maximum x.npy row.npy": (
        "maximum: operands could not be broadcast together with shapes (20, 30, 7) (5,); help: dimensions, aligned "
        "at the last one, must be equal or 1"
    ),
    "argmax x.npy --nan-policy raise": (
        "argmax: the array holds NaN; given: float32[20, 30, 7], nan_policy='raise'; help: use nan_policy='omit' "
        "or 'propagate', or mend the data"
    ),
    "hardmax x.npy --nan-policy raise": (
        "hardmax: the slice at (0, 0, 0) of the result holds NaN; given: float32[20, 30, 7], nan_policy='raise'; "
        "help: use nan_policy='omit' or 'propagate', or mend the data"
    ),
    "argmax cut.nc": "'cut.nc' is not a valid .nc file; given: ",
    "argmax damaged.nc": "'damaged.nc' is damaged: elements cannot be read; given: ",
    "argmax two.nc": "'two.nc': it has 2 variables; help: name one with --variable: s, t",
    "argmax two.nc --variable u": "'two.nc': it has no variable 'u'; help: name one with --variable: s, t",
    "argmax group.zarr --variable u": "'group.zarr': it has no array 'u'; help: name one with --variable: s, t",
    "argmax two.nc --variable t --axis 0 --dim d": (
        "--axis and --dim are both given; help: name the axes by number or by name"
    ),
    "maximum x.npy --axis 0": (
        "maximum does not use --axis; help: drop it; maximum uses --output, --variable, --nan-policy, --memory, "
        "--scheduler, --json"
    ),
    "argmax x.npy row.npy": "argmax takes one input; given: x.npy, row.npy",
    "m.onnx x.npy --axis 0 --axis 1": "a model takes its entries along one axis; help: give one --axis or --dim",
    "m.onnx rows.npy --output-name y": (
        "input 'x' has elements of type float64, not float32; given: x: float64[5, 6]; help: "
    ),
    "m.onnx x.npy --axis 3": "axis 3 is out of range for an array with 3 dimensions",
    "maximum half.npy -o y.nc": "NetCDF does not store elements of type float16; help: write a .npy or .zarr file",
    "argmax x.npy --scheduler tcp://127.0.0.1:9": (
        "no scheduler answers at tcp://127.0.0.1:9; given: Timed out trying to connect to tcp://127.0.0.1:9 after "
        "3 s; help: start one with: dask scheduler"
    ),
    "argmax arrays.h5": "'arrays.h5': each element is an array of its own; given: ('<i4', (3,)); help: store ",
    "argmax x.npy --variable v": "'x.npy' has no variables; help: drop --variable",
    "argmax x.npy --memory 1GB --scheduler tcp://127.0.0.1:9": (
        "--memory and --scheduler are both given; help: drop one of them"
    ),
    "argmax x.npy --scheduler http://127.0.0.1:80": (
        "'http://127.0.0.1:80' is not the address of a scheduler; help: write tcp://HOST:PORT"
    ),
}


def damage_netcdf():
    """Write a file without its end, and a file with other bytes in the middle of its elements."""
    x = np.random.default_rng(0).integers(0, 9, (40, 3000)).astype(np.float32)
    encoding = {"t": {"chunksizes": (10, 1000), "zlib": True}}
    xr.Dataset({"t": (("a", "b"), x)}).to_netcdf("damaged.nc", engine="netcdf4", encoding=encoding)
    content = bytearray(Path("damaged.nc").read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = bytes(2000)
    Path("damaged.nc").write_bytes(content)
    Path("cut.nc").write_bytes(content[:middle])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with all files that are refused."""
    folder = tmp_path_factory.mktemp("files")
    before = Path.cwd()
    os.chdir(folder)
    write_files()
    os.chdir(before)
    return folder


def write_files():
    save(sample(), "C")
    Path("cut.npy").write_bytes(Path("x.npy").read_bytes()[:1000])
    np.save("row.npy", np.zeros(5, np.float32))
    np.save("rows.npy", np.zeros((5, 6)))
    Path("bad.nc").write_bytes(b"nothing that anybody reads")
    Path("bad.zarr").mkdir()
    damage_netcdf()
    two = xr.Dataset({"s": ("d", [1]), "t": ("d", [2])})
    two.to_netcdf("two.nc", engine="netcdf4")
    onnx.save(onnx.parser.parse_model(TWO_OUTPUTS), "m.onnx")
    np.save("half.npy", np.ones(3, np.float16))
    with h5py.File("arrays.h5", "w") as file:
        file.create_dataset("v", (2,), np.dtype(("<i4", (3,))))
    encoding = {"t": {"chunksizes": (1_000_000,)}}
    xr.Dataset({"t": ("d", np.zeros(2_000_000))}).to_netcdf("large.nc", engine="netcdf4", encoding=encoding)
    if zarr is not None:
        save(sample(), "zarr3")
        group = zarr.open_group("group.zarr", mode="w")
        for name in ("s", "t"):
            group.create_array(name, shape=(2,), dtype="int8")


@pytest.mark.parametrize("line", [needs_zarr(line) if "zarr" in line else line for line in REFUSED])
def test_what_is_refused_is_said_in_one_line_and_leaves_nothing(line, files, monkeypatch):
    monkeypatch.chdir(files)
    before = left()
    words = line.split() if " -o " in line else [*line.split(), "-o", "y.npy"]
    assert refused("apply", *words).startswith(REFUSED[line])
    assert left() == before


@WITH_ZARR
def test_a_damaged_chunk_is_named():
    save(sample(), "zarr3")
    chunk = Path("x.zarr/c/0/0/0")
    chunk.write_bytes(chunk.read_bytes()[:7])
    before = left()
    text = "'x.zarr' is damaged: elements cannot be read; given: elements 0:20, 0:30, 0:7: "
    assert refused("apply", "argmax", "x.zarr", "-o", "y.npy").startswith(text)
    assert left() == before


@pytest.mark.parametrize("out", ["y.npy", needs_zarr("y.zarr"), "y.nc"])
def test_a_disk_that_is_full_leaves_nothing(out):
    """For a .npy file, this is known before anything is computed."""
    np.save("x.npy", np.random.default_rng(0).integers(0, 9, (400_000, 2)).astype(np.int8))
    before = left()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limit[1]))
    try:
        line = refused("apply", "argmax", "x.npy", "--axis", 1, "-o", out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert line.startswith("y.nc: it could not be written: ") if out == "y.nc" else line == f"{out}: File too large"
    assert left() == before


SLOW = """
import signal, sys, time
from extremum.cli import main
from extremum.large import lengths
from extremum.large.formats.npy import NpyFile

# What runs in the background of a shell ignores it, and so does what it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
lengths.ENOUGH = 3000
read = NpyFile.read

def slowly(self, path, place):
    print("reading", flush=True)
    time.sleep(0.2)
    return read(self, path, place)

NpyFile.read = slowly
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("number", "out"), [(signal.SIGKILL, "y.npy"), needs_zarr(signal.SIGKILL, "y.zarr"), (signal.SIGINT, "y.nc")]
)
def test_a_run_that_is_killed_leaves_nothing_under_the_name(number, out):
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
    # The next command cleans up.
    apply("argmax", "x.npy", "--axis", 2, "-o", out)
    assert left() == ["x.npy", out]


# Each option, words that change the answer for the file below or cause an error, and the operations that use it.
ARG = {"argmax", "argmin"}
ONE_HOT = {"hardmax"}
EACH = {"maximum", "minimum"}
MODEL = {"m.onnx"}
TOP = {"top_k"}
OPTIONS = {
    "--axis": (["--axis", "7"], ARG | ONE_HOT | MODEL | TOP),
    "--dim": (["--dim", "none"], ARG | ONE_HOT | MODEL | TOP),
    "--k": (["--k", "3"], TOP),
    "--mode": (["--mode", "smallest", "--nan-policy", "omit"], TOP),
    "--keepdims": (["--keepdims"], ARG),
    "--last": (["--last"], ARG),
    "--nan-policy": (["--nan-policy", "omit"], ARG | ONE_HOT | EACH | TOP),
    "--default": (["--nan-policy", "omit", "--axis", "1", "--default", "-1"], ARG),
    "--dtype": (["--dtype", "int32"], ARG),
    "--output-name": (["--output-name", "z"], MODEL),
    "--variable": (["--variable", "u"], ARG | ONE_HOT | EACH | MODEL | TOP),
}
# Options that no answer depends on, and one that is tested together with the values whose index it adds.
OTHERS = {"--output", "--memory", "--scheduler", "--json", "--index"}


def test_every_option_of_apply_is_tested():
    options = [each for each in apply_command.params if isinstance(each, click.Option)]
    assert {max(each.opts, key=len) for each in options} == {*OPTIONS, *OTHERS}


@pytest.mark.parametrize("operation", sorted(ARG | ONE_HOT | EACH | MODEL | TOP))
def test_an_option_changes_the_answer_or_is_refused(operation):
    x = np.array([[0, np.nan, 3, 3, 0, 1]] * 2 + [[np.nan] * 6], np.float32)
    xr.Dataset({"t": (("a", "b"), x)}).to_netcdf("x.nc", engine="netcdf4")
    onnx.save(onnx.parser.parse_model(TWO_OUTPUTS), "m.onnx")
    what = "a model" if operation == "m.onnx" else operation
    needed = {"m.onnx": ["--output-name", "y"], "top_k": ["--k", "4"]}.get(operation, [])
    plain = ["apply", operation, "x.nc", *needed, "-o"]
    values = ".values" if operation == "top_k" else ""
    assert run(*plain, "plain.npy")[0] == 0
    before = np.load(f"plain{values}.npy")
    # The options before the last one create the case in which the last one matters.
    for option, (words, operations) in OPTIONS.items():
        status, _, err = run(*plain, f"made{option}.npy", *words)
        assert err.startswith(f"extremum: {what} does not use --") == (operation not in operations), option
        if status == 0:
            after = np.load(f"made{option}{values}.npy")
            assert (before.dtype, before.tolist()) != (after.dtype, after.tolist()), option


@pytest.mark.parametrize("name", ["x.npy", "x.nc", needs_zarr("x.zarr")])
def test_a_file_that_may_not_be_read(name, monkeypatch):
    save(sample(), {"x.npy": "C", "x.nc": "netcdf", "x.zarr": "zarr3"}[name])
    Path(name).chmod(0)

    def refuse(path, *given, **named):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))

    try:
        with monkeypatch.context() as patched:
            if os.geteuid() == 0:
                # Root reads everything.
                for function in ("open", "scandir", "listdir"):
                    patched.setattr(os, function, refuse)
            assert refused("apply", "argmax", name, "-o", "y.npy") == f"{name}: Permission denied"
    finally:
        Path(name).chmod(0o700)


@pytest.mark.parametrize("name", ["pipe.npy", "pipe.nc", "pipe.h5", "folder.npy", "folder.nc", "folder"])
def test_what_is_no_file(name):
    """Nobody writes to the pipe: opening it would wait."""
    os.mkfifo(name) if "pipe" in name else Path(name).mkdir()
    kind = "a pipe; help: give a regular file" if "pipe" in name else "a folder; help: name a file in it"
    assert refused("apply", "argmax", name, "-o", "y.npy").startswith(f"{name!r} is {kind}")


class Chatty(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.sendall(b"220 mail.example ESMTP, a server of another protocol\r\n" * 9)


class Web(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.mark.parametrize(("handler", "scheme"), [(Chatty, ""), (Web, "tcp://")])
def test_a_server_that_is_no_scheduler_is_refused_soon_and_nothing_is_left(handler, scheme):
    save(sample(), "C")
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"{scheme}127.0.0.1:{server.server_address[1]}"
        line = refused("apply", "argmax", "x.npy", "-o", "y.npy", "--scheduler", address)
        server.shutdown()
    assert line.startswith(f"no scheduler answers at {address}; given: ")
    assert line.endswith("; help: start one with: dask scheduler")
    assert left() == ["x.npy"]
