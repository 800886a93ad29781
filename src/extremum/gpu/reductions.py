"""Reductions of tensors: the best of each slice, and ones at the best.

The plans decide about sizes. An array that has more dimensions than a kernel walks is copied first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch, Scratch, processors_of
from extremum.gpu.memory import BITS, Layout, bits_of, dimensions, key_type
from extremum.gpu.operands import BEST, TYPES, kind_of
from extremum.gpu.operators import Results, Run, operator
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


def copied_first(run: Run, before: list[Layout], after: list[Layout]) -> Run:
    """Return what runs on copies of the arrays that have to lie in memory in another way."""
    if before == after:
        return run

    def copying(*memory: Any) -> None:
        arrays = [
            array if own == wanted else wanted.copy(array)
            for array, own, wanted in zip(memory, before, after, strict=False)
        ]
        run(*arrays, *memory[len(arrays) :])

    return copying


def _reduced(
    x: Any,
    where: Any,
    axes: Ints,
    ends: Any,
    last: Any,
    nan: Any,
    keepdims: bool,
    values: bool,
    index: torch.dtype,
) -> Results:
    if keepdims:
        shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    else:
        shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
    if len(ends) > 1:
        shape = [len(ends), *shape]
    return [(shape, x.dtype) if values else None, (shape, index)]


@operator(
    "reduce(Tensor x, Tensor? where, int[] axes, bool[] ends, bool last, int nan, bool keepdims, bool values, "
    "ScalarType index) -> (Tensor, Tensor)",
    _reduced,
)
def reduce(
    results: list[Layout | None],
    x: Layout,
    where: Layout | None,
    axes: Ints,
    ends: tuple[bool, ...],
    last: bool,
    nan: int,
    keepdims: bool,
    values: bool,
    index: torch.dtype,
) -> Run:
    """Find the values and the indices of all slices for an end of the order, or for both, one after the other.

    An index is -1 where nothing takes part. An entry of `ends` is True for the largest.
    """
    if 0 in x.shape:
        return _nothing
    before = [x] if where is None else [x, where]
    after, layout = slices_of(before, axes)
    run = search(layout, x.dtype, ends, last, nan, where is not None, values, index, x.device)
    return copied_first(run, before, after)


def by_end(results: torch.Tensor | None, ends: int) -> Sequence[torch.Tensor | None]:
    """Return the results for each end of the order; None stays."""
    if results is None:
        return (None,) * ends
    return results.unbind() if ends > 1 else (results,)


def _nothing(x: Any, where: Any, values: torch.Tensor | None, indices: torch.Tensor) -> None:
    """Write the results of slices without elements."""
    if values is not None:
        bits_of(values).zero_()
    bits_of(indices).fill_(-1)


def search(
    layout: plans.Slices,
    dtype: torch.dtype,
    ends: tuple[bool, ...],
    last: bool,
    nan: int,
    masked: bool,
    with_values: bool,
    index: torch.dtype,
    device: torch.device,
) -> Run:
    """Return what writes the values and the indices of slices, in the order of the slices."""
    plan = plans.reduction(layout, dtype.itemsize, processors_of(device))
    kind, infinity = kind_of(dtype)
    total = layout.total
    # Without a mask its strides mean nothing.
    of_x = (layout.outer[1], layout.inner[1], layout.along[1])
    of_mask = (layout.outer[-1], layout.inner[-1], layout.along[-1])
    sizes = (layout.outer[0], layout.inner[0])
    order = (kind, infinity, ends, last, nan if kind == "float" else BEST)
    bits, key, own = BITS[dtype.itemsize], key_type(dtype), BITS[index.itemsize]
    first = Launch(
        kernels.reduce,
        device,
        (plan.blocks, plan.parts, 1),
        (bits, torch.int8, key, torch.int64, own, bits),
        (*sizes, layout.along[0], *of_x, *of_mask, *layout.slots, total, plan.length),
        (*order, masked, with_values, plan.parts > 1, plan.by_rows, plan.kept, plan.tile, plans.UNROLLED),
        plan.warps,
    )
    if plan.parts == 1:
        return lambda x, where, values, indices: first(x, where, None, None, indices, values)
    part = plans.power(plan.parts)
    kept = max(1, min(plans.power(total), plans.WRITTEN[4] // part))
    finish = Launch(
        kernels.finish,
        device,
        (-(-total // kept), len(ends), 1),
        (bits, key, torch.int64, own, bits),
        (*sizes, *of_x, *layout.slots, total, plan.parts),
        (last, with_values, kept, part),
    )
    parts = len(ends) * plan.parts * total
    scratch = Scratch((parts, key), (parts, torch.int64))

    def in_parts(x: Any, where: Any, values: Any, indices: Any) -> None:
        memory = scratch.allocate(device)
        keys, places = scratch.parts(memory)
        first(x, where, keys, places, indices, values)
        finish(x, keys, places, indices, values)

    return in_parts


@operator("ones(Tensor x, Tensor? indices, int[] axes) -> Tensor", lambda x, *_: [(x.shape, x.dtype)])
def ones(results: list[Layout], x: Layout, indices: Layout | None, axes: Ints) -> Run:
    """Write a 1 at the index of each slice and 0 elsewhere; an index of -1 gives no 1."""
    if 0 in x.shape:
        return lambda x, indices, result: None
    (own,), layout = slices_of(results, axes)
    plan = plans.reduction(layout, x.dtype.itemsize, processors_of(x.device))
    tile = max(plan.tile, min(plans.power(layout.along[0]), plans.WRITTEN[x.dtype.itemsize] // plan.kept))
    one = np.ones((), TYPES[x.dtype])
    launch = Launch(
        kernels.ones,
        x.device,
        (plan.blocks, min(-(-layout.along[0] // tile), plans.MOST_PARTS), 1),
        (BITS[x.dtype.itemsize], torch.int64),
        (
            *(layout.outer[0], layout.inner[0], layout.along[0]),
            *(layout.outer[1], layout.inner[1], layout.along[1], *layout.slots),
        ),
        (int(one.view(f"i{one.itemsize}")), plan.by_rows, plan.kept, tile),
    )
    if own == results[0]:
        return lambda x, indices, result: launch(result, indices)

    def in_order(x: Any, indices: Any, result: torch.Tensor) -> None:
        elements = own.allocate()
        launch(elements, indices)
        bits_of(result).copy_(bits_of(elements))

    return in_order
