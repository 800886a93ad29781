"""Graphs of tasks on Dask's arrays: a tree for a reduction, one task for each chunk of what is elementwise.

Decides which tasks there are, how many processors each uses, and what is refused before anything is computed: chunks of
unknown size along an axis whose elements are counted, masks that do not fit, other libraries' arrays. It computes no
array and rechunks only masks. What the tasks of a reduction do is :mod:`extremum.partials`'; the sequence in which they
run, and who runs them, makes no difference to it.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import operator
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, product
from typing import Any

import dask.array as da
import numpy as np
from dask import config
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from extremum import _native, elementwise, one_hot, reductions
from extremum.errors import ArgumentError, ArgumentTypeError, ExtremumError
from extremum.interop import Adopted, adopt, one_library
from extremum.partials import Part, Pieces

__all__ = [
    "aligned",
    "element_type",
    "extremum",
    "hardmax",
    "most",
    "reduced",
    "require_chunked",
    "require_known",
    "share",
]

# How many processors a task of a scheduler uses: one, because the scheduler keeps the others busy. For the kernels the
# number is a setting of the process, so it is set while any task runs and put back after the last one. What runs
# beside, such as a call of the caller's own, computes the same then, on one processor too.
_lock = threading.Lock()
_running = 0
_before = 1


def most() -> int | None:
    """Return how many processors the task that asks may use; None where it is the caller itself."""
    return None if _is_alone() else 1


@contextlib.contextmanager
def share() -> Iterator[None]:
    """Use this task's share of the processors: all of them where no scheduler runs others beside it."""
    global _running, _before
    if _is_alone():
        yield
        return
    with _lock:
        if not _running:
            _before = _native.get_num_threads()
            _native.set_num_threads(1)
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            # What the caller has set in the meantime stays.
            if not _running and _native.get_num_threads() == 1:
                _native.set_num_threads(_before)


def _is_alone() -> bool:
    """Whether this is the caller's own thread: schedulers run their tasks in others, or in processes of theirs."""
    return threading.current_thread() is threading.main_thread() and multiprocessing.parent_process() is None


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
    reductions.mask(function, np.broadcast_to(np.zeros((), where.dtype), stand_in(where)), stand_in(x))
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


def hardmax(pieces: Pieces, x: Any, where: Any, split_every: int | None) -> Any:
    """Return the ones and zeros: in one pass where each slice lies in one chunk, else from the indices alone.

    No chunk is read twice, nor kept until its index is known.
    """
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


def extremum(function: str, operands: tuple[Any, ...], out: Any, nan_policy: Any, where: Any) -> Any:
    """Return the elementwise extremum as an array that is yet to be computed."""
    reductions.require_policy(function, nan_policy)
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
        return reductions.truths(function, adopt(where).mask(function))
    reductions.truths(function, np.ones((), element_type(function, where)))
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
