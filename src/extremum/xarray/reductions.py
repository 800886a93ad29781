"""``argmax``, ``argmin``, ``max``, ``min`` and ``minmax`` over the dimensions that are named.

Decides what each returns. How a result gets its coordinates is :mod:`extremum.xarray.labelled`'s.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

import xarray as xr

import extremum as ex
from extremum.errors import ArgumentError
from extremum.signatures import ArgKeywords, MinMax, MinMaxIndices, ValueKeywords, ValuesIndices, like
from extremum.xarray.labelled import Dims, each_variable, mask, named, reduced, require_labelled

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from extremum.signatures import No, Yes

__all__ = ["argmax", "argmin", "max", "min", "minmax"]

X = TypeVar("X", xr.DataArray, xr.Dataset)

_TEXT = """{what} over the dimensions that are named.

    Parameters
    ----------
    x : xarray.DataArray or xarray.Dataset
        Over NumPy or over Dask. Of a Dataset each variable is reduced over those of the dimensions that it has.
    dim : hashable or sequence of hashable, optional
        The dimensions to reduce; all of them by default.
    {options}
    where : xarray.DataArray or array_like of bool, optional
        Elements that take part; a DataArray is matched by the names of its dimensions.
    keepdims, select_last_index, nan_policy, default
        As for :func:`extremum.{name}`.

    Returns
    -------
    {returns}

    Raises
    ------
    ArgumentError, ElementTypeError
        There is no such dimension, or as :func:`extremum.{name}`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={{"hour": [6, 12, 18]}})
    {example}
    """

_INDEX_OPTIONS = """as_dict : bool, default False
        Return one array of indices for each dimension, as xarray's ``argmax(dim=[...])`` does, in place of the
        row-major index over all of them in the sequence in which the array has them.
    dtype : data type, default int64
        As for :func:`extremum.{name}`."""
_VALUE_OPTIONS = """return_index, index_dtype
        As for :func:`extremum.{name}`."""


class _Arg(Protocol):
    @overload
    def __call__(self, x: X, dim: Dims = None, *, as_dict: No = False, **options: Unpack[ArgKeywords]) -> X: ...
    @overload
    def __call__(
        self, x: xr.DataArray, dim: Dims = None, *, as_dict: Yes, **options: Unpack[ArgKeywords]
    ) -> dict[Hashable, xr.DataArray]: ...


class _Max(Protocol):
    @overload
    def __call__(self, x: X, dim: Dims = None, *, return_index: No = False, **options: Unpack[ValueKeywords]) -> X: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
    ) -> ValuesIndices[X, X]: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: bool, **options: Unpack[ValueKeywords]
    ) -> X | ValuesIndices[X, X]: ...


class _MinMax(Protocol):
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: No = False, **options: Unpack[ValueKeywords]
    ) -> MinMax[X]: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
    ) -> MinMaxIndices[X, X]: ...
    @overload
    def __call__(
        self, x: X, dim: Dims = None, *, return_index: bool, **options: Unpack[ValueKeywords]
    ) -> MinMax[X] | MinMaxIndices[X, X]: ...


def _arg(name: str, what: str, example: str) -> _Arg:
    """Make ``argmax`` or ``argmin``."""
    returns = "xarray.DataArray or xarray.Dataset, or a dict of DataArrays by dimension"
    options = _INDEX_OPTIONS.format(name=name)

    @like(name, _TEXT.format(name=name, what=what, options=options, returns=returns, example=example), without=("out",))
    def arg(x: Any, dim: Dims = None, *, as_dict: bool = False, where: Any = None, **options: Any) -> Any:
        require_labelled(name, x)
        if isinstance(x, xr.Dataset):
            if as_dict:
                raise ArgumentError(
                    f"{name}: variables of a Dataset have dimensions of their own, so there is no one dict for them",
                    remedy="call it for each variable, or without as_dict",
                )
            return each_variable(x, name, dim, lambda each, own: (arg(each, own, where=where, **options),))[0]
        dims = named(name, dim, x)
        axes = tuple(map(x.get_axis_num, dims))
        index = getattr(ex, name)(x.data, axes, where=mask(name, where, x), **options)
        if not as_dict:
            return reduced(x, dims, index, keepdims=options["keepdims"])
        places = _unravelled(index, x.shape, axes)
        return {each: reduced(x, dims, i, keepdims=options["keepdims"]) for each, i in zip(dims, places, strict=True)}

    return arg


def _unravelled(index: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> list[Any]:
    """Return the index along each axis, computed when the index is."""
    if not hasattr(index, "map_blocks"):
        return list(ex.unravel(index, shape, axes))

    def along(block: Any, at: int) -> Any:
        return ex.unravel(block, shape, axes)[at]

    return [index.map_blocks(along, at=at, dtype=index.dtype, meta=index._meta) for at in range(len(axes))]


def _end(name: str, what: str, example: str, returns: str) -> Any:
    """Make ``max``, ``min`` or ``minmax``."""
    options = _VALUE_OPTIONS.format(name=name)

    @like(name, _TEXT.format(name=name, what=what, options=options, returns=returns, example=example), without=("out",))
    def end(x: Any, dim: Dims = None, *, return_index: bool = False, **options: Any) -> Any:
        found = _results(name, x, dim, return_index, **options)
        if return_index:
            return ValuesIndices(*found) if name != "minmax" else MinMaxIndices(*found)
        return MinMax(*found) if name == "minmax" else found[0]

    return end


def _results(name: str, x: Any, dim: Any, return_index: bool, *, where: Any, **options: Any) -> tuple[Any, ...]:
    """Return the results of a function that has one or several."""
    require_labelled(name, x)
    if isinstance(x, xr.Dataset):
        return each_variable(
            x, name, dim, lambda each, own: _results(name, each, own, return_index, where=where, **options)
        )
    dims = named(name, dim, x)
    axes = tuple(map(x.get_axis_num, dims))
    found = getattr(ex, name)(x.data, axes, return_index=return_index, where=mask(name, where, x), **options)
    several = found if isinstance(found, tuple) else (found,)
    return tuple(reduced(x, dims, each, keepdims=options["keepdims"]) for each in several)


argmax = _arg(
    "argmax",
    "Index of the largest element",
    """>>> extremum.xarray.argmax(x, "hour").values, int(extremum.xarray.argmax(x))
    (array([1, 0]), 3)
    >>> {name: int(index) for name, index in extremum.xarray.argmax(x, as_dict=True).items()}
    {'day': 1, 'hour': 0}""",
)
argmin = _arg(
    "argmin",
    "Index of the smallest element",
    """>>> extremum.xarray.argmin(x, "day").values
    array([0, 1, 0])""",
)
max: _Max = _end(
    "max",
    "Largest element",
    """>>> extremum.xarray.max(x, "day").hour.values
    array([ 6, 12, 18])""",
    "xarray.DataArray or xarray.Dataset, or ValuesIndices of two",
)
min: _Max = _end(
    "min",
    "Smallest element",
    """>>> extremum.xarray.min(x, "day").values
    array([1, 0, 5])""",
    "xarray.DataArray or xarray.Dataset, or ValuesIndices of two",
)
minmax: _MinMax = _end(
    "minmax",
    "Smallest and largest element, in one pass,",
    """>>> low, high = extremum.xarray.minmax(x, "hour")
    >>> low.values, high.values
    (array([1, 0]), array([5, 7]))""",
    "MinMax of two DataArrays or Datasets, or MinMaxIndices of four",
)
