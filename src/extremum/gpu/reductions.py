"""Reductions of tensors: the best of each slice, and ones at the best; within ``torch.compile`` each is an operator.

The plans decide about sizes. An array that has more dimensions than a kernel walks is copied first.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch, bits_of, key_type, processors_of
from extremum.gpu.operands import BEST, TYPES, dimensions, kind_of
from extremum.gpu.operators import operator
from extremum.reductions import Ints


def _in_order(x: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """Return a copy whose axes lie in memory in another order."""
    back = sorted(range(len(order)), key=order.__getitem__)
    return bits_of(x).permute(*order).contiguous().permute(back).view(x.dtype)


def slices_of(arrays: list[torch.Tensor], axes: Ints) -> tuple[list[torch.Tensor], plans.Slices]:
    """Return arrays of one shape and how a kernel walks their slices; an array is copied if it has to be."""
    kept = [axis for axis in range(arrays[0].ndim) if axis not in axes]
    found = plans.slices(dimensions(arrays, kept), dimensions(arrays, axes))
    # A mask whose strides do not fit costs less to copy than the array, which comes first.
    for first in (1, 0):
        if found is None:
            arrays = [*arrays[:first], *[_in_order(each, [*kept, *axes]) for each in arrays[first:]]]
            found = plans.slices(dimensions(arrays, kept), dimensions(arrays, axes))
    assert found is not None
    return arrays, found


def _reduced(x, axes, ends, last, nan, where, with_values, index):  # type: ignore[no-untyped-def]
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    shape = (len(ends), total)
    return x.new_empty(shape if with_values else (len(ends), 0)), x.new_empty(shape, dtype=index)


@operator(
    "reduce(Tensor x, int[] axes, bool[] ends, bool last, int nan, Tensor? where, bool with_values, "
    "ScalarType index) -> (Tensor, Tensor)",
    _reduced,
)
def reduce(
    x: torch.Tensor,
    axes: Sequence[int],
    ends: Sequence[bool],
    last: bool,
    nan: int,
    where: torch.Tensor | None,
    with_values: bool,
    index: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and the indices of all slices for each end of the order: a row an end.

    An index is -1 where nothing takes part. An entry of `ends` is True for the largest.
    """
    length = math.prod(x.shape[axis] for axis in axes)
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    values = torch.empty((len(ends), total if with_values else 0), dtype=x.dtype, device=x.device)
    indices = torch.empty((len(ends), total), dtype=index, device=x.device)
    if not total or not length:
        bits_of(values).zero_()
        bits_of(indices).fill_(-1)
        return values, indices
    arrays, layout = slices_of([x] if where is None else [x, where], tuple(axes))
    masked = where is not None
    processors = processors_of(x.device)
    how = prepared(layout, x.dtype, tuple(ends), last, nan, masked, with_values, index, processors)
    run(how, arrays[0], arrays[1] if masked else None, values if with_values else None, indices)
    return values, indices


class Prepared(NamedTuple):
    """The launches of a reduction of arrays of one layout: all but the memory."""

    first: Launch
    # The best of the parts, if a slice has several, and how many parts all slices have for all ends.
    finish: Launch | None
    parts: int


@functools.lru_cache(maxsize=4096)
def prepared(
    layout: plans.Slices,
    dtype: torch.dtype,
    ends: tuple[bool, ...],
    last: bool,
    nan: int,
    masked: bool,
    with_values: bool,
    index: torch.dtype,
    processors: int,
) -> Prepared:
    """Return the launches of a reduction whose indices have the type `index`."""
    plan = plans.reduction(layout, dtype.itemsize, processors)
    kind, infinity = kind_of(dtype)
    total = layout.total
    # Without a mask its strides mean nothing.
    of_x = (layout.outer[1], layout.inner[1], layout.along[1])
    of_mask = (layout.outer[-1], layout.inner[-1], layout.along[-1])
    sizes = (layout.outer[0], layout.inner[0])
    order = (kind, infinity, ends, last, nan if kind == "float" else BEST)
    first = Launch(
        kernels.reduce,
        (plan.blocks, plan.parts, 1),
        (*sizes, layout.along[0], *of_x, *of_mask, *layout.slots, total, plan.length),
        (*order, masked, with_values, plan.parts > 1, plan.by_rows, plan.kept, plan.tile, plans.UNROLLED),
        plan.warps,
    )
    if plan.parts == 1:
        return Prepared(first, None, 0)
    part = plans.power(plan.parts)
    kept = max(1, min(plans.power(total), plans.WRITTEN[4] // part))
    finish = Launch(
        kernels.finish,
        (-(-total // kept), len(ends), 1),
        (*sizes, *of_x, *layout.slots, total, plan.parts),
        (last, with_values, kept, part),
    )
    return Prepared(first, finish, len(ends) * plan.parts * total)


def run(
    how: Prepared,
    x: torch.Tensor,
    where: torch.Tensor | None,
    values: torch.Tensor | None,
    indices: torch.Tensor,
) -> None:
    """Write the values, if they are wanted, and the indices of a reduction; the results are contiguous."""
    if how.finish is None:
        how.first(x, where, None, None, indices, values)
        return
    keys = torch.empty(how.parts, dtype=key_type(x.dtype), device=x.device)
    places = torch.empty(how.parts, dtype=torch.int64, device=x.device)
    how.first(x, where, keys, places, indices, values)
    how.finish(x, keys, places, indices, values)


def prepared_for(
    x: torch.Tensor, axes: Ints, ends: tuple[bool, ...], last: bool, values: bool, index: torch.dtype
) -> Prepared | None:
    """Return the launches of a reduction of the whole of an array, None if the array has to be copied first."""
    (own,), layout = slices_of([x], axes)
    if own is not x:
        return None
    return prepared(layout, x.dtype, ends, last, BEST, False, values, index, processors_of(x.device))


@operator("ones(Tensor x, Tensor indices, int[] axes) -> Tensor", lambda x, *given: x.new_empty(x.shape))
def ones(x: torch.Tensor, indices: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """Return an array like `x` with a 1 at the index of each slice and 0 elsewhere; an index of -1 gives no 1."""
    result = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not result.numel():
        return result
    (own,), layout = slices_of([result], tuple(axes))
    launch_of_ones(layout, x.dtype, processors_of(x.device))(own, indices)
    if own is not result:
        bits_of(result).copy_(bits_of(own))
    return result


@functools.lru_cache(maxsize=4096)
def launch_of_ones(layout: plans.Slices, dtype: torch.dtype, processors: int) -> Launch:
    """Return the launch that writes ones into an array of one layout."""
    plan = plans.reduction(layout, dtype.itemsize, processors)
    tile = max(plan.tile, min(plans.power(layout.along[0]), plans.WRITTEN[dtype.itemsize] // plan.kept))
    one = np.ones((), TYPES[dtype])
    return Launch(
        kernels.ones,
        (plan.blocks, min(-(-layout.along[0] // tile), plans.MOST_PARTS), 1),
        (
            *(layout.outer[0], layout.inner[0], layout.along[0]),
            *(layout.outer[1], layout.inner[1], layout.along[1], *layout.slots),
        ),
        (int(one.view(f"i{one.itemsize}")), plan.by_rows, plan.kept, tile),
    )
