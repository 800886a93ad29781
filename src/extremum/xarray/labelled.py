"""xarray's arrays as the functions of this package take them: by the names of dimensions, and back with their labels.

Decides what is kept: the coordinates of the dimensions that stay, the attributes, the name. A Dataset is its variables,
one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from extremum.errors import ArgumentError, ArgumentTypeError, ExtremumError

__all__ = ["Dims", "each_variable", "mask", "named", "reduced", "require_labelled"]

Dims = Hashable | Sequence[Hashable] | None
"""One name, several, or None for all dimensions."""


def require_labelled(function: str, x: Any) -> None:
    """Refuse what is none of xarray's."""
    if not isinstance(x, xr.DataArray | xr.Dataset):
        raise ArgumentTypeError(
            f"{function}: {type(x).__module__}.{type(x).__qualname__} is no DataArray or Dataset",
            remedy=f"call extremum.{function}, with axis instead of dim",
        )


def named(function: str, dim: Any, x: Any) -> tuple[Hashable, ...]:
    """Return the dimensions that a caller names, in the sequence in which the array has them."""
    if dim is None or dim is ...:
        return tuple(x.dims)
    # A tuple may be the name of a dimension too.
    is_name = isinstance(dim, Hashable) and (not isinstance(dim, tuple) or dim in x.dims)
    wanted = [dim] if is_name else list(dim)
    for name in wanted:
        if name not in x.dims:
            raise ArgumentError(
                f"{function}: there is no dimension {name!r}",
                given=f"dimensions {', '.join(map(repr, x.dims))}",
                remedy="name dimensions of the array",
            )
    return tuple(name for name in x.dims if name in wanted)


def each_variable(
    x: xr.Dataset, function: str, dim: Any, call: Callable[[xr.DataArray, Any], tuple[Any, ...]]
) -> tuple[Any, ...]:
    """Return Datasets of what each variable gives; variables without any of the dimensions stay as they are."""
    wanted = named(function, dim, x)
    found: dict[Hashable, tuple[Any, ...]] = {}
    for name, variable in x.data_vars.items():
        if own := [each for each in wanted if each in variable.dims]:
            try:
                found[name] = call(variable, own)
            except ExtremumError as error:
                raise error.with_context(where=f"variable {name!r}") from None
    results = max((len(each) for each in found.values()), default=1)
    return tuple(
        xr.Dataset({name: found[name][at] if name in found else x[name] for name in x.data_vars}, attrs=x.attrs)
        for at in range(results)
    )


def mask(function: str, where: Any, x: xr.DataArray) -> Any:
    """Return a mask as an array whose dimensions are those of `x`, matched by name."""
    if isinstance(where, xr.Dataset):
        where = where[x.name]
    if not isinstance(where, xr.DataArray):
        return where
    strange = [name for name in where.dims if name not in x.dims]
    try:
        if strange:
            raise ValueError(f"the dimension {strange[0]!r} is not one of {', '.join(map(repr, x.dims))}")
        where, _ = xr.align(where, x, join="exact", copy=False)
    except ValueError as error:
        raise ArgumentError(f"{function}: where does not fit: {error}", remedy="align it with x first") from None
    return where.variable.set_dims({name: x.sizes[name] for name in x.dims}).transpose(*x.dims).data


def reduced(x: xr.DataArray, dims: Sequence[Hashable], result: Any, *, keepdims: bool = False) -> xr.DataArray:
    """Return a result over some dimensions with the coordinates of the others."""
    kept = x.dims if keepdims else [name for name in x.dims if name not in dims]
    coords = {name: coord for name, coord in x.coords.items() if not set(coord.dims) & set(dims)}
    data = np.asarray(result) if isinstance(result, np.generic) else result
    found = xr.DataArray(data, coords=coords, dims=kept, attrs=x.attrs)
    # Where it has none, xarray would take that of Dask's array.
    found.name = x.name
    return found
