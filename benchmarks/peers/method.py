"""NumPy's ndarray.argmax, the shortest way into NumPy: it takes part in the calls on 8 elements only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.matrix import CALL, Case
from benchmarks.peers.contender import Prepared

__all__ = ["Method", "connect"]


class Method:
    """The method a.argmax()."""

    name = "method"
    version = np.__version__

    def prepare(self, case: Case, arrays: Sequence[NDArray[Any]]) -> Prepared | None:
        """Bind the method, without an argument."""
        return Prepared(arrays[0].argmax) if case.kind == CALL and not case.last else None


def connect(threads: int) -> Method:
    """Return the adapter; there is no thread count to set."""
    return Method()
