"""Reductions of an array that comes in pieces: what a piece gives, how such parts make one, and what the caller gets.

Decides nothing about where the pieces are, who reads them and in which sequence parts meet: a part is the extreme
elements of what it is of, each with its row-major index in the whole block that is reduced, and of equal elements the
index decides. So the answer is that of one call on the whole array, in every bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import as_result
from extremum.errors import ArgumentError, ExtremumError
from extremum.interop import Adopted
from extremum.reductions import Found, Reduction

__all__ = ["Part", "Pieces"]

Part = tuple[tuple[NDArray[Any], NDArray[Any]], ...]
"""For each end of the order the elements and their indices, -1 where none takes part; reduced axes have length 1."""

_INT64 = np.dtype(np.int64)


@dataclass(frozen=True, slots=True)
class Pieces:
    """One call about a whole array, of which the shape and the element type are there and no more."""

    call: Reduction
    axes: tuple[int, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    values: bool
    index: np.dtype[Any] | None
    defaults: tuple[Any, ...] | None
    # What indices are counted in until the caller's type is due.
    counting: np.dtype[Any]

    @classmethod
    def planned(
        cls,
        call: Reduction,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        *,
        values: bool,
        index: np.dtype[Any] | None,
        defaults: tuple[Any, ...] | None,
    ) -> Pieces:
        """Return a call whose arguments are known to be right; others are refused, before any piece is read."""
        # One element, or none where there is none: what is refused of it is refused in the words of any call.
        probe = np.zeros(shape if 0 in shape else (1,) * len(shape), dtype)
        try:
            call.find(Adopted(probe), values, index, defaults)
            axes = call.axes(len(shape))
            last = math.prod(shape[axis] for axis in axes) - 1
            if index is not None and last > np.iinfo(index).max:
                reason = f"{call.function}: an index up to {last} does not fit {index}"
                raise ArgumentError(reason, remedy="use dtype=int64")
            if defaults is not None:
                defaults = call.defaults(probe, values, index, defaults)
        except ExtremumError as error:
            given = f"{dtype}[{', '.join('?' if math.isnan(length) else str(length) for length in shape)}]"
            raise type(error)(error.reason, where=error.where, given=given, remedy=error.remedy) from None
        counting = np.dtype(np.int32) if last <= np.iinfo(np.int32).max else _INT64
        return cls(replace(call, axis=axes), axes, shape, dtype, values, index, defaults, counting)

    @property
    def types(self) -> tuple[np.dtype[Any], ...]:
        """The element types of the results: of the elements at each end, then of their indices."""
        ends = len(self.call.largest)
        values = (self.dtype.newbyteorder("="),) * ends if self.values else ()
        return values if self.index is None else (*values, *(self.index,) * ends)

    def part(self, piece: Adopted, offset: tuple[int, ...], where: Any = None) -> Part:
        """Return the part of a piece, whose first element is at `offset` of the whole."""
        _, ends = replace(self.call, keepdims=True, where=where).search(piece, True, self.counting)
        return tuple(
            (end.values, self._in_the_whole(end.indices, piece.array.shape, offset))  # type: ignore[misc]
            for end in ends
        )

    def whole(self, piece: Adopted, origin: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the results of a piece that has all of its slices whole; `origin` is the place of the first."""
        call = replace(self.call, origin=origin)
        found = call.find(piece, self.values, self.index, self.defaults)
        return tuple(each for end in found for each in (end.values, end.indices) if each is not None)

    def merged(self, parts: Sequence[Part]) -> Part:
        """Return the part of what several are of, in whatever sequence they come."""
        if len(parts) == 1:
            return parts[0]
        return tuple(self._merged(end, [part[at] for part in parts]) for at, end in enumerate(self.call.largest))

    def settled(self, parts: Sequence[Part], origin: tuple[int, ...]) -> tuple[Any, ...]:
        """Return the results, of parts that are of all; `origin` is the place of their first slice in the whole."""
        call = replace(self.call, origin=origin)
        gone = () if call.keepdims else self.axes
        # The caller's own memory from here on: a part may be somebody else's too.
        ends = [Found(np.array(x.squeeze(gone)), i.squeeze(gone).astype(_INT64)) for x, i in self.merged(parts)]
        lacking = int(np.count_nonzero(ends[0].indices == -1))
        lengths = zip(self.shape, parts[0][0][0].shape, strict=True)
        # Of an axis that stays the length may be unknown (NaN), and then that of the part stands for it.
        whole = np.broadcast_to(np.zeros((), self.dtype), [own if math.isnan(n) else n for n, own in lengths])
        found = call.settle(whole, lacking, ends, self.values, self.index, self.defaults)
        results = [end.values for end in found if self.values]
        results += [end.indices for end in found if self.index is not None]
        return tuple(as_result(each) for each in results if each is not None)

    def _in_the_whole(self, indices: Any, shape: tuple[int, ...], offset: tuple[int, ...]) -> NDArray[Any]:
        """Return what row-major indices into the reduced axes of a piece are in the whole."""
        split = [axis for axis in self.axes if shape[axis] != self.shape[axis]]
        if not split:
            return np.asarray(indices)
        if indices.size == 1:
            # One slice, as of most pieces that are small: arithmetic of arrays would take longer than the search.
            return np.full(indices.shape, self._place(indices.item(), shape, offset), indices.dtype)
        first, stride = self.axes[0], math.prod(self.shape[axis] for axis in self.axes[1:])
        if split == [first]:
            # Whole rows of it: they are counted alike.
            whole = indices + np.asarray(offset[first] * stride, indices.dtype)
        else:
            whole, rest, stride = np.zeros_like(indices), indices, 1
            for axis in reversed(self.axes):
                length = max(shape[axis], 1)
                whole += (rest % length + np.asarray(offset[axis], indices.dtype)) * np.asarray(stride, indices.dtype)
                rest, stride = rest // length, stride * self.shape[axis]
        whole[indices == -1] = -1
        return np.asarray(whole)

    def _place(self, index: int, shape: tuple[int, ...], offset: tuple[int, ...]) -> int:
        """Return what one index into the reduced axes of a piece is in the whole."""
        if index == -1:
            return -1
        whole, rest, stride = 0, index, 1
        for axis in reversed(self.axes):
            rest, at = divmod(rest, shape[axis])
            whole, stride = whole + (at + offset[axis]) * stride, stride * self.shape[axis]
        return whole

    def _merged(self, largest: bool, ends: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[Any, Any]:
        values, indices = (np.stack([end[at] for end in ends]) for at in (0, 1))
        there = indices != -1
        where = None if there.all() else there
        last = self.call.select_last_index
        merge = Reduction(self.call.function, (largest,), 0, True, last, where=where)
        (best,) = merge.search(Adopted(values), True, _INT64)[1]
        place = best.indices
        if not bool((indices[1:] > indices[:-1]).all()):
            # They do not come in the order of their indices: of those as good as the best, the index says which it is.
            equal = there & _equal(values, best.values)
            among = Reduction(self.call.function, (last,), 0, True, where=equal)
            place = among.search(Adopted(indices), False, _INT64)[1][0].indices
        assert place is not None
        # Where nothing takes part in any, it takes part in the first neither.
        place = np.maximum(place, 0)
        return np.take_along_axis(values, place, 0)[0], np.take_along_axis(indices, place, 0)[0]


def _equal(values: NDArray[Any], best: Any) -> NDArray[np.bool_]:
    """Return which elements are as good as the best of them: NaN beside NaN, and zeros of both signs."""
    if values.dtype.kind in "mM":
        return np.asarray(values.view(_INT64) == best.view(_INT64))
    with np.errstate(invalid="ignore"):
        equal = values == best
        if values.dtype.kind not in "biu":
            equal |= (best != best) & (values != values)
    return np.asarray(equal)
