"""What the array functions need of tensors on a GPU: the rules of the CPU decide, and this searches and finishes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from extremum.elementwise import broadcast_shape, broadcast_with_mask, refuse_nan_at
from extremum.engine import Engine
from extremum.errors import ArgumentError
from extremum.gpu import launcher, plans
from extremum.gpu.elementwise import extremum
from extremum.gpu.memory import bits_of
from extremum.gpu.operands import (
    ABSENT,
    BEST,
    TYPES,
    WORST,
    Elements,
    mask_of,
    tensor_type,
    tensors_of,
)
from extremum.gpu.operators import is_traced
from extremum.gpu.reductions import Search, by_end, ones, reduce
from extremum.gpu.selection import select
from extremum.indices import reduced_axes
from extremum.reductions import Index, Ints, spread_mask
from extremum.signatures import ValuesIndices, result_of


class Device(Engine):
    """The functions for tensors, in one call."""

    of_numpy = False

    def __init__(self) -> None:
        # What answers calls like this one; None where a call asks for more than its elements in order.
        self.answer: Callable[..., Any] | None = None
        self._search: Any = None

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
        self._search = reduce.like((x.tensor, where), *search)
        results = self._search(x.tensor, where)
        if where is None:
            self.answer = _answer(self._search, len(largest), values, index is not None)
        best, places = (by_end(each, len(largest)) for each in (results[0] if values else None, results[1]))
        # Without an index type, the indices tell which slices are empty.
        return 1, [list(end) for end in zip(best, places, strict=True)]

    def mask(self, function: str, where: Any, x: Elements) -> Any:
        """Return a mask of any library as a tensor in the shape of the elements."""
        mask = mask_of(function, where, x.tensor.device)
        return spread_mask(function, mask, x.shape, lambda own, shape: own.tensor.expand(shape))

    def ones(self, x: Elements, indices: torch.Tensor, axes: Ints) -> Any:
        """Return a tensor with a 1 at the index of each slice."""
        search = self._search
        mark = ones.like((x.tensor, indices), axes)
        if self.answer is not None:
            self.answer = lambda x: mark(x, search(x, None)[1])[0]
        return mark(x.tensor, indices)[0]

    def extremum(
        self, function: str, arrays: list[Any], dtype: np.dtype[Any], nan_policy: str, where: Any
    ) -> Any:
        """Return the best of tensors and numbers at each place."""
        tensors = tensors_of(arrays, dtype)
        there = None if where is None else mask_of(function, where, tensors[0].device).tensor
        if not is_traced(tensors[0]):
            # Sizes that are not known yet are PyTorch's to compare.
            shape = broadcast_shape(function, [tuple(each.shape) for each in tensors])
            if there is not None:
                broadcast_with_mask(function, shape, tuple(there.shape))
        order = (function == "maximum", WORST if nan_policy == "omit" else BEST)
        first, *others = tensors
        while len(others) >= plans.MOST_OPERANDS:
            some = extremum((*others[: plans.MOST_OPERANDS], None), *order)
            others = [*some, *others[plans.MOST_OPERANDS :]]
        best = extremum.like((first, *others, there), *order)
        given = [getattr(each, "tensor", None) for each in arrays]
        if where is None and all(own is other for own, other in zip((first, *others), given, strict=False)):
            self.answer = lambda *operands: best(*operands, None)[0]
        (result,) = best(first, *others, there)
        if nan_policy == "raise":
            nans = self.is_nan(result)
            refuse_nan_at(self.first(nans if there is None else nans & there))
        return result

    def is_nan(self, values: Any) -> Any:
        """Return where the elements are NaN."""
        self.answer = None
        return (
            torch.isnan(values) if values.is_floating_point() else torch.zeros_like(values, dtype=torch.bool)
        )

    def is_empty(self, indices: Any) -> Any:
        """Return which slices have no element that takes part."""
        self.answer = None
        return bits_of(indices) == -1

    def any(self, places: Any, axis: int) -> Any:
        """Return which slices have a True."""
        return places.any(axis)

    def first(self, slices: Any) -> Ints | None:
        """Return the place of the first True, None if there is none; this waits for the device."""
        _refuse_capture(slices)
        if not bool(slices.any()):
            return None
        return tuple(map(int, torch.nonzero(slices)[0]))

    def fill(self, result: Any, slices: Any, value: Any) -> None:
        """Write a value into the result for some slices."""
        bits = bits_of(result)
        own = np.asarray(value, TYPES[result.dtype])
        bits.masked_fill_(slices, int(own.view(f"i{own.itemsize}")))

    def filled(self, values: Any, slices: Any, value: Any) -> Any:
        """Return the values with another value in some places."""
        result = values.clone()
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
            tensor = tensor.reshape(-1)
            where = None if where is None else where.reshape(-1)
            axis = 0
        best = select.like((tensor, where), k, axis, largest, BEST if nan_first else WORST)
        if where is None and tensor is x.tensor:
            self.answer = lambda x: ValuesIndices(*best(x, None))
        values, indices = best(tensor, where)
        return values, indices

    def cast(self, indices: Any, dtype: np.dtype[Any]) -> Any:
        """Return the indices in the type that the caller wants."""
        own = indices.to(tensor_type(dtype))
        if own is not indices:
            self.answer = None
        return own


def _answer(
    search: Callable[..., Any], ends: int, values: bool, indices: bool
) -> Callable[[torch.Tensor], Any]:
    """Return what answers calls that want some results of a search."""
    if ends > 1:
        wanted = slice(0 if values else 1, 2 if indices else 1)
        return lambda x: result_of("minmax", [e for each in search(x, None)[wanted] for e in each.unbind()])
    if values and indices:
        return lambda x: ValuesIndices(*search(x, None))
    at = 0 if values else 1
    return lambda x: search(x, None)[at]


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
