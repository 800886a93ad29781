"""EX003: an axis that the input does not have."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, refusals, rule, states_axes
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX003", "axis out of range", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, lies outside the rank of the input or comes twice.

    The node fails when it runs, or when the model is loaded.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 2> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    # A default that is out of range has a rule of its own.
    for tensor in site.inputs[:1]:
        if states_axes(site, schema) and tensor.rank is not None and tensor.rank >= schema.ranks[0]:
            yield from refusals(validate.axes, schema, accepted_values(site, schema), tensor.rank)
