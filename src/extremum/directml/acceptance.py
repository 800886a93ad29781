"""Whether a feature level takes an operator description.

Decides what is refused, and with which words, from the schema in force and from what the documents demand of the
tensors together. A single tensor has passed :class:`extremum.directml.TensorDesc`; what a schema means is the
pipeline's: :mod:`extremum.validate`, :mod:`extremum.infer` and :mod:`extremum.lower`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from extremum import dtypes, infer, lower, spec, validate
from extremum.directml.descriptions import ActivationHardmaxOperatorDesc, OperatorDesc
from extremum.directml.enumerations import FeatureLevel, TensorDataType, TensorFlags
from extremum.directml.tensor import TensorDesc
from extremum.errors import ArgumentTypeError, ElementTypeError, ExtremumError, SpecError
from extremum.operations import ArgReduce, Operation
from extremum.spec import OperatorVersion, Parameter
from extremum.tensors import TensorType

__all__ = ["accept", "accept_element", "feature_level_required", "lowest_level"]


def accept(desc: OperatorDesc, feature_level: FeatureLevel) -> Operation:
    """Return the core operation that a description means at a feature level."""
    if not (isinstance(desc, OperatorDesc) and hasattr(desc, "operator")):
        raise ArgumentTypeError(
            f"{type(desc).__name__} is no operator description", remedy="make one of them, such as ArgMaxOperatorDesc"
        )
    try:
        return _operation(desc, feature_level)
    except ExtremumError as error:
        tensors = {**desc.inputs, "output_tensor": desc.output}
        fields = [f"{field}: {tensor}" for field, tensor in tensors.items()]
        fields += [f"{field}={getattr(value, 'name', value)}" for field, value in desc.attributes.items()]
        where = f"{desc.row}, feature level {feature_level}"
        raise error.with_context(where=where, given=", ".join(fields)) from None


def feature_level_required(desc: OperatorDesc) -> FeatureLevel:
    """Return the lowest feature level that takes a description.

    Parameters
    ----------
    desc : OperatorDesc
        One of the structures.

    Returns
    -------
    FeatureLevel
        Every level from this one on takes it too.

    Raises
    ------
    SpecError, ElementTypeError, AxisError
        If no level takes it; the words are those of the highest.

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


def lowest_level(accepts: Callable[[FeatureLevel], object]) -> FeatureLevel:
    """Return the lowest feature level at which a call raises nothing; where none is, the call at the highest raises."""
    *lower_levels, highest = FeatureLevel
    for level in lower_levels:
        try:
            accepts(level)
        except ExtremumError:
            continue
        return level
    accepts(highest)
    return highest


def accept_element(operator: str, field: str, data_type: TensorDataType, feature_level: FeatureLevel) -> None:
    """Refuse an element type that a feature level does not take as an input, whatever the sizes."""
    schema = spec.find(spec.DIRECTML, operator, feature_level)
    _element(schema, schema.input, field, data_type)


def _operation(desc: OperatorDesc, feature_level: FeatureLevel) -> Operation:
    schema = spec.find(spec.DIRECTML, desc.row, feature_level)
    for field, tensor in desc.inputs.items():
        _tensor(schema, schema.input, field, tensor)
    _tensor(schema, schema.output, "output_tensor", desc.output)
    values = validate.attributes(schema, desc.attributes)
    inputs = [_type(tensor) for tensor in desc.inputs.values()]
    _one_type(schema, inputs)
    expected = infer.output(schema, values, inputs)
    _output(desc, expected)
    if isinstance(desc, ActivationHardmaxOperatorDesc):
        _effective_rank(desc)
    operation = lower.operation(
        schema, values, desc.output.dimension_count, index=desc.output.data_type.element_type.name
    )
    if isinstance(operation, ArgReduce):
        _index(desc, operation.axes)
    return operation


def _type(tensor: TensorDesc) -> TensorType:
    return TensorType(tensor.data_type.element_type.name, tensor.sizes)


def _names(types: Sequence[str]) -> str:
    return ", ".join(str(dtypes.from_name(name).directml) for name in types)


def _element(schema: OperatorVersion, parameter: Parameter, field: str, data_type: TensorDataType) -> None:
    element = data_type.element_type.name
    if element not in parameter.types:
        versions = spec.OPERATORS[schema.domain, schema.name]
        later = [
            each for each in versions if each.since > schema.since and element in _parameter(each, parameter).types
        ]
        note = f" (it came with {later[0]})" if later else ""
        raise ElementTypeError(
            f"{schema} does not take {data_type.name} as {field}{note}",
            remedy=f"the element types of {field} in {schema} are: {_names(parameter.types)}",
        )


def _tensor(schema: OperatorVersion, parameter: Parameter, field: str, tensor: TensorDesc) -> None:
    _element(schema, parameter, field, tensor.data_type)
    least, most = schema.ranks
    if not least <= tensor.dimension_count <= (most or tensor.dimension_count):
        counts = f"{least} dimensions" if least == most else f"{least} to {most} dimensions"
        raise SpecError(
            f"{schema} takes tensors of {counts}, but {field} has {tensor.dimension_count}",
            remedy="put dimensions of size 1 in front" if tensor.dimension_count < least else None,
        )
    if tensor.flags & TensorFlags.OWNED_BY_DML:
        raise SpecError(
            f"{field} is flagged OWNED_BY_DML, but operators have no initialisation here that could take it",
            remedy="use TensorFlags.NONE and bind the tensor in dispatch",
        )


def _parameter(schema: OperatorVersion, like: Parameter) -> Parameter:
    return schema.output if like.name == schema.output.name else schema.input


def _one_type(schema: OperatorVersion, inputs: Sequence[TensorType]) -> None:
    elements = [str(tensor.element) for tensor in inputs]
    if len(set(elements)) > 1:
        raise ElementTypeError(f"{schema} takes inputs of one element type, not {_names(elements)}")


def _output(desc: OperatorDesc, expected: TensorType) -> None:
    actual = desc.output
    if expected.element is not None and actual.data_type.element_type.name != expected.element:
        raise ElementTypeError(
            f"output_tensor is of type {actual.data_type.name}, the input of type {_names([expected.element])}",
            remedy="input and output have one element type",
        )
    if actual.sizes != expected.sizes:
        raise SpecError(
            f"output_tensor has sizes {list(actual.sizes)}, but the result has {list(expected.sizes or ())}",
            remedy="DirectML keeps the rank: a reduced dimension has size 1" if desc.attributes else None,
        )
    if actual.overlapping:
        raise SpecError(
            f"elements of output_tensor share memory: its strides are {list(actual.element_strides)}",
            remedy="each dimension has to step over all that the dimensions of smaller stride span",
        )


def _effective_rank(desc: ActivationHardmaxOperatorDesc) -> None:
    sizes = desc.input_tensor.sizes
    if any(size > 1 for size in sizes[:-2]):
        raise SpecError(
            f"{desc.operator} takes tensors whose sizes before the last two are 1, not {list(sizes)}",
            remedy="use DML_ACTIVATION_HARDMAX1, from feature level 5_1 on, which takes any axes",
        )


def _index(desc: OperatorDesc, axes: Sequence[int]) -> None:
    (tensor,) = desc.inputs.values()
    last = math.prod(tensor.sizes[axis] for axis in axes) - 1
    index = desc.output.data_type
    if last > np.iinfo(index.element_type.dtype).max:
        raise SpecError(
            f"the index may be as large as {last}, which {index.name} cannot hold",
            remedy="use UINT32, UINT64 or INT64 for output_tensor",
        )
