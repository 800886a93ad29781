"""The shape of a schema: what one version of one operator promises.

Decides which facts a schema holds and what they are called. The schemas are in the files named after operators;
what follows from a schema is decided by :mod:`extremum.validate`, :mod:`extremum.infer` and :mod:`extremum.lower`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

__all__ = [
    "DIRECTML",
    "FLOATS",
    "INTEGERS",
    "ONNX",
    "Attribute",
    "AttributeRange",
    "AttributeType",
    "Broadcasting",
    "Family",
    "OperatorVersion",
    "Parameter",
    "requirement",
]

ONNX = ""
"""The domain of ONNX's own operators."""

DIRECTML = "directml"
"""The domain under which DirectML's operators are filed; their version is the feature level, such as 0x4100."""

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def requirement(domain: str, version: int) -> str:
    """Return a version of a domain as one asks for it."""
    if domain == DIRECTML:
        return f"feature level {version >> 12}_{version >> 8 & 0xF}"
    return f"opset {version}"


class Family(enum.Enum):
    """What an operator computes, whatever its version."""

    ARGMAX = "index of the largest"
    ARGMIN = "index of the smallest"
    HARDMAX = "1 at the largest"
    MAXIMUM = "elementwise largest"
    MINIMUM = "elementwise smallest"
    LARGEST = "the largest"
    SMALLEST = "the smallest"


class AttributeType(enum.Enum):
    """How an attribute's value is written."""

    INT = "an integer"
    INTS = "a list of integers"


class AttributeRange(enum.Enum):
    """Which values of an attribute are accepted; r is the rank of the input."""

    ANY = "any value"
    FLAG = "0 or 1"
    AXIS = "[-r, r-1]"
    AXIS_UNSTATED = "an axis; the document says nothing of negative values"
    AXIS_UNSIGNED = "[0, r-1]"

    @property
    def is_axis(self) -> bool:
        """Whether the values are axes."""
        return self not in (AttributeRange.ANY, AttributeRange.FLAG)


class Broadcasting(enum.Enum):
    """How the shapes of several inputs have to go together."""

    NONE = "all shapes equal"
    MULTIDIRECTIONAL = "multidirectional"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One input or output, named as the document spells it."""

    name: str
    # Inputs and outputs with the same types as the schema's `types` share one element type in a node.
    types: tuple[str, ...]
    # More than 1 for a variadic input, of which at least one is needed.
    maximum: int = 1


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute, named as the document spells it."""

    name: str
    type: AttributeType
    # The value of an attribute that is not given; None if the document states no default.
    default: int | None
    range: AttributeRange
    required: bool = False
    # How its value comes where a node does not state it: as a further input, which may be left out.
    input: Parameter | None = None


@dataclass(frozen=True, slots=True)
class OperatorVersion:
    """Everything one version of one operator promises."""

    domain: str
    name: str
    # The opset, or the feature level, from which on this schema is in force.
    since: int
    family: Family
    # The operators here have one of each; the input may be variadic, and attributes may come as further ones.
    input: Parameter
    output: Parameter
    # In the document's order.
    attributes: tuple[Attribute, ...] = ()
    broadcasting: Broadcasting = Broadcasting.NONE
    # Whether the input is seen as 2-D, split at the axis.
    coerced: bool = False
    # Whether no axis means all of them, unless `noop_with_empty_axes` says otherwise.
    every_axis: bool = False
    # Whether a reduction of no element gives the identity of its order.
    identity: bool = False
    # The smallest and the largest rank accepted; the largest is None where there is no limit.
    ranks: tuple[int, int | None] = (0, None)
    # Whether a tensor may have no element.
    empty: bool = True

    @property
    def types(self) -> tuple[str, ...]:
        """Names of the accepted input element types."""
        return self.input.types

    @property
    def input_attributes(self) -> tuple[Attribute, ...]:
        """The attributes that come as inputs, after those that hold elements."""
        return tuple(attribute for attribute in self.attributes if attribute.input is not None)

    @property
    def most_inputs(self) -> int:
        """How many inputs a node may have."""
        return self.input.maximum + len(self.input_attributes)

    @property
    def version(self) -> str:
        """The version as its domain writes it: ``13``, or ``4_1`` for a feature level."""
        return self.requirement.rpartition(" ")[2]

    @property
    def requirement(self) -> str:
        """What has to be asked for to get this version or a later one: ``opset 13``, ``feature level 4_1``."""
        return requirement(self.domain, self.since)

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute called ``name``, or None if this version has no such attribute."""
        return next((attribute for attribute in self.attributes if attribute.name == name), None)
