"""Runs the kernels on the device of their arrays and the current stream, or by Triton's interpreter on the CPU."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import Any

import torch
from triton.runtime.driver import driver

from extremum.gpu.memory import BITS, bits_of

Grid = tuple[int, int, int]
INTERPRETED = os.environ.get("TRITON_INTERPRET", "0") == "1"
"""Whether the kernels run on the CPU, by Triton's interpreter: then they take tensors there."""


@functools.cache
def processors_of(device: torch.device) -> int:
    """Return how many processors a card has."""
    if device.type == "cpu":
        return 4
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


class Part:
    """A part of a scratch: what Triton reads of a tensor. To make one takes less time than to make a tensor."""

    # No tuple with names: Triton takes tuples apart.
    __slots__ = ("dtype", "memory", "start", "stop")

    def __init__(self, memory: torch.Tensor, start: int, stop: int, dtype: torch.dtype) -> None:
        self.memory = memory
        self.start = start
        self.stop = stop
        self.dtype = dtype

    def data_ptr(self) -> int:
        """Return the address."""
        return int(self.memory.data_ptr() + self.start)

    def ptr_range(self) -> int:
        """Return the bytes of the whole memory: the compiler for AMD wants to know whether 31 bits address them."""
        return int(self.memory.nbytes)

    def tensor(self) -> torch.Tensor:
        """Return the part as a tensor."""
        return self.memory[self.start : self.stop].view(self.dtype)


class Scratch:
    """Memory between launches, one allocation for all its parts; each begins at a multiple of 16 bytes."""

    def __init__(self, device: torch.device, *parts: tuple[int, torch.dtype]) -> None:
        """`parts` are the number of elements of each part, and their type."""
        self._places: list[tuple[int, int, torch.dtype]] = []
        start = 0
        for count, dtype in parts:
            stop = start + count * dtype.itemsize
            self._places.append((start, stop, BITS[dtype.itemsize]))
            start = -(-stop // 16) * 16
        self._allocate = functools.partial(torch.empty, start, dtype=torch.int8, device=device)

    def allocate(self) -> list[Part]:
        """Allocate the parts."""
        memory = self._allocate()
        return [Part(memory, *place) for place in self._places]


class Launch:
    """A kernel with all that it gets but memory.

    It keeps how the compiled kernel runs: Triton's own look-up takes longer than a small array.
    """

    __slots__ = ("_compiled", "_device", "_fixed", "_several", "grid", "kernel", "warps")

    def __init__(
        self,
        kernel: Any,
        device: torch.device,
        grid: Grid,
        numbers: tuple[Any, ...],
        constants: tuple[Any, ...],
        warps: int = 4,
        several: slice | None = None,
    ) -> None:
        """`several` is the part of the memory that the kernel gets as one tuple."""
        self.kernel = kernel
        self.grid = grid
        self.warps = warps
        self._device = device.index
        self._fixed = (*numbers, *constants)
        self._several = several
        self._compiled: dict[Any, Any] = {}

    def __call__(self, *memory: torch.Tensor | Part | None) -> None:
        """Run the kernel on its device and the current stream; compile it at its first call."""
        if INTERPRETED:
            self._by_triton([each.tensor() if type(each) is Part else each for each in memory])
        elif self._device == torch.cuda.current_device():
            self._on_current(memory)
        else:
            with torch.cuda.device(self._device):
                self._on_current(memory)

    def _on_current(self, memory: Sequence[Any]) -> None:
        addresses: list[Any] = [None if each is None else each.data_ptr() for each in memory]
        # What Triton compiles into a kernel of the memory that it is given.
        key = tuple([each is None or each % 16 == 0 for each in addresses])
        if _IS_AMD:
            key += tuple(map(_is_short, memory))
        compiled = self._compiled.get(key)
        if compiled is None:
            self._compiled[key] = self._by_triton(memory)
            return
        # Triton's way to here looks for hooks of profilers, which takes longer. Its launcher takes addresses too.
        x, y, z = self.grid
        stream = driver.active.get_current_stream(self._device)
        function, metadata = compiled.function, compiled.packed_metadata
        if self._several is not None:
            addresses[self._several] = [tuple(addresses[self._several])]
        compiled.run(x, y, z, stream, function, metadata, None, None, None, *addresses, *self._fixed)

    def _by_triton(self, memory: Sequence[Any]) -> Any:
        arguments: list[Any] = [bits_of(each) if isinstance(each, torch.Tensor) else each for each in memory]
        if self._several is not None:
            arguments[self._several] = [tuple(arguments[self._several])]
        return self.kernel[self.grid](*arguments, *self._fixed, num_warps=self.warps)


def _is_short(memory: Any) -> bool:
    """Whether 31 bits address memory of a caller: AMD's loads differ then."""
    return isinstance(memory, torch.Tensor) and memory.untyped_storage().nbytes() < 1 << 31


_IS_AMD = torch.version.hip is not None


def is_capturing() -> bool:
    """Whether a graph of CUDA is being captured: then nothing runs, and nothing may wait."""
    return not INTERPRETED and torch.cuda.is_current_stream_capturing()


def devices() -> list[str]:
    """Return the names of the GPUs that PyTorch knows."""
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
