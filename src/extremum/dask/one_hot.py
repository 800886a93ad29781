"""``hardmax`` of Dask's arrays: in one pass where each slice lies in one chunk, else the indices first.

Decides which way it goes. On the second way the ones are written from the indices alone: no chunk is read twice, nor
kept until its index is known.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from extremum import one_hot
from extremum.dask.chunked import offsets
from extremum.dask.processors import share
from extremum.dask.tree import reduced
from extremum.partials import Pieces

__all__ = ["hardmax"]


def hardmax(pieces: Pieces, x: Any, where: Any, split_every: int | None) -> Any:
    """Return the ones and zeros as an array that is yet to be computed."""
    dtype = np.dtype(np.int64) if pieces.dtype.kind in "mM" else pieces.dtype.newbyteorder("=")
    # An error about NaN names a slice, which only the other way knows in the whole.
    if pieces.call.nan_policy != "raise" and all(x.numblocks[axis] == 1 for axis in pieces.axes):
        places = tuple(range(x.ndim))
        masks = () if where is None else (where, places)
        kernel = partial(_whole, pieces.axes, pieces.call.nan_policy)
        return da.blockwise(
            kernel,
            places,
            x,
            places,
            *masks,
            token="extremum-hardmax",
            dtype=dtype,
            meta=np.empty((0,) * x.ndim, dtype),
        )
    (indices,) = reduced(pieces, x, where, split_every)
    name = f"extremum-ones-{tokenize(indices.name, x.chunks)}"
    starts, tasks = offsets(x.chunks), {}
    for place in product(*map(range, x.numblocks)):
        slices = (0 if axis in pieces.axes else at for axis, at in enumerate(place))
        offset = tuple(start[at] for start, at in zip(starts, place, strict=True))
        lengths = {axis: x.chunks[axis][place[axis]] for axis in pieces.axes}
        tasks[(name, *place)] = (_ones, (indices.name, *slices), x.shape, offset, lengths, dtype)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[indices])
    return da.Array(graph, name, x.chunks, meta=np.empty((0,) * x.ndim, dtype))


def _ones(indices: Any, whole: Any, offset: Any, lengths: dict[int, int], dtype: np.dtype[Any]) -> Any:
    # The other lengths are those of the indices: their sizes may be unknown before.
    shape = tuple(lengths.get(axis, length) for axis, length in enumerate(indices.shape))
    return one_hot.ones(indices, tuple(lengths), whole, offset, shape, dtype)


def _whole(axes: tuple[int, ...], nan_policy: str, block: Any, where: Any = None) -> Any:
    with share():
        return one_hot.hardmax(block, axes, None, nan_policy, where)
