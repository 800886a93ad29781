"""Reductions with every option: values and indices, ones, a NaN policy, a mask, a default, `out`.

This file decides which elements take part, what the result of an empty slice is, and which option values are errors.
The native module finds values and indices in one pass; it calls this file for arrays of other libraries and for options
beyond its fast path. The kernels decide how NaN compares with numbers under ``propagate``.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.arrays import as_element, first_lost, takes
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, ExtremumError
from extremum.indices import unravel
from extremum.interop import Operand, as_operand, frontend
from extremum.signatures import NanPolicy, ValuesIndices, result_of

_INT64 = np.dtype(np.int64)

Ints = tuple[int, ...]
Index = np.dtype[Any] | None
"""The type of indices; None where none are wanted."""
Defaults = tuple[Any, ...] | None
"""One for each end of the order; None where an empty slice is an error."""
Ends = tuple[ValuesIndices[Any, Any], ...]
"""For each end of the order the values and the indices, in the shape of the result; None is what is not wanted."""


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
    origin: Ints = ()

    def __post_init__(self) -> None:
        self.nan_policy = "propagate" if self.nan_policy is None else self.nan_policy
        self.keepdims = flag(self.function, "keepdims", self.keepdims)
        self.select_last_index = flag(self.function, "select_last_index", self.select_last_index)

    def default_of_each_end(self, default: Any) -> Defaults:
        """Return a default for each end of the order, None where there is no default."""
        if default is None:
            return None
        is_pair = self.function == "minmax" and isinstance(default, tuple)
        defaults = default if is_pair else (default,) * len(self.largest)
        if len(defaults) != len(self.largest):
            reason = f"{self.function}: default has {len(defaults)} values"
            raise ArgumentError(reason, remedy="pass one, or a smallest and a largest")
        return tuple(defaults)

    def find(self, x: Operand, values: bool, index: Index, defaults: Defaults) -> Ends:
        """Find values, indices or both; `defaults` has one for each end, an index where no values are wanted."""
        require_policy(self.function, self.nan_policy)
        if defaults is not None:
            defaults = self.defaults(x.array, values, index, defaults)
        empty, ends = self.search(x, values or self.nan_policy == "raise", index)
        # (A search with empty slices counts in another type.)
        last = math.prod(x.array.shape[axis] for axis in self.axes(x.array.ndim)) - 1
        require_fit(self.function, last, index, x.array)
        return self.finish(x.array, empty, ends, values, index, defaults)

    def answer(self, x: Operand, values: bool, index: Index, default: Any, out: Any) -> Any:
        """Return the results in the library of the operand, or write the only one to `out`."""
        results = values_then_indices(self.find(x, values, index, self.default_of_each_end(default)))
        if out is not None:
            return write_out(self.function, out, results[0])
        return result_of(self.function, [self.wrap(x, each) for each in results])

    def answer_natively(self, x: Operand, **options: Any) -> Any:
        """Answer by the native function of this name, which knows the array of the operand."""
        options |= {"keepdims": self.keepdims, "select_last_index": self.select_last_index, "where": self.where}
        found = getattr(_native, self.function)(x.array, self.axis, nan_policy=self.nan_policy, **options)
        if options.get("out") is not None:
            return found
        return type(found)(*(self.wrap(x, each) for each in found)) if isinstance(found, tuple) else self.wrap(x, found)

    def search(self, x: Operand, values: bool, index: Index) -> tuple[int | None, Ends]:
        """Return how many slices are empty, None where none can be, and what is at each end of the order.

        The index of a slice without an element that takes part is -1: where there may be one, there are indices of a
        signed type.
        """
        array, where, times = x.array, self.mask(x), x.array.dtype.kind in "mM"
        omit = self.nan_policy == "omit" and array.dtype.kind not in "biu"
        may_be_empty = omit or where is not None or array.size == 0
        if may_be_empty:
            index = index if index is not None and index.kind == "i" else _INT64
        # NaT is stored as the smallest integer: it is the extremum of itself, or else looked for beside the largest.
        beside = times and not omit and True in self.largest
        ends = tuple(dict.fromkeys((False, *self.largest))) if beside else self.largest
        # (Written out: keywords by a dict would add a third to the time of a small call.)
        empty, parts = _native.reduce(
            ticks(array),
            self.axis,
            function=self.function,
            largest=ends,
            keepdims=self.keepdims,
            select_last_index=self.select_last_index,
            omit=omit,
            times=times,
            where=where,
            values=values or beside,
            index=index,
        )
        found: list[ValuesIndices[Any, Any]] = []
        for part in parts:
            best, places = (None if each is None else np.asarray(each) for each in part)
            best = best.view(array.dtype.newbyteorder("=")) if times and best is not None else best
            found.append(ValuesIndices(best, places))
        if beside:
            low, high = found[0], found[-1]
            missing = np.isnat(low.values)
            indices = None if high.indices is None else np.where(missing, low.indices, high.indices)
            found[-1] = ValuesIndices(np.where(missing, low.values, high.values), indices)
            found = found[-len(self.largest) :]
        return empty if may_be_empty else None, tuple(found)

    def finish(
        self, array: NDArray[Any], empty: int | None, ends: Ends, values: bool, index: Index, defaults: Defaults
    ) -> Ends:
        """Return what was found with defaults and in the type of index, or refuse it; of `array` the shape is read."""
        axes = self.axes(array.ndim)
        if defaults is None and any(array.shape[axis] == 0 for axis in axes):
            # There may be no slice that lacks them.
            reason = f"{self.function}: the reduced axes {axes} of shape {array.shape} hold no element"
            given = _summary(array)
            raise ArgumentError(reason, given=given, remedy="reduce axes that are not empty, or pass a default")
        if self.nan_policy == "raise":
            found = nan(ends[0].values)
            if empty is not None:
                # The value of an empty slice means nothing.
                found &= ends[0].indices != -1
            self.refuse_nan(array, found)
        if empty and defaults is None:
            why = "all are NaN or masked" if self.nan_policy == "omit" else "all are masked"
            reason = f"{self.function}: {self._first_slice(ends[0].indices == -1)} has no element to choose from: {why}"
            raise ArgumentError(reason, given=_summary(array), remedy="pass a default for such slices")
        results = []
        for end, default in zip(ends, defaults or ends, strict=True):
            if empty:
                (end.values if values else end.indices)[end.indices == -1] = default
            indices = None if index is None else end.indices.astype(index, copy=False)
            results.append(ValuesIndices(end.values if values else None, indices))
        return tuple(results)

    def wrap(self, x: Operand, result: NDArray[Any]) -> Any:
        """Return a result that was found as an array of the caller's library."""

        def axis_map() -> Ints:
            axes = self.axes(rank := x.array.ndim)
            return tuple(-1 if axis in axes else axis for axis in range(rank) if self.keepdims or axis not in axes)

        return x.wrap(result, axis_map)

    def axes(self, rank: int) -> Ints:
        """Return the axes that are reduced, ascending."""
        if self.axis is None:
            return tuple(range(rank))
        several = self.axis if isinstance(self.axis, tuple | list) else (self.axis,)
        return tuple(sorted(operator.index(axis) % rank for axis in several))

    def mask(self, x: Operand) -> NDArray[np.bool_] | None:
        """Return which elements take part, None where all do; NaN is not looked for."""
        where = None if self.where is None else broadcast_mask(self.function, self.where, x.array.shape)
        if x.valid is None:
            return where
        if not x.masked and self.nan_policy != "omit":
            x.require_valid("fill or drop them first, or pass nan_policy='omit'", given=f"an array of {x.library}")
        return x.valid if where is None else np.asarray(where & x.valid)

    def defaults(self, array: NDArray[Any], values: bool, index: Index, defaults: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the defaults in the type of what they stand for, or refuse them."""
        if not values:
            limits = np.iinfo(index or _INT64)
            for each in defaults:
                if isinstance(each, bool | np.bool_) or not isinstance(each, int | np.integer):
                    reason = f"{self.function}: default is {each!r}, not an index"
                    raise ElementTypeError(reason, remedy="pass an integer")
                if not limits.min <= each <= limits.max:
                    reason = f"{self.function}: default={each} does not fit {limits.dtype}"
                    raise ArgumentError(reason, remedy="pass an index that fits, or dtype=int64")
            return tuple(map(int, defaults))
        if index is not None and index.kind == "u":
            reason = f"{self.function}: the index beside a default value is -1, which does not fit {index}"
            raise ArgumentError(reason, remedy="use a signed type of index, or no default")
        return tuple(_default_value(self.function, each, array.dtype.newbyteorder("=")) for each in defaults)

    def refuse_nan(self, array: NDArray[Any], found: NDArray[np.bool_]) -> None:
        """Refuse the slices that hold NaN."""
        if found.any():
            reason = f"{self.function}: {self._first_slice(found)} holds NaN"
            given = f"{_summary(array)}, nan_policy='raise'"
            raise ArgumentError(reason, given=given, remedy="use nan_policy='omit' or 'propagate', or mend the data")

    def _first_slice(self, meant: NDArray[np.bool_]) -> str:
        first = tuple(map(int, np.argwhere(meant)[0] + (self.origin or 0)))
        return f"the slice at {first} of the result" if first else "the array"


def _summary(array: NDArray[Any]) -> str:
    return f"{array.dtype}[{', '.join(map(str, array.shape))}]"


def operand_of(function: str, x: object) -> Operand:
    """Return the argument of a function, in whatever library the caller has it."""
    try:
        return as_operand(x)
    except ExtremumError as error:
        # An error about a column names it.
        where = f"{function}, {error.where}" if error.where else function
        raise type(error)(error.reason, where=where, given=error.given, remedy=error.remedy) from None


def index_type(function: str, dtype: Any, out: object = None) -> np.dtype[Any]:
    """Return the type of indices that a caller names, or that `out` has."""
    if dtype is None:
        own: np.dtype[Any] = out.dtype.newbyteorder("=") if isinstance(out, np.ndarray) else _INT64
        return own if own.kind in "iu" else _INT64
    # (A type of another library, as PyTorch's are, or none at all.)
    with suppress(TypeError, ValueError):
        dtype = np.dtype(dtype)
        if dtype.kind in "iu" and dtype.isnative:
            return cast(np.dtype[Any], dtype)
    reason = f"{function}: index type {dtype} is not an integer type in this machine's byte order"
    raise ElementTypeError(reason, remedy=f"use {_keyword(function)}=int64, the default")


def require_fit(function: str, last: float, index: Index, array: NDArray[Any] | None = None) -> None:
    """Refuse a type that does not hold the last index of a slice."""
    if index is not None and last > np.iinfo(index).max:
        reason = f"{function}: an index up to {last} does not fit {index}"
        given = "" if array is None else _summary(array)
        raise ArgumentError(reason, given=given, remedy=f"use {_keyword(function)}=int64")


def _keyword(function: str) -> str:
    return "dtype" if function.startswith("arg") else "index_dtype"


def require_policy(function: str, nan_policy: object) -> None:
    """Refuse a word that is no policy."""
    if not isinstance(nan_policy, str) or nan_policy not in get_args(NanPolicy):
        reason = f"{function}: there is no NaN policy {nan_policy!r}"
        raise ArgumentError(reason, remedy="use 'propagate', 'omit' or 'raise'")


def flag(function: str, name: str, value: object) -> bool:
    """Return an option that is either true or false, or refuse it; what has an index counts, as in NumPy."""
    if isinstance(value, np.bool_):
        return bool(value)
    try:
        return bool(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(f"{function}: {name} is {value!r}, not a bool", remedy="pass True or False") from None


def as_mask(function: str, where: Any) -> NDArray[np.bool_]:
    """Return a mask of any library as an array of bool, or refuse it; an element of it that is missing is neither."""
    operand = operand_of(function, where)
    array = operand.array
    if count := operand.missing:
        reason = f"{function}: where has {count} missing element{'s'[: count > 1]}, neither True nor False"
        raise ArgumentError(reason, remedy="fill them with what they are to mean")
    if array.dtype != np.bool_:
        reason = f"{function}: where has element type {array.dtype}, not bool"
        given = f"where: {array.dtype}{list(array.shape)}"
        raise ElementTypeError(reason, given=given, remedy="pass the outcome of a comparison, or where.astype(bool)")
    return array


def broadcast_mask(function: str, where: Any, shape: Ints) -> NDArray[Any]:
    """Return a mask in the shape of the array it belongs to."""
    array = as_mask(function, where)
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        reason = f"where has shape {array.shape}, which does not broadcast to the shape {shape} of the array"
        remedy = "its dimensions, aligned at the last one, must be equal to those of the array, or 1"
        raise ArgumentError(f"{function}: {reason}", remedy=remedy) from None


def nan(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where the elements are NaN, or NaT."""
    # (ml_dtypes widens a bfloat16 to look at it, at which a signalling NaN is an invalid operation.)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isnan(array), np.bool_)


def _in_utc(function: str, default: Any, zone: str | None) -> Any:
    """Return a default beside elements in a time zone as they are compared: in UTC; other defaults as they are."""
    if zone is None or default is None:
        return default
    if isinstance(default, tuple):
        return tuple(_in_utc(function, each, zone) for each in default)
    if isinstance(default, datetime.datetime) and default.tzinfo is not None:
        return _time(default.astimezone(datetime.timezone.utc).replace(tzinfo=None))
    if isinstance(default, datetime.datetime | np.datetime64) and default != default:
        return np.datetime64("NaT")
    reason = f"{function}: default is {default!r} without a time zone, and the elements are in the zone {zone}"
    raise ArgumentError(reason, remedy="pass a datetime with a time zone")


def _time(default: Any) -> Any:
    """Return a time without a zone of Python or pandas as one of NumPy; others as they are."""
    if not isinstance(default, datetime.date | datetime.timedelta) or getattr(default, "tzinfo", None) is not None:
        return default
    # pandas' own have nanoseconds.
    if (exact := getattr(default, "to_numpy", None)) is not None:
        return exact()
    return np.timedelta64(default) if isinstance(default, datetime.timedelta) else np.datetime64(default)


def _default_value(function: str, default: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a default as an array without dimensions, in the element type of the array it stands beside."""
    if dtype.kind in "mM":
        value = np.asarray(_time(default))
        if value.ndim == 0 and value.dtype.kind == dtype.kind and np.can_cast(value.dtype, dtype, "same_kind"):
            if (lost := first_lost(value, dtype)) is not None:
                reason = f"{function}: default={lost} does not fit {dtype}"
                raise ArgumentError(reason, remedy="pass a time that the unit can hold")
            return value.astype(dtype)
    else:
        number = default.item() if isinstance(default, np.generic | np.ndarray) and np.ndim(default) == 0 else default
        if isinstance(number, bool | int | float) and takes(dtype, number):
            try:
                return as_element(number, dtype)
            except ArgumentError as error:
                raise ArgumentError(f"{function}: default={number} does not fit {dtype}", remedy=error.remedy) from None
    reason = f"{function}: default is {default!r}, which is no element of {dtype}"
    raise ElementTypeError(reason, remedy=f"pass one value of {dtype}")


def write_out(function: str, out: Any, result: NDArray[Any], *, fill: bool = True) -> NDArray[Any]:
    """Copy a finished result to the caller's array, which is not touched before; or only check that it fits."""
    if not isinstance(out, np.ndarray):
        raise ArgumentTypeError(f"{function}: out is {type(out).__name__}, not an array", remedy="pass a numpy.ndarray")
    if out.dtype.newbyteorder("=") != result.dtype or out.shape != result.shape or not out.flags.writeable:
        raise wrong_output(function, out, result.dtype, result.shape)
    if fill:
        # The native module writes, because it refuses an output whose elements share memory.
        _native.extremum(function, (ticks(result),), largest=True, omit=False, out=ticks(out))
    return out


def wrong_output(function: str, out: NDArray[Any], dtype: np.dtype[Any], shape: Sequence[int]) -> ExtremumError:
    """Return the error about an array that does not take a result of this type and shape."""
    shape, given, own = tuple(shape), f"out: {out.dtype}{list(out.shape)}", out.dtype.newbyteorder("=")
    if own != dtype:
        reason = f"{function}: out has element type {own}, the result has {dtype}"
        return ElementTypeError(reason, given=given, remedy=f"pass an array of {dtype}")
    if out.shape != shape:
        reason = f"{function}: out has shape {out.shape}, the result has shape {shape}"
        return ArgumentError(reason, given=given, remedy=f"pass an array of shape {shape}")
    reason, remedy = "out cannot be written to", "pass an array that is writable and whose elements do not share memory"
    return ArgumentError(f"{function}: {reason}", given=given, remedy=remedy)


def ticks(array: NDArray[Any]) -> NDArray[Any]:
    """Return times as the integers that they are stored as, in their byte order; other elements as they are."""
    return array.view(_INT64.newbyteorder(array.dtype.byteorder)) if array.dtype.kind in "mM" else array


# At which ends of the order each function looks: True for the largest.
ENDS: dict[str, tuple[bool, ...]] = {
    **dict.fromkeys(("argmax", "max", "hardmax"), (True,)),
    **dict.fromkeys(("argmin", "min"), (False,)),
    "minmax": (False, True),
}


def beyond_index(function: str, x: Any, axis: Any, **options: Any) -> Any:
    """Answer a call of :func:`extremum.argmax` or ``argmin`` that the native module does not answer by itself."""
    if (own := frontend(function, x)) is not None:
        return own(x, axis, **options)
    dtype, out, default = (options.pop(name, None) for name in ("dtype", "out", "default"))
    operand = operand_of(function, x)
    call = Reduction(function, ENDS[function], axis, **options)
    if operand.array is not x and operand.valid is None:
        return call.answer_natively(operand, dtype=dtype, out=out, default=default)
    return call.answer(operand, False, index_type(function, dtype, out), default, out)


def beyond_values(function: str, x: Any, axis: Any, *, return_index: bool, **options: Any) -> Any:
    """Answer a call of ``max``, ``min`` or ``minmax`` that the native module does not answer by itself."""
    if (own := frontend(function, x)) is not None:
        return own(x, axis, return_index=return_index, **options)
    index_dtype, out, default = (options.pop(name, None) for name in ("index_dtype", "out", "default"))
    operand = operand_of(function, x)
    call = Reduction(function, ENDS[function], axis, **options)
    operand.require_no_zone(out)
    if operand.array is not x and operand.valid is None and default is None and out is None:
        return call.answer_natively(operand, return_index=return_index, index_dtype=index_dtype)
    index = index_type(function, index_dtype) if return_index else None
    if out is not None and index is not None:
        raise ArgumentError(f"{function}: out receives values alone", remedy="leave out, or return_index, away")
    return call.answer(operand, True, index, _in_utc(function, default, operand.zone), out)


def values_then_indices(ends: Ends) -> tuple[Any, ...]:
    """Return the values at each end of the order and then the indices, as far as they are wanted."""
    return tuple([each for at in (0, 1) for end in ends if (each := end[at]) is not None])


def hardmax(x: object, axis: Any, out: Any, nan_policy: Any, where: Any) -> Any:
    """Answer a call of :func:`extremum.hardmax`."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    if (own := frontend("hardmax", x)) is not None:
        return own(x, axis, out=out, nan_policy=nan_policy, where=where)
    call = Reduction("hardmax", (True,), axis, True, False, nan_policy, where)
    operand = operand_of("hardmax", x)
    array = operand.array
    if operand.valid is None and where is None and nan_policy == "propagate" and array.dtype.kind not in "mM":
        result = np.asarray(_native.hardmax(array, axis, out=out))
    else:
        (found,) = call.find(operand, False, _INT64, (-1,))
        # Times have no 1, so that theirs is an integer.
        dtype = np.dtype(np.int64) if array.dtype.kind in "mM" else array.dtype.newbyteorder("=")
        result = ones(found.indices, call.axes(array.ndim), array.shape, (0,) * array.ndim, array.shape, dtype)
        if out is not None:
            write_out("hardmax", out, result)
    return out if out is not None else operand.wrap(result, lambda: tuple(range(array.ndim)))


def ones(
    indices: NDArray[Any], axes: Ints, whole: Ints, offset: Ints, shape: Ints, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Write a 1 at each index but -1, in the piece of this shape that starts at `offset` of a whole."""
    result: NDArray[Any] = np.zeros(shape, dtype)
    if not result.size:
        return result
    places: list[NDArray[Any]] = list(np.indices(indices.shape, sparse=True))
    inside = np.asarray(indices != -1)
    for axis, place in zip(axes, unravel(indices, whole, axes), strict=True):
        places[axis] = place - offset[axis]
        inside &= (places[axis] >= 0) & (places[axis] < shape[axis])
    for axis in axes:
        places[axis] = np.where(inside, places[axis], 0)
    result[tuple(places)] = inside
    return result
