"""Pieces of an array: how long they are, and in which order they come.

An array is cut along the axes that are not reduced first, in the order of the file.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence

from extremum.errors import ArgumentError, MemoryLimitError

Place = tuple[slice, ...]

ENOUGH = 64 << 20
"""Bytes of a piece beyond which larger ones are no faster."""

RUN = 64 << 10
"""Bytes in a row beyond which a file is read no faster."""

_LEAST = 1_000_000
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse_size(text: str) -> int:
    """Return the bytes that a text like ``512MB`` or ``2GiB`` means."""
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?)(I)?B?", text.strip().upper())
    if match is None:
        raise ArgumentError(f"{text!r} is not a memory size", remedy="write for example 512MB or 2GiB")
    size = int(float(match[1]) * (1024 if match[3] else 1000) ** _UNITS[match[2]])
    if size < _LEAST:
        raise MemoryLimitError(f"{text} is too little memory", remedy="give 1MB or more")
    return size


def lengths(
    shape: Sequence[int],
    granule: Sequence[int],
    order: Sequence[int],
    cost: Callable[[Sequence[int]], int],
    limit: int,
    *,
    reduced: Collection[int] = (),
    run: int = 1,
) -> tuple[int, ...]:
    """Return the lengths of a piece that costs at most `limit`, and not much more than `ENOUGH`.

    A piece holds whole granules, the pieces of the file itself. The axes are cut in `order`, from the one with the
    longest stride in the file: first the axes that stay, as long as `run` elements lie in a row, because parts along a
    `reduced` axis have to be merged; then the reduced ones; then the others as far as needed.
    """
    smallest = [min(piece, length) for piece, length in zip(granule, shape, strict=True)]
    if (least := cost(smallest)) > limit:
        piece = " x ".join(map(str, smallest))
        given = f"a limit of {limit:,} bytes; {piece} elements and their results take {least:,}"
        remedy = "raise --memory, or write the file in smaller chunks"
        raise MemoryLimitError("one piece of the file does not fit the memory limit", given=given, remedy=remedy)
    budget = min(limit, max(ENOUGH, least))
    sizes = list(shape)
    outer = [axis for axis in order if axis not in reduced]
    cuts = [(axis, run) for axis in outer]
    cuts += [(axis, 1) for axis in (*(each for each in order if each in reduced), *outer)]
    for axis, together in cuts:
        if cost(sizes) <= budget:
            break
        at = order.index(axis)
        # Where all axes before have length 1, any cut leaves the elements in a row.
        apart = any(sizes[each] > 1 for each in order[:at])
        rest = math.prod(shape[each] for each in order[at + 1 :])
        least_here = -(-together // max(rest, 1)) if apart else 1
        fitting, too_many = -(-least_here // max(smallest[axis], 1)), -(-sizes[axis] // max(smallest[axis], 1))
        while fitting + 1 < too_many:
            middle = (fitting + too_many) // 2
            sizes[axis] = middle * smallest[axis]
            fitting, too_many = (middle, too_many) if cost(sizes) <= budget else (fitting, middle)
        sizes[axis] = min(shape[axis], fitting * smallest[axis])
    return tuple(sizes)


def places(shape: Sequence[int], sizes: Sequence[int]) -> Iterator[Place]:
    """Yield the places of pieces of these lengths, in row-major order."""
    starts = (range(0, length, size or 1) if length else (0,) for length, size in zip(shape, sizes, strict=True))
    for start in itertools.product(*starts):
        yield tuple(slice(at, min(at + size, length)) for at, size, length in zip(start, sizes, shape, strict=True))
