"""``argmax`` and ``argmin`` of cubed's arrays over any set of axes; parts merge as they do for Dask.

cubed's own argmax takes one axis, and rechunks the whole array to reduce all of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from extremum.errors import ArgumentError, ArgumentTypeError, lacking

try:
    import cubed
    from cubed.core import reduction
except ModuleNotFoundError as error:
    raise lacking("extremum.cubed", error) from None

from extremum.interop import Operand
from extremum.partials import Part, Pieces
from extremum.reductions import Reduction, flag, index_type
from extremum.signatures import ArgKeywords, Axes, like

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["argmax", "argmin"]


def __dir__() -> list[str]:
    return sorted(__all__)


_TEXT = """Index of the {superlative} element of a cubed array over any set of axes; the result is lazy.

    Parameters
    ----------
    x : cubed.Array
        Of any chunks.
    axis, keepdims, select_last_index, dtype, nan_policy, default
        As for :func:`extremum.{name}`.
    where, out : None
        A mask, or an array to write to, is refused.

    Returns
    -------
    cubed.Array
        In the chunks of the axes that stay.

    Raises
    ------
    ArgumentError, AxisError, ElementTypeError
        As :func:`extremum.{name}`.
    ArgumentTypeError
        `x` is no array of cubed's.

    Examples
    --------
    >>> import cubed
    >>> import cubed.array_api as xp
    >>> import extremum.cubed
    >>> extremum.cubed.{name}(xp.asarray([[1, 5], [7, 0], [7, 9]], chunks=(2, 1)), axis=0).compute()
    {example}
    """


@like("argmax", _TEXT.format(name="argmax", superlative="largest", example="array([1, 2])"))
def argmax(x: cubed.Array, /, axis: Axes = None, **options: Unpack[ArgKeywords]) -> cubed.Array:
    """Find the largest."""
    return _arg("argmax", x, axis, **options)


@like("argmin", _TEXT.format(name="argmin", superlative="smallest", example="array([0, 1])"))
def argmin(x: cubed.Array, /, axis: Axes = None, **options: Unpack[ArgKeywords]) -> cubed.Array:
    """Find the smallest."""
    return _arg("argmin", x, axis, **options)


def _arg(
    function: str,
    x: Any,
    axis: Any,
    *,
    keepdims: bool,
    dtype: Any,
    default: Any,
    where: Any,
    out: Any = None,
    **options: Any,
) -> Any:
    if where is not None or out is not None:
        raise ArgumentError(
            f"{function}: of a cubed array it takes neither a mask nor an array to be written to",
            remedy="leave where and out away",
        )
    if not isinstance(x, cubed.Array):
        raise ArgumentTypeError(f"{function}: {type(x).__qualname__} is no array of cubed's")
    keepdims = flag(function, "keepdims", keepdims)
    # cubed takes the reduced axes away itself.
    call = Reduction(function, (function == "argmax",), axis, True, **options)
    index = index_type(function, dtype)
    pieces = Pieces.plan(
        call, x.shape, np.dtype(x.dtype), values=False, index=index, defaults=call.default_of_each_end(default)
    )
    fields = [("i", pieces.part_index), ("v", x.dtype)]
    chunks = tuple((1,) * len(sizes) if at in pieces.axes else sizes for at, sizes in enumerate(x.chunks))
    parts = cubed.map_blocks(partial(_part, pieces=pieces, sizes=x.chunksize), x, dtype=fields, chunks=chunks)
    return reduction(
        parts,
        partial(_merge, pieces=pieces),
        combine_func=partial(_merge, pieces=pieces),
        aggregate_func=partial(_finish, pieces=pieces),
        axis=pieces.axes,
        intermediate_dtype=fields,
        dtype=pieces.types[0],
        keepdims=keepdims,
    )


def _part(block: Any, *, pieces: Pieces, sizes: tuple[int, ...], block_id: tuple[int, ...]) -> dict[str, Any]:
    offset = tuple(at * size for at, size in zip(block_id, sizes, strict=True))
    return _fields(pieces.part(Operand(np.asarray(block)), offset))


def _merge(several: Any, *, pieces: Pieces, **_: Any) -> dict[str, Any]:
    lengths = [several["i"].shape[axis] for axis in pieces.axes]
    parts = []
    for place in np.ndindex(*lengths):
        at = [slice(None)] * several["i"].ndim
        for axis, number in zip(pieces.axes, place, strict=True):
            at[axis] = slice(number, number + 1)
        parts.append(((several["v"][tuple(at)], several["i"][tuple(at)]),))
    return _fields(pieces.merge(parts))


def _fields(part: Part) -> dict[str, Any]:
    ((values, indices),) = part
    return {"i": indices, "v": values}


def _finish(part: Any, *, pieces: Pieces) -> Any:
    (indices,) = pieces.finish([((part["v"], part["i"]),)], (0,) * len(pieces.shape))
    return indices
