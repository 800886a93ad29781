"""A model of more threads than this machine has: how many of them a call gains from.

    python -m benchmarks.saturation --bandwidth 100 --bandwidth 300

    time(n) = max(bytes / (n * one), bytes / all) + (n - 1) * handover

``one`` is what one thread moves in a second, measured on data that does not stay in its own cache; ``all`` is what the
memory of a machine gives to all threads together, which you name; ``handover`` is what it takes to share a call with
one more thread, measured with two. What the model says of two threads stands beside what was measured.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import click
import numpy as np

import extremum as ex
from benchmarks.scaling import KINDS, with_threads
from benchmarks.timing import interleave
from extremum import _native
from extremum.printable import markdown_table

__all__ = ["Kind", "measure", "saturation", "table"]

MIB = 1 << 20
# Threads that the model is asked about.
MOST = 64
# A size that no core's own cache holds, one at which two threads add little but sharing, and the one that is predicted.
_LARGE, _SMALL, _SHOWN = 64 * MIB, MIB // 2, 16 * MIB
_MODELLED = ("argmax of everything", "argmax of columns", "argmax of rows of 64", "maximum", "hardmax of rows of 1000")


class Kind(NamedTuple):
    """A kind of call: bytes a second that one thread moves, seconds to share it, and how two threads came out."""

    name: str
    one: float
    handover: float
    measured: float

    def speedup(self, threads: int, moved: float, bandwidth: float) -> float:
        """Return how many times as fast a call is as with one thread, by the model."""
        shared = moved / min(threads * self.one, max(bandwidth, self.one))
        return (moved / self.one) / (shared + (threads - 1) * self.handover)

    def best(self, moved: float, bandwidth: float) -> int:
        """Return the number of threads with which a call is fastest, by the model."""
        return max(range(1, MOST + 1), key=lambda threads: self.speedup(threads, moved, bandwidth))


def measure(budget: float) -> list[Kind]:
    """Measure what the model needs of each kind of call."""
    kinds = []
    grain = _native.set_bytes_per_thread(_SMALL // 4)
    try:
        for name in _MODELLED:
            one, _ = _times(name, _LARGE, budget)
            alone, together = _times(name, _SMALL, budget)
            first, second = _times(name, _SHOWN, budget)
            kinds.append(Kind(name, _LARGE / one, max(0.0, together - alone / 2), first / second))
    finally:
        _native.set_bytes_per_thread(grain)
    return kinds


def _times(name: str, size: int, budget: float) -> tuple[float, float]:
    x = np.random.default_rng(16).standard_normal(size // 4).astype(np.float32)
    call = KINDS[name](x)
    calls: dict[str, Any] = {str(number): partial(with_threads, number, call) for number in (1, 2)}
    best = interleave(calls, budget, keep=calls)
    return best["1"], best["2"]


def table(kinds: list[Kind], bandwidths: list[float]) -> str:
    """Return the model as Markdown; bandwidths in GB/s."""
    rows = []
    for kind in kinds:
        row = [kind.name, f"{kind.one / 1e9:.0f} GB/s", f"{kind.handover * 1e6:.0f} us"]
        row += [f"{kind.measured:.2f} ({kind.speedup(2, _SHOWN, 2 * kind.one):.2f})"]
        for bandwidth in bandwidths:
            threads = kind.best(_SHOWN, bandwidth * 1e9)
            row.append(f"{threads} threads, {kind.speedup(threads, _SHOWN, bandwidth * 1e9):.1f}")
        rows.append(row)
    head = ["kind of call", "one thread", "to share it", "2 threads: measured (model)"]
    return markdown_table([*head, *(f"{bandwidth:g} GB/s" for bandwidth in bandwidths)], rows, figures=True)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--bandwidth",
    "bandwidths",
    type=click.FloatRange(min=0, min_open=True),
    multiple=True,
    default=(100, 200, 400),
    show_default=True,
    help="GB/s that the memory of a machine gives to all threads; may be repeated.",
)
@click.option("--seconds", "budget", type=click.FloatRange(min=0, min_open=True), default=1.0, show_default=True)
def saturation(bandwidths: tuple[float, ...], budget: float) -> None:
    """Measure what one thread does and what sharing takes, and say by a model how many threads are worth while.

    In each column of a bandwidth: with how many threads a call on 16 MB is fastest, and how many times as fast as with
    one. It is a model: only two threads are measured.
    """
    before = ex.get_num_threads()
    try:
        click.echo(table(measure(budget), list(bandwidths)))
    finally:
        ex.set_num_threads(before)


if __name__ == "__main__":
    saturation(prog_name="python -m benchmarks.saturation")
