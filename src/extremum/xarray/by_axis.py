"""The functions that ``extremum.argmax(x, axis=0)`` and the others call if ``x`` is xarray's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import xarray as xr

import extremum as ex
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.functions import FUNCTIONS, OVER_AXES, Kind, of_kind
from extremum.reductions import Reduction
from extremum.selection import one_axis
from extremum.xarray import elementwise
from extremum.xarray.dimensions import mask, reduced
from extremum.xarray.selection import top_k


def _by_axis(name: str) -> Callable[..., Any]:
    """Make an array function that takes axes of a DataArray by number."""

    def function(x: Any, axis: Any = None, *, where: Any = None, out: Any = None, **options: Any) -> Any:
        _require_axes(name, x)
        if not FUNCTIONS[name].fields:
            options["out"] = out
        result = getattr(ex, name)(x.data, axis, where=mask(name, where, x), **options)
        if out is not None:
            return result
        if FUNCTIONS[name].kind is Kind.ONE_HOT:
            return reduced(x, (), result)
        dims = [x.dims[each] for each in Reduction(name, (), axis).axes(x.ndim)]
        return reduced(x, dims, result, keepdims=options.get("keepdims", False))

    return function


def _require_axes(name: str, x: Any) -> None:
    if isinstance(x, xr.Dataset):
        raise ArgumentTypeError(
            f"{name}: a Dataset has no axis numbers",
            remedy=f"call extremum.xarray.{name}, which takes dimensions by name",
        )


def _top_k_by_axis(x: Any, k: Any, axis: Any, **options: Any) -> Any:
    _require_axes("top_k", x)
    number = one_axis(x, axis)
    return top_k(x, k, None if number is None else x.dims[number], **options)


def _by_labels(function: Callable[..., Any], *operands: Any, out: Any, **options: Any) -> Any:
    if out is not None:
        raise ArgumentError(
            f"{function.__name__}: operands with labels meet by the names of their dimensions, and out has none",
            remedy="omit out, or pass x.values",
        )
    return function(*operands, **options)


BY_AXIS = {
    **{name: _by_axis(name) for name in OVER_AXES},
    **{name: partial(_by_labels, getattr(elementwise, name)) for name in of_kind(Kind.ELEMENTWISE)},
    "top_k": _top_k_by_axis,
}
"""The functions that ``extremum.argmax(x, axis=0)`` and the others call if ``x`` is xarray's."""
