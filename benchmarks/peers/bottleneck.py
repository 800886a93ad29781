"""bottleneck: nanargmax, which is argmax where no NaN is, on the four types it has compiled code for; one thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared

__all__ = ["Bottleneck", "connect"]

_COMPILED = ("float32", "float64", "int32", "int64")


class Bottleneck:
    """bottleneck.nanargmax and nanargmin."""

    name = "bottleneck"

    def __init__(self) -> None:
        self._module: Any = import_module("bottleneck")
        self.version: str = self._module.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared | None:
        """Bind the array: first of equals, one axis or all."""
        if case.operator not in ("argmax", "argmin") or case.last or case.element_type not in _COMPILED:
            return None
        if case.axes is not None and len(case.axes) > 1:
            return None
        pick = self._module.nanargmax if case.operator == "argmax" else self._module.nanargmin
        return Prepared(partial(pick, arrays[0]) if case.axes is None else partial(pick, arrays[0], case.axes[0]))


def connect(threads: int) -> Bottleneck:
    """Return the adapter; raises ImportError where bottleneck is missing."""
    return Bottleneck()
