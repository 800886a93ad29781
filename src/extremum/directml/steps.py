"""From one ONNX node to the operators that onnxruntime's DirectML provider would run for it.

Decides which operator stands for which, how the axes are written, and how broadcasting becomes strides. Whether a
feature level takes the operators is :mod:`extremum.directml.acceptance`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat

from extremum import dtypes, spec, validate
from extremum.directml.acceptance import accept, feature_level_required
from extremum.directml.descriptions import (
    ActivationHardmax1OperatorDesc,
    ArgMaxOperatorDesc,
    ArgMinOperatorDesc,
    ElementWiseMaxOperatorDesc,
    ElementWiseMinOperatorDesc,
    OperatorDesc,
)
from extremum.directml.enumerations import AxisDirection, FeatureLevel, TensorDataType
from extremum.directml.lowered import Step
from extremum.directml.tensor import TensorDesc, packed_strides
from extremum.errors import ElementTypeError, ExtremumError, SpecError
from extremum.spec import Family, OperatorVersion
from extremum.tensors import TensorType
from extremum.validate import Attributes

__all__ = ["steps"]

_ARG: Mapping[Family, type[ArgMaxOperatorDesc] | type[ArgMinOperatorDesc]] = {
    Family.ARGMAX: ArgMaxOperatorDesc,
    Family.ARGMIN: ArgMinOperatorDesc,
}
_ELEMENT_WISE: Mapping[Family, type[ElementWiseMaxOperatorDesc] | type[ElementWiseMinOperatorDesc]] = {
    Family.MAXIMUM: ElementWiseMaxOperatorDesc,
    Family.MINIMUM: ElementWiseMinOperatorDesc,
}


def steps(
    row: OperatorVersion,
    values: Attributes,
    inputs: Sequence[tuple[str, TensorType]],
    output: tuple[str, TensorType],
    feature_level: FeatureLevel,
) -> tuple[Step, ...]:
    """Return the operators that compute one node of the family.

    Parameters
    ----------
    row : OperatorVersion
        The version of the ONNX operator in force.
    values : mapping of str to (int, tuple of int or None)
        What :func:`extremum.validate.attributes` returned.
    inputs : sequence of (str, TensorType)
        Name and type of each input.
    output : (str, TensorType)
        Name and type of the output.
    feature_level : FeatureLevel
        What the operators have to get by with.

    Returns
    -------
    tuple of Step
        In the order of their dispatch.

    Raises
    ------
    ExtremumError
        If a size is unknown, DirectML has no such tensor, or the feature level does not take an operator.

    Examples
    --------
    >>> from extremum import directml as dml, spec
    >>> from extremum.directml.steps import steps
    >>> from extremum.tensors import TensorType
    >>> row = spec.find(spec.ONNX, "Hardmax", 11)
    >>> x = TensorType("float32", (2, 3, 4))
    >>> (step,) = steps(row, {"axis": 1}, [("x", x)], ("y", x), dml.FeatureLevel.FL_5_1)
    >>> step.desc.axes
    (1, 2)
    """
    for name, tensor in inputs:
        _require_known(name, tensor)
    names = tuple(name for name, _ in inputs)
    tensors = [tensor for _, tensor in inputs]
    if row.family in _ELEMENT_WISE:
        # One operand is the maximum of it and itself; from the second step on the output takes in one operand each.
        operands = names if len(names) > 1 else (*names, *names)
        descs = _chain(row.family, tensors if len(names) > 1 else [*tensors, *tensors], output[1], feature_level)
        firsts = chain(operands[:1], repeat(output[0]))
        bindings = list(zip(firsts, operands[1:], strict=False))
        return tuple(
            _step(desc, binding, output[0], feature_level) for desc, binding in zip(descs, bindings, strict=True)
        )
    (x,) = tensors
    sizes = x.sizes or ()
    axes = validate.axes(row, values, len(sizes))
    desc: OperatorDesc
    if row.family is Family.HARDMAX:
        packed = TensorDesc(_data_type(x), sizes)
        desc = ActivationHardmax1OperatorDesc(packed, packed, axes)
    else:
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
        direction = AxisDirection(int(values.get("select_last_index") == 1))
        index = TensorDesc(TensorDataType.INT64, kept)
        desc = _ARG[row.family](TensorDesc(_data_type(x), sizes), index, axes, direction)
    return (_step(desc, names, output[0], feature_level),)


def _require_known(name: str, tensor: TensorType) -> None:
    if tensor.element is None or tensor.sizes is None:
        raise SpecError(
            f"the sizes of {name!r} are not known before the model runs, and a description states them",
            given=f"{name}: {tensor}",
            remedy="say how large each symbolic dimension is",
        )


def _data_type(tensor: TensorType) -> TensorDataType:
    element = dtypes.from_name(str(tensor.element))
    if element.directml is None:
        raise ElementTypeError(f"DirectML has no tensors of {element.name}", remedy="put a Cast to float before it")
    return TensorDataType[element.directml]


def _chain(
    family: Family, operands: Sequence[TensorType], output: TensorType, feature_level: FeatureLevel
) -> list[OperatorDesc]:
    element_wise = _ELEMENT_WISE[family]
    least, _ = spec.find(spec.DIRECTML, element_wise.operator, feature_level).ranks
    sizes = output.sizes or ()
    sizes = (1,) * (least - len(sizes)) + sizes
    packed = TensorDesc(_data_type(output), sizes)
    first, *others = (_broadcast(operand, sizes) for operand in operands)
    return [
        element_wise(left, right, packed) for left, right in zip(chain([first], repeat(packed)), others, strict=False)
    ]


def _broadcast(operand: TensorType, sizes: tuple[int, ...]) -> TensorDesc:
    """Describe an operand with the sizes of the result: a dimension that is repeated has stride 0."""
    own = operand.sizes or ()
    own = (1,) * (len(sizes) - len(own)) + own
    if own == sizes:
        return TensorDesc(_data_type(operand), sizes)
    strides = (0 if size == 1 else stride for size, stride in zip(own, packed_strides(own), strict=True))
    return TensorDesc(_data_type(operand), sizes, tuple(strides))


def _step(desc: OperatorDesc, inputs: tuple[str, ...], output: str, feature_level: FeatureLevel) -> Step:
    try:
        accept(desc, feature_level)
    except ExtremumError as error:
        try:
            required = feature_level_required(desc)
        except ExtremumError:
            raise error from None
        raise type(error)(error.reason, given=error.given, remedy=f"use feature level {required} or later") from None
    return Step(desc, inputs, output, feature_level_required(desc))
