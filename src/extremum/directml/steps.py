"""From one ONNX node to the operators that onnxruntime's DirectML provider would run for it.

Decides which operator stands for which, how the axes are written, and how broadcasting becomes strides. Whether a
feature level takes the operators is :mod:`extremum.directml.acceptance`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, repeat

from extremum import dtypes, spec, validate
from extremum.directml.acceptance import accept, accept_element, feature_level_required, lowest_level
from extremum.directml.descriptions import (
    ActivationHardmax1OperatorDesc,
    ArgMaxOperatorDesc,
    ArgMinOperatorDesc,
    ElementWiseMaxOperatorDesc,
    ElementWiseMinOperatorDesc,
    OperatorDesc,
    ReduceOperatorDesc,
)
from extremum.directml.enumerations import AxisDirection, FeatureLevel, ReduceFunction, TensorDataType
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
    # A reduction over no axis is the maximum of its input and itself.
    Family.LARGEST: ElementWiseMaxOperatorDesc,
    Family.SMALLEST: ElementWiseMinOperatorDesc,
}
_REDUCE: Mapping[Family, ReduceFunction] = {Family.LARGEST: ReduceFunction.MAX, Family.SMALLEST: ReduceFunction.MIN}
_FIELDS: Mapping[Family, tuple[str, str]] = {
    **{family: (desc.operator, "input_tensor") for family, desc in _ARG.items()},
    **{family: (desc.operator, "a_tensor") for family, desc in _ELEMENT_WISE.items()},
    **{family: (f"DML_REDUCE({function.name})", "input_tensor") for family, function in _REDUCE.items()},
    Family.HARDMAX: (ActivationHardmax1OperatorDesc.operator, "input_tensor"),
}
"""Under which name each operator is filed, and the field of its input."""


def steps(
    schema: OperatorVersion,
    values: Attributes,
    inputs: Sequence[tuple[str, TensorType]],
    output: tuple[str, TensorType],
    feature_level: FeatureLevel,
) -> tuple[Step, ...]:
    """Return the operators that compute one node of the family."""
    for name, tensor in inputs:
        if tensor.element is None or tensor.sizes is None:
            _require_element(schema.family, name, tensor, feature_level)
            raise _unknown_sizes(name, tensor)
    name, result = output
    axes = (
        ()
        if schema.family in (Family.MAXIMUM, Family.MINIMUM)
        else validate.axes(schema, values, inputs[0][1].rank or 0)
    )
    if not axes:
        # One input is the maximum of it and itself.
        operands = list(inputs) if len(inputs) > 1 else [*inputs, *inputs]
        descs = _chain(schema.family, [tensor for _, tensor in operands], result, feature_level)
        # From the second step on, the output takes in one operand each.
        first, *others = (operand for operand, _ in operands)
        bound = zip(chain([first], repeat(name)), others, strict=False)
        return tuple(_step(desc, names, name, feature_level) for desc, names in zip(descs, bound, strict=True))
    ((source, tensor),) = inputs
    match schema.family:
        case Family.HARDMAX:
            desc = _hardmax(tensor, axes)
        case Family.LARGEST | Family.SMALLEST:
            desc = _reduce(schema.family, tensor, axes, feature_level)
        case _:
            desc = _arg(schema.family, values, tensor, axes)
    return (_step(desc, (source,), name, feature_level),)


def _hardmax(tensor: TensorType, axes: tuple[int, ...]) -> OperatorDesc:
    packed = TensorDesc(_data_type(tensor), tensor.sizes or ())
    return ActivationHardmax1OperatorDesc(packed, packed, axes)


def _arg(family: Family, values: Attributes, tensor: TensorType, axes: tuple[int, ...]) -> OperatorDesc:
    sizes = tensor.sizes or ()
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    direction = AxisDirection.DECREASING if values.get("select_last_index") else AxisDirection.INCREASING
    index = TensorDesc(TensorDataType.INT64, kept)
    return _ARG[family](TensorDesc(_data_type(tensor), sizes), index, axes, direction)


def _reduce(family: Family, tensor: TensorType, axes: tuple[int, ...], feature_level: FeatureLevel) -> OperatorDesc:
    least, _ = spec.find(spec.DIRECTML, _FIELDS[family][0], feature_level).ranks
    added = max(least - len(tensor.sizes or ()), 0)
    sizes = (1,) * added + (tensor.sizes or ())
    axes = tuple(axis + added for axis in axes)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(sizes))
    data_type = _data_type(tensor)
    return ReduceOperatorDesc(_REDUCE[family], TensorDesc(data_type, sizes), TensorDesc(data_type, kept), axes)


def _require_element(family: Family, name: str, tensor: TensorType, feature_level: FeatureLevel) -> None:
    """Refuse an element type that no sizes would make right, before anybody is asked for sizes."""
    if tensor.element is None:
        return
    operator, field = _FIELDS[family]
    try:
        _at(feature_level, partial(accept_element, operator, field, _data_type(tensor)))
    except ExtremumError as error:
        raise error.with_context(given=f"{name}: {tensor}") from None


def _unknown_sizes(name: str, tensor: TensorType) -> SpecError:
    symbols = [size for size in tensor.shape or () if isinstance(size, str)]
    return SpecError(
        f"the sizes of {name!r} are not known before the model runs, and a description states them",
        given=f"{name}: {tensor}",
        remedy=f"give a size to {', '.join(symbols)}" if symbols else "declare the sizes of the model's inputs",
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
    _at(feature_level, partial(accept, desc))
    return Step(desc, inputs, output, feature_level_required(desc))


def _at(feature_level: FeatureLevel, accepts: Callable[[FeatureLevel], object]) -> None:
    """Call for a feature level; an error says which level would do."""
    try:
        accepts(feature_level)
    except ExtremumError as error:
        # Where no level takes it, this raises what stands in the way at any level.
        required = lowest_level(accepts)
        raise type(error)(error.reason, given=error.given, remedy=f"use feature level {required} or later") from None
