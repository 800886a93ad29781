"""The suite of chunks and files: Dask's argmax beside ours, what a chunk costs, 60 GB on two processes, a file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

import extremum.dask
from benchmarks import report, run
from extremum.large.files import open_source
from extremum.large.jobs import planned

__all__ = ["large", "virtual"]

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
    *(
        ((24, 1500, 1500), chunks, "float32", 0, function)
        for chunks in ((1, 1500, 1500), (6, 500, 500))
        for function in ("max", "argmax, NaN omitted")
    ),
)


def _in_turns(calls: list[Callable[[], Any]], turns: int) -> list[float]:
    """Return the least seconds that each of several calls takes."""
    least = [float("inf")] * len(calls)
    for _ in range(turns):
        for at, call in enumerate(calls):
            start = perf_counter()
            call()
            least[at] = min(least[at], perf_counter() - start)
    return least


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
@click.option("--turns", type=click.IntRange(min=1), default=7, show_default=True)
@click.option("--cases", "count", type=click.IntRange(min=1), default=len(_CASES), help="Only the last of them.")
def matrix(turns: int = 7, count: int = len(_CASES)) -> None:
    """Time both argmax on the same chunks and scheduler."""
    random, rows = np.random.default_rng(0), []
    for shape, chunks, dtype, axis, function in _CASES[-count:]:
        name, _, omitted = function.partition(", ")
        ours = partial(getattr(extremum.dask, name), nan_policy="omit" if omitted else "propagate")
        both = ours, getattr(da, name)
        # No two elements of a slice are equal more often than chance has it; Dask's answer differs for ties.
        data = (
            random.integers(0, 255, shape, "u1") if dtype == "uint8" else (random.random(shape) * 2**31).astype(dtype)
        )
        x = da.from_array(data, chunks=chunks).persist(scheduler="synchronous")
        if axis is not None:
            np.testing.assert_array_equal(*(_computed(each, x, axis) for each in both))
        for scheduler in ("synchronous", "threads"):
            mine, other = _in_turns([partial(_computed, each, x, axis, scheduler) for each in both], turns)
            words = function, " x ".join(map(str, shape)), " x ".join(map(str, chunks)), dtype, str(axis)
            rows.append((*words, scheduler, f"{mine * 1e3:.1f}", f"{other * 1e3:.1f}", f"{other / mine:.1f}"))
    head = ("function", "shape", "chunks", "type", "axis", "scheduler", "ours, ms", "Dask's, ms", "times as fast")
    click.echo(report.table(head, rows))


@large.command
@click.option("--most", type=click.IntRange(min=100), default=100_000, show_default=True)
def chunks(most: int = 100_000) -> None:
    """Time what each of 100 to 100,000 chunks costs, and Dask's own part: our graph with tasks that do nothing."""
    rows = []
    for count in (count for count in (100, 1000, 10000, 100000) if count <= most):
        x = da.ones((count * 10,), chunks=10, dtype=np.float32)
        graph = partial(extremum.dask.argmax, x, 0)
        calls = [partial(_computed, each, x, 0) for each in (extremum.dask.argmax, da.argmax)]
        idle = partial(_idle(graph()).compute, scheduler="synchronous")
        times = _in_turns([calls[0], idle, graph, calls[1]], 9 if count <= 1000 else 5 if count <= 10000 else 1)
        rows.append((f"{count:,}", *(f"{seconds / count * 1e6:.0f}" for seconds in times)))
    head = (
        "chunks",
        "our argmax, us",
        "Dask's scheduler on our graph, us",
        "making the graph, us",
        "Dask's argmax, us",
    )
    click.echo(report.table(head, rows))


def _idle(lazy: Any) -> Any:
    """Return an array with the tasks of a reduction of ours, which depend on each other as they do and do nothing."""
    graph = lazy.dask
    tasks = {key: (_nothing, *task[1:]) for key, task in graph.layers[lazy.name].items()}
    whole = HighLevelGraph({**graph.layers, lazy.name: tasks}, graph.dependencies)
    return da.Array(whole, lazy.name, lazy.chunks, meta=lazy._meta)


def _nothing(*_: Any) -> int:
    return 0


def _saw(block_info: Any = None, *, columns: int) -> Any:
    """Return one chunk of a virtual array: rows of a saw, the largest of which is in its last row."""
    (start, stop), _ = block_info[None]["array-location"]
    return np.broadcast_to(np.arange(start, stop, dtype=np.float32)[:, None] % 16777216, (stop - start, columns)).copy()


def virtual(gigabytes: float = 60.0, chunk: float = 0.1, address: str | None = None) -> tuple[float, dict[str, int]]:
    """Reduce an array that is generated chunk by chunk over its chunked axis; return seconds and each worker's peak."""
    from distributed import Client, LocalCluster

    columns = 1000
    rows = int(gigabytes * 1e9 / 4 / columns)
    sizes = da.zeros((rows, columns), chunks=(int(chunk * 1e9 / 4 / columns), columns), dtype=np.float32).chunks
    x = da.map_blocks(_saw, columns=columns, chunks=sizes, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    cluster: Any = address or LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="2GB", dashboard_address=":0"
    )
    with Client(cluster, set_as_default=False) as client:
        start = perf_counter()
        found = client.compute(extremum.dask.argmax(x, axis=0)).result()
        seconds = perf_counter() - start
        peaks = client.run(run.high_water)
    if address is None:
        cluster.close()
    np.testing.assert_array_equal(found, min(rows, 16777216) - 1)
    return seconds, peaks


@large.command("virtual")
@click.option("--gigabytes", type=float, default=60.0, show_default=True)
def _virtual(gigabytes: float) -> None:
    """Reduce 60 GB that are never anywhere at once, on two processes."""
    seconds, peaks = virtual(gigabytes)
    click.echo(
        f"{gigabytes:g} GB in {seconds:.0f} s, peaks " + ", ".join(f"{each / 1e6:.0f} MB" for each in peaks.values())
    )


def _write(path: Path, shape: tuple[int, ...]) -> None:
    """Write random float32 of three axes to a file, one step along the first axis at a time."""
    random = np.random.default_rng(0)
    steps = (random.random(shape[1:], np.float32) for _ in range(shape[0]))
    if path.suffix == ".nc":
        stack = import_module("xarray").DataArray(np.stack(list(steps)), dims=("time", "y", "x"), name="t")
        stack.to_netcdf(path, engine="netcdf4")
        return
    if path.suffix == ".npy":
        file: Any = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    else:
        sizes = tuple(map(min, (6, 500, 500), shape))
        file = import_module("zarr").create_array(store=str(path), shape=shape, chunks=sizes, dtype="float32")
    for at, step in enumerate(steps):
        file[at] = step


def _streamed(path: Path, axis: int) -> Any:
    """Return argmax of a file as the command finds it."""
    job = planned("argmax", open_source(str(path)), axis)
    found = np.empty(job.shape, job.dtypes[0])
    for step in job.steps(512_000_000):
        if step.place is not None:
            (found[step.place],) = step.blocks
    return found


def _looped(path: Path, axis: int) -> Any:
    """Return argmax of a file as a user's own loop finds it: about 64 MB at a time along the first axis that stays."""
    source: Any = open_source(str(path))
    stays = 0 if axis else 1
    found = np.empty([length for each, length in enumerate(source.shape) if each != axis], np.int64)
    each = max(1, int(np.prod(source.shape)) * source.dtype.itemsize // source.shape[stays])
    step = max(1, (64 << 20) // each // source.granule[stays]) * source.granule[stays]
    array = np.load(path, mmap_mode="r") if path.suffix == ".npy" else source._array
    for start in range(0, source.shape[stays], step):
        place = (slice(None),) * stays + (slice(start, start + step),)
        found[start : start + step] = extremum.argmax(np.asarray(array[place]), axis)
    return found


# The peak of a process that only starts another counts for that one too, so the command says its own.
_COMMAND = """
from benchmarks.run import high_water
from extremum.cli import main
try:
    main()
finally:
    print(high_water())
"""


@large.command
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--shape", nargs=3, type=int, default=(24, 2500, 2500), show_default=True)
@click.option("--turns", type=click.IntRange(min=1), default=5, show_default=True)
def files(folder: Path | None, shape: tuple[int, ...], turns: int) -> None:
    """Time `extremum apply` on 600 MB as .npy, Zarr and NetCDF, beside a loop of one's own, opening included."""
    folder = folder or Path(tempfile.mkdtemp())
    rows, out = [], folder / "y.npy"
    for path in (folder / name for name in ("x.npy", "x.zarr", "x.nc")):
        _write(path, shape)
        for axis in range(len(shape)):
            words = ["apply", "argmax", str(path), "--axis", str(axis), "-o", str(out), "--memory", "512MB"]
            command = [sys.executable, "-c", _COMMAND, *words]
            done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=run.ROOT)
            np.testing.assert_array_equal(np.load(out), _looped(path, axis))
            out.unlink()
            mine, loop = _in_turns([partial(each, path, axis) for each in (_streamed, _looped)], turns)
            peak = f"{int(done.stdout.split()[-1]) / 1e6:.0f} MB"
            rows.append((path.name, str(axis), peak, f"{mine:.3f} s", f"{loop:.3f} s", f"{mine / loop:.2f}"))
    click.echo(report.table(("file", "axis", "peak", "extremum apply", "a loop", "ratio"), rows))
