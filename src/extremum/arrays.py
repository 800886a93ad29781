"""How a value that is no NumPy array becomes one.

Decides which protocol is asked first. The native module comes here only for values it does not know; what the array
functions then accept is theirs to say.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.errors import ArgumentError, ElementTypeError

__all__ = ["as_array", "as_element"]


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


def as_element(number: bool | int | float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a Python number as an array without dimensions, in the element type of the arrays beside it.

    A number takes that type where it is of its kind or a simpler one: an int beside float arrays, not a float beside
    int arrays, which is left as NumPy reads it.

    Parameters
    ----------
    number : bool, int or float
        The number.
    dtype : numpy.dtype
        The element type beside it.

    Returns
    -------
    numpy.ndarray
        An array without dimensions.

    Raises
    ------
    ArgumentError
        If an integer lies outside the range of an integer type.

    Examples
    --------
    >>> import numpy as np
    >>> from extremum.arrays import as_element
    >>> as_element(0, np.dtype(np.float32)).dtype
    dtype('float32')
    """
    floating = dtype.kind == "f" or dtype.name == "bfloat16"
    fits = floating or isinstance(number, bool) or (isinstance(number, int) and dtype.kind in "iu")
    try:
        return np.asarray(number, dtype=dtype if fits else None)
    except OverflowError:
        raise ArgumentError(
            f"the number {number} does not fit {dtype}",
            given=f"{number} beside arrays of {dtype}",
            remedy="convert the arrays to a wider type, or pass a number within its range",
        ) from None


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
