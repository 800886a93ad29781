"""EX002: an attribute whose value the version does not take."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, refusals, rule
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX002", "attribute out of range", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An attribute has a value of the wrong type, or `keepdims` or `select_last_index` one other than 0 and 1.

    Runtimes disagree on it: onnxruntime takes `keepdims=2` for 0, onnx's reference evaluator for 1.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1, keepdims = 2> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1, keepdims = 1> (scores)
        }
    """
    for attribute in schema.attributes:
        yield from refusals(validate.attribute_value, schema, attribute, site.attributes)
