"""The suites of the array functions: beyond the caches, values and masks against the plain call, threads, top k."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import isqrt
from statistics import geometric_mean
from typing import Any

import click
import numpy as np

import extremum as ex
from benchmarks import bare, peers, report, run
from benchmarks.matrix import Array, Case

Call = Callable[[], Any]


def _rows(x: Array, length: int) -> Array:
    return x[: x.size // length * length].reshape(-1, length)


# Memory: calls of this package over the fastest read of as many bytes on the same machine.

_TYPES = ("float16", "float32", "float64", "int16", "int64", "uint8")
# From a number of elements to a shape, and the axis that is reduced.
_SHAPES: dict[str, tuple[Callable[[int], tuple[int, ...]], int]] = {
    "the whole array": (lambda n: (n,), 0),
    "rows of 16": (lambda n: (n // 16, 16), 1),
    "rows of 64": (lambda n: (n // 64, 64), 1),
    "rows of 1024": (lambda n: (n // 1024, 1024), 1),
    "32 columns": (lambda n: (n // 32, 32), 0),
    "32 rows, axis 0": (lambda n: (32, n // 32), 0),
    "(n, 16, 256), axis 1": (lambda n: (n // 4096, 16, 256), 1),
}
_KILOBYTES = (256, 4096, 65536)
# A call that reaches this share of its bound is as fast as memory.
_MET = 0.9


def _drawn(element: str, shape: int | tuple[int, ...]) -> Array:
    generator = np.random.default_rng(96)
    if element.startswith("float"):
        return generator.standard_normal(shape, np.float32).astype(element)
    # No element is the largest of its type, because that would end the search.
    low, high = (-100, 100) if element.startswith("int") else (20, 220)
    return generator.integers(low, high, shape, np.dtype(element))


def _placed(x: Array) -> Array:
    """Copy an array to 16 bytes behind a cache line: NumPy's large arrays begin there, and smaller ones anywhere."""
    memory = np.empty(x.nbytes + 64, np.uint8)
    start = (16 - memory.ctypes.data) % 64
    placed = memory[start : start + x.nbytes].view(x.dtype)
    placed[:] = x
    return placed


def _bare(x: Array) -> Any:
    """Read an array once, as fast as this machine can: the largest of 32-bit integers."""
    return ex.max(x.view(np.int32))


def _shares(kilobytes: int, budget: float) -> tuple[float, dict[str, float], dict[str, float]]:
    """Return the bytes that this machine reads in a second, and each call's shares of that and of its bound."""
    limit = 0.0
    speeds: dict[str, float] = {}
    bounds: dict[str, float] = {}
    for element in _TYPES:
        x = _placed(_drawn(element, (kilobytes << 10) // np.dtype(element).itemsize))
        for words, (shape, axis) in _SHAPES.items():
            view = x.reshape(shape(x.size))
            places = ex.argmax(view, axis)
            values = ex.max(view, axis)
            np.testing.assert_array_equal(places, np.argmax(view, axis), words)
            np.testing.assert_array_equal(values, np.max(view, axis), words)
            calls: dict[str, Call] = {
                "argmax": partial(ex.argmax, view, axis),
                "max": partial(ex.max, view, axis),
                "bare argmax": bare.loop(view, axis, places.nbytes),
                "bare max": bare.loop(view, axis, values.nbytes),
                "read": partial(_bare, x),
            }
            best = run.interleave(calls, budget, keep=calls)
            limit = max(limit, x.nbytes / best["read"])
            for name in ("argmax", "max"):
                case = f"{name} of {element}, {words}"
                speeds[case] = x.nbytes / best[name]
                bounds[case] = best[f"bare {name}"] / best[name]
    return limit, {case: speed / limit for case, speed in speeds.items()}, bounds


def _summary(shares: dict[str, float]) -> list[str]:
    worst = min(shares, key=shares.__getitem__)
    return [f"{geometric_mean(shares.values()):.2f}", f"{shares[worst]:.2f}", worst]


@click.command
@run.SECONDS
@run.PUBLISH
@click.option("--kilobytes", type=click.IntRange(min=256), multiple=True, default=_KILOBYTES, show_default=True)
@click.option("--cases", "listed", is_flag=True, help="Print the shares of each call too.")
def memory(budget: float, published: bool, kilobytes: tuple[int, ...], listed: bool) -> None:
    """Time argmax and max on one thread: their share of the read limit, and of their bound.

    The limit is the fastest read of as many bytes; the bound, a bare loop that also writes as many as the call. All
    arrays begin 16 bytes behind a cache line.
    """
    run.hold(1)
    rows = []
    for size in kilobytes:
        limit, of_limit, of_bound = _shares(size, budget)
        name = f"{size} KB" if size < 1024 else f"{size >> 10} MB"
        met = sum(share >= _MET for share in of_bound.values())
        limits = [f"{limit / 1e9:.0f} GB/s", *_summary(of_limit)]
        rows.append([run.processor(), name, *limits, *_summary(of_bound), f"{met} of {len(of_bound)}"])
        if listed:
            cases = sorted(of_bound, key=of_bound.__getitem__)
            cells = ((case, f"{of_limit[case]:.2f}", f"{of_bound[case]:.2f}") for case in cases)
            click.echo(report.table([f"{name}: call", "share of the read limit", "of its bound"], cells))
    words = ("share of it, mean", "worst", "worst case", "share of the bound, mean", "worst", "worst case")
    head = ("processor", "array", "read limit", *words, f"at least {_MET}")
    click.echo(report.table(head, rows))
    if published:
        report.publish_rows("memory", head, rows)


# Answers: values, indices, minmax, masks and omitted NaN, against the plain call on the same array.

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
# The calls, the call that they are compared with, and the bound on the ratio of times: first over second, or with "at
# least" second over first.
_GOALS = {
    "`max` with index / `argmax`": (r"max, index", "argmax", "at most 1.15"),
    "`minmax` / `max`": (r"minmax", "max", "at most 1.2"),
    '`nan_policy="omit"` / `argmax`': (r"omit.*", "argmax", "at most 1.3"),
    "`where` / `argmax`": (r"where.*", "argmax", "at most 2"),
    "`np.nanargmax` / omit": (r"omit, 5 % NaN", "np.nanargmax", "at least 5"),
    "`bottleneck.nanargmax` / omit": (r"omit, 5 % NaN", "bottleneck", "at least 3"),
    "`np.fmax.reduce` / `max`, all-NaN slices": (r"max, all-NaN slices", "np.fmax.reduce", "at least 1"),
}
# The result of a slice whose elements are all skipped.
_NOTHING = -1


def _contenders(x: Array, axis: int | None) -> dict[str, Call]:
    """Return calls on an array by name, after each gave the same answer as NumPy."""
    calls: dict[str, Call] = {}

    def add(name: str, function: Any, of: Array, there: Array | bool = True, **options: Any) -> None:
        lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
        values = np.max(of, axis, initial=lowest, where=there, keepdims=True)
        hits = (of == values) & there
        index = np.where(hits.any(axis), hits.argmax(axis), _NOTHING)
        values = values.reshape(index.shape)
        right = {"max, index": (values, index), "max": (values,), "minmax": (np.min(of, axis), values)}
        calls[name] = partial(function, of, axis, **options)
        result = calls[name]()
        np.testing.assert_array_equal(
            result if isinstance(result, tuple) else (result,), right.get(name, (index,)), name
        )

    add("argmax", ex.argmax, x)
    add("max", ex.max, x)
    add("max, index", ex.max, x, return_index=True)
    add("minmax", ex.minmax, x)
    drawn = np.random.default_rng(15).random(x.shape, np.float32)
    shares = {"no NaN": 0.0, "5 % NaN": 0.05, "one NaN": 1e-12} if x.dtype.kind == "f" else {}
    for words, share in shares.items():
        # Without NaN it is the array itself: a copy may be in another cache.
        data = np.where(drawn < share, x.dtype.type(np.nan), x) if share else x
        if words == "one NaN":
            data.flat[x.size // 2] = np.nan
        # Each slice has a number: the peers refuse an all-NaN slice.
        first = (0,) * x.ndim if axis is None else (slice(None),) * axis + (0,)
        data[first] = x[first]
        add(f"omit, {words}", ex.argmax, data, ~np.isnan(data), nan_policy="omit")
        if words == "5 % NaN":
            add("np.nanargmax", np.nanargmax, data, ~np.isnan(data))
            if find_spec("bottleneck") and x.itemsize >= 4:
                add("bottleneck", import_module("bottleneck").nanargmax, data, ~np.isnan(data))
    if axis is not None and x.dtype.kind == "f":
        # As a map of the sea has them: on land every element is NaN.
        land = drawn.max(axis, keepdims=True) < np.quantile(drawn.max(axis), 0.3)
        sea = np.where(land, x.dtype.type(np.nan), x)
        calls["max, all-NaN slices"] = partial(ex.max, sea, axis, nan_policy="omit", default=np.nan)
        calls["np.fmax.reduce"] = partial(np.fmax.reduce, sea, axis)
        np.testing.assert_array_equal(calls["max, all-NaN slices"](), calls["np.fmax.reduce"]())
    masks = {words: drawn < share for words, share in {"half": 0.5, "all": 1.0, "1 %": 0.01}.items()}
    if axis is not None:
        # Copies, as users have them: a view would keep the strides of the whole mask.
        masks["by the last axis"] = np.broadcast_to(masks["half"][(0,) * (x.ndim - 1)].copy(), x.shape)
        first = (slice(None), *(slice(0, 1),) * (x.ndim - 1))
        masks["by the first axis"] = np.broadcast_to(masks["half"][first].copy(), x.shape)
    for words, mask in masks.items():
        add(f"where, {words}", ex.argmax, x, mask, where=mask, default=_NOTHING)
    return calls


@click.command
@click.option("--type", "element", default="float32", show_default=True)
@click.option("--megabytes", type=click.IntRange(min=1), default=4, show_default=True)
@run.FILTER
@run.SECONDS
def answers(element: str, megabytes: int, pattern: str, budget: float) -> None:
    """Time every call of one pass against the plain call, on one thread: the worst ratio in each layout."""
    run.hold(1)
    layouts = [layout for layout in _LAYOUTS if re.search(pattern, layout)]
    rows = {words: [words, goal] for words, (_, _, goal) in _GOALS.items()}
    for layout in layouts:
        shape = _LAYOUTS[layout][0](megabytes * 10**6 // np.dtype(element).itemsize)
        axis = _LAYOUTS[layout][1]
        calls = _contenders(_drawn(element, shape), axis)
        best = run.interleave(calls, budget * max(1, megabytes // 4), keep=calls)
        for words, (ours, over, goal) in _GOALS.items():
            ratios = [best[name] / best[over] for name in calls if re.fullmatch(ours, name) and over in calls]
            worst = max(ratios, default=None)
            rows[words].append("-" if worst is None else f"{1 / worst if 'least' in goal else worst:.2f}")
    click.echo(report.table(["", "wanted", *layouts], rows.values()))


# Scaling: the same call with more threads.


def _square(x: Array) -> Array:
    return x[: isqrt(x.size) ** 2].reshape(isqrt(x.size), -1)


def _maximum(x: Array) -> Call:
    one, other, out = np.split(x[: x.size // 3 * 3], 3)
    return partial(ex.maximum, one, other, out=out)


def _rows_into(work: Callable[..., Any], length: int, x: Array) -> Call:
    rows, out = (_rows(half, min(length, half.size)) for half in np.split(x, 2))
    return partial(work, rows, out=out)


# Kilobytes that a call moves, outputs included.
_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 65536)
_KINDS: dict[str, Callable[[Array], Call]] = {
    "bare loop": lambda x: partial(_bare, x),
    "argmax of everything": lambda x: partial(ex.argmax, x),
    "argmax of columns": lambda x: partial(ex.argmax, _square(x), 0),
    "argmax of rows": lambda x: partial(ex.argmax, _square(x), 1),
    "argmax of rows of 64": lambda x: partial(ex.argmax, _rows(x, 64), 1),
    "argmax of three rows": lambda x: partial(ex.argmax, _rows(x, x.size // 3), 1),
    "maximum": _maximum,
    "maximum with a row": partial(_rows_into, lambda rows, out: ex.maximum(rows, rows[:1], out=out), 512),
    "hardmax of rows of 1000": partial(_rows_into, ex.hardmax, 1000),
    "hardmax of one row": partial(_rows_into, ex.hardmax, 1 << 40),
}


def _with_threads(number: int, call: Call) -> Any:
    ex.set_num_threads(number)
    return call()


@click.command
@run.FILTER
@run.SECONDS
def scaling(pattern: str, budget: float) -> None:
    """Time float32 calls with 2, 4, ... threads, up to the processors that this process may use, against one thread.

    The bare loop reads the same number of bytes with the same threads: where memory is the limit, no call gains more.
    """
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    counts = [1 << power for power in range(processors.bit_length()) if 1 << power < processors]
    titles = [f"{size} KB" if size < 1024 else f"{size >> 10} MB" for size in _SIZES]
    for count in [*counts, processors][1:]:
        rows = []
        for kind in (kind for kind in _KINDS if re.search(pattern, kind)):
            rows.append([kind])
            for size in _SIZES:
                call = _KINDS[kind](_drawn("float32", size << 8))
                calls = {str(number): partial(_with_threads, number, call) for number in (1, count)}
                best = run.compared(calls, budget)
                rows[-1].append(f"{best['1'] / best[str(count)]:.2f}")
        click.echo(report.table([f"{count} threads over one", *titles], rows))


# Top k: shapes that users have, with elements in several orders, against the fastest peer.

# Shape, axis and k: sampling of a language model, neighbours, routing to experts, detection, columns.
_TOP_K: tuple[tuple[tuple[int, ...], int, int], ...] = (
    *(((50257,), 0, 50), ((32, 50257), 1, 1), ((32, 50257), 1, 50), ((10_000, 64), 1, 8), ((4096, 256), 1, 2)),
    *(((1000, 1000), 0, 5), ((21, 256, 256), 0, 3), ((1_000_000,), 0, 1000), ((1_000_000,), 0, 100_000)),
    *(((100, 1000), 1, 5), ((64,), 0, 5), ((8400, 80), 1, 1), ((1, 100_000), 1, 300)),
)
# From a generator and the position of each element along the axis to the elements.
_TEXTURES: dict[str, Callable[[np.random.Generator, Array], Array]] = {
    "random": lambda generator, places: generator.standard_normal(places.shape, np.float32),
    "ascending": lambda generator, places: places.copy(),
    "descending": lambda generator, places: -places.copy(),
    "few values": lambda generator, places: generator.integers(0, 4, places.shape).astype(np.float32),
    "int64": lambda generator, places: generator.integers(-(2**40), 2**40, places.shape),
}


@click.command
@run.FILTER
@run.SECONDS
@run.PUBLISH
def top_k(pattern: str, budget: float, published: bool) -> None:
    """Time `top_k` on one thread against the fastest peer; in brackets microseconds; last, the worst order."""
    run.hold(1)
    contenders = peers.installed(1, (peers.OURS, "numpy", "onnxruntime", "jax", "torch"))
    rows = []
    ratios = []
    for shape, axis, k in _TOP_K:
        name = f"{'x'.join(map(str, shape))}, axis {axis}, k {k}"
        if not re.search(pattern, name):
            continue
        ours = []
        row = [run.processor(), name]
        for draw in _TEXTURES.values():
            places = np.broadcast_to(np.indices(shape, np.float32, sparse=True)[axis], shape)
            x = draw(np.random.default_rng(39), places)
            # The first of equals wins; peers do not promise that.
            index = np.take(np.argsort(-x, axis, kind="stable"), range(k), axis)
            calls: dict[str, Call] = {}
            for library, _, prepare in contenders:
                if prepared := prepare(Case("top k", "top_k", x.dtype.name, shape, (axis,), k=k), [x]):
                    calls[library] = prepared.call
                    values, indices = calls[library]()[:2]
                    np.testing.assert_array_equal(values, np.take_along_axis(x, index, axis), f"{library}, {name}")
                    if library == peers.OURS:
                        np.testing.assert_array_equal(indices, index, name)
            best = run.interleave(calls, budget, keep=(peers.OURS,))
            ours.append(best[peers.OURS])
            ratios.append(best[report.fastest_peer(best)] / ours[-1])
            row.append(f"{ratios[-1]:.2f} ({ours[-1] * 1e6:.1f})")
        rows.append([*row, f"{max(ours[:4]) / ours[0]:.2f}"])
    head = ("processor", "case", *_TEXTURES, "worst / random")
    click.echo(report.table(head, rows))
    click.echo(f"mean {geometric_mean(ratios):.2f}, worst {min(ratios):.2f}")
    if published:
        report.publish_rows("top k", head, rows)
