"""The k best of tensors, in order; an operator within ``torch.compile``.

The best of each group of neighbours is found first. Only the k best groups can hold one of the k best elements, ties
included, because the groups are in the order of their elements. Which groups these are is the same question of fewer
elements.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch, bits_of, key_type, processors_of
from extremum.gpu.operands import kind_of
from extremum.gpu.operators import operator
from extremum.gpu.reductions import Prepared, prepared, reduce, run

End = tuple[bool, int]
"""Whether the largest are wanted, and the place of NaN."""


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
    values = values.view([*shape, k])
    indices = indices.view([*shape, k])
    if axis == x.ndim - 1:
        return values, indices
    back = [*range(axis), len(shape), *range(axis, len(shape))]
    return values.permute(back).contiguous(), indices.permute(back).contiguous()


def _rows(x: torch.Tensor, total: int, n: int) -> torch.Tensor:
    """Return an array as rows whose elements are neighbours; it is copied if it has to be."""
    rows = bits_of(x).reshape(total, n)
    if rows.stride(1) != 1 and n > 1:
        rows = rows.contiguous()
    return rows.view(x.dtype)


def _select_rows(
    rows: torch.Tensor, where: torch.Tensor | None, end: End, values: torch.Tensor, indices: torch.Tensor
) -> None:
    """Write the k best of rows."""
    total, n = rows.shape
    k = indices.shape[1]
    if plans.group(n, k) == 0:
        places = _sorted(rows, where, end, k)
        indices.copy_(places)
        bits_of(values).copy_(bits_of(rows).gather(1, places.clamp(min=0)))
        return
    w_row = None if where is None else where.stride(0)
    how = selection_of(total, n, k, rows.dtype, end, False, rows.stride(0), w_row, processors_of(rows.device))
    _run(how, rows, where, values, indices)


class _Groups(NamedTuple):
    """How the best groups of rows are found: the best of each group, and the k best of these."""

    maxima: Prepared
    best: _Selection
    # Groups of all rows.
    number: int


class _Selection(NamedTuple):
    """How the k best of rows are found: among all elements, or among those of the best groups."""

    groups: _Groups | None
    launch: Launch
    # Elements of the result.
    size: int


@functools.lru_cache(maxsize=4096)
def selection_of(
    total: int,
    n: int,
    k: int,
    dtype: torch.dtype,
    end: End,
    leads: bool,
    x_row: int,
    w_row: int | None,
    processors: int,
) -> _Selection:
    """Return the launches for rows of n elements that begin `x_row` elements apart, those of a mask `w_row`."""
    masked = w_row is not None
    rows = (x_row, w_row) if masked else (x_row,)
    size = plans.group(n, k)
    number = n // size
    groups = None
    count = n
    if size > 1:
        steps = (size,) * len(rows)
        along = (1,) * len(rows)
        layout = plans.slices(((total, *rows), (number, *steps)), ((size, *along),))
        assert layout is not None
        maxima = prepared(layout, dtype, (end[0],), False, end[1], masked, True, torch.int16, processors)
        best = selection_of(
            total, number, k, dtype, end, True, number, number if masked else None, processors
        )
        groups = _Groups(maxima, best, total * number)
        count = k * size + n % size
    tile = plans.power(count)
    kept, warps = plans.sorting(total, tile)
    launch = Launch(
        kernels.select,
        (-(-total // kept), 1, 1),
        (total, count, number, k, x_row, w_row or 0),
        (*kind_of(dtype), *end, masked, size, leads, kept, tile, plans.power(k)),
        warps,
    )
    return _Selection(groups, launch, total * k)


def _run(
    how: _Selection,
    rows: torch.Tensor,
    where: torch.Tensor | None,
    values: torch.Tensor | None,
    indices: torch.Tensor,
) -> None:
    """Write the k best of rows; without values, write the indices ascending."""
    leaders = None
    if how.groups is not None:
        maxima = torch.empty(how.groups.number, dtype=rows.dtype, device=rows.device)
        places = torch.empty(how.groups.number, dtype=torch.int16, device=rows.device)
        run(how.groups.maxima, rows, where, maxima, places)
        there = None if where is None else places != -1
        leaders = torch.empty(how.size, dtype=torch.int64, device=rows.device)
        _run(how.groups.best, maxima, there, None, leaders)
    how.launch(rows, where, leaders, indices, values)


def _sorted(rows: torch.Tensor, where: torch.Tensor | None, end: End, k: int) -> torch.Tensor:
    """Return the indices of the k best, by PyTorch's stable sort of keys: it keeps equal ones in order."""
    total, n = rows.shape
    size = plans.sorted_group(total, n, k)
    if size == 1:
        return _order(rows, where, end)[:, :k]
    groups = n // size
    elements = rows[:, : groups * size].unflatten(1, (groups, size))
    mask = None if where is None else where[:, : groups * size].unflatten(1, (groups, size))
    maxima, places = reduce(elements, (2,), (end[0],), False, end[1], mask, True, torch.int16)
    there = None if where is None else (places != -1).view(total, groups)
    leaders = _sorted(maxima.view(total, groups), there, end, k)
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
    total, n = rows.shape
    keys = torch.empty((total, n), dtype=key_type(rows.dtype), device=rows.device)
    launch_of_keys(total, n, rows.dtype, end, rows.stride(0))(rows, keys)
    order = torch.sort(keys, dim=1, descending=True, stable=True).indices
    if where is None:
        return order
    # What takes part comes first, and stays in order.
    present = where.view(torch.int8).gather(1, order)
    places = torch.sort(present, dim=1, descending=True, stable=True)
    return order.gather(1, places.indices).masked_fill_(places.values == 0, -1)


@functools.lru_cache(maxsize=4096)
def launch_of_keys(total: int, n: int, dtype: torch.dtype, end: End, x_row: int) -> Launch:
    """Return the launch that writes the keys of rows."""
    tile = min(plans.power(n), plans.WRITTEN[dtype.itemsize])
    return Launch(kernels.keys, (total * -(-n // tile), 1, 1), (n, x_row), (*kind_of(dtype), *end, tile))
