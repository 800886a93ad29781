"""polars: Series.arg_max on one dimension; its pool is sized by POLARS_MAX_THREADS, read at import."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from benchmarks.matrix import Case
from benchmarks.peers.contender import Prepared

__all__ = ["Polars", "connect"]


class Polars:
    """polars.Series.arg_max and arg_min."""

    name = "polars"

    def __init__(self, threads: int) -> None:
        os.environ["POLARS_MAX_THREADS"] = str(threads)
        self._module: Any = import_module("polars")
        self.version: str = self._module.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared | None:
        """Put the array into a series: first of equals, one dimension."""
        if case.operator not in ("argmax", "argmin") or case.last or len(case.shape) != 1:
            return None
        series = self._module.Series(arrays[0])
        return Prepared(series.arg_max if case.operator == "argmax" else series.arg_min)


def connect(threads: int) -> Polars:
    """Return the adapter; raises ImportError where polars is missing."""
    return Polars(threads)
