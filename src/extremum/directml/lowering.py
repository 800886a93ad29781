"""From an ONNX model to the operators that onnxruntime's DirectML provider runs for it, node by node.

Decides which operator a node becomes, how its axes are written and how broadcasting becomes strides. A node without
operators is reported with the reason. Only :func:`lower` needs the onnx package.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from numbers import Integral
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from extremum import dtypes, spec
from extremum.directml.descriptions import (
    LARGEST,
    ActivationHardmax1OperatorDesc,
    ArgMaxOperatorDesc,
    ArgMinOperatorDesc,
    AxisDirection,
    ElementWiseMaxOperatorDesc,
    ElementWiseMinOperatorDesc,
    FeatureLevel,
    OperatorDesc,
    ReduceFunction,
    ReduceOperatorDesc,
    TensorDataType,
    TensorDesc,
    TopK1OperatorDesc,
    feature_level_of,
    packed_strides,
)
from extremum.directml.operator import accept, accept_element, lowest_level
from extremum.errors import ArgumentError, ElementTypeError, ExtremumError, SpecError, lacking
from extremum.lower import operation as core_operation
from extremum.operations import ArgReduce, OneHot, Order, Reduce, Tie, TopK
from extremum.spec import Family, OperatorVersion
from extremum.tensors import TensorType
from extremum.validate import Attributes

if TYPE_CHECKING:
    import onnx

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
    outputs : tuple of str
        The tensors that are written, in the order of the structure; in place where one is among the inputs.
    output : str
        The first of them, for most operators the only one.
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
    outputs: tuple[str, ...]
    feature_level: FeatureLevel

    @property
    def output(self) -> str:
        """The first tensor that is written."""
        return self.outputs[0]


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
        At least one; all write the same tensors.

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
"""What a family becomes, by its name in :mod:`extremum.spec`."""


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
    operation = core_operation(schema, values, first.rank or 0)
    if isinstance(operation, ArgReduce | OneHot | TopK) or (isinstance(operation, Reduce) and operation.axes):
        desc = _reduction(row, operation, first, feature_level)
        return (_step(desc, (source,), tuple(each for each, _ in outputs), feature_level),)
    structure = ElementWiseMaxOperatorDesc if operation.order is Order.MAX else ElementWiseMinOperatorDesc
    sizes, _ = _padded(structure.operator, result, feature_level)
    packed = TensorDesc(_data_type(result), sizes)
    # One input, also one that is reduced over no axis, is the maximum of it and itself. From the second step on, the
    # output takes in one operand each.
    lefts = chain([(source, _broadcast(first, sizes))], repeat((name, packed)))
    return tuple(
        _step(structure(left, _broadcast(tensor, sizes), packed), (bound, operand), (name,), feature_level)
        for (bound, left), (operand, tensor) in zip(lefts, inputs[1:] or inputs, strict=False)
    )


def _reduction(
    row: str, operation: ArgReduce | OneHot | Reduce | TopK, tensor: TensorType, feature_level: FeatureLevel
) -> OperatorDesc:
    sizes, added = tensor.sizes or (), 0
    if isinstance(operation, Reduce | TopK):
        sizes, added = _padded(row, tensor, feature_level)
    source = TensorDesc(_data_type(tensor), sizes)
    if isinstance(operation, TopK):
        axis = operation.axis + added
        best = (*sizes[:axis], operation.k, *sizes[axis + 1 :])
        # No index is negative, so that the bits of UINT64 are those of INT64.
        value, index = TensorDesc(source.data_type, best), TensorDesc(TensorDataType.UINT64, best)
        return TopK1OperatorDesc(source, value, index, axis, operation.k, AxisDirection(operation.order is Order.MAX))
    axes = tuple(axis + added for axis in operation.axes)
    if isinstance(operation, OneHot):
        return ActivationHardmax1OperatorDesc(source, source, axes)
    kept = [1 if axis in axes else size for axis, size in enumerate(sizes)]
    if isinstance(operation, Reduce):
        return ReduceOperatorDesc(
            ReduceFunction[operation.order.name], source, TensorDesc(source.data_type, kept), axes
        )
    structure = ArgMaxOperatorDesc if operation.order is Order.MAX else ArgMinOperatorDesc
    index = TensorDesc(TensorDataType.INT64, kept)
    return structure(source, index, axes, AxisDirection(operation.tie is Tie.LAST))


def _padded(row: str, tensor: TensorType, feature_level: FeatureLevel) -> tuple[tuple[int, ...], int]:
    """Return the sizes with as many 1 in front as an operator's lowest rank needs, and how many these are."""
    sizes = tensor.sizes or ()
    added = max(spec.find(spec.DIRECTML, row, feature_level).ranks[0] - len(sizes), 0)
    return (1,) * added + sizes, added


def _broadcast(operand: TensorType, sizes: tuple[int, ...]) -> TensorDesc:
    """Describe an operand with the sizes of the result: a broadcast dimension has stride 0."""
    own = operand.sizes or ()
    own = (1,) * (len(sizes) - len(own)) + own
    strides = tuple(0 if size == 1 else stride for size, stride in zip(own, packed_strides(own), strict=True))
    return TensorDesc(_data_type(operand), sizes, None if own == sizes else strides)


def _unknown_sizes(row: str, name: str, tensor: TensorType, feature_level: FeatureLevel) -> ExtremumError:
    """Return the error about unknown sizes, or the one about the element type: no sizes make that right."""
    given = f"{name}: {tensor}"
    if tensor.element is not None:
        field = "a_tensor" if row.startswith("DML_ELEMENT_WISE") else "input_tensor"
        try:
            _required(feature_level, partial(accept_element, row, field, _data_type(tensor)))
        except ExtremumError as error:
            return error.with_context(given=given)
    symbols = [size for size in tensor.shape or () if isinstance(size, str)]
    return SpecError(
        f"the sizes of {name!r} are not known before the model runs, and a description states them",
        given=given,
        remedy=f"give a size to {', '.join(symbols)}" if symbols else "declare the sizes of the model's inputs",
    )


def _data_type(tensor: TensorType) -> TensorDataType:
    element = dtypes.from_name(str(tensor.element))
    if element.directml is None:
        raise ElementTypeError(f"DirectML has no tensors of {element.name}", remedy="put a Cast to float before it")
    return TensorDataType[element.directml]


def _step(desc: OperatorDesc, inputs: tuple[str, ...], outputs: tuple[str, ...], feature_level: FeatureLevel) -> Step:
    return Step(desc, inputs, outputs, _required(feature_level, partial(accept, desc)))


def _required(feature_level: FeatureLevel, accepts: Callable[[FeatureLevel], object]) -> FeatureLevel:
    """Return the lowest level that accepts; if it is higher than this one, raise the error of this one."""
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
    """Write the nodes of a model that pick the largest or smallest in DirectML's operators.

    ArgMax and ArgMin become DML_ARGMAX and DML_ARGMIN, which keep the rank: without ``keepdims`` the output's buffer is
    the same, its description has the kept dimensions. Max and Min become a chain of DML_ELEMENT_WISE_MAX or MIN that
    gathers in the output, broadcasting through strides of 0. Hardmax becomes DML_ACTIVATION_HARDMAX1, before version 13
    over all axes from its axis on. ReduceMax and ReduceMin become DML_REDUCE, or an elementwise step where no
    axis is reduced. TopK becomes DML_TOP_K1 with indices of UINT64, which has the bits of the int64 that ONNX gives.

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
    try:
        from extremum.graph.load import load
        from extremum.graph.sites import inlined_sites
        from extremum.graph.types import array, name_dimensions, skeleton
    except ModuleNotFoundError as error:
        raise lacking("extremum.directml.lower", error) from None

    feature_level = feature_level_of(feature_level)
    loaded = load(model)
    sized = skeleton(loaded)
    name_dimensions(sized.graph)
    _set_sizes(sized.graph, sizes or {})
    lowered: list[LoweredNode] = []
    refusals: list[ExtremumError] = []
    for site in inlined_sites(sized):
        try:
            if site.schema is None:
                continue
            outputs = list(zip(site.node.output, site.outputs(), strict=True))
            inputs = list(zip(site.names, map(_without_made_up, site.operands), strict=False))
            found = steps(site.schema, site.accepted, inputs, outputs, feature_level)
            lowered.append(LoweredNode(site.place, str(site.schema), found))
        except ExtremumError as error:
            refusals.append(type(error)(error.reason, where=site.place, given=error.given, remedy=error.remedy))
    read = {name for node in lowered for step in node.steps for name in step.inputs}
    constants = {name: array(tensor) for name, tensor in _constants(loaded.graph) if name in read}
    return LoweredModel(feature_level, tuple(lowered), tuple(refusals), constants)


def _without_made_up(tensor: TensorType) -> TensorType:
    """Return a type without the sizes that inference named: nobody can set them."""
    from extremum.graph.inference import is_made_up

    shape = [None if isinstance(size, str) and is_made_up(size) else size for size in tensor.shape or ()]
    return TensorType(tensor.element, None if tensor.shape is None else tuple(shape))


def _constants(graph: onnx.GraphProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    yield from ((tensor.name, tensor) for tensor in graph.initializer)
    for node in graph.node:
        if node.op_type == "Constant" and node.output:
            yield from ((node.output[0], attribute.t) for attribute in node.attribute if attribute.name == "value")


def _set_sizes(graph: onnx.GraphProto, sizes: Mapping[str, int]) -> None:
    """Replace symbolic dimensions by their sizes."""
    values = (*graph.input, *graph.output, *graph.value_info)
    dimensions = [each for value in values for each in value.type.tensor_type.shape.dim if each.dim_param]
    known = dict.fromkeys(dimension.dim_param for dimension in dimensions)
    for name, size in sizes.items():
        if name not in known:
            remedy = f"its symbolic dimensions are: {', '.join(known) or 'none'}"
            raise ArgumentError(f"the model has no dimension {name!r}", remedy=remedy)
        if not (isinstance(size, Integral) and 0 <= size <= LARGEST):
            raise ArgumentError(f"the size of dimension {name!r} is not a number from 0 to {LARGEST}")
    for dimension in dimensions:
        if dimension.dim_param in sizes:
            dimension.dim_value = sizes[dimension.dim_param]
