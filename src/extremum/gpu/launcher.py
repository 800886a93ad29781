"""Runs the kernels on the device of their arrays and the current stream, or by Triton's interpreter on the CPU."""

from __future__ import annotations

import functools
import os
from typing import Any

import torch
from triton.runtime.driver import driver

Grid = tuple[int, int, int]
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


def key_type(dtype: torch.dtype) -> torch.dtype:
    """Return the integers of the keys of elements."""
    return torch.int64 if dtype.itemsize == 8 else torch.int32


def bits_of(x: torch.Tensor) -> torch.Tensor:
    """Return the elements as signed integers with the same bits, in the same memory."""
    return x.view(BITS[x.element_size()])


class Launch:
    """A kernel with all that it gets but memory, whose element types are the same in each call.

    It keeps how the compiled kernel runs: Triton's own look-up takes longer than a small array.
    """

    __slots__ = ("_compiled", "_fixed", "grid", "kernel", "warps")

    def __init__(
        self, kernel: Any, grid: Grid, numbers: tuple[Any, ...], constants: tuple[Any, ...], warps: int = 4
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.warps = warps
        self._fixed = (*numbers, *constants)
        self._compiled: dict[Any, Any] = {}

    def __call__(self, *tensors: Any) -> None:
        """Run the kernel on the bits of tensors, on their device and the current stream; compile it at its first call.

        An entry of `tensors` may be a tuple of tensors, or None.
        """
        if INTERPRETED:
            self._by_triton(tensors)
            return
        device = tensors[0].get_device()
        if device == torch.cuda.current_device():
            self._on_current(device, tensors)
            return
        with torch.cuda.device(device):
            self._on_current(device, tensors)

    def _on_current(self, device: int, tensors: tuple[Any, ...]) -> None:
        memory = (device, *map(_class_of, tensors))
        compiled = self._compiled.get(memory)
        if compiled is None:
            self._compiled[memory] = self._by_triton(tensors)
            return
        # Triton's way to here looks for hooks of profilers, which takes longer. Of tensors, it takes the addresses.
        x, y, z = self.grid
        stream = driver.active.get_current_stream(device)
        function, metadata = compiled.function, compiled.packed_metadata
        compiled.run(x, y, z, stream, function, metadata, None, None, None, *tensors, *self._fixed)

    def _by_triton(self, tensors: tuple[Any, ...]) -> Any:
        return self.kernel[self.grid](*map(_bits, tensors), *self._fixed, num_warps=self.warps)


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
    is_aligned = tensors.data_ptr() % 16 == 0
    if not _IS_AMD:
        return is_aligned
    # AMD's loads differ for memory that 31 bits address.
    return is_aligned, tensors.untyped_storage().nbytes() < 1 << 31


_IS_AMD = torch.version.hip is not None


def devices() -> list[str]:
    """Return the names of the GPUs that PyTorch knows."""
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
