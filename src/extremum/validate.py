"""Checks a node against the rules of its operator's version.

Decides from the schema alone what is refused, and with which message. Each function checks one rule; ``attributes`` and
``inputs`` check several and stop at the first error, while :mod:`extremum.check` calls each function and collects the
errors. :mod:`extremum.infer` computes output shapes. The caller adds the place and the given values to an error.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Final

from extremum.errors import AxisError, ElementTypeError, SpecError
from extremum.printable import counted
from extremum.spec import OPERATORS, Attribute, AttributeRange, OperatorVersion
from extremum.tensors import TensorType, element_of, wider_types


class Unknown(enum.Enum):
    """The value of an attribute that is an input, while the model has not run yet."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
Value = int | tuple[int, ...] | Unknown | None
"""The value of an attribute; None if it has no default and was not given."""
Attributes = Mapping[str, Value]
"""The value of every attribute a version has."""


def attributes(
    schema: OperatorVersion, values: Mapping[str, object], types: Sequence[TensorType] = ()
) -> Attributes:
    """Check the given attributes and those that are inputs of these types; fill in defaults for the others."""
    for name in values:
        known_attribute(schema, name)
    values = {**values, **input_values(schema, types)}
    return {each.name: attribute_value(schema, each, values) for each in schema.attributes}


def input_values(schema: OperatorVersion, types: Sequence[TensorType]) -> dict[str, Value]:
    """Return the values of the attributes that are inputs of these types."""
    values: dict[str, Value] = {}
    for attribute, tensor in zip(schema.input_attributes, types[schema.input.maximum :], strict=False):
        value: Value = UNKNOWN
        if tensor.shape == (0,):
            value = ()
        elif tensor.values is not None:
            value = tensor.values
        if not attribute.is_list and isinstance(value, tuple):
            # `input_attribute` refuses any other number of values.
            value = value[0] if len(value) == 1 else UNKNOWN
        values[attribute.name] = value
    return values


def known_attribute(schema: OperatorVersion, name: str) -> None:
    """Refuse an attribute that the version does not have."""
    entry = schema.attribute(name)
    has_none = f"{schema} has no attribute {name!r}"
    if entry is not None:
        if entry.input is None:
            return
        raise SpecError(
            f"{has_none} any more: it is an input",
            remedy=f"give {entry.input.name} as a list of int64 after the data",
        )
    versions = ((version, version.attribute(name)) for version in OPERATORS[schema.domain, schema.name])
    holders = [(version, each) for version, each in versions if each is not None and each.input is None]
    if not holders:
        names = (
            ", ".join(attribute.name for attribute in schema.attributes if attribute.input is None) or "none"
        )
        raise SpecError(has_none, remedy=f"drop it; the attributes of {schema} are: {names}")
    first, own = holders[0]
    if first.since > schema.since:
        raise SpecError(
            f"{has_none} (it came with {first})",
            remedy=f"use {first.requirement} or later, or drop the attribute if its value is {own.default}",
        )
    raise SpecError(
        f"{has_none} (the last to have it was {holders[-1][0]})", remedy="drop it, it has no effect"
    )


def attribute_value(schema: OperatorVersion, attribute: Attribute, values: Mapping[str, object]) -> Value:
    """Return the given value of one attribute, or its default."""
    if attribute.name not in values:
        if attribute.required:
            if attribute.input is None:
                source = f"attribute {attribute.name!r}"
            else:
                source = f"input {attribute.input.name!r}"
            raise SpecError(f"{schema} needs the {source}")
        return attribute.default
    value = values[attribute.name]
    if isinstance(value, Unknown):
        return value
    if attribute.is_list:
        if isinstance(value, Sequence) and all(isinstance(item, int) for item in value):
            return tuple(int(item) for item in value)
    elif isinstance(value, int):
        if attribute.range is AttributeRange.FLAG and value not in (0, 1):
            raise SpecError(
                f"{schema} takes {attribute.range.value} for {attribute.name!r}, not {value}",
                remedy="runtimes disagree on what any other value means",
            )
        if attribute.range is AttributeRange.COUNT and value < 0:
            raise SpecError(f"{schema} takes {attribute.range.value} elements, not {attribute.name}={value}")
        return int(value)
    kind = "a list of integers" if attribute.is_list else "an integer"
    raise SpecError(f"{schema} takes {kind} for {attribute.name!r}, not {value!r}")


def axes(schema: OperatorVersion, values: Attributes, rank: int) -> tuple[int, ...]:
    """Return the axes that the attributes select in a tensor of this rank: non-negative, distinct and ascending."""
    attribute = next((each for each in schema.attributes if each.range.is_axis), None)
    if attribute is None:
        return ()
    value = values[attribute.name]
    if value is UNKNOWN:
        raise SpecError(
            f"the {attribute.name} of {schema} are not known before the model runs",
            remedy="give them as an initializer or a Constant",
        )
    numbers = (value,) if isinstance(value, int) else value or ()
    if not numbers and not schema.every_axis:
        raise SpecError(f"{schema} needs at least one axis")
    if not numbers and not values.get("noop_with_empty_axes"):
        numbers = tuple(range(rank))
    selection = tuple(sorted(_axis(schema, attribute, axis, rank) for axis in numbers))
    if len(set(selection)) < len(selection):
        raise AxisError(f"{schema} takes each axis once")
    if schema.coerced:
        return tuple(range(selection[0], rank))
    return selection


def _axis(schema: OperatorVersion, attribute: Attribute, axis: int, rank: int) -> int:
    least = 0 if attribute.range is AttributeRange.AXIS_UNSIGNED else -rank
    if least <= axis < rank:
        return axis % rank
    if attribute.input:
        text = f"{axis} among its {attribute.name}"
    else:
        text = f"{attribute.name}={axis}"
    raise AxisError(
        f"{schema} has {text}, but its input has rank {rank}",
        remedy=f"use a value in [{least}, {rank - 1}]" if rank else f"leave out the {attribute.name}",
    )


def inputs(schema: OperatorVersion, types: Sequence[TensorType], *, any_element: bool = False) -> None:
    """Check the number, element types and ranks of the inputs, as far as they are known.

    With ``any_element`` every type that has an order passes, also one that the version does not take.
    """
    input_count(schema, len(types))
    for each in types[: schema.input.maximum]:
        if not any_element:
            element_type(schema, each.element)
        elif each.element is not None:
            element_of(each.element)
        shape(schema, each)
    # The last inputs may be omitted.
    for attribute, each in zip(schema.input_attributes, types[schema.input.maximum :], strict=False):
        input_attribute(schema, attribute, each)
    one_element_type(schema, types)


def input_count(schema: OperatorVersion, count: int) -> None:
    """Refuse too few or too many inputs."""
    least = schema.least_inputs
    most = schema.most_inputs
    if not least <= count <= most:
        if least == most:
            counts = counted(most, "input")
        else:
            counts = f"{least} to {most} inputs"
        raise SpecError(f"{schema} takes {counts}, not {count}")


def one_element_type(schema: OperatorVersion, types: Sequence[TensorType]) -> None:
    """Refuse inputs that differ in their element types."""
    elements = sorted(
        {tensor.element for tensor in types[: schema.input.maximum] if tensor.element is not None}
    )
    if len(elements) > 1:
        raise ElementTypeError(
            f"{schema} takes inputs of one element type, not of {' and '.join(elements)}",
            remedy="put a Cast before it",
        )


def input_attribute(schema: OperatorVersion, attribute: Attribute, tensor: TensorType) -> None:
    """Refuse an input that is not a list of the type that the attribute takes."""
    assert attribute.input is not None
    name = attribute.input.name
    types = attribute.input.types
    if tensor.element not in (None, *types):
        raise ElementTypeError(f"{schema} takes {name} of {' or '.join(types)}, not {tensor.element}")
    if tensor.rank not in (None, 1):
        raise SpecError(
            f"{schema} takes {name} as a list, not as a tensor of rank {tensor.rank}",
            remedy="Reshape it to [1]" if tensor.rank == 0 else "Reshape it to [-1]",
        )
    if not attribute.is_list and (sizes := tensor.sizes) and sizes != (1,):
        raise SpecError(f"{schema} takes {name} as a list of 1 element, not of {sizes[0]}")


def element_type(schema: OperatorVersion, element: str | None, field: str = "") -> None:
    """Refuse an element type that the version does not take, as its input or as a field of DirectML's structure."""
    types = schema.types_of(field)
    if element is None or element in types:
        return
    versions = OPERATORS[schema.domain, schema.name]
    later = [each for each in versions if each.since > schema.since and element in each.types_of(field)]
    note = f" (it came with {later[0]})" if later else ""
    if field:
        # As directml.h spells them.
        raise ElementTypeError(
            f"{schema} does not take {element.upper()} as {field}{note}",
            remedy=f"the element types of {field} in {schema} are: {', '.join(types).upper()}",
        )
    wider = wider_types(element, types)
    cast = f"Cast to {wider[0]} first; " if wider else ""
    raise ElementTypeError(
        f"{schema} does not take {element}{note}",
        remedy=f"{cast}the element types of {schema} are: {', '.join(types)}",
    )


def shape(schema: OperatorVersion, tensor: TensorType) -> None:
    """Refuse an input whose rank is below the version's minimum; :mod:`extremum.directml` checks its own limits."""
    if tensor.rank is not None and tensor.rank < schema.ranks[0]:
        raise SpecError(
            f"{schema} has no axis to look along in a tensor of rank {tensor.rank}",
            remedy="give it at least one",
        )


def output_count(schema: OperatorVersion, count: int) -> None:
    """Refuse a number of outputs that is not the version's."""
    if count != len(schema.outputs):
        raise SpecError(f"{schema} has {counted(len(schema.outputs), 'output')}, not {count}")


def output(schema: OperatorVersion, name: str, declared: TensorType, inferred: TensorType) -> None:
    """Refuse an output whose declared element type is not what the version gives."""
    if None not in (declared.element, inferred.element) and declared.element != inferred.element:
        raise ElementTypeError(
            f"{schema} gives {inferred.element}, but its output {name!r} is declared {declared.element}",
        )
