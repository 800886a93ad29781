"""What the array functions need of tensors on a GPU: the rules of the CPU decide, and this searches and finishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from extremum.elementwise import broadcast_shape, broadcast_with_mask, refuse_nan_at
from extremum.engine import Engine
from extremum.errors import ArgumentError
from extremum.gpu import launcher, plans
from extremum.gpu.elementwise import extremum
from extremum.gpu.memory import BITS, bits_of
from extremum.gpu.operands import (
    ABSENT,
    BEST,
    TYPES,
    WORST,
    Elements,
    common_device,
    mask_of,
    tensor_type,
)
from extremum.gpu.operators import is_traced
from extremum.gpu.reductions import Search, ones, reduce
from extremum.gpu.selection import select
from extremum.gpu.steps import Steps
from extremum.indices import reduced_axes
from extremum.reductions import Index, Ints, spread_mask


class Device(Engine):
    """The functions for tensors, in one call."""

    of_numpy = False

    def __init__(self, arrays: Sequence[Any]) -> None:
        self.steps = Steps(arrays)

    def reduce(  # type: ignore[override]
        self,
        x: Elements,
        axis: Any,
        *,
        function: str,
        largest: Sequence[bool],
        keepdims: bool,
        select_last_index: bool,
        omit: bool,
        times: bool,
        where: torch.Tensor | None,
        values: bool,
        index: Index,
    ) -> tuple[int, list[list[Any]]]:
        """Search, as the native module does; the first result only says that there may be empty slices."""
        search = Search(
            axes=reduced_axes(function, axis, x.shape, x),
            ends=tuple(largest),
            nan=ABSENT if omit else BEST,
            last=select_last_index,
            keepdims=keepdims,
            values=values,
            index=torch.int64 if index is None else tensor_type(index),
        )
        results = self.steps.run(reduce.like((x.tensor, where), *search), x.tensor, where)
        # Without an index type, the indices tell which slices are empty.
        both = [results[0] if values else None, results[1]]
        if len(largest) == 1:
            return 1, [both]
        low, high, first, second = self.steps.run(_by_end, *both)
        return 1, [[low, first], [high, second]]

    def mask(self, function: str, where: Any, x: Elements) -> Any:
        """Return a mask of any library as a tensor in the shape of the elements."""
        mask = mask_of(function, where, x.tensor.device)

        def expand(mask: Elements, shape: Ints) -> torch.Tensor:
            return self.steps.one(lambda own: own.expand(shape), mask.tensor)

        return spread_mask(function, mask, x.shape, expand)

    def ones(self, x: Elements, indices: torch.Tensor, axes: Ints) -> Any:
        """Return a tensor with a 1 at the index of each slice."""
        (result,) = self.steps.run(ones.like((x.tensor, indices), axes), x.tensor, indices)
        return result

    def extremum(
        self, function: str, arrays: list[Any], dtype: np.dtype[Any], nan_policy: str, where: Any
    ) -> Any:
        """Return the best of tensors and numbers at each place."""
        device = common_device(arrays)
        own = tensor_type(dtype)
        tensors = [self._operand(each, own, device) for each in arrays]
        there = None if where is None else mask_of(function, where, device).tensor
        if not is_traced(tensors[0]):
            # Sizes that are not known yet are PyTorch's to compare.
            shape = broadcast_shape(function, [tuple(each.shape) for each in tensors])
            if there is not None:
                broadcast_with_mask(function, shape, tuple(there.shape))
        order = (function == "maximum", WORST if nan_policy == "omit" else BEST)
        first, *others = tensors
        while len(others) >= plans.MOST_OPERANDS:
            some = self._best_of((*others[: plans.MOST_OPERANDS], None), order)
            others = [*some, *others[plans.MOST_OPERANDS :]]
        (result,) = self._best_of((first, *others, there), order)
        if nan_policy == "raise":
            nans = self.is_nan(result)
            refuse_nan_at(self.first(nans if there is None else nans & there))
        return result

    def _operand(self, x: Any, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """Return the tensor of an operand in the common type, or make one of a number."""
        if isinstance(x, Elements):
            return self._converted(x.tensor, dtype)
        bits = int(x.view(f"i{x.itemsize}"))
        return self.steps.one(lambda: torch.full((), bits, dtype=BITS[x.itemsize], device=device).view(dtype))

    def _converted(self, x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        if x.dtype is dtype:
            return x
        return self.steps.one(lambda x: x.to(dtype), x)

    def _best_of(self, tensors: Sequence[Any], order: tuple[bool, int]) -> Sequence[Any]:
        return self.steps.run(extremum.like(tensors, *order), *tensors)

    def is_nan(self, values: Any) -> Any:
        """Return where the elements are NaN."""
        if values.is_floating_point():
            return self.steps.one(torch.isnan, values)
        return self.steps.one(lambda values: torch.zeros_like(values, dtype=torch.bool), values)

    def is_empty(self, indices: Any) -> Any:
        """Return which slices have no element that takes part."""
        return self.steps.one(lambda indices: bits_of(indices) == -1, indices)

    def any(self, places: Any, axis: int) -> Any:
        """Return which slices have a True."""
        return places.any(axis)

    def first(self, slices: Any) -> Ints | None:
        """Return the place of the first True, None if there is none; this waits for the device."""
        self.steps.forbid()
        _refuse_capture(slices)
        if not bool(slices.any()):
            return None
        return tuple(map(int, torch.nonzero(slices)[0]))

    def fill(self, result: Any, slices: Any, value: Any) -> None:
        """Write a value into the result for some slices."""
        own = np.asarray(value, TYPES[result.dtype])
        bits = int(own.view(f"i{own.itemsize}"))
        self.steps.one(lambda result, slices: bits_of(result).masked_fill_(slices, bits), result, slices)

    def filled(self, values: Any, slices: Any, value: Any) -> Any:
        """Return the values with another value in some places."""
        result = self.steps.one(torch.clone, values)
        self.fill(result, slices, value)
        return result

    def top_k(  # type: ignore[override]
        self,
        x: Elements,
        k: int,
        axis: int | None,
        *,
        function: str,
        largest: bool,
        sorted: bool,
        nan_first: bool,
        times: bool,
        where: torch.Tensor | None,
    ) -> tuple[Any, Any]:
        """Select, as the native module does; in order, also where the caller wants no order."""
        tensor = x.tensor
        if axis is None:
            tensor, where = self.steps.run(_flat, tensor, where)
            axis = 0
        best = select.like((tensor, where), k, axis, largest, BEST if nan_first else WORST)
        values, indices = self.steps.run(best, tensor, where)
        return values, indices

    def cast(self, indices: Any, dtype: np.dtype[Any]) -> Any:
        """Return the indices in the type that the caller wants."""
        return self._converted(indices, tensor_type(dtype))


def _by_end(*both: torch.Tensor | None) -> list[torch.Tensor | None]:
    """Return the results for each end of the order; None stays."""
    return [end for each in both for end in ((None, None) if each is None else each.unbind())]


def _flat(*tensors: torch.Tensor | None) -> list[torch.Tensor | None]:
    return [x if x is None else x.reshape(-1) for x in tensors]


def _refuse_capture(slices: torch.Tensor) -> None:
    """Refuse to look at elements while work is only recorded."""
    recorder = ""
    if is_traced(slices):
        recorder = "torch.compile traces this call"
    elif launcher.is_capturing():
        recorder = "a CUDA graph is being captured"
    if recorder:
        raise ArgumentError(
            f"{recorder}, and it has to see elements before it answers",
            remedy="pass a default for slices that may be empty, and a nan_policy other than 'raise'",
        )
