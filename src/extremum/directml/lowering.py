"""Nodes of ONNX models as the operators of DirectML that compute them; only this needs onnx."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from extremum import errors, spec, validate
from extremum.directml.acceptance import accept, lowest_level
from extremum.directml.enumerations import (
    AxisDirection,
    FeatureLevel,
    ReduceFunction,
    TensorDataType,
    feature_level_of,
)
from extremum.directml.fields import LARGEST
from extremum.directml.operators import (
    ActivationHardmax1OperatorDesc,
    ArgMaxOperatorDesc,
    ArgMinOperatorDesc,
    ElementWiseMaxOperatorDesc,
    ElementWiseMinOperatorDesc,
    OperatorDesc,
    ReduceOperatorDesc,
    TopK1OperatorDesc,
)
from extremum.directml.tensor import TensorDesc, packed_strides
from extremum.errors import ArgumentError, ElementTypeError, ExtremumError, SpecError
from extremum.lower import operation as operation_of
from extremum.operations import ArgReduce, OneHot, Order, Reduce, Tie, TopK
from extremum.spec import Family, OperatorVersion
from extremum.tensors import TensorType, element_of
from extremum.validate import Attributes

if TYPE_CHECKING:
    import onnx


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
    source, first = inputs[0]
    name, result = outputs[0]
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
    base = source
    left = _broadcast(first, sizes)
    chain = list[Step]()
    for operand, tensor in inputs[1:] or inputs:
        desc = structure(left, _broadcast(tensor, sizes), packed)
        chain.append(Step(desc, (base, operand), (name,), _required(feature_level, partial(accept, desc))))
        base = name
        left = packed
    return tuple(chain)


def _reduction(
    row: str, operation: ArgReduce | OneHot | Reduce | TopK, tensor: TensorType, feature_level: FeatureLevel
) -> OperatorDesc:
    sizes = tensor.sizes or ()
    shift = 0
    if isinstance(operation, Reduce | TopK):
        sizes, shift = _full_sizes(row, tensor, feature_level)
    source = TensorDesc(_data_type(tensor), sizes)
    if isinstance(operation, TopK):
        axis = operation.axis + shift
        best = (*sizes[:axis], operation.k, *sizes[axis + 1 :])
        # No index is negative, so UINT64 has the same bits as INT64.
        value = TensorDesc(source.data_type, best)
        index = TensorDesc(TensorDataType.UINT64, best)
        return TopK1OperatorDesc(
            source, value, index, axis, operation.k, AxisDirection(operation.order is Order.MAX)
        )
    axes = tuple(axis + shift for axis in operation.axes)
    if isinstance(operation, OneHot):
        return ActivationHardmax1OperatorDesc(source, source, axes)
    dims = [1 if axis in axes else size for axis, size in enumerate(sizes)]
    if isinstance(operation, Reduce):
        result = TensorDesc(source.data_type, dims)
        return ReduceOperatorDesc(ReduceFunction[operation.order.name], source, result, axes)
    structure = ArgMaxOperatorDesc if operation.order is Order.MAX else ArgMinOperatorDesc
    return structure(
        source, TensorDesc(TensorDataType.INT64, dims), axes, AxisDirection(operation.tie is Tie.LAST)
    )


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
    described = f"{name}: {tensor}"
    if tensor.element is not None:
        field = "a_tensor" if row.startswith("DML_ELEMENT_WISE") else "input_tensor"
        try:
            element = _data_type(tensor).element_type.name
            find = partial(spec.find, spec.DIRECTML, row)
            _required(feature_level, lambda level: validate.element_type(find(level), element, field))
        except ExtremumError as error:
            return error.with_context(given=described)
    symbols = [size for size in tensor.shape or () if isinstance(size, str)]
    return SpecError(
        f"the sizes of {name!r} are not known before the model runs, and a description states them",
        given=described,
        remedy=f"give a size to {', '.join(symbols)}"
        if symbols
        else "declare the sizes of the model's inputs",
    )


def _data_type(tensor: TensorType) -> TensorDataType:
    element = element_of(str(tensor.element))
    if element.name.upper() not in TensorDataType.__members__:
        raise ElementTypeError(
            f"DirectML has no tensors of {element.name}", remedy="put a Cast to float before it"
        )
    return TensorDataType[element.name.upper()]


def _required(feature_level: FeatureLevel, accepts: Callable[[FeatureLevel], object]) -> FeatureLevel:
    """Return the lowest level that accepts; if it is higher than `feature_level`, raise the error of the latter."""
    required = lowest_level(accepts)
    if required > feature_level:
        try:
            accepts(feature_level)
        except ExtremumError as error:
            raise type(error)(
                error.reason,
                given=error.given,
                remedy=f"use feature level {required} or later",
            ) from None
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
    # A model of the same nodes without weights, whose dimensions have the sizes that the caller gives.
    copy = skeleton(whole)
    name_dimensions(copy.graph)
    _set_sizes(copy.graph, sizes or {})
    # A node becomes one operator or a chain of them, or is refused.
    nodes = list[LoweredNode]()
    refusals = list[ExtremumError]()
    for site in sites(copy, inlined=True):
        try:
            if site.schema is None:
                continue
            outputs = list(zip(site.node.output, site.outputs(), strict=True))
            inputs = list(zip(site.names, site.operands, strict=False))
            chain = steps(site.schema, site.accepted, inputs, outputs, feature_level)
            nodes.append(LoweredNode(site.place, str(site.schema), chain))
        except ExtremumError as error:
            refusals.append(
                type(error)(error.reason, where=site.place, given=error.given, remedy=error.remedy)
            )
    # The inputs of operators whose elements the model has.
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
            raise ArgumentError(
                f"the model has no dimension {name!r}",
                remedy=f"its symbolic dimensions are: {', '.join(symbols) or 'none'}",
            )
        if not (isinstance(size, Integral) and 0 <= size <= LARGEST):
            raise ArgumentError(f"the size of dimension {name!r} is not a number from 0 to {LARGEST}")
    for dimension in dimensions:
        if dimension.dim_param in sizes:
            dimension.dim_value = sizes[dimension.dim_param]
