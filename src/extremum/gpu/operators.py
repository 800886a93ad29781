"""The searches of tensors: which kernels run on which memory; within ``torch.compile`` each is an operator.

The plans decide about sizes. An array that has more dimensions than a kernel walks is copied first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import launch, processors
from extremum.gpu.operands import BITS, bits_of, kind_of
from extremum.reductions import Ints


def _dimensions(arrays: Sequence[torch.Tensor], axes: Sequence[int]) -> tuple[plans.Dimension, ...]:
    return tuple([(arrays[0].shape[axis], *[each.stride(axis) for each in arrays]) for axis in axes])


def slices_of(arrays: list[torch.Tensor], axes: Ints) -> tuple[list[torch.Tensor], plans.Slices]:
    """Return arrays of one shape and how a kernel walks their slices; an array is copied if it has to be."""
    kept = [axis for axis in range(arrays[0].ndim) if axis not in axes]
    found = plans.slices(_dimensions(arrays, kept), _dimensions(arrays, axes))
    # A mask whose strides do not fit costs less to copy than the array, which comes first.
    for first in (1, 0):
        if found is None:
            order = [*kept, *axes]
            back = sorted(range(len(order)), key=order.__getitem__)
            copies = [each.permute(order).contiguous().permute(back) for each in arrays[first:]]
            arrays = [*arrays[:first], *copies]
            found = plans.slices(_dimensions(arrays, kept), _dimensions(arrays, axes))
    assert found is not None
    return arrays, found


def reduce_tensor(
    x: torch.Tensor,
    axes: Ints,
    largest: bool,
    last: bool,
    omit: bool,
    where: torch.Tensor | None,
    with_values: bool,
    index: torch.dtype,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and the indices of the slices, one after the other; an index is -1 where nothing takes part."""
    kind, infinity = kind_of(x.dtype)
    bits = bits_of(x)
    length = math.prod(x.shape[axis] for axis in axes)
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    values = torch.empty(total if with_values else 0, dtype=bits.dtype, device=x.device)
    indices = torch.empty(total, dtype=index, device=x.device)
    places = bits_of(indices)
    if not total or not length:
        return values.zero_().view(x.dtype), places.fill_(-1).view(index)
    arrays, layout = slices_of([bits] if where is None else [bits, where.view(torch.int8)], axes)
    plan = plans.reduction(layout, x.element_size(), processors(x.device))
    keys = starts = places
    if plan.parts > 1:
        wide = torch.int64 if x.element_size() == 8 else torch.int32
        keys = torch.empty(plan.parts * total, dtype=wide, device=x.device)
        starts = torch.empty(plan.parts * total, dtype=torch.int64, device=x.device)
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
            *(kind, infinity, largest, last, omit and kind == "float", where is not None, with_values),
            *(plan.parts > 1, plan.by_rows, plan.kept, plan.tile),
        ),
    )
    if plan.parts > 1:
        tile = plans.power(plan.parts)
        kept = max(1, min(plans.power(total), plans.TILE[4] // tile))
        launch(
            kernels.finish,
            (-(-total // kept), 1, 1),
            (
                *(arrays[0], keys, starts, places, values if with_values else bits),
                *(layout.outer[0], layout.inner[0], outer_x, inner_x, along_x),
                *(*layout.slots, total, plan.parts),
            ),
            (last, with_values, kept, tile),
        )
    return values.view(x.dtype), indices


def pair_of(x: torch.Tensor, y: torch.Tensor, largest: bool, omit: bool) -> torch.Tensor:
    """Return the better of two elements at each place of two tensors of one type."""
    shape = torch.broadcast_shapes(x.shape, y.shape)
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    if not result.numel():
        return result
    own, other = (bits_of(each).expand(shape) for each in (x, y))
    groups = plans.merged(_dimensions([own, other, result], range(len(shape))))
    if len(groups) > 2:
        own, other = own.contiguous(), other.contiguous()
        groups = plans.merged(_dimensions([own, other, result], range(len(shape))))
    single: plans.Dimension = (1, 0, 0, 0)
    outer, inner = [single, single, *groups][-2:]
    tile = min(plans.power(inner[0]), plans.TILE[x.element_size()] // 2)
    launch(
        kernels.pair,
        (outer[0] * -(-inner[0] // tile), 1, 1),
        (own, other, bits_of(result), inner[0], outer[1], inner[1], outer[2], inner[2]),
        (*kind_of(x.dtype), largest, -1 if omit else 1, tile),
    )
    return result


def select_tensor(
    x: torch.Tensor, k: int, axis: int, largest: bool, nan_first: bool, where: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and indices of the k best along an axis, in order; -1 where fewer elements take part."""
    order = [each for each in range(x.ndim) if each != axis] + [axis]
    n = x.shape[axis]
    shape = [x.shape[each] for each in order[:-1]]
    total = math.prod(shape)
    values = torch.empty((total, k), dtype=BITS[x.element_size()], device=x.device)
    indices = torch.empty((total, k), dtype=torch.int64, device=x.device)
    if values.numel():
        rows = _rows(bits_of(x).permute(order), total, n)
        masks = None if where is None else _rows(where.view(torch.int8).permute(order), total, n)
        _select_rows(rows, masks, kind_of(x.dtype), (largest, 1 if nan_first else -1), values, indices)
    back = [*range(axis), len(shape), *range(axis, len(shape))]
    return (
        values.view(x.dtype).reshape([*shape, k]).permute(back).contiguous(),
        indices.reshape([*shape, k]).permute(back).contiguous(),
    )


def _rows(x: torch.Tensor, total: int, n: int) -> torch.Tensor:
    """Return an array as rows whose elements are neighbours; it is copied if it has to be."""
    rows = x.reshape(total, n)
    return rows if rows.stride(1) == 1 or n == 1 else rows.contiguous()


def _select_rows(
    rows: torch.Tensor,
    where: torch.Tensor | None,
    kind: tuple[str, int],
    end: tuple[bool, int],
    values: torch.Tensor,
    indices: torch.Tensor,
) -> None:
    total, n = rows.shape
    k = values.shape[1]
    plan = plans.selection(total, n, k, rows.element_size(), processors(rows.device))
    if plan is None:
        _sort_rows(rows, where, kind, end, values, indices)
        return
    mask = rows if where is None else where
    strides = (rows.stride(0), mask.stride(0))
    how = (*kind, *end, where is not None)
    results = (indices, values)
    if plan.parts == 1 and plan.kept:
        launch(
            kernels.short_rows,
            (-(-total // plan.kept), 1, 1),
            (rows, mask, indices, *results, total, n, k, *strides),
            (*how, False, plan.kept, plans.power(n), plan.power),
        )
        return
    lanes = torch.empty((total * plan.parts, plans.LANES), dtype=torch.int64, device=rows.device)
    launch(
        kernels.delegates,
        (total * plan.parts, plans.LANES // plan.tile, 1),
        (rows, mask, lanes, n, plan.length, plan.parts, *strides),
        (*how, plans.LANES, plan.tile),
    )
    several = plan.parts > 1
    best = torch.empty((total, plan.parts * k), dtype=torch.int64, device=rows.device) if several else indices
    launch(
        kernels.chosen_lanes,
        (total * plan.parts, 1, 1),
        (rows, mask, lanes, best, *results, n, plan.length, plan.parts, k, *strides),
        (*how, not several, plans.LANES, plan.steps, plan.power),
    )
    if several:
        launch(
            kernels.short_rows,
            (total, 1, 1),
            (rows, mask, best, *results, total, plan.parts * k, k, *strides),
            (*how, True, 1, plans.power(plan.parts * k), plan.power),
        )


def _sort_rows(
    rows: torch.Tensor,
    where: torch.Tensor | None,
    kind: tuple[str, int],
    end: tuple[bool, int],
    values: torch.Tensor,
    indices: torch.Tensor,
) -> None:
    """Sort the keys of whole rows with PyTorch, whose stable sort keeps equal keys in order."""
    total, n = rows.shape
    wide = torch.int64 if rows.element_size() == 8 else torch.int32
    keys = torch.empty((total, n), dtype=wide, device=rows.device)
    tile = min(plans.power(n), plans.TILE[rows.element_size()] // 2)
    launch(kernels.keys, (total * -(-n // tile), 1, 1), (rows, keys, n, rows.stride(0)), (*kind, *end, tile))
    order = torch.sort(keys, dim=1, descending=True, stable=True).indices
    if where is not None:
        # What takes part comes first, and stays in order.
        present = where.gather(1, order)
        places = torch.sort(present, dim=1, descending=True, stable=True)
        order = order.gather(1, places.indices).masked_fill_(places.values == 0, -1)
    chosen = order[:, : indices.shape[1]]
    indices.copy_(chosen)
    values.copy_(rows.gather(1, chosen.clamp(min=0)))


reduce_operator = torch.library.custom_op(
    "extremum::reduce",
    reduce_tensor,
    mutates_args=(),
    schema="(Tensor x, int[] axes, bool largest, bool last, bool omit, Tensor? where, bool with_values, "
    "ScalarType index) -> (Tensor, Tensor)",
)
select_operator = torch.library.custom_op(
    "extremum::select",
    select_tensor,
    mutates_args=(),
    schema="(Tensor x, int k, int axis, bool largest, bool nan_first, Tensor? where) -> (Tensor, Tensor)",
)
pair_operator = torch.library.custom_op(
    "extremum::pair",
    pair_of,
    mutates_args=(),
    schema="(Tensor x, Tensor y, bool largest, bool omit) -> Tensor",
)


@reduce_operator.register_fake
def _(x, axes, largest, last, omit, where, with_values, index):  # type: ignore[no-untyped-def]
    total = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    return x.new_empty(total if with_values else 0), x.new_empty(total, dtype=index)


@select_operator.register_fake
def _(x, k, axis, largest, nan_first, where):  # type: ignore[no-untyped-def]
    shape = [k if at == axis else size for at, size in enumerate(x.shape)]
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


@pair_operator.register_fake
def _(x, y, largest, omit):  # type: ignore[no-untyped-def]
    return x.new_empty(torch.broadcast_shapes(x.shape, y.shape))
