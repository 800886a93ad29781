"""A description put over memory: views of the buffers that a dispatch is given.

Decides which buffers fit a description. An array is taken as its memory, as DirectML takes a buffer: what counts are
its element type and that it is large enough, not its shape. Nothing is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.directml.tensor import TensorDesc
from extremum.errors import ElementTypeError, InputError
from extremum.missing import is_numpy_masked

__all__ = ["Binding", "Buffer"]

Buffer = Any
"""A NumPy array, or anything that gives its bytes away: bytes, bytearray, memoryview, mmap."""


class Binding:
    """The place of one tensor in a dispatch."""

    __slots__ = ("_desc", "_dtype", "_extent", "_field", "_shape", "_size_in_bytes", "_strides", "_written")

    def __init__(self, field: str, desc: TensorDesc, written: bool) -> None:
        self._field = field
        self._desc = desc
        self._written = written
        self._dtype = desc.data_type.element_type.dtype
        self._shape = desc.sizes
        self._strides = desc.byte_strides
        self._extent = desc.extent
        self._size_in_bytes = desc.total_tensor_size_in_bytes

    def view(self, buffer: Buffer) -> NDArray[Any]:
        """Return the tensor that lies in a buffer."""
        # Not isinstance: an object may name the class of an array as its own and be none.
        if issubclass(type(buffer), np.ndarray):
            view = self._array(buffer)
        else:
            view = np.ndarray(self._shape, self._dtype, self._bytes(buffer), 0, self._strides)
        if self._written and not view.flags.writeable:
            raise InputError(f"{self._field} cannot be written to: its buffer is read-only", given=_text(buffer))
        return view

    def _array(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.dtype != self._dtype:
            raise ElementTypeError(
                f"{self._field} is described as {self._desc.data_type.name}, but its array holds {array.dtype}",
                given=_text(array),
                remedy=f"pass an array of {self._dtype}, or memoryview(array) for its bytes",
            )
        if is_numpy_masked(type(array)) and np.ma.is_masked(array):
            raise InputError(
                f"the array of {self._field} has masked elements, and memory has no mask",
                given=_text(array),
                remedy="fill them first, as array.filled(value) does",
            )
        if array.shape == self._shape and array.strides == self._strides:
            return array
        if not array.flags.c_contiguous:
            raise InputError(
                f"the array of {self._field} has gaps in memory, which its description does not say",
                given=f"{_text(array)} with strides {array.strides}",
                remedy=f"describe the strides of the array, or pass a contiguous one for {self._desc}",
            )
        if array.size < self._extent:
            raise InputError(
                f"{self._field} needs {self._extent} elements, but its array has {array.size}",
                given=_text(array),
                remedy=f"pass an array that holds {self._desc}",
            )
        return np.ndarray(self._shape, self._dtype, array, 0, self._strides)

    def _bytes(self, buffer: Buffer) -> memoryview:
        try:
            memory = memoryview(buffer)
        except TypeError:
            raise ElementTypeError(
                f"{self._field} is neither a NumPy array nor a buffer of bytes", given=_text(buffer)
            ) from None
        except (ValueError, BufferError) as error:
            # A file mapping that is closed, a view that is released.
            raise InputError(f"the bytes of {self._field} cannot be had: {error}", given=_text(buffer)) from None
        if not memory.c_contiguous:
            raise InputError(f"the bytes of {self._field} are not contiguous", given=_text(buffer))
        if memory.nbytes < self._size_in_bytes:
            raise InputError(
                f"{self._field} needs {self._size_in_bytes} bytes, but its buffer has {memory.nbytes}",
                given=_text(buffer),
                remedy="a buffer holds at least the total_tensor_size_in_bytes of its description",
            )
        return memory


def _text(buffer: Buffer) -> str:
    if issubclass(type(buffer), np.ndarray):
        return f"{buffer.dtype}{list(buffer.shape)}"
    return type(buffer).__name__
