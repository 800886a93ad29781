"""The array functions on xarray's DataArray and Dataset, by the names of dimensions, over NumPy and over Dask.

Results keep the name, the attributes and the coordinates of the dimensions that remain. A Dataset is reduced variable
by variable. Over Dask the result is lazy. Options are those of the array functions: NaN is the extremum by default,
where xarray's own methods skip it as ``nan_policy="omit"`` does.
"""

from __future__ import annotations

from extremum.errors import required_by

with required_by("extremum.xarray"):
    from extremum.xarray.elementwise import maximum, minimum
    from extremum.xarray.lookup import idxmax, idxmin, idxtop_k
    from extremum.xarray.reductions import argmax, argmin, hardmax, max, min, minmax
    from extremum.xarray.selection import top_k

__all__ = [
    "argmax",
    "argmin",
    "hardmax",
    "idxmax",
    "idxmin",
    "idxtop_k",
    "max",
    "maximum",
    "min",
    "minimum",
    "minmax",
    "top_k",
]
__dir__ = __all__.copy
