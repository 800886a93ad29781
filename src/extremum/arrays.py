"""How a value that is no NumPy array becomes one.

Decides which protocol is asked first. The native module comes here only for values it does not know; what the array
functions then accept is theirs to say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ElementTypeError

__all__ = ["as_array"]


def as_array(x: object) -> NDArray[Any]:
    """Return ``x`` as a NumPy array, sharing its memory where a protocol allows it.

    DLPack is asked first (PyTorch, JAX, CuPy on the host), then ``__array__``, the buffer protocol and sequences.

    Parameters
    ----------
    x : object
        Anything array-like that holds numbers.

    Returns
    -------
    numpy.ndarray
        A view of the same memory, or a new array for a sequence.

    Raises
    ------
    ElementTypeError
        If the elements are objects, text or bytes, so that no order is defined.

    Examples
    --------
    >>> from extremum.arrays import as_array
    >>> as_array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    array = x if isinstance(x, np.ndarray) else _through_protocols(x)
    if array.dtype.kind in "OSU":
        raise ElementTypeError(
            f"elements of type {array.dtype} have no order here",
            given=f"{type(x).__module__}.{type(x).__qualname__}",
            remedy="pass numbers of one element type, in rows of equal length",
        )
    return array


def _through_protocols(x: Any) -> NDArray[Any]:
    if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError):
            # The producer cannot export this type, layout or device: bfloat16 is the usual case.
            pass
    try:
        return np.asarray(x)
    except ValueError:
        # NumPy's word for rows of different lengths.
        return np.asarray(x, dtype=object)
