"""The graph of a reduction: a task for each chunk, then a tree of tasks that merge their parts.

Decides which tasks there are: never more than those of Dask's own reductions over one axis. What they do is
:mod:`extremum.partials`'; the sequence in which they run, and who runs them, makes no difference to it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from itertools import product
from typing import Any

import dask.array as da
import numpy as np
from dask import config
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from extremum.dask.chunked import offsets, unknown_axes
from extremum.dask.processors import share
from extremum.errors import ArgumentError, ExtremumError
from extremum.interop import adopt
from extremum.partials import Part, Pieces

__all__ = ["reduced"]

_WIDTH = 16
"""How many parts a task merges, if nobody says otherwise: Dask's own number."""

Key = tuple[Any, ...]
Tasks = dict[Key, tuple[Any, ...]]


def reduced(pieces: Pieces, x: Any, where: Any, split_every: int | None) -> tuple[Any, ...]:
    """Return the results of a reduction as arrays that are yet to be computed."""
    function = pieces.call.function
    width = split_every if split_every is not None else config.get("split_every", None) or _WIDTH
    if not isinstance(width, int) or width < 2:
        raise ArgumentError(f"{function}: split_every={width!r} merges nothing", remedy="pass an integer above 1")
    pieces = pieces.cut(x.chunks)
    name = f"extremum-{function}-{tokenize(x.name, None if where is None else where.name, pieces, width)}"
    types = pieces.types
    tasks = dict(_tasks(pieces, x, where, width, name, several=len(types) > 1))
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[x] if where is None else [x, where])
    kept = range(x.ndim) if pieces.call.keepdims else (axis for axis in range(x.ndim) if axis not in pieces.axes)
    chunks = tuple((1,) if axis in pieces.axes else x.chunks[axis] for axis in kept)
    if not types[1:]:
        return (_array(graph, name, chunks, types[0]),)
    return tuple(_item(graph, name, at, chunks, dtype) for at, dtype in enumerate(types))


def _tasks(
    pieces: Pieces, x: Any, where: Any, width: int, name: str, several: bool
) -> Iterator[tuple[Key, tuple[Any, ...]]]:
    """Yield the tasks: for each chunk of the result those of the chunks that it is of, and those above them."""
    rank, axes, keepdims = x.ndim, set(pieces.axes), pieces.call.keepdims
    starts, unknown = offsets(x.chunks), unknown_axes(x)
    blocks = [range(count) for count in x.numblocks]
    within = [blocks[axis] if axis in axes else (0,) for axis in range(rank)]
    for place in product(*((0,) if axis in axes else blocks[axis] for axis in range(rank))):
        shown = [axis for axis in range(rank) if keepdims or axis not in axes]
        key = (name, *(place[axis] for axis in shown))
        origin = tuple(0 if axis in axes or axis in unknown else starts[axis][place[axis]] for axis in shown)
        block = f"chunk {key[1:]} of the result, from whose start the slice is counted" if unknown else None
        parts: list[Key] = []
        for step in product(*within):
            at = tuple(map(operator.add, place, step))
            offset = tuple(start[number] for start, number in zip(starts, at, strict=True))
            parts.append((f"{name}-part", 0, *at))
            yield parts[-1], (_part, pieces, (x.name, *at), offset, None if where is None else (where.name, *at))
        level = 0
        while len(parts) > width:
            level += 1
            groups = [parts[start : start + width] for start in range(0, len(parts), width)]
            parts = [(f"{name}-part", level, *group[0][2:]) for group in groups]
            yield from ((part, (_merged, pieces, group)) for part, group in zip(parts, groups, strict=True))
        yield key, (_settled, pieces, parts, origin, several, block)


def _part(pieces: Pieces, block: Any, offset: tuple[int, ...], where: Any) -> Part:
    with share():
        return pieces.part(adopt(block), offset, where)


def _merged(pieces: Pieces, parts: list[Part]) -> Part:
    with share():
        return pieces.merged(parts)


def _settled(pieces: Pieces, parts: list[Part], origin: tuple[int, ...], several: bool, block: str | None) -> Any:
    try:
        with share():
            results = pieces.settled(parts, origin)
    except ExtremumError as error:
        raise error if block is None else error.with_context(where=block) from None
    return results if several else results[0]


def _array(graph: HighLevelGraph, name: str, chunks: Any, dtype: np.dtype[Any]) -> Any:
    return da.Array(graph, name, chunks, meta=np.empty((0,) * len(chunks), dtype))


def _item(graph: HighLevelGraph, name: str, at: int, chunks: Any, dtype: np.dtype[Any]) -> Any:
    """Return one of the results that tasks return together."""
    own = f"{name}-{at}"
    places = product(*(range(len(sizes)) for sizes in chunks))
    tasks = {(own, *place): (operator.getitem, (name, *place), at) for place in places}
    layers = {**graph.layers, own: tasks}
    return _array(HighLevelGraph(layers, {**graph.dependencies, own: {name}}), own, chunks, dtype)
