"""The best of several tensors at each place."""

from __future__ import annotations

from typing import Any

import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch
from extremum.gpu.memory import Layout, dimensions, without_gaps
from extremum.gpu.operands import kind_of
from extremum.gpu.operators import Plan, Results, operator


def _result(arrays: Any, *options: Any) -> Results:
    shapes = [each.shape for each in arrays if each is not None]
    return [(torch.broadcast_shapes(*shapes), arrays[0].dtype)]


@operator("extremum(bool largest, int nan)", _result)
def extremum(results: list[Layout], arrays: tuple[Layout | None, ...], largest: bool, nan: int) -> Plan:
    """Write the best of tensors of one type at each place, or the first of them where the mask is False.

    The mask is the last of the arrays.
    """
    (result,) = results
    everywhere = range(len(result.shape))
    masked = arrays[-1] is not None
    wanted = list(arrays)
    # The result, the mask if there is one, and the operands.
    present = [each for each in (arrays[-1], *arrays[:-1]) if each is not None]
    layout = dimensions([result, *[each.broadcast(result.shape) for each in present]], everywhere)
    groups = plans.merged(layout)
    if len(groups) > 2:
        wanted = [each and without_gaps(each.dtype, result.shape, each.device) for each in arrays]
        groups = plans.merged(dimensions([result] * (1 + len(present)), everywhere))
    single = (1, *(0,) * (1 + len(present)))
    outer, inner = [single, single, *groups][-2:]
    most = plans.WRITTEN[result.dtype.itemsize]
    tile = min(plans.power(inner[0]), most)
    kept = min(plans.power(outer[0]), most // tile)
    at = 2 + masked
    launch = Launch(
        kernels.extremum,
        result.device,
        (-(-outer[0] // kept) * -(-inner[0] // tile), 1, 1),
        (outer[0], inner[0], outer[at:], inner[at:], outer[2], inner[2]),
        (*kind_of(result.dtype), largest, nan, masked, kept, tile),
        several=slice(1, len(arrays)),
    )
    return lambda *memory: launch(memory[-1], *memory[:-1]), [*wanted, result]
