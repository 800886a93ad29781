"""Dask's arrays as the functions of this package take them.

Decides what is refused before anything is computed: chunks of unknown size along an axis whose elements are counted,
masks that do not fit, other libraries' arrays. It computes no array, and rechunks only masks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import dask.array as da
import numpy as np

from extremum import policy
from extremum.errors import ArgumentError, ArgumentTypeError, ExtremumError
from extremum.interop import adopt

__all__ = [
    "aligned",
    "element_type",
    "offsets",
    "require_chunked",
    "require_equal",
    "require_known",
    "stand_in",
    "unknown_axes",
]


def require_chunked(function: str, x: Any, out: Any = None) -> None:
    """Refuse what is no array of Dask's, and an array to be written to."""
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


def unknown_axes(x: Any) -> tuple[int, ...]:
    """Return the axes along which the sizes of the chunks are unknown."""
    return tuple(axis for axis, sizes in enumerate(x.chunks) if any(map(math.isnan, sizes)))


def require_known(function: str, x: Any, axes: Iterable[int] | None = None) -> None:
    """Refuse chunks of unknown size along some axes, or any: an index counts from where its chunk starts."""
    for axis in unknown_axes(x):
        if axes is None or axis in axes:
            raise ArgumentError(
                f"{function}: the sizes of the chunks along axis {axis} are not known",
                given=f"dask array of {x.dtype} with {x.numblocks} chunks",
                remedy="call x.compute_chunk_sizes() first",
            )


def stand_in(x: Any) -> tuple[int, ...]:
    """Return the shape of an array with 2 for each unknown length, which broadcasts as that length does."""
    return tuple(2 if math.isnan(length) else length for length in x.shape)


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
    first = x.ndim - where.ndim
    unknown = [axis for axis in unknown_axes(x) if axis >= first and where.shape[axis - first] != 1]
    if any(where.numblocks[axis - first] != x.numblocks[axis] for axis in unknown):
        require_known(function, x, unknown)
    if [axis - first for axis in unknown] != list(unknown_axes(where)):
        require_known(function, where)
        require_known(function, x, unknown)
    policy.mask(function, np.broadcast_to(np.zeros((), where.dtype), stand_in(where)), stand_in(x))
    own = x.chunks[first:]
    fitting = {
        axis: (1,) if sum(theirs) < sum(each) else each
        for axis, (theirs, each) in enumerate(zip(where.chunks, own, strict=True))
        if axis + first not in unknown_axes(x)
    }
    where = where.rechunk(fitting)
    if not unknown_axes(x):
        return da.broadcast_to(where, x.shape, chunks=x.chunks)
    places = tuple(range(x.ndim))
    return da.blockwise(
        partial(_broadcast, function, tuple(unknown)),
        places,
        x,
        places,
        where,
        places[first:],
        token="extremum-where",
        align_arrays=False,
        dtype=np.bool_,
        meta=np.empty((0,) * x.ndim, np.bool_),
    )


def _broadcast(function: str, unknown: tuple[int, ...], block: Any, where: Any) -> Any:
    """Return one chunk of a mask in the shape of the chunk that it is for."""
    for axis in unknown:
        require_equal(function, axis, [block.shape[axis], where.shape[axis - block.ndim]])
    return np.broadcast_to(where, block.shape)


def require_equal(function: str, axis: int, lengths: Sequence[int]) -> None:
    """Refuse chunks of unknown size that turn out to have different lengths: a length of 1 would be broadcast."""
    if len(set(lengths)) > 1:
        words = " and ".join(map(str, lengths))
        raise ArgumentError(
            f"{function}: chunks of unknown size that meet along axis {axis} have {words} elements",
            remedy="call compute_chunk_sizes() of each array first",
        )


def offsets(chunks: tuple[tuple[int, ...], ...]) -> list[list[int]]:
    """Return where each chunk starts along each axis."""
    return [list(accumulate(sizes[:-1], initial=0)) for sizes in chunks]
