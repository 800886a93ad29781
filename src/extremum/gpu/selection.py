"""The k best of tensors, in order.

The best of each group of neighbours is found first. Only the k best groups can hold one of the k best elements, ties
included, because the groups are in the order of their elements. Which groups these are is the same question of fewer
elements.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch, Scratch
from extremum.gpu.memory import Layout, bits_of, dimensions, key_type
from extremum.gpu.operands import kind_of
from extremum.gpu.operators import Plan, Results, Run, operator
from extremum.gpu.reductions import Search, reduce, searching

End = tuple[bool, int]
"""Whether the largest are wanted, and the place of NaN."""


def _selected(arrays: Any, k: int, axis: int, *options: Any) -> Results:
    shape = [k if at == axis else size for at, size in enumerate(arrays[0].shape)]
    return [(shape, arrays[0].dtype), (shape, torch.int64)]


@operator("select(int k, int axis, bool largest, int nan)", _selected)
def select(
    results: list[Layout], arrays: tuple[Layout, Layout | None], k: int, axis: int, largest: bool, nan: int
) -> Plan:
    """Find the values and indices of the k best along an axis, in order; -1 where fewer elements take part.

    The arrays are the elements and a mask.
    """
    if k == 1:
        return reduce.prepared(arrays, *Search((axis,), (largest,), nan)).run, [*arrays, *results]
    x = arrays[0]
    order = [*(each for each in range(len(x.shape)) if each != axis), axis]
    (own, *mask), steps = zip(*[_as_rows(each, order) for each in arrays if each is not None], strict=True)
    wanted = [own, *(mask or [None]), *(each.in_order(order) for each in results)]
    return _select_rows(x, steps, order, (largest, nan), k), wanted


def _as_rows(x: Layout, order: list[int]) -> tuple[Layout, int]:
    """Return how an array lies in memory as rows whose elements are neighbours, and how far apart rows begin."""
    n = x.shape[order[-1]]
    *kept, along = order
    rows = plans.merged(dimensions([x], kept))
    if len(rows) > 1 or (x.strides[along] != 1 and n > 1):
        return x.in_order(order), n
    return x, rows[0][1] if rows else n


def _select_rows(x: Layout, steps: tuple[int, ...], order: list[int], end: End, k: int) -> Run:
    """Return what writes the k best of rows that begin so many elements apart, those of the array and of the mask."""
    n = x.shape[order[-1]]
    total = math.prod(x.shape) // n
    if plans.group(n, k) != 0:
        return _select(total, n, k, x.dtype, end, False, steps, x.device)

    def by_sort(
        x: torch.Tensor, where: torch.Tensor | None, values: torch.Tensor, indices: torch.Tensor
    ) -> None:
        rows = x.permute(order).view(total, n)
        mask = None if where is None else where.permute(order).view(total, n)
        places = _sorted(rows, mask, end, k)
        indices.permute(order).view(total, k).copy_(places)
        best = bits_of(rows).gather(1, places.clamp(min=0))
        bits_of(values).permute(order).view(total, k).copy_(best)

    return by_sort


def _select(
    total: int,
    n: int,
    k: int,
    dtype: torch.dtype,
    end: End,
    leads: bool,
    steps: tuple[int, ...],
    device: torch.device,
) -> Run:
    """Return what writes the k best of rows of n elements; if it `leads`, their indices alone, ascending."""
    masked = len(steps) > 1
    size = plans.group(n, k)
    number = n // size
    count = n if size == 1 else k * size + n % size
    tile = plans.power(count)
    kept, warps = plans.sorting(total, tile)
    launch = Launch(
        kernels.select,
        device,
        (-(-total // kept), 1, 1),
        (total, count, number, k, steps[0], steps[1] if masked else 0),
        (*kind_of(dtype), *end, masked, size, leads, kept, tile, plans.power(k)),
        warps,
    )
    if size == 1:
        return lambda x, where, values, indices: launch(x, where, None, indices, values)
    neighbours = (1,) * len(steps)
    stay = ((total, *steps), (number, *(size,) * len(steps)))
    layout = plans.slices(stay, ((size, *neighbours),))
    assert layout is not None
    groups = Search((), (end[0],), end[1], index=torch.int16)
    best_of_each = searching(layout, dtype, masked, groups, device)
    best_groups = _select(total, number, k, dtype, end, True, (number,) * len(steps), device)
    scratch = Scratch(
        device, (total * number, dtype), (total * number, torch.int16), (total * k, torch.int64)
    )

    def of_groups(x: Any, where: Any, values: Any, indices: Any) -> None:
        maxima, places, leaders = scratch.allocate()
        best_of_each(x, where, maxima, places)
        there = None if where is None else places.tensor() != -1
        best_groups(maxima, there, None, leaders)
        launch(x, where, leaders, indices, values)

    return of_groups


def _sorted(rows: torch.Tensor, where: torch.Tensor | None, end: End, k: int) -> torch.Tensor:
    """Return the indices of the k best, by PyTorch's stable sort of keys: it keeps equal ones in order."""
    total, n = rows.shape
    size = plans.sorted_group(total, n, k)
    if size == 1:
        return _order(rows, where, end)[:, :k]
    groups = n // size
    elements = rows[:, : groups * size].unflatten(1, (groups, size))
    mask = None if where is None else where[:, : groups * size].unflatten(1, (groups, size))
    best = Search((2,), (end[0],), end[1], keepdims=False, index=torch.int16)
    maxima, places = reduce((elements, mask), *best)
    there = None if where is None else places != -1
    leaders = _sorted(maxima, there, end, k)
    # Ascending, so that the first of equal elements stays the first.
    leaders = leaders.sort(1).values
    steps = torch.arange(size, device=rows.device)
    rest = torch.arange(groups * size, n, device=rows.device).expand(total, -1)
    candidates = torch.cat([(leaders[:, :, None] * size + steps).flatten(1), rest], 1)
    inside = candidates.clamp(min=0)
    present = None if where is None else where.gather(1, inside) & (candidates >= 0)
    chosen = _order(bits_of(rows).gather(1, inside).view(rows.dtype), present, end)[:, :k]
    return candidates.gather(1, chosen.clamp(min=0)).masked_fill_(chosen < 0, -1)


def _order(rows: torch.Tensor, where: torch.Tensor | None, end: End) -> torch.Tensor:
    """Return the indices of all elements of rows, the best first; -1 in place of those that take no part."""
    (ranks,) = keys([rows], *end)
    order = torch.sort(ranks, dim=1, descending=True, stable=True).indices
    if where is None:
        return order
    # What takes part comes first, and stays in order.
    present = where.view(torch.int8).gather(1, order)
    places = torch.sort(present, dim=1, descending=True, stable=True)
    return order.gather(1, places.indices).masked_fill_(places.values == 0, -1)


@operator(
    "keys(bool largest, int nan)",
    lambda arrays, *end: [(arrays[0].shape, key_type(arrays[0].dtype))],
)
def keys(results: list[Layout], arrays: tuple[Layout], largest: bool, nan: int) -> Plan:
    """Write the keys of rows whose elements are neighbours."""
    (x,) = arrays
    total, n = x.shape
    tile = min(plans.power(n), plans.WRITTEN[x.dtype.itemsize])
    grid = (total * -(-n // tile), 1, 1)
    constants = (*kind_of(x.dtype), largest, nan, tile)
    return Launch(kernels.keys, x.device, grid, (n, x.strides[0]), constants), [x, *results]
