"""The suites of the array functions: beyond the caches, values and masks beside the plain answer, two threads."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import isqrt
from time import perf_counter
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import extremum as ex
from benchmarks import report, run
from extremum import _native

__all__ = ["answers", "memory", "scaling"]

Array = NDArray[Any]
Call = Callable[[], Any]


def _rows(x: Array, length: int) -> Array:
    return x[: x.size // length * length].reshape(-1, length)


# Memory: a call of this package and the same of NumPy, on 96 MB in parts of 4 MB, so that each comes from memory.

_TYPES = ("int64", "float64", "int32", "float32", "int16", "uint8")
_MEMORY: dict[str, Callable[[Any, Array], Any]] = {
    "max": lambda library, x: library.max(x),
    "argmax": lambda library, x: library.argmax(x),
    "minmax": lambda library, x: ex.minmax(x) if library is ex else (np.min(x), np.max(x)),
    "argmax of rows of 1,000": lambda library, x: library.argmax(_rows(x, 1000), axis=1),
    "max of rows of 1,000": lambda library, x: library.max(_rows(x, 1000), axis=1),
    "argmax of 8 rows, axis 0": lambda library, x: library.argmax(x.reshape(8, -1), axis=0),
    "max of 8 rows, axis 0": lambda library, x: library.max(x.reshape(8, -1), axis=0),
    "maximum": lambda library, x: library.maximum(x[: x.size // 2], x[x.size // 2 :]),
}


def _beyond(element: str, total: int, turns: int) -> Iterator[tuple[str, str]]:
    """Yield for each case its speed over NumPy's and over the bare loop's."""
    generator, size = np.random.default_rng(96), total // np.dtype(element).itemsize
    if element.startswith("float"):
        x = generator.standard_normal(size).astype(element)
    else:
        # No element is the largest that there is: such a one ends the search.
        low, high = (-100, 100) if element.startswith("int") else (20, 220)
        x = generator.integers(low, high, size, np.dtype(element))
    parts = np.split(x, total >> 22)
    calls: list[Callable[[Array], Any]] = [_native.read_bandwidth]
    for name, work in _MEMORY.items():
        np.testing.assert_array_equal(np.array(work(ex, parts[0])), np.array(work(np, parts[0])), f"{element} {name}")
        calls += [partial(work, ex), partial(work, np)]
    # The least time of a part, which a busy machine disturbs less than it does whole passes.
    least = np.full((len(calls), len(parts)), np.inf)
    for _ in range(turns):
        for number, call in enumerate(calls):
            for at, part in enumerate(parts):
                start = perf_counter()
                call(part)
                least[number, at] = min(least[number, at], perf_counter() - start)
    bare, *seconds = least.sum(axis=1)
    for name, ours, theirs in zip(_MEMORY, seconds[::2], seconds[1::2], strict=True):
        yield name, f"{theirs / ours:.2f} ({bare / ours:.2f})"


@click.command
@click.option("--turns", type=click.IntRange(min=1), default=7, show_default=True)
@click.option("--publish", "published", is_flag=True, help="Put the rows into docs/performance.md.")
@click.option("--megabytes", type=click.IntRange(min=4), default=96, show_default=True)
def memory(turns: int, published: bool, megabytes: int) -> None:
    """Time reductions of arrays that no cache holds, on one thread: over NumPy, and over a bare loop in brackets."""
    run.hold(1)
    found = {name: [run.processor(), name] for name in _MEMORY}
    for element in _TYPES:
        for name, cell in _beyond(element, megabytes << 20, turns):
            found[name].append(cell)
    head, rows = ("processor", "case", *_TYPES), list(found.values())
    click.echo(report.table(head, rows))
    if published:
        report.publish_rows("memory", head, rows)


# Answers: values, indices, both ends, masks and NaN left out, beside the plain call on the same array.

# From a number of elements to a shape, and the axis that is reduced.
_LAYOUTS: dict[str, tuple[Callable[[int], tuple[int, ...]], int | None]] = {
    "one row": (lambda n: (n,), None),
    "columns": (lambda n: (isqrt(n), isqrt(n)), 0),
    "rows of 2000": (lambda n: (n // 2000, 2000), 1),
    "rows of 40": (lambda n: (n // 40, 40), 1),
    "rows of 10": (lambda n: (n // 10, 10), 1),
    "rows of 4": (lambda n: (n // 4, 4), 1),
    "middle axis": (lambda n: (n // 20000, 100, 200), 1),
}
# Words, the calls, what they stand beside, and the bound: of the first over the second, or the other way round.
_WANTED = (
    ("`max` with index / `argmax`", r"max, index", "argmax", 1.15, False),
    ("`minmax` / `max`", r"minmax", "max", 1.2, False),
    ('`nan_policy="omit"` / `argmax`', r"omit.*", "argmax", 1.3, False),
    ("`where` / `argmax`", r"where.*", "argmax", 2.0, False),
    ("`np.nanargmax` / omit", r"omit, 5 % NaN", "np.nanargmax", 5.0, True),
    ("`bottleneck.nanargmax` / omit", r"omit, 5 % NaN", "bottleneck", 3.0, True),
)
# What a slice gives in which nothing takes part.
_NOTHING = -1


def _largest(x: Array, axis: int | None, there: Array | bool = True) -> tuple[Array, Array]:
    """Return the values and the indices of the largest elements that take part, as NumPy finds them."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    values = np.max(x, axis, initial=lowest, where=there, keepdims=True)
    found = (x == values) & there
    return values.reshape(np.max(x, axis).shape), np.where(found.any(axis), found.argmax(axis), _NOTHING)


def _contenders(element: str, megabytes: int, layout: str) -> dict[str, tuple[Call, Call]]:
    """Return the calls of a case, which gave the right result, each with a bare loop that reads and fills as much."""
    random, dtype = np.random.default_rng(14), np.dtype(element)
    shape, axis = _LAYOUTS[layout][0](megabytes * 10**6 // dtype.itemsize), _LAYOUTS[layout][1]
    numbers = random.standard_normal(shape, np.float32)
    # Far from the largest int8, at which a search may stop.
    x = (numbers if dtype.kind == "f" else numbers * 20).astype(dtype)
    drawn = random.random(shape, np.float32)
    calls: dict[str, tuple[Call, Call]] = {}

    def add(name: str, call: Call, right: tuple[Array, ...], *read: Array) -> None:
        result = call()
        results = result if isinstance(result, tuple) else (result,)
        for one, other in zip(results, right, strict=True):
            np.testing.assert_array_equal(one, other, f"{element} {layout}: {name}")
        calls[name] = call, partial(_bare, read, [np.asarray(each) for each in results])

    largest, index = _largest(x, axis)
    add("argmax", partial(ex.argmax, x, axis), (index,), x)
    add("max", partial(ex.max, x, axis), (largest,), x)
    add("max, index", partial(ex.max, x, axis, return_index=True), (largest, index), x)
    add("minmax", partial(ex.minmax, x, axis), (np.min(x, axis), largest), x)
    for words, share in {"no NaN": 0.0, "5 % NaN": 0.05, "one NaN": 1e-12}.items() if dtype.kind == "f" else ():
        # Where nothing is NaN it is the array itself: a copy may lie in another cache.
        data = np.where(drawn < share, dtype.type(np.nan), x) if share else x
        if words == "one NaN":
            data.flat[x.size // 2] = np.nan
        # One number in each slice: the peers refuse a slice without any.
        first = (0,) * x.ndim if axis is None else (slice(None),) * axis + (0,)
        data[first] = x[first]
        place = _largest(data, axis, ~np.isnan(data))[1]
        add(f"omit, {words}", partial(ex.argmax, data, axis, nan_policy="omit"), (place,), data)
        if words == "5 % NaN":
            add("np.nanargmax", partial(np.nanargmax, data, axis), (place,), data)
            if find_spec("bottleneck") and dtype.itemsize >= 4:
                add("bottleneck", partial(import_module("bottleneck").nanargmax, data, axis), (place,), data)
    masks = {words: drawn < share for words, share in {"half": 0.5, "all": 1.0, "1 %": 0.01}.items()}
    if axis is not None:
        # Made anew, as a user has them: a view of the whole mask would lie as far apart as that does.
        masks["by the last axis"] = np.broadcast_to(masks["half"][(0,) * (x.ndim - 1)].copy(), shape)
        whole = masks["half"][(slice(None), *(slice(0, 1),) * (x.ndim - 1))].copy()
        masks["by the first axis"] = np.broadcast_to(whole, shape)
    for words, mask in masks.items():
        call = partial(ex.argmax, x, axis, where=mask, default=_NOTHING)
        # A mask that is broadcast stays in the cache.
        add(f"where, {words}", call, (_largest(x, axis, mask)[1],), *((x, mask) if mask.flags.c_contiguous else (x,)))
    return calls


def _bare(read: tuple[Array, ...], results: list[Array]) -> None:
    for array in read:
        _native.read_bandwidth(array)
    # All results are there at once, as a call's are: one after the other would be written to the same memory.
    for result in [np.empty_like(result) for result in results]:
        result.fill(0)


@click.command
@click.option("--type", "element", default="float32", show_default=True)
@click.option("--megabytes", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--filter", "pattern", metavar="REGEX", default="", help="Only the layouts whose name matches.")
@click.option("--seconds", "budget", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
def answers(element: str, megabytes: int, pattern: str, budget: float) -> None:
    """Time every answer of one pass beside the plain one, on one thread: the worst ratio, and that of bare loops."""
    run.hold(1)
    layouts = [layout for layout in _LAYOUTS if re.search(pattern, layout)]
    rows = {words: [words, f"{wanted:g}"] for words, *_, wanted, _ in _WANTED}
    for layout in layouts:
        calls = _contenders(element, megabytes, layout)
        # Bare loops take turns with the calls: which arrays are in which cache is the same for both.
        both = {name: call for name, (call, _) in calls.items()} | {f"bare {n}": bare for n, (_, bare) in calls.items()}
        best = run.interleave(both, budget * max(1, megabytes // 4), keep=both)
        for words, ours, over, _, least in _WANTED:
            found = []
            for name in (name for name in calls if re.fullmatch(ours, name) and over in calls):
                bound = best[f"bare {name}"] / best[f"bare {over}"]
                found.append((best[over] / best[name], bound) if least else (best[name] / best[over], bound))
            worst = sorted(found)[0 if least else -1 :][:1]
            rows[words].append("".join(f"{ratio:.2f} ({bound:.2f})" for ratio, bound in worst) or "-")
    click.echo(report.table(["", "wanted", *layouts], rows.values()))


# Scaling: the same call with more threads.


def _square(x: Array) -> Array:
    return x[: isqrt(x.size) ** 2].reshape(isqrt(x.size), -1)


def _maximum(x: Array) -> Call:
    third = x.size // 3
    return partial(ex.maximum, x[:third], x[third : 2 * third], out=np.empty(third, x.dtype))


def _with_row(x: Array) -> Call:
    rows = _rows(x[: x.size // 2], 512)
    return partial(ex.maximum, rows, rows[:1], out=np.empty_like(rows))


def _hardmax(x: Array, length: int) -> Call:
    rows = _rows(x[: x.size // 2], min(length, x.size // 2))
    return partial(ex.hardmax, rows, out=np.empty_like(rows))


# Kilobytes that a call moves, outputs included.
_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 65536)
_KINDS: dict[str, Callable[[Array], Call]] = {
    "bare loop": lambda x: partial(_native.read_bandwidth, x),
    "argmax of everything": lambda x: partial(ex.argmax, x),
    "argmax of columns": lambda x: partial(ex.argmax, _square(x), 0),
    "argmax of rows": lambda x: partial(ex.argmax, _square(x), 1),
    "argmax of rows of 64": lambda x: partial(ex.argmax, _rows(x, 64), 1),
    "argmax of three rows": lambda x: partial(ex.argmax, _rows(x, x.size // 3), 1),
    "maximum": _maximum,
    "maximum with a row": _with_row,
    "hardmax of rows of 1000": partial(_hardmax, length=1000),
    "hardmax of one row": partial(_hardmax, length=1 << 40),
}


def _with_threads(number: int, call: Call) -> Any:
    ex.set_num_threads(number)
    return call()


@click.command
@click.option("--filter", "pattern", metavar="REGEX", default="", help="Only the kinds whose name matches.")
@click.option("--seconds", "budget", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
def scaling(pattern: str, budget: float) -> None:
    """Time float32 calls with 2, 4, ... threads, up to the processors that this process may use, over one thread.

    The bare loop reads as many bytes with as many threads: where memory is the limit, no call gains more.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = [1 << power for power in range(processors.bit_length()) if 1 << power < processors]
    titles = [f"{size} KB" if size < 1024 else f"{size >> 10} MB" for size in _SIZES]
    for count in [*counts, processors][1:]:
        rows = []
        for kind in (kind for kind in _KINDS if re.search(pattern, kind)):
            rows.append([kind])
            for size in _SIZES:
                call = _KINDS[kind](np.random.default_rng(16).standard_normal(size << 8).astype(np.float32))
                calls = {str(number): partial(_with_threads, number, call) for number in (1, count)}
                alone = np.array(calls["1"]())
                np.testing.assert_array_equal(calls[str(count)](), alone, f"{kind}, {size} KB")
                best = run.interleave(calls, budget, keep=calls)
                rows[-1].append(f"{best['1'] / best[str(count)]:.2f}")
        click.echo(report.table([f"{count} threads over one", *titles], rows))
    if processors == 1:
        click.echo("this process may use one processor: there is nothing to compare")
