"""Descriptions in the words of directml.h: structures, members, enumerators.

Decides what a field is called in C and which members are counts that a description leaves to its tuples. How the
members are written down is the formats'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from extremum.directml.descriptions import OperatorDesc
from extremum.directml.lowered import Step
from extremum.directml.tensor import TensorDesc

__all__ = ["bindings", "members", "operator_type", "record", "structure_name"]


def structure_name(desc: OperatorDesc) -> str:
    """Return the name of a description's structure, such as ``DML_ARGMAX_OPERATOR_DESC``."""
    return f"{desc.operator}_OPERATOR_DESC"


def operator_type(desc: OperatorDesc) -> str:
    """Return the enumerator of DML_OPERATOR_TYPE, such as ``DML_OPERATOR_ARGMAX``."""
    return desc.operator.replace("DML_", "DML_OPERATOR_", 1)


def members(desc: OperatorDesc | TensorDesc) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each member of a structure, in the order of directml.h."""
    if isinstance(desc, TensorDesc):
        yield "DataType", desc.data_type
        yield "Flags", desc.flags
        yield "DimensionCount", desc.dimension_count
        yield "Sizes", desc.sizes
        yield "Strides", desc.strides
        yield "TotalTensorSizeInBytes", desc.total_tensor_size_in_bytes
        yield "GuaranteedBaseOffsetAlignment", desc.guaranteed_base_offset_alignment
        return
    for field in fields(desc):
        value = getattr(desc, field.name)
        if field.name == "axes":
            yield "AxisCount", len(value)
        yield _member(field.name), value


def _member(field: str) -> str:
    return "".join(word.capitalize() for word in field.split("_"))


def bindings(step: Step) -> dict[str, str]:
    """Return the name of the model's tensor by the member it is bound to."""
    bound = dict(zip(map(_member, step.desc.inputs), step.inputs, strict=True))
    return {**bound, "OutputTensor": step.output}


def record(desc: OperatorDesc | TensorDesc) -> dict[str, Any]:
    """Return the members as JSON can hold them: enumerators by name, absent strides left out."""
    return {name: _value(value) for name, value in members(desc) if value is not None}


def _value(value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return record(value)
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "c_name", value)
