"""Memory of tensors: how elements lie in it, and the integers that have their bits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from extremum.reductions import Ints

# The integers that have the bits of an element, by its bytes.
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def key_type(dtype: torch.dtype) -> torch.dtype:
    """Return the integers of the keys of elements."""
    return torch.int64 if dtype.itemsize == 8 else torch.int32


def bits_of(x: torch.Tensor) -> torch.Tensor:
    """Return the elements as signed integers with the same bits, in the same memory."""
    return x.view(BITS[x.element_size()])


class Layout(NamedTuple):
    """All of a tensor but its elements; this decides how the kernels run on it."""

    dtype: torch.dtype
    shape: Ints
    strides: Ints
    device: torch.device

    def in_order(self, order: Sequence[int]) -> Layout:
        """Return the layout without gaps whose axes lie in memory in this order, the last one with neighbours."""
        strides = [0] * len(order)
        step = 1
        for axis in reversed(order):
            strides[axis] = step
            step *= max(self.shape[axis], 1)
        return self._replace(strides=tuple(strides))

    @property
    def allocate(self) -> Callable[[], torch.Tensor]:
        """Allocates a tensor in this layout."""
        # PyTorch allocates faster where it is given the strides.
        return functools.partial(
            torch.empty_strided, self.shape, self.strides, dtype=self.dtype, device=self.device
        )

    def broadcast(self, shape: Ints) -> Layout:
        """Return how the elements lie that are broadcast to a shape."""
        missing = len(shape) - len(self.shape)
        own = [
            0 if size == 1 != whole else stride
            for size, stride, whole in zip(self.shape, self.strides, shape[missing:], strict=True)
        ]
        return self._replace(shape=shape, strides=(*(0,) * missing, *own))

    def copy(self, x: torch.Tensor) -> torch.Tensor:
        """Return a copy of a tensor in this layout; it broadcasts."""
        result = self.allocate()
        bits_of(result).copy_(bits_of(x))
        return result


def layouts_of(arrays: Sequence[torch.Tensor | None]) -> tuple[Any, ...]:
    """Return the layouts of tensors; None stays."""
    return tuple([x if x is None else Layout(x.dtype, tuple(x.shape), x.stride(), x.device) for x in arrays])


def without_gaps(dtype: torch.dtype, shape: Sequence[int], device: torch.device) -> Layout:
    """Return the layout of a new tensor."""
    return Layout(dtype, tuple(shape), (), device).in_order(range(len(shape)))


def dimensions(layouts: Sequence[Layout], axes: Sequence[int]) -> tuple[Ints, ...]:
    """Return the sizes of some axes of arrays of one shape, with their strides in each."""
    return tuple([(layouts[0].shape[axis], *[each.strides[axis] for each in layouts]) for axis in axes])
