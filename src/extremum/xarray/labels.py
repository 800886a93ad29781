"""``idxmax`` and ``idxmin``: the labels of the extreme elements in place of their indices.

Decides what stands for a slice in which no element takes part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import xarray as xr

from extremum.errors import ArgumentError
from extremum.policy import NanPolicy
from extremum.xarray.labelled import Dims, each_variable, named, require_labelled
from extremum.xarray.reductions import argmax, argmin

__all__ = ["idxmax", "idxmin"]

_LABELS = """Coordinate label of the {superlative} element along a dimension.

    Parameters
    ----------
    x, where, select_last_index, nan_policy
        As for :func:`extremum.xarray.arg{end}`.
    dim : hashable or sequence of hashable, optional
        The dimension, which has a coordinate; needs no name where the array has one dimension only.
    fill_value : scalar, optional
        What stands where no element takes part. Without it such a slice is an error.

    Returns
    -------
    xarray.DataArray or xarray.Dataset, or a dict of DataArrays by dimension
        A dict where several dimensions are given.

    Raises
    ------
    ArgumentError, ElementTypeError
        A dimension has no coordinate, or as :func:`extremum.xarray.arg{end}`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={{"hour": [6, 12, 18]}})
    >>> extremum.xarray.idx{end}(x, "hour").values
    {example}
    """


def _labels(name: str, superlative: str, example: str) -> Callable[..., Any]:
    """Make ``idxmax`` or ``idxmin``."""
    index_of = argmax if name == "idxmax" else argmin

    def labels(
        x: Any,
        dim: Dims = None,
        *,
        select_last_index: bool = False,
        nan_policy: NanPolicy = "propagate",
        where: Any = None,
        fill_value: Any = None,
    ) -> Any:
        require_labelled(name, x)
        options: dict[str, Any] = {"select_last_index": select_last_index, "nan_policy": nan_policy, "where": where}
        if isinstance(x, xr.Dataset):
            several = not isinstance(dim, Hashable) or dim is None
            if several:
                raise ArgumentError(f"{name}: of a Dataset it takes one dimension", remedy="pass its name as dim")
            return each_variable(
                x, name, dim, lambda each, own: (labels(each, own[0], fill_value=fill_value, **options),)
            )[0]
        dims = named(name, dim, x)
        if dim is None and len(dims) != 1:
            raise ArgumentError(f"{name}: the array has {len(dims)} dimensions", remedy="pass the names of some as dim")
        for each in dims:
            if each not in x.coords:
                raise ArgumentError(f"{name}: dimension {each!r} has no coordinate", remedy="use argmax or argmin")
        found = index_of(x, dims, as_dict=True, default=None if fill_value is None else -1, **options)
        result = {
            each: _labelled(index, x.coords[each].values, fill_value).rename(each) for each, index in found.items()
        }
        return result[dims[0]] if dim is None or dim in dims else result

    labels.__doc__ = _LABELS.format(end=name[3:], superlative=superlative, example=example)
    labels.__name__ = labels.__qualname__ = name
    return labels


def _labelled(index: xr.DataArray, names: Any, fill_value: Any) -> xr.DataArray:
    """Return the label at each index, and what fills the place of -1."""
    dtype = names.dtype if fill_value is None else np.result_type(names.dtype, np.asarray(fill_value).dtype)

    def look(block: Any) -> Any:
        found = names[block].astype(dtype)
        return found if fill_value is None else np.where(block == -1, np.asarray(fill_value, dtype), found)

    data = index.data
    return index.copy(
        data=data.map_blocks(look, dtype=dtype) if hasattr(data, "map_blocks") else np.asarray(look(data))
    )


idxmax = _labels("idxmax", "largest", "array([12,  6])")
idxmin = _labels("idxmin", "smallest", "array([ 6, 12])")
