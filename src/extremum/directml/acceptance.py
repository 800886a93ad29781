"""What a feature level takes: each tensor against the version in force, and the tensors against each other."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import partial

import numpy as np

from extremum import errors, infer, spec, validate
from extremum.directml.enumerations import FeatureLevel, TensorFlags
from extremum.directml.operators import ActivationHardmaxOperatorDesc, OperatorDesc
from extremum.directml.tensor import TensorDesc
from extremum.errors import ElementTypeError, ExtremumError, SpecError
from extremum.lower import operation as operation_of
from extremum.operations import ArgReduce, Operation
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType


def accept(desc: OperatorDesc, feature_level: FeatureLevel) -> Operation:
    """Return the core operation of a description that a feature level takes."""
    if not (isinstance(desc, OperatorDesc) and hasattr(desc, "operator")):
        raise errors.ArgumentTypeError(
            f"{type(desc).__name__} is not an operator description",
            remedy="make one of them, such as ArgMaxOperatorDesc",
        )
    try:
        schema = spec.find(spec.DIRECTML, desc.row, feature_level)
        for field, tensor in desc.tensors.items():
            _require_tensor(schema, field, tensor)
        inputs = [
            TensorType(tensor.data_type.element_type.name, tensor.sizes) for tensor in desc.inputs.values()
        ]
        elements = [str(tensor.element) for tensor in inputs]
        if len(set(elements)) > 1:
            raise ElementTypeError(
                f"{schema} takes inputs of one element type, not {', '.join(elements).upper()}"
            )
        values = validate.attributes(schema, desc.attributes)
        index = desc.output.data_type.element_type
        operation = operation_of(schema, values, inputs[0].rank or 0, index=index.name)
        for field, result in zip(desc.outputs, infer.outputs(schema, values, inputs), strict=True):
            _require_output(desc, field, result)
        if isinstance(operation, ArgReduce):
            largest = math.prod(inputs[0].sizes or ()) // math.prod(desc.output.sizes) - 1
            if largest > np.iinfo(index.dtype).max:
                raise SpecError(
                    f"the index may be as large as {largest}, which {desc.output.data_type.name} cannot hold",
                    remedy="use UINT32, UINT64 or INT64 for output_tensor",
                )
    except ExtremumError as error:
        fields = [f"{field}: {tensor}" for field, tensor in desc.tensors.items()]
        fields += [f"{field}={getattr(value, 'name', value)}" for field, value in desc.attributes.items()]
        raise error.with_context(
            where=f"{desc.row}, feature level {feature_level}",
            given=", ".join(fields),
        ) from None
    return operation


def _require_tensor(schema: OperatorVersion, field: str, tensor: TensorDesc) -> None:
    validate.element_type(schema, tensor.data_type.element_type.name, field)
    least, most = schema.ranks
    count = tensor.dimension_count
    if not least <= count <= (most or count):
        counts = f"{least} dimensions" if least == most else f"{least} to {most} dimensions"
        raise SpecError(
            f"{schema} takes tensors of {counts}, but {field} has {count}",
            remedy="put dimensions of size 1 in front" if count < least else None,
        )
    if tensor.flags & TensorFlags.OWNED_BY_DML:
        raise SpecError(
            f"{field} is flagged OWNED_BY_DML, which is not supported: no operator is initialised with tensors",
            remedy="use TensorFlags.NONE and bind the tensor in dispatch",
        )


def _require_output(desc: OperatorDesc, field: str, result: TensorType) -> None:
    output = desc.outputs[field]
    sizes = result.sizes or ()
    if result.element not in (None, output.data_type.element_type.name):
        raise ElementTypeError(
            f"{field} is of type {output.data_type.name}, the input of type {str(result.element).upper()}",
            remedy="input and output have one element type",
        )
    if output.sizes != sizes:
        raise SpecError(
            f"{field} has sizes {list(output.sizes)}, but the result has {list(sizes)}",
            remedy="DirectML keeps the rank: a reduced dimension has size 1"
            if "axes" in desc.attributes
            else None,
        )
    if output.overlapping:
        raise SpecError(
            f"elements of {field} share memory: its strides are {list(output.element_strides)}",
            remedy="the stride of each dimension must exceed the span of all dimensions with smaller strides",
        )
    if type(desc) is ActivationHardmaxOperatorDesc and any(size > 1 for size in sizes[:-2]):
        raise SpecError(
            f"{desc.operator} takes tensors whose sizes before the last two are 1, not {list(sizes)}",
            remedy="use DML_ACTIVATION_HARDMAX1, from feature level 5_1 on, which takes any axes",
        )


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
