"""Which kernel runs on how many programs, decided by sizes and strides alone: this file needs no GPU and no PyTorch.

A kernel sees an array as slices. The slices that stay are at most two dimensions, `outer` and `inner`; the elements of
a slice are one. Whatever has more dimensions than that, once neighbours are merged, is copied first.
"""

from __future__ import annotations

import functools
import math
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

# Rounds of a program on elements of 8 and 16 bits: at least 16 bits count them.
MOST_ROUNDS = (1 << 16) - 1

# Operands of one launch.
MOST_OPERANDS = 16

# The k best: candidates that one program sorts, by the bytes of an element; Triton's sorts are unrolled: of twice as
# many they take more than twice as long to compile.
SHORT = 2048
SORTED = {1: 2048, 2: 1024, 4: 1024, 8: 1024}
# Elements of a row that are sorted at once, although the best of groups would leave fewer.
FEW = 512


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
    longest = LONGEST if size > 2 else min(LONGEST, MOST_ROUNDS * tile)
    parts = max(parts, -(-length // longest))
    # Whole tiles, so that a part after the first begins where wide loads do.
    own = -(-length // parts)
    own = -(-own // tile) * tile
    return Plan(where.by_rows, kept, tile, blocks, -(-length // own), own)


def group(n: int, k: int) -> int:
    """Return of how many neighbours the best is found first, where the k best of n elements are wanted.

    It is 1 if all elements are sorted by one program, and 0 if one program cannot sort what would be left.
    """
    if k >= SHORT // 2:
        return 0
    # The last elements may be no whole group.
    largest = SHORT // (k + 1)
    largest = 1 << (largest.bit_length() - 1)
    # So few neighbours as groups leave the fewest candidates.
    size = min(power(math.isqrt(n // k)), largest)
    if n <= FEW or (n <= SHORT and size < 4):
        return 1
    return max(size, 2)
