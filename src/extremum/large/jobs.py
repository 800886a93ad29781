"""Operations on large arrays, a piece at a time, in this process or on a Dask cluster.

Half of the memory that is allowed is for the pieces and their results, the other half for libraries and the
interpreter. A job knows the shape and type of its results before it reads anything.
"""

from __future__ import annotations

import asyncio
import math
import pickle
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum import backend
from extremum.elementwise import broadcast_shape
from extremum.errors import ArgumentError, ExecutionError, ExtremumError, InputError, ModelError, first_line
from extremum.graph.types import declared_inputs
from extremum.interop import Operand
from extremum.large.files import Labels, Source, read_ahead
from extremum.large.pieces import RUN, Place, lengths, places
from extremum.partials import Pieces, TopK
from extremum.reductions import ENDS, Reduction, Selection, ones

_WITHIN = 8
"""The memory that a model usually needs, as a multiple of its input."""

_PATIENCE = 3
"""Seconds to connect to a scheduler; its answer may take one more."""

_ADDRESS = re.compile(r"((tcp|tls)://)?(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")


@dataclass(frozen=True, slots=True)
class Piece:
    """A place of the results, and the reads that complete it: each is a place of every source."""

    place: Place
    reads: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes that were read, and where a place is complete, the piece of each result there."""

    read: int
    place: Place | None = None
    blocks: tuple[NDArray[Any], ...] = ()


class Job:
    """Results, one or several of one shape, that are computed from sources; in whole pieces that fit a memory limit."""

    sources: Sequence[Source]
    shape: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]
    labels: Labels
    pieces: Sequence[Piece]

    def read(self, read: tuple[Place, ...]) -> Any:
        """Read a piece and return its part."""
        return self.part(read, [source.read(place) for source, place in zip(self.sources, read, strict=True)])

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part of a piece that one read makes."""
        raise NotImplementedError

    def merge(self, parts: Sequence[Any]) -> Any:
        """Return the part that several parts of a piece make together."""
        raise NotImplementedError

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        """Yield places of the results with the blocks there, from the part of a whole piece."""
        yield piece.place, (part,)

    def __getstate__(self) -> dict[str, Any]:
        """Return what computes parts: the rest stays here."""
        return {name: value for name, value in vars(self).items() if name not in ("labels", "pieces")}


class _Reduced(Job):
    """argmax, argmin, max, min, minmax and top_k."""

    # Bytes that an element of the source takes besides, while a piece is computed.
    extra = 0

    def __init__(self, source: Source, call: Pieces, memory: int) -> None:
        rank, axes = range(len(source.shape)), call.axes
        self.sources, self.dtypes = (source,), call.types
        self.shape = call.along(source.shape, call.length)
        # The labels of an axis do not fit several elements, which each slice has in its own order.
        fit = call.along(source.shape, call.length if call.length < 2 else None)
        self.labels = Labels.of(source, call.result_axes, fit, call.call.function)

        def cost(sizes: Sequence[int]) -> int:
            state = math.prod(size for axis, size in enumerate(sizes) if axis not in axes) * call.length
            # One piece is read while another is reduced; candidates are sorted besides.
            parts = (4 if call.length < 2 else 8) * state * (source.dtype.itemsize + 8)
            return math.prod(sizes) * (2 * source.dtype.itemsize + self.extra) + parts

        run = -(-RUN // source.dtype.itemsize) if math.prod(source.granule) == 1 else 1
        # A piece has as many elements as its part, so that parts take no more work than elements.
        granule, least = list(source.granule), call.length
        for axis in reversed([axis for axis in source.order if axis in axes]):
            granule[axis] *= -(-least // granule[axis]) or 1
            least = -(-least // max(source.shape[axis], 1))
        sizes = lengths(source.shape, granule, source.order, cost, memory // 2, reduced=axes, run=run)
        self._call = call.cut([-(-n // max(size, 1)) for n, size in zip(source.shape, sizes, strict=True)])
        outer = [1 if axis in axes else source.shape[axis] for axis in rank]
        inner = [source.shape[axis] if axis in axes else 1 for axis in rank]
        steps = list(places(inner, list(map(min, sizes, inner))))

        def read(place: Place, step: Place) -> tuple[Place]:
            return (tuple(step[axis] if axis in axes else place[axis] for axis in rank),)

        self.pieces = [Piece(place, tuple(read(place, step) for step in steps)) for place in places(outer, sizes)]

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        (place,), (block,) = read, blocks
        return self._call.part(Operand(block), tuple(each.start for each in place))

    def merge(self, parts: Sequence[Any]) -> Any:
        return self._call.merge(parts)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        found = self._call.finish([part], self._call.along([each.start for each in piece.place], 0))
        yield self._call.along(piece.place, slice(0, self._call.length)), tuple(map(np.asarray, found))


class _Hardmax(_Reduced):
    """hardmax: the indices of each place, then the ones, for which nothing is read again."""

    def __init__(self, source: Source, call: Pieces, memory: int) -> None:
        dtype = np.dtype(np.int64) if call.dtype.kind in "mM" else call.dtype.newbyteorder("=")
        self.extra, self._memory = dtype.itemsize, memory
        super().__init__(source, call, memory)
        self.shape, self.dtypes = source.shape, (dtype,)
        self.labels = Labels.of(source, call.result_axes, self.shape, call.call.function)

    def results(self, piece: Piece, part: Any) -> Iterator[tuple[Place, tuple[NDArray[Any], ...]]]:
        indices, axes = np.asarray(part[0][1]), self._call.axes
        base = [0 if axis in axes else each.start for axis, each in enumerate(piece.place)]
        whole = [self.shape[axis] if axis in axes else each.stop - each.start for axis, each in enumerate(piece.place)]
        sizes = lengths(whole, (1,) * len(whole), range(len(whole)), lambda s: 12 * math.prod(s), self._memory // 2)
        for place in places(whole, sizes):
            own = indices[tuple(slice(None) if axis in axes else each for axis, each in enumerate(place))]
            start = tuple(each.start if axis in axes else 0 for axis, each in enumerate(place))
            block = ones(own, axes, self.shape, start, tuple(each.stop - each.start for each in place), *self.dtypes)
            yield tuple(slice(b + each.start, b + each.stop) for b, each in zip(base, place, strict=True)), (block,)


class _Elementwise(Job):
    """maximum and minimum."""

    def __init__(self, function: str, sources: Sequence[Source], nan_policy: Any, memory: int) -> None:
        self.sources = sources
        self._compare = partial(getattr(ex, function), nan_policy=nan_policy)
        self.dtypes = (self._compare(*(np.ones((1,) * len(each.shape), each.dtype) for each in sources)).dtype,)
        self.shape = broadcast_shape(function, [each.shape for each in sources])
        # The operand with the largest granules decides how all are cut.
        whole = [each for each in sources if each.shape == self.shape]
        coarsest = max(whole, key=lambda each: math.prod(each.granule), default=None)
        granule = (1,) * len(self.shape) if coarsest is None else coarsest.granule
        order = tuple(range(len(self.shape))) if coarsest is None else coarsest.order
        element = 2 * sum(each.dtype.itemsize for each in sources) + 2 * self.dtypes[0].itemsize
        sizes = lengths(self.shape, granule, order, lambda s: math.prod(s) * element, memory // 2)
        self.pieces = [
            Piece(place, (tuple(_operand_place(each.shape, place) for each in sources),))
            for place in places(self.shape, sizes)
        ]
        source = (whole or sources)[0]
        axes = [*[None] * (len(self.shape) - len(source.shape)), *range(len(source.shape))]
        self.labels = Labels.of(source, axes, self.shape, function)

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        return np.asarray(self._compare(*blocks))


def _operand_place(shape: tuple[int, ...], place: Place) -> Place:
    """Return the place of an operand that is broadcast to the place of a result."""
    own = place[len(place) - len(shape) :]
    return tuple(slice(0, 1) if length == 1 else each for length, each in zip(shape, own, strict=True))


class _Session:
    """A model that is prepared here, and once in each process that it travels to, for one thread there."""

    def __init__(self, model: Any, threads: int | None = None) -> None:
        self._model, self.prepared = model, backend.prepare(model, threads=threads)

    def __reduce__(self) -> tuple[Any, ...]:
        from extremum.dask import as_it_travels

        return _Session, (as_it_travels(self._model, self.prepared), 1)


class _Modelled(Job):
    """One output of a model that takes the entries of an array along an axis, in batches."""

    def __init__(self, model: str, source: Source, axis: Any, output: str | None, memory: int) -> None:
        if not isinstance(axis, int):
            raise ArgumentError("a model takes its entries along one axis", remedy="give one --axis or --dim")
        rank = len(source.shape)
        if not -rank <= axis < rank:
            raise ArgumentError(f"axis {axis} is out of range for an array with {rank} dimensions")
        self.sources, self._session = (source,), _Session(model)
        axis = self._axis = axis % rank
        declared = declared_inputs(self._session.prepared.loaded.proto)[0].shape
        own = declared[axis] if declared is not None and len(declared) == rank else None
        self._batch = own if isinstance(own, int) else None
        count = source.shape[axis]
        batch = self._batch or max(count, 1)
        batches = [min(batch, count - at) for at in range(0, count, batch)]
        found = backend.batch_outputs(self._session.prepared, source, axis, batches, output)
        if len(found) != 1:
            names = ", ".join(each.name for each in found)
            raise ModelError(f"the model has {len(found)} outputs", remedy=f"name one with --output-name: {names}")
        self._output = result = found[0]
        self.dtypes = (result.dtype,)
        if result.dtype.hasobject:
            reason = f"output {result.name!r} is text, and a large file needs elements of a known size"
            remedy = "choose an output of numbers with --output-name, or write the text with extremum run"
            raise ArgumentError(reason, remedy=remedy)
        self.shape = tuple(count if each == result.batch else length for each, length in enumerate(result.shape))
        # Of the labels of the source, only the dimension of the entries stays.
        axes = [axis if each == result.batch else None for each in range(len(self.shape))]
        labels = Labels.of(source, axes, self.shape, result.name)
        self.labels = replace(labels, name=result.name.replace("/", "_"), attrs={})
        granule = list(source.shape)
        granule[axis] = self._batch or source.granule[axis]
        entry = source.dtype.itemsize * _WITHIN
        sizes = lengths(source.shape, granule, [axis], lambda s: math.prod(s) * entry, memory // 2)
        whole = [slice(0, length) for length in self.shape]
        before, after = tuple(whole[: result.batch]), tuple(whole[result.batch + 1 :])
        self.pieces = [Piece((*before, place[axis], *after), ((place,),)) for place in places(source.shape, sizes)]

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        (block,) = blocks
        count = block.shape[self._axis]
        step = self._batch or max(count, 1)
        cuts = [block[(slice(None),) * self._axis + (slice(at, at + step),)] for at in range(0, count, step)]
        results = [np.asarray(self._session.prepared.run([cut])[self._output.number]) for cut in cuts]
        return np.concatenate(results, self._output.batch) if results[1:] else results[0]


ELEMENTWISE = ("maximum", "minimum")


def planned(operation: str, sources: Sequence[Source], axis: Any, memory: int = sys.maxsize, **options: Any) -> Job:
    """Return the job of a function or of the file of a model; refuse contradictory options."""
    nan_policy = options.get("nan_policy", "propagate")
    if operation in ELEMENTWISE:
        return _Elementwise(operation, sources, nan_policy, memory)
    if len(sources) > 1:
        raise ArgumentError(f"{operation} takes one input", given=", ".join(each.path for each in sources))
    if operation == "top_k":
        if options.get("k") is None:
            raise ArgumentError("top_k selects a number of elements", remedy="give one --k")
        selection = Selection.of(sources[0], options["k"], axis, options.get("mode", "largest"), True, nan_policy)
        return _Reduced(sources[0], TopK.of(selection, sources[0].shape, sources[0].dtype), memory)
    if operation not in ENDS:
        if not Path(operation).suffix and not Path(operation).exists():
            remedy = "use argmax, argmin, max, min, minmax, hardmax, maximum, minimum, top_k or the file of a model"
            raise ArgumentError(f"there is no operation {operation!r}", remedy=remedy)
        return _Modelled(operation, sources[0], 0 if axis is None else axis, options["output_name"], memory)
    is_hardmax, values, largest = operation == "hardmax", operation in ("max", "min", "minmax"), ENDS[operation]
    keepdims, default = options.get("keepdims", False) or is_hardmax, -1 if is_hardmax else options.get("default")
    call = Reduction(operation, largest, axis, keepdims, options.get("last", False), nan_policy)
    index = np.dtype(options.get("dtype", np.int64)) if not values or options.get("index") else None
    pieces = Pieces.plan(call, sources[0].shape, sources[0].dtype, values=values, index=index, default=default)
    return (_Hardmax if is_hardmax else _Reduced)(sources[0], pieces, memory)


def steps(job: Job) -> Iterator[Step]:
    """Do the work in this process, in the order of the pieces."""
    reads = [(piece, read) for piece in job.pieces for read in piece.reads]
    part: Any = None
    for (piece, read), blocks in zip(reads, read_ahead(job.sources, (each for _, each in reads)), strict=True):
        found = job.part(read, blocks)
        part = found if read is piece.reads[0] else job.merge([part, found])
        yield Step(sum(each.nbytes for each in blocks))
        if read is piece.reads[-1]:
            yield from (Step(0, *each) for each in job.results(piece, part))


async def _identity(address: str) -> dict[str, Any]:
    """Ask a scheduler for its identity; a client would retry where there is no scheduler."""
    from distributed.core import rpc
    from distributed.security import Security

    try:
        options = Security().get_connection_args("client")
        async with rpc(address, timeout=_PATIENCE, connection_args=options) as scheduler:
            found: dict[str, Any] = await asyncio.wait_for(scheduler.identity(), _PATIENCE + 1)
        if found["type"] != "Scheduler":
            raise ValueError(f"a {found['type']} does")
        return found
    except Exception as error:
        # A server of another kind may answer anything.
        given = first_line(error) or f"no answer within {_PATIENCE + 1} seconds"
        reason = f"no scheduler answers at {address}"
        raise InputError(reason, given=given, remedy="start one with: dask scheduler") from None


def steps_on(address: str, job: Job) -> Iterator[Step]:
    """Have the workers of a scheduler do the work; refuse one that does not answer or has no workers.

    The workers read the files. Finished pieces of the results arrive here in any order.
    """
    from distributed import Client, as_completed
    from distributed.scheduler import KilledWorker

    if _ADDRESS.fullmatch(address) is None:
        raise InputError(f"{address!r} is no address of a scheduler", remedy="write tcp://HOST:PORT")
    if not asyncio.run(_identity(address))["workers"]:
        raise InputError(f"the scheduler at {address} has no workers", remedy="start some: dask worker ADDRESS")
    with Client(address, set_as_default=False) as client:
        send = partial(client.submit, pure=False)
        # A task, so that it can be done again: each worker opens the files and prepares the model once.
        here = send(pickle.loads, pickle.dumps(job))
        futures = {}
        for piece in job.pieces:
            parts = [send(_do, here, "read", read) for read in piece.reads]
            futures[send(_do, here, "merge", parts) if parts[1:] else parts[0]] = piece
        try:
            for future in as_completed(list(futures)):
                piece, part = futures.pop(future), future.result()
                future.release()
                reads = [pair for read in piece.reads for pair in zip(job.sources, read, strict=True)]
                yield Step(sum(math.prod(each.stop - each.start for each in at) * x.dtype.itemsize for x, at in reads))
                yield from (Step(0, *each) for each in job.results(piece, part))
        except KilledWorker as error:
            raise ExecutionError("workers die of the work they are given", given=first_line(error)) from None
        except ExtremumError:
            raise
        except OSError as error:
            raise ExecutionError("a worker could not read or send what it was asked for", given=str(error)) from None


def _do(job: Job, step: str, *given: Any) -> Any:
    """Do a step of a job with a task's share of the processors."""
    from extremum.dask import share

    with share():
        return getattr(job, step)(*given)
