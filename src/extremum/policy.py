"""Which elements take part in a call: the NaN policy, the mask, and what a slice gives in which none does.

Decides which values of ``nan_policy``, ``where`` and ``default`` are refused. What NaN is beside numbers under
``propagate`` is decided by the kernels.
"""

from __future__ import annotations

import datetime
import operator
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import as_array, as_element, first_lost
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError
from extremum.signatures import NanPolicy

__all__ = ["default_index", "default_value", "flag", "in_utc", "mask", "nan", "require_policy", "truths"]


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


def default_index(function: str, default: Any, dtype: np.dtype[Any]) -> int:
    """Return a default as an index of some type."""
    if isinstance(default, bool | np.bool_) or not isinstance(default, int | np.integer):
        raise ElementTypeError(f"{function}: default is {default!r}, not an index", remedy="pass an integer")
    limits = np.iinfo(dtype)
    if not limits.min <= default <= limits.max:
        raise ArgumentError(
            f"{function}: default={default} does not fit {dtype}", remedy="pass an index that fits, or dtype=int64"
        )
    return int(default)


def in_utc(function: str, default: Any, zone: str | None) -> Any:
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


def default_value(function: str, default: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
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
