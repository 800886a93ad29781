"""EX101: what the installed onnxruntime does not run."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Targets, rule
from extremum.errors import ExtremumError, UnknownOperatorError
from extremum.graph.sites import Site
from extremum.runtimes import shown
from extremum.runtimes.question import refusal
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX101", "refused by the installed onnxruntime", Severity.WARNING)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The installed onnxruntime, asked with a model of this one node, does not run it on its element type.

    A model with one such node cannot be loaded at all. `extremum fix` rewrites it into nodes that can.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int16[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int16[4, 10] scores) => (int64[4, 1] label) {
           wide = Cast <to = 6> (scores)
           label = ArgMax <axis = 1> (wide)
        }
    """
    element = next((tensor.element for tensor in site.inputs), None)
    if targets.runtime is None or element not in schema.types:
        return
    answer = refusal(targets.runtime, schema, site.opsets[""], element)
    if answer is not None:
        yield UnknownOperatorError(
            f"{shown(targets.runtime)} does not run {schema} on {element} at opset {site.opsets['']}",
            given=answer,
            remedy="extremum fix rewrites it",
        )
