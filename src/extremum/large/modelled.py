"""A model over the entries of a large array."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from extremum import backend
from extremum.batches import outputs
from extremum.errors import ArgumentError, ModelError
from extremum.graph.inputs import declared_inputs
from extremum.large.grid import lengths, places
from extremum.large.jobs import Step
from extremum.large.labels import Labels
from extremum.large.source import Source, read_ahead

__all__ = ["Modelled"]

_WITHIN = 8
"""How many times what it is given a model may need, as a rule, for all that it makes of it."""


class Modelled:
    """A model that gives one output for each entry along an axis."""

    def __init__(self, model: str, source: Source, axis: Any, output: str | None = None) -> None:
        if not isinstance(axis, int):
            raise ArgumentError("a model takes its entries along one axis", remedy="give one --axis or --dim")
        rank = len(source.shape)
        if not -rank <= axis < rank:
            raise ArgumentError(f"axis {axis} is out of range for an array with {rank} dimensions")
        self.sources: Sequence[Source] = (source,)
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
        self.dtypes: tuple[np.dtype[Any], ...] = (self._output.dtype,)
        if self._output.dtype.hasobject:
            raise ArgumentError(
                f"output {self._output.name!r} is text, and a large file needs elements of a known size",
                remedy="choose an output of numbers with --output-name, or write the text with extremum run",
            )
        self.shape = tuple(
            count if each == self._output.batch else length for each, length in enumerate(self._output.shape)
        )

    @property
    def labels(self) -> Labels:
        """The dimension of the entries, and none of the others."""
        axes = [self._axis if each == self._output.batch else None for each in range(len(self.shape))]
        labels = Labels.of(self.sources[0], axes, self.shape, self._output.name)
        return replace(labels, name=self._output.name.replace("/", "_"), attrs={})

    def steps(self, memory: int) -> Iterator[Step]:
        """Run the model on as many entries as fit."""
        source, axis = self.sources[0], self._axis
        granule = list(source.shape)
        granule[axis] = self._batch or source.granule[axis]
        one = source.dtype.itemsize * _WITHIN
        sizes = lengths(source.shape, granule, [axis], lambda s: math.prod(s) * one, memory // 2)
        wanted = list(places(source.shape, sizes))
        for place, (block,) in zip(wanted, read_ahead([source], ([each] for each in wanted)), strict=True):
            start, stop = place[axis].start, place[axis].stop
            step = self._batch or max(stop - start, 1)
            cuts = [block[(slice(None),) * axis + (slice(at, at + step),)] for at in range(0, stop - start, step)]
            results = [np.asarray(self._prepared.run([cut])[self._output.number]) for cut in cuts]
            result = np.concatenate(results, self._output.batch) if results[1:] else results[0]
            out = tuple(
                slice(start, stop) if each == self._output.batch else slice(0, length)
                for each, length in enumerate(self.shape)
            )
            yield Step(block.nbytes, out, (result,))

    def lazy(self) -> tuple[Any, ...]:
        """Return the output."""
        from extremum.dask import run

        chunked = self.sources[0].chunked()
        sizes = {axis: -1 for axis in range(chunked.ndim) if axis != self._axis}
        if self._batch is not None:
            sizes[self._axis] = self._batch
        return (run(self._model, chunked.rechunk(sizes), self._axis, output=self._output.name),)
