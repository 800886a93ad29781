"""``idxmax`` and ``idxmin``: the labels of the extreme elements in place of their indices.

Decides what stands for a slice in which no element takes part.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np
import xarray as xr

from extremum.errors import ArgumentError
from extremum.exact import first_lost
from extremum.signatures import TieOptions, like
from extremum.xarray.labelled import Dims, each_variable, named, require_labelled
from extremum.xarray.reductions import X, argmax, argmin

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["idxmax", "idxmin"]

_LABELS = """Coordinate label of the {superlative} element along a dimension.

    Parameters
    ----------
    x, where, select_last_index, nan_policy
        As for :func:`extremum.xarray.arg{end}`.
    dim : hashable or sequence of hashable, optional
        The dimension, which has a coordinate; needs no name where the array has one dimension only.
    fill_value : scalar, optional
        What stands where no element takes part. Without it such a slice is an error. NaN becomes NaT where the
        labels are times or durations. Where the labels are text, NaN stays a float and the result has dtype object.

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


class _Idx(Protocol):
    @overload
    def __call__(self, x: X, dim: str | None = None, *, fill_value: Any = None, **options: Unpack[TieOptions]) -> X: ...
    @overload
    def __call__(
        self, x: X, dim: Dims, *, fill_value: Any = None, **options: Unpack[TieOptions]
    ) -> X | dict[Hashable, xr.DataArray]: ...


def _labels(name: str, superlative: str, example: str) -> _Idx:
    """Make ``idxmax`` or ``idxmin``."""
    index_of = argmax if name == "idxmax" else argmin

    @like(
        "arg" + name[3:],
        _LABELS.format(end=name[3:], superlative=superlative, example=example),
        name=name,
        without=("keepdims", "dtype", "out", "default"),
    )
    def labels(x: Any, dim: Dims = None, *, fill_value: Any = None, **options: Any) -> Any:
        require_labelled(name, x)
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
        found = index_of(x, dims, as_dict=True, default=-1, **options)
        result = {
            each: _labelled(name, index, x.coords[each], fill_value).rename(each) for each, index in found.items()
        }
        return result[dims[0]] if dim is None or dim in dims else result

    return labels


def _labelled(function: str, index: xr.DataArray, coord: xr.DataArray, fill_value: Any) -> xr.DataArray:
    """Return the label at each index, and the fill value where the index is -1."""
    names = _names(coord)
    if fill_value is not None:
        filler = _filler(function, names.dtype, fill_value)
        _require_exact(function, coord, fill_value, filler.dtype)
        # The index -1 takes the last element.
        names = np.concatenate([names.astype(filler.dtype), filler])

    def look(block: Any, block_info: Any = None) -> Any:
        places = np.atleast_1d(block)
        if fill_value is None and (places == -1).any():
            raise _lacking(function, coord, block, block_info)
        # A 0-d index would give a bare element instead of an array.
        return names[places].reshape(np.shape(block))

    data = index.data
    if hasattr(data, "map_blocks"):
        return index.copy(data=data.map_blocks(look, dtype=names.dtype, meta=np.empty((0,) * data.ndim, names.dtype)))
    return index.copy(data=look(data))


def _lacking(function: str, coord: xr.DataArray, block: Any, block_info: Any) -> ArgumentError:
    """Return the error about the first slice without an element."""
    place = np.argwhere(np.asarray(block) == -1)[0].tolist()
    if block_info:
        place = [at + start for at, (start, _) in zip(place, block_info[0]["array-location"], strict=True)]
    which = f"the slice at {tuple(place)} of the result" if place else "the array"
    return ArgumentError(
        f"{function}: {which} has no element to choose from: all are NaN or masked",
        given=f"dimension {coord.name!r} of {coord.size}",
        remedy="pass fill_value for such slices",
    )


def _names(coord: xr.DataArray) -> Any:
    """Return the labels as a NumPy array; labels of pandas' own types become objects, which keep their time zone."""
    is_plain = isinstance(coord.dtype, np.dtype) and coord.dtype.kind != "O"
    if is_plain or coord.name not in coord.indexes:
        return coord.values
    labels = coord.to_index()
    names = np.empty(len(labels), object)
    for at, label in enumerate(labels):
        names[at] = label
    return names


def _require_exact(function: str, coord: xr.DataArray, fill_value: Any, dtype: np.dtype[Any]) -> None:
    """Refuse labels and fill values that the type of both does not hold."""
    if dtype.kind == "O" or not isinstance(coord.dtype, np.dtype):
        return
    for each, what in ((coord.values, "the label"), (np.asarray(fill_value), "fill_value")):
        if (lost := first_lost(each, dtype)) is not None:
            raise ArgumentError(
                f"{function}: {what} {lost} does not fit {dtype}, the type of labels and fill_value together",
                given=f"labels of {coord.dtype}, fill_value={fill_value!r}",
                remedy="pass a fill_value of the type of the labels",
            )


def _filler(function: str, dtype: np.dtype[Any], fill_value: Any) -> Any:
    """Return the fill value as an array of one element, in a type that holds it and the labels."""
    if dtype.kind in "mM" and np.ndim(fill_value) == 0 and fill_value != fill_value:
        return np.array(["NaT"], dtype)
    given = np.asarray(fill_value)
    if dtype.kind == "O" or given.ndim or (dtype.kind in "UST") != (given.dtype.kind in "UST"):
        filler = np.empty(1, object)
        filler[0] = fill_value
        return filler
    try:
        return np.asarray([fill_value], np.result_type(dtype, given.dtype))
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{function}: fill_value={fill_value!r} is no label of {dtype}",
            remedy="pass a label of the coordinate's type, or numpy.nan",
        ) from None


idxmax = _labels("idxmax", "largest", "array([12,  6])")
idxmin = _labels("idxmin", "smallest", "array([ 6, 12])")
