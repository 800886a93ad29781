"""DirectML's operators that select the largest or smallest element, exact and on any machine.

Descriptions mirror the structures of directml.h: values, fields and order. ``create_operator`` checks one at a feature
level: each tensor against the version in force, and the tensors against each other. The operator runs on arrays or raw
buffers without a copy. It treats an array as memory: element type and length matter, the shape does not. ``lower``
translates ONNX models to the operators that onnxruntime's DirectML provider runs for them; only it needs onnx.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from functools import cached_property, partial
from itertools import accumulate
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from extremum import errors, infer, spec, validate
from extremum.arrays import is_numpy_masked
from extremum.errors import ArgumentError, ElementTypeError, ExtremumError, InputError, SpecError
from extremum.lower import operation as operation_of
from extremum.operations import ArgReduce, OneHot, Operation, Order, Reduce, Tie, TopK
from extremum.spec import Family, OperatorVersion
from extremum.tensors import ElementType, TensorType, element_of
from extremum.validate import Attributes

if TYPE_CHECKING:
    import onnx

__all__ = ["AxisDirection", "FeatureLevel", "ReduceFunction", "TensorDataType", "TensorDesc", "TensorFlags"]
__all__ += ["ArgMaxOperatorDesc", "ArgMinOperatorDesc", "ElementWiseMaxOperatorDesc", "ElementWiseMinOperatorDesc"]
__all__ += ["ActivationHardmax1OperatorDesc", "ActivationHardmaxOperatorDesc", "OperatorDesc", "ReduceOperatorDesc"]
__all__ += ["Operator", "TopK1OperatorDesc", "TopKOperatorDesc", "create_operator", "feature_level_required"]
__all__ += ["LoweredModel", "LoweredNode", "Step", "lower"]
__dir__ = __all__.copy

LARGEST = 2**32 - 1
"""The largest size or stride, and the largest number of elements of a tensor."""
Member = TypeVar("Member", bound="_Enumeration")


class _Enumeration(Enum):
    @property
    def c_name(self) -> str:
        """The enumerator in directml.h."""
        words = re.sub("(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).upper().removesuffix("S")
        return f"DML_{words}_{self.name.removeprefix('FL_')}"


class TensorDataType(_Enumeration, IntEnum):
    """DML_TENSOR_DATA_TYPE, without the 4-bit integers and UNKNOWN.

    >>> from extremum import directml as dml
    >>> dml.TensorDataType.INT64.value, dml.TensorDataType.INT64.c_name
    (11, 'DML_TENSOR_DATA_TYPE_INT64')
    """

    FLOAT32 = 1
    FLOAT16 = 2
    UINT32 = 3
    UINT16 = 4
    UINT8 = 5
    INT32 = 6
    INT16 = 7
    INT8 = 8
    FLOAT64 = 9
    UINT64 = 10
    INT64 = 11

    @property
    def element_type(self) -> ElementType:
        """The element type in :mod:`extremum.tensors`."""
        return element_of(self.name.lower())


class TensorFlags(_Enumeration, IntFlag):
    """DML_TENSOR_FLAGS.

    >>> from extremum import directml as dml
    >>> dml.TensorFlags.OWNED_BY_DML.c_name
    'DML_TENSOR_FLAG_OWNED_BY_DML'
    """

    NONE = 0
    OWNED_BY_DML = 1


class AxisDirection(_Enumeration, IntEnum):
    """DML_AXIS_DIRECTION: the tie rule. INCREASING selects the first of equal elements, DECREASING the last.

    >>> from extremum import directml as dml
    >>> dml.AxisDirection.DECREASING.value
    1
    """

    INCREASING = 0
    DECREASING = 1


class ReduceFunction(_Enumeration, IntEnum):
    """The members of DML_REDUCE_FUNCTION that select an element.

    >>> from extremum import directml as dml
    >>> dml.ReduceFunction.MAX.value
    7
    """

    ARGMAX = 0
    ARGMIN = 1
    MAX = 7
    MIN = 8


class FeatureLevel(_Enumeration, IntEnum):
    """DML_FEATURE_LEVEL. A level accepts everything that lower levels accept.

    >>> from extremum import directml as dml
    >>> hex(dml.FeatureLevel.FL_4_1), str(dml.FeatureLevel.FL_4_1)
    ('0x4100', '4_1')
    """

    FL_1_0 = 0x1000
    FL_2_0 = 0x2000
    FL_2_1 = 0x2100
    FL_3_0 = 0x3000
    FL_3_1 = 0x3100
    FL_4_0 = 0x4000
    FL_4_1 = 0x4100
    FL_5_0 = 0x5000
    FL_5_1 = 0x5100
    FL_5_2 = 0x5200
    FL_6_0 = 0x6000
    FL_6_1 = 0x6100
    FL_6_2 = 0x6200
    FL_6_3 = 0x6300
    FL_6_4 = 0x6400

    def __str__(self) -> str:
        return self.name.removeprefix("FL_")


def feature_level_of(level: object) -> FeatureLevel:
    """Return the feature level of a number such as 0x4100 or a text such as ``4_1``."""
    try:
        return FeatureLevel[f"FL_{level}"] if isinstance(level, str) else FeatureLevel(level)  # type: ignore[arg-type]
    except (KeyError, ValueError):
        text = hex(level) if isinstance(level, int) else repr(level)
        remedy = f"the levels are {', '.join(map(str, FeatureLevel))}; 4_1 is also 0x4100"
        raise ArgumentError(f"there is no feature level {text}", remedy=remedy) from None


def _member(enumeration: type[Member], where: str, value: object) -> Member:
    try:
        # Calling IntFlag would make a member of any integer.
        return next(member for member in enumeration.__members__.values() if member == value)
    except (StopIteration, ValueError):
        error = ElementTypeError if enumeration is TensorDataType else SpecError
        remedy = f"use {enumeration.__name__}: {', '.join(enumeration.__members__)}"
        raise error(f"{_field(where)} has no value {value!r}", where=where, remedy=remedy) from None


def _read(kind: str, read: Callable[[Any], Any], where: str, value: object) -> Any:
    try:
        return read(value)
    except TypeError:
        raise _error(where, f"{_field(where)} is not {kind}", value) from None


_integer = partial(_read, "an integer", operator.index)
_integers = partial(_read, "a sequence of integers", lambda values: tuple(map(operator.index, values)))


def _unsigned(where: str, values: Iterable[int]) -> tuple[int, ...]:
    numbers: tuple[int, ...] = _integers(where, values)
    for number in numbers:
        if not 0 <= number <= LARGEST:
            raise _error(where, f"{_field(where)} are numbers from 0 to {LARGEST}, not {number}", numbers)
    return numbers


def _tensor(where: str, value: object) -> TensorDesc:
    if not isinstance(value, TensorDesc):
        raise ElementTypeError(f"{_field(where)} is of type {type(value).__name__}, not TensorDesc", where=where)
    return value


def _field(where: str) -> str:
    return where.rpartition(".")[2]


def _error(where: str, reason: str, value: object, remedy: str | None = None) -> SpecError:
    return SpecError(reason, where=where, given=f"{_field(where)}={value!r}", remedy=remedy)


def packed_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major tensor without gaps."""
    return tuple(accumulate(reversed(sizes[1:]), operator.mul, initial=1))[::-1]


@dataclass(frozen=True, init=False)
class TensorDesc:
    """DML_BUFFER_TENSOR_DESC: element type, sizes and strides of a tensor in a buffer.

    Parameters
    ----------
    data_type : TensorDataType
        The element type.
    sizes : sequence of int
        The sizes of 1 to 8 dimensions. No size is 0; a tensor has at most 2**32 - 1 elements.
    strides : sequence of int, optional
        The step in elements along each dimension. 0 broadcasts; a larger stride leaves padding; any order of
        dimensions is possible. The default is a packed tensor.
    total_tensor_size_in_bytes : int, optional
        The size that a buffer must have at least. The default, which is also the minimum, is the number of bytes from
        the first element to the last, rounded up to a multiple of 4.
    guaranteed_base_offset_alignment : int, optional
        0, or a power of two not smaller than an element. It does not affect results.
    flags : TensorFlags, optional
        NONE by default.

    Raises
    ------
    SpecError
        If a value breaks one of these rules.
    ElementTypeError
        If DirectML has no such element type.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> padded = dml.TensorDesc(dml.TensorDataType.FLOAT16, sizes=(2, 3), strides=(4, 1))
    >>> padded.extent, padded.total_tensor_size_in_bytes
    (7, 16)
    """

    data_type: TensorDataType
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    total_tensor_size_in_bytes: int
    guaranteed_base_offset_alignment: int
    flags: TensorFlags

    def __init__(
        self,
        data_type: TensorDataType,
        sizes: Sequence[int],
        strides: Sequence[int] | None = None,
        total_tensor_size_in_bytes: int | None = None,
        guaranteed_base_offset_alignment: int = 0,
        flags: TensorFlags = TensorFlags.NONE,
    ) -> None:
        data_type = _member(TensorDataType, "TensorDesc.data_type", data_type)
        where, sizes = "TensorDesc.sizes", _unsigned("TensorDesc.sizes", sizes)
        if not 1 <= len(sizes) <= 8:
            raise _error(where, f"a tensor has 1 to 8 dimensions, not {len(sizes)}", sizes)
        if 0 in sizes:
            reason = f"dimension {sizes.index(0)} has size 0, and DirectML has no tensors without elements"
            raise _error(where, reason, sizes, "leave the operator out: its result is empty too")
        if strides is not None:
            strides = _unsigned("TensorDesc.strides", strides)
            if len(strides) != len(sizes):
                reason = f"{len(sizes)} dimensions have {len(strides)} strides"
                raise SpecError(reason, where="TensorDesc.strides", given=f"{strides=}, {sizes=}")
        vars(self).update(data_type=data_type, sizes=sizes, strides=strides)
        if max(math.prod(sizes), self.extent) > LARGEST:
            raise SpecError(f"a tensor has at most {LARGEST} elements", where=where, given=str(self))
        where, itemsize = "TensorDesc.total_tensor_size_in_bytes", data_type.element_type.itemsize
        least = -(-self.extent * itemsize // 4) * 4
        total = least if total_tensor_size_in_bytes is None else _integer(where, total_tensor_size_in_bytes)
        if not least <= total < 2**64:
            rule = f"{self} takes {least} bytes" if total < least else "a size is below 2**64"
            remedy = "leave it out for the smallest size that holds the tensor"
            raise _error(where, f"{rule}, not {total}", total, remedy)
        where = "TensorDesc.guaranteed_base_offset_alignment"
        alignment = _integer(where, guaranteed_base_offset_alignment)
        if alignment and (alignment < itemsize or alignment & (alignment - 1)):
            rule = f"an alignment is 0 or a power of two that is at least the size of an element, {itemsize}"
            raise _error(where, rule, alignment)
        if alignment > LARGEST:
            raise _error(where, "an alignment is below 2**32", alignment)
        flags = _member(TensorFlags, "TensorDesc.flags", flags)
        vars(self).update(total_tensor_size_in_bytes=total, guaranteed_base_offset_alignment=alignment, flags=flags)

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The element type in NumPy."""
        return self.data_type.element_type.dtype

    @property
    def dimension_count(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The strides in elements, also for a packed tensor."""
        return packed_strides(self.sizes) if self.strides is None else self.strides

    @cached_property
    def byte_strides(self) -> tuple[int, ...]:
        """The strides in bytes."""
        return tuple(stride * self.data_type.element_type.itemsize for stride in self.element_strides)

    @cached_property
    def extent(self) -> int:
        """The number of elements in memory from the first of the tensor to the last, including padding."""
        return 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.element_strides, strict=True))

    @property
    def overlapping(self) -> bool:
        """Whether two elements may share memory."""
        # They do not if each stride exceeds the span of all dimensions with smaller strides.
        span = 0
        for stride, size in sorted(zip(self.element_strides, self.sizes, strict=True)):
            if size > 1:
                if stride <= span:
                    return True
                span += (size - 1) * stride
        return False

    def __str__(self) -> str:
        strides = "" if self.strides is None else f" strides [{', '.join(map(str, self.strides))}]"
        return f"{self.data_type.name}[{', '.join(map(str, self.sizes))}]{strides}"


_READERS: Mapping[str, Callable[[str, Any], object]] = {
    "function": partial(_member, ReduceFunction),
    "axis_direction": partial(_member, AxisDirection),
    "axes": _integers,
    "axis": _integer,
    "k": _integer,
}
"""The functions that check the fields of a structure; all other fields are tensors."""


@dataclass(frozen=True)
class OperatorDesc:
    """The base class of the operator structures.

    ``operator`` is the operator's name in DirectML, and ``in_place`` tells whether the output may use the memory of an
    input. A structure raises SpecError or ElementTypeError if a field has a wrong type;
    :func:`extremum.directml.create_operator` refuses what a feature level does not accept.

    >>> from extremum import directml as dml
    >>> issubclass(dml.ReduceOperatorDesc, dml.OperatorDesc), dml.ReduceOperatorDesc.operator
    (True, 'DML_REDUCE')
    """

    operator: ClassVar[str]
    in_place: ClassVar[bool] = False

    def __post_init__(self) -> None:
        # A frozen dataclass without slots has its fields here, in their order.
        for field, value in vars(self).items():
            object.__setattr__(self, field, _READERS.get(field, _tensor)(f"{self.operator}.{field}", value))

    @property
    def row(self) -> str:
        """The operator's name in :mod:`extremum.spec`."""
        return self.operator

    @property
    def tensors(self) -> Mapping[str, TensorDesc]:
        """The tensors by field, in the order of the structure: the inputs first."""
        return {name: value for name, value in vars(self).items() if isinstance(value, TensorDesc)}

    @property
    def inputs(self) -> Mapping[str, TensorDesc]:
        """The input tensors by field."""
        return {name: tensor for name, tensor in self.tensors.items() if not name.startswith("output")}

    @property
    def outputs(self) -> Mapping[str, TensorDesc]:
        """The output tensors by field."""
        return {name: tensor for name, tensor in self.tensors.items() if name.startswith("output")}

    @property
    def output(self) -> TensorDesc:
        """The first output tensor, for most operators the only one."""
        return next(iter(self.outputs.values()))

    @property
    def attributes(self) -> Mapping[str, int | tuple[int, ...]]:
        """The axes, their direction and the number of elements, if the structure has them."""
        return {name: value for name, value in vars(self).items() if name in _READERS and name != "function"}


@dataclass(frozen=True)
class _ArgOperatorDesc(OperatorDesc):
    input_tensor: TensorDesc
    output_tensor: TensorDesc
    axes: tuple[int, ...]
    axis_direction: AxisDirection = AxisDirection.INCREASING


class ArgMaxOperatorDesc(_ArgOperatorDesc):
    """DML_ARGMAX_OPERATOR_DESC: the row-major index of the largest element within any set of axes.

    The output tensor is of INT64, INT32, UINT64 or UINT32, with the sizes of the input tensor and 1 at the axes. The
    axes are a sequence of at least one int, in any order. The axis direction is the tie rule: the first of equal
    elements wins (INCREASING, the default) or the last.

    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3))
    >>> y = dml.TensorDesc(dml.TensorDataType.UINT32, sizes=(1, 1))
    >>> dml.ArgMaxOperatorDesc(x, y, axes=[0, 1], axis_direction=dml.AxisDirection.DECREASING).axes
    (0, 1)
    """

    operator = "DML_ARGMAX"


class ArgMinOperatorDesc(_ArgOperatorDesc):
    """DML_ARGMIN_OPERATOR_DESC: the index of the smallest element; its fields are those of ArgMaxOperatorDesc.

    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, (3, 3))
    >>> y = dml.TensorDesc(dml.TensorDataType.INT64, (3, 1))
    >>> dml.ArgMinOperatorDesc(x, y, axes=(1,)).operator
    'DML_ARGMIN'
    """

    operator = "DML_ARGMIN"


@dataclass(frozen=True)
class ReduceOperatorDesc(OperatorDesc):
    """DML_REDUCE_OPERATOR_DESC: the largest or smallest element within any set of axes, or its index.

    The output tensor has the type of the input tensor (an index has an integer type), and its sizes with 1 at the axes.
    The axes are a sequence of at least one int, in any order.

    >>> from extremum import directml as dml
    >>> scores = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(2, 3))
    >>> best = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(2, 1))
    >>> dml.ReduceOperatorDesc(dml.ReduceFunction.MAX, scores, best, axes=(1,)).row
    'DML_REDUCE(MAX)'
    """

    operator = "DML_REDUCE"
    function: ReduceFunction
    input_tensor: TensorDesc
    output_tensor: TensorDesc
    axes: tuple[int, ...]

    @property
    def row(self) -> str:
        """The operator's name in :mod:`extremum.spec`, where each function has versions of its own."""
        return f"{self.operator}({self.function.name})"


@dataclass(frozen=True)
class _ElementWiseOperatorDesc(OperatorDesc):
    in_place = True
    a_tensor: TensorDesc
    b_tensor: TensorDesc
    output_tensor: TensorDesc


class ElementWiseMaxOperatorDesc(_ElementWiseOperatorDesc):
    """DML_ELEMENT_WISE_MAX_OPERATOR_DESC: the elementwise maximum of two tensors.

    All three have the same type and sizes; strides of 0 broadcast. The output may use the memory of an input.

    >>> from extremum import directml as dml
    >>> row = dml.TensorDesc(dml.TensorDataType.INT32, sizes=(2, 3), strides=(0, 1))
    >>> packed = dml.TensorDesc(dml.TensorDataType.INT32, sizes=(2, 3))
    >>> dml.ElementWiseMaxOperatorDesc(packed, row, packed).in_place
    True
    """

    operator = "DML_ELEMENT_WISE_MAX"


class ElementWiseMinOperatorDesc(_ElementWiseOperatorDesc):
    """DML_ELEMENT_WISE_MIN_OPERATOR_DESC: the elementwise minimum; its fields are those of ElementWiseMaxOperatorDesc.

    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, (3, 3))
    >>> dml.ElementWiseMinOperatorDesc(x, x, x).operator
    'DML_ELEMENT_WISE_MIN'
    """

    operator = "DML_ELEMENT_WISE_MIN"


@dataclass(frozen=True)
class ActivationHardmaxOperatorDesc(OperatorDesc):
    """DML_ACTIVATION_HARDMAX_OPERATOR_DESC: 1 at the first largest element of each row, 0 elsewhere.

    Both tensors have the same type and sizes. All sizes before the last two are 1.

    >>> from extremum import directml as dml
    >>> rows = dml.TensorDesc(dml.TensorDataType.FLOAT16, sizes=(1, 1, 8, 10))
    >>> str(dml.feature_level_required(dml.ActivationHardmaxOperatorDesc(rows, rows)))
    '1_0'
    """

    operator = "DML_ACTIVATION_HARDMAX"
    input_tensor: TensorDesc
    output_tensor: TensorDesc


@dataclass(frozen=True)
class ActivationHardmax1OperatorDesc(ActivationHardmaxOperatorDesc):
    """DML_ACTIVATION_HARDMAX1_OPERATOR_DESC: 1 at the first largest element within any set of axes, 0 elsewhere.

    Both tensors have the same type and sizes. The axes are a sequence of at least one int, in any order.

    >>> from extremum import directml as dml
    >>> cube = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(2, 2, 2))
    >>> str(dml.feature_level_required(dml.ActivationHardmax1OperatorDesc(cube, cube, axes=(0, 2))))
    '5_1'
    """

    operator = "DML_ACTIVATION_HARDMAX1"
    axes: tuple[int, ...]


@dataclass(frozen=True)
class TopKOperatorDesc(OperatorDesc):
    """DML_TOP_K_OPERATOR_DESC: the largest elements along one axis, the largest first, and their indices.

    The value tensor has the type of the input tensor, and its sizes with `k` at the axis. The index tensor has the
    same sizes, and is of UINT64 or UINT32. The first of equal elements comes first. The int `k` is at least 1 and at
    most the size of the axis.

    >>> from extremum import directml as dml
    >>> scores = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 4))
    >>> best, index = (dml.TensorDesc(dml.TensorDataType[each], sizes=(3, 2)) for each in ("FLOAT32", "UINT32"))
    >>> str(dml.feature_level_required(dml.TopKOperatorDesc(scores, best, index, axis=1, k=2)))
    '3_1'
    """

    operator = "DML_TOP_K"
    input_tensor: TensorDesc
    output_value_tensor: TensorDesc
    output_index_tensor: TensorDesc
    axis: int
    k: int


@dataclass(frozen=True)
class TopK1OperatorDesc(TopKOperatorDesc):
    """DML_TOP_K1_OPERATOR_DESC: the largest or smallest elements along one axis, and their indices.

    Its other fields are those of TopKOperatorDesc. The axis direction is the order of the elements: INCREASING gives
    the smallest in ascending order, DECREASING the largest in descending order.

    >>> from extremum import directml as dml
    >>> row = dml.TensorDesc(dml.TensorDataType.INT8, sizes=(4,))
    >>> best, index = (dml.TensorDesc(dml.TensorDataType[each], sizes=(2,)) for each in ("INT8", "UINT32"))
    >>> dml.TopK1OperatorDesc(row, best, index, axis=0, k=2, axis_direction=dml.AxisDirection.DECREASING).operator
    'DML_TOP_K1'
    """

    operator = "DML_TOP_K1"
    axis_direction: AxisDirection


def accept(desc: OperatorDesc, feature_level: FeatureLevel) -> Operation:
    """Return the core operation of a description that a feature level takes."""
    if not (isinstance(desc, OperatorDesc) and hasattr(desc, "operator")):
        reason = f"{type(desc).__name__} is no operator description"
        raise errors.ArgumentTypeError(reason, remedy="make one of them, such as ArgMaxOperatorDesc")
    try:
        schema = spec.find(spec.DIRECTML, desc.row, feature_level)
        for field, tensor in desc.tensors.items():
            _require_tensor(schema, field, tensor)
        inputs = [TensorType(tensor.data_type.element_type.name, tensor.sizes) for tensor in desc.inputs.values()]
        elements = [str(tensor.element) for tensor in inputs]
        if len(set(elements)) > 1:
            raise ElementTypeError(f"{schema} takes inputs of one element type, not {', '.join(elements).upper()}")
        values = validate.attributes(schema, desc.attributes)
        index = desc.output.data_type.element_type
        operation = operation_of(schema, values, inputs[0].rank or 0, index=index.name)
        for field, result in zip(desc.outputs, infer.outputs(schema, values, inputs), strict=True):
            _require_output(desc, field, result)
        if isinstance(operation, ArgReduce):
            largest = math.prod(inputs[0].sizes or ()) // math.prod(desc.output.sizes) - 1
            if largest > np.iinfo(index.dtype).max:
                reason = f"the index may be as large as {largest}, which {desc.output.data_type.name} cannot hold"
                raise SpecError(reason, remedy="use UINT32, UINT64 or INT64 for output_tensor")
    except ExtremumError as error:
        fields = [f"{field}: {tensor}" for field, tensor in desc.tensors.items()]
        fields += [f"{field}={getattr(value, 'name', value)}" for field, value in desc.attributes.items()]
        where = f"{desc.row}, feature level {feature_level}"
        raise error.with_context(where=where, given=", ".join(fields)) from None
    return operation


def _require_tensor(schema: OperatorVersion, field: str, tensor: TensorDesc) -> None:
    validate.element_type(schema, tensor.data_type.element_type.name, field)
    (least, most), count = schema.ranks, tensor.dimension_count
    if not least <= count <= (most or count):
        counts = f"{least} dimensions" if least == most else f"{least} to {most} dimensions"
        remedy = "put dimensions of size 1 in front" if count < least else None
        raise SpecError(f"{schema} takes tensors of {counts}, but {field} has {count}", remedy=remedy)
    if tensor.flags & TensorFlags.OWNED_BY_DML:
        reason = f"{field} is flagged OWNED_BY_DML, but operators have no initialisation here that could take it"
        raise SpecError(reason, remedy="use TensorFlags.NONE and bind the tensor in dispatch")


def _require_output(desc: OperatorDesc, field: str, result: TensorType) -> None:
    output, sizes = desc.outputs[field], result.sizes or ()
    if result.element not in (None, output.data_type.element_type.name):
        reason = f"{field} is of type {output.data_type.name}, the input of type {str(result.element).upper()}"
        raise ElementTypeError(reason, remedy="input and output have one element type")
    if output.sizes != sizes:
        remedy = "DirectML keeps the rank: a reduced dimension has size 1" if "axes" in desc.attributes else None
        raise SpecError(f"{field} has sizes {list(output.sizes)}, but the result has {list(sizes)}", remedy=remedy)
    if output.overlapping:
        reason = f"elements of {field} share memory: its strides are {list(output.element_strides)}"
        remedy = "the stride of each dimension must exceed the span of all dimensions with smaller strides"
        raise SpecError(reason, remedy=remedy)
    if type(desc) is ActivationHardmaxOperatorDesc and any(size > 1 for size in sizes[:-2]):
        reason = f"{desc.operator} takes tensors whose sizes before the last two are 1, not {list(sizes)}"
        remedy = "use DML_ACTIVATION_HARDMAX1, from feature level 5_1 on, which takes any axes"
        raise SpecError(reason, remedy=remedy)


def lowest_level(accepts: Callable[[FeatureLevel], object]) -> FeatureLevel:
    """Return the lowest feature level for which a call raises nothing, or raise the error of the highest level."""
    *lower_levels, highest = FeatureLevel
    for level in lower_levels:
        with contextlib.suppress(ExtremumError):
            accepts(level)
            return level
    accepts(highest)
    return highest


def feature_level_required(desc: OperatorDesc) -> FeatureLevel:
    """Return the lowest feature level that takes a description; every higher level takes it too.

    If none does, it raises what :func:`extremum.directml.create_operator` raises at the highest level. Source: the
    tensor support tables of the operators' documents.

    >>> from extremum import directml as dml
    >>> row = dml.TensorDesc(dml.TensorDataType.INT64, sizes=(5,))
    >>> index = dml.TensorDesc(dml.TensorDataType.INT64, sizes=(1,))
    >>> dml.feature_level_required(dml.ArgMinOperatorDesc(row, index, axes=(0,)))
    <FeatureLevel.FL_4_1: 16640>
    """
    return lowest_level(partial(accept, desc))


def _view(field: str, desc: TensorDesc, buffer: Any) -> NDArray[Any]:
    """Return the tensor in a buffer."""
    # `isinstance` would accept an object whose `__class__` claims to be an array's class.
    is_array = issubclass(type(buffer), np.ndarray)
    try:
        view = _of_array(field, desc, buffer) if is_array else _of_bytes(field, desc, buffer)
        if not view.flags.writeable and field.startswith("output"):
            raise InputError(f"{field} cannot be written to: its buffer is read-only")
    except ExtremumError as error:
        given = f"{buffer.dtype}{list(buffer.shape)}" if is_array else type(buffer).__name__
        raise error.with_context(given=given) from None
    return view


def _of_array(field: str, desc: TensorDesc, array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype != desc.dtype:
        reason = f"{field} is described as {desc.data_type.name}, but its array holds {array.dtype}"
        raise ElementTypeError(reason, remedy=f"pass an array of {desc.dtype}, or memoryview(array) for its bytes")
    if type(array) is not np.ndarray and is_numpy_masked(type(array)) and np.ma.is_masked(array):
        reason = f"the array of {field} has masked elements, and memory has no mask"
        raise InputError(reason, remedy="fill them first, as array.filled(value) does")
    if array.shape == desc.sizes and array.strides == desc.byte_strides:
        return array
    if not array.flags.c_contiguous:
        reason = f"the array of {field} has gaps in memory, which its description does not say"
        given = f"{array.dtype}{list(array.shape)} with strides {array.strides}"
        remedy = f"describe the strides of the array, or pass a contiguous one for {desc}"
        raise InputError(reason, given=given, remedy=remedy)
    if array.size < desc.extent:
        reason = f"{field} needs {desc.extent} elements, but its array has {array.size}"
        raise InputError(reason, remedy=f"pass an array that holds {desc}")
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
        reason = f"{field} needs {least} bytes, but its buffer has {memory.nbytes}"
        raise InputError(reason, remedy="a buffer holds at least the total_tensor_size_in_bytes of its description")
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
        self.desc, self.feature_level = desc, feature_level
        self._operation: Callable[..., object] = operation
        self._inputs, self._outputs = desc.inputs, desc.outputs

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


def _views(what: str, buffers: Any, tensors: Mapping[str, TensorDesc]) -> list[NDArray[Any]]:
    if not isinstance(buffers, list | tuple):
        raise InputError(f"{what} is neither a list nor a tuple", given=type(buffers).__name__)
    if len(buffers) != (count := len(tensors)):
        raise InputError(f"{what} takes {count} buffer{'s' * (count != 1)}, not {len(buffers)}")
    # A comprehension would take half a microsecond longer, a fifth of a small dispatch.
    return list(map(_view, tensors, tensors.values(), buffers))


def create_operator(desc: OperatorDesc, *, feature_level: FeatureLevel | int | str = FeatureLevel.FL_6_4) -> Operator:
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


@dataclass(frozen=True, slots=True)
class Step:
    """One operator, the lowest feature level that takes it, and the names of the model's tensors it is dispatched on.

    Each tensor has one name, in the order of the structure. If an output is also an input, it is written in place.

    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }'
    >>> (node,) = dml.lower(onnx.parser.parse_model(text)).nodes
    >>> node.steps[0].desc.operator, node.steps[0].inputs, node.steps[0].output, str(node.steps[0].feature_level)
    ('DML_ARGMAX', ('x',), 'y', '3_0')
    """

    desc: OperatorDesc
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    feature_level: FeatureLevel

    @property
    def output(self) -> str:
        """The first tensor that is written, for most operators the only one."""
        return self.outputs[0]


@dataclass(frozen=True, slots=True)
class LoweredNode:
    """A node of the model, by its place and version, and the steps that compute it, in order.

    A node has at least one step, and all its steps write the same tensors.

    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }'
    >>> (node,) = dml.lower(onnx.parser.parse_model(text)).nodes
    >>> node.place, node.version, len(node.steps)
    ('graph.node[0]', 'ArgMax-13', 1)
    """

    place: str
    version: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class LoweredModel:
    """The nodes of a model that pick the largest or smallest, as DirectML's operators at a feature level.

    The nodes are in the model's order. ``refusals`` has one error for each node that DirectML cannot run: what prevents
    it, where, and what would help. ``constants`` are the tensors with a fixed value that the operators read.

    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (double[3] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> (refusal,) = dml.lower(onnx.parser.parse_model(text)).refusals
    >>> print(refusal.reason)
    DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor
    """

    feature_level: FeatureLevel
    nodes: tuple[LoweredNode, ...]
    refusals: tuple[ExtremumError, ...]
    constants: Mapping[str, NDArray[Any]]


_ROWS: Mapping[Family, str] = {
    Family.ARGMAX: "DML_ARGMAX",
    Family.ARGMIN: "DML_ARGMIN",
    Family.HARDMAX: "DML_ACTIVATION_HARDMAX1",
    Family.MAXIMUM: "DML_ELEMENT_WISE_MAX",
    Family.MINIMUM: "DML_ELEMENT_WISE_MIN",
    Family.LARGEST: "DML_REDUCE(MAX)",
    Family.SMALLEST: "DML_REDUCE(MIN)",
    Family.TOP: "DML_TOP_K1",
}
"""The DirectML operator of each family, by its name in :mod:`extremum.spec`."""


def steps(
    schema: OperatorVersion,
    values: Attributes,
    inputs: Sequence[tuple[str, TensorType]],
    outputs: Sequence[tuple[str, TensorType]],
    feature_level: FeatureLevel,
) -> tuple[Step, ...]:
    """Return the operators that compute one node of the family."""
    row = _ROWS[schema.family]
    for name, tensor in inputs:
        if tensor.element is None or tensor.sizes is None:
            raise _unknown_sizes(row, name, tensor, feature_level)
    (source, first), (name, result) = inputs[0], outputs[0]
    operation = operation_of(schema, values, first.rank or 0)
    if isinstance(operation, ArgReduce | OneHot | TopK) or (isinstance(operation, Reduce) and operation.axes):
        desc = _reduction(row, operation, first, feature_level)
        required = _required(feature_level, partial(accept, desc))
        return (Step(desc, (source,), tuple(each for each, _ in outputs), required),)
    structure = ElementWiseMaxOperatorDesc if operation.order is Order.MAX else ElementWiseMinOperatorDesc
    sizes, _ = _full_sizes(structure.operator, result, feature_level)
    packed = TensorDesc(_data_type(result), sizes)
    # A single input, also one that is reduced over no axis, is combined with itself. From the second step on, each step
    # combines the output with the next operand.
    base, left, chain = source, _broadcast(first, sizes), list[Step]()
    for operand, tensor in inputs[1:] or inputs:
        desc = structure(left, _broadcast(tensor, sizes), packed)
        chain.append(Step(desc, (base, operand), (name,), _required(feature_level, partial(accept, desc))))
        base, left = name, packed
    return tuple(chain)


def _reduction(
    row: str, operation: ArgReduce | OneHot | Reduce | TopK, tensor: TensorType, feature_level: FeatureLevel
) -> OperatorDesc:
    sizes, shift = tensor.sizes or (), 0
    if isinstance(operation, Reduce | TopK):
        sizes, shift = _full_sizes(row, tensor, feature_level)
    source = TensorDesc(_data_type(tensor), sizes)
    if isinstance(operation, TopK):
        axis = operation.axis + shift
        best = (*sizes[:axis], operation.k, *sizes[axis + 1 :])
        # No index is negative, so UINT64 has the same bits as INT64.
        value, index = TensorDesc(source.data_type, best), TensorDesc(TensorDataType.UINT64, best)
        return TopK1OperatorDesc(source, value, index, axis, operation.k, AxisDirection(operation.order is Order.MAX))
    axes = tuple(axis + shift for axis in operation.axes)
    if isinstance(operation, OneHot):
        return ActivationHardmax1OperatorDesc(source, source, axes)
    dims = [1 if axis in axes else size for axis, size in enumerate(sizes)]
    if isinstance(operation, Reduce):
        result = TensorDesc(source.data_type, dims)
        return ReduceOperatorDesc(ReduceFunction[operation.order.name], source, result, axes)
    structure = ArgMaxOperatorDesc if operation.order is Order.MAX else ArgMinOperatorDesc
    return structure(source, TensorDesc(TensorDataType.INT64, dims), axes, AxisDirection(operation.tie is Tie.LAST))


def _full_sizes(row: str, tensor: TensorType, feature_level: FeatureLevel) -> tuple[tuple[int, ...], int]:
    """Return the sizes, padded with 1 in front to the operator's lowest rank, and the number of these 1s."""
    sizes = tensor.sizes or ()
    count = max(spec.find(spec.DIRECTML, row, feature_level).ranks[0] - len(sizes), 0)
    return (1,) * count + sizes, count


def _broadcast(operand: TensorType, sizes: tuple[int, ...]) -> TensorDesc:
    """Describe an operand with the sizes of the result: a broadcast dimension has stride 0."""
    own = operand.sizes or ()
    own = (1,) * (len(sizes) - len(own)) + own
    strides = tuple(0 if size == 1 else stride for size, stride in zip(own, packed_strides(own), strict=True))
    return TensorDesc(_data_type(operand), sizes, None if own == sizes else strides)


def _unknown_sizes(row: str, name: str, tensor: TensorType, feature_level: FeatureLevel) -> ExtremumError:
    """Return the error about the element type, which no sizes would fix, or else about unknown sizes."""
    from extremum.graph.inference import is_made_up

    if tensor.shape is not None:
        # A user cannot set the sizes that inference named.
        shape = (None if isinstance(size, str) and is_made_up(size) else size for size in tensor.shape)
        tensor = TensorType(tensor.element, tuple(shape))
    given = f"{name}: {tensor}"
    if tensor.element is not None:
        field = "a_tensor" if row.startswith("DML_ELEMENT_WISE") else "input_tensor"
        try:
            element, find = _data_type(tensor).element_type.name, partial(spec.find, spec.DIRECTML, row)
            _required(feature_level, lambda level: validate.element_type(find(level), element, field))
        except ExtremumError as error:
            return error.with_context(given=given)
    symbols = [size for size in tensor.shape or () if isinstance(size, str)]
    reason = f"the sizes of {name!r} are not known before the model runs, and a description states them"
    remedy = f"give a size to {', '.join(symbols)}" if symbols else "declare the sizes of the model's inputs"
    return SpecError(reason, given=given, remedy=remedy)


def _data_type(tensor: TensorType) -> TensorDataType:
    element = element_of(str(tensor.element))
    if element.name.upper() not in TensorDataType.__members__:
        raise ElementTypeError(f"DirectML has no tensors of {element.name}", remedy="put a Cast to float before it")
    return TensorDataType[element.name.upper()]


def _required(feature_level: FeatureLevel, accepts: Callable[[FeatureLevel], object]) -> FeatureLevel:
    """Return the lowest level that accepts; if it is higher than `feature_level`, raise the error of the latter."""
    required = lowest_level(accepts)
    if required > feature_level:
        try:
            accepts(feature_level)
        except ExtremumError as error:
            remedy = f"use feature level {required} or later"
            raise type(error)(error.reason, given=error.given, remedy=remedy) from None
    return required


def lower(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    feature_level: FeatureLevel | int | str = FeatureLevel.FL_6_4,
    *,
    sizes: Mapping[str, int] | None = None,
) -> LoweredModel:
    """Translate the nodes of a model that pick the largest or smallest into DirectML's operators.

    ArgMax and ArgMin become DML_ARGMAX and DML_ARGMIN, which keep the rank: without ``keepdims`` the output's buffer is
    the same, and its description has the kept dimensions. Max and Min become a chain of DML_ELEMENT_WISE_MAX or MIN
    that accumulates in the output; strides of 0 broadcast. Hardmax becomes DML_ACTIVATION_HARDMAX1, before version 13
    over all axes from its axis on. ReduceMax and ReduceMin become DML_REDUCE, or an elementwise step if no axis is
    reduced. TopK becomes DML_TOP_K1 with indices of UINT64, which has the bits of the int64 that ONNX gives.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or the file that holds it. Other operators are ignored.
    feature_level : FeatureLevel, int or str
        The level that must take them, such as ``FeatureLevel.FL_4_1``, ``0x4100`` or ``"4_1"``; the newest by default.
    sizes : mapping of str to int, optional
        The size of each symbolic dimension, because descriptions state every size.

    Raises
    ------
    ModelError
        If it is not an ONNX model.
    ArgumentError
        If a name in ``sizes`` is not a dimension of the model, a size is not valid, or there is no such feature level.
    OSError
        If the file cannot be read.

    Notes
    -----
    Source: the operators' documents of ONNX and DirectML, and onnxruntime's DirectML execution provider.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 3] x) => (int64[n, 1] y) { y = ArgMax<axis=1>(x) }'
    >>> (node,) = dml.lower(onnx.parser.parse_model(text), dml.FeatureLevel.FL_3_0, sizes={"n": 8}).nodes
    >>> step = node.steps[0]
    >>> step.desc.operator, str(step.desc.input_tensor), step.desc.axes
    ('DML_ARGMAX', 'FLOAT32[8, 3]', (1,))
    """
    with errors.required_by("extremum.directml.lower"):
        from extremum.graph.load import Model
        from extremum.graph.sites import sites
        from extremum.graph.types import array, name_dimensions, skeleton

    feature_level = feature_level_of(feature_level)
    whole = Model(model).whole
    copy = skeleton(whole)
    name_dimensions(copy.graph)
    _set_sizes(copy.graph, sizes or {})
    nodes, refusals = list[LoweredNode](), list[ExtremumError]()
    for site in sites(copy, inlined=True):
        try:
            if site.schema is None:
                continue
            outputs = list(zip(site.node.output, site.outputs(), strict=True))
            inputs = list(zip(site.names, site.operands, strict=False))
            chain = steps(site.schema, site.accepted, inputs, outputs, feature_level)
            nodes.append(LoweredNode(site.place, str(site.schema), chain))
        except ExtremumError as error:
            refusals.append(type(error)(error.reason, where=site.place, given=error.given, remedy=error.remedy))
    names = {name for node in nodes for step in node.steps for name in step.inputs}
    tensors = {tensor.name: tensor for tensor in whole.graph.initializer}
    for node in whole.graph.node:
        if node.op_type == "Constant" and node.output:
            tensors.update((node.output[0], each.t) for each in node.attribute if each.name == "value")
    constants = {name: array(tensor) for name, tensor in tensors.items() if name in names}
    return LoweredModel(feature_level, tuple(nodes), tuple(refusals), constants)


def _set_sizes(graph: onnx.GraphProto, sizes: Mapping[str, int]) -> None:
    values = (*graph.input, *graph.output, *graph.value_info)
    dimensions = [each for value in values for each in value.type.tensor_type.shape.dim if each.dim_param]
    symbols = dict.fromkeys(dimension.dim_param for dimension in dimensions)
    for name, size in sizes.items():
        if name not in symbols:
            remedy = f"its symbolic dimensions are: {', '.join(symbols) or 'none'}"
            raise ArgumentError(f"the model has no dimension {name!r}", remedy=remedy)
        if not (isinstance(size, Integral) and 0 <= size <= LARGEST):
            raise ArgumentError(f"the size of dimension {name!r} is not a number from 0 to {LARGEST}")
    for dimension in dimensions:
        if dimension.dim_param in sizes:
            dimension.dim_value = sizes[dimension.dim_param]
