"""Labels in place of indices: ``idxmax``, ``idxmin`` and ``idxtop_k``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from extremum.arrays import misfit_of
from extremum.errors import ArgumentError
from extremum.signatures import like
from extremum.xarray.dimensions import by_dimension, dims_of, each_variable, of_each_block, require_labelled
from extremum.xarray.reductions import argmax, argmin
from extremum.xarray.selection import top_k

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from extremum.signatures import TieOptions, TopKOptions
    from extremum.xarray.dimensions import Dims, X


@overload
def idxmax(x: X, dim: str | None = None, *, fill_value: Any = None, **options: Unpack[TieOptions]) -> X: ...
@overload
def idxmax(
    x: X, dim: Dims, *, fill_value: Any = None, **options: Unpack[TieOptions]
) -> X | dict[Hashable, xr.DataArray]: ...
@like("argmax", after=[argmax], without=["keepdims", "dtype", "out", "default"])
def idxmax(x: Any, dim: Dims = None, *, fill_value: Any = None, **options: Any) -> Any:
    """Coordinate label of the largest element along a dimension.

    Parameters
    ----------
    dim : hashable or sequence of hashable, optional
        A dimension with a coordinate, or several; optional if the array has only one dimension.
    fill_value : scalar, optional
        The result where no element takes part. Without it such a slice is an error. NaN becomes NaT where the labels
        are times or durations. Where the labels are text, NaN stays a float and the result has dtype object.

    Returns
    -------
    xarray.DataArray or xarray.Dataset, or a dict of DataArrays by dimension if several are given
        The labels, with the coordinates of the dimensions that remain.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.idxmax(x, "hour").values
    array([12,  6])
    """
    return _label("idxmax", argmax, x, dim, fill_value, **options)


@overload
def idxmin(x: X, dim: str | None = None, *, fill_value: Any = None, **options: Unpack[TieOptions]) -> X: ...
@overload
def idxmin(
    x: X, dim: Dims, *, fill_value: Any = None, **options: Unpack[TieOptions]
) -> X | dict[Hashable, xr.DataArray]: ...
@like("argmin", after=[idxmax, argmax], without=["keepdims", "dtype", "out", "default"])
def idxmin(x: Any, dim: Dims = None, *, fill_value: Any = None, **options: Any) -> Any:
    """Coordinate label of the smallest element along a dimension.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.idxmin(x, "hour").values
    array([ 6, 12])
    """
    return _label("idxmin", argmin, x, dim, fill_value, **options)


@overload
def idxtop_k(
    x: X, k: SupportsIndex, dim: str | None = None, *, fill_value: Any = None, **options: Unpack[TopKOptions]
) -> X: ...
@overload
def idxtop_k(
    x: X, k: SupportsIndex, dim: Dims, *, fill_value: Any = None, **options: Unpack[TopKOptions]
) -> X | dict[Hashable, xr.DataArray]: ...
@like("top_k", after=[top_k, idxmax, argmax], without=["sorted", "default", "index_dtype"])
def idxtop_k(x: Any, k: SupportsIndex, dim: Dims = None, *, fill_value: Any = None, **options: Any) -> Any:
    """Coordinate labels of the k largest or smallest elements along a dimension, best first.

    Parameters
    ----------
    dim : hashable or sequence of hashable, optional
        A dimension with a coordinate, or several; optional if the array has only one dimension.
    fill_value : scalar, optional
        The result where fewer than `k` elements of a slice take part. Without it such a slice is an error. NaN becomes
        NaT where the labels are times or durations. Where the labels are text, NaN stays a float and the result has
        dtype object.

    Returns
    -------
    xarray.DataArray or xarray.Dataset, or a dict of DataArrays by dimension if several are given
        Labels in place of the indices of :func:`top_k`, along the dimension that stays, or a new one named ``k``.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.idxtop_k(x, 2, "hour").values
    array([[12, 18],
           [ 6, 18]])
    """
    if isinstance(x, xr.Dataset):
        return _labels_of_each(
            "idxtop_k", x, dim, partial(_labels_of_best, k=k, fill_value=fill_value, **options)
        )
    return _labels_of_best(x, dim, k=k, fill_value=fill_value, **options)


def _label(function: str, index_of: Any, x: Any, dim: Any, fill_value: Any, **options: Any) -> Any:
    if isinstance(x, xr.Dataset):
        return _labels_of_each(
            function, x, dim, lambda each, own: _label(function, index_of, each, own, fill_value, **options)
        )
    dims = _labelled_dims(function, x, dim)
    indices = index_of(x, dims, as_dict=True, default=-1, **options)
    lack = "the slice at {} of the result has no element to choose from: all are NaN or masked"
    result = {
        each: _labels_at(function, at, x.coords[each], fill_value, lack) for each, at in indices.items()
    }
    return result[dims[0]] if dim is None or dim in dims else result


def _labels_of_best(x: Any, dim: Any, *, k: Any, fill_value: Any, **options: Any) -> Any:
    dims = _labelled_dims("idxtop_k", x, dim)
    # Where a slice has fewer elements, the index is -1, whatever the value.
    filling = np.zeros((), x.dtype)[()]
    indices = top_k(x, k, dims, default=filling, **options).indices
    by_name = {dims[0]: indices} if len(dims) == 1 else by_dimension(indices, x, dims)
    lack = f"place {{}} of the result has no element: fewer than {operator.index(k)} of its slice take part"
    result = {
        each: _labels_at("idxtop_k", at, x.coords[each], fill_value, lack) for each, at in by_name.items()
    }
    return result[dims[0]] if dim is None or dim in dims else result


def _labels_of_each(function: str, x: xr.Dataset, dim: Any, call: Callable[[xr.DataArray, Any], Any]) -> Any:
    """Return the labels of each variable along one dimension."""
    if not isinstance(dim, Hashable) or dim is None:
        raise ArgumentError(f"{function}: of a Dataset it takes one dimension", remedy="pass its name as dim")
    return each_variable(x, function, dim, lambda variable, own: call(variable, own[0]))


def _labelled_dims(function: str, x: Any, dim: Any) -> tuple[Hashable, ...]:
    """Return the dimensions that a caller names, or refuse those without a coordinate."""
    require_labelled(function, x)
    dims = dims_of(function, dim, x)
    if dim is None and len(dims) != 1:
        raise ArgumentError(
            f"{function}: the array has {len(dims)} dimensions", remedy="pass the names of some as dim"
        )
    for each in dims:
        if each not in x.coords:
            plain = "top_k" if function == "idxtop_k" else "argmax or argmin"
            raise ArgumentError(f"{function}: dimension {each!r} has no coordinate", remedy=f"use {plain}")
    return dims


def _labels_at(
    function: str, index: xr.DataArray, coord: xr.DataArray, fill_value: Any, lack: str
) -> xr.DataArray:
    """Return the label at each index, and the fill value where the index is -1, or refuse it for what it lacks."""
    # Labels of pandas' own types become objects, to keep their time zone.
    is_plain = isinstance(coord.dtype, np.dtype) and coord.dtype.kind != "O"
    if is_plain or coord.name not in coord.indexes:
        names = coord.values
    else:
        names = coord.to_index().to_numpy(object)
    if fill_value is not None:
        filler = _filler(function, names, fill_value)
        # The index -1 takes the last element.
        names = np.concatenate([names.astype(filler.dtype), filler])

    def look(block: Any, block_info: Any = None) -> Any:
        places = np.atleast_1d(block)
        if fill_value is None and (places == -1).any():
            place = _first_empty(np.asarray(block), block_info)
            lacking = (
                lack.format(place) if place else lack.replace("the slice at {} of the result", "the array")
            )
            raise ArgumentError(
                f"{function}: {lacking}",
                given=f"dimension {coord.name!r} of {coord.size}",
                remedy="pass fill_value for such slices",
            )
        # A 0-d index would give a bare element instead of an array.
        return names[places].reshape(np.shape(block))

    return of_each_block(index, look, names.dtype).rename(coord.name)


def _first_empty(block: NDArray[Any], block_info: Any) -> tuple[int, ...]:
    """Return the place of the first index -1 in the whole result; Dask says where a chunk starts."""
    starts = [0] * block.ndim
    if block_info:
        starts = [start for start, _ in block_info[0]["array-location"]]
    return tuple((np.argwhere(block == -1)[0] + starts).tolist())


def _filler(function: str, names: NDArray[Any], fill_value: Any) -> NDArray[Any]:
    """Return the fill value as an array of one element, in a type that holds it and the labels, or refuse it."""
    own = names.dtype
    value = np.asarray(fill_value)
    if own.kind in "mM" and value.ndim == 0 and fill_value != fill_value:
        return np.array(["NaT"], own)
    if own.kind == "O" or value.ndim or (own.kind in "UST") != (value.dtype.kind in "UST"):
        filler = np.empty(1, object)
        filler[0] = fill_value
        return filler
    try:
        filler = np.asarray([fill_value], np.result_type(own, value.dtype))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{function}: fill_value={fill_value!r} is not a label of {own}",
            remedy="pass a label of the coordinate's type, or numpy.nan",
        ) from None
    if filler.dtype.kind == "O":
        return filler
    for each, what in ((names, "the label"), (value, "fill_value")):
        misfit = misfit_of(each, filler.dtype)
        if misfit is not None:
            raise ArgumentError(
                f"{function}: {what} {misfit} does not fit {filler.dtype}, the type of labels and fill_value together",
                given=f"labels of {own}, fill_value={fill_value!r}",
                remedy="pass a fill_value of the type of the labels",
            )
    return filler
