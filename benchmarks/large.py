"""Beyond one array and one machine: Dask's argmax beside ours, what a chunk costs, peaks, files.

    python -m benchmarks.large                    the matrix and the chunks
    python -m benchmarks.large matrix             both argmax on the same chunks and scheduler
    python -m benchmarks.large chunks [FILE.png]  what a chunk costs, for 100 to 100,000 of them, and a chart
    python -m benchmarks.large virtual            60 GB that are never anywhere at once, on two processes
    python -m benchmarks.large files FOLDER       600 MB as .npy, Zarr and NetCDF, beside a loop of one's own

Answers are compared before anything is timed; times are the least of several, taken in turns.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

import extremum.dask
from extremum.large.jobs import planned
from extremum.large.source import open_source
from extremum.printable import markdown_table

__all__ = ["CASES", "ChunkCost", "chunk_costs", "looped", "matrix", "streamed", "virtual", "write_stack"]

NAMES = ("x.npy", "x.zarr", "x.nc")
_SCHEDULERS = ("synchronous", "threads")

# Shape, chunks, element type, axis, function.
CASES: tuple[tuple[tuple[int, ...], tuple[int, ...], str, int | None, str], ...] = (
    ((100000, 1000), (10000, 1000), "float32", 0, "argmax"),
    ((100000, 1000), (10000, 1000), "float32", 1, "argmax"),
    ((100000, 1000), (10000, 1000), "float32", None, "argmax"),
    ((4000, 4000), (500, 500), "float32", 0, "argmax"),
    ((4000, 4000), (500, 500), "float32", 1, "argmax"),
    ((4000, 4000), (500, 500), "float32", None, "argmax"),
    ((4000, 4000), (500, 500), "uint8", 0, "argmax"),
    ((4000, 4000), (500, 500), "float64", 1, "argmax"),
    ((21, 1000, 1000), (1, 1000, 1000), "float32", 0, "argmax"),
    ((21, 1000, 1000), (21, 100, 1000), "float32", 0, "argmax"),
    ((21, 1000, 1000), (4, 500, 1000), "int16", 0, "argmax"),
    ((10000,), (10,), "float32", 0, "argmax"),
    ((200, 200), (10, 10), "float32", None, "argmax"),
    ((24, 1500, 1500), (1, 1500, 1500), "float32", 0, "max"),
    ((24, 1500, 1500), (1, 1500, 1500), "float32", 0, "argmax, NaN omitted"),
    ((24, 1500, 1500), (6, 500, 500), "float32", 0, "max"),
    ((24, 1500, 1500), (6, 500, 500), "float32", 0, "argmax, NaN omitted"),
)


def in_turns(calls: Sequence[Callable[[], Any]], turns: int) -> list[float]:
    """Return the least seconds that each of several calls takes."""
    least = [float("inf")] * len(calls)
    for _ in range(turns):
        for at, call in enumerate(calls):
            start = time.perf_counter()
            call()
            least[at] = min(least[at], time.perf_counter() - start)
    return least


def _compute(function: Callable[..., Any], x: Any, axis: int | None, scheduler: str) -> Any:
    return function(x, axis).compute(scheduler=scheduler)


def matrix(turns: int = 7, cases: Any = CASES) -> Iterator[tuple[str, ...]]:
    """Yield a row for each case and scheduler: milliseconds of ours and of Dask's, and how many times as fast it is."""
    random = np.random.default_rng(0)
    for shape, chunks, dtype, axis, function in cases:
        name, _, omitted = function.partition(", ")
        ours = partial(getattr(extremum.dask, name), nan_policy="omit" if omitted else "propagate")
        both = ours, getattr(da, name)
        # No two elements of a slice are equal more often than chance has it; Dask's answer differs for ties.
        data = (
            (random.random(shape) * 2**31).astype(dtype) if dtype != "uint8" else random.integers(0, 255, shape, "u1")
        )
        x = da.from_array(data, chunks=chunks).persist(scheduler="synchronous")
        if axis is not None:
            np.testing.assert_array_equal(*(each(x, axis).compute() for each in both))
        for scheduler in _SCHEDULERS:
            calls = [partial(_compute, each, x, axis, scheduler) for each in both]
            mine, other = in_turns(calls, turns)
            words = function, " x ".join(map(str, shape)), " x ".join(map(str, chunks)), dtype, str(axis)
            yield (*words, scheduler, f"{mine * 1e3:.1f}", f"{other * 1e3:.1f}", f"{other / mine:.1f}")


@dataclass(frozen=True, slots=True)
class ChunkCost:
    """What a chunk costs, in microseconds."""

    chunks: int
    graph: float
    ours: float
    # Dask's own part: our graph with tasks that do nothing.
    idle: float
    theirs: float

    @property
    def own(self) -> float:
        """What we add to Dask's scheduler: making the graph, and finding and merging parts."""
        return self.ours - self.idle


def chunk_costs(counts: tuple[int, ...] = (100, 1000, 10000, 100000)) -> Iterator[ChunkCost]:
    """Yield what each of so many chunks costs."""
    for count in counts:
        x = da.ones((count * 10,), chunks=10, dtype=np.float32)
        turns = 9 if count <= 1000 else 5 if count <= 10000 else 1

        graph = partial(extremum.dask.argmax, x, 0)
        answers = [partial(_compute, each, x, 0, "synchronous") for each in (extremum.dask.argmax, da.argmax)]
        idle = partial(_idle(graph()).compute, scheduler="synchronous")
        made, ours, alone, theirs = in_turns([graph, answers[0], idle, answers[1]], turns)
        yield ChunkCost(count, *(seconds / count * 1e6 for seconds in (made, ours, alone, theirs)))


def _idle(lazy: Any) -> Any:
    """Return an array with the tasks of a reduction of ours, which depend on each other as they do and do nothing."""
    graph = lazy.dask
    tasks = {key: (_nothing, *task[1:]) for key, task in graph.layers[lazy.name].items()}
    whole = HighLevelGraph({**graph.layers, lazy.name: tasks}, graph.dependencies)
    return da.Array(whole, lazy.name, lazy.chunks, meta=lazy._meta)


def _nothing(*_: Any) -> int:
    return 0


def draw(costs: list[ChunkCost], path: Path) -> None:
    """Draw the cost of a chunk over the number of chunks."""
    figure = import_module("matplotlib.figure").Figure(figsize=(6, 3.4), layout="constrained")
    axes = figure.subplots()
    counts = [cost.chunks for cost in costs]
    for values, words, colour in (
        ([cost.theirs for cost in costs], "dask.array.argmax", "#D55E00"),
        ([cost.ours for cost in costs], "extremum.argmax", "#0072B2"),
        ([cost.own for cost in costs], "what is not Dask's scheduler of it", "#56B4E9"),
    ):
        axes.plot(counts, values, marker="o", color=colour, label=words)
    axes.set(xscale="log", ylim=(0, None), xlabel="chunks", ylabel="microseconds for each chunk")
    axes.set_title("What one of so many chunks costs", loc="left", fontsize=10)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def _peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:"))) * 1024


def generated(block_info: Any = None, *, columns: int) -> Any:
    """Return one chunk of a virtual array: rows of a saw, the largest of which is in its last row."""
    (start, stop), _ = block_info[None]["array-location"]
    return np.broadcast_to(np.arange(start, stop, dtype=np.float32)[:, None] % 16777216, (stop - start, columns)).copy()


def virtual(gigabytes: float = 60.0, chunk: float = 0.1, address: str | None = None) -> tuple[float, dict[str, int]]:
    """Reduce an array that is generated chunk by chunk over its chunked axis; return seconds and each worker's peak."""
    from distributed import Client, LocalCluster

    columns = 1000
    rows = int(gigabytes * 1e9 / 4 / columns)
    sizes = (int(chunk * 1e9 / 4 / columns), columns)
    chunks = da.zeros((rows, columns), chunks=sizes, dtype=np.float32).chunks
    x = da.map_blocks(generated, columns=columns, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    cluster = (
        None if address else LocalCluster(n_workers=2, threads_per_worker=1, memory_limit="2GB", dashboard_address=":0")
    )
    with Client(address or cluster, set_as_default=False) as client:
        start = time.perf_counter()
        found = client.compute(extremum.dask.argmax(x, axis=0)).result()
        seconds = time.perf_counter() - start
        peaks = client.run(_peak)
    if cluster is not None:
        cluster.close()
    np.testing.assert_array_equal(found, min(rows, 16777216) - 1)
    return seconds, peaks


def write_stack(path: Path, shape: tuple[int, ...]) -> None:
    """Write random float32 of three axes to a file: one step along the first axis at a time."""
    random = np.random.default_rng(0)
    steps = (random.random(shape[1:], np.float32) for _ in range(shape[0]))
    if path.suffix == ".npy":
        with path.open("xb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            for step in steps:
                file.write(step.data)
    elif path.suffix == ".zarr":
        chunks = (min(6, shape[0]), min(500, shape[1]), min(500, shape[2]))
        packed = import_module("zarr").create_array(store=str(path), shape=shape, chunks=chunks, dtype="float32")
        for at, step in enumerate(steps):
            packed[at] = step
    else:
        stack = import_module("xarray").DataArray(np.stack(list(steps)), dims=("time", "y", "x"), name="t")
        stack.to_netcdf(path, engine="netcdf4")


def streamed(path: Path, axis: int) -> Any:
    """Return argmax of a file as the command finds it."""
    job = planned("argmax", open_source(str(path)), axis)
    found = np.empty(job.shape, job.dtypes[0])
    for step in job.steps(512_000_000):
        if step.place is not None:
            (found[step.place],) = step.blocks
    return found


def looped(path: Path, axis: int) -> Any:
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
import sys
from pathlib import Path
from extremum.cli import main
try:
    main()
finally:
    print(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")))
"""


def command_peak(source: Path, axis: int, out: Path) -> int:
    """Run the command on a file, and return the bytes of memory that it takes at most."""
    words = ["apply", "argmax", str(source), "--axis", str(axis), "-o", str(out), "--memory", "512MB"]
    done = subprocess.run([sys.executable, "-c", _COMMAND, *words], check=True, capture_output=True, text=True)
    return int(done.stdout.split()[-2]) * 1024


def files(folder: Path, shape: tuple[int, ...] = (24, 2500, 2500), turns: int = 5) -> Iterator[tuple[str, ...]]:
    """Yield a row for each format and axis: the peak of the command, and its time beside that of a loop."""
    for name in NAMES:
        write_stack(folder / name, shape)
        for axis in range(len(shape)):
            out = folder / "y.npy"
            peak = command_peak(folder / name, axis, out)
            np.testing.assert_array_equal(np.load(out), looped(folder / name, axis))
            out.unlink()
            # From opening the file to closing it.
            mine, loop = in_turns([partial(each, folder / name, axis) for each in (streamed, looped)], turns)
            yield name, str(axis), f"{peak / 1e6:.0f} MB", f"{mine:.3f} s", f"{loop:.3f} s", f"{mine / loop:.2f}"


def _print_matrix() -> None:
    heading = ("function", "shape", "chunks", "type", "axis", "scheduler", "ours, ms", "Dask's, ms", "times as fast")
    print(markdown_table(heading, list(matrix())))  # noqa: T201


def _print_chunks(picture: str | None = None) -> None:
    costs = list(chunk_costs())
    if picture is not None:
        draw(costs, Path(picture))
    heading = (
        "chunks",
        "our argmax, us",
        "Dask's scheduler on our graph, us",
        "the difference, us",
        "of it making the graph",
    )
    rows = [
        (f"{each.chunks:,}", *(f"{us:.0f}" for us in (each.ours, each.idle, each.own, each.graph, each.theirs)))
        for each in costs
    ]
    print(markdown_table((*heading, "Dask's argmax, us"), rows))  # noqa: T201


def main(words: list[str]) -> None:
    """Measure what is asked for, and print it."""
    match words:
        case []:
            _print_matrix()
            _print_chunks()
        case ["matrix"]:
            _print_matrix()
        case ["chunks", *picture] if not picture[1:]:
            _print_chunks(*picture)
        case ["virtual"]:
            seconds, peaks = virtual()
            print(f"60 GB in {seconds:.0f} s, peaks " + ", ".join(f"{each / 1e6:.0f} MB" for each in peaks.values()))  # noqa: T201
        case ["files", folder]:
            headings = ("file", "axis", "peak", "extremum apply", "a loop", "ratio")
            print(markdown_table(headings, list(files(Path(folder)))))  # noqa: T201
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
