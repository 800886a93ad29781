"""EX001: an attribute that the version does not have."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, refusals, rule
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX001", "unknown attribute", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An attribute is stated that the version of the operator does not have.

    Runtimes refuse it, drop it silently, or obey a later version than the model asks for.

    Example::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[1, 1000] scores) => (int64[1, 1] label) {
           label = ArgMax <axis = 1, select_last_index = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 12]>
        g (float[1, 1000] scores) => (int64[1, 1] label) {
           label = ArgMax <axis = 1, select_last_index = 1> (scores)
        }
    """
    for attribute in site.node.attribute:
        yield from refusals(validate.known_attribute, schema, attribute.name)
