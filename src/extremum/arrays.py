"""How a value that is no plain NumPy array becomes one.

Decides which protocol is asked first, and what a plain array cannot say, so that it is refused. The native module comes
here only for values it does not know; what the array functions then accept is theirs to say. Types are asked for with
``type``: a proxy can make ``isinstance`` believe that it is an array.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Sequence
from numbers import Number
from types import NoneType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, ElementTypeError, ExtremumError
from extremum.exact import first_lost
from extremum.missing import refuse_missing

__all__ = [
    "as_array",
    "as_element",
    "as_output",
    "as_result",
    "copy",
    "is_bfloat16",
    "refuse_device",
    "refuse_own_rules",
]

_NUMBERS = "pass numbers of one element type, in rows of equal length"

# Of Python objects in place of numbers, what to do about them; the first that fits.
_OBJECTS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((NoneType,), "pass numpy.ma.array with a mask, or NaN with nan_policy='omit', for elements that are missing"),
    ((datetime.timedelta,), "convert them first, as numpy.array(x, dtype='timedelta64[us]') does"),
    (
        (datetime.date,),
        "convert them first, as numpy.array(x, dtype='datetime64[us]') does for times without a zone",
    ),
    ((int,), "pass integers that fit 64 bits, or convert them to float64"),
    ((Number,), "convert them to float64 or to integers first"),
)

# What every floating-point type can hold: the largest number of float16, the narrowest.
_LEAST_LIMIT = 65504.0

# DLPack's numbers of devices whose memory the CPU reads: its own, and pinned or managed by CUDA or ROCm.
_HOST = (1, 3, 11, 13)


def as_array(x: object) -> NDArray[Any]:
    """Return ``x`` as a NumPy array, sharing its memory where a protocol allows it."""
    # DLPack is asked first (PyTorch, JAX, CuPy on the host), then ``__array__``, the buffer protocol and
    # sequences.
    array = _plain(cast(NDArray[Any], x) if issubclass(type(x), np.ndarray) else _through_protocols(x))
    if array.dtype.kind in "OSU":
        kind, remedy = _objects(array) if array.dtype.kind == "O" else ("", "")
        raise ElementTypeError(
            f"elements of type {array.dtype}{f', here {kind},' if kind else ''} have no order here",
            given=f"{type(x).__module__}.{type(x).__qualname__}",
            remedy=remedy or _NUMBERS,
        )
    if array.dtype.kind in "mM" and isinstance(x, Sequence):
        _require_exact(x, array.dtype)
    return array


def as_output(x: NDArray[Any], function: str) -> NDArray[Any]:
    """Return an array of a subclass as it is, where plain elements may be written into it."""
    try:
        refuse_own_rules(x)
        refuse_missing(x)
    except ExtremumError as error:
        raise error.with_context(where=function) from None
    return x


def as_result(result: NDArray[Any]) -> Any:
    """Return a result as NumPy's own functions do: a scalar in place of an array without dimensions."""
    # (Not a view of the array: a result owns its memory.)
    return result if result.ndim else result[()]


def copy(source: NDArray[Any], destination: NDArray[Any]) -> None:
    """Write the elements of one array into another, whatever class it has."""
    np.ndarray.__setitem__(destination, ..., source)


def is_bfloat16(scalar: type) -> bool:
    """Whether a type is that of ml_dtypes, which is imported where elements of it exist."""
    return scalar is getattr(sys.modules.get("ml_dtypes"), "bfloat16", None)


def as_element(number: bool | int | float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a Python number as an array without dimensions, in the element type of the arrays beside it."""
    # A number takes that type where it is of its kind or a simpler one: an int beside float arrays, not a float
    # beside int arrays, which is left as NumPy reads it.
    kind = dtype.kind if dtype.kind in "fiub" or dtype.name != "bfloat16" else "f"
    takes = kind in "fiub" if isinstance(number, bool) else kind == "f" or (isinstance(number, int) and kind in "iu")
    if takes and not _is_in_range(number, dtype, kind):
        raise ArgumentError(
            f"the number {number} does not fit {dtype}",
            given=f"{number} beside arrays of {dtype}",
            remedy="convert the arrays to a wider type, or pass a number within its range",
        )
    return np.asarray(number, dtype=dtype if takes else None)


def refuse_device(x: object, device: object) -> None:
    """Refuse an array whose elements are not in this computer's own memory."""
    raise ElementTypeError(
        f"the elements are on the device {device}, and are compared on the CPU here",
        given=f"{type(x).__module__}.{type(x).__qualname__}",
        remedy="copy the array to the CPU first",
    )


def _objects(array: NDArray[Any]) -> tuple[str, str]:
    """Return the type of objects that are no numbers, and what to do about them; nothing where that is not known."""
    types = dict.fromkeys(map(type, array.reshape(-1)[:1000]))
    for known, remedy in _OBJECTS:
        for each in types:
            if issubclass(each, known) and not types.keys() & {list, tuple, str}:
                return f"{each.__module__}.{each.__qualname__}".removeprefix("builtins."), remedy
    return "", ""


def _require_exact(x: Sequence[Any], dtype: np.dtype[Any]) -> None:
    """Refuse a sequence of times in several units where the common one does not hold all: NumPy would wrap them."""
    for each in x:
        if isinstance(each, Sequence):
            _require_exact(each, dtype)
        elif isinstance(each, np.generic | np.ndarray) and (lost := first_lost(np.asarray(each), dtype)) is not None:
            raise ArgumentError(
                f"the time {lost} does not fit {dtype}, the common type of the elements",
                remedy="convert the elements to a coarser unit first",
            )


def _is_in_range(number: bool | int | float, dtype: np.dtype[Any], kind: str) -> bool:
    """Whether a number is not too large for a type; NumPy wraps integers before version 2, and floats become inf."""
    if kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min <= number <= limits.max
    try:
        plain = float(number)
    except OverflowError:
        return False
    if abs(plain) <= _LEAST_LIMIT or math.isinf(plain):
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return not np.isinf(np.asarray(plain, dtype=dtype))


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Return the elements of an array without what its class makes of them, where none is missing."""
    if type(array) is np.ndarray:
        return array
    refuse_missing(array)
    return np.ndarray.view(array, np.ndarray)


def refuse_own_rules(x: object) -> None:
    """Refuse an array whose class has arithmetic of its own, such as units: plain elements would lose them."""
    cls = type(x)
    if issubclass(cls, np.ndarray) and cls.__array_ufunc__ is not np.ndarray.__array_ufunc__:
        raise ElementTypeError(
            f"{cls.__qualname__} has rules of its own for its elements, which would be lost",
            given=f"{cls.__module__}.{cls.__qualname__}",
            remedy="pass the plain elements, x.view(numpy.ndarray)",
        )


def _through_protocols(x: Any) -> NDArray[Any]:
    refuse_missing(x)
    # PyTorch keeps a sign or a conjugation to be applied later as a bit of the tensor, which DLPack does not carry.
    for resolve in ("resolve_conj", "resolve_neg"):
        if callable(method := getattr(x, resolve, None)):
            x = method()
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        try:
            kind, number = x.__dlpack_device__()
            elsewhere = int(kind) not in _HOST
        except (TypeError, ValueError):
            # It answers as an array does, and is none: a mock.
            elsewhere = False
        if elsewhere:
            refuse_device(x, f"{int(kind)}:{number}")
        try:
            return np.from_dlpack(x)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            # The producer cannot export this type, layout or device: bfloat16 is the usual case.
            pass
    try:
        # A subclass that `__array__` returns is wanted as it is: it may have a mask.
        return np.asanyarray(x)
    except ValueError:
        # NumPy's word for rows of different lengths.
        return _as_objects(x)


def _as_objects(x: object) -> NDArray[Any]:
    try:
        return np.asarray(x, dtype=object)
    except ValueError as error:
        # It answers as an array does, and is none: a mock.
        raise ElementTypeError(
            f"no array can be made of it: {error}",
            given=f"{type(x).__module__}.{type(x).__qualname__}",
            remedy="pass numbers of one element type, in rows of equal length",
        ) from None
