"""What a call needs to know of arrays in chunks before it reads elements: sizes, element types, masks.

Chunks of unknown size are refused where an index or a broadcast depends on the size; elsewhere the tasks compare the
sizes once they know them.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable, Sequence
from typing import Any

import dask.array as da
import numpy as np

from extremum import reductions
from extremum.arrays import class_name
from extremum.errors import ArgumentError, ArgumentTypeError, within
from extremum.groups import refuse_groups
from extremum.interop import as_operand


def require_chunked(function: str, x: Any, out: Any = None) -> None:
    """Refuse anything but a Dask array, and an array to write to."""
    if not isinstance(x, da.Array):
        refuse_groups(function, x)
        if function == "run":
            at_once = "extremum.backend.run_model"
        else:
            at_once = f"extremum.{function}"
        raise ArgumentTypeError(
            f"{function}: {class_name(x)} is not a Dask array",
            remedy=f"pass dask.array.from_array(x, chunks=...), or call {at_once}",
        )
    if out is not None:
        raise ArgumentError(
            f"{function}: out cannot receive a result that is computed later",
            remedy="omit out, and pass the result to dask.array.store",
        )


def unknown_axes(x: Any) -> tuple[int, ...]:
    """Return the axes along which chunks have unknown sizes."""
    return tuple(axis for axis, sizes in enumerate(x.chunks) if any(map(math.isnan, sizes)))


def require_known(function: str, x: Any, axes: Iterable[int] | None = None) -> None:
    """Refuse chunks of unknown size along some axes, or along any: an index counts from the start of its chunk."""
    for axis in unknown_axes(x):
        if axes is None or axis in axes:
            raise ArgumentError(
                f"{function}: the sizes of the chunks along axis {axis} are not known",
                given=f"dask array of {x.dtype} with {x.numblocks} chunks",
                remedy="call x.compute_chunk_sizes() first",
            )


def probe_shape(x: Any) -> tuple[int, ...]:
    """Return the shape of an array with 2 for each unknown length, which broadcasts as that length does."""
    return tuple(2 if math.isnan(length) else length for length in x.shape)


def element_type(function: str, x: Any) -> np.dtype[Any]:
    """Return the element type of an array, or refuse its library."""
    with within(function):
        return as_operand(getattr(x, "_meta", x)).array.dtype


def align_mask(function: str, where: Any, x: Any) -> Any:
    """Return a mask that has the chunks of its array along each axis, or one chunk of length 1."""
    if not isinstance(where, da.Array):
        where = da.asarray(reductions.as_mask(function, where))
    unknown = sharing_unknown(function, [x, where], x.ndim)
    probe = np.broadcast_to(np.zeros((), where.dtype), probe_shape(where))
    reductions.as_mask(function, probe, probe_shape(x))
    chunks = dict(enumerate(x.chunks[x.ndim - where.ndim :]))
    axes = [axis for axis in chunks if axis + x.ndim - where.ndim not in unknown]
    return where.rechunk({axis: (1,) if where.shape[axis] == 1 else chunks[axis] for axis in axes})


def require_equal(function: str, unknown: dict[int, list[int]], blocks: Sequence[Any]) -> None:
    """Refuse chunks of unknown size that turn out to have different lengths: a length of 1 would be broadcast."""
    rank = builtins.max(map(np.ndim, blocks))
    for axis, sharing in unknown.items():
        lengths = [blocks[at].shape[axis - rank] for at in sharing]
        if len(set(lengths)) > 1:
            words = " and ".join(map(str, lengths))
            raise ArgumentError(
                f"{function}: chunks of unknown size that meet along axis {axis} have {words} elements",
                remedy="call compute_chunk_sizes() of each array first",
            )


def sharing_unknown(function: str, arrays: Sequence[Any], rank: int) -> dict[int, list[int]]:
    """Return each axis of unknown length with the operands that share it; refuse operands that cannot be matched."""
    by_axis: dict[int, list[int]] = {}
    operands = {at: x for at, x in enumerate(arrays) if hasattr(x, "ndim")}
    for axis in range(rank):
        sharing = {at: x for at, x in operands.items() if axis >= rank - x.ndim and x.shape[axis - rank] != 1}
        cut = [
            x for x in sharing.values() if isinstance(x, da.Array) and axis - rank + x.ndim in unknown_axes(x)
        ]
        if not cut:
            continue
        if len(cut) < len(sharing) or len({x.numblocks[axis - rank] for x in cut}) > 1:
            require_known(function, cut[0], (axis - rank + cut[0].ndim,))
        by_axis[axis] = list(sharing)
    return by_axis
