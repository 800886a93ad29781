"""The job that runs a model over the entries of a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import backend
from extremum.backend.batches import BatchOutput, batch_outputs
from extremum.errors import ArgumentError, ModelError
from extremum.graph.types import declared_inputs
from extremum.large.formats import Labels, Output, Source
from extremum.large.formats.decoding import MaskedIntegers
from extremum.large.jobs import Job, Piece
from extremum.large.lengths import Made, lengths
from extremum.large.parameters import ParameterError
from extremum.partials import Place

_WITHIN = 8
"""The memory that a model usually needs, as a multiple of its input."""


class _Session:
    """A model, prepared here and once in each process that receives it, where it uses one thread."""

    def __init__(self, model: Any, threads: int | None = None) -> None:
        self._source = model
        self.model = backend.prepare(model, threads=threads)

    def __reduce__(self) -> tuple[Any, ...]:
        from extremum.dask.models import as_it_travels

        return _Session, (as_it_travels(self._source, self.model), 1)


class ModelRun(Job):
    """One output of a model that takes the entries of an array along an axis, in batches."""

    def __init__(self, model: str, source: Source, axis: Any, output: str | None, memory: int) -> None:
        if not isinstance(axis, int):
            raise ParameterError("a model takes its entries along one axis", parameter="axis")
        rank = len(source.shape)
        if not -rank <= axis < rank:
            raise ArgumentError(f"axis {axis} is out of range for an array with {rank} dimensions")
        self.sources = (source,)
        self._session = _Session(model)
        axis = self._axis = axis % rank
        declared = declared_inputs(self._session.model.loaded.proto)[0].shape
        own = declared[axis] if declared is not None and len(declared) == rank else None
        self._batch = own if isinstance(own, int) else None
        count = source.shape[axis]
        batch = self._batch or max(count, 1)
        batches = [min(batch, count - at) for at in range(0, count, batch)]
        # It has the type of the values, where another one is compared, and takes no memory.
        values = np.broadcast_to(np.zeros((), source.decoding.value_dtype), source.shape)
        self._output = result = _sole(batch_outputs(self._session.model, values, axis, batches, output))
        self.outputs = (Output(result.dtype),)
        self.shape = tuple(
            count if each == result.batch else length for each, length in enumerate(result.shape)
        )
        # Of the source's labels, only those of the dimension of the entries stay.
        axes = [axis if each == result.batch else None for each in range(len(self.shape))]
        labels = Labels.of(source, axes, self.shape, result.name)
        self.labels = replace(labels, name=result.name.replace("/", "_"))
        self.pieces = self._cut(source, axis, memory)

    def _cut(self, source: Source, axis: int, memory: int) -> Sequence[Piece]:
        """Return the pieces: whole entries, in multiples of the batch that the model takes."""
        granule = list(source.shape)
        granule[axis] = self._batch or source.granule[axis]
        entry = source.dtype.itemsize * _WITHIN
        sizes = lengths(source.shape, granule, [axis], lambda s: math.prod(s) * entry, memory // 2)
        whole = [slice(0, length) for length in self.shape]
        before = tuple(whole[: self._output.batch])
        after = tuple(whole[self._output.batch + 1 :])

        def piece(place: Place) -> Piece:
            return Piece((*before, place[axis], *after), ((place,),))

        return Made(source.shape, sizes, piece)

    def part(self, read: tuple[Place, ...], blocks: Sequence[NDArray[Any]]) -> Any:
        """Return the part that one read of a piece makes."""
        (source,) = self.sources
        block = _as_values(source, *blocks)
        count = block.shape[self._axis]
        step = self._batch or max(count, 1)
        cuts = [block[(slice(None),) * self._axis + (slice(at, at + step),)] for at in range(0, count, step)]
        results = [np.asarray(self._session.model.run([cut])[self._output.number]) for cut in cuts]
        if results[1:]:
            return np.concatenate(results, self._output.batch)
        return results[0]


def _as_values(source: Source, block: NDArray[Any]) -> NDArray[Any]:
    """Return elements as the values that a model takes; an integer has no NaN to say that it is missing."""
    if isinstance(source.decoding, MaskedIntegers) and np.isnat(block).any():
        raise ArgumentError(
            f"{source.path!r} has missing elements, and the model takes integers",
            given=f"{source.decoding.value_dtype}[{', '.join(map(str, source.shape))}]",
            remedy="fill them first, or pass the variable as floating-point numbers to a model that takes them",
        )
    return source.decoding.restore(block)


def _sole(outputs: Sequence[BatchOutput]) -> BatchOutput:
    """Return the output of a model that is written, or refuse several outputs and text."""
    if len(outputs) != 1:
        raise ParameterError(
            f"the model has {len(outputs)} outputs",
            parameter="output_name",
            choices=[each.name for each in outputs],
            kind=ModelError,
        )
    (output,) = outputs
    if output.dtype.hasobject:
        raise ArgumentError(
            f"output {output.name!r} is text, and a large file needs elements of a known size",
            remedy="choose an output of numbers, or run the model on an array in memory",
        )
    return output
