"""Whether a node keeps the promise of its operator's version.

Decides what is refused, and with which words, from the schema alone: attributes, number of inputs, element types,
ranks, axes. One function per question; ``attributes`` and ``inputs`` ask several and stop at the first refusal, while
:mod:`extremum.check` asks each on its own and collects. What shape comes out is :mod:`extremum.infer`'s; the place and
the values that were given are added by the caller, who knows them.
"""

from extremum.validate.attribute import (
    UNKNOWN,
    Attributes,
    attribute_value,
    attributes,
    input_values,
    known_attribute,
)
from extremum.validate.axis import axes
from extremum.validate.operand import (
    element_type,
    input_attribute,
    input_count,
    inputs,
    one_element_type,
    output,
    output_count,
    shape,
)

__all__ = [
    "UNKNOWN",
    "Attributes",
    "attribute_value",
    "attributes",
    "axes",
    "element_type",
    "input_attribute",
    "input_count",
    "input_values",
    "inputs",
    "known_attribute",
    "one_element_type",
    "output",
    "output_count",
    "shape",
]
