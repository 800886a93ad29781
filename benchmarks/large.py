"""The suite of chunks and files: Dask's argmax against ours, the cost of a chunk, 60 GB on two processes, files."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import dask.array as da
import numpy as np
from click.testing import CliRunner

import extremum.dask
from benchmarks import report, run
from extremum.cli.program import program

_SCHEDULERS = ("synchronous", "threads")
# Shape, chunks, element type, axis, function.
_CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], str, int | None, str], ...] = (
    *(((100000, 1000), (10000, 1000), "float32", axis, "argmax") for axis in (0, 1, None)),
    *(((4000, 4000), (500, 500), "float32", axis, "argmax") for axis in (0, 1, None)),
    ((4000, 4000), (500, 500), "uint8", 0, "argmax"),
    ((4000, 4000), (500, 500), "float64", 1, "argmax"),
    ((21, 1000, 1000), (1, 1000, 1000), "float32", 0, "argmax"),
    ((21, 1000, 1000), (21, 100, 1000), "float32", 0, "argmax"),
    ((21, 1000, 1000), (4, 500, 1000), "int16", 0, "argmax"),
    ((10000,), (10,), "float32", 0, "argmax"),
    ((200, 200), (10, 10), "float32", None, "argmax"),
    *(((24, 1500, 1500), (1, 1500, 1500), "float32", 0, function) for function in ("max", "argmax, NaN omitted")),
    *(((24, 1500, 1500), (6, 500, 500), "float32", 0, function) for function in ("max", "argmax, NaN omitted")),
)


def _computed(function: Callable[..., Any], x: Any, axis: int | None, scheduler: str = "synchronous") -> Any:
    return function(x, axis).compute(scheduler=scheduler)


@click.group(invoke_without_command=True)
@click.pass_context
def large(context: click.Context) -> None:
    """Time chunked arrays and files; without a command, the matrix and the chunks."""
    if context.invoked_subcommand is None:
        context.invoke(matrix)
        context.invoke(chunks)


@large.command
@run.SECONDS
@click.option("--cases", "count", type=click.IntRange(min=1), default=len(_CASES), help="Only the last of them.")
def matrix(budget: float = 1.0, count: int = len(_CASES)) -> None:
    """Time both argmax on the same chunks and scheduler."""
    random = np.random.default_rng(0)
    rows = []
    for shape, chunks, dtype, axis, function in _CASES[-count:]:
        name, _, omitted = function.partition(", ")
        ours = partial(getattr(extremum.dask, name), nan_policy="omit" if omitted else "propagate")
        both = ours, getattr(da, name)
        # Elements of a slice are equal only by chance; Dask's answer differs for ties.
        data = random.integers(0, 255, shape, "u1") if dtype == "uint8" else random.random(shape) * 2**31
        x = da.from_array(data.astype(dtype), chunks=chunks).persist(scheduler="synchronous")
        if axis is not None:
            np.testing.assert_array_equal(*(_computed(each, x, axis) for each in both))
        rows.append([function, " x ".join(map(str, shape)), " x ".join(map(str, chunks)), dtype, str(axis)])
        for scheduler in _SCHEDULERS:
            calls = {str(each): partial(_computed, each, x, axis, scheduler) for each in both}
            mine, other = run.interleave(calls, budget, keep=calls).values()
            rows[-1] += [f"{mine * 1e3:.1f}", f"{other * 1e3:.1f}", f"{other / mine:.1f}"]
    heads = (f"{scheduler}: {what}" for scheduler in _SCHEDULERS for what in ("ours", "Dask's", "ratio"))
    click.echo(report.table(["function", "shape", "chunks", "type", "axis", *heads], rows))


@large.command
@click.option("--most", type=click.IntRange(min=100), default=100_000, show_default=True)
def chunks(most: int = 100_000) -> None:
    """Time the cost of each of 100 to 100,000 chunks of ten elements, against Dask's own argmax."""
    rows = []
    for count in (count for count in (100, 1000, 10000, 100000) if count <= most):
        x = da.ones((count * 10,), chunks=10, dtype=np.float32)
        calls = {str(each): partial(_computed, each, x, 0) for each in (extremum.dask.argmax, da.argmax)}
        times = run.interleave(calls, 1.0, keep=calls).values()
        rows.append((f"{count:,}", *(f"{seconds / count * 1e6:.0f}" for seconds in times)))
    click.echo(report.table(("chunks", "our argmax, us", "Dask's argmax, us"), rows))


@large.command
@click.option("--gigabytes", type=float, default=60.0, show_default=True)
def virtual(gigabytes: float) -> None:
    """Reduce an array that never exists as a whole over its chunked axis, on two processes; print the peak of each."""
    from distributed import Client, LocalCluster

    # The rows are a sawtooth: the first largest row is the last row of the first tooth.
    rows = int(gigabytes * 1e9 / 4000)
    columns = 1000
    tooth = 1 << 24
    saw = (da.arange(rows, chunks=25000) % tooth).astype(np.float32)[:, None]
    x = saw * da.ones((rows, columns), chunks=(25000, columns), dtype=np.float32)
    workers = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GB", "dashboard_address": ":0"}
    with LocalCluster(**workers) as cluster, Client(cluster, set_as_default=False) as client:
        start = perf_counter()
        index = client.compute(extremum.dask.argmax(x, axis=0)).result()
        seconds = perf_counter() - start
        peaks = client.run(run.high_water).values()
    np.testing.assert_array_equal(index, min(rows, tooth) - 1)
    click.echo(f"{gigabytes:g} GB in {seconds:.0f} s, peaks {', '.join(f'{each / 1e6:.0f} MB' for each in peaks)}")


def _write(path: Path, shape: tuple[int, ...]) -> None:
    """Write random float32 of three axes to a file."""
    x = np.random.default_rng(0).random(shape, np.float32)
    if path.suffix == ".npy":
        np.save(path, x)
    elif path.suffix == ".zarr":
        sizes = tuple(map(min, (6, 500, 500), shape))
        import_module("zarr").create_array(store=str(path), data=x, chunks=sizes)
    else:
        import_module("xarray").DataArray(x, dims=("time", "y", "x"), name="t").to_netcdf(path, engine="netcdf4")


def _looped(path: Path, axis: int) -> Any:
    """Return argmax of a file as a user's own loop finds it: some 64 MB at a time along the first axis that stays."""
    opened: dict[str, Callable[[Path], Any]] = {
        ".npy": partial(np.load, mmap_mode="r"),
        ".zarr": lambda path: import_module("zarr").open_array(path, mode="r"),
        ".nc": lambda path: import_module("netCDF4").Dataset(path)["t"],
    }
    array = opened[path.suffix](path)
    stays = 0 if axis else 1
    index = np.empty([length for each, length in enumerate(array.shape) if each != axis], np.int64)
    # Read whole chunks of a Zarr array.
    unit = (6, 500)[stays] if path.suffix == ".zarr" else 1
    step = max(1, (64 << 20) * array.shape[stays] // (4 * math.prod(array.shape)) // unit) * unit
    for start in range(0, array.shape[stays], step):
        place = (slice(None),) * stays + (slice(start, start + step),)
        index[start : start + step] = extremum.argmax(np.asarray(array[place]), axis)
    return index


# A child inherits the peak of the process that starts it, so the command prints its own peak.
_COMMAND = """
from benchmarks.run import high_water
from extremum.cli import main
try:
    main()
finally:
    print(high_water())
"""


@large.command
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--shape", nargs=3, type=int, default=(24, 2500, 2500), show_default=True)
@run.SECONDS
def files(folder: Path, shape: tuple[int, ...], budget: float) -> None:
    """Time `extremum apply` on 600 MB as .npy, Zarr and NetCDF against a loop that writes and syncs the same file."""
    rows = []
    out = folder / "y.npy"
    own = folder / "own.npy"

    def applied() -> None:
        out.unlink()
        CliRunner().invoke(program, words, catch_exceptions=False)

    def looped() -> None:
        own.unlink(missing_ok=True)
        with own.open("xb") as file:
            np.save(file, _looped(path, axis))
            file.flush()
            os.fsync(file.fileno())

    for path in (folder / name for name in ("x.npy", "x.zarr", "x.nc")):
        _write(path, shape)
        for axis in range(len(shape)):
            words = ["apply", "argmax", str(path), "--axis", str(axis), "-o", str(out), "--memory", "512MB"]
            command = [sys.executable, "-c", _COMMAND, *words]
            printed = subprocess.check_output(command, text=True, cwd=run.ROOT)
            np.testing.assert_array_equal(np.load(out), _looped(path, axis))
            calls: dict[str, Callable[[], Any]] = {"apply": applied, "loop": looped}
            mine, loop = run.interleave(calls, budget, keep=calls).values()
            out.unlink()
            own.unlink()
            peak = f"{int(printed.split()[-1]) / 1e6:.0f} MB"
            rows.append((path.name, str(axis), peak, f"{mine:.3f} s", f"{loop:.3f} s", f"{mine / loop:.2f}"))
    click.echo(report.table(("file", "axis", "peak", "extremum apply", "a loop", "ratio"), rows))
