"""How long the pieces are that a file is read in: they hold whole chunks of the file, and fit a memory limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar, overload

from extremum.errors import MemoryLimitError
from extremum.large.parameters import ParameterError
from extremum.partials import Place

Ints = Sequence[int]

ENOUGH = 64 << 20
"""Size of a piece in bytes; larger pieces take as long."""

RUN = 64 << 10
"""Length of a run of bytes; longer runs are read no faster."""


def lengths(
    shape: Ints,
    granule: Ints,
    order: Ints,
    cost: Callable[[Ints], int],
    limit: int,
    reduced: Ints = (),
    run: int = 1,
) -> tuple[int, ...]:
    """Return the lengths of a piece that costs at most `limit`, and not much more than `ENOUGH`.

    A piece holds whole granules, the pieces of the file itself. The axes are cut in `order`, from the longest
    stride in the file to the shortest. First come the axes that stay, while `run` elements lie in a row, because parts
    along a `reduced` axis have to be merged; then the reduced axes; then again the axes that stay, as far as needed.
    """
    smallest = [min(piece, length) for piece, length in zip(granule, shape, strict=True)]
    least = cost(smallest)
    if least > limit:
        piece = " x ".join(map(str, smallest))
        raise ParameterError(
            "one piece of the file does not fit the memory limit",
            parameter="memory",
            given=f"a limit of {limit:,} bytes; {piece} elements and their results take {least:,}",
            kind=MemoryLimitError,
        )
    budget = min(limit, max(ENOUGH, least))
    sizes = list(shape)
    outer = [axis for axis in order if axis not in reduced]
    inner = [axis for axis in order if axis in reduced]
    cuts = [*((axis, run) for axis in outer), *((axis, 1) for axis in inner), *((axis, 1) for axis in outer)]
    for axis, together in cuts:
        if cost(sizes) <= budget:
            break
        at = order.index(axis)
        # If all earlier axes have length 1, any cut leaves the elements in a row.
        apart = any(sizes[each] > 1 for each in order[:at])
        rest = math.prod(shape[each] for each in order[at + 1 :])
        least_here = -(-together // max(rest, 1)) if apart else 1
        # Search the largest number of granules that costs no more than the budget.
        fitting = -(-least_here // max(smallest[axis], 1))
        too_many = -(-sizes[axis] // max(smallest[axis], 1))
        while fitting + 1 < too_many:
            middle = (fitting + too_many) // 2
            sizes[axis] = middle * smallest[axis]
            if cost(sizes) <= budget:
                fitting = middle
            else:
                too_many = middle
        sizes[axis] = min(shape[axis], fitting * smallest[axis])
    return tuple(sizes)


Entry = TypeVar("Entry")


class Made(Sequence[Entry]):
    """Entries that a function makes of a place, each when it is asked for: a file may declare any number of pieces.

    The places are those of pieces of the lengths `sizes` in an array, in row-major order.
    """

    def __init__(self, shape: Ints, sizes: Ints, make: Callable[[Place], Entry]) -> None:
        self._make = make
        self._shape = shape
        self._sizes = [max(size, 1) for size in sizes]
        # An axis of length 0 has one piece without elements.
        self._counts = [max(-(-n // size), 1) for n, size in zip(shape, self._sizes, strict=True)]
        self._total = math.prod(self._counts)

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        """Return one entry."""
        assert isinstance(index, int)
        if not -self._total <= index < self._total:
            raise IndexError(index)
        rest = index % self._total
        place = []
        for length, size, count in zip(
            reversed(self._shape), reversed(self._sizes), reversed(self._counts), strict=True
        ):
            rest, at = divmod(rest, count)
            place.append(slice(at * size, min(at * size + size, length)))
        return self._make(tuple(reversed(place)))
