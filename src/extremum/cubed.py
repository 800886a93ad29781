"""``argmax`` and ``argmin`` of cubed's arrays over any set of axes; parts merge as they do for Dask.

cubed's own argmax takes one axis, and rechunks the whole array to reduce all of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from extremum.errors import ArgumentError, ArgumentTypeError, required_by

with required_by("extremum.cubed"):
    import cubed
    from cubed.core import reduction

from extremum.arrays import class_name
from extremum.groups import refuse_groups
from extremum.interop import Operand
from extremum.partials import Pieces, places
from extremum.reductions import ENDS, Reduction, flag, index_type
from extremum.signatures import ArgKeywords, Axes, like

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["argmax", "argmin"]
__dir__ = __all__.copy


@like("argmax")
def argmax(x: cubed.Array, /, axis: Axes = None, **options: Unpack[ArgKeywords]) -> cubed.Array:
    """Index of the largest element of a cubed array over any set of axes; the result is lazy.

    Every bit of the answer is that of :func:`extremum.argmax`, whatever the chunks.

    Parameters
    ----------
    x : cubed.Array
        Any chunks.
    where, out : None
        A mask or an array to write to is an error.

    Returns
    -------
    cubed.Array
        The indices, in the chunks of the axes that remain. Over several axes they count row-major within the reduced
        block, in dimension order.

    Raises
    ------
    ArgumentError, AxisError, ElementTypeError
        As for NumPy's arrays.
    ArgumentTypeError
        `x` is not an array of cubed.

    Examples
    --------
    >>> import cubed
    >>> import cubed.array_api as xp
    >>> import extremum.cubed
    >>> extremum.cubed.argmax(xp.asarray([[1, 5], [7, 0], [7, 9]], chunks=(2, 1)), axis=0).compute()
    array([1, 2])
    """
    return _index("argmax", x, axis, **options)


@like("argmin", after=[argmax])
def argmin(x: cubed.Array, /, axis: Axes = None, **options: Unpack[ArgKeywords]) -> cubed.Array:
    """Index of the smallest element of a cubed array over any set of axes; the result is lazy.

    Every bit of the answer is that of :func:`extremum.argmin`, whatever the chunks.

    Examples
    --------
    >>> import cubed
    >>> import cubed.array_api as xp
    >>> import extremum.cubed
    >>> extremum.cubed.argmin(xp.asarray([[1, 5], [7, 0], [7, 9]], chunks=(2, 1)), axis=0).compute()
    array([0, 1])
    """
    return _index("argmin", x, axis, **options)


def _index(
    function: str,
    x: Any,
    axis: Any,
    keepdims: Any = False,
    dtype: Any = None,
    default: Any = None,
    where: Any = None,
    out: Any = None,
    **options: Any,
) -> Any:
    if where is not None or out is not None:
        raise ArgumentError(
            f"{function}: cubed arrays support neither where nor out", remedy="omit where and out"
        )
    if not isinstance(x, cubed.Array):
        refuse_groups(function, x)
        raise ArgumentTypeError(f"{function}: {class_name(x)} is not an array of cubed")
    keepdims = flag(function, "keepdims", keepdims)
    index = index_type(function, dtype)
    # cubed removes the reduced axes itself.
    call = Reduction(function, ENDS[function], axis, True, **options)
    pieces = Pieces.plan(call, x.shape, np.dtype(x.dtype), values=False, index=index, default=default)
    # A part is one element of a structured type for each slice: the index and the value.
    fields = [("i", pieces.part_index), ("v", x.dtype)]
    chunks = tuple((1,) * len(sizes) if at in pieces.axes else sizes for at, sizes in enumerate(x.chunks))
    parts = cubed.map_blocks(partial(_part, pieces=pieces, sizes=x.chunksize), x, dtype=fields, chunks=chunks)
    return reduction(
        parts,
        partial(_merge, pieces=pieces),
        aggregate_func=partial(_finish, pieces=pieces),
        axis=pieces.axes,
        intermediate_dtype=fields,
        dtype=pieces.types[0],
        keepdims=keepdims,
    )


def _part(block: Any, *, pieces: Pieces, sizes: tuple[int, ...], block_id: tuple[int, ...]) -> dict[str, Any]:
    offset = tuple(at * size for at, size in zip(block_id, sizes, strict=True))
    ((values, indices),) = pieces.part(Operand(np.asarray(block)), offset)
    return {"i": indices, "v": values}


def _merge(several: Any, *, pieces: Pieces, **_: Any) -> dict[str, Any]:
    shape = several["i"].shape
    sizes = [1 if axis in pieces.axes else length for axis, length in enumerate(shape)]
    parts = [((several["v"][at], several["i"][at]),) for at in places(shape, sizes)]
    ((values, indices),) = pieces.merge(parts)
    return {"i": indices, "v": values}


def _finish(part: Any, *, pieces: Pieces) -> Any:
    (indices,) = pieces.finish([((part["v"], part["i"]),)], (0,) * len(pieces.shape))
    return indices
