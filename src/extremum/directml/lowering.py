"""From an ONNX model to the operators that onnxruntime's DirectML provider would run for it, node by node.

Decides which operator stands for which, how the axes are written, how broadcasting becomes strides, and what is
reported of each node: its operators, or why it cannot go. Whether a feature level takes the operators is
:mod:`extremum.directml.acceptance`'s, reading the model is :mod:`extremum.directml.model`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

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
from extremum.directml.enumerations import AxisDirection, FeatureLevel, ReduceFunction, TensorDataType, feature_level_of
from extremum.directml.tensor import TensorDesc, packed_strides
from extremum.errors import ElementTypeError, ExtremumError, SpecError, lacking
from extremum.spec import Family, OperatorVersion
from extremum.tensors import TensorType
from extremum.validate import Attributes

__all__ = ["LoweredModel", "LoweredNode", "Step", "lower", "steps"]


@dataclass(frozen=True, slots=True)
class Step:
    """One operator, and the names of the model's tensors it is dispatched on.

    Attributes
    ----------
    desc : OperatorDesc
        The operator.
    inputs : tuple of str
        One name for each input tensor, in the order of the structure.
    output : str
        The tensor that is written; in place where it is among the inputs.
    feature_level : FeatureLevel
        The lowest one that takes the operator.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }'
    >>> (node,) = dml.lower(onnx.parser.parse_model(text)).nodes
    >>> node.steps[0].desc.operator, node.steps[0].inputs, node.steps[0].output, str(node.steps[0].feature_level)
    ('DML_ARGMAX', ('x',), 'y', '3_0')
    """

    desc: OperatorDesc
    inputs: tuple[str, ...]
    output: str
    feature_level: FeatureLevel


@dataclass(frozen=True, slots=True)
class LoweredNode:
    """A node of the model and the operators that compute it, one after the other.

    Attributes
    ----------
    place : str
        Where the node is, such as ``graph.node[0] 'argmax_0'``.
    version : str
        What it was, such as ``ArgMax-13``.
    steps : tuple of Step
        At least one; all write the same tensor.

    Examples
    --------
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
    """The nodes of a model that pick the largest or smallest, as DirectML's operators.

    Attributes
    ----------
    feature_level : FeatureLevel
        What the operators were to get by with.
    nodes : tuple of LoweredNode
        The nodes that went, in the model's order.
    refusals : tuple of ExtremumError
        One error for each node that cannot go: what stands in the way, where, and what would help.
    constants : mapping of str to numpy.ndarray
        The tensors with a fixed value among those the operators read.

    Examples
    --------
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


if TYPE_CHECKING:
    import onnx

    from extremum.directml.model import Node


def lower(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    feature_level: FeatureLevel | int | str = FeatureLevel.FL_6_4,
    *,
    sizes: Mapping[str, int] | None = None,
) -> LoweredModel:
    """Write the nodes of a model that pick the largest or smallest in DirectML's operators.

    ArgMax and ArgMin become DML_ARGMAX and DML_ARGMIN, which keep the rank: without ``keepdims`` the output's buffer is
    the same, its description has the kept dimensions. Max and Min become a chain of DML_ELEMENT_WISE_MAX or MIN that
    gathers in the output, broadcasting through strides of 0. Hardmax becomes DML_ACTIVATION_HARDMAX1, before version 13
    over all axes from its axis on. ReduceMax and ReduceMin become DML_REDUCE, or an elementwise step where no
    axis is reduced.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or the file that holds it. Other operators than the family's are left alone.
    feature_level : FeatureLevel, int or str
        What the operators have to get by with, such as ``FeatureLevel.FL_4_1``, ``0x4100`` or ``"4_1"``; the newest by
        default.
    sizes : mapping of str to int, optional
        The size of each symbolic dimension: descriptions state every size.

    Returns
    -------
    LoweredModel
        The operators, and an error for each node that cannot go.

    Raises
    ------
    ModelError
        If it is no ONNX model.
    ArgumentError
        If the model has no dimension of a name in ``sizes``, a size is none, or there is no such feature level.
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
    # Everything else of DirectML works without the onnx package.
    try:
        from extremum.directml.model import SizedModel
    except ModuleNotFoundError as error:
        raise lacking("extremum.directml.lower", error) from None

    feature_level = feature_level_of(feature_level)
    source = SizedModel(model, sizes or {})
    results = [_result(node, feature_level) for node in source.nodes()]
    lowered = tuple(result for result in results if isinstance(result, LoweredNode))
    refusals = tuple(result for result in results if isinstance(result, ExtremumError))
    read = {name for node in lowered for step in node.steps for name in step.inputs}
    return LoweredModel(feature_level, lowered, refusals, source.constants(read))


def _result(node: Node | ExtremumError, feature_level: FeatureLevel) -> LoweredNode | ExtremumError:
    if isinstance(node, ExtremumError):
        return node
    try:
        return LoweredNode(
            node.place, str(node.schema), steps(node.schema, node.values, node.inputs, node.output, feature_level)
        )
    except ExtremumError as error:
        return type(error)(error.reason, where=node.place, given=error.given, remedy=error.remedy)
