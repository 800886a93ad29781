"""Reductions of an array in pieces: the part of one piece, the merge of parts, and the final result.

A part holds the extreme elements of its slices, each with its row-major index in the whole reduced block; the index
breaks ties. The answer has the same bits as one call on the whole array, in any order of merging. This file does not
know where pieces are or who reads them. A part has no indices if the caller wants none and either
equal elements have equal bits or parts come in the order of their indices.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.arrays import as_result
from extremum.errors import ExtremumError
from extremum.interop import Operand
from extremum.reductions import Index, Ints, Reduction, nan, require_fit, values_then_indices
from extremum.selection import TopKCall
from extremum.signatures import ValuesIndices

Place = tuple[slice, ...]

Part = tuple[tuple[NDArray[Any], NDArray[Any] | None], ...]
"""For each end of the order the elements and their indices, -1 for an empty slice; reduced axes have length 1.

The indices are None if the call does not need them; an empty slice is NaN then. For ``top_k`` the axis has the
candidates.
"""

_MERGE_BYTES = 1 << 20
"""Bytes of parts to merge at a time: they stay in the cache."""

_INT64 = np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class Pieces:
    """One call on a whole array, which is known only by its shape and element type."""

    call: Reduction
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    values: bool
    index: Index
    default: Any
    # The type of indices until the results take the caller's type.
    part_index: np.dtype[Any]
    # Whether parts come in the order of their indices.
    is_ordered: bool = False
    # The length of the result along a reduced axis that it keeps.
    length: int = 1

    @classmethod
    def plan(
        cls, call: Reduction, shape: Ints, dtype: np.dtype[Any], values: bool, index: Index, default: Any
    ) -> Pieces:
        """Return a call with valid arguments, or refuse the arguments before any piece is read."""
        # Try the call on one element, or on an empty array: errors then have the same text as in any other call.
        probe = np.zeros(shape if 0 in shape else (1,) * len(shape), dtype)
        try:
            call.find(Operand(probe), values, index, default)
            axes = call.axes(len(shape))
            last = math.prod(shape[axis] for axis in axes) - 1
            require_fit(call.function, last, index)
        except ExtremumError as error:
            raise _of_the_whole(error, shape, dtype) from None
        part_index = np.dtype(np.int32) if last <= np.iinfo(np.int32).max else _INT64
        return cls(replace(call, axis=axes), axes, shape, dtype, values, index, default, part_index)

    def cut(self, counts: Sequence[int]) -> Pieces:
        """Return the call on this number of pieces along each axis, whose parts come in the order of each axis."""
        several = [axis for axis in self.axes if counts[axis] > 1]
        # A longer reduced axis before the one that is cut would interleave the indices of parts.
        before = (self.shape[axis] for axis in self.axes if several and axis < several[0])
        return replace(self, is_ordered=not several[1:] and all(length == 1 for length in before))

    @property
    def result_axes(self) -> tuple[int | None, ...]:
        """For each axis of the result, the axis of the array, or None for a new axis."""
        return tuple(axis for axis in range(len(self.shape)) if self.call.keepdims or axis not in self.axes)

    def along(self, each: Sequence[Any], reduced: Any) -> tuple[Any, ...]:
        """Return the entry in `each` for each axis of the result, or `reduced` for a reduced or new axis."""
        return tuple(
            reduced if axis is None or axis in self.axes else each[axis] for axis in self.result_axes
        )

    @property
    def has_indices(self) -> bool:
        """Whether parts need indices: for the caller, or to decide between equal elements with different bits."""
        return self.index is not None or not (self.is_ordered or self.dtype.kind in "biumM")

    @property
    def nan_is_empty(self) -> bool:
        """Whether NaN in a part means that a slice has no element."""
        return not self.has_indices and self.call.nan_policy == "omit" and self.dtype.kind not in "biumM"

    @property
    def types(self) -> tuple[np.dtype[Any], ...]:
        """The element types of the results: of the values at each end, then of the indices."""
        ends = len(self.call.largest)
        values = (self.dtype.newbyteorder("="),) * ends if self.values else ()
        if self.index is None:
            return values
        return (*values, *(self.index,) * ends)

    def part(self, piece: Operand, offset: tuple[int, ...], where: Any = None) -> Part:
        """Return the part of a piece, whose first element is at `offset` in the whole."""
        array = piece.array
        mask = replace(self.call, where=where).mask(piece)
        call = replace(self.call, keepdims=True, where=mask)
        if mask is None and array.size and all(array.shape[axis] == 1 for axis in self.axes):
            return self._part_of_one(array, offset)
        if self.nan_is_empty:
            options = {"keepdims": True, "nan_policy": "omit", "where": mask, "default": np.nan}
            ends = ("max" if largest else "min" for largest in call.largest)
            return tuple(
                (np.asarray(getattr(_native, end)(array, self.axes, **options)), None) for end in ends
            )
        results = call.search(Operand(array), True, self.part_index if self.has_indices else None)[1]
        if not self.has_indices:
            return results
        return tuple(
            (values, self._in_the_whole(indices, array.shape, offset)) for values, indices in results
        )

    def _part_of_one(self, array: NDArray[Any], offset: tuple[int, ...]) -> Part:
        """Return the part of a piece that has one element of each slice."""
        values = array.astype(array.dtype.newbyteorder("="), copy=False)
        indices = None
        # The index of the element in its slice of the piece is 0.
        first = np.zeros((1,) * array.ndim, self.part_index)
        if self.has_indices:
            first = self._in_the_whole(first, array.shape, offset)
            indices = np.broadcast_to(first, values.shape)
        if self.call.nan_policy == "omit" and values.dtype.kind not in "biu" and not self.nan_is_empty:
            indices = np.where(nan(values), self.part_index.type(-1), first)
        return ((values, indices),) * len(self.call.largest)

    def merge(self, parts: Sequence[Part]) -> Part:
        """Merge parts, in any order, into the part of all their pieces."""
        if len(parts) == 1:
            return parts[0]
        return tuple(
            self._merge_end(end, [part[at] for part in parts]) for at, end in enumerate(self.call.largest)
        )

    def finish(self, parts: Sequence[Part], origin: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the results from parts of whole slices; `origin` is the place of the first slice in the whole."""
        call = replace(self.call, origin=origin)
        axes = () if call.keepdims else self.axes
        ends = []
        for values, indices in self.merge(parts):
            if self.nan_is_empty:
                indices = np.where(nan(values), -1, 0)
            # Copy for the caller: other code may use the memory of a part too.
            indices = None if indices is None else indices.squeeze(axes).astype(_INT64)
            values = values.squeeze(axes)
            ends.append(ValuesIndices(values.copy() if self.values else values, indices))
        if ends[0].indices is None:
            empty = None
        else:
            empty = int(np.count_nonzero(ends[0].indices == -1))
        results = call.finish(
            self._whole_of(parts[0]), empty, tuple(ends), self.values, self.index, self.default
        )
        return tuple(as_result(each) for each in values_then_indices(results))

    def _whole_of(self, part: Part) -> NDArray[Any]:
        """Return an array in the shape of the whole; unknown lengths (NaN) come from a part."""
        lengths = [
            part[0][0].shape[axis] if math.isnan(length) else length for axis, length in enumerate(self.shape)
        ]
        return np.broadcast_to(np.zeros((), self.dtype), lengths)

    def _in_the_whole(self, indices: Any, shape: tuple[int, ...], offset: tuple[int, ...]) -> NDArray[Any]:
        """Convert row-major indices into the reduced axes of a piece to indices into those of the whole."""
        split = [axis for axis in self.axes if shape[axis] != self.shape[axis]]
        if not split:
            return np.asarray(indices)
        first = self.axes[0]
        kind = indices.dtype.type
        if split == [first]:
            # Only the first reduced axis is cut, so all indices shift by the same number.
            whole = indices + kind(offset[first] * math.prod(self.shape[axis] for axis in self.axes[1:]))
        else:
            # Split each index into its places along the axes, the last axis first, and shift each place.
            whole = np.zeros_like(indices)
            rest = indices
            stride = 1
            for axis in reversed(self.axes):
                length = kind(max(shape[axis], 1))
                whole += (rest % length + kind(offset[axis])) * kind(stride)
                rest = rest // length
                stride *= self.shape[axis]
        whole[indices == -1] = -1
        return np.asarray(whole)

    def _merge_end(
        self, largest: bool, ends: Sequence[tuple[NDArray[Any], NDArray[Any] | None]]
    ) -> tuple[Any, Any]:
        """Merge the parts at one end of the order, a block of slices at a time."""
        shape = ends[0][0].shape
        values = [end[0].reshape(-1) for end in ends]
        indices = None
        if any(end[1] is not None for end in ends):
            zeros = np.broadcast_to(np.zeros((), self.part_index), shape)
            indices = [(zeros if end[1] is None else end[1]).reshape(-1) for end in ends]
        step = max(1, _MERGE_BYTES // (len(ends) * values[0].itemsize))
        blocks = []
        for start in range(0, max(values[0].size, 1), step):
            block = slice(start, start + step)
            stack = None if indices is None else np.stack([each[block] for each in indices])
            blocks.append(self._best(largest, np.stack([each[block] for each in values]), stack))
        # A single block is not copied.
        join = np.concatenate if blocks[1:] else operator.itemgetter(0)
        best = join([each for each, _ in blocks]).reshape(shape)
        if indices is None:
            return best, None
        return best, join([each for _, each in blocks]).reshape(shape)

    def _best(self, largest: bool, values: NDArray[Any], indices: NDArray[Any] | None) -> tuple[Any, Any]:
        """Return the best element of each column, and its index where there are indices."""
        last = self.call.select_last_index
        if indices is None and self.dtype.kind not in "mM":
            options: dict[str, Any] = {}
            if self.nan_is_empty:
                options = {"nan_policy": "omit", "default": np.nan}
            best_value = _native.max if largest else _native.min
            return best_value(values, 0, select_last_index=last, **options), None
        there = None if indices is None or indices.min(initial=0) >= 0 else indices != -1
        merge = Reduction(self.call.function, (largest,), 0, True, last, where=there)
        (best,) = merge.search(Operand(values), True, np.dtype(np.int32))[1]
        if indices is None:
            return best.values[0], None
        place = best.indices
        assert place is not None
        in_order = self.is_ordered or not self.has_indices or bool((indices[1:] > indices[:-1]).all())
        if not in_order:
            # Among the elements that equal the best, the index decides.
            equal = _equal(values, best.values)
            if there is not None:
                equal = equal & there
            among = Reduction(self.call.function, (last,), 0, True, where=equal)
            place = among.search(Operand(indices), False, _INT64)[1][0].indices
            assert place is not None
        # If a slice is empty in all parts, take the first part: its index is -1 too.
        columns = np.arange(values.shape[1]) + np.maximum(place[0], 0) * np.int64(values.shape[1])
        if in_order and there is None:
            elements = best.values[0]
        else:
            elements = values.reshape(-1)[columns]
        return elements, indices.reshape(-1)[columns]


class Form(NamedTuple):
    """What a call has to know of an array before it reads elements; an unknown length is NaN."""

    shape: tuple[Any, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKPieces(Pieces):
    """One call of ``top_k`` on a whole array; a part holds the candidates of its slices, best first.

    Over one axis, the result keeps the axis. Over several, it has a new last axis instead of them.
    """

    # How candidates are selected, from a piece and from the candidates of several parts.
    selection: TopKCall

    @classmethod
    def of(
        cls, selection: TopKCall, shape: tuple[int, ...], dtype: np.dtype[Any], axes: Ints | None = None
    ) -> TopKPieces:
        """Return a call with valid arguments, or refuse an element type without an order.

        `axes` are given if there are several, ascending; then the selection is along the new axis.
        """
        try:
            selection.select(np.zeros((1,) * len(shape), dtype), None)
        except ExtremumError as error:
            raise _of_the_whole(error, shape, dtype) from None
        if axes is None:
            axes = tuple(range(len(shape))) if selection.axis is None else (selection.axis,)
        is_one = axes == (selection.axis,)
        call = Reduction("top_k", (selection.largest,), axes, keepdims=is_one)
        # The candidates of a part are sorted, whatever the caller wants.
        selection = replace(selection, in_order=True)
        return cls(
            call,
            axes,
            shape,
            dtype,
            values=True,
            index=selection.index,
            default=None,
            part_index=_INT64,
            length=selection.k,
            selection=selection,
        )

    @property
    def result_axes(self) -> tuple[int | None, ...]:
        """The axes of the array, or those that stay and a new one."""
        if self.call.keepdims:
            return tuple(range(len(self.shape)))
        return (*self._others, None)

    @property
    def _others(self) -> Ints:
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.axes)

    def part(self, piece: Operand, offset: tuple[int, ...], where: Any = None) -> Part:
        """Return the candidates of a piece."""
        array = piece.array
        there = self.selection.mask(piece, where)
        if not self.call.keepdims and self.selection.axis is not None:
            array = self._in_a_row(array)
            there = None if there is None else self._in_a_row(there)
        best = self.selection.select(array, there)
        return ((best.values, self._in_the_whole(best.indices, piece.array.shape, offset)),)

    def _in_a_row(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array with the elements to select from along its last axis, in row-major order."""
        lengths = [array.shape[axis] for axis in self._others]
        count = math.prod(array.shape[axis] for axis in self.axes)
        return array.transpose(*self._others, *self.axes).reshape(*lengths, count)

    def merge(self, parts: Sequence[Part]) -> Part:
        """Return the best of several parts' candidates."""
        if len(parts) == 1:
            return parts[0]
        axis = self.selection.axis or 0
        values, indices = (
            np.concatenate(each, axis) for each in zip(*(part[0] for part in parts), strict=True)
        )
        if not self.is_ordered:
            # Equal elements must come in ascending order of their indices.
            order = np.argsort(indices, axis)
            values, indices = (np.take_along_axis(each, order, axis) for each in (values, indices))
        # A part may have had fewer than k elements, and so may all parts together.
        there = indices != -1
        best = self.selection.select(values, None if there.all() else there)
        places = np.take_along_axis(indices, np.maximum(best.indices, 0), axis)
        return ((best.values, np.where(best.indices == -1, -1, places)),)

    def finish(self, parts: Sequence[Part], origin: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the k best from parts of whole slices."""
        ((values, indices),) = part = self.merge(parts)
        assert indices is not None
        place = tuple(
            at for axis, at in zip(self.result_axes, origin, strict=True) if axis not in (None, *self.axes)
        )
        return tuple(self.selection.finish(self._whole_of(part), ValuesIndices(values, indices), place))

    def _whole_of(self, part: Part) -> NDArray[Any]:
        # A length that is unknown is that of an axis that stays: indices need to know the others.
        lengths = dict(zip(self.result_axes, part[0][0].shape, strict=True))
        whole = [
            int(lengths[axis]) if math.isnan(length) else length for axis, length in enumerate(self.shape)
        ]
        return np.broadcast_to(np.zeros((), self.dtype), whole)


def places(shape: Sequence[int], sizes: Sequence[int]) -> Iterator[Place]:
    """Yield the places of pieces of these lengths, in row-major order."""
    starts = (
        range(0, length, size or 1) if length else (0,) for length, size in zip(shape, sizes, strict=True)
    )
    for start in itertools.product(*starts):
        yield tuple(
            slice(at, min(at + size, length)) for at, size, length in zip(start, sizes, shape, strict=True)
        )


def _of_the_whole(error: ExtremumError, shape: Sequence[float], dtype: np.dtype[Any]) -> ExtremumError:
    """Turn an error about a piece into an error about the whole array."""
    lengths = ["?" if math.isnan(length) else str(length) for length in shape]
    given = f"{dtype}[{', '.join(lengths)}]"
    return type(error)(error.reason, where=error.where, given=given, remedy=error.remedy)


def _equal(values: NDArray[Any], best: Any) -> NDArray[np.bool_]:
    """Return which elements equal the best: NaN equals NaN, and zeros of both signs are equal."""
    if values.dtype.kind in "mM":
        return np.asarray(values.view(_INT64) == best.view(_INT64))
    with np.errstate(invalid="ignore"):
        equal = values == best
        if values.dtype.kind not in "biu":
            equal |= (best != best) & (values != values)
    return np.asarray(equal)
