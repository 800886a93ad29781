"""``top_k`` of a Dask array: a slice of a chunk sends its k best elements, or all if there are fewer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from extremum.dask.chunks import align_mask, element_type, require_chunked, require_known
from extremum.dask.reductions import argmax
from extremum.dask.tasks import reduce
from extremum.partials import Form, TopKPieces
from extremum.selection import TopKCall, one_axis
from extremum.signatures import ValuesIndices, like

if TYPE_CHECKING:
    from dask.array import Array
    from typing_extensions import Unpack

    from extremum.signatures import TopKOptions


@like("top_k", after=[argmax])
def top_k(
    x: Array,
    /,
    k: SupportsIndex,
    axis: SupportsIndex | None = -1,
    *,
    split_every: int | None = None,
    **options: Unpack[TopKOptions],
) -> ValuesIndices[Array, Array]:
    """Largest or smallest k elements of a Dask array along an axis, with their indices; the result is lazy.

    Every bit of the answer is that of :func:`extremum.top_k`, whatever the chunks and the scheduler.

    Parameters
    ----------
    sorted : bool, default True
        The best comes first, whatever this says.

    Returns
    -------
    ValuesIndices of two dask.array.Array
        The elements and their indices, in one chunk along the axis.

    Examples
    --------
    >>> import dask.array as da
    >>> import extremum.dask
    >>> x = da.from_array([[1.0, 5.0, 5.0], [7.0, 0.0, 7.0]], chunks=(1, 2))
    >>> best = extremum.dask.top_k(x, 2)
    >>> best.values.compute(), best.indices.compute()
    (array([[5., 5.],
           [7., 7.]]), array([[1, 2],
           [0, 2]]))
    """
    require_chunked("top_k", x)
    number = one_axis(x, axis)
    require_known("top_k", x, None if number is None else (number,))
    return _select(x, x, k, number, None, split_every, **options)


def top_k_over(
    x: Array,
    k: SupportsIndex,
    axes: Sequence[int],
    *,
    split_every: int | None = None,
    **options: Unpack[TopKOptions],
) -> ValuesIndices[Array, Array]:
    """Select the k best over several axes; the result has a new last axis instead of them."""
    axes = tuple(sorted(axes))
    require_known("top_k", x, axes)
    others = tuple(length for axis, length in enumerate(x.shape) if axis not in axes)
    count = math.prod(x.shape[axis] for axis in axes)
    # The selection is made in slices that hold the elements of all these axes.
    slices = Form((*others, count), x.dtype)
    return _select(x, slices, k, len(others), axes, split_every, **options)


def _select(
    x: Array,
    form: Any,
    k: Any,
    axis: int | None,
    axes: tuple[int, ...] | None,
    split_every: int | None,
    mode: Any = "largest",
    sorted: Any = True,
    nan_policy: Any = "propagate",
    where: Any = None,
    default: Any = None,
    index_dtype: Any = None,
) -> ValuesIndices[Array, Array]:
    """Select along an axis of arrays of this form, which is that of `x` unless there are several axes."""
    selection = TopKCall.of(form, k, axis, mode, sorted, nan_policy, default, index_dtype)
    pieces = TopKPieces.of(selection, x.shape, element_type("top_k", x), axes).cut(x.numblocks)
    mask = None if where is None else align_mask("top_k", where, x)
    return ValuesIndices(*reduce(pieces, x, mask, split_every))
