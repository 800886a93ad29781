"""The jobs of reductions and elementwise extrema: which pieces they read, and what they make of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum.elementwise import broadcast_shape
from extremum.interop import Operand
from extremum.large.formats import Labels, Source
from extremum.large.lengths import RUN, Ints, lengths
from extremum.partials import Pieces, Place, places
from extremum.reductions import ones


@dataclass(frozen=True, slots=True)
class Piece:
    """A place of the results, and the reads that complete it: each read has a place of every source."""

    place: Place
    reads: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The number of bytes read and, when a place is complete, the piece of each result there."""

    read: int
    place: Place | None = None
    blocks: tuple[NDArray[Any], ...] = ()


class Job:
    """Computes one result, or several of one shape, from sources, in whole pieces that fit a memory limit."""

    sources: Sequence[Source]
    shape: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]
    labels: Labels
    pieces: Sequence[Piece]

    def blocks(self, read: tuple[Place, ...]) -> list[NDArray[Any]]:
        """Read a piece of each source."""
        return [source.read(place) for source, place in zip(self.sources, read, strict=True)]

    def read(self, read: tuple[Place, ...]) -> Any:
        """Read a piece and return its part."""
        return self.part(read, self.blocks(read))

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part that one read of a piece makes."""
        raise NotImplementedError

    def merge(self, parts: Sequence[Any]) -> Any:
        """Return the part that several parts of a piece make together."""
        raise NotImplementedError

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        yield piece.place, (part,)

    def __getstate__(self) -> dict[str, Any]:
        """Return only the attributes that compute parts: the rest stays in this process."""
        return {name: value for name, value in vars(self).items() if name not in ("labels", "pieces")}


class Reduced(Job):
    """The job of argmax, argmin, max, min, minmax and top_k."""

    # Additional bytes for each element of the source while a piece is computed.
    extra = 0

    def __init__(self, source: Source, call: Pieces, memory: int) -> None:
        rank, axes = range(len(source.shape)), call.axes
        self.sources, self.dtypes = (source,), call.types
        self.shape = call.along(source.shape, call.length)
        # The labels of a reduced axis do not fit several elements: each slice has its own order.
        fit = call.along(source.shape, call.length if call.length < 2 else None)
        self.labels = Labels.of(source, call.result_axes, fit, call.call.function)

        def cost(sizes: Ints) -> int:
            state = math.prod(size for axis, size in enumerate(sizes) if axis not in axes) * call.length
            # One piece is read while another is reduced; to sort candidates takes more memory.
            parts = (4 if call.length < 2 else 8) * state * (source.dtype.itemsize + 8)
            return math.prod(sizes) * (2 * source.dtype.itemsize + self.extra) + parts

        run = -(-RUN // source.dtype.itemsize) if math.prod(source.granule) == 1 else 1
        # A piece has no fewer elements than its part, so that parts take no more work than elements.
        granule, least = list(source.granule), call.length
        for axis in reversed([axis for axis in source.order if axis in axes]):
            granule[axis] *= -(-least // granule[axis]) or 1
            least = -(-least // max(source.shape[axis], 1))
        sizes = lengths(source.shape, granule, source.order, cost, memory // 2, reduced=axes, run=run)
        self._call = call.cut([-(-n // max(size, 1)) for n, size in zip(source.shape, sizes, strict=True)])
        outer = [1 if axis in axes else source.shape[axis] for axis in rank]
        inner = [source.shape[axis] if axis in axes else 1 for axis in rank]
        steps = list(places(inner, list(map(min, sizes, inner))))

        def read(place: Place, step: Place) -> tuple[Place]:
            return (tuple(step[axis] if axis in axes else place[axis] for axis in rank),)

        self.pieces = [Piece(place, tuple(read(place, step) for step in steps)) for place in places(outer, sizes)]

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part that one read of a piece makes."""
        (place,), (block,) = read, blocks
        return self._call.part(Operand(block), tuple(each.start for each in place))

    def merge(self, parts: Sequence[Any]) -> Any:
        """Return the part that several parts of a piece make together."""
        return self._call.merge(parts)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        results = self._call.finish([part], self._call.along([each.start for each in piece.place], 0))
        yield self._call.along(piece.place, slice(0, self._call.length)), tuple(map(np.asarray, results))


class Hardmax(Reduced):
    """The job of hardmax: first the indices of each place, then the ones, without reading anything again."""

    def __init__(self, source: Source, call: Pieces, memory: int) -> None:
        dtype = np.dtype(np.int64) if call.dtype.kind in "mM" else call.dtype.newbyteorder("=")
        self.extra, self._memory = dtype.itemsize, memory
        super().__init__(source, call, memory)
        self.shape, self.dtypes = source.shape, (dtype,)
        self.labels = Labels.of(source, call.result_axes, self.shape, call.call.function)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        indices, axes = np.asarray(part[0][1]), self._call.axes
        base = [0 if axis in axes else each.start for axis, each in enumerate(piece.place)]
        whole = [self.shape[axis] if axis in axes else each.stop - each.start for axis, each in enumerate(piece.place)]
        sizes = lengths(whole, (1,) * len(whole), range(len(whole)), lambda s: 12 * math.prod(s), self._memory // 2)
        for place in places(whole, sizes):
            own = indices[tuple(slice(None) if axis in axes else each for axis, each in enumerate(place))]
            start = tuple(each.start if axis in axes else 0 for axis, each in enumerate(place))
            block = ones(own, axes, self.shape, start, tuple(each.stop - each.start for each in place), *self.dtypes)
            yield tuple(slice(b + each.start, b + each.stop) for b, each in zip(base, place, strict=True)), (block,)


ELEMENTWISE = ("maximum", "minimum")
"""The operations that compare files element by element."""


class Elementwise(Job):
    """The job of maximum and minimum."""

    def __init__(self, function: str, sources: Sequence[Source], nan_policy: Any, memory: int) -> None:
        self.sources = sources
        self._compare = partial(getattr(ex, function), nan_policy=nan_policy)
        self.dtypes = (self._compare(*(np.ones((1,) * len(each.shape), each.dtype) for each in sources)).dtype,)
        self.shape = broadcast_shape(function, [each.shape for each in sources])
        # The operand with the largest granules decides how all operands are cut.
        whole = [each for each in sources if each.shape == self.shape]
        coarsest = max(whole, key=lambda each: math.prod(each.granule), default=None)
        rank = len(self.shape)
        granule, order = (coarsest.granule, coarsest.order) if coarsest else ((1,) * rank, tuple(range(rank)))
        element = 2 * sum(each.dtype.itemsize for each in sources) + 2 * self.dtypes[0].itemsize
        sizes = lengths(self.shape, granule, order, lambda s: math.prod(s) * element, memory // 2)

        def of_operand(shape: tuple[int, ...], place: Place) -> Place:
            own = place[len(place) - len(shape) :]
            return tuple(slice(0, 1) if length == 1 else each for length, each in zip(shape, own, strict=True))

        self.pieces = [
            Piece(place, (tuple(of_operand(each.shape, place) for each in sources),))
            for place in places(self.shape, sizes)
        ]
        source = (whole or sources)[0]
        axes = [*[None] * (rank - len(source.shape)), *range(len(source.shape))]
        self.labels = Labels.of(source, axes, self.shape, function)

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part that one read of a piece makes."""
        return np.asarray(self._compare(*blocks))
