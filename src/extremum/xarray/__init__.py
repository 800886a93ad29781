"""The array functions on xarray's DataArray and Dataset: by the names of dimensions, over NumPy and over Dask.

Decides which functions there are. The coordinates of the dimensions that stay, the attributes and names are kept; over
Dask nothing is computed before it is asked for. Options are those of the array functions, that of NaN as well: by
default it is the extremum, where xarray's own methods leave it out, as ``nan_policy="omit"`` does.
"""

from __future__ import annotations

from extremum.errors import lacking

try:
    from extremum.xarray.elementwise import hardmax, maximum, minimum
except ModuleNotFoundError as error:
    raise lacking("extremum.xarray", error) from None
from extremum.xarray.labels import idxmax, idxmin
from extremum.xarray.reductions import argmax, argmin, max, min, minmax

__all__ = ["argmax", "argmin", "hardmax", "idxmax", "idxmin", "max", "maximum", "min", "minimum", "minmax"]


def __dir__() -> list[str]:
    return sorted(__all__)
