"""EX105: the last of equals on CUDA."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Rule, Targets, accepted_values
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion

__all__ = ["RULE"]


def _look(site: Site, row: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if accepted_values(site, row).get("select_last_index"):
        yield SpecError(
            f"onnxruntime runs {row} with select_last_index=1 on the CPU, even where a GPU is used",
            remedy="drop it if ties do not matter",
        )


RULE = Rule(
    code="EX105",
    title="select_last_index on CUDA",
    severity=Severity.INFO,
    what="ArgMax or ArgMin states `select_last_index=1`.",
    why="onnxruntime has no CUDA kernel for it: the node runs on the CPU, with a copy in each direction.",
    example="""\
<ir_version: 8, opset_import: ["" : 13]>
g (float[4, 10] scores) => (int64[4, 1] label) {
   label = ArgMax <axis = 1, select_last_index = 1> (scores)
}
""",
    instead="""\
<ir_version: 8, opset_import: ["" : 13]>
g (float[4, 10] scores) => (int64[4, 1] label) {
   label = ArgMax <axis = 1> (scores)
}
""",
    look=_look,
)
