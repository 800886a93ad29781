"""``hardmax``, ``maximum`` and ``minimum``: results that have the dimensions of what they are of.

Decides how operands meet: by the names of their dimensions, with equal labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xarray as xr

import extremum as ex
from extremum.errors import ArgumentError, ExtremumError
from extremum.policy import NanPolicy
from extremum.xarray.labelled import Dims, each_variable, mask, named, require_labelled

__all__ = ["hardmax", "maximum", "minimum"]


def hardmax(x: Any, dim: Dims, *, nan_policy: NanPolicy = "propagate", where: Any = None) -> Any:
    """Ones at the first maximum along the dimensions that are named, zeros elsewhere.

    Parameters
    ----------
    x, where
        As for :func:`extremum.xarray.argmax`.
    dim : hashable or sequence of hashable
        The dimensions along which there is one 1.
    nan_policy : str, default "propagate"
        As for :func:`extremum.hardmax`.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        With all coordinates and attributes.

    Raises
    ------
    ArgumentError, ElementTypeError
        As :func:`extremum.xarray.argmax`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> extremum.xarray.hardmax(xr.DataArray([[1, 5], [7, 0]], dims=("day", "hour")), "hour").values
    array([[0, 1],
           [1, 0]])
    """
    require_labelled("hardmax", x)
    if isinstance(x, xr.Dataset):
        options: dict[str, Any] = {"nan_policy": nan_policy, "where": where}
        return each_variable(x, "hardmax", dim, lambda each, own: (hardmax(each, own, **options),))[0]
    axes = tuple(map(x.get_axis_num, named("hardmax", dim, x)))
    return x.copy(data=ex.hardmax(x.data, axes, nan_policy=nan_policy, where=mask("hardmax", where, x)))


def _elementwise(function: Callable[..., Any], operands: tuple[Any, ...], nan_policy: NanPolicy) -> Any:
    name = function.__name__
    if not any(isinstance(x, xr.DataArray | xr.Dataset) for x in operands):
        require_labelled(name, operands[0] if operands else None)
    try:
        return xr.apply_ufunc(
            function, *operands, dask="allowed", join="exact", keep_attrs=True, kwargs={"nan_policy": nan_policy}
        )
    except ExtremumError:
        raise
    except ValueError as error:
        raise ArgumentError(
            f"{name}: the operands differ in their labels: {str(error).splitlines()[0]}",
            remedy="align them first, as xarray.align(x, y) does",
        ) from None


def maximum(*arrays: Any, nan_policy: NanPolicy = "propagate") -> Any:
    """Elementwise largest, broadcast by the names of dimensions.

    Parameters
    ----------
    *arrays : xarray.DataArray, xarray.Dataset, array_like or number
        At least one of xarray's; the labels of dimensions that they share have to be equal.
    nan_policy : str, default "propagate"
        As for :func:`extremum.maximum`.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        In the type of ``numpy.result_type``, with the attributes that the operands share.

    Raises
    ------
    ArgumentError, ElementTypeError
        The labels differ, or as :func:`extremum.maximum`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> row, column = xr.DataArray([1, 5], dims="x"), xr.DataArray([3, 6], dims="y")
    >>> extremum.xarray.maximum(row, column).values
    array([[3, 6],
           [5, 6]])
    """
    return _elementwise(ex.maximum, arrays, nan_policy)


def minimum(*arrays: Any, nan_policy: NanPolicy = "propagate") -> Any:
    """Elementwise smallest, broadcast by the names of dimensions.

    Parameters
    ----------
    *arrays, nan_policy
        As for :func:`extremum.xarray.maximum`.

    Returns
    -------
    xarray.DataArray or xarray.Dataset
        As :func:`extremum.xarray.maximum`.

    Raises
    ------
    ArgumentError, ElementTypeError
        As :func:`extremum.xarray.maximum`.

    Examples
    --------
    >>> import xarray as xr
    >>> import extremum.xarray
    >>> extremum.xarray.minimum(xr.DataArray([1, 5], dims="x"), 3).values
    array([1, 3])
    """
    return _elementwise(ex.minimum, arrays, nan_policy)
