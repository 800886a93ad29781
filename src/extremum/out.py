"""The caller's own array for a result.

Decides which array is refused as ``out``. It is written to once the result is known, so that a call that fails leaves
it as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.errors import ArgumentError, ArgumentTypeError, ElementTypeError

__all__ = ["into"]


def into(function: str, out: Any, result: NDArray[Any] | None, *, fill: bool = True) -> NDArray[Any]:
    """Copy a finished result to the caller's array, which is not touched before; or only check that it fits."""
    assert result is not None
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
