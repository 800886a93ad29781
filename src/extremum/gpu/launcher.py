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


class Scratch:
    """Memory between launches: parts of one allocation. Each begins at a multiple of 16 bytes."""

    __slots__ = ("_parts", "_starts", "_total")

    def __init__(self, *parts: tuple[int, torch.dtype]) -> None:
        """`parts` are the number of elements of each part, and their type."""
        self._parts = parts
        sizes = [-(-count * dtype.itemsize // 16) * 16 for count, dtype in parts]
        self._starts = [sum(sizes[:at]) for at in range(len(sizes))]
        self._total = sum(sizes)

    def allocate(self, device: torch.device) -> torch.Tensor:
        """Return the memory of all parts; whoever launches on a part keeps it."""
        return torch.empty(self._total, dtype=torch.int8, device=device)

    def parts(self, memory: torch.Tensor) -> list[Any]:
        """Return what a launch takes for each part."""
        if INTERPRETED:
            return [self.tensor(memory, at) for at in range(len(self._starts))]
        # A tensor for each part would take longer than its allocation.
        address = memory.data_ptr()
        return [address + start for start in self._starts]

    def tensor(self, memory: torch.Tensor, at: int) -> torch.Tensor:
        """Return a part as a tensor."""
        count, dtype = self._parts[at]
        start = self._starts[at]
        return memory[start : start + count * dtype.itemsize].view(dtype)


class _Pointer:
    """A part of a scratch as Triton's compiler takes it, like a tensor."""

    def __init__(self, address: int, dtype: torch.dtype) -> None:
        self.dtype = dtype
        self.data_ptr = lambda: address


class Launch:
    """A kernel with all that it gets but memory.

    It keeps how the compiled kernel runs: Triton's own look-up takes longer than a small array.
    """

    __slots__ = ("_compiled", "_device", "_fixed", "_several", "_types", "grid", "kernel", "warps")

    def __init__(
        self,
        kernel: Any,
        device: torch.device,
        grid: Grid,
        types: tuple[Any, ...],
        numbers: tuple[Any, ...],
        constants: tuple[Any, ...],
        warps: int = 4,
    ) -> None:
        """`types` are those of the integers in the memory; a tuple of them stands for one argument of the kernel."""
        self.kernel = kernel
        self.grid = grid
        self.warps = warps
        self._device = device.index
        self._fixed = (*numbers, *constants)
        self._types: list[torch.dtype] = []
        self._several: slice | None = None
        for each in types:
            if isinstance(each, tuple):
                self._several = slice(len(self._types), len(self._types) + len(each))
                self._types += each
            else:
                self._types.append(each)
        self._compiled: dict[Any, Any] = {}

    def __call__(self, *memory: Any) -> None:
        """Run the kernel on its device and the current stream; compile it at its first call.

        `memory` is tensors, addresses of parts of a scratch, and None where the kernel uses no memory.
        """
        if INTERPRETED:
            self._by_triton(memory)
        elif self._device == torch.cuda.current_device():
            self._on_current(memory)
        else:
            with torch.cuda.device(self._device):
                self._on_current(memory)

    def _on_current(self, memory: tuple[Any, ...]) -> None:
        addresses = [each.data_ptr() if type(each) is torch.Tensor else each for each in memory]
        # What Triton compiles into a kernel of the memory that it is given.
        key = tuple([each is None or each % 16 == 0 for each in addresses])
        if _IS_AMD:
            # AMD's loads differ for memory that 31 bits address.
            key += tuple([type(each) is torch.Tensor and _is_short(each) for each in memory])
        compiled = self._compiled.get(key)
        if compiled is None:
            self._compiled[key] = self._by_triton(memory)
            return
        # Triton's way to here looks for hooks of profilers, which takes longer.
        x, y, z = self.grid
        stream = driver.active.get_current_stream(self._device)
        function, metadata = compiled.function, compiled.packed_metadata
        arguments = self._arguments(addresses)
        compiled.run(x, y, z, stream, function, metadata, None, None, None, *arguments, *self._fixed)

    def _by_triton(self, memory: tuple[Any, ...]) -> Any:
        arguments: list[Any] = []
        for each, dtype in zip(memory, self._types, strict=True):
            if type(each) is torch.Tensor:
                arguments.append(each.view(dtype))
            else:
                arguments.append(None if each is None else _Pointer(each, dtype))
        return self.kernel[self.grid](*self._arguments(arguments), *self._fixed, num_warps=self.warps)

    def _arguments(self, memory: list[Any]) -> list[Any]:
        """Return memory as the kernel gets it."""
        if self._several is not None:
            memory[self._several] = [tuple(memory[self._several])]
        return memory


def _is_short(x: torch.Tensor) -> bool:
    return int(x.untyped_storage().nbytes()) < 1 << 31


_IS_AMD = torch.version.hip is not None


def devices() -> list[str]:
    """Return the names of the GPUs that PyTorch knows."""
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
