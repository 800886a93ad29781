"""PyTorch on the CPU: torch.argmax, torch.maximum and recipes as for NumPy; threads through set_num_threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared

__all__ = ["Torch", "connect"]


class Torch:
    """torch.argmax and its siblings, on tensors that share the arrays' memory."""

    name = "torch"

    def __init__(self, threads: int) -> None:
        self._torch: Any = import_module("torch")
        self._torch.set_num_threads(threads)
        self.version: str = self._torch.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared:
        """Wrap the arrays; PyTorch refuses negative strides and has no argmax for wide unsigned types."""
        tensors = [self._tensor(array) for array in arrays]
        return Prepared(self._function(case, tensors), self._array)

    def _tensor(self, array: NDArray[Any]) -> Any:
        if array.dtype.name == "bfloat16":
            return self._torch.from_numpy(array.view(np.int16)).view(self._torch.bfloat16)
        return self._torch.from_numpy(array)

    def _array(self, tensor: Any) -> NDArray[Any]:
        return np.asarray(tensor.float() if tensor.dtype == self._torch.bfloat16 else tensor)

    def _function(self, case: Case, tensors: list[Any]) -> Callable[[], Any]:
        if case.elementwise:
            pick = self._torch.maximum if case.operator == "max" else self._torch.minimum
            return partial(reduce, pick, tensors)
        pick = self._torch.argmin if case.operator == "argmin" else self._torch.argmax
        x = tensors[0]
        if case.operator == "hardmax":
            return lambda: self._hardmax(case, x)
        if case.last:
            return lambda: self._last(case, x, pick)
        if case.axes is None:
            return partial(pick, x)
        if len(case.axes) == 1:
            return partial(pick, x, dim=case.axes[0])
        return lambda: pick(_rows(case, x), dim=-1)

    def _last(self, case: Case, x: Any, pick: Callable[..., Any]) -> Any:
        if len(case.reduced) == 1:
            return x.shape[case.reduced[0]] - 1 - pick(x.flip(case.reduced[0]), dim=case.reduced[0])
        rows = _rows(case, x)
        return rows.shape[-1] - 1 - pick(rows.flip(-1), dim=-1)

    def _hardmax(self, case: Case, x: Any) -> Any:
        rows, axis = (x, case.reduced[0]) if len(case.reduced) == 1 else (_rows(case, x), -1)
        index = rows.argmax(dim=axis, keepdim=True)
        return self._torch.zeros_like(rows).scatter_(axis, index, 1).reshape(x.shape)


def _rows(case: Case, x: Any) -> Any:
    return x.permute(case.kept + case.reduced).reshape(*case.kept_shape, -1)


def connect(threads: int) -> Torch:
    """Return the adapter; raises ImportError where torch is missing."""
    return Torch(threads)
