"""What a reduction needs of tensors on a GPU: the rules of the CPU decide, and this searches and finishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from extremum.engine import Engine
from extremum.errors import ArgumentError
from extremum.gpu import launcher
from extremum.gpu.memory import bits_of
from extremum.gpu.operands import (
    ABSENT,
    BEST,
    TYPES,
    WORST,
    Elements,
    spread_mask_of,
    tensor_type,
)
from extremum.gpu.operators import is_traced
from extremum.gpu.reductions import Search, by_end, reduce
from extremum.gpu.selection import select
from extremum.indices import reduced_axes
from extremum.interop import Operand
from extremum.reductions import Index, Ints, Reduction


class OnDevice(Reduction):
    """A reduction of elements on a GPU."""

    __slots__ = ()

    def mask(self, x: Operand) -> Any:
        """Return a mask of the elements that take part, None if all do; this does not look for NaN."""
        elements: Any = x.array
        return spread_mask_of(self.function, self.where, elements)


class Device(Engine):
    """The functions of a reduction for tensors."""

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
        results = reduce((x.tensor, where), *search)
        best, places = (by_end(each, len(largest)) for each in (results[0] if values else None, results[1]))
        # Without an index type, the indices tell which slices are empty.
        return 1, [list(end) for end in zip(best, places, strict=True)]

    def is_nan(self, values: Any) -> Any:
        """Return where the elements are NaN."""
        return (
            torch.isnan(values) if values.is_floating_point() else torch.zeros_like(values, dtype=torch.bool)
        )

    def is_empty(self, indices: Any) -> Any:
        """Return which slices have no element that takes part."""
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
        values, indices = select((tensor, where), k, axis, largest, BEST if nan_first else WORST)
        return values, indices

    def cast(self, indices: Any, dtype: np.dtype[Any]) -> Any:
        """Return the indices in the type that the caller wants."""
        return indices.to(tensor_type(dtype))


DEVICE = Device()


def _refuse_capture(slices: torch.Tensor) -> None:
    """Refuse to look at elements while work is only recorded."""
    recorder = ""
    if is_traced(slices):
        recorder = "torch.compile traces this call"
    elif not launcher.INTERPRETED and torch.cuda.is_current_stream_capturing():
        recorder = "a CUDA graph is being captured"
    if recorder:
        raise ArgumentError(
            f"{recorder}, and it has to see elements before it answers",
            remedy="pass a default for slices that may be empty, and a nan_policy other than 'raise'",
        )
