"""What a model does to a batch: the outputs for any number of entries, learned from runs on zeros."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.backend.prepared import PreparedModel
from extremum.errors import ArgumentError, InputError, ModelError
from extremum.graph.types import declared_inputs


@dataclass(frozen=True, slots=True)
class BatchOutput:
    """An output: its number in the model, its name, its batch axis, its shape for some batch size, its type."""

    number: int
    name: str
    batch: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def batch_outputs(
    model: PreparedModel, x: Any, axis: int, sizes: Sequence[int], one: str | None
) -> list[BatchOutput]:
    """Run a model on zeros to learn shapes and types of its outputs, or of output `one`, for batches of `x`."""
    shape = x.shape
    inputs = [each for each in declared_inputs(model.loaded.proto) if not each.optional]
    if len(inputs) != 1:
        raise ModelError(
            f"run: the model has {len(inputs)} inputs",
            remedy="pass a model with one input; make the others constants",
        )
    (declared,) = inputs
    own = None
    if declared.shape is not None and len(declared.shape) == len(shape):
        own = declared.shape[axis]
    # An unknown size (NaN) is checked when the model runs.
    if isinstance(own, int) and not {size for size in sizes if size == size} <= {own}:
        raise ArgumentError(
            f"run: the model takes {own} entries at a time, and the chunks along axis {axis} have others",
            given=f"chunks of {', '.join(map(str, sorted(set(sizes))[:5]))}",
            remedy=f"cut the array into chunks of {own}, or make that dimension of the model symbolic",
        )
    names = [output.name for output in model.loaded.proto.graph.output]
    if one not in (None, *names):
        raise ArgumentError(f"run: the model has no output {one!r}", remedy=f"name one of {', '.join(names)}")
    # If the model takes any size, the axis that differs between two runs is that of the batch.
    batches = [own] if isinstance(own, int) else [2, 3]
    runs = []
    for size in batches:
        zeros = np.zeros((*shape[:axis], size, *shape[axis + 1 :]), x.dtype)
        try:
            runs.append(model.run({declared.name: zeros}))
        except InputError as error:
            # The error describes the zeros, but the user passed another array.
            raise InputError(
                error.reason,
                where=error.where,
                given=f"{declared.name}: {x.dtype.name}[{', '.join(map(str, shape))}]",
                remedy=error.remedy,
            ) from None
    arrays_of_outputs = zip(*runs, strict=True)
    return [
        _output(number, name, axis, batches, arrays)
        for number, (name, arrays) in enumerate(zip(names, arrays_of_outputs, strict=True))
        if one in (None, name)
    ]


def _output(
    number: int, name: str, axis: int, sizes: list[int], arrays: tuple[NDArray[Any], ...]
) -> BatchOutput:
    """Return what an output is, from its arrays for batches of `sizes` entries."""
    if not isinstance(arrays[0], np.ndarray | np.generic):
        raise ArgumentError(
            f"run: output {name!r} is not a tensor",
            given=f"a {type(arrays[0]).__name__}",
            remedy="name an output that is a tensor, or pass a model that has no others",
        )
    shapes = [np.shape(each) for each in arrays]
    axes = [each for each, lengths in enumerate(zip(*shapes, strict=False)) if list(lengths) == sizes]
    if not sizes[1:]:
        # With only one batch size, other axes may have the same size by chance.
        axes = [axis] if axis in axes else []
    if len(axes) != 1 or len({len(shape) for shape in shapes}) > 1:
        raise ArgumentError(
            f"run: output {name!r} has no axis for the entries of the batch",
            given=" and ".join(
                f"{list(shape)} for {size}" for shape, size in zip(shapes, sizes, strict=True)
            ),
            remedy="name an output that has one entry for each of the batch, or pass a model that has no others",
        )
    # The zeros do not show how long the text of other entries is.
    dtype = np.dtype(object) if arrays[0].dtype.kind in "SUT" else arrays[0].dtype
    return BatchOutput(number, name, axes[0], shapes[0], dtype)
