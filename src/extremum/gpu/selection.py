"""The k best of tensors, in order; an operator within ``torch.compile``.

The best of each group of neighbours is found first. Only the k best groups can hold one of the k best elements, ties
included, because the groups are in the order of their elements. Which groups these are is the same question of fewer
elements.
"""

from __future__ import annotations

import math

import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import bits_of, launch
from extremum.gpu.operands import kind_of
from extremum.gpu.operators import operator
from extremum.gpu.reductions import reduce


def _selected(x, k, axis, largest, nan, where):  # type: ignore[no-untyped-def]
    shape = [k if at == axis else size for at, size in enumerate(x.shape)]
    return x.new_empty(shape), x.new_empty(shape, dtype=torch.int64)


@operator(
    "select(Tensor x, int k, int axis, bool largest, int nan, Tensor? where) -> (Tensor, Tensor)", _selected
)
def select(
    x: torch.Tensor, k: int, axis: int, largest: bool, nan: int, where: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the values and indices of the k best along an axis, in order; -1 where fewer elements take part."""
    order = [each for each in range(x.ndim) if each != axis] + [axis]
    n = x.shape[axis]
    shape = [x.shape[each] for each in order[:-1]]
    if k == 1:
        values, indices = reduce(x, (axis,), (largest,), False, nan, where, True, torch.int64)
        back = [*shape[:axis], 1, *shape[axis:]]
        return values.view(back), indices.view(back)
    total = math.prod(shape)
    values = torch.empty((total, k), dtype=x.dtype, device=x.device)
    indices = torch.empty((total, k), dtype=torch.int64, device=x.device)
    if values.numel():
        rows = _rows(x.permute(order), total, n)
        mask = None if where is None else _rows(where.permute(order), total, n)
        _select_rows(rows, mask, (largest, nan), values, indices)
    back = [*range(axis), len(shape), *range(axis, len(shape))]
    return (
        values.reshape([*shape, k]).permute(back).contiguous(),
        indices.reshape([*shape, k]).permute(back).contiguous(),
    )


def _rows(x: torch.Tensor, total: int, n: int) -> torch.Tensor:
    """Return an array as rows whose elements are neighbours; it is copied if it has to be."""
    rows = bits_of(x).reshape(total, n)
    if rows.stride(1) != 1 and n > 1:
        rows = rows.contiguous()
    return rows.view(x.dtype)


def _select_rows(
    rows: torch.Tensor,
    where: torch.Tensor | None,
    end: tuple[bool, int],
    values: torch.Tensor | None,
    indices: torch.Tensor,
) -> None:
    """Write the k best of rows; without values, write the indices ascending."""
    total, n = rows.shape
    k = indices.shape[1]
    size = plans.group(n, k)
    if size == 0:
        _sort_rows(rows, where, end, values, indices)
        return
    leaders = None
    count = n
    if size > 1:
        leaders = _leaders(rows, where, end, size, k)
        count = k * size + n % size
    tile = plans.power(count)
    kept = max(1, min(plans.power(total), plans.SORTED[rows.element_size()] // tile))
    w_row = 0 if where is None else where.stride(0)
    launch(
        kernels.select,
        (-(-total // kept), 1, 1),
        (rows, where, leaders, indices, values),
        (total, count, n // size, k, rows.stride(0), w_row),
        (*kind_of(rows.dtype), *end, where is not None, size, values is None, kept, tile, plans.power(k)),
    )


def _leaders(
    rows: torch.Tensor, where: torch.Tensor | None, end: tuple[bool, int], size: int, k: int
) -> torch.Tensor:
    """Return the numbers of the k groups whose best elements are the best, ascending."""
    total, n = rows.shape
    groups = n // size
    elements = rows[:, : groups * size].unflatten(1, (groups, size))
    mask = None if where is None else where[:, : groups * size].unflatten(1, (groups, size))
    best, places = reduce(elements, (2,), (end[0],), False, end[1], mask, True, torch.int16)
    there = None if where is None else (places != -1).view(total, groups)
    leaders = torch.empty((total, k), dtype=torch.int64, device=rows.device)
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
    wide = torch.int64 if rows.element_size() == 8 else torch.int32
    keys = torch.empty((total, n), dtype=wide, device=rows.device)
    tile = min(plans.power(n), plans.TILE[rows.element_size()] // 2)
    launch(
        kernels.keys,
        (total * -(-n // tile), 1, 1),
        (rows, keys),
        (n, rows.stride(0)),
        (*kind_of(rows.dtype), *end, tile),
    )
    order = torch.sort(keys, dim=1, descending=True, stable=True).indices
    if where is not None:
        # What takes part comes first, and stays in order.
        present = where.view(torch.int8).gather(1, order)
        places = torch.sort(present, dim=1, descending=True, stable=True)
        order = order.gather(1, places.indices).masked_fill_(places.values == 0, -1)
    chosen = order[:, : indices.shape[1]]
    indices.copy_(chosen)
    bits_of(values).copy_(bits_of(rows).gather(1, chosen.clamp(min=0)))
