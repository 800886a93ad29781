"""Which kernel runs on how many programs, decided by sizes and strides alone: this file needs no GPU and no PyTorch.

A kernel sees an array as slices. The slices that stay are at most two dimensions, `outer` and `inner`; the elements of
a slice are one. Whatever has more dimensions than that, once neighbours are merged, is copied first.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

Dimension = tuple[int, ...]
"""The size of a dimension, then its stride in each of the arrays that are read together."""

# Elements of a slice that one program reads at most, so that 32 bits count them.
LONGEST = 1 << 30
# Elements of one tile by the bytes of an element: a thread of 128 then holds at most 32.
TILE = {1: 4096, 2: 4096, 4: 2048, 8: 1024}
# Programs for each processor of the card below which slices are cut into parts.
PROGRAMS = 4
MOST_PARTS = 1024
# Rounds of a tile that a part has at least.
FEWEST_ROUNDS = 2
# Threads of a program; each reads 16 bytes at once.
THREADS = 128

# The k best: elements of a row that one program sorts, and lanes of a longer row. Triton's sorts are unrolled: of twice
# as many elements they take more than twice as long to compile.
SHORT = 2048
LANES = 1024
# Elements of the best lanes that one program sorts, and candidates of all parts of a row.
CANDIDATES = 2048
MERGED = 2048
# Elements of a lane in a part of a row that another part is worth.
FEWEST_STEPS = 8
# The largest k that is selected; for a larger one the keys are sorted.
MOST_SELECTED = 256


class Slices(NamedTuple):
    """The dimensions of a kernel: their sizes, and their strides in each array; `inner` has the smaller stride."""

    outer: Dimension
    inner: Dimension
    along: Dimension
    # Strides of the result.
    slots: tuple[int, int]

    @property
    def total(self) -> int:
        """The number of slices."""
        return self.outer[0] * self.inner[0]

    @property
    def by_rows(self) -> bool:
        """Whether neighbours in memory belong to one slice."""
        return self.inner[0] == 1 or self.along[1] <= self.inner[1]


class Plan(NamedTuple):
    """How a reduction runs: the tile of a program, the number of programs and of parts."""

    by_rows: bool
    # Slices and elements of a slice in one tile.
    kept: int
    tile: int
    blocks: int
    parts: int
    # Elements of a part.
    length: int


def power(number: int) -> int:
    """Return the smallest power of 2 that is not below a number."""
    return 1 << max(number - 1, 0).bit_length()


def merged(dimensions: Sequence[Dimension]) -> list[Dimension]:
    """Return the dimensions without those of size 1, neighbours as one where every array allows it."""
    groups: list[Dimension] = []
    for size, *strides in dimensions:
        if size == 1:
            continue
        if groups and all(whole == size * own for whole, own in zip(groups[-1][1:], strides, strict=True)):
            groups[-1] = (groups[-1][0] * size, *strides)
        else:
            groups.append((size, *strides))
    return groups


@functools.lru_cache(maxsize=4096)
def slices(kept: tuple[Dimension, ...], reduced: tuple[Dimension, ...]) -> Slices | None:
    """Return the dimensions of a kernel; None if they are too many, and the array has to be copied."""
    stay = merged(kept)
    along = merged(reduced)
    if len(stay) > 2 or len(along) > 1:
        return None
    arrays = len((kept or reduced or [(1, 0)])[0]) - 1
    single = (1, *(0,) * arrays)
    (elements,) = along or [single]
    if not stay:
        return Slices(single, single, elements, (1, 1))
    if len(stay) == 1:
        # Neighbours in memory decide whether the threads lie along a slice or across the slices.
        (only,) = stay
        if elements[1] <= only[1]:
            return Slices(only, single, elements, (1, 1))
        return Slices(single, only, elements, (1, 1))
    first, second = stay
    if first[1] < second[1]:
        return Slices(second, first, elements, (1, second[0]))
    return Slices(first, second, elements, (second[0], 1))


def reduction(where: Slices, size: int, processors: int) -> Plan:
    """Return how a reduction of elements of `size` bytes runs on a card with so many processors."""
    length = where.along[0]
    if where.by_rows:
        tile = min(power(length), TILE[size])
        kept = max(1, min(power(where.total), TILE[size] // 2 // tile))
        blocks = -(-where.total // kept)
    else:
        kept = min(power(where.inner[0]), THREADS * 16 // size)
        tile = min(power(length), max(1, TILE[size] // kept))
        blocks = where.outer[0] * -(-where.inner[0] // kept)
    parts = 1
    if blocks < PROGRAMS * processors and length >= 2 * FEWEST_ROUNDS * tile:
        parts = min(-(-PROGRAMS * processors // blocks), length // (FEWEST_ROUNDS * tile), MOST_PARTS)
    parts = max(parts, -(-length // LONGEST))
    # Whole tiles, so that a part after the first begins where wide loads do.
    own = -(-length // parts)
    own = -(-own // tile) * tile
    return Plan(where.by_rows, kept, tile, blocks, -(-length // own), own)


class Selection(NamedTuple):
    """How the k best of rows are found: in one program for each row, or in lanes of the parts of a row."""

    # The least power of 2 that is not below k.
    power: int
    # Rows of one program; 0 if rows have parts.
    kept: int
    parts: int = 1
    # Elements of a part, and of one lane of it; lanes of one program.
    length: int = 0
    steps: int = 0
    tile: int = 0


def selection(rows: int, n: int, k: int, size: int, processors: int) -> Selection | None:
    """Return how the k best of rows of n elements are found; None if their keys are to be sorted whole."""
    best = power(k)
    if size == 8 or k > MOST_SELECTED:
        # A key of 64 bits leaves no room for the place.
        return None
    if n <= SHORT:
        return Selection(best, max(1, min(power(rows), SHORT // 2 // power(n))))
    longest = LANES * max(CANDIDATES // best, 1)
    tile = min(LANES, THREADS * 16 // size)
    programs = rows * (LANES // tile)
    wanted = -(-PROGRAMS * processors // programs)
    parts = max(-(-n // longest), min(wanted, n // (LANES * FEWEST_STEPS), MERGED // k), 1)
    length = -(-n // parts)
    length = -(-length // LANES) * LANES
    parts = -(-n // length)
    if parts * k > MERGED or n >= 1 << 31:
        return None
    return Selection(best, 0, parts, length, power(length // LANES), tile)
