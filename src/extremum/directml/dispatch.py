"""Operators that read and write memory as their descriptions say, without a copy.

An array is treated as memory: element type and length matter, the shape does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.arrays import is_numpy_masked
from extremum.directml.acceptance import accept
from extremum.directml.enumerations import FeatureLevel, feature_level_of
from extremum.directml.operators import OperatorDesc
from extremum.directml.tensor import TensorDesc
from extremum.errors import ElementTypeError, ExtremumError, InputError
from extremum.operations import Operation
from extremum.printable import counted


def _view(field: str, desc: TensorDesc, buffer: Any) -> NDArray[Any]:
    """Return the tensor in a buffer."""
    # `isinstance` would accept an object whose `__class__` claims to be an array's class.
    is_array = issubclass(type(buffer), np.ndarray)
    try:
        if is_array:
            view = _of_array(field, desc, buffer)
        else:
            view = _of_bytes(field, desc, buffer)
        if not view.flags.writeable and field.startswith("output"):
            raise InputError(f"{field} cannot be written to: its buffer is read-only")
    except ExtremumError as error:
        raise error.with_context(
            given=f"{buffer.dtype}{list(buffer.shape)}" if is_array else type(buffer).__name__,
        ) from None
    return view


def _of_array(field: str, desc: TensorDesc, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype != desc.dtype:
        raise ElementTypeError(
            f"{field} is described as {desc.data_type.name}, but its array holds {array.dtype}",
            remedy=f"pass an array of {desc.dtype}, or memoryview(array) for its bytes",
        )
    if type(array) is not np.ndarray and is_numpy_masked(type(array)) and np.ma.is_masked(array):
        raise InputError(
            f"the array of {field} has masked elements, and memory has no mask",
            remedy="fill them first, as array.filled(value) does",
        )
    if array.shape == desc.sizes and array.strides == desc.byte_strides:
        return array
    if not array.flags.c_contiguous:
        raise InputError(
            f"the array of {field} has gaps in memory, which its description does not say",
            given=f"{array.dtype}{list(array.shape)} with strides {array.strides}",
            remedy=f"describe the strides of the array, or pass a contiguous one for {desc}",
        )
    if array.size < desc.extent:
        raise InputError(
            f"{field} needs {desc.extent} elements, but its array has {array.size}",
            remedy=f"pass an array that holds {desc}",
        )
    return np.ndarray(desc.sizes, desc.dtype, array, 0, desc.byte_strides)


def _of_bytes(field: str, desc: TensorDesc, buffer: Any) -> NDArray[Any]:
    try:
        memory = memoryview(buffer)
    except TypeError:
        raise ElementTypeError(f"{field} is neither a NumPy array nor a buffer of bytes") from None
    except (ValueError, BufferError) as error:
        # For example, a closed file mapping or a released view.
        raise InputError(f"the bytes of {field} cannot be read: {error}") from None
    if not memory.c_contiguous:
        raise InputError(f"the bytes of {field} are not contiguous")
    least = desc.total_tensor_size_in_bytes
    if memory.nbytes < least:
        raise InputError(
            f"{field} needs {least} bytes, but its buffer has {memory.nbytes}",
            remedy="a buffer holds at least the total_tensor_size_in_bytes of its description",
        )
    return np.ndarray(desc.sizes, desc.dtype, memory, 0, desc.byte_strides)


class Operator:
    """The operator of a description, checked at a feature level; :func:`create_operator` makes it.

    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3))
    >>> operator = dml.create_operator(dml.ElementWiseMaxOperatorDesc(x, x, x), feature_level=dml.FeatureLevel.FL_4_1)
    >>> operator.desc.operator, str(operator.feature_level)
    ('DML_ELEMENT_WISE_MAX', '4_1')
    """

    def __init__(self, desc: OperatorDesc, feature_level: FeatureLevel, operation: Operation) -> None:
        self.desc = desc
        self.feature_level = feature_level
        self._operation: Callable[..., object] = operation
        self._inputs = desc.inputs
        self._outputs = desc.outputs

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, each.values())) for each in (self._inputs, self._outputs))
        return f"<Operator {self.desc.operator}: {inputs} -> {outputs}, feature level {self.feature_level}>"

    def dispatch(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Read the inputs and write the outputs through the described strides, without a copy.

        Parameters
        ----------
        inputs : list or tuple
            One buffer for each input tensor, in the order of the structure: a NumPy array of the described element
            type, or bytes (bytes, bytearray, memoryview, mmap). They are not modified.
        outputs : list or tuple
            One buffer for each output tensor. Padding is not written. The output of an elementwise operator may be the
            buffer of an input that is described by the same strides.

        Raises
        ------
        InputError
            If there are too few or too many buffers; if a buffer is too short, not contiguous, or read-only but
            an output; if an output shares memory with an input or with another output.
        ElementTypeError
            If the element type of an array is not the described one.

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
            sources = _views("inputs", inputs, self._inputs)
            targets = _views("outputs", outputs, self._outputs)
            for target in targets:
                for source in sources:
                    if np.may_share_memory(source, target):
                        self._require_in_place(source, target)
            if len(targets) > 1 and np.may_share_memory(targets[0], targets[1]):
                raise InputError(
                    f"the outputs of {self.desc.row} share memory", remedy="give each a buffer of its own"
                )
        except ExtremumError as error:
            raise error.with_context(where=f"dispatch of {self.desc.row}") from None
        self._operation(*sources, out=targets[0] if len(targets) == 1 else targets)

    def _require_in_place(self, source: NDArray[Any], target: NDArray[Any]) -> None:
        if not self.desc.in_place:
            row = self.desc.row
            raise InputError(
                f"the output of {row} shares memory with its input", remedy="give it a buffer of its own"
            )
        starts = [view.__array_interface__["data"][0] for view in (source, target)]
        if starts[0] != starts[1] or source.strides != target.strides:
            raise InputError(
                "the output lies partly on an input",
                remedy="in place, both have the same buffer and the same strides; else give it a buffer of its own",
            )


def _views(what: str, buffers: Any, tensors: Mapping[str, TensorDesc]) -> list[NDArray[Any]]:
    if not isinstance(buffers, list | tuple):
        raise InputError(f"{what} is neither a list nor a tuple", given=type(buffers).__name__)
    if len(buffers) != (count := len(tensors)):
        raise InputError(f"{what} takes {counted(count, 'buffer')}, not {len(buffers)}")
    # A comprehension would take half a microsecond longer, a fifth of a small dispatch.
    return list(map(_view, tensors, tensors.values(), buffers))


def create_operator(
    desc: OperatorDesc, *, feature_level: FeatureLevel | int | str = FeatureLevel.FL_6_4
) -> Operator:
    """Return an operator that is ready for dispatch, if the feature level takes its description.

    Parameters
    ----------
    desc : OperatorDesc
        One of the structures, such as :class:`extremum.directml.ArgMaxOperatorDesc`.
    feature_level : FeatureLevel, int or str
        The level that must take it, such as ``FeatureLevel.FL_4_1``, ``0x4100`` or ``"4_1"``; the newest by default.

    Raises
    ------
    SpecError
        If the feature level lacks the operator or the dimension count, or the tensors do not match each other.
    ElementTypeError
        If the feature level lacks the element type, or the element types of the tensors do not match.
    AxisError
        If an axis lies outside the tensor or is listed twice.
    ArgumentError, ArgumentTypeError
        If there is no such feature level, or `desc` is not a description.

    Notes
    -----
    Source: the documents of DML_ARGMAX, DML_ARGMIN, DML_REDUCE, DML_ELEMENT_WISE_MAX, DML_ELEMENT_WISE_MIN,
    DML_ACTIVATION_HARDMAX, DML_ACTIVATION_HARDMAX1, DML_TOP_K and DML_TOP_K1.

    Examples
    --------
    >>> import numpy as np
    >>> from extremum import directml as dml
    >>> table = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3))
    >>> index = dml.TensorDesc(dml.TensorDataType.UINT32, sizes=(1, 1))
    >>> argmax = dml.create_operator(dml.ArgMaxOperatorDesc(table, index, axes=(0, 1)), feature_level="3_0")
    >>> x, y = np.array([1, 2, 3, 3, 0, 4, 2, 5, 2], np.float32), bytearray(4)
    >>> argmax.dispatch(inputs=[x], outputs=[y])
    >>> int.from_bytes(y, "little")
    7
    """
    feature_level = feature_level_of(feature_level)
    return Operator(desc, feature_level, accept(desc, feature_level))
