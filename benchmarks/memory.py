"""Beyond the caches: 96 MB on one thread over NumPy, and over a bare loop that reads in the order of addresses.

    python -m benchmarks.memory [--instruction-set avx2] [--publish]

``--publish`` puts the rows of this processor into docs/performance.md, and leaves those of others: how a processor
reads ahead differs between models, so that one model's figures say little of another's.

The arrays are read in parts of 4 MB, one after the other, so that each part comes from memory; the time of a part is
the least of several turns, which a busy machine disturbs less than it does whole passes. Answers are compared before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import extremum as ex
from benchmarks import instruction_sets, machine
from benchmarks.publish import publish_rows
from extremum import _native
from extremum.printable import markdown_table

__all__ = ["CASES", "TYPES", "measure", "memory"]

TYPES = ("int64", "float64", "int32", "float32", "int16", "uint8")
_TOTAL, _PART = 96 << 20, 4 << 20
_HEAD = ("processor", "case", *TYPES)

Array = NDArray[Any]
Work = Callable[[Array], object]


def _rows(x: Array) -> Array:
    return x[: x.size // 1000 * 1000].reshape(-1, 1000)


def _halves(x: Array) -> tuple[Array, Array]:
    return x[: x.size // 2], x[x.size // 2 :]


# What is asked for: of this package, and of NumPy.
CASES: dict[str, tuple[Work, Work]] = {
    "max": (ex.max, np.max),
    "argmax": (ex.argmax, np.argmax),
    "minmax": (ex.minmax, lambda x: (np.min(x), np.max(x))),
    "argmax of rows of 1,000": (lambda x: ex.argmax(_rows(x), axis=1), lambda x: np.argmax(_rows(x), axis=1)),
    "max of rows of 1,000": (lambda x: ex.max(_rows(x), axis=1), lambda x: np.max(_rows(x), axis=1)),
    "argmax of 8 rows, axis 0": (
        lambda x: ex.argmax(x.reshape(8, -1), axis=0),
        lambda x: np.argmax(x.reshape(8, -1), axis=0),
    ),
    "max of 8 rows, axis 0": (lambda x: ex.max(x.reshape(8, -1), axis=0), lambda x: np.max(x.reshape(8, -1), axis=0)),
    "maximum": (lambda x: ex.maximum(*_halves(x)), lambda x: np.maximum(*_halves(x))),
}


def measure(element: str, total: int, part: int, turns: int) -> Iterator[tuple[str, float, float]]:
    """Yield for each case its speed over NumPy's and over the bare loop's."""
    generator = np.random.default_rng(96)
    if element.startswith("float"):
        x = generator.standard_normal(total // np.dtype(element).itemsize).astype(element)
    else:
        # No element is the largest that there is: such a one ends the search.
        low, high = (-100, 100) if element.startswith("int") else (20, 220)
        x = generator.integers(low, high, total // np.dtype(element).itemsize, np.dtype(element))
    parts = np.split(x, total // part)
    calls: list[Work] = [_native.read_bandwidth]
    for name, (ours, theirs) in CASES.items():
        np.testing.assert_array_equal(np.array(ours(parts[0])), np.array(theirs(parts[0])), err_msg=f"{element} {name}")
        calls += [ours, theirs]
    least = np.full((len(calls), len(parts)), np.inf)
    for _ in range(turns):
        for number, call in enumerate(calls):
            for at, each in enumerate(parts):
                start = perf_counter()
                call(each)
                least[number, at] = min(least[number, at], perf_counter() - start)
    bare, *seconds = least.sum(axis=1)
    for name, ours, theirs in zip(CASES, seconds[::2], seconds[1::2], strict=True):
        yield name, theirs / ours, bare / ours


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--instruction-set", "held", type=click.Choice(list(instruction_sets.SETS)), help="Hold all to it.")
@click.option("--turns", type=click.IntRange(min=1), default=7, show_default=True)
@click.option("--publish", "published", is_flag=True, help="Put the rows into docs/performance.md.")
@click.option("--megabytes", type=click.IntRange(min=4), default=_TOTAL >> 20, show_default=True)
def memory(held: str | None, turns: int, published: bool, megabytes: int) -> None:
    """Time reductions of arrays that no cache holds, on one thread: over NumPy, and over a bare loop in brackets."""
    if held is not None and (code := instruction_sets.run(held, ["benchmarks.memory", *sys.argv[1:]])) is not None:
        sys.exit(code)
    machine.hold(1)
    instruction_sets.hold()
    ex.set_num_threads(1)
    processor = machine.processor()
    rows: dict[str, list[str]] = {name: [processor, name] for name in CASES}
    for element in TYPES:
        for name, over, share in measure(element, megabytes << 20, _PART, turns):
            rows[name].append(f"{over:.2f} ({share:.2f})")
    click.echo(markdown_table(_HEAD, rows.values(), figures=True), nl=False)
    if published:
        publish_rows("memory", _HEAD, list(rows.values()))


if __name__ == "__main__":
    memory(prog_name="python -m benchmarks.memory")
