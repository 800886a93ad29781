"""EX013: an attribute without effect."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Targets, rule
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX013", "consumed_inputs", Severity.INFO)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Max or Min of version 1 states `consumed_inputs`.

    It let early runtimes overwrite the inputs it names. Today it has no effect; version 6 dropped it.

    Example::

        <ir_version: 8, opset_import: ["" : 1]>
        g (float[3] a, float[3] b) => (float[3] c) {
           c = Max <consumed_inputs = [0, 0]> (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 1]>
        g (float[3] a, float[3] b) => (float[3] c) {
           c = Max (a, b)
        }
    """
    for attribute in schema.attributes:
        if attribute.name == "consumed_inputs" and attribute.name in site.attributes:
            yield SpecError(f"{schema} does nothing with 'consumed_inputs'", remedy="drop it")
