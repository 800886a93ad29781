"""The clock: several calls measured in turns, so that a machine that slows down slows all of them, and minima taken.

Decides how often a call is repeated: small ones in groups that the clock can resolve, large ones once. What is called
and whether it is right is settled before.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from time import perf_counter

__all__ = ["interleave"]

# One reading of the clock costs some 50 ns; a group this long makes that less than 1 %.
_GROUP = 20e-6
_ROUNDS = 5
# Every call is first read this many seconds long, one run at a time.
_FIRST, _SLOW = 0.01, 1.0
# Whoever needs this many times the fastest call cannot become the fastest, and its first reading is enough.
_HOPELESS = 4


def interleave(
    calls: Mapping[str, Callable[[], object]], budget: float, keep: Collection[str] = ()
) -> dict[str, float]:
    """Return the least time of one run of every call."""
    with _no_collection():
        best = {name: _turn(call, _SLOW, _FIRST) for name, call in calls.items()}
        fastest = min([best[name] for name in calls if name not in keep] or best.values())
        alive = [name for name in calls if name in keep or best[name] <= _HOPELESS * fastest]
        turn = budget / (_ROUNDS * len(alive))
        end = perf_counter() + budget
        while perf_counter() < end:
            for name in random.sample(alive, len(alive)):
                best[name] = min(best[name], _turn(calls[name], best[name], turn))
        return best


def _turn(call: Callable[[], object], estimate: float, length: float) -> float:
    size = max(1, round(_GROUP / max(estimate, 1e-9)))
    end = perf_counter() + length
    best = _group(call, size)
    while perf_counter() < end:
        best = min(best, _group(call, size))
    return best


def _group(call: Callable[[], object], size: int) -> float:
    start = perf_counter()
    for _ in repeat(None, size):
        call()
    return (perf_counter() - start) / size


@contextmanager
def _no_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
