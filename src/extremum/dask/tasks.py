"""A reduction as a tree of tasks: the part of each chunk, the merge of several parts, and the result.

:mod:`extremum.partials` does the work of the tasks, and the order in which they run does not change the result.
"""

from __future__ import annotations

import math
import operator
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from dask import config
from dask.core import flatten
from dask.layers import ArrayBlockIdDep, ArraySliceDep

from extremum.dask.chunks import require_equal, sharing_unknown
from extremum.dask.processors import share
from extremum.errors import ArgumentError, ExtremumError
from extremum.interop import as_operand
from extremum.partials import Part, Pieces

_WIDTH = 16
"""How many parts a task merges by default: Dask's own number for indices."""

META = np.empty(0)
"""Says that results are NumPy's arrays; Dask adapts its rank and type."""


def reduce(pieces: Pieces, x: Any, where: Any, split_every: int | None) -> tuple[Any, ...]:
    """Return the results of a reduction as lazy arrays."""
    function = pieces.call.function
    if split_every is not None:
        width = split_every
    else:
        width = config.get("split_every", None) or _WIDTH
    if not isinstance(width, int) or width < 2:
        raise ArgumentError(
            f"{function}: split_every is {width!r}, not an integer of at least 2",
            remedy="pass how many parts one task merges, or None",
        )
    types = pieces.types
    # Tasks have the axes of the array only; a new axis comes last.
    has_new = None in pieces.result_axes
    rank = len(pieces.result_axes) - has_new
    unknown = sharing_unknown(function, [x, where], x.ndim)
    result = da.reduction(
        blockwise(partial(_part, pieces, unknown), x, where, x.dtype),
        # In the step `chunk`, the merge gets only one part.
        chunk=partial(_merge, pieces),
        combine=partial(_merge, pieces),
        aggregate=partial(_finish, pieces),
        axis=pieces.axes,
        keepdims=pieces.call.keepdims,
        output_size=pieces.length,
        # The dtype is that of parts. In Dask 2025.1 it has to support a sum, which times do not.
        dtype=object,
        meta=np.empty((0,) * rank, types[0]),
        name=f"extremum-{function}",
        split_every=width,
        concatenate=False,
    )
    if not types[1:]:
        return (result,)
    shape = {rank: pieces.length} if has_new else {}
    return tuple(pick(result, at, tuple(range(rank)), shape, dtype) for at, dtype in enumerate(types))


def blockwise(kernel: Any, x: Any, where: Any, dtype: np.dtype[Any]) -> Any:
    """Apply a function to the number, the slices and the elements of each chunk, and to its mask."""
    axes = tuple(range(x.ndim))
    place = (ArrayBlockIdDep(x.chunks), axes, ArraySliceDep(x.chunks), axes)
    mask = () if where is None else (where, axes[x.ndim - where.ndim :])
    return da.blockwise(
        kernel,
        axes,
        *place,
        *(x, axes),
        *mask,
        token="extremum-chunk",
        align_arrays=False,
        dtype=dtype,
        meta=META,
    )


Message = tuple[tuple[int, ...], tuple[float, ...], Part]
"""A part as it travels: with the number and the start (NaN if unknown) of its first chunk."""


def _part(
    pieces: Pieces,
    unknown: dict[int, list[int]],
    number: Any,
    place: tuple[slice, ...],
    block: Any,
    where: Any = None,
) -> Message:
    """Return the part of a chunk."""
    require_equal(pieces.call.function, unknown, [block, where])
    start = tuple(each.start for each in place)
    with share():
        return number, start, pieces.part(as_operand(block), start, where)


def _merge(pieces: Pieces, several: Any, axis: Any, keepdims: bool) -> Message:
    """Merge several parts, in the order of their chunks."""
    numbers, starts, parts = zip(*flatten([several], container=list), strict=True)
    with share():
        return numbers[0], starts[0], pieces.merge(parts)


def _finish(pieces: Pieces, several: Any, axis: Any, keepdims: bool) -> Any:
    """Return the results of slices from all of their parts."""
    numbers, starts, parts = zip(*flatten([several], container=list), strict=True)
    origin = pieces.along([0 if math.isnan(start) else start for start in starts[0]], 0)
    try:
        with share():
            results = pieces.finish(parts, origin)
    except ExtremumError as error:
        if not any(map(math.isnan, pieces.shape)):
            raise
        chunk = pieces.along(numbers[0], 0)
        raise error.with_context(
            where=f"chunk {chunk} of the result, from whose start the slice is counted",
        ) from None
    return results if results[1:] else results[0]


def pick(several: Any, number: int, axes: tuple[int, ...], new: dict[int, int], dtype: np.dtype[Any]) -> Any:
    """Return one result of tasks with several: `axes` are its axes in the tasks, `new` the lengths of the others."""
    return da.blockwise(
        operator.itemgetter(number),
        range(len(axes) + len(new)),
        *(several, axes),
        new_axes=new,
        token="extremum-result",
        dtype=dtype,
        meta=META,
    )
