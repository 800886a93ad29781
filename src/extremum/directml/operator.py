"""Operators: made from a description once, dispatched on buffers any number of times.

Decides how many buffers a dispatch takes, which of them fit a description, and which may share memory. An array is
taken as its memory, as DirectML takes a buffer: what counts are its element type and that it is large enough, not its
shape. Nothing is copied. What is accepted is :mod:`extremum.directml.acceptance`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import is_numpy_masked
from extremum.directml.acceptance import accept
from extremum.directml.descriptions import OperatorDesc
from extremum.directml.enumerations import FeatureLevel, feature_level_of
from extremum.directml.tensor import TensorDesc
from extremum.errors import ElementTypeError, ExtremumError, InputError
from extremum.operations import Operation

__all__ = ["Binding", "Buffer", "Operator", "create_operator"]


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


class Operator:
    """An operator that a feature level takes; :func:`create_operator` makes them.

    Attributes
    ----------
    desc : OperatorDesc
        What it was made from.
    feature_level : FeatureLevel
        What it was made for.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, (3, 3))
    >>> operator = dml.create_operator(dml.ElementWiseMaxOperatorDesc(x, x, x), feature_level=dml.FeatureLevel.FL_4_1)
    >>> operator.desc.operator, str(operator.feature_level)
    ('DML_ELEMENT_WISE_MAX', '4_1')
    """

    __slots__ = ("_inputs", "_operation", "_output", "desc", "feature_level")

    def __init__(self, desc: OperatorDesc, feature_level: FeatureLevel, operation: Operation) -> None:
        self.desc = desc
        self.feature_level = feature_level
        self._operation: Callable[..., NDArray[Any]] = operation
        self._inputs = tuple(Binding(field, tensor, written=False) for field, tensor in desc.inputs.items())
        self._output = Binding("output_tensor", desc.output, written=True)

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, [*self.desc.inputs.values()][:4])) + (", ..." if len(self.desc.inputs) > 4 else "")
        return f"<Operator {self.desc.operator}: {inputs} -> {self.desc.output}, feature level {self.feature_level}>"

    def dispatch(self, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> None:
        """Read the inputs and write the output, through the described strides and without a copy.

        Parameters
        ----------
        inputs : list or tuple
            One buffer for each input tensor, in the order of the structure: a NumPy array of the described element
            type, or raw bytes (bytes, bytearray, memoryview, mmap). They are not modified.
        outputs : list or tuple
            One buffer. Only the elements of the tensor are written, padding stays as it is. Where an elementwise
            operator allows it, this may be the buffer of an input that is described by the same strides.

        Raises
        ------
        InputError
            If there are too few or too many buffers, one is too short, not contiguous or read-only where it is
            written, or the output shares memory with an input.
        ElementTypeError
            If an array holds another element type than described.

        Examples
        --------
        >>> import numpy as np
        >>> from extremum import directml as dml
        >>> table = dml.TensorDesc(dml.TensorDataType.INT16, sizes=(2, 3))
        >>> column = dml.TensorDesc(dml.TensorDataType.INT64, sizes=(2, 1))
        >>> argmax = dml.create_operator(dml.ArgMaxOperatorDesc(table, column, axes=(1,)))
        >>> y = np.empty(2, np.int64)
        >>> argmax.dispatch(inputs=[np.array([[3, 9, 9], [5, 1, 0]], np.int16)], outputs=[y])
        >>> y
        array([1, 0])
        """
        try:
            sources = [
                binding.view(buffer)
                for binding, buffer in zip(self._inputs, _exactly("inputs", inputs, len(self._inputs)), strict=True)
            ]
            (buffer,) = _exactly("outputs", outputs, 1)
            target = self._output.view(buffer)
            for source in sources:
                if np.may_share_memory(source, target):
                    self._require_in_place(source, target)
        except ExtremumError as error:
            raise error.with_context(where=f"dispatch of {self.desc.row}") from None
        self._operation(*sources, out=target)

    def _require_in_place(self, source: NDArray[Any], target: NDArray[Any]) -> None:
        if not self.desc.in_place:
            raise InputError(
                f"the output of {self.desc.row} shares memory with its input", remedy="give it a buffer of its own"
            )
        if _address(source) != _address(target) or source.strides != target.strides:
            raise InputError(
                "the output lies partly on an input",
                remedy="in place, both have the same buffer and the same strides; else give it a buffer of its own",
            )


def create_operator(desc: OperatorDesc, *, feature_level: FeatureLevel | int | str = FeatureLevel.FL_6_4) -> Operator:
    """Return an operator, if the feature level takes its description.

    Parameters
    ----------
    desc : OperatorDesc
        One of the structures, such as :class:`extremum.directml.ArgMaxOperatorDesc`.
    feature_level : FeatureLevel, int or str
        What the operator has to get by with, such as ``FeatureLevel.FL_4_1``, ``0x4100`` or ``"4_1"``; the newest by
        default.

    Returns
    -------
    Operator
        To be dispatched.

    Raises
    ------
    SpecError
        If the feature level lacks the operator or the dimension count, or the tensors do not go together.
    ElementTypeError
        If the feature level lacks the element type, or the tensors differ in theirs.
    AxisError
        If an axis lies outside the tensor or is listed twice.
    ArgumentError, ArgumentTypeError
        If there is no such feature level, or the description is none.

    Notes
    -----
    Source: the documents of DML_ARGMAX, DML_ARGMIN, DML_REDUCE, DML_ELEMENT_WISE_MAX, DML_ELEMENT_WISE_MIN,
    DML_ACTIVATION_HARDMAX and DML_ACTIVATION_HARDMAX1.

    Examples
    --------
    >>> import numpy as np
    >>> from extremum import directml as dml
    >>> desc = dml.ArgMaxOperatorDesc(
    ...     input_tensor=dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3)),
    ...     output_tensor=dml.TensorDesc(dml.TensorDataType.UINT32, sizes=(1, 1)),
    ...     axes=(0, 1),
    ... )
    >>> x, y = np.array([1, 2, 3, 3, 0, 4, 2, 5, 2], np.float32), bytearray(4)
    >>> dml.create_operator(desc, feature_level=dml.FeatureLevel.FL_3_0).dispatch(inputs=[x], outputs=[y])
    >>> int.from_bytes(y, "little")
    7
    """
    feature_level = feature_level_of(feature_level)
    return Operator(desc, feature_level, accept(desc, feature_level))


def _address(view: NDArray[Any]) -> int:
    address: int = view.__array_interface__["data"][0]
    return address


def _exactly(what: str, buffers: Sequence[Buffer], count: int) -> Sequence[Buffer]:
    if not isinstance(buffers, list | tuple):
        raise InputError(f"{what} is neither a list nor a tuple", given=type(buffers).__name__)
    if len(buffers) != count:
        noun = "buffer" if count == 1 else "buffers"
        raise InputError(f"{what} takes {count} {noun}, not {len(buffers)}")
    return buffers
