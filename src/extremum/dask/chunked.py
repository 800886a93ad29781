"""Dask's arrays as the functions of this package take them.

Decides what is refused before anything is computed: chunks of unknown size, masks that do not fit, arrays of other
libraries beside. No array is computed here, and none is given other chunks but a mask those of the array it is for.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import dask.array as da
import numpy as np

from extremum import policy
from extremum.errors import ArgumentError, ArgumentTypeError, ExtremumError
from extremum.interop import adopt

__all__ = ["aligned", "element_type", "offsets", "require_chunked", "require_known"]


def require_chunked(function: str, x: Any, out: Any = None) -> None:
    """Refuse what is no array of Dask's, or has chunks of unknown size, and an array to be written to."""
    if not isinstance(x, da.Array):
        raise ArgumentTypeError(
            f"{function}: {type(x).__module__}.{type(x).__qualname__} is no array of Dask's",
            remedy=f"pass dask.array.from_array(x, chunks=...), or call extremum.{function}",
        )
    if out is not None:
        raise ArgumentError(
            f"{function}: a result that is computed later is written to no array now",
            remedy="leave out away, and pass the result to dask.array.store",
        )
    require_known(function, x)


def require_known(function: str, x: Any) -> None:
    """Refuse chunks of unknown size: where the next chunk starts is not known, and an index counts from there."""
    for axis, sizes in enumerate(x.chunks):
        if any(math.isnan(size) for size in sizes):
            raise ArgumentError(
                f"{function}: the sizes of the chunks along axis {axis} are not known",
                given=f"dask array of {x.dtype} with {x.numblocks} chunks",
                remedy="call x.compute_chunk_sizes() first",
            )


def element_type(function: str, x: Any) -> np.dtype[Any]:
    """Return the type of an array's elements; refuse what its chunks will be refused for."""
    try:
        return adopt(x._meta).array.dtype
    except ExtremumError as error:
        raise error.with_context(where=function) from None


def aligned(function: str, where: Any, x: Any) -> Any:
    """Return a mask in the shape and the chunks of the array that it is for."""
    if not isinstance(where, da.Array):
        where = da.asarray(adopt(where).mask(function))
    require_known(function, where)
    policy.mask(function, np.broadcast_to(np.zeros((), where.dtype), where.shape), x.shape)
    own = x.chunks[x.ndim - where.ndim :]
    fitting = tuple((1,) if sum(theirs) < sum(each) else each for theirs, each in zip(where.chunks, own, strict=True))
    return da.broadcast_to(where.rechunk(fitting), x.shape, chunks=x.chunks)


def offsets(chunks: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    """Return where each chunk starts along each axis."""
    return [list(accumulate(sizes[:-1], initial=0)) for sizes in chunks]
