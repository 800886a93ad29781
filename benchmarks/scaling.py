"""What more threads bring: calls with 1, 2, 4, ... threads, up to the processors, and a bare loop beside them.

    python -m benchmarks.scaling                      every kind and size, in two minutes
    python -m benchmarks.scaling --filter argmax      the kinds whose name matches

The answers of all numbers of threads are compared before anything is timed. A call is made again and again with each
number of threads, in turns; what is printed is how many times as fast it is as with one thread. The bare loop reads as
many bytes with as many threads, in the same turns: where memory is the limit, no call gains more, and the second table
says how near to it each call is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from math import isqrt
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import extremum as ex
from benchmarks.timing import interleave
from extremum import _native
from extremum.printable import markdown_table

__all__ = ["KINDS", "SIZES", "numbers", "scaling", "with_threads"]

Array = NDArray[Any]

# Kilobytes that a call moves.
SIZES = (512, 1024, 2048, 4096, 8192, 16384, 65536)


def _rows(x: Array, length: int) -> Array:
    return x[: x.size // length * length].reshape(-1, length)


def _square(x: Array) -> Array:
    return x[: isqrt(x.size) ** 2].reshape(isqrt(x.size), -1)


def _maximum(x: Array) -> Callable[[], Any]:
    third = x.size // 3
    return partial(ex.maximum, x[:third], x[third : 2 * third], out=np.empty(third, x.dtype))


def _broadcast(x: Array) -> Callable[[], Any]:
    rows = _rows(x[: x.size // 2], 512)
    return partial(ex.maximum, rows, rows[:1], out=np.empty_like(rows))


def _hardmax(x: Array, length: int) -> Callable[[], Any]:
    rows = _rows(x[: x.size // 2], min(length, x.size // 2))
    return partial(ex.hardmax, rows, out=np.empty_like(rows))


BARE = "bare loop"

# Each moves the bytes of `x`, outputs included.
KINDS: dict[str, Callable[[Array], Callable[[], Any]]] = {
    BARE: lambda x: partial(_native.read_bandwidth, x),
    "argmax of everything": lambda x: partial(ex.argmax, x),
    "argmax of columns": lambda x: partial(ex.argmax, _square(x), 0),
    "argmax of rows": lambda x: partial(ex.argmax, _square(x), 1),
    "argmax of rows of 64": lambda x: partial(ex.argmax, _rows(x, 64), 1),
    "argmax of three rows": lambda x: partial(ex.argmax, _rows(x, x.size // 3), 1),
    "maximum": _maximum,
    "maximum with a row": _broadcast,
    "hardmax of rows of 1000": partial(_hardmax, length=1000),
    "hardmax of one row": partial(_hardmax, length=1 << 40),
}


def numbers(processors: int) -> list[int]:
    """Return 1, 2, 4, ... up to a number of processors, and that number."""
    powers = [1 << power for power in range(processors.bit_length()) if 1 << power < processors]
    return [*powers, processors]


def with_threads(number: int, call: Callable[[], Any]) -> Any:
    """Make a call with a number of threads."""
    ex.set_num_threads(number)
    return call()


def _speeds(kind: str, kilobytes: int, count: int, budget: float) -> tuple[float, float]:
    """Return how many times as fast a call is with so many threads as with one, and as the bare loop with as many."""
    x = np.random.default_rng(16).standard_normal(kilobytes << 8).astype(np.float32)
    call = KINDS[kind](x)
    expected = np.array(with_threads(1, call))
    calls = {f"{number} threads": partial(with_threads, number, call) for number in (1, count)}
    for name, each in calls.items():
        np.testing.assert_array_equal(each(), expected, err_msg=f"{kind}, {kilobytes} KB, {name}")
    calls[BARE] = partial(with_threads, count, KINDS[BARE](x))
    best = interleave(calls, budget, keep=calls)
    together = best[f"{count} threads"]
    return best["1 threads"] / together, best[BARE] / together


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--filter", "pattern", metavar="REGEX", default="", help="Only the kinds whose name matches.")
@click.option("--seconds", "budget", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
def scaling(pattern: str, budget: float) -> None:
    """Time float32 calls with 1, 2, 4, ... threads, up to the processors that this process may use."""
    before = ex.get_num_threads()
    counts = numbers(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    titles = [f"{size} KB" if size < 1024 else f"{size >> 10} MB" for size in SIZES]
    try:
        for count in counts[1:]:
            gains, shares = [], []
            for kind in KINDS:
                if kind == BARE or re.search(pattern, kind):
                    speeds = [_speeds(kind, size, count, budget) for size in SIZES]
                    gains.append([kind, *(f"{gain:.2f}" for gain, _ in speeds)])
                    shares.append([kind, *(f"{share:.2f}" for _, share in speeds)])
            click.echo(markdown_table([f"{count} threads over one", *titles], gains, figures=True))
            # (What the bare loop is beside itself says how far two equal calls differ.)
            click.echo(markdown_table([f"{count} threads over the {BARE}", *titles], shares, figures=True))
    finally:
        ex.set_num_threads(before)
    if len(counts) == 1:
        click.echo("this process may use one processor: there is nothing to compare")


if __name__ == "__main__":
    scaling(prog_name="python -m benchmarks.scaling")
