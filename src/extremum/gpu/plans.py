"""Which kernel runs on how many programs, decided by sizes and strides alone: this file needs no GPU and no PyTorch.

A kernel sees an array as slices. The slices that stay are at most two dimensions, `outer` and `inner`; the elements of
a slice are one. Whatever has more dimensions than that, once neighbours are merged, is copied first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

Dimension = tuple[int, ...]
"""The size of a dimension, then its stride in each of the arrays that are read together."""

# Elements of a slice that one program reads at most, so that 32 bits count them.
LONGEST = 1 << 30
# Bytes that a warp of 32 threads reads at once: 16 a thread.
WARP = 512
# Warps of a program that goes along one long row; others have one warp.
WARPS = 4
# Bytes of a row that are long.
LONG_ROW = 8192
# The least bytes of a row that one program reads at once, where rows begin at multiples of 16 bytes, and elsewhere.
ALIGNED = 16
UNALIGNED = 8
# Rounds whose elements a program reads before it compares them.
UNROLLED = 4
# Programs for each processor of the card below which slices are cut into parts: of long rows, and of columns.
PROGRAMS_OF_ROWS = 8
PROGRAMS_OF_COLUMNS = 16
MOST_PARTS = 1024
# Rounds of a slice that is cut, and of each part, at least: the best of the parts takes a second launch.
ROUNDS_OF_PARTS = 32
FEWEST_ROUNDS = 2
# Elements that a program writes at once, by the bytes of an element.
WRITTEN = {1: 2048, 2: 2048, 4: 1024, 8: 512}

# Rounds of a program on elements of 8 and 16 bits: at least 16 bits count them.
MOST_ROUNDS = (1 << 16) - 1

# Operands of one launch.
MOST_OPERANDS = 16

# The k best: candidates that one program sorts; Triton's sorts are unrolled, and of twice as many they take more than
# twice as long to compile.
MOST_SORTED = 2048
# So many are sorted where the groups are not too small then.
SORTED = 1024
# Elements that PyTorch sorts at once: its sort takes hardly longer than that of few.
SORTED_BY_PYTORCH = 1 << 18
# Elements that a warp sorts.
SORTED_BY_WARP = 128
# Neighbours of which the best is found first, at least: fewer would leave too many elements.
SMALLEST_GROUP = 8
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

    # Slices and elements of a slice in one tile.
    kept: int
    tile: int
    blocks: int
    parts: int
    # Elements of a part.
    length: int
    warps: int


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
    at_once = WARP // size
    warps = 1
    if not where.by_rows:
        kept = min(power(where.inner[0]), at_once)
        tile = min(power(length), at_once // kept)
        programs = PROGRAMS_OF_COLUMNS * processors
    elif length * size > LONG_ROW:
        kept = 1
        tile = WARPS * at_once
        warps = WARPS
        programs = PROGRAMS_OF_ROWS * processors
    else:
        tile = min(power(length), at_once)
        if where.total > processors * (at_once // tile):
            # Few threads go along a row, so that they exchange little.
            is_aligned = all(stride * size % ALIGNED == 0 for stride in (where.outer[1], where.inner[1]))
            least = ALIGNED if is_aligned else UNALIGNED
            tile = min(tile, max(power(length) // 8, least // size, 1))
        kept = at_once // tile
        programs = 1
    if where.by_rows:
        blocks = -(-where.total // kept)
    else:
        blocks = where.outer[0] * -(-where.inner[0] // kept)
    parts = 1
    if blocks < programs and length >= ROUNDS_OF_PARTS * tile:
        parts = min(-(-programs // blocks), length // (FEWEST_ROUNDS * tile), MOST_PARTS)
    longest = LONGEST if size > 2 else min(LONGEST, MOST_ROUNDS * tile)
    parts = max(parts, -(-length // longest))
    # Whole tiles, so that a part after the first begins where wide loads do.
    own = -(-length // parts)
    own = -(-own // tile) * tile
    return Plan(kept, tile, blocks, -(-length // own), own, warps)


def group(n: int, k: int) -> int:
    """Return of how many neighbours the best is found first, where the k best of n elements are wanted.

    It is 1 if all elements are sorted by one program, and 0 if one program cannot sort what would be left.
    """
    if n <= FEW:
        return 1
    for candidates in (SORTED, MOST_SORTED):
        # The last elements may be no whole group.
        largest = candidates // (k + 1)
        if largest >= 2 * SMALLEST_GROUP:
            break
    if largest < SMALLEST_GROUP:
        return 1 if n <= MOST_SORTED else 0
    largest = 1 << (largest.bit_length() - 1)
    # So few neighbours as groups leave the fewest candidates.
    size = min(power(math.isqrt(n // k)), largest)
    if n <= MOST_SORTED and size < 4:
        return 1
    return max(size, 2)


def sorted_group(total: int, n: int, k: int) -> int:
    """Return the same where PyTorch sorts what is left of `total` rows; 1 if it sorts all elements."""
    if total * n <= SORTED_BY_PYTORCH:
        return 1
    size = math.isqrt(n // k)
    size = 1 << max(size.bit_length() - 1, 0)
    return size if size >= SMALLEST_GROUP else 1


def sorting(total: int, tile: int) -> tuple[int, int]:
    """Return how many of `total` rows of candidates one program sorts, and by how many warps."""
    kept = max(1, min(power(total), SORTED_BY_WARP // tile))
    return kept, max(1, kept * tile // SORTED_BY_WARP)
