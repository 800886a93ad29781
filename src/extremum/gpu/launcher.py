"""Runs the kernels on the device of their arrays and the current stream, or by Triton's interpreter on the CPU."""

from __future__ import annotations

import functools
import os
from typing import Any

import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
"""Whether the kernels run on the CPU, by Triton's interpreter: then they take tensors there."""


@functools.cache
def processors(device: torch.device) -> int:
    """Return how many processors a card has."""
    if device.type == "cpu":
        return 4
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


_COMPILED: dict[Any, Any] = {}
"""Compiled kernels by what they were compiled for: Triton's own look-up takes longer than a small array."""


def launch(
    kernel: Any, grid: tuple[int, int, int], arguments: tuple[Any, ...], constants: tuple[Any, ...]
) -> None:
    """Run a kernel on the device of its first argument and the current stream; compile it at its first call."""
    if INTERPRETED:
        kernel[grid](*arguments, *constants)
        return
    device = arguments[0].device
    key = (kernel, device.index, constants, tuple([_class_of(each) for each in arguments]))
    with torch.cuda.device(device):
        compiled = _COMPILED.get(key)
        if compiled is None:
            _COMPILED[key] = kernel[grid](*arguments, *constants)
        else:
            compiled[grid](*arguments, *constants)


def _class_of(argument: Any) -> tuple[Any, ...]:
    """Return what Triton compiles into a kernel: of numbers, whether they are 1, a multiple of 16, or long."""
    if isinstance(argument, int):
        return argument == 1, argument % 16 == 0, argument < 1 << 31
    # AMD's loads differ for memory that 31 bits address.
    short = argument.untyped_storage().nbytes() < 1 << 31
    return argument.dtype, argument.data_ptr() % 16 == 0, short


def devices() -> list[str]:
    """Return the names of the GPUs that PyTorch knows."""
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
