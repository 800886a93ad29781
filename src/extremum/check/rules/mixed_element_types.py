"""EX006: inputs that differ in their element types."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, refusals, rule
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX006", "inputs of different element types", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min do not have one element type.

    The operators convert nothing; runtimes refuse the model.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, double[4] b) => (c) {
           c = Max (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, double[4] b) => (double[4] c) {
           wide = Cast <to = 11> (a)
           c = Max (wide, b)
        }
    """
    yield from refusals(validate.one_element_type, schema, site.inputs)
