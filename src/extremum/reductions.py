"""Reductions with every option: values and indices, hardmax, a NaN policy, a mask, a default, `out`.

This file decides which elements take part, what the result of an empty slice is, and which option values are errors.
The native module finds values and indices in one pass; it calls this file for arrays of other libraries and for options
beyond its fast path. The kernels decide how NaN compares with numbers under ``propagate``.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.arrays import FILL, as_element, as_output, misfit_of, takes
from extremum.engine import NATIVE, Engine
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, ExtremumError, within
from extremum.functions import FUNCTIONS, OVER_AXES
from extremum.indices import unravel
from extremum.interop import Labels, Operand, are_alike, as_operand, frontend, labels_of
from extremum.printable import counted
from extremum.signatures import NanPolicy, ValuesIndices, result_of

_INT64 = np.dtype(np.int64)

Ints = tuple[int, ...]
Index = np.dtype[Any] | None
"""The type of the indices; None if the caller wants no indices."""
Ends = tuple[ValuesIndices[Any, Any], ...]
"""For each end of the order, the values and indices in the shape of the result; None for what is not returned."""


@dataclass(slots=True)
class Reduction:
    """One call: its axes, its ends of the order, and which elements take part."""

    function: str
    # True for the largest, False for the smallest; one entry or both.
    largest: tuple[bool, ...]
    axis: Any = None
    keepdims: bool = False
    select_last_index: bool = False
    nan_policy: Any = "propagate"
    where: Any = None
    # If the array is a piece of a larger array: where its result starts in the result of the larger array.
    origin: Ints = ()
    # Who searches, and finishes the results.
    engine: Engine = NATIVE

    def __post_init__(self) -> None:
        if self.nan_policy is None:
            self.nan_policy = "propagate"
        self.keepdims = flag(self.function, "keepdims", self.keepdims)
        self.select_last_index = flag(self.function, "select_last_index", self.select_last_index)

    def find(self, x: Operand, values: bool, index: Index, default: Any) -> Ends:
        """Find values, indices or both; without values, the default is an index."""
        require_policy(self.function, self.nan_policy)
        # Under `raise` the values tell whether a slice holds NaN.
        empty, ends = self.search(x, values or self.nan_policy == "raise", index)
        # If slices may be empty, the search may count in another type than `index`.
        last = math.prod([x.array.shape[axis] for axis in self.axes(x.array.ndim)]) - 1
        require_fit(self.function, last, index, x.array)
        return self.finish(x.array, empty, ends, values, index, default)

    def search(self, x: Operand, values: bool, index: Index) -> tuple[int | None, Ends]:
        """Return the number of empty slices, None if no slice can be empty, and the result at each end of the order.

        A slice is empty if no element of it takes part; its index is -1. So if slices may be empty, there are indices,
        of a signed type. Without `index` they tell only the empty slices from the others.
        """
        array = x.array
        where = self.mask(x)
        times = array.dtype.kind in "mM"
        omit = self.nan_policy == "omit" and array.dtype.kind not in "biu"
        may_be_empty = omit or where is not None or array.size == 0
        if may_be_empty and index is not None and index.kind != "i":
            index = _INT64
        # NaT is stored as the smallest integer: a search for the smallest finds it. For the largest, search for both.
        both_ends = times and not omit and True in self.largest
        largest = self.largest
        if both_ends:
            largest = tuple(dict.fromkeys((False, *largest)))
        # The keywords are written out: a dict of keywords would add a third to the time of a small call.
        empty, parts = self.engine.reduce(
            ticks(array),
            self.axis,
            function=self.function,
            largest=largest,
            keepdims=self.keepdims,
            select_last_index=self.select_last_index,
            omit=omit,
            times=times,
            where=where,
            values=values or both_ends,
            index=index,
        )
        results = [ValuesIndices(*part) for part in parts]
        if times:
            results = [_as_times(array.dtype, each) for each in results]
        if both_ends:
            results[-1] = _nat_or(low=results[0], high=results[-1])
            results = results[-len(self.largest) :]
        return empty if may_be_empty else None, tuple(results)

    def finish(
        self, array: NDArray[Any], empty: int | None, ends: Ends, values: bool, index: Index, default: Any
    ) -> Ends:
        """Fill defaults into the results and convert the indices, or refuse them; this reads no element of `array`."""
        axes = self.axes(array.ndim)
        defaults = self.defaults(array.dtype, values, index, default)
        if defaults is None and any(array.shape[axis] == 0 for axis in axes):
            # The result may have no slices: then none of them counts as empty.
            raise ArgumentError(
                f"{self.function}: the reduced axes {axes} of shape {array.shape} hold no element",
                given=summary_of(array),
                remedy="reduce axes that are not empty, or pass a default",
            )
        engine = self.engine
        if self.nan_policy == "raise":
            nans = engine.is_nan(ends[0].values)
            if empty is not None:
                # The value of an empty slice means nothing.
                nans &= ~engine.is_empty(ends[0].indices)
            self.refuse_nan(array, nans)
        if empty and defaults is None:
            self._refuse_empty(array, engine.is_empty(ends[0].indices))
        results = []
        for end, filling in zip(ends, defaults or ends, strict=True):
            # The index of an empty slice is -1 as it is.
            if empty and defaults is not None and (values or filling != -1):
                engine.fill(end.values if values else end.indices, engine.is_empty(end.indices), filling)
            indices = None if index is None else engine.cast(end.indices, index)
            results.append(ValuesIndices(end.values if values else None, indices))
        return tuple(results)

    def axes(self, rank: int) -> Ints:
        """Return the axes that are reduced, ascending."""
        if self.axis is None:
            return tuple(range(rank))
        several = self.axis if isinstance(self.axis, tuple | list) else (self.axis,)
        return tuple(sorted(operator.index(axis) % rank for axis in several))

    def mask(self, x: Operand) -> NDArray[np.bool_] | None:
        """Return a mask of the elements that take part, None if all do; this does not look for NaN."""
        if self.where is None:
            where = None
        elif self.engine.of_numpy:
            where = as_mask(self.function, self.where, x.array.shape, x.labels)
        else:
            where = self.engine.mask(self.function, self.where, x.array)
        if x.valid is None:
            return where
        if not x.masked and self.nan_policy != "omit":
            with within(self.function):
                x.whole(f"an array of {x.library}", f"{FILL}, or pass nan_policy='omit'")
        return x.valid if where is None else np.asarray(where & x.valid)

    def defaults(
        self, dtype: np.dtype[Any], values: bool, index: Index, default: Any
    ) -> tuple[Any, ...] | None:
        """Return a default for each end of the order, in the type of the result that it replaces, or refuse it."""
        if default is None:
            return None
        is_pair = isinstance(default, tuple) and len(FUNCTIONS[self.function].largest) > 1
        defaults = default if is_pair else (default,) * len(self.largest)
        if len(defaults) != len(self.largest):
            raise ArgumentError(
                f"{self.function}: default has {len(defaults)} values",
                remedy="pass one, or a smallest and a largest",
            )
        if not values:
            return (_default_index(self.function, default, index or _INT64),)
        if index is not None and index.kind == "u":
            raise ArgumentError(
                f"{self.function}: the index of a default value is -1, which does not fit {index}",
                remedy="use a signed type of index, or no default",
            )
        return tuple(default_value(self.function, each, dtype.newbyteorder("=")) for each in defaults)

    def refuse_nan(self, array: NDArray[Any], nans: NDArray[np.bool_]) -> None:
        """Refuse the slices that hold NaN."""
        place = self.engine.first(nans)
        if place is not None:
            raise ArgumentError(
                f"{self.function}: {self.slice_at(place)} holds NaN",
                given=f"{summary_of(array)}, nan_policy='raise'",
                remedy="use nan_policy='omit' or 'propagate', or mend the data",
            )

    def _refuse_empty(self, array: NDArray[Any], slices: NDArray[np.bool_]) -> None:
        """Refuse the slices without an element that takes part."""
        place = self.engine.first(slices)
        if place is None:
            # An engine that would have to wait for the number of empty slices says that there may be some.
            return
        why = "all are NaN or masked" if self.nan_policy == "omit" else "all are masked"
        raise ArgumentError(
            f"{self.function}: {self.slice_at(place)} has no element to choose from: {why}",
            given=summary_of(array),
            remedy="pass a default for such slices",
        )

    def slice_at(self, place: Ints) -> str:
        """Return the words for a slice, by its place in the result; of the larger array, if this is a piece."""
        if not place:
            return "the array"
        origin = self.origin or (0,) * len(place)
        return f"the slice at {tuple(map(operator.add, place, origin))} of the result"


def _as_times(dtype: np.dtype[Any], end: ValuesIndices[Any, Any]) -> ValuesIndices[Any, Any]:
    """Return the stored integers of times as times, in this machine's byte order."""
    if end.values is None:
        return end
    return ValuesIndices(end.values.view(dtype.newbyteorder("=")), end.indices)


def _nat_or(low: ValuesIndices[Any, Any], high: ValuesIndices[Any, Any]) -> ValuesIndices[Any, Any]:
    """Return NaT where the smallest is NaT, and the largest elsewhere."""
    missing = np.isnat(low.values)
    indices = None if high.indices is None else np.where(missing, low.indices, high.indices)
    return ValuesIndices(np.where(missing, low.values, high.values), indices)


def operand_of(function: str, x: object) -> Operand:
    """Return the argument of a function as an operand, whatever its library."""
    try:
        return as_operand(x)
    except ExtremumError as error:
        # An error about a column has the column in `where`.
        raise type(error)(
            error.reason,
            where=f"{function}, {error.where}" if error.where else function,
            given=error.given,
            remedy=error.remedy,
        ) from None


def index_type(function: str, dtype: Any, out: object = None) -> np.dtype[Any]:
    """Return the index type that the caller names, or else the type of `out`."""
    if dtype is None:
        own: np.dtype[Any]
        if isinstance(out, np.ndarray):
            own = out.dtype.newbyteorder("=")
        else:
            own = _INT64
        return own if own.kind in "iu" else _INT64
    # NumPy raises these errors for types of other libraries, such as PyTorch's, and for values that are not types.
    with suppress(TypeError, ValueError):
        dtype = np.dtype(dtype)
        if dtype.kind in "iu" and dtype.isnative:
            return cast(np.dtype[Any], dtype)
    raise ElementTypeError(
        f"{function}: index type {dtype} is not an integer type in this machine's byte order",
        remedy=f"use {_keyword(function)}=int64, the default",
    )


def require_fit(function: str, last: float, index: Index, array: NDArray[Any] | None = None) -> None:
    """Refuse an index type that cannot hold the last index of a slice."""
    if index is not None and last > np.iinfo(index).max:
        raise ArgumentError(
            f"{function}: an index up to {last} does not fit {index}",
            given="" if array is None else summary_of(array),
            remedy=f"use {_keyword(function)}=int64",
        )


def _keyword(function: str) -> str:
    return "dtype" if function.startswith("arg") else "index_dtype"


def require_policy(function: str, nan_policy: object) -> None:
    """Refuse a value that is not a NaN policy."""
    if not isinstance(nan_policy, str) or nan_policy not in get_args(NanPolicy):
        raise ArgumentError(
            f"{function}: there is no NaN policy {nan_policy!r}", remedy="use 'propagate', 'omit' or 'raise'"
        )


def summary_of(array: NDArray[Any]) -> str:
    """Return the element type and the shape of an array, as errors give them."""
    return f"{array.dtype}{list(array.shape)}"


def flag(function: str, name: str, value: object) -> bool:
    """Return an option as a bool, or refuse it; any value with ``__index__`` counts, as in NumPy."""
    if isinstance(value, np.bool_):
        return bool(value)
    try:
        return bool(operator.index(value))  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            f"{function}: {name} is {value!r}, not a bool", remedy="pass True or False"
        ) from None


def as_mask(function: str, where: Any, shape: Ints | None = None, labels: Labels = ()) -> NDArray[np.bool_]:
    """Return a mask of any library as an array of bool, broadcast to the shape of its array, or refuse it.

    `labels` are those of its array: a mask that has other ones is refused.
    """
    require_labels(function, where, labels)
    operand = operand_of(function, where)
    if count := operand.missing:
        raise ArgumentError(
            f"{function}: where has {counted(count, 'missing element')}, neither True nor False",
            remedy="fill them with True or False",
        )
    mask: NDArray[np.bool_] = operand.array
    require_bool(function, mask)
    return mask if shape is None else np.asarray(spread_mask(function, mask, shape, np.broadcast_to))


def require_bool(function: str, mask: Any) -> None:
    """Refuse a mask whose elements are not bool."""
    if mask.dtype != np.bool_:
        raise ElementTypeError(
            f"{function}: where has element type {mask.dtype}, not bool",
            given=f"where: {summary_of(mask)}",
            remedy="pass the outcome of a comparison, or where.astype(bool)",
        )


def spread_mask(function: str, mask: Any, shape: Ints, broadcast: Callable[[Any, Ints], Any]) -> Any:
    """Return a mask broadcast to a shape by the function of its library, or refuse it."""
    try:
        return broadcast(mask, shape)
    except (RuntimeError, ValueError):
        raise ArgumentError(
            f"{function}: where has shape {mask.shape}, which does not broadcast to the shape {shape} of the array",
            remedy="its dimensions, aligned at the last one, must be equal to those of the array, or 1",
        ) from None


def require_labels(function: str, where: Any, labels: Labels) -> None:
    """Refuse a mask whose labels differ from those of its array: both are read by place."""
    if labels and not are_alike(labels_of(where), labels):
        raise ArgumentError(
            f"{function}: where and the array differ in their labels, and elements are masked by place",
            remedy="align it first, as where.reindex_like(x) or where.select(x.columns) does, or pass bare elements",
        )


nan = NATIVE.is_nan
"""Return where the elements of an array of NumPy are NaN, or NaT."""


def in_utc(function: str, default: Any, zone: str | None) -> Any:
    """Convert a default for elements in a time zone to UTC, in which they are compared; return others unchanged."""
    if zone is None or default is None:
        return default
    if isinstance(default, tuple):
        return tuple(in_utc(function, each, zone) for each in default)
    if isinstance(default, datetime.datetime) and default.tzinfo is not None:
        return _time(default.astimezone(datetime.timezone.utc).replace(tzinfo=None))
    if isinstance(default, datetime.datetime | np.datetime64) and default != default:
        return np.datetime64("NaT")
    raise ArgumentError(
        f"{function}: default is {default!r} without a time zone, and the elements are in the zone {zone}",
        remedy="pass a datetime with a time zone",
    )


def _time(default: Any) -> Any:
    """Convert a time of Python or pandas without a zone to NumPy's type; return other values unchanged."""
    if (
        not isinstance(default, datetime.date | datetime.timedelta)
        or getattr(default, "tzinfo", None) is not None
    ):
        return default
    # pandas' times have nanoseconds, which `to_numpy` keeps.
    if (exact := getattr(default, "to_numpy", None)) is not None:
        return exact()
    if isinstance(default, datetime.timedelta):
        return np.timedelta64(default)
    return np.datetime64(default)


def _default_index(function: str, default: Any, index: np.dtype[Any]) -> int:
    """Return a default in place of an index, or refuse it."""
    if isinstance(default, bool | np.bool_) or not isinstance(default, int | np.integer):
        raise ElementTypeError(f"{function}: default is {default!r}, not an index", remedy="pass an integer")
    limits = np.iinfo(index)
    if not limits.min <= default <= limits.max:
        raise ArgumentError(
            f"{function}: default={default} does not fit {index}",
            remedy="pass an index that fits, or dtype=int64",
        )
    return int(default)


def default_value(function: str, default: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a default as a 0-d array in the element type of the reduced array, or refuse it."""
    if dtype.kind in "mM":
        value = _default_time(function, default, dtype)
    else:
        value = _default_number(function, default, dtype)
    if value is None:
        raise ElementTypeError(
            f"{function}: default is {default!r}, which is not an element of {dtype}",
            remedy=f"pass one value of {dtype}",
        )
    return value


def _default_time(function: str, default: Any, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return a time in the unit of the elements, None for other values; refuse one that the unit cannot hold."""
    time = np.asarray(_time(default))
    if time.ndim or time.dtype.kind != dtype.kind or not np.can_cast(time.dtype, dtype, "same_kind"):
        return None
    if (misfit := misfit_of(time, dtype)) is not None:
        raise ArgumentError(
            f"{function}: default={misfit} does not fit {dtype}", remedy="pass a time that the unit can hold"
        )
    return time.astype(dtype)


def _default_number(function: str, default: Any, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """Return a number in the type of the elements, None for other values; refuse one beyond the type's range."""
    is_scalar = isinstance(default, np.generic | np.ndarray) and np.ndim(default) == 0
    number = default.item() if is_scalar else default
    if not isinstance(number, bool | int | float) or not takes(dtype, number):
        return None
    try:
        return as_element(number, dtype)
    except ArgumentError as error:
        raise ArgumentError(
            f"{function}: default={number} does not fit {dtype}", remedy=error.remedy
        ) from None


def write_out(function: str, out: Any, result: NDArray[Any], *, fill: bool = True) -> NDArray[Any]:
    """Copy a finished result to the caller's array, which stays untouched until then; or only check that it fits."""
    array = as_output(out, function)
    if (
        array.dtype.newbyteorder("=") != result.dtype
        or array.shape != result.shape
        or not array.flags.writeable
    ):
        raise wrong_output(function, array, result.dtype, result.shape)
    if fill:
        # The native module writes, because it refuses an output whose elements share memory.
        _native.extremum(function, (ticks(result),), largest=True, omit=False, out=ticks(array))
    return array


def wrong_output(
    function: str, out: NDArray[Any], dtype: np.dtype[Any], shape: Sequence[int]
) -> ExtremumError:
    """Return the error about an output array that cannot take a result of this type and shape."""
    given = f"out: {summary_of(out)}"
    own = out.dtype.newbyteorder("=")
    if own != dtype:
        return ElementTypeError(
            f"{function}: out has element type {own}, the result has {dtype}",
            given=given,
            remedy=f"pass an array of {dtype}",
        )
    if out.shape != tuple(shape):
        return ArgumentError(
            f"{function}: out has shape {out.shape}, the result has shape {tuple(shape)}",
            given=given,
            remedy=f"pass an array of shape {tuple(shape)}",
        )
    return ArgumentError(
        f"{function}: out cannot be written to",
        given=given,
        remedy="pass an array that is writable and whose elements do not share memory",
    )


def is_apart(out: NDArray[Any], shape: Ints, strides: Ints) -> bool:
    """Return whether no two elements share memory; False also where it takes too long to know."""
    out = np.lib.stride_tricks.as_strided(out, shape, strides)
    # Two elements differ along a first axis: one of them is in its first plane, the other in the rest, up to a shift.
    blocks = [out[(0,) * axis] for axis in range(out.ndim)]
    # NumPy's types know no number of tries.
    tries: Any = 1 << 20
    with suppress(np.exceptions.TooHardError):
        return not any(np.shares_memory(block[:1], block[1:], max_work=tries) for block in blocks)
    return False


def ticks(array: NDArray[Any]) -> NDArray[Any]:
    """Return times as their stored integers, in their byte order; return other elements unchanged."""
    if array.dtype.kind in "mM":
        return array.view(_INT64.newbyteorder(array.dtype.byteorder))
    return array


ENDS = {name: FUNCTIONS[name].largest for name in OVER_AXES}
"""The ends of the order that each function over axes looks for: True for the largest."""


def beyond(function: str, x: Any, axis: Any, **options: Any) -> Any:
    """Answer a call of ``argmax``, ``argmin``, ``max``, ``min`` or ``minmax`` that the native module passes on."""
    if (own := frontend(function, x)) is not None:
        return own(x, axis, **options)
    # What the native function has in addition to the options of a reduction.
    names = {"return_index", "dtype", "index_dtype", "default", "out"}
    settings = {name: options.pop(name) for name in names & options.keys()}
    out = settings.get("out")
    values = not function.startswith("arg")
    operand = operand_of(function, x)
    call = Reduction(function, ENDS[function], axis, engine=operand.engine, **options)
    if values:
        operand.require_no_zone(out)
        settings["default"] = in_utc(function, settings.get("default"), operand.zone)
        if out is not None and settings["return_index"]:
            raise ArgumentError(f"{function}: out receives values alone", remedy="omit out or return_index")
    if operand.array is not x and operand.valid is None and call.engine.of_numpy:
        # The native function takes the plain array of the operand, which has no labels.
        require_labels(function, call.where, operand.labels)
        result = getattr(_native, function)(operand.array, axis, **options, **settings)
        results = result if isinstance(result, tuple) else (result,)
    else:
        index: Index = None
        if settings.get("return_index", True):
            index = index_type(function, settings.get(_keyword(function)), None if values else out)
        results = values_then_indices(call.find(operand, values, index, settings.get("default")))
        if out is not None:
            write_out(function, out, results[0])
    if out is not None:
        return out
    axes = _axes_of_result(call, operand.array.ndim)
    return result_of(function, [operand.wrap(each, axes) for each in results])


def _axes_of_result(call: Reduction, rank: int) -> Ints:
    """Return for each axis of the result the axis of the array, or -1 for a reduced axis that is kept."""
    reduced = call.axes(rank)
    if call.keepdims:
        return tuple(-1 if axis in reduced else axis for axis in range(rank))
    return tuple(axis for axis in range(rank) if axis not in reduced)


def values_then_indices(ends: Ends) -> tuple[Any, ...]:
    """Return the values at each end of the order, then the indices; skip those that the call does not return."""
    return tuple([each for at in (0, 1) for end in ends if (each := end[at]) is not None])


def hardmax(x: object, axis: Any, out: Any, nan_policy: Any, where: Any) -> Any:
    """Answer a call of :func:`extremum.hardmax`."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    if (own := frontend("hardmax", x)) is not None:
        return own(x, axis, out=out, nan_policy=nan_policy, where=where)
    operand = operand_of("hardmax", x)
    engine = operand.engine
    call = Reduction("hardmax", (True,), axis, True, nan_policy=nan_policy, where=where, engine=engine)
    array = operand.array
    times = array.dtype.kind in "mM"
    if not engine.of_numpy:
        (best,) = call.find(operand, False, _INT64, -1)
        result = engine.ones(array, best.indices, call.axes(array.ndim))
    elif operand.valid is None and where is None and nan_policy == "propagate" and not times:
        result = np.asarray(_native.hardmax(array, axis, out=out))
    else:
        (best,) = call.find(operand, False, _INT64, -1)
        # Time types have no 1, so the result for times is an integer.
        dtype = _INT64 if times else array.dtype.newbyteorder("=")
        result = ones(best.indices, call.axes(array.ndim), array.shape, (0,) * array.ndim, array.shape, dtype)
        if out is not None:
            write_out("hardmax", out, result)
    if out is not None:
        return out
    return operand.wrap(result, tuple(range(array.ndim)))


def ones(
    indices: NDArray[Any], axes: Ints, whole: Ints, offset: Ints, shape: Ints, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return a piece of a larger array, of this shape and starting at `offset`, with a 1 at each index except -1."""
    result: NDArray[Any] = np.zeros(shape, dtype)
    if not result.size:
        return result
    split = dict(zip(axes, unravel(indices, whole, axes), strict=True))
    inside = np.asarray(indices != -1)
    # The place of each 1 in the flat result: an index for each of 64 axes is more than NumPy takes.
    flat = np.zeros(indices.shape, np.int64)
    stride = result.size
    for axis, length in enumerate(shape):
        stride //= length
        if axis in split:
            place = split[axis] - offset[axis]
            inside &= (place >= 0) & (place < length)
        else:
            place = np.arange(length).reshape([length if each == axis else 1 for each in range(len(shape))])
        flat += place * stride
    result.reshape(-1)[flat[inside]] = 1
    return result
