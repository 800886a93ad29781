"""What is made of large arrays, a piece at a time.

Decides how much is read at once: half of the memory that is allowed is for what is read and made, the rest for what
libraries and the interpreter take. Each job says how its result is shaped before anything is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum.elementwise import broadcast_shape
from extremum.interop import Adopted
from extremum.large.grid import RUN, Place, lengths, places
from extremum.large.labels import Labels
from extremum.large.source import Source, read_ahead
from extremum.one_hot import ones
from extremum.partials import Part, Pieces
from extremum.reductions import Reduction

__all__ = ["Elementwise", "Hardmax", "Job", "Reduced", "Step", "planned"]


@dataclass(frozen=True, slots=True)
class Step:
    """What was done: so many bytes read, and perhaps a piece of each result, or of some of them."""

    read: int
    place: Place | None = None
    blocks: tuple[NDArray[Any] | None, ...] = ()


class Job(Protocol):
    """Something to be made of sources."""

    sources: Sequence[Source]
    # Of each result; there may be several.
    shape: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]

    @property
    def labels(self) -> Labels:
        """What names the places of each result."""

    def steps(self, memory: int) -> Iterator[Step]:
        """Yield what is done, one after the other, in so much memory."""

    def lazy(self) -> tuple[Any, ...]:
        """Return the results as arrays of Dask's."""


class Reduced:
    """argmax, argmin, max, min and minmax."""

    def __init__(self, source: Source, pieces: Pieces) -> None:
        self.sources: Sequence[Source] = (source,)
        self.pieces = pieces
        self.dtypes = pieces.types
        self.shape = tuple(
            1 if axis in pieces.axes else length
            for axis, length in enumerate(source.shape)
            if pieces.call.keepdims or axis not in pieces.axes
        )

    @property
    def labels(self) -> Labels:
        """The dimensions that stay, with their coordinates."""
        call, rank = self.pieces.call, range(len(self.pieces.shape))
        axes = [axis for axis in rank if call.keepdims or axis not in self.pieces.axes]
        return Labels.of(self.sources[0], axes, self.shape, call.function)

    def steps(self, memory: int) -> Iterator[Step]:
        """Read each place of the axes that stay once for each piece of those that are reduced."""
        axes, keepdims = self.pieces.axes, self.pieces.call.keepdims
        for kept, read, part, whole in self._parts(memory, 0):
            blocks: tuple[Any, ...]
            shown = [axis for axis in range(len(kept)) if keepdims or axis not in axes]
            place = tuple(slice(0, 1) if axis in axes else kept[axis] for axis in shown)
            origin = tuple(each.start for each in place)
            if whole is not None:
                blocks = self.pieces.whole(whole, origin)
            elif part is not None:
                blocks = self.pieces.settled([part], origin)
            else:
                yield Step(read)
                continue
            yield Step(read, place, tuple(map(np.asarray, blocks)))

    def _parts(self, memory: int, extra: int) -> Iterator[tuple[Place, int, Part | None, Adopted | None]]:
        """Yield a place of the axes that stay, the bytes read, and the part of it once it is complete.

        Where one piece has all of a place it is yielded instead, unless more is to be made of the part.
        """
        source, axes = self.sources[0], self.pieces.axes
        rank = range(len(source.shape))

        def cost(sizes: Sequence[int]) -> int:
            state = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
            # One piece is read while another is looked at.
            return math.prod(sizes) * (2 * source.dtype.itemsize + extra) + 4 * state * (source.dtype.itemsize + 8)

        run = -(-RUN // source.dtype.itemsize) if math.prod(source.granule) == 1 else 1
        sizes = lengths(source.shape, source.granule, source.order, cost, memory // 2, reduced=axes, run=run)
        within = [source.shape[axis] if axis in axes else 1 for axis in rank]
        steps = list(places(within, [min(size, length) for size, length in zip(sizes, within, strict=True)]))
        kept_places = list(places([1 if axis in axes else n for axis, n in enumerate(source.shape)], sizes))
        wanted = [
            tuple(step[axis] if axis in axes else kept[axis] for axis in rank) for kept in kept_places for step in steps
        ]
        blocks = read_ahead(self.sources, ([place] for place in wanted))
        pieces = self.pieces.cut(
            [[min(size, n - at) for at in range(0, n, size or 1)] for n, size in zip(source.shape, sizes, strict=True)]
        )
        part: Part | None = None
        for number, (place, (block,)) in enumerate(zip(wanted, blocks, strict=True)):
            kept, step = kept_places[number // len(steps)], number % len(steps)
            if not steps[1:] and not extra:
                yield kept, block.nbytes, None, Adopted(block)
                continue
            found = pieces.part(Adopted(block), tuple(each.start for each in place))
            part = found if step == 0 or part is None else pieces.merged([part, found])
            yield kept, block.nbytes, part if step == len(steps) - 1 else None, None

    def lazy(self) -> tuple[Any, ...]:
        """Return the results."""
        from extremum.dask.graphs import reduced

        return reduced(self.pieces, self.sources[0].chunked(), None, None)


class Hardmax(Reduced):
    """hardmax: the indices of each place, and then the ones, for which nothing is read again."""

    def __init__(self, source: Source, pieces: Pieces) -> None:
        super().__init__(source, pieces)
        self.shape = source.shape
        self.dtypes = (np.dtype(np.int64) if pieces.dtype.kind in "mM" else pieces.dtype.newbyteorder("="),)

    def steps(self, memory: int) -> Iterator[Step]:
        """Find the indices of a place, and write its ones and zeros a piece at a time."""
        source, axes = self.sources[0], self.pieces.axes
        for kept, read, part, _ in self._parts(memory, self.dtypes[0].itemsize):
            yield Step(read)
            if part is None:
                continue
            indices = np.asarray(part[0][1])
            whole = [n if axis in axes else kept[axis].stop - kept[axis].start for axis, n in enumerate(source.shape)]
            sizes = lengths(whole, (1,) * len(whole), range(len(whole)), lambda s: 12 * math.prod(s), memory // 2)
            for place in places(whole, sizes):
                block = ones(
                    indices[tuple(slice(None) if axis in axes else each for axis, each in enumerate(place))],
                    axes,
                    source.shape,
                    tuple(each.start if axis in axes else 0 for axis, each in enumerate(place)),
                    tuple(each.stop - each.start for each in place),
                    *self.dtypes,
                )
                base = [0 if axis in axes else kept[axis].start for axis in range(len(whole))]
                yield Step(0, tuple(slice(b + p.start, b + p.stop) for b, p in zip(base, place, strict=True)), (block,))

    def lazy(self) -> tuple[Any, ...]:
        """Return the ones and zeros."""
        import extremum.dask

        chunked, nan_policy = self.sources[0].chunked(), self.pieces.call.nan_policy
        return (extremum.dask.hardmax(chunked, self.pieces.axes, nan_policy=nan_policy),)


class Elementwise:
    """maximum and minimum."""

    def __init__(self, function: str, sources: Sequence[Source], nan_policy: Any) -> None:
        self.sources, self._nan_policy = sources, nan_policy
        self._function = getattr(ex, function)
        probes = [np.ones((1,) * len(each.shape), each.dtype) for each in sources]
        self.dtypes: tuple[np.dtype[Any], ...] = (self._function(*probes).dtype,)
        self.shape = broadcast_shape(function, [each.shape for each in sources])

    @property
    def labels(self) -> Labels:
        """Those of the first operand that has the shape of the result."""
        rank = len(self.shape)
        named = next((each for each in self.sources if each.shape == self.shape), self.sources[0])
        axes = [*[None] * (rank - len(named.shape)), *range(len(named.shape))]
        return Labels.of(named, axes, self.shape, self._function.__name__)

    def steps(self, memory: int) -> Iterator[Step]:
        """Read the same place of every operand."""
        rank = len(self.shape)
        whole = [each for each in self.sources if each.shape == self.shape]
        # Cut as that operand is which lies in the largest pieces.
        coarsest = max(whole, key=lambda each: math.prod(each.granule), default=None)
        granule = (1,) * rank if coarsest is None else coarsest.granule
        order = tuple(range(rank)) if coarsest is None else coarsest.order
        each_takes = 2 * sum(each.dtype.itemsize for each in self.sources) + 2 * self.dtypes[0].itemsize
        sizes = lengths(self.shape, granule, order, lambda s: math.prod(s) * each_takes, memory // 2)
        wanted = list(places(self.shape, sizes))
        every = ([_of(each.shape, place) for each in self.sources] for place in wanted)
        for place, blocks in zip(wanted, read_ahead(self.sources, every), strict=True):
            block = np.asarray(self._function(*blocks, nan_policy=self._nan_policy))
            yield Step(sum(each.nbytes for each in blocks), place, (block,))

    def lazy(self) -> tuple[Any, ...]:
        """Return the extrema."""
        return (self._function(*(each.chunked() for each in self.sources), nan_policy=self._nan_policy),)


def _of(shape: tuple[int, ...], place: Place) -> Place:
    """Return the place of an operand that is broadcast to the place of a result."""
    own = place[len(place) - len(shape) :]
    return tuple(slice(0, 1) if length == 1 else each for length, each in zip(shape, own, strict=True))


_ENDS = {"argmin": (False,), "min": (False,), "minmax": (False, True)}


def planned(function: str, source: Source, axis: Any, **options: Any) -> Reduced:
    """Return the job of a function that reduces, or of hardmax; what cannot be meant is refused."""
    is_hardmax, values = function == "hardmax", function in ("max", "min", "minmax")
    largest = _ENDS.get(function, (True,))
    call = Reduction(
        function,
        largest,
        axis,
        options.get("keepdims", False) or is_hardmax,
        options.get("last", False),
        options.get("nan_policy", "propagate"),
    )
    default = -1 if is_hardmax else options.get("default")
    pieces = Pieces.planned(
        call,
        source.shape,
        source.dtype,
        values=values,
        index=np.dtype(options.get("dtype", np.int64)) if not values or options.get("index") else None,
        defaults=None if default is None else (default,) * len(largest),
    )
    return Hardmax(source, pieces) if is_hardmax else Reduced(source, pieces)
