"""``maximum`` and ``minimum`` of operands that are not all plain arrays of one element type.

The result has NumPy's common element type and the library of the operands. Operands of other types are converted piece
by piece, never copied whole. The native module calls this file for operands that it does not take.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.arrays import as_element, as_result, class_name, misfit_of, refuse_own_rules, takes
from extremum.engine import NATIVE
from extremum.errors import ArgumentError, ElementTypeError, ExtremumError
from extremum.interop import Operand, as_operand, common_library, frontend
from extremum.reductions import as_mask, nan, require_policy, write_out

# Elements of one piece: a converted piece stays in the second-level cache until the kernel compares it.
_PIECE = 1 << 14
# NumPy's iterator takes 32 arrays at most, and the result is one of them.
_MOST = 31

NUMBERS = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}


def extremum(function: str, operands: tuple[Any, ...], out: Any, nan_policy: Any, where: Any = None) -> Any:
    """Answer a call of :func:`extremum.maximum` or :func:`extremum.minimum`."""
    nan_policy = "propagate" if nan_policy is None else nan_policy
    require_policy(function, nan_policy)
    if (own := frontend(function, *operands)) is not None:
        return own(*operands, out=out, nan_policy=nan_policy, where=where)
    return at_once(function, operands, out, nan_policy, where)


def at_once(function: str, operands: tuple[Any, ...], out: Any, nan_policy: str, where: Any = None) -> Any:
    """Compute with operands whose classes have no array functions of their own."""
    try:
        return _at_once(function, operands, out, nan_policy, where)
    except ExtremumError as error:
        if not error.reason.startswith(f"{function}:"):
            error = error.with_context(where=function)
        raise error from None


def _at_once(function: str, operands: tuple[Any, ...], out: Any, nan_policy: str, where: Any) -> Any:
    # Python's numbers take the type of the arrays; everything else is an array.
    numbers = [x for x in operands if type(x) in NUMBERS]
    by_place = {at: _elements(x) for at, x in enumerate(operands) if type(x) not in NUMBERS}
    several = list(by_place.values())
    dtype = common_type(function, several, numbers)
    _require_same_times(several, dtype, out)
    arrays = [by_place[at].array if at in by_place else as_element(x, dtype) for at, x in enumerate(operands)]
    if several and not several[0].engine.of_numpy:
        own = common_library(several)
        return own.wrap(own.engine.extremum(function, arrays, dtype, nan_policy, where), ())
    if where is not None:
        where = as_mask(function, where, labels=common_library(several).labels if several else ())
        arrays[0] = _first_with_mask(function, arrays, where)
    # Under `raise`, and with a mask, `out` is written once the result is known.
    at_the_end = nan_policy == "raise" or where is not None
    result = _extremum(function, arrays, dtype, None if at_the_end else out, nan_policy == "omit")
    if nan_policy == "raise":
        _refuse_nan(np.asarray(result), where)
    if where is not None:
        if out is not None:
            write_out(function, out, np.asarray(result), fill=False)
        elsewhere = arrays[0].astype(dtype, copy=False) if out is None else out
        result = as_result(np.where(where, result, elsewhere))
    if out is not None:
        if at_the_end:
            return write_out(function, out, np.asarray(result))
        return result
    return _in_library(result, several)


def _elements(x: object) -> Operand:
    """Return an operand without missing elements, or refuse it."""
    refuse_own_rules(x)
    operand = as_operand(x)
    own = operand.whole(class_name(x)).dtype
    if own.hasobject:
        raise ElementTypeError(
            f"cannot take elements of type {own}",
            remedy="convert to bool, an integer, float16, bfloat16, float32 or float64",
        )
    return operand


def _first_with_mask(function: str, arrays: list[NDArray[Any]], where: NDArray[np.bool_]) -> NDArray[Any]:
    """Return the first operand in the shape of the result, which a mask may make larger, or refuse the mask."""
    shape = broadcast_shape(function, [each.shape for each in arrays])
    return np.broadcast_to(arrays[0], broadcast_with_mask(function, shape, where.shape))


def broadcast_with_mask(function: str, shape: tuple[int, ...], mask: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that operands broadcast to with a mask, or refuse the mask."""
    fault = f"where has shape {mask}, which does not broadcast with the shape {shape} of the operands"
    return broadcast_shape(function, [shape, mask], fault)


def _refuse_nan(result: NDArray[Any], where: NDArray[np.bool_] | None) -> None:
    """Refuse NaN in the result, where the mask is True."""
    refuse_nan_at(NATIVE.first(nan(result) if where is None else nan(result) & where))


def refuse_nan_at(place: tuple[int, ...] | None) -> None:
    """Refuse NaN at a place of the result, if there is one."""
    if place is not None:
        raise ArgumentError(
            f"NaN at {place} of the result" if place else "an operand is NaN",
            given="nan_policy='raise'",
            remedy="use nan_policy='omit' or 'propagate', or mend the data",
        )


def _in_library(result: Any, operands: list[Operand]) -> Any:
    """Return a result as an array of the library of the operands, with their labels if it has their shape."""
    if not operands:
        return result
    own = common_library(operands)
    whole = np.asarray(result)
    keeps_axes = own.array.shape == whole.shape
    return own.wrap(whole, tuple(range(whole.ndim)) if keeps_axes else (-1,) * whole.ndim)


def common_type(function: str, operands: list[Operand], numbers: list[Any]) -> np.dtype[Any]:
    """Return the type in which all are compared, or refuse operands that have none."""
    _meet_in_uint64(operands, numbers)
    dtype = _result_type(function, [each.array.dtype for each in operands], numbers)
    _require_exact_sequences(operands, dtype)
    return dtype


def _meet_in_uint64(operands: list[Operand], numbers: list[Any]) -> None:
    """Give the integers of sequences the type uint64 where another operand has it: NumPy would make floats of both."""
    largest = max([number for number in numbers if isinstance(number, int)], default=0)
    if largest <= np.iinfo(np.int64).max and not any(each.array.dtype == np.uint64 for each in operands):
        return
    for each in operands:
        if each.is_sequence and each.array.dtype.kind == "i" and each.array.min(initial=0) >= 0:
            each.array = each.array.astype(np.uint64)


def _require_exact_sequences(operands: list[Operand], dtype: np.dtype[Any]) -> None:
    """Refuse a sequence with an integer that the common type does not hold; arrays follow NumPy's rule."""
    for each in operands:
        if each.is_sequence and dtype.kind == "f" and (misfit := misfit_of(each.array, dtype)) is not None:
            raise ElementTypeError(
                f"a sequence holds {misfit}, and {dtype}, the common type of the operands, does not",
                given=" and ".join(dict.fromkeys(str(each.array.dtype) for each in operands)),
                remedy="convert the operands to one element type first",
            )


def _result_type(function: str, dtypes: list[np.dtype[Any]], numbers: list[Any]) -> np.dtype[Any]:
    """Return NumPy's common type of arrays and Python numbers; a number takes the type of the arrays if it can."""
    if not dtypes and not numbers:
        raise ArgumentError(
            f"{function}: needs at least one array", remedy=f"call {function}(x) or {function}(x, y, ...)"
        )
    kinds = {dtype.kind for dtype in dtypes}
    if kinds & {"m", "M"} and (numbers or len(kinds) > 1):
        words = [str(dtype) for dtype in dict.fromkeys(dtypes)] + [
            type(number).__name__ for number in numbers
        ]
        raise ElementTypeError(
            f"{function}: times compare with times of their kind, not {' with '.join(words)}",
            remedy="convert the operands to one kind first",
        )
    try:
        common = np.result_type(*(dtypes or _types_of(numbers)))
        wider = [NUMBERS[type(number)] for number in numbers if not takes(common, number)]
        if wider:
            common = np.result_type(common, *wider)
    except (OverflowError, TypeError):
        names = " and ".join(map(str, dict.fromkeys(dtypes)))
        raise ElementTypeError(
            f"{function}: operands of {names} have no common type",
            remedy="convert them to one element type first",
        ) from None
    return common.newbyteorder("=")


def _types_of(numbers: list[Any]) -> list[np.dtype[Any]]:
    """Return the types of Python's numbers alone: uint64 for integers beyond int64, if none is negative."""
    if (
        all(isinstance(number, int) and number >= 0 for number in numbers)
        and max(numbers) > np.iinfo(np.int64).max
    ):
        return [np.dtype(np.uint64)]
    return [NUMBERS[type(number)] for number in numbers]


def _require_same_times(operands: list[Operand], dtype: np.dtype[Any], out: Any) -> None:
    """Refuse times that the common unit cannot hold, because NumPy would wrap them, and times of several zones."""
    if dtype.kind not in "mM":
        return
    zones = dict.fromkeys(each.zone for each in operands)
    if len(zones) > 1:
        names = " and in the zone ".join(str(zone) for zone in zones if zone)
        without = " and times without a zone" if None in zones else ""
        raise ArgumentError(
            f"times in the zone {names}{without}", remedy="convert them to one time zone first"
        )
    for each in operands:
        each.require_no_zone(out)
        if (misfit := misfit_of(each.array, dtype)) is not None:
            raise ArgumentError(
                f"the time {misfit} does not fit {dtype}, the common type of the operands",
                given=" and ".join(dict.fromkeys(str(each.array.dtype) for each in operands)),
                remedy="convert the operands to a coarser unit first",
            )


def _extremum(
    function: str, arrays: list[NDArray[Any]], dtype: np.dtype[Any], out: NDArray[Any] | None, omit: bool
) -> Any:
    """Return the extremum of arrays in a type that they have or convert to."""
    largest = function == "maximum"
    if dtype.kind not in "mM" and all(each.dtype.newbyteorder("=") == dtype for each in arrays):
        return _native.extremum(function, tuple(arrays), largest=largest, omit=omit, out=out)
    if len(arrays) >= _MOST:
        # Conversion keeps the order of elements, so compare arrays of one type before converting them.
        by_type: dict[np.dtype[Any], list[NDArray[Any]]] = {}
        for each in arrays:
            by_type.setdefault(each.dtype, []).append(each)
        arrays = [np.asarray(_extremum(function, same, own, None, omit)) for own, same in by_type.items()]
    shape = broadcast_shape(function, [each.shape for each in arrays])
    if out is not None:
        write_out(function, out, np.broadcast_to(np.empty((), dtype), shape), fill=False)
    result = _in_pieces(function, arrays, dtype, out, largest, omit)
    return as_result(result) if out is None else out


def _in_pieces(
    function: str, arrays: list[NDArray[Any]], dtype: np.dtype[Any], out: Any, largest: bool, omit: bool
) -> NDArray[Any]:
    """Convert a piece of each array, compare the pieces, and go on: no array is converted whole."""
    flags: Any = ["external_loop", "buffered", "zerosize_ok", "copy_if_overlap", "delay_bufalloc"]
    uses: Any = [["readonly"]] * len(arrays) + [["writeonly", "allocate", "no_subtype", "no_broadcast"]]
    types = [dtype] * (len(arrays) + 1)
    times = dtype.kind in "mM"
    # NaT is the smallest integer. Subtracting 1 makes NaT the largest and keeps the order of the others.
    shift = int(largest != omit)
    with np.nditer([*arrays, out], flags, uses, types, casting="unsafe", buffersize=_PIECE) as pieces:
        result: NDArray[Any] = pieces.operands[-1]
        if not result.size:
            return result
        pieces.reset()
        for *parts, piece in pieces:
            if not times:
                _native.extremum(function, tuple(parts), largest=largest, omit=omit, out=piece)
                continue
            stored = [part.view(np.int64) - shift for part in parts]
            best = piece.view(np.int64)
            _native.extremum(function, tuple(stored), largest=largest, omit=False, out=best)
            best += shift
    return result


def broadcast_shape(function: str, shapes: Sequence[tuple[int, ...]], fault: str = "") -> tuple[int, ...]:
    """Return the shape that operands broadcast to, or refuse them."""
    # NumPy's own function of this kind takes 32 dimensions, and its arrays have up to 64.
    lengths: list[int] = []
    for aligned in itertools.zip_longest(*map(reversed, shapes), fillvalue=1):
        others = {length for length in aligned if length != 1}
        if len(others) > 1:
            fault = (
                fault or f"operands could not be broadcast together with shapes {' '.join(map(str, shapes))}"
            )
            raise ArgumentError(
                f"{function}: {fault}", remedy="dimensions, aligned at the last one, must be equal or 1"
            )
        lengths.append(others.pop() if others else 1)
    return tuple(reversed(lengths))
