"""The array functions as ``extremum.argmax(x, axis=0)`` and the others call them on a DataArray: axes by their numbers.

Decides nothing about what is found. Where ``out`` is given it is NumPy's, and labels have no place in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xarray as xr

import extremum as ex
from extremum import xarray as by_name
from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.reductions import Reduction
from extremum.xarray import mask, reduced

__all__ = ["argmax", "argmin", "hardmax", "max", "maximum", "min", "minimum", "minmax"]


def _over_axes(name: str) -> Callable[..., Any]:
    """Make one of the functions that reduce axes."""

    def function(x: Any, axis: Any = None, *, where: Any = None, keepdims: bool = False, **options: Any) -> Any:
        _require_array(name, x)
        found = getattr(ex, name)(x.data, axis, where=mask(name, where, x), keepdims=keepdims, **options)
        if options.get("out") is not None:
            return found
        dims = [x.dims[each] for each in Reduction(name, (), axis).axes(x.ndim)]
        if not isinstance(found, tuple):
            return reduced(x, dims, found, keepdims=keepdims)
        return type(found)(*(reduced(x, dims, each, keepdims=keepdims) for each in found))

    return function


argmax, argmin, max, min, minmax = map(_over_axes, ("argmax", "argmin", "max", "min", "minmax"))


def hardmax(x: Any, axis: Any, *, out: Any = None, where: Any = None, **options: Any) -> Any:
    """Write ones at the first maximum."""
    _require_array("hardmax", x)
    found = ex.hardmax(x.data, axis, out=out, where=mask("hardmax", where, x), **options)
    return found if out is not None else x.copy(data=found)


def _by_names(name: str) -> Callable[..., Any]:
    """Make one of the functions that compare operands, which meet by the names of their dimensions."""

    def function(*operands: Any, out: Any = None, **options: Any) -> Any:
        if out is not None:
            raise ArgumentError(
                f"{name}: operands with labels meet by the names of their dimensions, and out has none",
                remedy="leave out away, or pass x.values",
            )
        return getattr(by_name, name)(*operands, **options)

    return function


maximum, minimum = map(_by_names, ("maximum", "minimum"))


def _require_array(name: str, x: Any) -> None:
    """Refuse a Dataset, whose variables have axes of their own."""
    if isinstance(x, xr.Dataset):
        raise ArgumentTypeError(
            f"{name}: a Dataset has no axes that could be counted",
            remedy=f"call extremum.xarray.{name}, which takes dimensions by name",
        )
