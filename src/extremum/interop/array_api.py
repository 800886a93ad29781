"""Arrays of any library that follows the array API standard and exports its memory through DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import as_array
from extremum.interop.adopted import Adopted, Kept

__all__ = ["adopt"]


def adopt(x: Any) -> Adopted:
    """Return an array's own memory, and results in its own namespace."""
    namespace = x.__array_namespace__()

    def back(result: NDArray[Any], kept: Kept) -> Any:
        array = np.asarray(result)
        if hasattr(namespace, "from_dlpack") and array.flags.writeable:
            try:
                return namespace.from_dlpack(array)
            except (BufferError, RuntimeError, TypeError, ValueError):
                # A type that DLPack does not carry.
                pass
        return namespace.asarray(array)

    return Adopted(as_array(x), back, library=type(x).__module__.partition(".")[0])
