"""Whether an array still fits into memory, asked before it is allocated.

Decides nothing about what to do then: an array that does not fit is refused with a :class:`MemoryLimitError`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import psutil

from extremum.errors import MemoryLimitError

__all__ = ["require_memory"]

_SMALL = 1 << 20
"""Bytes that are allocated unasked: to ask takes longer than most operations on so few."""


def require_memory(shape: Sequence[int], dtype: np.dtype[Any], what: str) -> None:
    """Refuse an array that would not fit into the memory available now; a small one is not worth the question."""
    needed = math.prod(shape) * dtype.itemsize
    if needed <= _SMALL:
        return
    available = psutil.virtual_memory().available
    if needed > available:
        raise MemoryLimitError(
            f"{what} would not fit into memory",
            given=f"{dtype.name}{list(shape)}: {needed:,} bytes, of which {available:,} are available",
        )
