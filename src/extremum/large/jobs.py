"""Operations on large arrays, a piece at a time, in this process or on a Dask cluster.

Half of the memory that is allowed is for the pieces and their results, the other half for libraries and the
interpreter. A job knows the shape and type of its results before it reads anything.
"""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import extremum as ex
from extremum import backend
from extremum.batches import outputs
from extremum.elementwise import broadcast_shape
from extremum.errors import ArgumentError, ExecutionError, ExtremumError, InputError, ModelError, first_line
from extremum.graph.types import declared_inputs
from extremum.interop import Adopted
from extremum.large.files import Labels, Source, read_ahead
from extremum.large.pieces import RUN, Place, lengths, places
from extremum.partials import Part, Pieces
from extremum.reductions import Reduction, ones

__all__ = ["ELEMENTWISE", "Job", "Step", "planned", "steps_on"]

_WITHIN = 8
"""The memory that a model usually needs, as a multiple of its input."""

_PATIENCE = 3
"""Seconds to connect to a scheduler; its answer may take one more."""

_ADDRESS = re.compile(r"((tcp|tls)://)?(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]+):\d{1,5}")


@dataclass(frozen=True, slots=True)
class Step:
    """Bytes that were read, and where a place is complete, the piece of each result there, or of some results."""

    read: int
    place: Place | None = None
    blocks: tuple[NDArray[Any] | None, ...] = ()


class Job:
    """Results, one or several of one shape, that are computed from sources."""

    sources: Sequence[Source]
    shape: tuple[int, ...]
    dtypes: tuple[np.dtype[Any], ...]
    labels: Labels

    def steps(self, memory: int) -> Iterator[Step]:
        """Do the work within a limit of memory."""
        raise NotImplementedError

    def lazy(self) -> tuple[Any, ...]:
        """Return the results as arrays of Dask's."""
        raise NotImplementedError


class _Reduced(Job):
    """argmax, argmin, max, min and minmax."""

    def __init__(self, source: Source, pieces: Pieces) -> None:
        self.sources = (source,)
        self.pieces = pieces
        self.dtypes = pieces.types
        self._axes = [axis for axis in range(len(source.shape)) if pieces.call.keepdims or axis not in pieces.axes]
        self.shape = tuple(1 if axis in pieces.axes else source.shape[axis] for axis in self._axes)
        self.labels = Labels.of(source, self._axes, self.shape, pieces.call.function)

    def steps(self, memory: int) -> Iterator[Step]:
        for outer, read, part, whole in self._parts(memory, 0):
            place = tuple(slice(0, 1) if axis in self.pieces.axes else outer[axis] for axis in self._axes)
            origin = tuple(each.start for each in place)
            if whole is not None:
                blocks = self.pieces.whole(whole, origin)
            elif part is not None:
                blocks = self.pieces.settled([part], origin)
            else:
                yield Step(read)
                continue
            yield Step(read, place, tuple(map(np.asarray, blocks)))

    def _parts(self, memory: int, extra: int) -> Iterator[tuple[Place, int, Part | None, Adopted | None]]:
        """Yield a place of the axes that stay, the bytes read, and when the place is complete its part.

        A piece that covers the place is yielded instead of a part, unless the caller needs `extra` bytes an element.
        """
        (source,), axes = self.sources, self.pieces.axes
        rank = range(len(source.shape))

        def cost(sizes: Sequence[int]) -> int:
            state = math.prod(size for axis, size in enumerate(sizes) if axis not in axes)
            # One piece is read while another is reduced.
            return math.prod(sizes) * (2 * source.dtype.itemsize + extra) + 4 * state * (source.dtype.itemsize + 8)

        run = -(-RUN // source.dtype.itemsize) if math.prod(source.granule) == 1 else 1
        sizes = lengths(source.shape, source.granule, source.order, cost, memory // 2, reduced=axes, run=run)
        within = [source.shape[axis] if axis in axes else 1 for axis in rank]
        steps = list(places(within, [min(size, length) for size, length in zip(sizes, within, strict=True)]))
        outer_places = list(places([1 if axis in axes else n for axis, n in enumerate(source.shape)], sizes))
        reads = [
            tuple(step[axis] if axis in axes else outer[axis] for axis in rank)
            for outer in outer_places
            for step in steps
        ]
        blocks = read_ahead(self.sources, ([place] for place in reads))
        pieces = self.pieces.cut(
            [[min(size, n - at) for at in range(0, n, size or 1)] for n, size in zip(source.shape, sizes, strict=True)]
        )
        part: Part | None = None
        for number, (place, (block,)) in enumerate(zip(reads, blocks, strict=True)):
            outer, step = outer_places[number // len(steps)], number % len(steps)
            if not steps[1:] and not extra:
                yield outer, block.nbytes, None, Adopted(block)
                continue
            found = pieces.part(Adopted(block), tuple(each.start for each in place))
            part = found if step == 0 or part is None else pieces.merged([part, found])
            yield outer, block.nbytes, part if step == len(steps) - 1 else None, None

    def lazy(self) -> tuple[Any, ...]:
        from extremum.dask import reduced

        return reduced(self.pieces, self.sources[0].chunked(), None, None)


class _Hardmax(_Reduced):
    """hardmax: the indices of each place, then the ones, for which nothing is read again."""

    def __init__(self, source: Source, pieces: Pieces) -> None:
        super().__init__(source, pieces)
        self.shape = source.shape
        self.dtypes = (np.dtype(np.int64) if pieces.dtype.kind in "mM" else pieces.dtype.newbyteorder("="),)
        self.labels = Labels.of(source, self._axes, self.shape, pieces.call.function)

    def steps(self, memory: int) -> Iterator[Step]:
        (source,), axes = self.sources, self.pieces.axes
        for outer, read, part, _ in self._parts(memory, self.dtypes[0].itemsize):
            yield Step(read)
            if part is None:
                continue
            indices = np.asarray(part[0][1])
            whole = [n if axis in axes else outer[axis].stop - outer[axis].start for axis, n in enumerate(source.shape)]
            base = [0 if axis in axes else outer[axis].start for axis in range(len(whole))]
            sizes = lengths(whole, (1,) * len(whole), range(len(whole)), lambda s: 12 * math.prod(s), memory // 2)
            for place in places(whole, sizes):
                block = ones(
                    indices[tuple(slice(None) if axis in axes else each for axis, each in enumerate(place))],
                    axes,
                    source.shape,
                    tuple(each.start if axis in axes else 0 for axis, each in enumerate(place)),
                    tuple(each.stop - each.start for each in place),
                    *self.dtypes,
                )
                yield Step(0, tuple(slice(b + p.start, b + p.stop) for b, p in zip(base, place, strict=True)), (block,))

    def lazy(self) -> tuple[Any, ...]:
        import extremum.dask

        chunked, nan_policy = self.sources[0].chunked(), self.pieces.call.nan_policy
        return (extremum.dask.hardmax(chunked, self.pieces.axes, nan_policy=nan_policy),)


class _Elementwise(Job):
    """maximum and minimum."""

    def __init__(self, function: str, sources: Sequence[Source], nan_policy: Any) -> None:
        self.sources, self._nan_policy = sources, nan_policy
        self._function = getattr(ex, function)
        probes = [np.ones((1,) * len(each.shape), each.dtype) for each in sources]
        self.dtypes = (self._function(*probes).dtype,)
        self.shape = broadcast_shape(function, [each.shape for each in sources])
        # The labels of the first operand that has the shape of the result.
        source = next((each for each in sources if each.shape == self.shape), sources[0])
        axes = [*[None] * (len(self.shape) - len(source.shape)), *range(len(source.shape))]
        self.labels = Labels.of(source, axes, self.shape, function)

    def steps(self, memory: int) -> Iterator[Step]:
        whole = [each for each in self.sources if each.shape == self.shape]
        # The operand with the largest granules decides how all are cut.
        coarsest = max(whole, key=lambda each: math.prod(each.granule), default=None)
        granule = (1,) * len(self.shape) if coarsest is None else coarsest.granule
        order = tuple(range(len(self.shape))) if coarsest is None else coarsest.order
        element = 2 * sum(each.dtype.itemsize for each in self.sources) + 2 * self.dtypes[0].itemsize
        sizes = lengths(self.shape, granule, order, lambda s: math.prod(s) * element, memory // 2)
        reads = list(places(self.shape, sizes))
        operands = ([_operand_place(each.shape, place) for each in self.sources] for place in reads)
        for place, blocks in zip(reads, read_ahead(self.sources, operands), strict=True):
            block = np.asarray(self._function(*blocks, nan_policy=self._nan_policy))
            yield Step(sum(each.nbytes for each in blocks), place, (block,))

    def lazy(self) -> tuple[Any, ...]:
        return (self._function(*(each.chunked() for each in self.sources), nan_policy=self._nan_policy),)


def _operand_place(shape: tuple[int, ...], place: Place) -> Place:
    """Return the place of an operand that is broadcast to the place of a result."""
    own = place[len(place) - len(shape) :]
    return tuple(slice(0, 1) if length == 1 else each for length, each in zip(shape, own, strict=True))


class _Modelled(Job):
    """One output of a model that takes the entries of an array along an axis, in batches."""

    def __init__(self, model: str, source: Source, axis: Any, output: str | None = None) -> None:
        if not isinstance(axis, int):
            raise ArgumentError("a model takes its entries along one axis", remedy="give one --axis or --dim")
        rank = len(source.shape)
        if not -rank <= axis < rank:
            raise ArgumentError(f"axis {axis} is out of range for an array with {rank} dimensions")
        self.sources = (source,)
        self._model, self._axis = model, axis % rank
        self._prepared = backend.prepare(model)
        declared = declared_inputs(self._prepared.loaded.proto)[0].shape
        own = declared[self._axis] if declared is not None and len(declared) == rank else None
        self._batch = own if isinstance(own, int) else None
        count = source.shape[self._axis]
        batch = self._batch or max(count, 1)
        sizes = [min(batch, count - at) for at in range(0, count, batch)]
        found = outputs(self._prepared, source.shape, source.dtype, self._axis, sizes, output)
        if len(found) != 1:
            names = ", ".join(each.name for each in found)
            raise ModelError(f"the model has {len(found)} outputs", remedy=f"name one with --output-name: {names}")
        (self._output,) = found
        self.dtypes = (self._output.dtype,)
        if self._output.dtype.hasobject:
            raise ArgumentError(
                f"output {self._output.name!r} is text, and a large file needs elements of a known size",
                remedy="choose an output of numbers with --output-name, or write the text with extremum run",
            )
        self.shape = tuple(
            count if each == self._output.batch else length for each, length in enumerate(self._output.shape)
        )
        # Of the labels of the source, only the dimension of the entries stays.
        axes = [self._axis if each == self._output.batch else None for each in range(len(self.shape))]
        labels = Labels.of(source, axes, self.shape, self._output.name)
        self.labels = replace(labels, name=self._output.name.replace("/", "_"), attrs={})

    def steps(self, memory: int) -> Iterator[Step]:
        (source,), axis = self.sources, self._axis
        granule = list(source.shape)
        granule[axis] = self._batch or source.granule[axis]
        entry = source.dtype.itemsize * _WITHIN
        sizes = lengths(source.shape, granule, [axis], lambda s: math.prod(s) * entry, memory // 2)
        reads = list(places(source.shape, sizes))
        for place, (block,) in zip(reads, read_ahead(self.sources, ([each] for each in reads)), strict=True):
            start, stop = place[axis].start, place[axis].stop
            step = self._batch or max(stop - start, 1)
            cuts = [block[(slice(None),) * axis + (slice(at, at + step),)] for at in range(0, stop - start, step)]
            results = [np.asarray(self._prepared.run([cut])[self._output.number]) for cut in cuts]
            result = np.concatenate(results, self._output.batch) if results[1:] else results[0]
            out = [slice(0, length) for length in self.shape]
            out[self._output.batch] = slice(start, stop)
            yield Step(block.nbytes, tuple(out), (result,))

    def lazy(self) -> tuple[Any, ...]:
        from extremum.dask import run

        chunked = self.sources[0].chunked()
        sizes = {axis: -1 for axis in range(chunked.ndim) if axis != self._axis}
        if self._batch is not None:
            sizes[self._axis] = self._batch
        return (run(self._model, chunked.rechunk(sizes), self._axis, output=self._output.name),)


# Whether a function looks for the largest element; minmax looks for the smallest and the largest.
_LARGEST: dict[str, tuple[bool, ...]] = {
    **dict.fromkeys(("argmax", "max", "hardmax"), (True,)),
    **dict.fromkeys(("argmin", "min"), (False,)),
    "minmax": (False, True),
}
ELEMENTWISE = ("maximum", "minimum")


def planned(operation: str, sources: Sequence[Source], axis: Any, **options: Any) -> Job:
    """Return the job of a function or of the file of a model; refuse contradictory options."""
    nan_policy = options.get("nan_policy", "propagate")
    if operation in ELEMENTWISE:
        return _Elementwise(operation, sources, nan_policy)
    if len(sources) > 1:
        raise ArgumentError(f"{operation} takes one input", given=", ".join(each.path for each in sources))
    if operation not in _LARGEST:
        if not Path(operation).suffix and not Path(operation).exists():
            remedy = "use argmax, argmin, max, min, minmax, hardmax, maximum, minimum or the file of a model"
            raise ArgumentError(f"there is no operation {operation!r}", remedy=remedy)
        return _Modelled(operation, sources[0], 0 if axis is None else axis, options["output_name"])
    is_hardmax, values, largest = operation == "hardmax", operation in ("max", "min", "minmax"), _LARGEST[operation]
    keepdims, default = options.get("keepdims", False) or is_hardmax, -1 if is_hardmax else options.get("default")
    pieces = Pieces.planned(
        Reduction(operation, largest, axis, keepdims, options.get("last", False), nan_policy),
        sources[0].shape,
        sources[0].dtype,
        values=values,
        index=np.dtype(options.get("dtype", np.int64)) if not values or options.get("index") else None,
        defaults=None if default is None else (default,) * len(largest),
    )
    return _Hardmax(sources[0], pieces) if is_hardmax else _Reduced(sources[0], pieces)


def steps_on(address: str, job: Job) -> Iterator[Step]:
    """Have the workers of a scheduler do the work; refuse at once one that does not answer or has no workers.

    The workers read the files. Finished pieces of the results arrive here in any order.
    """
    if _ADDRESS.fullmatch(address) is None:
        raise InputError(f"{address!r} is no address of a scheduler", remedy="write tcp://HOST:PORT")
    if not asyncio.run(_identity(address))["workers"]:
        raise InputError(f"the scheduler at {address} has no workers", remedy="start some: dask worker ADDRESS")
    return _steps_on(address, job)


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


def _steps_on(address: str, job: Job) -> Iterator[Step]:
    from dask.array.core import slices_from_chunks
    from distributed import Client, as_completed
    from distributed.scheduler import KilledWorker

    with Client(address, set_as_default=False) as client:
        results = job.lazy()
        blocks = [block for lazy in results for block in lazy.to_delayed().ravel().tolist()]
        owners = [(at, place) for at, lazy in enumerate(results) for place in slices_from_chunks(lazy.chunks)]
        futures, count = dict(zip(client.compute(blocks), owners, strict=True)), len(blocks)
        total = sum(math.prod(each.shape) * each.dtype.itemsize for each in job.sources)
        try:
            for number, future in enumerate(as_completed(list(futures)), 1):
                block = np.asarray(future.result())
                at, place = futures.pop(future)
                future.release()
                read = total * number // count - total * (number - 1) // count
                yield Step(read, place, tuple(block if each == at else None for each in range(len(results))))
        except KilledWorker as error:
            raise ExecutionError("workers die of the work they are given", given=first_line(error)) from None
        except ExtremumError:
            raise
        except OSError as error:
            raise ExecutionError("a worker could not read or send what it was asked for", given=str(error)) from None
