"""EX011: Hardmax of rank 1 along the axis it does not have."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, refusals, rule, states_axes
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.spec import Family, OperatorVersion

__all__ = ["look"]


@rule("EX011", "default axis of Hardmax at rank 1", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has an input of rank 1 and no `axis`: the default, 1, is not there.

    onnxruntime refuses the model. onnx's reference evaluator takes the default of version 13, -1.

    Example::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[10] scores) => (float[10] hot) {
           hot = Hardmax (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[10] scores) => (float[10] hot) {
           hot = Hardmax <axis = 0> (scores)
        }
    """
    for tensor in site.inputs[:1]:
        if schema.family is not Family.HARDMAX or states_axes(site, schema):
            continue
        if tensor.rank is not None and tensor.rank >= schema.ranks[0]:
            yield from refusals(validate.axes, schema, accepted_values(site, schema), tensor.rank)
