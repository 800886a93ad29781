"""``argmax`` and ``argmin`` of cubed's arrays, over any set of axes, by the same merging of parts as Dask's.

Decides nothing new: cubed's own argmax takes one axis, and rechunks the whole array where all are meant.
"""

from __future__ import annotations

from functools import partial
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

from extremum.extras import lacking

try:
    import cubed
    from cubed.core import reduction
except ModuleNotFoundError as error:
    raise lacking("extremum.cubed", error) from None

from extremum.errors import ArgumentError, ArgumentTypeError
from extremum.interop import Adopted
from extremum.partials import Part, Pieces
from extremum.policy import NanPolicy
from extremum.reductions import Reduction, index_type

__all__ = ["argmax", "argmin"]

Axis = SupportsIndex | tuple[SupportsIndex, ...]


def argmax(x: Any, /, axis: Axis | None = None, **options: Any) -> Any:
    """Index of the largest element of a cubed array over any set of axes, yet to be computed.

    Parameters
    ----------
    x : cubed.Array
        Of any chunks.
    axis, keepdims, select_last_index, dtype, nan_policy, default
        As for :func:`extremum.argmax`.

    Returns
    -------
    cubed.Array
        In the chunks of the axes that stay.

    Raises
    ------
    ArgumentError, AxisError, ElementTypeError
        As :func:`extremum.argmax`.
    ArgumentTypeError
        `x` is no array of cubed's.

    Examples
    --------
    >>> import cubed
    >>> import cubed.array_api as xp
    >>> import extremum.cubed
    >>> int(extremum.cubed.argmax(xp.asarray([[1, 5], [7, 0], [7, 9]], chunks=(2, 1))).compute())
    5
    """
    return _arg("argmax", x, axis, **options)


def argmin(x: Any, /, axis: Axis | None = None, **options: Any) -> Any:
    """Index of the smallest element of a cubed array over any set of axes, yet to be computed.

    Parameters
    ----------
    x, axis, **options
        As for :func:`extremum.cubed.argmax`.

    Returns
    -------
    cubed.Array
        As :func:`extremum.cubed.argmax`.

    Raises
    ------
    ArgumentError, AxisError, ElementTypeError, ArgumentTypeError
        As :func:`extremum.cubed.argmax`.

    Examples
    --------
    >>> import cubed
    >>> import cubed.array_api as xp
    >>> import extremum.cubed
    >>> extremum.cubed.argmin(xp.asarray([[1, 5], [7, 0], [7, 9]], chunks=(2, 1)), axis=0).compute()
    array([0, 1])
    """
    return _arg("argmin", x, axis, **options)


def _arg(
    function: str,
    x: Any,
    axis: Any,
    *,
    keepdims: bool = False,
    select_last_index: bool = False,
    dtype: DTypeLike = np.int64,
    nan_policy: NanPolicy = "propagate",
    default: int | None = None,
    where: None = None,
    out: None = None,
) -> Any:
    if where is not None or out is not None:
        raise ArgumentError(
            f"{function}: of a cubed array it takes neither a mask nor an array to be written to",
            remedy="leave where and out away",
        )
    if not isinstance(x, cubed.Array):
        raise ArgumentTypeError(f"{function}: {type(x).__qualname__} is no array of cubed's")
    # cubed takes the reduced axes away itself.
    call = Reduction(function, (function == "argmax",), axis, True, select_last_index, nan_policy)
    defaults = None if default is None else (default,)
    pieces = Pieces.planned(
        call, x.shape, np.dtype(x.dtype), values=False, index=index_type(function, dtype), defaults=defaults
    )
    fields = [("i", pieces.counting), ("v", x.dtype)]
    chunks = tuple((1,) * len(sizes) if at in pieces.axes else sizes for at, sizes in enumerate(x.chunks))
    parts = cubed.map_blocks(partial(_part, pieces=pieces, sizes=x.chunksize), x, dtype=fields, chunks=chunks)
    return reduction(
        parts,
        partial(_merged, pieces=pieces),
        combine_func=partial(_merged, pieces=pieces),
        aggregate_func=partial(_settled, pieces=pieces),
        axis=pieces.axes,
        intermediate_dtype=fields,
        dtype=pieces.types[0],
        keepdims=keepdims,
    )


def _part(block: Any, *, pieces: Pieces, sizes: tuple[int, ...], block_id: tuple[int, ...]) -> dict[str, Any]:
    offset = tuple(at * size for at, size in zip(block_id, sizes, strict=True))
    return _fields(pieces.part(Adopted(np.asarray(block)), offset))


def _merged(several: Any, *, pieces: Pieces, **_: Any) -> dict[str, Any]:
    """Return one part of those that lie beside each other along the reduced axes."""
    lengths = [several["i"].shape[axis] for axis in pieces.axes]
    parts = []
    for place in np.ndindex(*lengths):
        at = [slice(None)] * several["i"].ndim
        for axis, number in zip(pieces.axes, place, strict=True):
            at[axis] = slice(number, number + 1)
        parts.append(((several["v"][tuple(at)], several["i"][tuple(at)]),))
    return _fields(pieces.merged(parts))


def _fields(part: Part) -> dict[str, Any]:
    ((values, indices),) = part
    return {"i": indices, "v": values}


def _settled(part: Any, *, pieces: Pieces) -> Any:
    (indices,) = pieces.settled([((part["v"], part["i"]),)], (0,) * len(pieces.shape))
    return indices
