"""The best of several tensors at each place, an operator within ``torch.compile``."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch, bits_of
from extremum.gpu.operands import dimensions, kind_of
from extremum.gpu.operators import operator


def _result(operands, largest, nan, where):  # type: ignore[no-untyped-def]
    masks = [] if where is None else [where]
    return operands[0].new_empty(torch.broadcast_shapes(*[each.shape for each in [*operands, *masks]]))


@operator("extremum(Tensor[] operands, bool largest, int nan, Tensor? where) -> Tensor", _result)
def extremum(
    operands: Sequence[torch.Tensor], largest: bool, nan: int, where: torch.Tensor | None
) -> torch.Tensor:
    """Return the best of tensors of one type at each place, or the first of them where the mask is False."""
    first, *others = operands
    while len(others) >= plans.MOST_OPERANDS:
        best = extremum(others[: plans.MOST_OPERANDS], largest, nan, None)
        others = [best, *others[plans.MOST_OPERANDS :]]
    masks = [] if where is None else [where]
    arrays = list(torch.broadcast_tensors(*masks, first, *others))
    result = torch.empty(arrays[0].shape, dtype=first.dtype, device=first.device)
    if not result.numel():
        return result
    layout = dimensions([result, *arrays], range(result.ndim))
    if len(plans.merged(layout)) > 2:
        arrays = [bits_of(each).contiguous().view(each.dtype) for each in arrays]
        layout = dimensions([result, *arrays], range(result.ndim))
    launch = launch_of(layout, len(arrays), first.dtype, largest, nan, bool(masks))
    at = len(masks)
    launch(result, tuple(arrays[at:]), arrays[0] if masks else None)
    return result


@functools.lru_cache(maxsize=4096)
def launch_of(
    layout: tuple[plans.Dimension, ...],
    arrays: int,
    dtype: torch.dtype,
    largest: bool,
    nan: int,
    masked: bool,
) -> Launch:
    """Return the launch for a result and arrays of one layout: the mask, if there is one, and the operands."""
    groups = plans.merged(layout)
    single = (1, *(0,) * (1 + arrays))
    outer, inner = [single, single, *groups][-2:]
    most = plans.WRITTEN[dtype.itemsize]
    tile = min(plans.power(inner[0]), most)
    kept = min(plans.power(outer[0]), most // tile)
    at = 2 + masked
    return Launch(
        kernels.extremum,
        (-(-outer[0] // kept) * -(-inner[0] // tile), 1, 1),
        (outer[0], inner[0], outer[at:], inner[at:], outer[2], inner[2]),
        (*kind_of(dtype), largest, nan, masked, kept, tile),
    )
