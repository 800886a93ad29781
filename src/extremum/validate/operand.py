"""The inputs and outputs of a node, held against its version.

Decides which numbers of them, element types, ranks and sizes are refused, as far as they are known.
"""

from __future__ import annotations

from collections.abc import Sequence

from extremum import spec
from extremum.errors import ElementTypeError, SpecError
from extremum.spec import Attribute, OperatorVersion
from extremum.tensors import TensorType

__all__ = [
    "element_type",
    "input_attribute",
    "input_count",
    "inputs",
    "one_element_type",
    "output",
    "output_count",
    "shape",
]


def inputs(schema: OperatorVersion, types: Sequence[TensorType]) -> None:
    """Check number, element types and ranks of the inputs, as far as they are known."""
    input_count(schema, len(types))
    for each in types[: schema.input.maximum]:
        element_type(schema, each.element)
        shape(schema, each)
    # The last of them may be left out.
    for attribute, each in zip(schema.input_attributes, types[schema.input.maximum :], strict=False):
        input_attribute(schema, attribute, each)
    one_element_type(schema, types)


def input_count(schema: OperatorVersion, count: int) -> None:
    """Refuse too few or too many inputs."""
    if not 1 <= count <= schema.most_inputs:
        accepted = "1 input" if schema.most_inputs == 1 else f"1 to {schema.most_inputs} inputs"
        raise SpecError(f"{schema} takes {accepted}, not {count}")


def one_element_type(schema: OperatorVersion, types: Sequence[TensorType]) -> None:
    """Refuse inputs that differ in their element types."""
    elements = sorted({tensor.element for tensor in types[: schema.input.maximum] if tensor.element is not None})
    if len(elements) > 1:
        raise ElementTypeError(
            f"{schema} takes inputs of one element type, not of {' and '.join(elements)}", remedy="put a Cast before it"
        )


def input_attribute(schema: OperatorVersion, attribute: Attribute, tensor: TensorType) -> None:
    """Refuse an input that is no list of what an attribute of the version takes."""
    assert attribute.input is not None
    name, accepted = attribute.input.name, attribute.input.types
    if tensor.element not in (None, *accepted):
        raise ElementTypeError(f"{schema} takes {name} of {' or '.join(accepted)}, not {tensor.element}")
    if tensor.rank not in (None, 1):
        raise SpecError(f"{schema} takes {name} as a list, not as a tensor of rank {tensor.rank}")


def element_type(schema: OperatorVersion, element: str | None) -> None:
    """Refuse an element type that the version does not take."""
    if element is None or element in schema.types:
        return
    later = [
        version
        for version in spec.OPERATORS[schema.domain, schema.name]
        if version.since > schema.since and element in version.types
    ]
    note = f" (it came with {later[0]})" if later else ""
    raise ElementTypeError(
        f"{schema} does not take {element}{note}",
        remedy=f"the element types of {schema} are: {', '.join(schema.types)}",
    )


def shape(schema: OperatorVersion, tensor: TensorType) -> None:
    """Refuse an input of a rank or size that the version does not take."""
    if tensor.shape is None:
        return
    least, most = schema.ranks
    rank = len(tensor.shape)
    if rank < least:
        raise SpecError(f"{schema} has no axis to look along in a tensor of rank {rank}", remedy="give it at least one")
    if most is not None and rank > most:
        raise SpecError(f"{schema} takes tensors of rank {least} to {most}, not {rank}")
    if not schema.empty and 0 in tensor.shape:
        raise SpecError(f"{schema} takes no tensor without elements")


def output_count(schema: OperatorVersion, count: int) -> None:
    """Refuse another number of outputs than the one that every version here has."""
    if count != 1:
        raise SpecError(f"{schema} has 1 output, not {count}")


def output(schema: OperatorVersion, name: str, declared: TensorType, inferred: TensorType) -> None:
    """Refuse an output whose declared element type is not what the version gives."""
    if None not in (declared.element, inferred.element) and declared.element != inferred.element:
        raise ElementTypeError(
            f"{schema} gives {inferred.element}, but its output {name!r} is declared {declared.element}"
        )
