"""DirectML's enumerations, tensors and operator structures, with the values, fields and order of directml.h.

Decides which descriptions exist at all. Which feature level takes one is :mod:`extremum.directml.operator`'s.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from functools import partial
from itertools import accumulate
from typing import Any, ClassVar, TypeVar

from extremum import dtypes
from extremum.dtypes import ElementType
from extremum.errors import ArgumentError, ElementTypeError, SpecError


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
        """The row of :mod:`extremum.dtypes`."""
        return dtypes.from_directml(self.name)


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


def feature_level_of(given: object) -> FeatureLevel:
    """Return the feature level of a number such as 0x4100 or a text such as ``4_1``."""
    try:
        return FeatureLevel[f"FL_{given}"] if isinstance(given, str) else FeatureLevel(given)  # type: ignore[arg-type]
    except (KeyError, ValueError):
        text = hex(given) if isinstance(given, int) else repr(given)
        remedy = f"the levels are {', '.join(map(str, FeatureLevel))}; 4_1 is also 0x4100"
        raise ArgumentError(f"there is no feature level {text}", remedy=remedy) from None


Member = TypeVar("Member", bound=_Enumeration)


def _member(enumeration: type[Member], where: str, value: object) -> Member:
    try:
        member = enumeration(value)
    except ValueError:
        member = None
    # IntFlag makes a member of any integer.
    if member is None or member.name not in enumeration.__members__:
        error = ElementTypeError if enumeration is TensorDataType else SpecError
        remedy = f"use {enumeration.__name__}: {', '.join(enumeration.__members__)}"
        raise error(f"{_field(where)} has no value {value!r}", where=where, remedy=remedy)
    return member


def _integer(where: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise _broken(where, f"{_field(where)} is not an integer", value) from None


def _integers(where: str, values: Any) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, values))
    except TypeError:
        raise _broken(where, f"{_field(where)} is not a sequence of integers", values) from None


def _unsigned(where: str, given: Iterable[int]) -> tuple[int, ...]:
    numbers = _integers(where, given)
    for number in numbers:
        if not 0 <= number <= LARGEST:
            raise _broken(where, f"{_field(where)} are numbers from 0 to {LARGEST}, not {number}", numbers)
    return numbers


def _tensor(where: str, value: object) -> TensorDesc:
    if not isinstance(value, TensorDesc):
        raise ElementTypeError(f"{_field(where)} is of type {type(value).__name__}, not TensorDesc", where=where)
    return value


def _field(where: str) -> str:
    return where.rpartition(".")[2]


def _broken(where: str, reason: str, value: object, remedy: str | None = None) -> SpecError:
    return SpecError(reason, where=where, given=f"{_field(where)}={value!r}", remedy=remedy)


LARGEST = 2**32 - 1
"""The largest size or stride, and the most elements of a tensor."""


def packed_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major tensor without gaps."""
    return tuple(accumulate(reversed(sizes[1:]), operator.mul, initial=1))[::-1]


@dataclass(frozen=True, slots=True, init=False)
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
        The least size of a buffer. The default and the minimum are the bytes from the first element to the last,
        rounded up to a multiple of 4.
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

    Notes
    -----
    Source: DML_BUFFER_TENSOR_DESC.

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
            raise _broken(where, f"a tensor has 1 to 8 dimensions, not {len(sizes)}", sizes)
        if 0 in sizes:
            reason = f"dimension {sizes.index(0)} has size 0, and DirectML has no tensors without elements"
            raise _broken(where, reason, sizes, "leave the operator out: its result is empty too")
        if strides is not None:
            strides = _unsigned("TensorDesc.strides", strides)
            if len(strides) != len(sizes):
                reason = f"{len(sizes)} dimensions have {len(strides)} strides"
                raise SpecError(reason, where="TensorDesc.strides", given=f"{strides=}, {sizes=}")
        self._assign(data_type=data_type, sizes=sizes, strides=strides)
        if max(math.prod(sizes), self.extent) > LARGEST:
            raise SpecError(f"a tensor has at most {LARGEST} elements", where=where, given=str(self))
        where, itemsize = "TensorDesc.total_tensor_size_in_bytes", data_type.element_type.itemsize
        least = -(-self.extent * itemsize // 4) * 4
        total = least if total_tensor_size_in_bytes is None else _integer(where, total_tensor_size_in_bytes)
        if not least <= total < 2**64:
            rule = f"{self} takes {least} bytes" if total < least else "a size is below 2**64"
            remedy = "leave it out for the smallest size that holds the tensor"
            raise _broken(where, f"{rule}, not {total}", total, remedy)
        where = "TensorDesc.guaranteed_base_offset_alignment"
        alignment = _integer(where, guaranteed_base_offset_alignment)
        if alignment and (alignment < itemsize or alignment & (alignment - 1)):
            rule = f"an alignment is 0 or a power of two that is at least the size of an element, {itemsize}"
            raise _broken(where, rule, alignment)
        if alignment > LARGEST:
            raise _broken(where, "an alignment is below 2**32", alignment)
        flags = _member(TensorFlags, "TensorDesc.flags", flags)
        self._assign(total_tensor_size_in_bytes=total, guaranteed_base_offset_alignment=alignment, flags=flags)

    def _assign(self, **values: object) -> None:
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @property
    def dimension_count(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The strides in elements, also of a packed tensor."""
        return packed_strides(self.sizes) if self.strides is None else self.strides

    @property
    def byte_strides(self) -> tuple[int, ...]:
        """The strides in bytes."""
        return tuple(stride * self.data_type.element_type.itemsize for stride in self.element_strides)

    @property
    def extent(self) -> int:
        """Elements of memory from the first element of the tensor to the last, padding included."""
        return 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.element_strides, strict=True))

    @property
    def overlapping(self) -> bool:
        """Whether two elements may share memory.

        They do not if each dimension steps over everything that the dimensions of smaller stride span, as in every
        permuted or padded tensor.
        """
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
"""What checks a field of a structure; all others are tensors."""


@dataclass(frozen=True)
class OperatorDesc:
    """The base class of the operator structures.

    Attributes
    ----------
    operator : str
        The operator's name in DirectML, such as ``DML_ARGMAX``.
    in_place : bool
        Whether the output may use the memory of an input.

    Raises
    ------
    SpecError, ElementTypeError
        If a field of a structure has a wrong type. :func:`extremum.directml.create_operator` refuses what a feature
        level does not accept.

    Examples
    --------
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
        """The input tensors by field, in the order of the structure."""
        return {name: tensor for name, tensor in self.tensors.items() if not name.startswith("output")}

    @property
    def outputs(self) -> Mapping[str, TensorDesc]:
        """The output tensors by field, in the order of the structure."""
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

    Attributes
    ----------
    input_tensor, output_tensor : TensorDesc
        The output is INT64, INT32, UINT64 or UINT32, with the sizes of the input and 1 at the axes.
    axes : tuple of int
        The reduced dimensions: at least one, in any order.
    axis_direction : AxisDirection
        The tie rule: the first of equal elements (INCREASING, the default) or the last.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3))
    >>> y = dml.TensorDesc(dml.TensorDataType.UINT32, sizes=(1, 1))
    >>> dml.ArgMaxOperatorDesc(x, y, axes=[0, 1], axis_direction=dml.AxisDirection.DECREASING).axes
    (0, 1)
    """

    operator = "DML_ARGMAX"


class ArgMinOperatorDesc(_ArgOperatorDesc):
    """DML_ARGMIN_OPERATOR_DESC: the index of the smallest element; its fields are those of ArgMaxOperatorDesc.

    Examples
    --------
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

    Attributes
    ----------
    function : ReduceFunction
        ARGMAX, ARGMIN, MAX or MIN.
    input_tensor, output_tensor : TensorDesc
        The output has the sizes of the input with 1 at the axes, and its type; an index has an integer type.
    axes : tuple of int
        The reduced dimensions: at least one, in any order.

    Examples
    --------
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

    Attributes
    ----------
    a_tensor, b_tensor, output_tensor : TensorDesc
        Of one type and the same sizes: strides of 0 broadcast. The output may use the memory of an input.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> row = dml.TensorDesc(dml.TensorDataType.INT32, sizes=(2, 3), strides=(0, 1))
    >>> packed = dml.TensorDesc(dml.TensorDataType.INT32, sizes=(2, 3))
    >>> dml.ElementWiseMaxOperatorDesc(packed, row, packed).in_place
    True
    """

    operator = "DML_ELEMENT_WISE_MAX"


class ElementWiseMinOperatorDesc(_ElementWiseOperatorDesc):
    """DML_ELEMENT_WISE_MIN_OPERATOR_DESC: the elementwise minimum; its fields are those of ElementWiseMaxOperatorDesc.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> x = dml.TensorDesc(dml.TensorDataType.FLOAT32, (3, 3))
    >>> dml.ElementWiseMinOperatorDesc(x, x, x).operator
    'DML_ELEMENT_WISE_MIN'
    """

    operator = "DML_ELEMENT_WISE_MIN"


@dataclass(frozen=True)
class ActivationHardmaxOperatorDesc(OperatorDesc):
    """DML_ACTIVATION_HARDMAX_OPERATOR_DESC: 1 at the first largest element of each row, 0 elsewhere.

    Attributes
    ----------
    input_tensor, output_tensor : TensorDesc
        Of one type and the same sizes, which are 1 before the last two.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> rows = dml.TensorDesc(dml.TensorDataType.FLOAT16, sizes=(1, 1, 8, 10))
    >>> str(dml.feature_level_required(dml.ActivationHardmaxOperatorDesc(rows, rows)))
    '1_0'
    """

    operator = "DML_ACTIVATION_HARDMAX"

    input_tensor: TensorDesc
    output_tensor: TensorDesc


@dataclass(frozen=True)
class ActivationHardmax1OperatorDesc(OperatorDesc):
    """DML_ACTIVATION_HARDMAX1_OPERATOR_DESC: 1 at the first largest element within any set of axes, 0 elsewhere.

    Attributes
    ----------
    input_tensor, output_tensor : TensorDesc
        Of one type and the same sizes.
    axes : tuple of int
        The dimensions that together hold one 1: at least one, in any order.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> cube = dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(2, 2, 2))
    >>> str(dml.feature_level_required(dml.ActivationHardmax1OperatorDesc(cube, cube, axes=(0, 2))))
    '5_1'
    """

    operator = "DML_ACTIVATION_HARDMAX1"

    input_tensor: TensorDesc
    output_tensor: TensorDesc
    axes: tuple[int, ...]


@dataclass(frozen=True)
class TopKOperatorDesc(OperatorDesc):
    """DML_TOP_K_OPERATOR_DESC: the largest elements along one axis, the largest first, and their indices.

    Attributes
    ----------
    input_tensor, output_value_tensor : TensorDesc
        The elements have the type of the input, and its sizes with `k` at the axis.
    output_index_tensor : TensorDesc
        Their indices along the axis, UINT64 or UINT32; of equal elements the first index comes first.
    axis : int
        The dimension to look along.
    k : int
        The number of elements: at least 1, at most the size of the axis.

    Examples
    --------
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

    Its other fields are those of TopKOperatorDesc.

    Attributes
    ----------
    axis_direction : AxisDirection
        The order of the elements: INCREASING gives the smallest, from the smallest on, DECREASING the largest, from the
        largest on.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> row = dml.TensorDesc(dml.TensorDataType.INT8, sizes=(4,))
    >>> best, index = (dml.TensorDesc(dml.TensorDataType[each], sizes=(2,)) for each in ("INT8", "UINT32"))
    >>> dml.TopK1OperatorDesc(row, best, index, axis=0, k=2, axis_direction=dml.AxisDirection.DECREASING).operator
    'DML_TOP_K1'
    """

    operator = "DML_TOP_K1"

    axis_direction: AxisDirection
