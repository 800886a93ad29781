"""The best of several tensors at each place."""

from __future__ import annotations

from typing import Any

import torch

from extremum.gpu import kernels, plans
from extremum.gpu.launcher import Launch
from extremum.gpu.memory import BITS, Layout, dimensions, without_gaps
from extremum.gpu.operands import kind_of
from extremum.gpu.operators import Results, Run, operator


def _result(operands: Any, where: Any, *options: Any) -> Results:
    shapes = [each.shape for each in [*operands, where] if each is not None]
    return [(torch.broadcast_shapes(*shapes), operands[0].dtype)]


@operator("extremum(Tensor[] operands, Tensor? where, bool largest, int nan) -> Tensor", _result)
def extremum(
    results: list[Layout], operands: tuple[Layout, ...], where: Layout | None, largest: bool, nan: int
) -> Run:
    """Write the best of tensors of one type at each place, or the first of them where the mask is False."""
    if len(operands) > plans.MOST_OPERANDS:
        return _in_turns(operands, where, largest, nan)
    (result,) = results
    if 0 in result.shape:
        return lambda operands, where, result: None
    arrays = [each for each in (where, *operands) if each is not None]
    masked = len(arrays) > len(operands)
    spread = [_broadcast(each, result.shape) for each in arrays]
    everywhere = range(len(result.shape))
    copies = len(plans.merged(dimensions([result, *spread], everywhere))) > 2
    if copies:
        spread = [without_gaps(each.dtype, result.shape, each.device) for each in arrays]
    layout = dimensions([result, *spread], everywhere)
    launch = _launch(layout, len(operands), result.dtype, result.device, largest, nan, masked)
    if not copies:
        return lambda operands, where, result: launch(result, *operands, where)

    def copying(operands: Any, where: Any, result: Any) -> None:
        own = None if where is None else spread[0].copy(where)
        launch(result, *[spread[-1].copy(each) for each in operands], own)

    return copying


def _in_turns(operands: tuple[Layout, ...], where: Layout | None, largest: bool, nan: int) -> Run:
    """Return what finds the best of all but the first operand, as many as a launch takes, and goes on."""
    first, *others = operands
    some = extremum.prepared(tuple(others[: plans.MOST_OPERANDS]), None, largest, nan)
    left = (first, *some.results, *others[plans.MOST_OPERANDS :])
    rest = extremum.prepared(left, where, largest, nan)

    def run(operands: Any, where: Any, result: Any) -> None:
        first, *others = operands
        best = some(others[: plans.MOST_OPERANDS], None)
        rest.run([first, *best, *others[plans.MOST_OPERANDS :]], where, result)

    return run


def _broadcast(x: Layout, shape: tuple[int, ...]) -> Layout:
    """Return how the elements of an array lie that is broadcast to a shape."""
    missing = len(shape) - len(x.shape)
    own = [
        0 if size == 1 != whole else stride
        for size, stride, whole in zip(x.shape, x.strides, shape[missing:], strict=True)
    ]
    return x._replace(shape=shape, strides=(*(0,) * missing, *own))


def _launch(
    layout: tuple[plans.Dimension, ...],
    operands: int,
    dtype: torch.dtype,
    device: torch.device,
    largest: bool,
    nan: int,
    masked: bool,
) -> Launch:
    """Return the launch for a result and arrays of one layout: the mask, if there is one, and the operands."""
    groups = plans.merged(layout)
    single = (1, *(0,) * (1 + masked + operands))
    outer, inner = [single, single, *groups][-2:]
    most = plans.WRITTEN[dtype.itemsize]
    tile = min(plans.power(inner[0]), most)
    kept = min(plans.power(outer[0]), most // tile)
    at = 2 + masked
    bits = BITS[dtype.itemsize]
    return Launch(
        kernels.extremum,
        device,
        (-(-outer[0] // kept) * -(-inner[0] // tile), 1, 1),
        (bits, (bits,) * operands, torch.int8),
        (outer[0], inner[0], outer[at:], inner[at:], outer[2], inner[2]),
        (*kind_of(dtype), largest, nan, masked, kept, tile),
    )
