"""``maximum`` and ``minimum`` of Dask's arrays, alone or beside NumPy's and numbers.

Decides the type and the shape of the result. Where operands have other chunks than each other, they are cut where any
of them is; no chunks are joined.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import dask.array as da
import numpy as np

from extremum import elementwise, policy
from extremum.dask.chunked import element_type, require_chunked, require_equal, require_known, stand_in, unknown_axes
from extremum.dask.processors import share
from extremum.errors import ArgumentTypeError, ExtremumError
from extremum.interop import Adopted, adopt, one_library

__all__ = ["extremum"]


def extremum(function: str, operands: tuple[Any, ...], out: Any, nan_policy: Any, where: Any) -> Any:
    """Return the elementwise extremum as an array that is yet to be computed."""
    policy.require_policy(function, nan_policy)
    chunked = [x for x in operands if isinstance(x, da.Array)]
    if not chunked:
        raise ArgumentTypeError(
            f"{function}: no operand is an array of Dask's", remedy=f"call extremum.{function}, or pass one"
        )
    for x in chunked:
        require_chunked(function, x, out)
    arrays = [_operand(function, x) for x in operands]
    mask = () if where is None else (_mask(function, where),)
    probes = [
        np.ones((1,) * x.ndim, element_type(function, x) if isinstance(x, da.Array) else x.dtype)
        if isinstance(x, da.Array | np.ndarray)
        else x
        for x in arrays
    ]
    dtype = np.asarray(elementwise.extremum(function, tuple(probes), None, "propagate")).dtype
    # A mask is one operand more for all that has to do with shapes and chunks.
    arrays += mask
    shapes = [stand_in(x) for x in arrays if isinstance(x, da.Array | np.ndarray)]
    unknown = _unknown(function, arrays, max(map(len, shapes)))
    rank = len(elementwise.broadcast_shape(function, shapes))
    whole = range(rank)
    places = [tuple(whole)[rank - x.ndim :] if isinstance(x, da.Array | np.ndarray) else None for x in arrays]
    return da.blockwise(
        partial(_compared, function, nan_policy, unknown, bool(mask)),
        tuple(whole),
        *(part for pair in zip(arrays, places, strict=True) for part in pair),
        name=None,
        token=f"extremum-{function}",
        dtype=dtype,
        meta=np.empty((0,) * rank, dtype),
    )


def _operand(function: str, x: Any) -> Any:
    """Return an operand as Dask's array, NumPy's or a number, or refuse it."""
    if isinstance(x, bool | int | float):
        return x
    if isinstance(x, da.Array):
        # Dask takes each chunk of such an axis for one to be repeated, also one without elements.
        return x.rechunk({axis: 1 for axis, sizes in enumerate(x.chunks) if sum(sizes) == 1 and len(sizes) > 1})
    try:
        adopted = adopt(x)
        one_library([Adopted(adopted.array, library="dask"), adopted])
        adopted.require_all("fill or drop them first", given=f"{type(x).__module__}.{type(x).__qualname__}")
    except ExtremumError as error:
        raise error.with_context(where=function) from None
    return adopted.array


def _mask(function: str, where: Any) -> Any:
    """Return a mask as Dask's array or NumPy's, or refuse it."""
    if not isinstance(where, da.Array):
        return policy.truths(function, adopt(where).mask(function))
    policy.truths(function, np.ones((), element_type(function, where)))
    return _operand(function, where)


def _unknown(function: str, arrays: list[Any], rank: int) -> dict[int, list[int]]:
    """Return the axes of unknown length, and the operands that have it; refuse operands that cannot be matched."""
    found: dict[int, list[int]] = {}
    lazy = {at: x for at, x in enumerate(arrays) if isinstance(x, da.Array | np.ndarray)}
    for axis in range(rank):
        sharing = {at: x for at, x in lazy.items() if axis >= rank - x.ndim and x.shape[axis - rank] != 1}
        cut = [x for x in sharing.values() if isinstance(x, da.Array) and axis - rank + x.ndim in unknown_axes(x)]
        if not cut:
            continue
        if len(cut) < len(sharing) or len({x.numblocks[axis - rank] for x in cut}) > 1:
            require_known(function, cut[0], (axis - rank + cut[0].ndim,))
        found[axis] = list(sharing)
    return found


def _compared(function: str, nan_policy: str, unknown: dict[int, list[int]], masked: bool, *blocks: Any) -> Any:
    rank = max(map(np.ndim, blocks))
    for axis, sharing in unknown.items():
        require_equal(function, axis, [blocks[at].shape[axis - rank] for at in sharing])
    operands, where = (blocks[:-1], blocks[-1]) if masked else (blocks, None)
    with share():
        return elementwise.extremum(function, operands, None, nan_policy, where)
