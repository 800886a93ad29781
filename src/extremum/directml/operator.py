"""Operators: what a feature level accepts, and dispatch on buffers.

A description is accepted if the operator's version in force takes each tensor, and the tensors go together. A dispatch
copies nothing: it takes an array as memory, as DirectML takes a buffer. The element type and the length of an array
count, its shape does not.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum import dtypes, infer, lower, spec, validate
from extremum.arrays import is_numpy_masked
from extremum.directml.descriptions import (
    ActivationHardmaxOperatorDesc,
    FeatureLevel,
    OperatorDesc,
    TensorDataType,
    TensorDesc,
    TensorFlags,
    feature_level_of,
)
from extremum.errors import ArgumentTypeError, ElementTypeError, ExtremumError, InputError, SpecError
from extremum.operations import ArgReduce, Operation, TopK
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType


def accept(desc: OperatorDesc, feature_level: FeatureLevel) -> Operation:
    """Return the core operation that a description means at a feature level."""
    if not (isinstance(desc, OperatorDesc) and hasattr(desc, "operator")):
        reason = f"{type(desc).__name__} is no operator description"
        raise ArgumentTypeError(reason, remedy="make one of them, such as ArgMaxOperatorDesc")
    try:
        return _operation(desc, feature_level)
    except ExtremumError as error:
        fields = [f"{field}: {tensor}" for field, tensor in desc.tensors.items()]
        fields += [f"{field}={getattr(value, 'name', value)}" for field, value in desc.attributes.items()]
        where = f"{desc.row}, feature level {feature_level}"
        raise error.with_context(where=where, given=", ".join(fields)) from None


def _operation(desc: OperatorDesc, feature_level: FeatureLevel) -> Operation:
    schema = spec.find(spec.DIRECTML, desc.row, feature_level)
    for field, tensor in desc.tensors.items():
        _require_tensor(schema, field, tensor)
    inputs = [TensorType(tensor.data_type.element_type.name, tensor.sizes) for tensor in desc.inputs.values()]
    elements = [str(tensor.element) for tensor in inputs]
    if len(set(elements)) > 1:
        raise ElementTypeError(f"{schema} takes inputs of one element type, not {_names(elements)}")
    values = validate.attributes(schema, desc.attributes)
    index = desc.output.data_type.element_type
    operation = lower.operation(schema, values, inputs[0].rank or 0, index=index.name)
    axes = (operation.axis,) if isinstance(operation, TopK) else getattr(operation, "axes", ())
    for field, result in zip(desc.outputs, infer.outputs(schema, values, inputs, axes), strict=True):
        _require_output(desc, field, result)
    if isinstance(operation, ArgReduce):
        largest = math.prod(inputs[0].sizes or ()) // math.prod(desc.output.sizes) - 1
        if largest > np.iinfo(index.dtype).max:
            reason = f"the index may be as large as {largest}, which {desc.output.data_type.name} cannot hold"
            raise SpecError(reason, remedy="use UINT32, UINT64 or INT64 for output_tensor")
    return operation


def _require_tensor(schema: OperatorVersion, field: str, tensor: TensorDesc) -> None:
    _require_element(schema, field, tensor.data_type)
    (least, most), count = schema.ranks, tensor.dimension_count
    if not least <= count <= (most or count):
        counts = f"{least} dimensions" if least == most else f"{least} to {most} dimensions"
        remedy = "put dimensions of size 1 in front" if count < least else None
        raise SpecError(f"{schema} takes tensors of {counts}, but {field} has {count}", remedy=remedy)
    if tensor.flags & TensorFlags.OWNED_BY_DML:
        reason = f"{field} is flagged OWNED_BY_DML, but operators have no initialisation here that could take it"
        raise SpecError(reason, remedy="use TensorFlags.NONE and bind the tensor in dispatch")


def _require_element(schema: OperatorVersion, field: str, data_type: TensorDataType) -> None:
    element, types = data_type.element_type.name, _types(schema, field)
    if element not in types:
        versions = spec.OPERATORS[schema.domain, schema.name]
        later = [each for each in versions if each.since > schema.since and element in _types(each, field)]
        note = f" (it came with {later[0]})" if later else ""
        remedy = f"the element types of {field} in {schema} are: {_names(types)}"
        raise ElementTypeError(f"{schema} does not take {data_type.name} as {field}{note}", remedy=remedy)


def _types(schema: OperatorVersion, field: str) -> tuple[str, ...]:
    """Return the element types that a version takes for a tensor of a structure."""
    name = field.title().replace("_", "")
    return next((each.types for each in schema.outputs if each.name == name), schema.input.types)


def _require_output(desc: OperatorDesc, field: str, result: TensorType) -> None:
    output, sizes = desc.outputs[field], result.sizes or ()
    if result.element not in (None, output.data_type.element_type.name):
        reason = f"{field} is of type {output.data_type.name}, the input of type {_names([str(result.element)])}"
        raise ElementTypeError(reason, remedy="input and output have one element type")
    if output.sizes != sizes:
        remedy = "DirectML keeps the rank: a reduced dimension has size 1" if "axes" in desc.attributes else None
        raise SpecError(f"{field} has sizes {list(output.sizes)}, but the result has {list(sizes)}", remedy=remedy)
    if output.overlapping:
        reason = f"elements of {field} share memory: its strides are {list(output.element_strides)}"
        remedy = "each dimension has to step over all that the dimensions of smaller stride span"
        raise SpecError(reason, remedy=remedy)
    if isinstance(desc, ActivationHardmaxOperatorDesc) and any(size > 1 for size in sizes[:-2]):
        reason = f"{desc.operator} takes tensors whose sizes before the last two are 1, not {list(sizes)}"
        remedy = "use DML_ACTIVATION_HARDMAX1, from feature level 5_1 on, which takes any axes"
        raise SpecError(reason, remedy=remedy)


def _names(types: Iterable[str]) -> str:
    return ", ".join(str(dtypes.from_name(name).directml) for name in types)


def accept_element(operator: str, field: str, data_type: TensorDataType, feature_level: FeatureLevel) -> None:
    """Refuse an element type that a feature level does not take for an input of any size."""
    _require_element(spec.find(spec.DIRECTML, operator, feature_level), field, data_type)


def lowest_level(accepts: Callable[[FeatureLevel], object]) -> FeatureLevel:
    """Return the lowest feature level for which a call raises nothing, or raise what it raises for the highest."""
    *lower_levels, highest = FeatureLevel
    for level in lower_levels:
        with contextlib.suppress(ExtremumError):
            accepts(level)
            return level
    accepts(highest)
    return highest


def feature_level_required(desc: OperatorDesc) -> FeatureLevel:
    """Return the lowest feature level that takes a description.

    Parameters
    ----------
    desc : OperatorDesc
        One of the structures.

    Returns
    -------
    FeatureLevel
        Every later level takes the description too.

    Raises
    ------
    SpecError, ElementTypeError, AxisError
        If no level takes it. The message is that of the highest level.

    Notes
    -----
    Source: the tensor support tables of the operators' documents.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> row = dml.TensorDesc(dml.TensorDataType.INT64, sizes=(5,))
    >>> index = dml.TensorDesc(dml.TensorDataType.INT64, sizes=(1,))
    >>> dml.feature_level_required(dml.ArgMinOperatorDesc(row, index, axes=(0,)))
    <FeatureLevel.FL_4_1: 16640>
    """
    return lowest_level(partial(accept, desc))


Buffer = Any
"""A NumPy array, or an object with a buffer of bytes: bytes, bytearray, memoryview, mmap."""


class _Binding:
    """One tensor of a dispatch."""

    __slots__ = ("_desc", "_dtype", "_extent", "_field", "_strides")

    def __init__(self, field: str, desc: TensorDesc) -> None:
        self._field, self._desc = field, desc
        self._dtype, self._strides, self._extent = desc.data_type.element_type.dtype, desc.byte_strides, desc.extent

    def view(self, buffer: Buffer, written: bool = False) -> NDArray[Any]:
        """Return the tensor in a buffer."""
        # `isinstance` believes an object that returns the class of an array as its `__class__`.
        is_array = issubclass(type(buffer), np.ndarray)
        try:
            view = self._array(buffer) if is_array else self._bytes(buffer)
            if written and not view.flags.writeable:
                raise InputError(f"{self._field} cannot be written to: its buffer is read-only")
        except ExtremumError as error:
            given = f"{buffer.dtype}{list(buffer.shape)}" if is_array else type(buffer).__name__
            raise error.with_context(given=given) from None
        return view

    def _array(self, array: NDArray[Any]) -> NDArray[Any]:
        field, desc = self._field, self._desc
        if array.dtype != self._dtype:
            reason = f"{field} is described as {desc.data_type.name}, but its array holds {array.dtype}"
            remedy = f"pass an array of {self._dtype}, or memoryview(array) for its bytes"
            raise ElementTypeError(reason, remedy=remedy)
        if is_numpy_masked(type(array)) and np.ma.is_masked(array):
            reason = f"the array of {field} has masked elements, and memory has no mask"
            raise InputError(reason, remedy="fill them first, as array.filled(value) does")
        if array.shape == desc.sizes and array.strides == self._strides:
            return array
        if not array.flags.c_contiguous:
            raise InputError(
                f"the array of {field} has gaps in memory, which its description does not say",
                given=f"{array.dtype}{list(array.shape)} with strides {array.strides}",
                remedy=f"describe the strides of the array, or pass a contiguous one for {desc}",
            )
        if array.size < self._extent:
            reason = f"{field} needs {self._extent} elements, but its array has {array.size}"
            raise InputError(reason, remedy=f"pass an array that holds {desc}")
        return np.ndarray(desc.sizes, self._dtype, array, 0, self._strides)

    def _bytes(self, buffer: Buffer) -> NDArray[Any]:
        try:
            memory = memoryview(buffer)
        except TypeError:
            raise ElementTypeError(f"{self._field} is neither a NumPy array nor a buffer of bytes") from None
        except (ValueError, BufferError) as error:
            # A closed file mapping, a released view.
            raise InputError(f"the bytes of {self._field} cannot be read: {error}") from None
        if not memory.c_contiguous:
            raise InputError(f"the bytes of {self._field} are not contiguous")
        least = self._desc.total_tensor_size_in_bytes
        if memory.nbytes < least:
            reason = f"{self._field} needs {least} bytes, but its buffer has {memory.nbytes}"
            remedy = "a buffer holds at least the total_tensor_size_in_bytes of its description"
            raise InputError(reason, remedy=remedy)
        return np.ndarray(self._desc.sizes, self._dtype, memory, 0, self._strides)


class Operator:
    """An operator that a feature level takes; :func:`create_operator` makes them.

    Attributes
    ----------
    desc : OperatorDesc
        Its description.
    feature_level : FeatureLevel
        The level that was asked to take it.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3))
    >>> operator = dml.create_operator(dml.ElementWiseMaxOperatorDesc(x, x, x), feature_level=dml.FeatureLevel.FL_4_1)
    >>> operator.desc.operator, str(operator.feature_level)
    ('DML_ELEMENT_WISE_MAX', '4_1')
    """

    __slots__ = ("_inputs", "_operation", "_outputs", "desc", "feature_level")

    def __init__(self, desc: OperatorDesc, feature_level: FeatureLevel, operation: Operation) -> None:
        self.desc, self.feature_level = desc, feature_level
        self._operation: Callable[..., object] = operation
        self._inputs = [_Binding(field, tensor) for field, tensor in desc.inputs.items()]
        self._outputs = [_Binding(field, tensor) for field, tensor in desc.outputs.items()]

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, each.values())) for each in (self.desc.inputs, self.desc.outputs))
        return f"<Operator {self.desc.operator}: {inputs} -> {outputs}, feature level {self.feature_level}>"

    def dispatch(self, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> None:
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
            If there are too few or too many buffers; if a buffer is too short, not contiguous, or read-only and
            written; if an output shares memory with an input or with another output.
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
            buffers = _exactly("inputs", inputs, len(self._inputs))
            sources = list(map(_Binding.view, self._inputs, buffers))
            written = _exactly("outputs", outputs, len(self._outputs))
            targets = list(map(_Binding.view, self._outputs, written, repeat(True)))
            for target in targets:
                for source in sources:
                    if np.may_share_memory(source, target):
                        self._require_in_place(source, target)
            if len(targets) > 1 and np.may_share_memory(targets[0], targets[1]):
                raise InputError(f"the outputs of {self.desc.row} share memory", remedy="give each a buffer of its own")
        except ExtremumError as error:
            raise error.with_context(where=f"dispatch of {self.desc.row}") from None
        self._operation(*sources, out=targets[0] if len(targets) == 1 else targets)

    def _require_in_place(self, source: NDArray[Any], target: NDArray[Any]) -> None:
        if not self.desc.in_place:
            row = self.desc.row
            raise InputError(f"the output of {row} shares memory with its input", remedy="give it a buffer of its own")
        starts = [view.__array_interface__["data"][0] for view in (source, target)]
        if starts[0] != starts[1] or source.strides != target.strides:
            remedy = "in place, both have the same buffer and the same strides; else give it a buffer of its own"
            raise InputError("the output lies partly on an input", remedy=remedy)


def _exactly(what: str, buffers: Sequence[Buffer], count: int) -> Sequence[Buffer]:
    if not isinstance(buffers, list | tuple):
        raise InputError(f"{what} is neither a list nor a tuple", given=type(buffers).__name__)
    if len(buffers) != count:
        raise InputError(f"{what} takes {count} buffer{'s' * (count != 1)}, not {len(buffers)}")
    return buffers


def create_operator(desc: OperatorDesc, *, feature_level: FeatureLevel | int | str = FeatureLevel.FL_6_4) -> Operator:
    """Return an operator that is ready for dispatch, if the feature level takes its description.

    Parameters
    ----------
    desc : OperatorDesc
        One of the structures, such as :class:`extremum.directml.ArgMaxOperatorDesc`.
    feature_level : FeatureLevel, int or str
        The level that has to take it, such as ``FeatureLevel.FL_4_1``, ``0x4100`` or ``"4_1"``; the newest by default.

    Returns
    -------
    Operator

    Raises
    ------
    SpecError
        If the feature level lacks the operator or the dimension count, or the tensors do not go together.
    ElementTypeError
        If the feature level lacks the element type, or the tensors differ in theirs.
    AxisError
        If an axis lies outside the tensor or is listed twice.
    ArgumentError, ArgumentTypeError
        If there is no such feature level, or `desc` is no description.

    Notes
    -----
    Source: the documents of DML_ARGMAX, DML_ARGMIN, DML_REDUCE, DML_ELEMENT_WISE_MAX, DML_ELEMENT_WISE_MIN,
    DML_ACTIVATION_HARDMAX, DML_ACTIVATION_HARDMAX1, DML_TOP_K and DML_TOP_K1.

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
