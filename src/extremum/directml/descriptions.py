"""The operator descriptions, one for each structure of directml.h, its fields in snake_case and in its order.

Decides how a description maps to a schema of :mod:`extremum.spec`: its name there, its tensors, its
attributes. Whether a feature level takes it is :mod:`extremum.directml.acceptance`'s.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from extremum.directml.enumerations import AxisDirection, ReduceFunction
from extremum.directml.tensor import TensorDesc
from extremum.errors import ElementTypeError, SpecError

__all__ = [
    "ActivationHardmax1OperatorDesc",
    "ActivationHardmaxOperatorDesc",
    "ArgMaxOperatorDesc",
    "ArgMinOperatorDesc",
    "ElementWiseMaxOperatorDesc",
    "ElementWiseMinOperatorDesc",
    "OperatorDesc",
    "ReduceOperatorDesc",
]


@dataclass(frozen=True)
class OperatorDesc:
    """What all operator descriptions have in common; the structures are its subclasses.

    Attributes
    ----------
    operator : str
        The operator's name in DirectML, such as ``DML_ARGMAX``.
    in_place : bool
        Whether the output may lie in the memory of an input.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> issubclass(dml.ReduceOperatorDesc, dml.OperatorDesc), dml.ReduceOperatorDesc.operator
    (True, 'DML_REDUCE')
    """

    operator: ClassVar[str]
    in_place: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, self._settled(field.name, getattr(self, field.name)))

    def _settled(self, field: str, value: Any) -> Any:
        place = f"{self.operator}.{field}"
        if field in _ENUMERATIONS:
            enumeration = _ENUMERATIONS[field]
            try:
                return enumeration(value)
            except ValueError:
                members = ", ".join(each.name for each in enumeration)
                remedy = f"use {enumeration.__name__}: {members}"
                raise SpecError(f"{field} has no value {value!r}", where=place, remedy=remedy) from None
        if field == "axes":
            try:
                return tuple(operator.index(axis) for axis in value)
            except TypeError:
                raise SpecError("axes is not a sequence of integers", where=place, given=f"axes={value!r}") from None
        if not isinstance(value, TensorDesc):
            raise ElementTypeError(f"{field} is of type {type(value).__name__}, not TensorDesc", where=place)
        return value

    @property
    def row(self) -> str:
        """The name under which :mod:`extremum.spec` files the operator."""
        return self.operator

    @property
    def inputs(self) -> Mapping[str, TensorDesc]:
        """The tensors that are read, by field, in the order of the structure."""
        names = (field.name for field in fields(self))
        return {name: getattr(self, name) for name in names if name.endswith("_tensor") and name != "output_tensor"}

    @property
    def output(self) -> TensorDesc:
        """The tensor that is written."""
        tensor: TensorDesc = getattr(self, "output_tensor")  # noqa: B009 - every subclass has the field
        return tensor

    @property
    def attributes(self) -> Mapping[str, int | tuple[int, ...]]:
        """What a schema calls attributes: the axes and their direction, where the structure has them."""
        names = (field.name for field in fields(self))
        return {name: getattr(self, name) for name in names if name in ("axes", "axis_direction")}


_ENUMERATIONS: Mapping[str, type[AxisDirection] | type[ReduceFunction]] = {
    "axis_direction": AxisDirection,
    "function": ReduceFunction,
}


@dataclass(frozen=True)
class _ArgOperatorDesc(OperatorDesc):
    input_tensor: TensorDesc
    output_tensor: TensorDesc
    axes: tuple[int, ...]
    axis_direction: AxisDirection = AxisDirection.INCREASING


class ArgMaxOperatorDesc(_ArgOperatorDesc):
    """DML_ARGMAX_OPERATOR_DESC: the index of the largest element over any set of axes, row-major within them.

    Attributes
    ----------
    input_tensor : TensorDesc
        What is read.
    output_tensor : TensorDesc
        INT64, INT32, UINT64 or UINT32; the sizes of the input, with 1 at the axes.
    axes : tuple of int
        The reduced dimensions, at least one, in any order.
    axis_direction : AxisDirection
        The first (INCREASING, by default) or the last of equals.

    Raises
    ------
    SpecError, ElementTypeError
        If a field is of the wrong type. What a feature level does not take is refused by
        :func:`extremum.directml.create_operator`.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> dml.ArgMaxOperatorDesc(
    ...     input_tensor=dml.TensorDesc(dml.TensorDataType.FLOAT32, sizes=(3, 3)),
    ...     output_tensor=dml.TensorDesc(dml.TensorDataType.UINT32, sizes=(1, 1)),
    ...     axes=[0, 1],
    ...     axis_direction=dml.AxisDirection.DECREASING,
    ... ).axes
    (0, 1)
    """

    operator = "DML_ARGMAX"


class ArgMinOperatorDesc(_ArgOperatorDesc):
    """DML_ARGMIN_OPERATOR_DESC: the index of the smallest element; otherwise as :class:`ArgMaxOperatorDesc`.

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
    """DML_REDUCE_OPERATOR_DESC: the largest or smallest element over any set of axes, or its index.

    Attributes
    ----------
    function : ReduceFunction
        ARGMAX, ARGMIN, MAX or MIN.
    input_tensor : TensorDesc
        What is read.
    output_tensor : TensorDesc
        The sizes of the input, with 1 at the axes; an integer type for an index, else the type of the input.
    axes : tuple of int
        The reduced dimensions, at least one, in any order.

    Raises
    ------
    SpecError, ElementTypeError
        If a field is of the wrong type.

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
        """The name under which :mod:`extremum.spec` files the operator: each function has schemas of its own."""
        return f"{self.operator}({self.function.name})"


@dataclass(frozen=True)
class _ElementWiseOperatorDesc(OperatorDesc):
    in_place = True

    a_tensor: TensorDesc
    b_tensor: TensorDesc
    output_tensor: TensorDesc


class ElementWiseMaxOperatorDesc(_ElementWiseOperatorDesc):
    """DML_ELEMENT_WISE_MAX_OPERATOR_DESC: the larger one of each two elements.

    Attributes
    ----------
    a_tensor, b_tensor : TensorDesc
        What is read; strides of 0 broadcast.
    output_tensor : TensorDesc
        Of the same type and sizes; may lie where an input lies.

    Raises
    ------
    ElementTypeError
        If a field is of the wrong type.

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
    """DML_ELEMENT_WISE_MIN_OPERATOR_DESC: the smaller one; otherwise as :class:`ElementWiseMaxOperatorDesc`.

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
    input_tensor : TensorDesc
        What is read; all dimensions before the last two have size 1.
    output_tensor : TensorDesc
        Of the same type and sizes.

    Raises
    ------
    ElementTypeError
        If a field is of the wrong type.

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
    """DML_ACTIVATION_HARDMAX1_OPERATOR_DESC: 1 at the first largest element over any set of axes, 0 elsewhere.

    Attributes
    ----------
    input_tensor : TensorDesc
        What is read.
    output_tensor : TensorDesc
        Of the same type and sizes.
    axes : tuple of int
        The dimensions that together hold exactly one 1, at least one, in any order.

    Raises
    ------
    SpecError, ElementTypeError
        If a field is of the wrong type.

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
