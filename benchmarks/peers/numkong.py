"""NumKong: its argmax over one axis or all, first of equals; one thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared

__all__ = ["NumKong", "connect"]


class NumKong:
    """numkong.argmax and argmin."""

    name = "numkong"

    def __init__(self) -> None:
        self._module: Any = import_module("numkong")
        self.version: str = self._module.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared | None:
        """Bind the array; NumKong refuses the types and layouts that it does not take."""
        if case.operator not in ("argmax", "argmin") or case.last or (case.axes is not None and len(case.axes) > 1):
            return None
        pick = self._module.argmax if case.operator == "argmax" else self._module.argmin
        return Prepared(partial(pick, arrays[0]) if case.axes is None else partial(pick, arrays[0], axis=case.axes[0]))


def connect(threads: int) -> NumKong:
    """Return the adapter; raises ImportError where numkong is missing."""
    return NumKong()
