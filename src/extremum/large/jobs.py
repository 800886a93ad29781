"""The jobs of reductions and elementwise extrema: which pieces they read, and what they make of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum.elementwise import broadcast_shape
from extremum.errors import ArgumentError, ExtremumError
from extremum.interop import Operand
from extremum.large.alignment import labels_along, require_aligned
from extremum.large.formats import Labels, Output, Source
from extremum.large.formats.decoding import MaskedIntegers, attributes_of_indices
from extremum.large.lengths import RUN, Ints, Made, lengths
from extremum.partials import Pieces, Place, places
from extremum.reductions import default_value, ones

Blocks = tuple[NDArray[Any], ...]
"""One block of each result."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A place of the results, and the reads that complete it: each read has a place of every source."""

    place: Place
    reads: Sequence[tuple[Place, ...]]


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of bytes read and, when a place is complete, the piece of each result there."""

    read: int
    place: Place | None = None
    blocks: Blocks = ()


class Job:
    """Computes one result, or several of one shape, from sources, in whole pieces that fit a memory limit."""

    sources: Sequence[Source]
    shape: tuple[int, ...]
    outputs: tuple[Output, ...]
    labels: Labels
    pieces: Sequence[Piece]

    @property
    def dtypes(self) -> tuple[np.dtype[Any], ...]:
        """The element types of the results."""
        return tuple(each.dtype for each in self.outputs)

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

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, Blocks]]:
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
        self.sources = (source,)
        self.outputs = _outputs(source, call)
        self.shape = call.along(source.shape, call.length)
        # The labels of a reduced axis do not fit several elements: each slice has its own order.
        fit = call.along(source.shape, call.length if call.length < 2 else None)
        self.labels = Labels.of(source, call.result_axes, fit, call.call.function)
        sizes = self._sizes(source, call, memory)
        self._call = call.cut([-(-n // max(size, 1)) for n, size in zip(source.shape, sizes, strict=True)])
        # The places of the axes that stay, and for each of them the steps along the reduced axes.
        axes = call.axes
        outer = list(source.shape)
        inner = [1] * len(outer)
        for axis in axes:
            outer[axis] = 1
            inner[axis] = source.shape[axis]
        steps = list(map(min, sizes, inner))

        def read(place: Place, step: Place) -> tuple[Place, ...]:
            at = list(place)
            for axis in axes:
                at[axis] = step[axis]
            return (tuple(at),)

        def piece(place: Place) -> Piece:
            return Piece(place, Made(inner, steps, partial(read, place)))

        self.pieces = Made(outer, sizes, piece)

    def _sizes(self, source: Source, call: Pieces, memory: int) -> tuple[int, ...]:
        """Return the lengths of the pieces that are read."""
        axes = call.axes
        # One piece is read while another is reduced.
        element = source.reading + source.dtype.itemsize + self.extra
        # To sort candidates takes more memory than to compare one element.
        copies = 4 if call.length < 2 else 8
        entry = copies * (source.dtype.itemsize + 8)

        def cost(sizes: Ints) -> int:
            slices = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
            return math.prod(sizes) * element + slices * call.length * entry

        # A file in one piece is read in runs of bytes.
        run = -(-RUN // source.dtype.itemsize) if math.prod(source.granule) == 1 else 1
        # A piece has no fewer elements than its part, so that parts take no more work than elements.
        granule = list(source.granule)
        least = call.length
        for axis in reversed([axis for axis in source.order if axis in axes]):
            granule[axis] *= -(-least // granule[axis]) or 1
            least = -(-least // max(source.shape[axis], 1))
        return lengths(source.shape, granule, source.order, cost, memory // 2, reduced=axes, run=run)

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part that one read of a piece makes."""
        (place,) = read
        (block,) = blocks
        return self._call.part(Operand(block), tuple(each.start for each in place))

    def merge(self, parts: Sequence[Any]) -> Any:
        """Return the part that several parts of a piece make together."""
        return self._call.merge(parts)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, Blocks]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        (source,) = self.sources
        with of_values(source):
            results = self._call.finish([part], self._call.along([each.start for each in piece.place], 0))
        blocks = [np.asarray(each) for each in results]
        for at in range(_count_of_values(self._call)):
            blocks[at] = source.decoding.restore(blocks[at])
        yield self._call.along(piece.place, slice(0, self._call.length)), tuple(blocks)


def _count_of_values(call: Pieces) -> int:
    """Return how many of the results are values; the others are indices."""
    return len(call.call.largest) if call.values else 0


def _outputs(source: Source, call: Pieces) -> tuple[Output, ...]:
    decoding = source.decoding
    # Where missing elements do not take part, no extremum is missing.
    may_miss = call.call.nan_policy == "propagate"
    fill = decoding.fill if may_miss else None
    values = Output(decoding.value_dtype.newbyteorder("="), decoding.attrs, fill)
    count = _count_of_values(call)
    indices = attributes_of_indices(decoding.attrs)
    return (*(values,) * count, *(Output(dtype, indices) for dtype in call.types[count:]))


@contextmanager
def of_values(source: Source) -> Iterator[None]:
    """Make an error name the type of the values, where another one is compared."""
    try:
        yield
    except ExtremumError as error:
        if error.given is None or source.dtype == source.decoding.value_dtype:
            raise
        raise type(error)(
            error.reason,
            where=error.where,
            given=error.given.replace(str(source.dtype), str(source.decoding.value_dtype)),
            remedy=error.remedy,
        ) from None


class Hardmax(Reduced):
    """The job of hardmax: first the indices of each place, then the ones, without reading anything again."""

    def __init__(self, source: Source, call: Pieces, memory: int) -> None:
        values = source.decoding.value_dtype
        dtype = np.dtype(np.int64) if values.kind in "mM" else values.newbyteorder("=")
        self.extra = dtype.itemsize
        self._memory = memory
        super().__init__(source, call, memory)
        self.shape = source.shape
        attrs = attributes_of_indices(source.decoding.attrs)
        if source.decoding.attrs.get("dtype") == "bool":
            # xarray stores truth values as numbers, and the ones are truth values too.
            attrs["dtype"] = "bool"
        self.outputs = (Output(dtype, attrs),)
        self.labels = Labels.of(source, call.result_axes, self.shape, call.call.function)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, Blocks]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        if self._call.call.nan_policy == "raise":
            # The indices are found by another way below, but this refuses NaN.
            next(iter(super().results(piece, part)))
        indices = np.asarray(part[0][1])
        axes = self._call.axes
        (dtype,) = self.dtypes
        # The ones of a piece are whole along the reduced axes: more than its indices, so they are made in blocks.
        base = [each.start for each in piece.place]
        whole = [each.stop - each.start for each in piece.place]
        for axis in axes:
            base[axis] = 0
            whole[axis] = self.shape[axis]
        sizes = lengths(
            whole, (1,) * len(whole), range(len(whole)), lambda s: 12 * math.prod(s), self._memory // 2
        )
        for place in places(whole, sizes):
            # The indices are those of whole slices, and the block is a part of each slice.
            of_slices = list(place)
            start = [0] * len(place)
            for axis in axes:
                of_slices[axis] = slice(None)
                start[axis] = place[axis].start
            own = indices[tuple(of_slices)]
            lengths_here = tuple(each.stop - each.start for each in place)
            block = ones(own, axes, self.shape, tuple(start), lengths_here, dtype)
            there = tuple(
                slice(at + each.start, at + each.stop) for at, each in zip(base, place, strict=True)
            )
            yield there, (block,)


class Labelled(Reduced):
    """The job of idxmax and idxmin: the label of an element along one dimension, in place of its index."""

    def __init__(self, function: str, source: Source, call: Pieces, memory: int, default: Any) -> None:
        (axis,) = call.axes
        labels, output = _labels_of(source, axis)
        super().__init__(source, call, memory)
        self.outputs = (output,)
        self._names = labels
        if default is not None and labels.dtype.kind in "mM":
            raise ArgumentError(
                f"{function}: default={default} is not a label of {labels.dtype}",
                remedy="use argmax or argmin with a default, and look the labels up",
            )
        self._default = (
            None if default is None else default_value(function, default, labels.dtype.newbyteorder("="))
        )

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, Blocks]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        for place, (indices,) in super().results(piece, part):
            block = self._names[indices]
            if self._default is not None:
                block = np.where(indices == -1, self._default, block)
            yield place, (block,)


def _labels_of(source: Source, axis: int) -> tuple[NDArray[Any], Output]:
    """Return the labels of an axis, and how they are written."""
    dim = source.dims[axis] if source.dims else f"axis {axis}"
    found = labels_along(source, axis)
    if found is None:
        raise ArgumentError(
            f"{source.path!r}: dimension {dim!r} has no coordinate",
            remedy="use argmax or argmin, which give its index",
        )
    labels, decoding = found
    if labels.dtype.kind not in "iufmM":
        raise ArgumentError(
            f"{source.path!r}: the labels of dimension {dim!r} are neither numbers nor times",
            remedy="use argmax or argmin, and look the labels up",
        )
    return labels, Output(labels.dtype, decoding.attrs, decoding.fill)


class Elementwise(Job):
    """The job of maximum and minimum."""

    def __init__(self, function: str, sources: Sequence[Source], nan_policy: Any, memory: int) -> None:
        self.sources = sources
        self._function = function
        self._policy = nan_policy
        self._compare = partial(getattr(ex, function), nan_policy=nan_policy)
        probes = [np.ones((1,) * len(each.shape), each.decoding.value_dtype) for each in sources]
        dtype = self._compare(*probes).dtype
        self.shape = broadcast_shape(function, [each.shape for each in sources])
        require_aligned(function, sources)
        whole = [each for each in sources if each.shape == self.shape]
        labelling = (whole or sources)[0]
        # Integers may be missing if an operand says which; in a float, NaN says it.
        fills = [each.decoding.fill for each in sources if each.decoding.fill is not None]
        fill = fills[0] if fills and dtype.kind in "iu" else None
        self.outputs = (Output(dtype, labelling.decoding.attrs, fill),)
        rank = len(self.shape)
        axes = [*[None] * (rank - len(labelling.shape)), *range(len(labelling.shape))]
        self.labels = Labels.of(labelling, axes, self.shape, function)
        self.pieces = self._cut(whole, memory)

    def _cut(self, whole: Sequence[Source], memory: int) -> Sequence[Piece]:
        """Return the pieces; the operand with the largest granules decides how all operands are cut."""
        coarsest = max(whole, key=lambda each: math.prod(each.granule), default=None)
        rank = len(self.shape)
        granule: Ints = (1,) * rank if coarsest is None else coarsest.granule
        order: Ints = range(rank) if coarsest is None else coarsest.order
        element = (
            sum(each.reading + each.dtype.itemsize for each in self.sources) + 2 * self.dtypes[0].itemsize
        )
        sizes = lengths(self.shape, granule, order, lambda s: math.prod(s) * element, memory // 2)

        def of_operand(shape: tuple[int, ...], place: Place) -> Place:
            own = place[len(place) - len(shape) :]
            return tuple(
                slice(0, 1) if length == 1 else each for length, each in zip(shape, own, strict=True)
            )

        def piece(place: Place) -> Piece:
            return Piece(place, (tuple(of_operand(each.shape, place) for each in self.sources),))

        return Made(self.shape, sizes, piece)

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part that one read of a piece makes."""
        decodings = [each.decoding for each in self.sources]
        if not any(isinstance(each, MaskedIntegers) for each in decodings):
            return np.asarray(self._compare(*blocks))
        masks = [
            np.isnat(block) if isinstance(each, MaskedIntegers) else np.zeros((1,) * block.ndim, np.bool_)
            for each, block in zip(decodings, blocks, strict=True)
        ]
        values = [each.restore(block) for each, block in zip(decodings, blocks, strict=True)]
        (output,) = self.outputs
        if output.fill is not None:
            return self._of_integers(values, masks, output)
        # Beside a floating-point operand all are compared as floats.
        floats = [
            np.where(mask, np.nan, value) if mask.any() else value
            for mask, value in zip(masks, values, strict=True)
        ]
        return np.asarray(self._compare(*floats)).astype(output.dtype, copy=False)

    def _of_integers(
        self, values: list[NDArray[Any]], masks: list[NDArray[Any]], output: Output
    ) -> NDArray[Any]:
        """Compare integers some of which are missing."""
        some = np.logical_or.reduce(np.broadcast_arrays(*masks))
        every = np.logical_and.reduce(np.broadcast_arrays(*masks))
        if self._policy == "raise" and some.any():
            raise ArgumentError(
                f"{self._function}: an array has a missing element",
                given="nan_policy='raise'",
                remedy="use nan_policy='omit' or 'propagate', or mend the data",
            )
        limits = np.iinfo(output.dtype)
        # It loses to every number.
        identity = limits.min if self._function == "maximum" else limits.max
        there = [
            np.where(mask, np.array(identity, output.dtype), value.astype(output.dtype))
            for mask, value in zip(masks, values, strict=True)
        ]
        best = np.asarray(self._compare(*there))
        missing = np.broadcast_to(every if self._policy == "omit" else some, best.shape)
        if (best[~missing] == output.fill).any():
            raise ArgumentError(
                f"{self._function}: an element of the result is {output.fill}, the fill value of another file",
                remedy="give the files one fill value",
            )
        return np.where(missing, np.array(output.fill, output.dtype), best)
