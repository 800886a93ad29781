"""Reductions with all that a caller may ask for: values and indices, a NaN policy, a mask, a default.

Decides what a slice gives in which no element takes part, and which array comes back. The native module finds values
and indices in one pass and comes here for what its quick way does not know: arrays of other libraries and options.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native, policy
from extremum.errors import ArgumentError, ElementTypeError, ExtremumError
from extremum.interop import Adopted, adopt

__all__ = ["Found", "Reduction", "adopted_for", "index_type", "require_fit"]

_INT64 = np.dtype(np.int64)


@dataclass(slots=True)
class Found:
    """What a reduction found at one end of the order, in the shape of the result."""

    values: NDArray[Any] | None
    indices: NDArray[Any] | None


@dataclass(slots=True)
class Reduction:
    """One call: over which axes and at which ends of the order, and which elements take part."""

    function: str
    # True for the largest, False for the smallest: one or both.
    largest: tuple[bool, ...]
    axis: Any = None
    keepdims: bool = False
    select_last_index: bool = False
    nan_policy: Any = "propagate"
    where: Any = None
    # Where the result lies within that of a larger array, of which this one is a piece.
    origin: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self.keepdims = policy.flag(self.function, "keepdims", self.keepdims)
        self.select_last_index = policy.flag(self.function, "select_last_index", self.select_last_index)

    def adopt(self, x: object) -> Adopted:
        """Return the array, in whatever library the caller has it."""
        return adopted_for(self.function, x)

    def find(
        self, x: Adopted, values: bool, index: np.dtype[Any] | None, defaults: tuple[Any, ...] | None
    ) -> tuple[Found, ...]:
        """Find values, indices or both; `defaults` has one for each end, an index where no values are wanted."""
        policy.require_policy(self.function, self.nan_policy)
        settled = None if defaults is None else self.defaults(x.array, values, index, defaults)
        wanted = values or self.nan_policy == "raise"
        lacking, ends = self.search(x, wanted, index)
        # (A search for what may lack counts in another type.)
        last = math.prod(x.array.shape[axis] for axis in self.axes(x.array.ndim)) - 1
        require_fit(self.function, last, index, _summary(x.array))
        return self.settle(x.array, lacking, ends, values, index, settled)

    def natively(self, x: Adopted, **options: Any) -> Any:
        """Answer by the native function of this name, which has not seen the array that the argument was adopted as."""
        options |= {"keepdims": self.keepdims, "select_last_index": self.select_last_index, "where": self.where}
        found = getattr(_native, self.function)(x.array, self.axis, nan_policy=self.nan_policy, **options)
        if options.get("out") is not None:
            return found
        return type(found)(*(self.wrap(x, each) for each in found)) if isinstance(found, tuple) else self.wrap(x, found)

    def search(self, x: Adopted, values: bool, index: np.dtype[Any] | None) -> tuple[int | None, list[Found]]:
        """Return in how many slices no element takes part, None where that cannot be, and what is at each end.

        The index of such a slice is -1, so that where there may be one there are indices, of a signed type.
        """
        array = x.array
        where = self._taking_part(x)
        omit = self.nan_policy == "omit" and array.dtype.kind not in "biu"
        may_lack = omit or where is not None or array.size == 0
        if may_lack:
            index = index if index is not None and index.kind == "i" else _INT64
        lacking, ends = self._ends(array, omit, where, values, index)
        return lacking if may_lack else None, ends

    def settle(
        self,
        array: NDArray[Any],
        lacking: int | None,
        ends: Sequence[Found],
        values: bool,
        index: np.dtype[Any] | None,
        defaults: tuple[Any, ...] | None,
    ) -> tuple[Found, ...]:
        """Return what was found as the caller wants it: with defaults, or refused; of `array` the shape is read."""
        if defaults is None and 0 in array.shape:
            self._require_elements(array)
        if self.nan_policy == "raise":
            self._refuse_nan(array, ends[0], lacking is not None)
        found = []
        for number, end in enumerate(ends):
            if lacking:
                assert end.indices is not None
                self._fill(array, end.values if values else None, end.indices, defaults[number] if defaults else None)
            found.append(Found(end.values if values else None, self._narrowed(end.indices, index)))
        return tuple(found)

    def _ends(
        self,
        array: NDArray[Any],
        omit: bool,
        where: NDArray[np.bool_] | None,
        values: bool,
        index: np.dtype[Any] | None,
    ) -> tuple[int, list[Found]]:
        """Return the number of slices in which no element takes part, and what was found at each end."""
        times = array.dtype.kind in "mM"
        # NaT is stored as the smallest integer: it is the extremum of itself, or else looked for beside the largest.
        beside = times and not omit and True in self.largest
        wanted = tuple(dict.fromkeys((False, *self.largest))) if beside else self.largest
        lacking, parts = _native.reduce(
            array.view(np.dtype(np.int64).newbyteorder(array.dtype.byteorder)) if times else array,
            self.axis,
            function=self.function,
            largest=wanted,
            keepdims=self.keepdims,
            select_last_index=self.select_last_index,
            omit=omit,
            times=times,
            where=where,
            values=values or beside,
            index=index,
        )
        parts = tuple((None if v is None else np.asarray(v), None if i is None else np.asarray(i)) for v, i in parts)
        if times:
            native = array.dtype.newbyteorder("=")
            parts = tuple((None if value is None else value.view(native), place) for value, place in parts)
        if beside:
            low = dict(zip(wanted, parts, strict=True))[False]
            parts = tuple(self._with_nat(part, low) if end else part for end, part in zip(wanted, parts, strict=True))
            parts = tuple(part for end, part in zip(wanted, parts, strict=True) if end in self.largest)
        return lacking, [Found(value if values else None, place) for value, place in parts]

    @staticmethod
    def _with_nat(high: tuple[Any, Any], low: tuple[Any, Any]) -> tuple[Any, Any]:
        """Put NaT where the smallest is NaT: it is the largest too."""
        missing = np.isnat(low[0])
        place = None if high[1] is None else np.where(missing, low[1], high[1])
        return np.where(missing, low[0], high[0]), place

    def wrap(self, x: Adopted, result: NDArray[Any] | None) -> Any:
        """Return a result that was found as an array of the caller's library."""
        assert result is not None
        return x.wrap(result, lambda: self.kept(x.array.ndim))

    def both(self, x: Adopted, values: NDArray[Any] | None, indices: NDArray[Any] | None) -> tuple[Any, Any]:
        """Return values, and indices where there are any, as arrays of the caller's library."""
        return self.wrap(x, values), None if indices is None else self.wrap(x, indices)

    def axes(self, rank: int) -> tuple[int, ...]:
        """Return the axes that are reduced, ascending."""
        if self.axis is None:
            return tuple(range(rank))
        several = self.axis if isinstance(self.axis, tuple | list) else (self.axis,)
        return tuple(sorted(operator.index(axis) % rank for axis in several))

    def kept(self, rank: int) -> tuple[int, ...]:
        """Return the axis of the input that each axis of the result was, -1 for one that was reduced and kept."""
        axes = self.axes(rank)
        if self.keepdims:
            return tuple(-1 if axis in axes else axis for axis in range(rank))
        return tuple(axis for axis in range(rank) if axis not in axes)

    def _taking_part(self, x: Adopted) -> NDArray[np.bool_] | None:
        where = None
        if self.where is not None:
            where = policy.mask(self.function, self.adopt(self.where).mask(self.function), x.array.shape)
        if x.present is None:
            return where
        if not x.hidden and self.nan_policy != "omit":
            x.require_all("fill or drop them first, or pass nan_policy='omit'", given=f"an array of {x.library}")
        return x.present if where is None else np.asarray(where & x.present)

    def defaults(
        self, array: NDArray[Any], values: bool, index: np.dtype[Any] | None, defaults: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Return the defaults in the type of what they stand for, or refuse them."""
        if not values:
            return tuple(policy.default_index(self.function, each, index or _INT64) for each in defaults)
        if index is not None and index.kind == "u":
            raise ArgumentError(
                f"{self.function}: the index beside a default value is -1, which does not fit {index}",
                remedy="use a signed type of index, or no default",
            )
        return tuple(policy.default_value(self.function, each, array.dtype.newbyteorder("=")) for each in defaults)

    def _fill(self, array: NDArray[Any], value: NDArray[Any] | None, place: NDArray[Any], default: Any) -> None:
        """Put the default where no element took part and the place, so far, is -1."""
        if value is None and default == -1:
            return
        lacking = place == -1
        if default is None:
            raise self._masked(array, lacking)
        if value is None:
            place[lacking] = default
        else:
            value[lacking] = default

    def _require_elements(self, array: NDArray[Any]) -> None:
        """Refuse to reduce an axis without elements, even where there is no slice that lacks them."""
        axes = self.axes(array.ndim)
        if any(array.shape[axis] == 0 for axis in axes):
            raise ArgumentError(
                f"{self.function}: the reduced axes {axes} of shape {array.shape} hold no element",
                given=_summary(array),
                remedy="reduce axes that are not empty, or pass a default",
            )

    def _masked(self, array: NDArray[Any], lacking: NDArray[np.bool_]) -> ArgumentError:
        why = "all are NaN or masked" if self.nan_policy == "omit" else "all are masked"
        return ArgumentError(
            f"{self.function}: {self._first_slice(lacking)} has no element to choose from: {why}",
            given=_summary(array),
            remedy="pass a default for such slices",
        )

    def _refuse_nan(self, array: NDArray[Any], end: Found, may_lack: bool) -> None:
        """Refuse NaN; where no element took part, the value means nothing."""
        assert end.values is not None
        found = policy.nan(end.values)
        if may_lack:
            found &= end.indices != -1
        if found.any():
            raise ArgumentError(
                f"{self.function}: {self._first_slice(found)} holds NaN",
                given=f"{_summary(array)}, nan_policy='raise'",
                remedy="use nan_policy='omit' or 'propagate', or mend the data",
            )

    def _first_slice(self, meant: NDArray[np.bool_]) -> str:
        """Name the first of the slices that are meant, as a message does."""
        first = tuple(map(int, np.argwhere(meant)[0] + (self.origin or 0)))
        return f"the slice at {first} of the result" if first else "the array"

    def _narrowed(self, place: NDArray[Any] | None, index: np.dtype[Any] | None) -> NDArray[Any] | None:
        """Return indices in the type that is wanted."""
        if place is None or index is None:
            return None
        if place.dtype != index and place.size and int(place.max()) > np.iinfo(index).max:
            raise ArgumentError(
                f"{self.function}: index {int(place.max())} does not fit {index}",
                remedy=f"use {_keyword(self.function)}=int64",
            )
        return place.astype(index, copy=False)


def _summary(array: NDArray[Any]) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"


def adopted_for(function: str, x: object) -> Adopted:
    """Return the argument of a function, in whatever library the caller has it."""
    try:
        return adopt(x)
    except ExtremumError as error:
        # An error about a column names it.
        where = f"{function}, {error.where}" if error.where else function
        raise type(error)(error.reason, where=where, given=error.given, remedy=error.remedy) from None


def index_type(function: str, dtype: Any, out: object = None) -> np.dtype[Any]:
    """Return the type of indices that a caller names, or that `out` has."""
    if dtype is None:
        own: np.dtype[Any] = out.dtype.newbyteorder("=") if isinstance(out, np.ndarray) else _INT64
        return own if own.kind in "iu" else _INT64
    given: Any = dtype
    try:
        index: np.dtype[Any] | None = np.dtype(dtype)
        given = index
    except (TypeError, ValueError):
        # A type of another library, as PyTorch's are, or none at all.
        index = None
    if index is not None and index.kind in "iu" and index.isnative:
        return index
    raise ElementTypeError(
        f"{function}: index type {given} is not an integer type in this machine's byte order",
        remedy=f"use {_keyword(function)}=int64, the default",
    )


def require_fit(function: str, last: float, index: np.dtype[Any] | None, given: str) -> None:
    """Refuse a type that does not hold the last index of a slice."""
    if index is not None and last > np.iinfo(index).max:
        raise ArgumentError(
            f"{function}: an index up to {last} does not fit {index}",
            given=given,
            remedy=f"use {_keyword(function)}=int64",
        )


def _keyword(function: str) -> str:
    return "dtype" if function.startswith("arg") else "index_dtype"
