"""Runs the kernels on the device of their arrays and the current stream, or by Triton's interpreter on the CPU."""

from __future__ import annotations

import functools
import os
from typing import Any

import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
"""Whether the kernels run on the CPU, by Triton's interpreter: then they take tensors there."""


@functools.cache
def processors_of(device: torch.device) -> int:
    """Return how many processors a card has."""
    if device.type == "cpu":
        return 4
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


# The integers that have the bits of an element, by its bytes.
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def bits_of(x: torch.Tensor) -> torch.Tensor:
    """Return the elements as signed integers with the same bits, in the same memory."""
    return x.view(BITS[x.element_size()])


_RUNNERS: dict[Any, Any] = {}
"""How compiled kernels run, by all that they get but memory: Triton's own look-up takes longer than a small array."""
_MOST_RUNNERS = 4096


def launch(
    kernel: Any,
    grid: tuple[int, int, int],
    tensors: tuple[Any, ...],
    numbers: tuple[Any, ...],
    constants: tuple[Any, ...],
) -> None:
    """Run a kernel on the bits of tensors, on their device and the current stream; compile it at its first call.

    An entry of `tensors` may be a tuple of tensors, or None.
    """
    if INTERPRETED:
        kernel[grid](*map(_bits, tensors), *numbers, *constants)
        return
    device = tensors[0].device
    if device.index == torch.cuda.current_device():
        _launch(kernel, grid, tensors, numbers, constants, device.index)
        return
    with torch.cuda.device(device):
        _launch(kernel, grid, tensors, numbers, constants, device.index)


def _launch(kernel: Any, grid: Any, tensors: Any, numbers: Any, constants: Any, device: int) -> None:
    # A kernel lives as long as its file, and the hash of its source takes long.
    key = (id(kernel), grid, numbers, constants, device, tuple([_class_of(each) for each in tensors]))
    run = _RUNNERS.get(key)
    if run is not None:
        # It takes the addresses alone.
        run(*tensors, *numbers, *constants)
        return
    compiled = kernel[grid](*map(_bits, tensors), *numbers, *constants)
    if len(_RUNNERS) >= _MOST_RUNNERS:
        _RUNNERS.clear()
    _RUNNERS[key] = compiled[grid]


def _bits(tensors: Any) -> Any:
    if tensors is None:
        return None
    return tuple(map(_bits, tensors)) if isinstance(tensors, tuple) else bits_of(tensors)


def _class_of(tensors: Any) -> Any:
    """Return what Triton compiles into a kernel of the memory that it is given."""
    if tensors is None:
        return None
    if isinstance(tensors, tuple):
        return tuple(map(_class_of, tensors))
    if torch.version.hip is None:
        return tensors.dtype, tensors.data_ptr() % 16
    # AMD's loads differ for memory that 31 bits address.
    return tensors.dtype, tensors.data_ptr() % 16, tensors.untyped_storage().nbytes() < 1 << 31


def devices() -> list[str]:
    """Return the names of the GPUs that PyTorch knows."""
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
