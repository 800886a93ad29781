"""``top_k``: which call it is, and its answer for arrays of any library.

This file decides how many elements are wanted, along which axis and at which end of the order. The native module
selects them. :mod:`extremum.partials` selects from the pieces of an array with the same :class:`Selection`.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import _native
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.indices import axis_error, integers
from extremum.interop import Operand, frontend
from extremum.reductions import Reduction, flag, nan, operand_of, require_policy, summary_of, ticks
from extremum.signatures import ValuesIndices


def top_k(x: object, k: Any, axis: Any, mode: Any, in_order: Any, nan_policy: Any) -> Any:
    """Answer a call of :func:`extremum.top_k` that the native module does not answer by itself."""
    mode, in_order = "largest" if mode is None else mode, True if in_order is None else in_order
    nan_policy = "propagate" if nan_policy is None else nan_policy
    if (own := frontend("top_k", x)) is not None:
        return own(x, k, axis, mode=mode, sorted=in_order, nan_policy=nan_policy)
    operand = operand_of("top_k", x)
    array = operand.array
    call = Selection.of(array, k, axis, mode, in_order, nan_policy)
    best = call.finish(array, call.select(operand))
    axes = (-1,) if call.axis is None else tuple(-1 if each == call.axis else each for each in range(array.ndim))
    return ValuesIndices(*(operand.wrap(each, axes) for each in best))


@dataclass(frozen=True, slots=True)
class Selection:
    """One call of ``top_k``: how many elements, along which axis, at which end of the order."""

    k: int
    axis: int | None
    largest: bool
    in_order: bool
    nan_policy: str

    @classmethod
    def of(cls, x: Any, k: Any, axis: Any, mode: Any, in_order: Any, nan_policy: Any) -> Selection:
        """Return a call on `x`, which needs only a shape and an element type, or refuse the call."""
        if mode not in ("largest", "smallest"):
            raise ArgumentError(f"top_k: there is no mode {mode!r}", remedy="use 'largest' or 'smallest'")
        require_policy("top_k", nan_policy)
        in_order = flag("top_k", "sorted", in_order)
        try:
            k = operator.index(None if isinstance(k, bool | np.bool_) else k)  # type: ignore[arg-type]
        except TypeError:
            raise ArgumentTypeError(f"top_k: k is {k!r}, not an integer", remedy="pass an int") from None
        # Code that an argument runs may change the shape of the array, so read the shape last.
        axis = one_axis(x, axis)
        where, most = ("", math.prod(x.shape)) if axis is None else (f" along axis {axis}", x.shape[axis])
        if not 0 <= k <= most:
            reason, given = f"top_k: k is {k}, and there are {most} elements{where}", f"{summary_of(x)}, k={k}"
            raise ArgumentError(reason, given=given, remedy=f"pass k from 0 to {most}")
        return cls(k, axis, mode == "largest", in_order, nan_policy)

    def select(self, x: Operand) -> ValuesIndices[NDArray[Any], NDArray[Any]]:
        """Return the candidates: the k best, or all if there are fewer; at least one under ``raise``."""
        array, times = x.whole("top_k: x"), x.array.dtype.kind in "mM"
        length = array.size if self.axis is None else array.shape[self.axis]
        k, nan_first = min(max(self.k, self.nan_policy == "raise"), length), self.nan_policy != "omit"
        largest, in_order, elements = self.largest, self.in_order, ticks(array)
        values, indices = _native.top_k_plain(
            elements, k, self.axis, function="top_k", largest=largest, sorted=in_order, nan_first=nan_first, times=times
        )
        return ValuesIndices(values.view(array.dtype.newbyteorder("=")) if times else values, indices)

    def finish(
        self, x: NDArray[Any], best: ValuesIndices[NDArray[Any], NDArray[Any]], origin: tuple[int, ...] = ()
    ) -> ValuesIndices[NDArray[Any], NDArray[Any]]:
        """Return the k best of the candidates, or refuse NaN; `origin` is the place of the first slice in the whole."""
        axis = self.axis or 0
        if self.nan_policy == "raise":
            call = Reduction("top_k", (self.largest,), self.axis, origin=origin)
            call.refuse_nan(x, np.asarray(nan(best.values).any(axis)))
        several = (slice(None),) * axis + (slice(self.k),)
        return ValuesIndices(best.values[several], best.indices[several])


def one_axis(x: Any, axis: Any) -> int | None:
    """Return an axis as a non-negative number, None for all elements, or refuse it."""
    if axis is None:
        return None
    number = integers("top_k", axis, x)
    if isinstance(number, tuple):
        raise ArgumentTypeError(f"top_k: axis {axis!r} is not one axis", remedy="pass an int, or None for all elements")
    rank = len(x.shape)
    if not -rank <= number < rank:
        raise axis_error("top_k", number, x.shape, x)
    return number % rank
