"""Dimensions by name, and what a result keeps of them: coordinates, name and attributes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np
import xarray as xr

import extremum as ex
from extremum.arrays import class_name
from extremum.errors import ArgumentError, ArgumentTypeError, within
from extremum.groups import refuse_groups
from extremum.interop import labels_of
from extremum.reductions import require_labels

X = TypeVar("X", xr.DataArray, xr.Dataset)

Dims = Hashable | Sequence[Hashable] | None
"""One name, several, or None for all dimensions."""


def require_labelled(function: str, x: Any) -> None:
    """Refuse anything but a DataArray or a Dataset."""
    if isinstance(x, xr.DataArray | xr.Dataset):
        return
    refuse_groups(function, x)
    way = "pass xarray.DataArray(x, dims=..., coords=...)"
    if hasattr(ex, function):
        way = f"call extremum.{function}, with axis instead of dim"
    raise ArgumentTypeError(f"{function}: {class_name(x)} is neither a DataArray nor a Dataset", remedy=way)


def dims_of(function: str, dim: Any, x: Any) -> tuple[Hashable, ...]:
    """Return the dimensions that a caller names, in the order of the array."""
    if dim is None or dim is ...:
        return tuple(x.dims)
    # A tuple may be the name of a dimension too.
    is_one = isinstance(dim, Hashable) and (not isinstance(dim, tuple) or dim in x.dims)
    names = [dim] if is_one else list(dim)
    for name in names:
        if name not in x.dims:
            raise ArgumentError(
                f"{function}: there is no dimension {name!r}",
                given=f"dimensions {', '.join(map(repr, x.dims))}",
                remedy="name dimensions of the array",
            )
    return tuple(name for name in x.dims if name in names)


def each_variable(x: xr.Dataset, function: str, dim: Any, call: Callable[[xr.DataArray, Any], Any]) -> Any:
    """Return Datasets of the results of each variable; variables without any of the dimensions stay unchanged."""
    dims = dims_of(function, dim, x)
    by_name: dict[Hashable, Any] = {}
    for name, variable in x.data_vars.items():
        if own := [each for each in dims if each in variable.dims]:
            with within(f"variable {name!r}"):
                by_name[name] = call(variable, own)

    def together(results: dict[Hashable, Any]) -> xr.Dataset:
        return xr.Dataset({name: results.get(name, x[name]) for name in x.data_vars}, attrs=x.attrs)

    first = next(iter(by_name.values()), None)
    if not isinstance(first, tuple):
        return together(by_name)
    # Several results, such as values and indices, become a Dataset each.
    several = [{name: each[at] for name, each in by_name.items()} for at in range(len(first))]
    return type(first)(*map(together, several))


def mask(function: str, where: Any, x: xr.DataArray) -> Any:
    """Return a mask as an array whose dimensions are those of `x`, matched by name."""
    if isinstance(where, xr.Dataset):
        if x.name not in where:
            raise ArgumentError(
                f"{function}: where is a Dataset without variable {x.name!r}",
                remedy="pass a Dataset with a mask for each variable, or one mask as a DataArray",
            )
        where = where[x.name]
    if isinstance(where, xr.Variable):
        where = xr.DataArray(where)
    if not isinstance(where, xr.DataArray):
        require_labels(function, where, labels_of(x))
        return where
    strange = [name for name in where.dims if name not in x.dims]
    try:
        if strange:
            raise ValueError(f"the dimension {strange[0]!r} is not one of {', '.join(map(repr, x.dims))}")
        where, _ = xr.align(where, x, join="exact", copy=False)
    except ValueError as error:
        raise ArgumentError(
            f"{function}: where does not fit: {error}", remedy="align it with x first"
        ) from None
    return where.variable.set_dims({name: x.sizes[name] for name in x.dims}).transpose(*x.dims).data


def reduced(
    x: xr.DataArray,
    dims: Sequence[Hashable],
    result: Any,
    *,
    keepdims: bool = False,
    new: Sequence[Hashable] = (),
) -> Any:
    """Return a result over some dimensions, or each of several, with the coordinates of the others.

    `new` are dimensions that the result has after those of the array.
    """
    if isinstance(result, tuple):
        return type(result)(*(reduced(x, dims, each, keepdims=keepdims, new=new) for each in result))
    names = [*(name for name in x.dims if keepdims or name not in dims), *new]
    coords = {name: coord for name, coord in x.coords.items() if not set(coord.dims) & set(dims)}
    data = np.asarray(result) if isinstance(result, np.generic) else result
    array = xr.DataArray(data, coords=coords, dims=names, attrs=x.attrs)
    # If `x` has no name, xarray would take the name of Dask's array.
    array.name = x.name
    return array


def of_each_block(index: xr.DataArray, function: Callable[..., Any], dtype: Any) -> xr.DataArray:
    """Apply a function to indices when they are computed."""
    data = index.data
    if hasattr(data, "map_blocks"):
        return index.copy(data=data.map_blocks(function, dtype=dtype, meta=np.empty((0,) * data.ndim, dtype)))
    return index.copy(data=function(data))


def by_dimension(
    index: xr.DataArray, x: xr.DataArray, dims: tuple[Hashable, ...]
) -> dict[Hashable, xr.DataArray]:
    """Split row-major indices over several dimensions of `x` into an index along each."""
    shape = x.shape
    axes = tuple(map(x.get_axis_num, dims))

    def along(at: int) -> Callable[[Any], Any]:
        return lambda indices: ex.unravel(indices, shape, axes)[at]

    return {name: of_each_block(index, along(at), index.dtype) for at, name in enumerate(dims)}
