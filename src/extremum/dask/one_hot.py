"""``hardmax`` of a Dask array.

If an axis has several chunks, there are two passes: the first finds the indices, the second writes the ones and reads
no element. Each chunk is read once and does not stay in memory until its index is known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask.layers import ArraySliceDep

from extremum import reductions
from extremum.dask.chunks import require_equal, sharing_unknown
from extremum.dask.processors import share
from extremum.dask.reductions import argmax, planned
from extremum.dask.tasks import META, blockwise, reduce
from extremum.reductions import Reduction
from extremum.signatures import like

if TYPE_CHECKING:
    from dask.array import Array
    from typing_extensions import Unpack

    from extremum.signatures import Axis, HardmaxOptions


@like("hardmax", after=[argmax])
def hardmax(
    x: Array,
    /,
    axis: Axis | None = -1,
    *,
    out: None = None,
    split_every: int | None = None,
    **options: Unpack[HardmaxOptions],
) -> Array:
    """Ones at the first maximum of a Dask array along an axis or several, zeros elsewhere; the result is lazy.

    Every bit of the answer is that of :func:`extremum.hardmax`, whatever the chunks and the scheduler. An axis with
    several chunks takes two passes, and the second reads no element.

    Returns
    -------
    dask.array.Array
        Zeros and ones in the shape, the chunks and the element type of `x` (int64 for times).

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    >>> extremum.dask.hardmax(x).compute()
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    call = Reduction("hardmax", (True,), axis, keepdims=True, **options)
    pieces, mask = planned(call, x, out, False, np.dtype(np.int64), -1)
    if pieces.dtype.kind in "mM":
        dtype = np.dtype(np.int64)
    else:
        dtype = pieces.dtype.newbyteorder("=")
    # An error about NaN names a slice of the whole result, which only the two passes know.
    if pieces.call.nan_policy != "raise" and all(x.numblocks[axis] == 1 for axis in pieces.axes):
        unknown = sharing_unknown("hardmax", [x, mask], x.ndim)
        return blockwise(partial(_whole, pieces.axes, pieces.call.nan_policy, unknown), x, mask, dtype)
    (indices,) = reduce(pieces, x, mask, split_every)
    axes = tuple(range(x.ndim))
    return da.blockwise(
        partial(_ones, pieces.axes, x.shape, dtype),
        axes,
        *(ArraySliceDep(x.chunks), axes),
        *(indices, axes),
        token="extremum-ones",
        align_arrays=False,
        dtype=dtype,
        meta=META,
    )


def _ones(
    axes: tuple[int, ...], whole: Any, dtype: np.dtype[Any], place: tuple[slice, ...], indices: Any
) -> Any:
    """Return a chunk of the result from the indices of its slices."""
    # The other lengths come from the indices: before the computation they may be unknown.
    lengths = {axis: place[axis].stop - place[axis].start for axis in axes}
    shape = tuple(lengths.get(axis, length) for axis, length in enumerate(indices.shape))
    return reductions.ones(indices, axes, whole, tuple(each.start for each in place), shape, dtype)


def _whole(
    axes: Any,
    nan_policy: str,
    unknown: dict[int, list[int]],
    number: Any,
    place: Any,
    block: Any,
    where: Any = None,
) -> Any:
    """Return a chunk of the result from a chunk that holds whole slices."""
    require_equal("hardmax", unknown, [block, where])
    with share():
        return reductions.hardmax(block, axes, None, nan_policy, where)
