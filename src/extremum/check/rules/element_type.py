"""EX004: an element type that the version does not take."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, refusals, rule
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX004", "element type not allowed", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The input has an element type that the version of the operator does not take, or `axes` is no list of int64.

    The model is not valid, even where a runtime happens to run it. A later version may take the type.

    Example::

        <ir_version: 8, opset_import: ["" : 12]>
        g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    for element in dict.fromkeys(tensor.element for tensor in site.operands):
        yield from refusals(validate.element_type, schema, element)
    for attribute, tensor in zip(schema.input_attributes, site.inputs[schema.input.maximum :], strict=False):
        yield from refusals(validate.input_attribute, schema, attribute, tensor)
