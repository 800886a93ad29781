"""Makes a NumPy array from any value, and refuses what a plain array cannot express.

DLPack comes first, then ``__array__``, the buffer protocol and sequences. Missing elements, and elements that a common
type cannot hold, are errors. The native module calls this for values that it does not know. Code compares ``type(x)``
because a proxy can deceive ``isinstance``, and recognizes libraries by attributes, so it imports none.
"""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Sequence
from numbers import Number
from types import NoneType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from extremum import dlpack
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError, first_line, needed, within
from extremum.loading import attribute
from extremum.printable import counted

FILL = "fill or drop them first"
_NUMBERS = "pass numbers of one element type, in rows of equal length"

_MISSING = "pass numpy.ma.array with a mask, or NaN with nan_policy='omit', for elements that are missing"
_BEYOND = "pass integers that fit 64 bits, or convert them to float64"

# Python objects in place of numbers, and the remedy for each; the first match counts.
_OBJECTS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((NoneType,), _MISSING),
    ((datetime.timedelta,), "convert them first, as numpy.array(x, dtype='timedelta64[us]') does"),
    (
        (datetime.date,),
        "convert them first, as numpy.array(x, dtype='datetime64[us]') does for times without a zone",
    ),
    ((Number,), "convert them to float64 or to integers first"),
)


def as_array(x: object) -> NDArray[Any]:
    """Return ``x`` as a NumPy array, sharing its memory where a protocol allows it."""
    if issubclass(type(x), np.ndarray):
        array = cast(NDArray[Any], x)
    else:
        array = _through_protocols(x)
    if type(array) is not np.ndarray:
        refuse_missing(array)
        array = np.ndarray.view(array, np.ndarray)
    if array.dtype.kind in "OSU":
        kind, remedy = _objects(array) if array.dtype.kind == "O" else ("", _NUMBERS)
        raise ElementTypeError(
            f"elements of type {array.dtype}{f', here {kind},' if kind else ''} have no order here",
            given=class_name(x),
            remedy=remedy,
        )
    if array.dtype == np.float64 and isinstance(x, Sequence):
        return _with_exact_integers(x, array)
    if array.dtype.kind in "mM" and isinstance(x, Sequence):
        _require_exact(x, array.dtype)
    return array


def _with_exact_integers(x: Sequence[Any], array: NDArray[Any]) -> NDArray[Any]:
    """Return the floats that NumPy made of a sequence, or uint64; refuse them where an integer is not among them.

    NumPy makes float64 of integers beside floats, and of integers of which some need int64 and others uint64.
    """
    if set(map(type, x)) <= {float, np.float64}:
        return array
    with np.errstate(invalid="ignore"):
        large = np.abs(array) >= 2**53
    if not large.any():
        # float64 holds every smaller integer.
        return array
    integers = list(map(_integer_of, np.asarray(x, dtype=object).flat))
    if all(each is not None and 0 <= each < 2**64 for each in integers):
        return np.array(integers, np.uint64).reshape(array.shape)
    for integer, value in zip(integers, array.flat, strict=True):
        if integer is not None and (math.isinf(value) or int(value) != integer):
            raise ElementTypeError(
                f"the sequence holds {integer}, and {array.dtype}, the common type of its elements, does not",
                given=class_name(x),
                remedy="pass integers alone, none negative or all within int64, or convert them to float64 first",
            )
    return array


def _integer_of(x: Any) -> int | None:
    """Return an element of a sequence as Python's integer, None if it is not an integer."""
    try:
        return int(x) if isinstance(x, np.bool_) else operator.index(x)
    except TypeError:
        return None


def as_output(x: NDArray[Any], function: str) -> NDArray[Any]:
    """Return an output array, also of a subclass, if plain elements may be written into it, or refuse it."""
    if not issubclass(type(x), np.ndarray):
        raise ArgumentTypeError(
            f"{function}: out is {type(x).__name__}, not an array", remedy="pass a numpy.ndarray"
        )
    with within(function):
        refuse_own_rules(x)
        refuse_missing(x)
    return x


def as_result(result: NDArray[Any]) -> Any:
    """Return a result as NumPy's own functions do: a scalar in place of an array without dimensions."""
    # The array itself, not a view: a result owns its memory.
    return result if result.ndim else result[()]


def class_name(x: object) -> str:
    """Return the name of a value's class for messages."""
    return f"{type(x).__module__}.{type(x).__qualname__}"


def copy(source: NDArray[Any], destination: NDArray[Any]) -> None:
    """Write the elements of one array into another, whatever its class."""
    np.ndarray.__setitem__(destination, ..., source)


def is_bfloat16(scalar: type) -> bool:
    """Whether a type is bfloat16 of ml_dtypes, which is loaded wherever such elements exist."""
    return scalar is attribute("ml_dtypes", "bfloat16")


def takes(dtype: np.dtype[Any], number: bool | int | float) -> bool:
    """Whether an element type is of the kind of a number or of a wider kind: a float type takes integers."""
    kind = "f" if dtype.kind not in "biuf" and dtype.name == "bfloat16" else dtype.kind
    if isinstance(number, bool):
        return kind in "biuf"
    if isinstance(number, int):
        return kind in "iuf"
    return kind == "f"


def as_element(number: bool | int | float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a Python number as a 0-d array: in `dtype` if that is of its kind or wider, or else in NumPy's type."""
    if not takes(dtype, number):
        return np.asarray(number)
    fits = True
    try:
        # NumPy before version 2 wraps integers, and floats become inf. Every float type holds 65504.
        if dtype.kind in "iu":
            fits = np.iinfo(dtype).min <= number <= np.iinfo(dtype).max
        elif abs(number) > 65504:
            with np.errstate(over="ignore", invalid="ignore"):
                fits = math.isinf(number) or not np.isinf(np.asarray(float(number), dtype))
    except OverflowError:
        fits = False
    if not fits:
        raise ArgumentError(
            f"the number {number} does not fit {dtype}",
            given=f"{number} with arrays of {dtype}",
            remedy="convert the arrays to a wider type, or pass a number within its range",
        )
    # ml_dtypes makes no float of an integer beyond 64 bits.
    return np.asarray(number if dtype.kind in "biu" else float(number), dtype)


def refuse_device(x: object, device: object) -> None:
    """Refuse an array whose elements are not in memory that the CPU reads."""
    remedy = "copy the array to the CPU first"
    if str(device).lower().startswith(("cuda", "rocm", "gpu")):
        remedy += f"; or install what computes on GPUs: {needed('triton')}"
    raise ElementTypeError(
        f"the elements are on the device {device}, and are compared on the CPU here",
        given=class_name(x),
        remedy=remedy,
    )


def _objects(array: NDArray[Any]) -> tuple[str, str]:
    """Return the type of objects that are not numbers of one element type, if it is known, and the remedy."""
    some = array.reshape(-1)[:1000]
    types = dict.fromkeys(map(type, some))
    if types.keys() & {list, tuple, str}:
        return "", _NUMBERS
    strange = [each for each in types if not issubclass(each, int | float | np.generic)]
    for classes, remedy in _OBJECTS:
        for each in strange:
            if issubclass(each, classes):
                return _name(each), remedy
    for each in strange:
        if each is type(attribute("pandas", "NA")):
            return _name(each), _MISSING
        if hasattr(each, "as_py"):
            return _name(each), "convert them first, as x.as_py() does for a scalar of PyArrow"
        return _name(each), _NUMBERS
    fits = all(not isinstance(each, int) or -(2**63) <= each < 2**64 for each in some)
    words = " and ".join(map(_name, types))
    return words, "convert them to one element type first" if fits else _BEYOND


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}".removeprefix("builtins.")


def _require_exact(x: Sequence[Any], dtype: np.dtype[Any]) -> None:
    """Refuse a sequence of times in several units if the common unit cannot hold all: NumPy would wrap them."""
    for each in x:
        if isinstance(each, Sequence):
            _require_exact(each, dtype)
        elif (
            isinstance(each, np.generic | np.ndarray)
            and (misfit := misfit_of(np.asarray(each), dtype)) is not None
        ):
            raise ArgumentError(
                f"the time {misfit} does not fit {dtype}, the common type of the elements",
                remedy="convert the elements to a coarser unit first",
            )


def refuse_own_rules(x: object) -> None:
    """Refuse an array whose class has its own arithmetic, such as units, which plain elements would lose."""
    cls = type(x)
    if issubclass(cls, np.ndarray) and cls.__array_ufunc__ is not np.ndarray.__array_ufunc__:
        raise ElementTypeError(
            f"{cls.__qualname__} has rules of its own for its elements, which would be lost",
            given=class_name(x),
            remedy="pass the plain elements, x.view(numpy.ndarray)",
        )


def _through_protocols(x: Any) -> NDArray[Any]:
    refuse_missing(x)
    # PyTorch marks a pending negation or conjugation by a bit of the tensor, which DLPack does not carry.
    for resolve in ("resolve_conj", "resolve_neg"):
        if callable(method := getattr(x, resolve, None)):
            x = method()
    fault = ""
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        if device := dlpack.device_elsewhere(x):
            refuse_device(x, device)
        try:
            return dlpack.read(x)
        except dlpack.REFUSALS as error:
            # The array may have another way to its elements.
            fault = first_line(error)
    try:
        # Keep a subclass that `__array__` returns: it may have a mask.
        array: NDArray[Any] = np.asanyarray(x)
        if array.dtype.kind == "O" and not array.ndim:
            _refuse_unread(x, fault)
        return array
    except (OverflowError, ValueError):
        # Rows of different lengths, or times without a common unit.
        pass
    try:
        return np.asarray(x, dtype=object)
    except ValueError as error:
        # The value looks like an array but is a mock.
        raise ElementTypeError(
            f"no array can be made of it: {error}", given=class_name(x), remedy=_NUMBERS
        ) from None


def _refuse_unread(x: Any, fault: str) -> None:
    """Refuse an array of which NumPy made one object, because it knows no way to the elements."""
    if hasattr(x, "__cuda_array_interface__"):
        refuse_device(x, "CUDA")
    if type(x).__name__ == "PyCapsule":
        raise ElementTypeError(
            "a capsule is not an array: it hands the memory of one to a single reader",
            given=class_name(x),
            remedy="pass the array that made it, or numpy.from_dlpack of that array",
        )
    if fault:
        raise ElementTypeError(
            f"DLPack does not give the elements: {fault}",
            given=class_name(x),
            remedy="convert it to an array of NumPy first, of a type that NumPy or ml_dtypes has",
        )


# Sequences of plain numbers, of any length: no element of them can be missing.
_PLAIN_SEQUENCES = (str, bytes, bytearray, memoryview, range)
_PLAIN_ELEMENTS = (bool, int, float, complex, str, bytes, np.generic)


def is_numpy_masked(cls: type) -> bool:
    """Return whether a class is one of NumPy's masked arrays; no class is before ``numpy.ma`` is loaded."""
    masked = attribute("numpy.ma.core", "MaskedArray")
    return masked is not None and issubclass(cls, masked)


def refuse_missing(x: object, outer: frozenset[int] = frozenset()) -> None:
    """Refuse a value, or a sequence of values, with missing elements."""
    if type(x) is np.ndarray:
        return
    if isinstance(x, Sequence) and not isinstance(x, _PLAIN_SEQUENCES):
        special = {kind for kind in set(map(type, x)) if not issubclass(kind, _PLAIN_ELEMENTS)}
        # A list may contain itself.
        if not special or id(x) in outer:
            return
        for item in x:
            if type(item) in special:
                refuse_missing(item, outer | {id(x)})
        return
    for count, word in ((_masked, "masked"), (_null, "null"), (_not_available, "NA")):
        if number := count(x):
            raise not_there(number, word, class_name(x))


def not_there(number: int, word: str, given: str, remedy: str = "") -> ArgumentError:
    """Return the error about a number of elements that are masked, null or NA."""
    if word == "masked":
        help_of_word = f"{FILL}, as x.filled(value) or x.compressed() does"
    else:
        help_of_word = FILL
    elements = counted(number, f"{word} element")
    have = "has" if number == 1 else "have"
    return ArgumentError(
        f"{elements} {have} no value to compare",
        given=given,
        remedy=remedy or help_of_word,
    )


def _masked(x: Any) -> int:
    """Count the elements that a mask hides: True hides in NumPy and astropy, False hides in PyTorch."""
    if is_numpy_masked(type(getattr(x, "_meta", None))):
        x = x.compute()  # the conversion of Dask's array to NumPy would drop the mask
    mask = getattr(x, "mask", None)
    if isinstance(mask, np.ndarray | np.bool_) and mask.dtype == np.bool_:
        return int(np.count_nonzero(mask))
    if callable(getattr(x, "get_mask", None)) and callable(getattr(x, "get_data", None)):
        valid = np.asarray(x.get_mask())
        return int(valid.size - np.count_nonzero(valid))
    return 0


def _null(x: Any) -> int:
    """Count Arrow's nulls, in an array or in the columns of a table: an attribute in PyArrow, a method in Polars."""
    columns = getattr(x, "columns", None)
    parts = [x, *columns] if isinstance(columns, list) else [x]
    counts = [getattr(part, "null_count", 0) for part in parts]
    numbers = [np.asarray(count() if callable(count) else count) for count in counts]
    return sum(int(number.sum()) for number in numbers if number.dtype.kind in "iu")


def _not_available(x: Any) -> int:
    """Count pandas' NA elements; in a column of NumPy's own type they are NaN, which is an element like others."""
    isna = getattr(x, "isna", None)
    if not callable(isna):
        return 0
    dtypes = np.ravel(np.asarray(x.dtypes if hasattr(x, "dtypes") else x.dtype, dtype=object))
    if all(isinstance(dtype, np.dtype) for dtype in dtypes):
        return 0
    return int(np.count_nonzero(np.asarray(isna())))


def misfit_of(array: NDArray[Any], dtype: np.dtype[Any]) -> Any:
    """Return an element of `array` that a common type cannot hold exactly, or None."""
    own = array.dtype
    times = array.dtype.kind in "mM"
    if times:
        is_exact = own.newbyteorder("=") == dtype
    else:
        is_exact = own.kind not in "iu" or dtype.kind != "f"
    if not array.size or is_exact:
        return None
    # If both ends fit, so do the elements between: times keep their order, and floats hold all small integers.
    ends = np.array([np.fmin.reduce(array, axis=None), np.fmax.reduce(array, axis=None)])
    if not times:
        limit = 2 ** (np.finfo(dtype).nmant + 1)
        if -limit <= int(ends[0]) and int(ends[1]) <= limit:
            return None
        ends = array
    try:
        with np.errstate(invalid="ignore"):
            there = ends.astype(dtype)
            same = there.astype(own) == ends
    except OverflowError:
        # Some versions of NumPy refuse to convert such times.
        return ends[0]
    if times:
        same |= np.isnat(ends)
    else:
        # 2**63 and above wrap or saturate on the way back, depending on the processor.
        same &= there < 2.0 ** (np.iinfo(own).bits - (own.kind == "i"))
    misfits = ends[~same]
    return misfits[0] if misfits.size else None
