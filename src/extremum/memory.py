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


def require_memory(shape: Sequence[int], dtype: np.dtype[Any], what: str) -> None:
    """Refuse an array that would not fit into the memory available now.

    Parameters
    ----------
    shape : sequence of int
        Its sizes.
    dtype : numpy.dtype
        Its element type.
    what : str
        What the array is, for the message.

    Raises
    ------
    MemoryLimitError
        If it needs more bytes than are available.

    Examples
    --------
    >>> import numpy as np
    >>> from extremum.memory import require_memory
    >>> require_memory((2, 3), np.dtype("float32"), "input 'x'")
    """
    needed = math.prod(shape) * dtype.itemsize
    available = psutil.virtual_memory().available
    if needed > available:
        raise MemoryLimitError(
            f"{what} would not fit into memory",
            given=f"{dtype.name}{list(shape)}: {needed:,} bytes, of which {available:,} are available",
        )
