"""Inputs at random.

Decides what is drawn where nothing is asked for: normally distributed floats, and 0 or 1 for integers, which is an
index or a label in most models, a mask in all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import InputError
from extremum.graph.inputs import DeclaredInput, require_array
from extremum.tensors import require_memory

__all__ = ["Drawing", "parse_ranges"]

_EXAMPLE = "write for example --range tokens=0:100"
# Python converts no integer of thousands of digits; no element type has more than this.
_NUMBER = re.compile(r"[+-]?(\d{1,40}|(\d{1,40}\.\d{0,40}|\.?\d{1,40})(e[+-]?\d{1,4})?)", re.ASCII | re.IGNORECASE)


def parse_ranges(assignments: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Split ``name=low:high`` texts into a mapping."""
    result: dict[str, tuple[str, str]] = {}
    for text in assignments:
        name, _, numbers = text.rpartition("=")
        low, _, high = numbers.partition(":")
        if not name or not all(map(_NUMBER.fullmatch, (low, high))):
            raise InputError(f"{text!r} is not of the form name=low:high", remedy=_EXAMPLE)
        if name in result:
            raise InputError(f"input {name!r} is given two ranges", given=f"{':'.join(result[name])} and {numbers}")
        result[name] = low, high
    return result


@dataclass(frozen=True, slots=True)
class Drawing:
    """How inputs are drawn."""

    # The same seed gives the same arrays, whatever other inputs come from files.
    seed: int
    # For each input that is not drawn as usual, what :func:`parse_ranges` returned: integers of the range, both
    # ends included, or floats that are spread evenly over it.
    ranges: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def draw(self, declared: DeclaredInput, sizes: Mapping[str, int], position: int) -> NDArray[Any]:
        """Return an array for an input."""
        name, dtype = declared.name, declared.dtype
        # Strings are an object dtype, and only numbers can be drawn.
        if dtype is None or declared.shape is None or dtype.kind == "O":
            is_open = dtype is not None and declared.shape is None
            reason = "its rank is open" if is_open else "it is no tensor of numbers"
            raise InputError(
                f"input {name!r} cannot be drawn at random: {reason}", remedy=f"pass it with -i {name}=file"
            )
        shape = tuple(_size(size, name, sizes) for size in declared.shape)
        require_memory(shape, dtype, f"input {name!r}")
        require_array(shape, name)
        random = np.random.default_rng([self.seed, position])
        ends = self.ranges.get(name)
        if limits := _limits(dtype):
            low, high = _integers(name, limits, dtype, *ends or ("0", "1"))
            if dtype.kind in "iu":
                return np.asarray(random.integers(low, high, shape, dtype, endpoint=True))
            return np.asarray(random.integers(low, high, shape, endpoint=True)).astype(dtype)
        if ends is None:
            return np.asarray(random.standard_normal(shape)).astype(dtype)
        return _floats(name, dtype, *ends, random.random(shape))


def _size(size: int | str, name: str, sizes: Mapping[str, int]) -> int:
    if isinstance(size, int):
        return size
    if size not in sizes:
        raise InputError(f"dimension {size!r} of input {name!r} has no size", remedy=f"set it: --set {size}=8")
    return sizes[size]


def _limits(dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the least and the largest integer of a type, or None if it is one of floats."""
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind in "iu":
        info: Any = np.iinfo(dtype)
    elif dtype.kind in "fc":
        return None
    else:
        import ml_dtypes

        iinfo: Callable[[np.dtype[Any]], Any] = ml_dtypes.iinfo
        try:
            info = iinfo(dtype)
        except ValueError:
            return None
    return int(info.min), int(info.max)


def _integers(name: str, limits: tuple[int, int], dtype: np.dtype[Any], low: str, high: str) -> tuple[int, int]:
    try:
        least, largest = int(low), int(high)
    except ValueError:
        raise InputError(f"input {name!r} takes integers", given=f"the range {low}:{high}", remedy=_EXAMPLE) from None
    if not limits[0] <= least <= largest <= limits[1]:
        raise _misfit(name, dtype, low, high, least > largest)
    return least, largest


def _floats(name: str, dtype: np.dtype[Any], low: str, high: str, parts: NDArray[np.float64]) -> NDArray[Any]:
    least, largest = float(low), float(high)
    with np.errstate(over="ignore"):
        ends = np.array([least, largest]).astype(dtype)
    if least > largest or not all(math.isfinite(float(end.real)) for end in ends):
        raise _misfit(name, dtype, low, high, least > largest)
    # As parts of both, because their difference may be larger than any float.
    return np.asarray(least * (1 - parts) + largest * parts).astype(dtype)


def _misfit(name: str, dtype: np.dtype[Any], low: str, high: str, is_empty: bool) -> InputError:
    if is_empty:
        return InputError(
            f"the range of input {name!r} is empty", given=f"{low}:{high}", remedy="write the lower end first"
        )
    return InputError(f"the range of input {name!r} does not fit its type", given=f"{low}:{high} for {dtype.name}")
