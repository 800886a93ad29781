"""Finds the axis of each output of a model along which the entries of a batch lie.

It runs the model on a few zeros and takes the axis that grows with the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.backend import PreparedModel
from extremum.errors import ArgumentError, InputError, ModelError
from extremum.graph.types import declared_inputs


@dataclass(frozen=True, slots=True)
class Output:
    """An output: which of the model's it is, its axis of the batch, its shape for a batch of any size, its type."""

    number: int
    name: str
    batch: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def outputs(
    prepared: PreparedModel,
    shape: Sequence[int],
    dtype: np.dtype[Any],
    axis: int,
    sizes: Sequence[int],
    only: str | None,
) -> list[Output]:
    """Find out what the outputs of a model are like, or one, whose input comes in batches of these sizes."""
    inputs = [each for each in declared_inputs(prepared.loaded.proto) if not each.optional]
    if len(inputs) != 1:
        reason = f"run: the model has {len(inputs)} inputs"
        raise ModelError(reason, remedy="pass a model with one input; make the others constants")
    declared = inputs[0].shape
    own = declared[axis] if declared is not None and len(declared) == len(shape) else None
    # An unknown size (NaN) is checked when the model runs.
    if isinstance(own, int) and not {size for size in sizes if size == size} <= {own}:
        reason = f"run: the model takes {own} entries at a time, and the chunks along axis {axis} have others"
        remedy = f"cut the array into chunks of {own}, or make that dimension of the model symbolic"
        raise ArgumentError(reason, given=f"chunks of {', '.join(map(str, sorted(set(sizes))[:5]))}", remedy=remedy)
    names = [output.name for output in prepared.loaded.proto.graph.output]
    if only not in (None, *names):
        raise ArgumentError(f"run: the model has no output {only!r}", remedy=f"name one of {', '.join(names)}")
    batches = [own] if isinstance(own, int) else [2, 3]
    runs = []
    for size in batches:
        zeros = np.zeros([size if each == axis else length for each, length in enumerate(shape)], dtype)
        try:
            runs.append(prepared.run({inputs[0].name: zeros}))
        except InputError as error:
            # It says what the zeros are like, and the reader has given another array.
            given = f"{inputs[0].name}: {dtype.name}[{', '.join(map(str, shape))}]"
            raise InputError(error.reason, where=error.where, given=given, remedy=error.remedy) from None
    every = enumerate(zip(names, zip(*runs, strict=True), strict=True))
    return [_grown(at, name, axis, batches, found) for at, (name, found) in every if only in (None, name)]


def _grown(number: int, name: str, axis: int, sizes: list[int], found: tuple[NDArray[Any], ...]) -> Output:
    if not isinstance(found[0], np.ndarray | np.generic):
        remedy = "name an output that is a tensor, or pass a model that has no others"
        raise ArgumentError(f"run: output {name!r} is no tensor", given=f"a {type(found[0]).__name__}", remedy=remedy)
    shapes = [np.shape(each) for each in found]
    axes = [each for each, lengths in enumerate(zip(*shapes, strict=False)) if list(lengths) == sizes]
    if not sizes[1:]:
        # Of a batch of one size it is not known what else has that size.
        axes = [axis] if axis in axes else []
    if len(axes) != 1 or len({len(shape) for shape in shapes}) > 1:
        reason = f"run: output {name!r} has no axis for the entries of the batch"
        given = " and ".join(f"{list(shape)} for {size}" for shape, size in zip(shapes, sizes, strict=True))
        remedy = "name an output that has one entry for each of the batch, or pass a model that has no others"
        raise ArgumentError(reason, given=given, remedy=remedy)
    # How long the text of other entries is, these do not say.
    dtype = np.dtype(object) if found[0].dtype.kind in "SUT" else found[0].dtype
    return Output(number, name, axes[0], shapes[0], dtype)
