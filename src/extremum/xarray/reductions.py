"""``argmax``, ``argmin``, ``max``, ``min``, ``minmax`` and ``hardmax`` over dimensions by name."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, overload

import xarray as xr

import extremum as ex
from extremum.errors import ArgumentError
from extremum.functions import FUNCTIONS, Kind
from extremum.signatures import MinMax, MinMaxIndices, ValuesIndices, like
from extremum.xarray.dimensions import by_dimension, dims_of, each_variable, mask, reduced, require_labelled

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from extremum.signatures import ArgKeywords, HardmaxOptions, No, ValueKeywords, Yes
    from extremum.xarray.dimensions import Dims, X


@overload
def argmax(x: X, dim: Dims = None, *, as_dict: No = False, **options: Unpack[ArgKeywords]) -> X: ...
@overload
def argmax(
    x: xr.DataArray, dim: Dims = None, *, as_dict: Yes, **options: Unpack[ArgKeywords]
) -> dict[Hashable, xr.DataArray]: ...
@like("argmax", without=["out"])
def argmax(x: Any, dim: Dims = None, *, as_dict: bool = False, **options: Any) -> Any:
    """Index of the largest element over the dimensions that are named.

    Parameters
    ----------
    x : xarray.DataArray or xarray.Dataset
        Over NumPy or over Dask. Each variable of a Dataset is reduced over the given dimensions that it has.
    dim : hashable or sequence of hashable, optional
        The dimensions to reduce; all of them by default.
    keepdims : bool, default False
        Keep the dimensions with length 1.
    where : xarray.DataArray or array_like of bool, optional
        Elements that take part; a DataArray is matched by the names of its dimensions. Indices still count all
        elements.
    as_dict : bool, default False
        Return one array of indices for each dimension, as xarray's ``argmax(dim=[...])`` does, in place of one
        row-major index over all dimensions in the order of the array.

    Returns
    -------
    xarray.DataArray or xarray.Dataset, or a dict of DataArrays by dimension
        The indices, with the coordinates of the dimensions that remain.

    Raises
    ------
    ArgumentError, ElementTypeError
        There is no such dimension, or as for NumPy's arrays.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.argmax(x, "hour").values, int(extremum.xarray.argmax(x))
    (array([1, 0]), 3)
    >>> {name: int(index) for name, index in extremum.xarray.argmax(x, as_dict=True).items()}
    {'day': 1, 'hour': 0}
    """
    return _indices("argmax", x, dim, as_dict, **options)


@overload
def argmin(x: X, dim: Dims = None, *, as_dict: No = False, **options: Unpack[ArgKeywords]) -> X: ...
@overload
def argmin(
    x: xr.DataArray, dim: Dims = None, *, as_dict: Yes, **options: Unpack[ArgKeywords]
) -> dict[Hashable, xr.DataArray]: ...
@like("argmin", after=[argmax], without=["out"])
def argmin(x: Any, dim: Dims = None, *, as_dict: bool = False, **options: Any) -> Any:
    """Index of the smallest element over the dimensions that are named.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.argmin(x, "day").values
    array([0, 1, 0])
    """
    return _indices("argmin", x, dim, as_dict, **options)


@overload
def max(x: X, dim: Dims = None, *, return_index: No = False, **options: Unpack[ValueKeywords]) -> X: ...
@overload
def max(
    x: X, dim: Dims = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
) -> ValuesIndices[X, X]: ...
@overload
def max(
    x: X, dim: Dims = None, *, return_index: bool, **options: Unpack[ValueKeywords]
) -> X | ValuesIndices[X, X]: ...
@like("max", after=[argmax], without=["out"])
def max(x: Any, dim: Dims = None, **options: Any) -> Any:
    """Largest element over the dimensions that are named, with its index on request.

    Returns
    -------
    xarray.DataArray or xarray.Dataset, or ValuesIndices of two
        The values, with the coordinates of the dimensions that remain; with ``return_index`` the indices too.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.max(x, "day").hour.values
    array([ 6, 12, 18])
    """
    return _reduce("max", x, dim, **options)


@overload
def min(x: X, dim: Dims = None, *, return_index: No = False, **options: Unpack[ValueKeywords]) -> X: ...
@overload
def min(
    x: X, dim: Dims = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
) -> ValuesIndices[X, X]: ...
@overload
def min(
    x: X, dim: Dims = None, *, return_index: bool, **options: Unpack[ValueKeywords]
) -> X | ValuesIndices[X, X]: ...
@like("min", after=[max, argmax], without=["out"])
def min(x: Any, dim: Dims = None, **options: Any) -> Any:
    """Smallest element over the dimensions that are named, with its index on request.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.min(x, "day").values
    array([1, 0, 5])
    """
    return _reduce("min", x, dim, **options)


@overload
def minmax(
    x: X, dim: Dims = None, *, return_index: No = False, **options: Unpack[ValueKeywords]
) -> MinMax[X]: ...
@overload
def minmax(
    x: X, dim: Dims = None, *, return_index: Yes, **options: Unpack[ValueKeywords]
) -> MinMaxIndices[X, X]: ...
@overload
def minmax(
    x: X, dim: Dims = None, *, return_index: bool, **options: Unpack[ValueKeywords]
) -> MinMax[X] | MinMaxIndices[X, X]: ...
@like("minmax", after=[argmax], without=["out"])
def minmax(x: Any, dim: Dims = None, **options: Any) -> Any:
    """Smallest and largest element over the dimensions that are named, in one pass.

    Returns
    -------
    MinMax of two xarray.DataArray or xarray.Dataset, or MinMaxIndices of four
        The values at both ends, with the coordinates of the dimensions that remain; with ``return_index`` the indices
        too.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> low, high = extremum.xarray.minmax(x, "hour")
    >>> low.values, high.values
    (array([1, 0]), array([5, 7]))
    """
    return _reduce("minmax", x, dim, **options)


@like("hardmax", after=[argmax], without=["out"])
def hardmax(x: X, dim: Dims, **options: Unpack[HardmaxOptions]) -> X:
    """Ones at the first maximum along the dimensions that are named, zeros elsewhere.

    Parameters
    ----------
    dim : hashable or sequence of hashable
        The dimensions that together hold exactly one 1; None stands for all.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        With all coordinates and attributes.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> x = xr.DataArray([[1, 5, 5], [7, 0, 7]], dims=("day", "hour"), coords={"hour": [6, 12, 18]})
    >>> extremum.xarray.hardmax(x, "hour").values
    array([[0, 1, 0],
           [1, 0, 0]])
    """
    result: X = _reduce("hardmax", x, dim, **options)
    return result


def _indices(name: str, x: Any, dim: Any, as_dict: bool, **options: Any) -> Any:
    if as_dict and isinstance(x, xr.Dataset):
        raise ArgumentError(
            f"{name}: variables of a Dataset have dimensions of their own, so there is no one dict for them",
            remedy="call it for each variable, or without as_dict",
        )
    index = _reduce(name, x, dim, **options)
    if as_dict:
        return by_dimension(index, x, dims_of(name, dim, x))
    return index


def _reduce(name: str, x: Any, dim: Any, *, where: Any = None, **options: Any) -> Any:
    require_labelled(name, x)
    if isinstance(x, xr.Dataset):
        return each_variable(x, name, dim, lambda each, own: _reduce(name, each, own, where=where, **options))
    dims = dims_of(name, dim, x)
    result = getattr(ex, name)(
        x.data, tuple(map(x.get_axis_num, dims)), where=mask(name, where, x), **options
    )
    if FUNCTIONS[name].kind is Kind.ONE_HOT:
        return reduced(x, (), result)
    return reduced(x, dims, result, keepdims=options.get("keepdims", False))
