"""The attributes of a node, held against its version.

Decides which names and values are refused. What an axis means in a tensor of some rank is
:mod:`extremum.validate.axis`'s.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Final

from extremum import spec
from extremum.errors import SpecError
from extremum.spec import Attribute, AttributeRange, AttributeType, OperatorVersion
from extremum.tensors import TensorType

__all__ = [
    "UNKNOWN",
    "Attributes",
    "Unknown",
    "attribute_value",
    "attributes",
    "input_values",
    "known_attribute",
]


class Unknown(enum.Enum):
    """What stands for the value of an attribute that comes as an input, before the model runs."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN

Attributes = Mapping[str, int | tuple[int, ...] | Unknown | None]
"""The value of every attribute a version has; None for one that has no default and was not given."""


def attributes(schema: OperatorVersion, given: Mapping[str, object], types: Sequence[TensorType] = ()) -> Attributes:
    """Check the attributes that are given, as such or as inputs of these types, and fill in the others' defaults."""
    for name in given:
        known_attribute(schema, name)
    given = {**given, **input_values(schema, types)}
    return {each.name: attribute_value(schema, each, given) for each in schema.attributes}


def input_values(schema: OperatorVersion, types: Sequence[TensorType]) -> dict[str, tuple[int, ...] | Unknown]:
    """Return the values of the attributes that come as inputs of these types."""
    return {
        attribute.name: () if tensor.shape == (0,) else UNKNOWN if tensor.values is None else tensor.values
        for attribute, tensor in zip(schema.input_attributes, types[schema.input.maximum :], strict=False)
    }


def known_attribute(schema: OperatorVersion, name: str) -> None:
    """Refuse an attribute that the version does not have."""
    if not _states(schema, name):
        raise _unknown_attribute(schema, name)


def _states(schema: OperatorVersion, name: str) -> bool:
    attribute = schema.attribute(name)
    return attribute is not None and attribute.input is None


def _unknown_attribute(schema: OperatorVersion, name: str) -> SpecError:
    having = [version for version in spec.OPERATORS[schema.domain, schema.name] if _states(version, name)]
    reason = f"{schema} has no attribute {name!r}"
    if schema.attribute(name) is not None:
        return SpecError(f"{reason} any more: it is an input", remedy=f"give {name} as a list of int64 after the data")
    if not having:
        known = ", ".join(attribute.name for attribute in schema.attributes if attribute.input is None) or "none"
        return SpecError(reason, remedy=f"drop it; the attributes of {schema} are: {known}")
    if having[0].since > schema.since:
        return SpecError(
            f"{reason} (it came with {having[0]})",
            remedy=f"use {having[0].requirement} or later, or drop the attribute if its value is 0",
        )
    return SpecError(f"{reason} (the last to have it was {having[-1]})", remedy="drop it, it has no effect")


def attribute_value(
    schema: OperatorVersion, attribute: Attribute, given: Mapping[str, object]
) -> int | tuple[int, ...] | Unknown | None:
    """Return the value of one attribute, which is its default where none is given."""
    if attribute.name not in given:
        if attribute.required:
            raise SpecError(f"{schema} needs the attribute {attribute.name!r}")
        return attribute.default
    value = given[attribute.name]
    if isinstance(value, Unknown):
        return value
    if attribute.type is AttributeType.INTS:
        if isinstance(value, Sequence) and all(isinstance(item, int) for item in value):
            return tuple(int(item) for item in value)
    elif isinstance(value, int):
        if attribute.range is AttributeRange.FLAG and value not in (0, 1):
            raise SpecError(
                f"{schema} takes {attribute.range.value} for {attribute.name!r}, not {value}",
                remedy="runtimes disagree on what any other value means",
            )
        return int(value)
    raise SpecError(f"{schema} takes {attribute.type.value} for {attribute.name!r}, not {value!r}")
