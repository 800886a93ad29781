"""``top_k``: which call it is, and its answer for arrays of any library.

This file decides how many elements are wanted, along which axis and at which end of the order. The native module
selects them. :mod:`extremum.partials` selects from the pieces of an array with the same :class:`TopKCall`.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.engine import NATIVE, Engine
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.indices import axis_error, integers
from extremum.interop import Operand, frontend
from extremum.reductions import (
    Reduction,
    flag,
    in_utc,
    index_type,
    operand_of,
    require_fit,
    require_policy,
    summary_of,
    ticks,
)
from extremum.signatures import ValuesIndices

_INT64 = np.dtype(np.int64)


def top_k(
    x: object,
    k: Any,
    axis: Any,
    mode: Any,
    in_order: Any,
    nan_policy: Any,
    where: Any = None,
    default: Any = None,
    index_dtype: Any = None,
) -> Any:
    """Answer a call of :func:`extremum.top_k` that the native module does not answer by itself."""
    # The native module gives None for what the caller leaves out.
    mode = "largest" if mode is None else mode
    in_order = True if in_order is None else in_order
    nan_policy = "propagate" if nan_policy is None else nan_policy
    if (own := frontend("top_k", x)) is not None:
        settings = {"where": where, "default": default, "index_dtype": index_dtype}
        return own(x, k, axis, mode=mode, sorted=in_order, nan_policy=nan_policy, **settings)
    operand = operand_of("top_k", x)
    array = operand.array
    default = in_utc("top_k", default, operand.zone)
    engine = operand.engine
    call = TopKCall.of(array, k, axis, mode, in_order, nan_policy, default, index_dtype, engine)
    there = call.mask(operand, where)
    best = call.finish(array, call.select(array, there), is_whole=there is None)
    axes = (
        (-1,) if call.axis is None else tuple(-1 if each == call.axis else each for each in range(array.ndim))
    )
    return ValuesIndices(*(operand.wrap(each, axes) for each in best))


@dataclass(frozen=True, slots=True)
class TopKCall:
    """One call of ``top_k``: how many elements, along which axis, at which end of the order."""

    k: int
    axis: int | None
    largest: bool
    in_order: bool
    nan_policy: str
    # What fills the places of a slice with fewer than k elements, as a 0-d array; without it such a slice is an error.
    default: NDArray[Any] | None = None
    index: np.dtype[Any] = _INT64
    # Who selects, and finishes the results.
    engine: Engine = NATIVE

    @classmethod
    def of(
        cls,
        x: Any,
        k: Any,
        axis: Any,
        mode: Any,
        in_order: Any,
        nan_policy: Any,
        default: Any = None,
        index_dtype: Any = None,
        engine: Engine = NATIVE,
    ) -> TopKCall:
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
        most = math.prod(x.shape) if axis is None else x.shape[axis]
        if not 0 <= k <= most:
            where = "" if axis is None else f" along axis {axis}"
            raise ArgumentError(
                f"top_k: k is {k}, and there are {most} elements{where}",
                given=f"{summary_of(x)}, k={k}",
                remedy=f"pass k from 0 to {most}",
            )
        index = index_type("top_k", index_dtype)
        require_fit("top_k", most - 1, index)
        defaults = Reduction("top_k", (True,), axis).defaults(x.dtype, True, index, default)
        filling = None if defaults is None else defaults[0]
        return cls(k, axis, mode == "largest", in_order, nan_policy, filling, index, engine)

    def mask(self, x: Operand, where: Any) -> NDArray[np.bool_] | None:
        """Return a mask of the elements that take part, None if all do; this does not look for NaN."""
        call = Reduction(
            "top_k", (self.largest,), nan_policy=self.nan_policy, where=where, engine=self.engine
        )
        return call.mask(x)

    def select(
        self, array: NDArray[Any], there: NDArray[np.bool_] | None
    ) -> ValuesIndices[NDArray[Any], NDArray[Any]]:
        """Return the candidates: the k best, or all if there are fewer; at least one under ``raise``.

        Where a slice has fewer elements that take part, the last indices are -1 and their values mean nothing.
        """
        length = array.size if self.axis is None else array.shape[self.axis]
        k = min(max(self.k, self.nan_policy == "raise"), length)
        times = array.dtype.kind in "mM"
        values, indices = self.engine.top_k(
            ticks(array),
            k,
            self.axis,
            function="top_k",
            largest=self.largest,
            sorted=self.in_order,
            nan_first=self.nan_policy != "omit",
            times=times,
            where=there,
        )
        best = ValuesIndices(values.view(array.dtype.newbyteorder("=")) if times else values, indices)
        if not self._drops_nan(array.dtype):
            return best
        # NaN comes last, and leaves its place to the default.
        return ValuesIndices(
            best.values, self.engine.filled(best.indices, self.engine.is_nan(best.values), -1)
        )

    def _drops_nan(self, dtype: np.dtype[Any]) -> bool:
        return self.nan_policy == "omit" and self.default is not None and dtype.kind not in "biu"

    def finish(
        self,
        x: NDArray[Any],
        best: ValuesIndices[NDArray[Any], NDArray[Any]],
        origin: tuple[int, ...] = (),
        is_whole: bool = False,
    ) -> ValuesIndices[NDArray[Any], NDArray[Any]]:
        """Return the k best of the candidates, or refuse NaN; `origin` is the place of the first slice in the whole.

        If `is_whole`, every element takes part, except NaN that gives way to the default.
        """
        axis = self.axis or 0
        engine = self.engine
        call = Reduction("top_k", (self.largest,), self.axis, origin=origin, engine=engine)
        several = (slice(None),) * axis + (slice(self.k),)
        if self.nan_policy == "raise":
            nans = engine.is_nan(best.values) & ~engine.is_empty(best.indices)
            call.refuse_nan(x, engine.any(nans, axis))
        values, indices = best
        if values.shape[axis] > self.k:
            values, indices = (each[several] for each in best)
        if self.default is not None:
            values = engine.filled(values, engine.is_empty(indices), self.default)
        elif not is_whole:
            self._refuse_fewer(call, x, engine.first(engine.any(engine.is_empty(indices), axis)))
        return ValuesIndices(values, engine.cast(indices, self.index))

    def _refuse_fewer(self, call: Reduction, x: NDArray[Any], place: tuple[int, ...] | None) -> None:
        if place is not None:
            raise ArgumentError(
                f"top_k: {call.slice_at(place)} has fewer than {self.k} elements to choose from",
                given=summary_of(x),
                remedy="pass a default for such slices, or a smaller k",
            )


def one_axis(x: Any, axis: Any) -> int | None:
    """Return an axis as a non-negative number, None for all elements, or refuse it."""
    if axis is None:
        return None
    number = integers("top_k", axis, x)
    if isinstance(number, tuple) and len(number) == 1:
        (number,) = number
    if isinstance(number, tuple):
        raise ArgumentTypeError(
            f"top_k: axis {axis!r} is not one axis", remedy="pass an int, or None for all elements"
        )
    rank = len(x.shape)
    if not -rank <= number < rank:
        raise axis_error("top_k", number, x.shape, x)
    return number % rank
