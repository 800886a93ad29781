"""The array functions on Dask's arrays: lazy, in one pass, with the same bits for any chunks and any scheduler.

A reduction is a tree of tasks, an elementwise function one task for each chunk, and a model one session in each
process. Errors that need no elements are raised at once: chunks of unknown size along a reduced axis, masks that do not
fit, arrays of other libraries. Only masks are rechunked, and axes of length 1.
"""

from __future__ import annotations

from extremum.errors import required_by

with required_by("extremum.dask"):
    from extremum.dask.elementwise import maximum, minimum
    from extremum.dask.models import run
    from extremum.dask.one_hot import hardmax
    from extremum.dask.reductions import argmax, argmin, max, min, minmax
    from extremum.dask.selection import top_k

__all__ = ["argmax", "argmin", "hardmax", "max", "maximum", "min", "minimum", "minmax", "run", "top_k"]
__dir__ = __all__.copy
