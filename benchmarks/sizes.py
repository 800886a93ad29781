"""Cost over size: the same work on 1 MB, 2 MB and so on up to 1 GB, beside the time of reading as many bytes.

All sizes are slices of one buffer, so that the whole takes less than 2.5 GB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import extremum
from benchmarks.record import LIMIT, OURS, SizeRecord
from benchmarks.timing import interleave
from extremum import _native

__all__ = ["LINES", "measure"]


def _halves(buffer: NDArray[Any]) -> Callable[[], object]:
    half = buffer.size // 2
    return partial(extremum.maximum, buffer[:half], buffer[half:])


# What is done to a float32 buffer, by the name of its line in the chart.
LINES: dict[str, Callable[[NDArray[Any]], Callable[[], object]]] = {
    "argmax of everything": lambda buffer: partial(extremum.argmax, buffer),
    "argmax of rows": lambda buffer: partial(extremum.argmax, buffer.reshape(-1, 1024), axis=1),
    "argmax of columns": lambda buffer: partial(extremum.argmax, buffer.reshape(-1, 1024), axis=0),
    "maximum of two": _halves,
}


def measure(largest: int, budget: float) -> Iterator[SizeRecord]:
    """Time every line on every size, doubling from 1 MB."""
    block = np.random.default_rng(20).standard_normal(1 << 18, dtype=np.float32)
    buffer = np.resize(block, largest // 4)
    read = 1 << 20
    while read <= largest:
        part = buffer[: read // 4]
        for line, work in LINES.items():
            call = work(part)
            call()
            times = interleave({OURS: call, LIMIT: partial(_native.read_bandwidth, part)}, budget, keep=(OURS, LIMIT))
            yield SizeRecord(line, read, times[OURS], times[LIMIT])
        read *= 2
