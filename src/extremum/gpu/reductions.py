"""Reductions of tensors: the best of each slice, and ones at the best; within ``torch.compile`` each is an operator.

The plans decide about sizes. An array that has more dimensions than a kernel walks is copied first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import launch, processors
from extremum.gpu.operands import BEST, TYPES, bits_of, dimensions, kind_of
from extremum.gpu.operators import operator
from extremum.reductions import Ints


def _in_order(x: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """Return a copy whose axes lie in memory in another order."""
    back = sorted(range(len(order)), key=order.__getitem__)
    return x.permute(*order).contiguous().permute(back)


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
    kind, infinity = kind_of(x.dtype)
    bits = bits_of(x)
    length = math.prod(x.shape[axis] for axis in axes)
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    values = torch.empty((len(ends), total if with_values else 0), dtype=bits.dtype, device=x.device)
    indices = torch.empty((len(ends), total), dtype=index, device=x.device)
    places = bits_of(indices)
    if not total or not length:
        return values.zero_().view(x.dtype), places.fill_(-1).view(index)
    arrays, layout = slices_of([bits] if where is None else [bits, where.view(torch.int8)], tuple(axes))
    plan = plans.reduction(layout, x.element_size(), processors(x.device))
    keys = starts = places
    if plan.parts > 1:
        wide = torch.int64 if x.element_size() == 8 else torch.int32
        keys = torch.empty(len(ends) * plan.parts * total, dtype=wide, device=x.device)
        starts = torch.empty(len(ends) * plan.parts * total, dtype=torch.int64, device=x.device)
    # Without a mask its strides mean nothing.
    strides = [(each[1], each[-1]) for each in (layout.outer, layout.inner, layout.along)]
    (outer_x, outer_mask), (inner_x, inner_mask), (along_x, along_mask) = strides
    launch(
        kernels.reduce,
        (plan.blocks, plan.parts, 1),
        (
            *(arrays[0], arrays[-1], keys, starts, places, values if with_values else bits),
            *(layout.outer[0], layout.inner[0], length),
            *(outer_x, inner_x, along_x, outer_mask, inner_mask, along_mask),
            *(*layout.slots, total, plan.length),
        ),
        (
            *(
                kind,
                infinity,
                tuple(ends),
                last,
                nan if kind == "float" else BEST,
                where is not None,
                with_values,
            ),
            *(plan.parts > 1, plan.by_rows, plan.kept, plan.tile),
        ),
    )
    if plan.parts > 1:
        tile = plans.power(plan.parts)
        kept = max(1, min(plans.power(total), plans.TILE[4] // tile))
        launch(
            kernels.finish,
            (-(-total // kept), len(ends), 1),
            (
                *(arrays[0], keys, starts, places, values if with_values else bits),
                *(layout.outer[0], layout.inner[0], outer_x, inner_x, along_x),
                *(*layout.slots, total, plan.parts),
            ),
            (last, with_values, kept, tile),
        )
    return values.view(x.dtype), indices


@operator("ones(Tensor x, Tensor indices, int[] axes) -> Tensor", lambda x, *given: x.new_empty(x.shape))
def ones(x: torch.Tensor, indices: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
    """Return an array like `x` with a 1 at the index of each slice and 0 elsewhere; an index of -1 gives no 1."""
    result = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if not result.numel():
        return result
    bits = bits_of(result)
    (own,), layout = slices_of([bits], tuple(axes))
    plan = plans.reduction(layout, x.element_size(), processors(x.device))
    one = np.ones((), TYPES[x.dtype])
    launch(
        kernels.ones,
        (plan.blocks, min(-(-layout.along[0] // plan.tile), plans.MOST_PARTS), 1),
        (
            *(indices, own, layout.outer[0], layout.inner[0], layout.along[0]),
            *(layout.outer[1], layout.inner[1], layout.along[1], *layout.slots),
        ),
        (int(one.view(f"i{one.itemsize}")), plan.by_rows, plan.kept, plan.tile),
    )
    if own is not bits:
        bits.copy_(own)
    return result
