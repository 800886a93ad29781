"""The descriptions of operators: the structures of directml.h."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from extremum.directml.enumerations import AxisDirection, ReduceFunction
from extremum.directml.fields import integer, integers, member, name_of
from extremum.directml.tensor import TensorDesc
from extremum.errors import ElementTypeError


def _tensor(where: str, value: object) -> TensorDesc:
    if not isinstance(value, TensorDesc):
        raise ElementTypeError(
            f"{name_of(where)} is of type {type(value).__name__}, not TensorDesc", where=where
        )
    return value


_READERS: Mapping[str, Callable[[str, Any], object]] = {
    "function": partial(member, ReduceFunction),
    "axis_direction": partial(member, AxisDirection),
    "axes": integers,
    "axis": integer,
    "k": integer,
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
