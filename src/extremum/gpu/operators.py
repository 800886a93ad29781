"""The searches of tensors: which kernels run on which memory; within ``torch.compile`` each is an operator.

The plans decide about sizes. An array that has more dimensions than a kernel walks is copied first.

The operators are custom ones and not of ``torch.library.triton_op``, which puts the kernels themselves into the graph:
plans that see traced sizes would make a graph of each size, and the interpreter, which tests run, has no such kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import launch, processors
from extremum.gpu.operands import TYPES, bits_of, kind_of
from extremum.reductions import Ints

# The place of NaN: the best of all, the worst of all, or not there.
BEST, WORST, ABSENT = 1, -1, 0


def _dimensions(arrays: Sequence[torch.Tensor], axes: Sequence[int]) -> tuple[plans.Dimension, ...]:
    return tuple([(arrays[0].shape[axis], *[each.stride(axis) for each in arrays]) for axis in axes])


def _in_order(x: torch.Tensor, order: Sequence[int]) -> torch.Tensor:
    """Return a copy whose axes lie in memory in another order."""
    back = sorted(range(len(order)), key=order.__getitem__)
    return x.permute(*order).contiguous().permute(back)


def slices_of(arrays: list[torch.Tensor], axes: Ints) -> tuple[list[torch.Tensor], plans.Slices]:
    """Return arrays of one shape and how a kernel walks their slices; an array is copied if it has to be."""
    kept = [axis for axis in range(arrays[0].ndim) if axis not in axes]
    found = plans.slices(_dimensions(arrays, kept), _dimensions(arrays, axes))
    # A mask whose strides do not fit costs less to copy than the array, which comes first.
    for first in (1, 0):
        if found is None:
            arrays = [*arrays[:first], *[_in_order(each, [*kept, *axes]) for each in arrays[first:]]]
            found = plans.slices(_dimensions(arrays, kept), _dimensions(arrays, axes))
    assert found is not None
    return arrays, found


def reduce_tensor(
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


def ones_of(x: torch.Tensor, indices: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
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


def extremum_of(
    operands: Sequence[torch.Tensor], largest: bool, nan: int, where: torch.Tensor | None
) -> torch.Tensor:
    """Return the best of tensors of one type at each place, or the first of them where the mask is False."""
    first, *others = operands
    while len(others) >= plans.MOST_OPERANDS:
        best = extremum_of(others[: plans.MOST_OPERANDS], largest, nan, None)
        others = [best, *others[plans.MOST_OPERANDS :]]
    masks = [] if where is None else [where.view(torch.int8)]
    arrays = list(torch.broadcast_tensors(*masks, *map(bits_of, [first, *others])))
    result = torch.empty(arrays[-1].shape, dtype=first.dtype, device=first.device)
    if not result.numel():
        return result
    bits = bits_of(result)
    groups = plans.merged(_dimensions([bits, *arrays], range(bits.ndim)))
    if len(groups) > 2:
        arrays = [each.contiguous() for each in arrays]
        groups = plans.merged(_dimensions([bits, *arrays], range(bits.ndim)))
    single = (1, *(0,) * (1 + len(arrays)))
    outer, inner = [single, single, *groups][-2:]
    tile = min(plans.power(inner[0]), plans.TILE[bits.element_size()] // 2)
    kept = min(plans.power(outer[0]), plans.TILE[bits.element_size()] // 2 // tile)
    at = len(masks)
    launch(
        kernels.extremum,
        (-(-outer[0] // kept) * -(-inner[0] // tile), 1, 1),
        (
            *(tuple(arrays[at:]), arrays[0], bits, outer[0], inner[0]),
            *(outer[2 + at :], inner[2 + at :], outer[2], inner[2]),
        ),
        (*kind_of(first.dtype), largest, nan, bool(masks), kept, tile),
    )
    return result


def select_tensor(
    x: torch.Tensor, k: int, axis: int, largest: bool, nan: int, where: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and indices of the k best along an axis, in order; -1 where fewer elements take part."""
    order = [each for each in range(x.ndim) if each != axis] + [axis]
    n = x.shape[axis]
    shape = [x.shape[each] for each in order[:-1]]
    if k == 1:
        values, indices = reduce_tensor(x, (axis,), (largest,), False, nan, where, True, torch.int64)
        back = [*shape[:axis], 1, *shape[axis:]]
        return values.view(back), indices.view(back)
    total = math.prod(shape)
    values = torch.empty((total, k), dtype=x.dtype, device=x.device)
    indices = torch.empty((total, k), dtype=torch.int64, device=x.device)
    if values.numel():
        rows = _rows(bits_of(x).permute(order), total, n)
        mask = None if where is None else _rows(where.view(torch.int8).permute(order), total, n)
        _select_rows(rows.view(x.dtype), mask, (largest, nan), values, indices)
    back = [*range(axis), len(shape), *range(axis, len(shape))]
    return (
        values.reshape([*shape, k]).permute(back).contiguous(),
        indices.reshape([*shape, k]).permute(back).contiguous(),
    )


def _rows(x: torch.Tensor, total: int, n: int) -> torch.Tensor:
    """Return an array as rows whose elements are neighbours; it is copied if it has to be."""
    rows = x.reshape(total, n)
    return rows if rows.stride(1) == 1 or n == 1 else rows.contiguous()


def _select_rows(
    rows: torch.Tensor,
    where: torch.Tensor | None,
    end: tuple[bool, int],
    values: torch.Tensor | None,
    indices: torch.Tensor,
) -> None:
    """Write the k best of rows; without values, write the indices ascending.

    The best of each group of neighbours is found first. Only the k best groups can hold one of the k best elements,
    ties included, because the groups are in the order of their elements. Which groups these are is the same question
    of fewer elements.
    """
    total, n = rows.shape
    k = indices.shape[1]
    size = plans.group(n, k)
    if size == 0:
        _sort_rows(rows, where, end, values, indices)
        return
    leaders = indices
    count = n
    if size > 1:
        leaders = _leaders(rows, where, end, size, torch.empty_like(indices))
        count = k * size + n % size
    bits = bits_of(rows)
    mask = bits if where is None else where
    tile = plans.power(count)
    kept = max(1, min(plans.power(total), plans.SORTED[bits.element_size()] // tile))
    launch(
        kernels.select,
        (-(-total // kept), 1, 1),
        (
            *(bits, mask, leaders, indices, bits if values is None else bits_of(values)),
            *(total, count, n // size, k, bits.stride(0), mask.stride(0)),
        ),
        (*kind_of(rows.dtype), *end, where is not None, size, values is None, kept, tile, plans.power(k)),
    )


def _leaders(
    rows: torch.Tensor, where: torch.Tensor | None, end: tuple[bool, int], size: int, leaders: torch.Tensor
) -> torch.Tensor:
    """Write the numbers of the k groups whose best elements are the best, ascending."""
    total, n = rows.shape
    groups = n // size
    masks = None
    if where is not None:
        masks = where[:, : groups * size].unflatten(1, (groups, size)).view(torch.bool)
    elements = rows[:, : groups * size].unflatten(1, (groups, size))
    best, places = reduce_tensor(elements, (2,), (end[0],), False, end[1], masks, True, torch.int16)
    there = None if where is None else (places != -1).view(torch.int8).view(total, groups)
    _select_rows(best.view(total, groups), there, end, None, leaders)
    return leaders


def _sort_rows(
    rows: torch.Tensor,
    where: torch.Tensor | None,
    end: tuple[bool, int],
    values: torch.Tensor,
    indices: torch.Tensor,
) -> None:
    """Sort the keys of whole rows with PyTorch, whose stable sort keeps equal keys in order."""
    total, n = rows.shape
    bits = bits_of(rows)
    wide = torch.int64 if bits.element_size() == 8 else torch.int32
    keys = torch.empty((total, n), dtype=wide, device=rows.device)
    tile = min(plans.power(n), plans.TILE[bits.element_size()] // 2)
    launch(
        kernels.keys,
        (total * -(-n // tile), 1, 1),
        (bits, keys, n, bits.stride(0)),
        (*kind_of(rows.dtype), *end, tile),
    )
    order = torch.sort(keys, dim=1, descending=True, stable=True).indices
    if where is not None:
        # What takes part comes first, and stays in order.
        present = where.gather(1, order)
        places = torch.sort(present, dim=1, descending=True, stable=True)
        order = order.gather(1, places.indices).masked_fill_(places.values == 0, -1)
    chosen = order[:, : indices.shape[1]]
    indices.copy_(chosen)
    bits_of(values).copy_(bits.gather(1, chosen.clamp(min=0)))


reduce_operator = torch.library.custom_op(
    "extremum::reduce",
    reduce_tensor,
    mutates_args=(),
    schema="(Tensor x, int[] axes, bool[] ends, bool last, int nan, Tensor? where, bool with_values, "
    "ScalarType index) -> (Tensor, Tensor)",
)
select_operator = torch.library.custom_op(
    "extremum::select",
    select_tensor,
    mutates_args=(),
    schema="(Tensor x, int k, int axis, bool largest, int nan, Tensor? where) -> (Tensor, Tensor)",
)
ones_operator = torch.library.custom_op(
    "extremum::ones",
    ones_of,
    mutates_args=(),
    schema="(Tensor x, Tensor indices, int[] axes) -> Tensor",
)
extremum_operator = torch.library.custom_op(
    "extremum::extremum",
    extremum_of,
    mutates_args=(),
    schema="(Tensor[] operands, bool largest, int nan, Tensor? where) -> Tensor",
)


@reduce_operator.register_fake
def _(x, axes, ends, last, nan, where, with_values, index):  # type: ignore[no-untyped-def]
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    shape = (len(ends), total)
    return x.new_empty(shape if with_values else (len(ends), 0)), x.new_empty(shape, dtype=index)


@select_operator.register_fake
def _(x, k, axis, largest, nan, where):  # type: ignore[no-untyped-def]
    shape = [k if at == axis else size for at, size in enumerate(x.shape)]
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


@ones_operator.register_fake
def _(x, indices, axes):  # type: ignore[no-untyped-def]
    return x.new_empty(x.shape)


@extremum_operator.register_fake
def _(operands, largest, nan, where):  # type: ignore[no-untyped-def]
    masks = [] if where is None else [where]
    return operands[0].new_empty(torch.broadcast_shapes(*[each.shape for each in [*operands, *masks]]))
