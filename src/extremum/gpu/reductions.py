"""Reductions of tensors: the best of each slice, and ones at the best.

The plans decide about sizes. An array that has more dimensions than a kernel walks is copied first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch, Scratch, processors_of
from extremum.gpu.memory import Layout, bits_of, dimensions, key_type
from extremum.gpu.operands import BEST, TYPES, kind_of
from extremum.gpu.operators import Plan, Results, Run, operator
from extremum.reductions import Ints


def slices_of(arrays: list[Layout], axes: Ints) -> tuple[list[Layout], plans.Slices]:
    """Return how a kernel walks the slices of arrays of one shape, and how the arrays lie in memory then."""
    kept = [axis for axis in range(len(arrays[0].shape)) if axis not in axes]
    found = plans.slices(dimensions(arrays, kept), dimensions(arrays, axes))
    # A mask whose strides do not fit costs less to copy than the array, which comes first.
    for first in (1, 0):
        if found is None:
            arrays = [*arrays[:first], *[each.in_order([*kept, *axes]) for each in arrays[first:]]]
            found = plans.slices(dimensions(arrays, kept), dimensions(arrays, axes))
    assert found is not None
    return arrays, found


class Search(NamedTuple):
    """What is searched in an array: over which axes, at which ends of the order, and what comes out."""

    axes: Ints
    # True for the largest. The results for both ends come one after the other.
    ends: tuple[bool, ...]
    # The place of NaN.
    nan: int = BEST
    # Whether the last of equal elements wins.
    last: bool = False
    keepdims: bool = True
    # Whether the elements are wanted, and not only their indices.
    values: bool = True
    index: torch.dtype = torch.int64


def _found(arrays: Any, *options: Any) -> Results:
    x = arrays[0]
    search = Search(*options)
    if search.keepdims:
        shape = [1 if axis in search.axes else size for axis, size in enumerate(x.shape)]
    else:
        shape = [size for axis, size in enumerate(x.shape) if axis not in search.axes]
    if len(search.ends) > 1:
        shape = [len(search.ends), *shape]
    return [(shape, x.dtype) if search.values else None, (shape, search.index)]


@operator(
    "reduce(int[] axes, bool[] ends, int nan, bool last, bool keepdims, bool values, ScalarType index)",
    _found,
)
def reduce(results: list[Layout | None], arrays: tuple[Layout, Layout | None], *options: Any) -> Plan:
    """Find the values and the indices of all slices, as a :class:`Search` says; -1 where nothing takes part.

    The arrays are the elements and a mask.
    """
    x, where = arrays
    if 0 in x.shape:
        return _nothing, [x, where, *results]
    search = Search(*options)
    (own, *mask), layout = slices_of([x] if where is None else [x, where], search.axes)
    wanted = [own, mask[0] if mask else None, *results]
    return searching(layout, x.dtype, where is not None, search, x.device), wanted


def _nothing(x: Any, where: Any, values: torch.Tensor | None, indices: torch.Tensor) -> None:
    """Write the results of slices without elements."""
    if values is not None:
        bits_of(values).zero_()
    bits_of(indices).fill_(-1)


def searching(
    layout: plans.Slices, dtype: torch.dtype, masked: bool, search: Search, device: torch.device
) -> Run:
    """Return what writes the values and the indices of slices, in the order of the slices."""
    plan = plans.reduction(layout, dtype.itemsize, processors_of(device))
    kind, infinity = kind_of(dtype)
    total = layout.total
    # Without a mask its strides mean nothing.
    of_x = (layout.outer[1], layout.inner[1], layout.along[1])
    of_mask = (layout.outer[-1], layout.inner[-1], layout.along[-1])
    sizes = (layout.outer[0], layout.inner[0])
    order = (kind, infinity, search.ends, search.last, search.nan if kind == "float" else BEST)
    first = Launch(
        kernels.reduce,
        device,
        (plan.blocks, plan.parts, 1),
        (*sizes, layout.along[0], *of_x, *of_mask, *layout.slots, total, plan.length),
        (*order, masked, search.values, plan.parts > 1, layout.by_rows, plan.kept, plan.tile, plans.UNROLLED),
        plan.warps,
    )
    if plan.parts == 1:
        return lambda x, where, values, indices: first(x, where, None, None, indices, values)
    part = plans.power(plan.parts)
    kept = max(1, min(plans.power(total), plans.WRITTEN[4] // part))
    finish = Launch(
        kernels.finish,
        device,
        (-(-total // kept), len(search.ends), 1),
        (*sizes, *of_x, *layout.slots, total, plan.parts),
        (search.last, search.values, kept, part),
    )
    parts = len(search.ends) * plan.parts * total
    scratch = Scratch(device, (parts, key_type(dtype)), (parts, torch.int64))

    def in_parts(x: Any, where: Any, values: Any, indices: Any) -> None:
        keys, places = scratch.allocate()
        first(x, where, keys, places, indices, values)
        finish(x, keys, places, indices, values)

    return in_parts


@operator("ones(int[] axes)", lambda arrays, axes: [(arrays[0].shape, arrays[0].dtype)])
def ones(results: list[Layout], arrays: tuple[Layout, Layout], axes: Ints) -> Plan:
    """Write a 1 at the index of each slice and 0 elsewhere; an index of -1 gives no 1.

    The arrays are one with the shape and the type of the result, and the indices.
    """
    x, indices = arrays
    (own,), layout = slices_of(results, axes)
    plan = plans.reduction(layout, x.dtype.itemsize, processors_of(x.device))
    tile = max(plan.tile, min(plans.power(layout.along[0]), plans.WRITTEN[x.dtype.itemsize] // plan.kept))
    one = np.ones((), TYPES[x.dtype])
    launch = Launch(
        kernels.ones,
        x.device,
        (plan.blocks, min(-(-layout.along[0] // tile), plans.MOST_PARTS), 1),
        (
            *(layout.outer[0], layout.inner[0], layout.along[0]),
            *(layout.outer[1], layout.inner[1], layout.along[1], *layout.slots),
        ),
        (int(one.view(f"i{one.itemsize}")), layout.by_rows, plan.kept, tile),
    )
    return lambda x, indices, result: launch(result, indices), [x, indices, own]
