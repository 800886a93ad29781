"""EX105: the last of equals on CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Targets, accepted_values, rule
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["look"]


@rule("EX105", "select_last_index on CUDA", Severity.INFO)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax or ArgMin states `select_last_index=1`.

    onnxruntime has no CUDA kernel for it: the node runs on the CPU, with a copy in each direction.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1, select_last_index = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    if accepted_values(site, schema).get("select_last_index"):
        yield SpecError(
            f"onnxruntime runs {schema} with select_last_index=1 on the CPU, even where a GPU is used",
            remedy="drop it if ties do not matter",
        )
