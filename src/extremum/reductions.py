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
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.arrays import as_array, as_element, first_lost
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, ExtremumError
from extremum.indices import unravel
from extremum.interop import Adopted, adopt, frontend
from extremum.signatures import MinMax, MinMaxIndices, NanPolicy, ValuesIndices

__all__ = [
    "ENDS",
    "Found",
    "Reduction",
    "adopted_for",
    "arg",
    "beyond",
    "flag",
    "hardmax",
    "index_type",
    "into",
    "mask",
    "nan",
    "ones",
    "require_fit",
    "require_policy",
    "truths",
]

_INT64 = np.dtype(np.int64)


class Found(NamedTuple):
    """What a reduction found at one end of the order, in the shape of the result; None is what was not wanted."""

    values: Any
    indices: Any


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
        self.nan_policy = "propagate" if self.nan_policy is None else self.nan_policy
        self.keepdims = flag(self.function, "keepdims", self.keepdims)
        self.select_last_index = flag(self.function, "select_last_index", self.select_last_index)

    def ends(self, default: Any) -> tuple[Any, ...] | None:
        """Return a default for each end of the order, None where there is no default."""
        if default is None:
            return None
        defaults = (
            default if self.function == "minmax" and isinstance(default, tuple) else (default,) * len(self.largest)
        )
        if len(defaults) != len(self.largest):
            raise ArgumentError(
                f"{self.function}: default has {len(defaults)} values", remedy="pass one, or a smallest and a largest"
            )
        return tuple(defaults)

    def find(
        self, x: Adopted, values: bool, index: np.dtype[Any] | None, defaults: tuple[Any, ...] | None
    ) -> tuple[Found, ...]:
        """Find values, indices or both; `defaults` has one for each end, an index where no values are wanted."""
        require_policy(self.function, self.nan_policy)
        settled = None if defaults is None else self.defaults(x.array, values, index, defaults)
        wanted = values or self.nan_policy == "raise"
        lacking, ends = self.search(x, wanted, index)
        # (A search for what may lack counts in another type.)
        last = math.prod(x.array.shape[axis] for axis in self.axes(x.array.ndim)) - 1
        require_fit(self.function, last, index, x.array)
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
        array, where, times = x.array, self._taking_part(x), x.array.dtype.kind in "mM"
        omit = self.nan_policy == "omit" and array.dtype.kind not in "biu"
        may_lack = omit or where is not None or array.size == 0
        if may_lack:
            index = index if index is not None and index.kind == "i" else _INT64
        # NaT is stored as the smallest integer: it is the extremum of itself, or else looked for beside the largest.
        beside = times and not omit and True in self.largest
        ends = tuple(dict.fromkeys((False, *self.largest))) if beside else self.largest
        lacking, parts = _native.reduce(
            array.view(_int64(array)) if times else array,
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
        found = [Found(*(None if each is None else np.asarray(each) for each in part)) for part in parts]
        if times:
            native = array.dtype.newbyteorder("=")
            found = [Found(None if end.values is None else end.values.view(native), end.indices) for end in found]
        if beside:
            low, high = found[0], found[-1]
            missing = np.isnat(low.values)
            place = None if high.indices is None else np.where(missing, low.indices, high.indices)
            found[-1] = Found(np.where(missing, low.values, high.values), place)
            found = found[-len(self.largest) :]
        if not values:
            found = [Found(None, end.indices) for end in found]
        return lacking if may_lack else None, found

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
                self._fill(array, end.values if values else None, end.indices, defaults[number] if defaults else None)
            found.append(Found(end.values if values else None, self._narrowed(end.indices, index)))
        return tuple(found)

    def wrap(self, x: Adopted, result: NDArray[Any]) -> Any:
        """Return a result that was found as an array of the caller's library."""
        return x.wrap(result, lambda: self.kept(x.array.ndim))

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
            where = mask(self.function, adopted_for(self.function, self.where).mask(self.function), x.array.shape)
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
            return tuple(_default_index(self.function, each, index or _INT64) for each in defaults)
        if index is not None and index.kind == "u":
            raise ArgumentError(
                f"{self.function}: the index beside a default value is -1, which does not fit {index}",
                remedy="use a signed type of index, or no default",
            )
        return tuple(_default_value(self.function, each, array.dtype.newbyteorder("=")) for each in defaults)

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
        found = nan(end.values)
        if may_lack:
            found &= end.indices != -1
        if found.any():
            raise ArgumentError(
                f"{self.function}: {self._first_slice(found)} holds NaN",
                given=f"{_summary(array)}, nan_policy='raise'",
                remedy="use nan_policy='omit' or 'propagate', or mend the data",
            )

    def _first_slice(self, meant: NDArray[np.bool_]) -> str:
        first = tuple(map(int, np.argwhere(meant)[0] + (self.origin or 0)))
        return f"the slice at {first} of the result" if first else "the array"

    def _narrowed(self, place: NDArray[Any] | None, index: np.dtype[Any] | None) -> NDArray[Any] | None:
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


def require_fit(function: str, last: float, index: np.dtype[Any] | None, array: NDArray[Any] | None = None) -> None:
    """Refuse a type that does not hold the last index of a slice."""
    if index is not None and last > np.iinfo(index).max:
        raise ArgumentError(
            f"{function}: an index up to {last} does not fit {index}",
            given="" if array is None else _summary(array),
            remedy=f"use {_keyword(function)}=int64",
        )


def _keyword(function: str) -> str:
    return "dtype" if function.startswith("arg") else "index_dtype"


def require_policy(function: str, nan_policy: object) -> None:
    """Refuse a word that is no policy."""
    if not isinstance(nan_policy, str) or nan_policy not in get_args(NanPolicy):
        raise ArgumentError(
            f"{function}: there is no NaN policy {nan_policy!r}", remedy="use 'propagate', 'omit' or 'raise'"
        )


def flag(function: str, name: str, value: object) -> bool:
    """Return an option that is either true or false, or refuse it; what has an index counts, as in NumPy."""
    if isinstance(value, np.bool_):
        return bool(value)
    try:
        return bool(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        reason = f"{function}: {name} is {value!r}, not a bool"
        raise ArgumentTypeError(reason, remedy="pass True or False") from None


def truths(function: str, where: Any) -> NDArray[np.bool_]:
    """Return a mask as an array of bool, or refuse it."""
    array = as_array(where)
    if array.dtype != np.bool_:
        raise ElementTypeError(
            f"{function}: where has element type {array.dtype}, not bool",
            given=f"where: {array.dtype}{list(array.shape)}",
            remedy="pass the outcome of a comparison, or where.astype(bool)",
        )
    return array


def mask(function: str, where: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a mask in the shape of the array it belongs to."""
    array = truths(function, where)
    try:
        whole: NDArray[Any] = np.broadcast_to(array, shape)
    except ValueError:
        raise ArgumentError(
            f"{function}: where has shape {array.shape}, which does not broadcast to the shape {shape} of the array",
            remedy="its dimensions, aligned at the last one, must be equal to those of the array, or 1",
        ) from None
    return whole


def nan(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where the elements are NaN, or NaT."""
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array), np.bool_)
    if array.dtype.kind in "biu":
        return np.zeros(array.shape, np.bool_)
    # (ml_dtypes widens a bfloat16 to look at it, at which a signalling NaN is an invalid operation.)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isnan(array), np.bool_)


def _default_index(function: str, default: Any, dtype: np.dtype[Any]) -> int:
    if isinstance(default, bool | np.bool_) or not isinstance(default, int | np.integer):
        raise ElementTypeError(f"{function}: default is {default!r}, not an index", remedy="pass an integer")
    limits = np.iinfo(dtype)
    if not limits.min <= default <= limits.max:
        raise ArgumentError(
            f"{function}: default={default} does not fit {dtype}", remedy="pass an index that fits, or dtype=int64"
        )
    return int(default)


def _in_utc(function: str, default: Any, zone: str | None) -> Any:
    """Return a default beside elements in a time zone as they are compared: in UTC; other defaults as they are."""
    if zone is None or default is None:
        return default
    if isinstance(default, datetime.datetime) and default.tzinfo is not None:
        return _time(default.astimezone(datetime.timezone.utc).replace(tzinfo=None))
    if isinstance(default, datetime.datetime | np.datetime64) and default != default:
        return np.datetime64("NaT")
    raise ArgumentError(
        f"{function}: default is {default!r} without a time zone, and the elements are in the zone {zone}",
        remedy="pass a datetime with a time zone",
    )


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
                raise ArgumentError(
                    f"{function}: default={lost} does not fit {dtype}",
                    remedy="pass a time that the unit can hold",
                )
            return value.astype(dtype)
    elif isinstance(default, bool | int | float | np.generic | np.ndarray) and np.ndim(default) == 0:
        number = default.item() if isinstance(default, np.generic | np.ndarray) else default
        if isinstance(number, bool | int | float):
            try:
                value = as_element(number, dtype)
            except ArgumentError as error:
                raise ArgumentError(f"{function}: default={number} does not fit {dtype}", remedy=error.remedy) from None
            if value.dtype == dtype:
                return value
    raise ElementTypeError(
        f"{function}: default is {default!r}, which is no element of {dtype}", remedy=f"pass one value of {dtype}"
    )


def into(function: str, out: Any, result: NDArray[Any], *, fill: bool = True) -> NDArray[Any]:
    """Copy a finished result to the caller's array, which is not touched before; or only check that it fits."""
    if not isinstance(out, np.ndarray):
        raise ArgumentTypeError(f"{function}: out is {type(out).__name__}, not an array", remedy="pass a numpy.ndarray")
    given = f"out: {out.dtype}{list(out.shape)}"
    if out.dtype.newbyteorder("=") != result.dtype:
        raise ElementTypeError(
            f"{function}: out has element type {out.dtype}, the result has {result.dtype}",
            given=given,
            remedy=f"pass an array of {result.dtype}",
        )
    if out.shape != result.shape:
        raise ArgumentError(
            f"{function}: out has shape {out.shape}, the result has shape {result.shape}",
            given=given,
            remedy=f"pass an array of shape {result.shape}",
        )
    if not out.flags.writeable:
        raise ArgumentError(
            f"{function}: out cannot be written to",
            given=given,
            remedy="pass an array that is writable and whose elements do not share memory",
        )
    if fill:
        # The native module writes, because it refuses an output whose elements share memory.
        times = result.dtype.kind in "mM"
        source, target = (each.view(_int64(each)) if times else each for each in (result, out))
        _native.extremum(function, (source,), largest=True, omit=False, out=target)
    return out


def _int64(times: NDArray[Any]) -> np.dtype[Any]:
    """Return the integers that times are stored as, in their byte order."""
    return np.dtype(np.int64).newbyteorder(times.dtype.byteorder)


# At which ends of the order each function looks: True for the largest.
ENDS = {"argmax": (True,), "argmin": (False,), "max": (True,), "min": (False,), "minmax": (False, True)}
_ARG = ("keepdims", "select_last_index", "dtype", "out", "nan_policy", "where", "default")
_VALUE = ("keepdims", "return_index", "select_last_index", "nan_policy", "where", "default", "index_dtype", "out")


def arg(function: str, x: Any, axis: Any, *options: Any) -> Any:
    """Answer a call of :func:`extremum.argmax` or ``argmin`` that the native module does not answer by itself."""
    if (own := frontend(function, x)) is not None:
        return own(x, axis, **_named(_ARG, options))
    keepdims, last, dtype, out, nan_policy, where, default = options
    adopted, call = (
        adopted_for(function, x),
        Reduction(function, ENDS[function], axis, keepdims, last, nan_policy, where),
    )
    if adopted.array is not x and adopted.present is None:
        return call.natively(adopted, dtype=dtype, out=out, default=default)
    (found,) = call.find(adopted, False, index_type(function, dtype, out), call.ends(default))
    return call.wrap(adopted, found.indices) if out is None else into(function, out, found.indices)


def beyond(function: str, x: Any, axis: Any, *options: Any) -> Any:
    """Answer a call of ``max``, ``min`` or ``minmax`` that the native module does not answer by itself."""
    if (own := frontend(function, x)) is not None:
        given = _named(_VALUE, options)
        if function == "minmax":
            del given["out"]
        return own(x, axis, **given)
    keepdims, return_index, last, nan_policy, where, default, index_dtype, out = options
    adopted, call = (
        adopted_for(function, x),
        Reduction(function, ENDS[function], axis, keepdims, last, nan_policy, where),
    )
    adopted.require_no_zone(out)
    if adopted.array is not x and adopted.present is None and default is None and out is None:
        return call.natively(adopted, return_index=return_index, index_dtype=index_dtype)
    index = index_type(function, index_dtype) if return_index else None
    if out is not None and index is not None:
        raise ArgumentError(f"{function}: out receives values alone", remedy="leave out, or return_index, away")
    defaults = call.ends(default)
    if defaults is not None:
        defaults = tuple(_in_utc(function, each, adopted.zone) for each in defaults)
    found = call.find(adopted, True, index, defaults)
    if out is not None:
        return into(function, out, found[0].values)
    results = [call.wrap(adopted, end.values) for end in found]
    results += [call.wrap(adopted, end.indices) for end in found if index is not None]
    if function == "minmax":
        return MinMax(*results) if index is None else MinMaxIndices(*results)
    return results[0] if index is None else ValuesIndices(*results)


def _named(names: Sequence[str], options: Sequence[Any]) -> dict[str, Any]:
    given = dict(zip(names, options, strict=True))
    return given if given["nan_policy"] is not None else given | {"nan_policy": "propagate"}


def hardmax(x: object, axis: Any, out: Any, nan_policy: Any, where: Any) -> Any:
    """Answer a call of :func:`extremum.hardmax`."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    if (own := frontend("hardmax", x)) is not None:
        return own(x, axis, out=out, nan_policy=nan_policy, where=where)
    call = Reduction("hardmax", (True,), axis, True, False, nan_policy, where)
    adopted = adopted_for("hardmax", x)
    array = adopted.array
    plain = adopted.present is None and where is None and nan_policy == "propagate" and array.dtype.kind not in "mM"
    if plain:
        result = np.asarray(_native.hardmax(array, axis, out=out))
    else:
        (found,) = call.find(adopted, False, np.dtype(np.int64), (-1,))
        # Times have no 1, so that theirs is an integer.
        dtype = np.dtype(np.int64) if array.dtype.kind in "mM" else array.dtype.newbyteorder("=")
        start = (0,) * array.ndim
        result = ones(found.indices, call.axes(array.ndim), array.shape, start, array.shape, dtype)
        if out is not None:
            into("hardmax", out, result)
    return out if out is not None else adopted.wrap(result, lambda: tuple(range(array.ndim)))


def ones(
    indices: NDArray[Any],
    axes: tuple[int, ...],
    whole: tuple[int, ...],
    offset: tuple[int, ...],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
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
