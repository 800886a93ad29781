"""EX012: a declared type or shape that the operator cannot give."""

from __future__ import annotations

from collections.abc import Iterator

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.rule import Targets, refusals, rule
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import OperatorVersion
from extremum.tensors import TensorType

__all__ = ["look"]


@rule("EX012", "declared output that cannot be", Severity.ERROR)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The model declares an element type, rank or size for an output that the operator cannot give.

    Whoever reads the declaration reserves the wrong memory. Some runtimes refuse the model, some correct it.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4] label) {
           label = ArgMax <axis = 1, keepdims = 0> (scores)
        }
    """
    if any(refusals(site.output)):
        return
    name, inferred = site.node.output[0], site.output()
    declared = site.stated.get(name, TensorType())
    yield from refusals(validate.output, schema, name, declared, inferred)
    if _contradict(declared, inferred):
        yield SpecError(f"{schema} gives {inferred}, but its output {name!r} is declared {declared}")


def _contradict(declared: TensorType, inferred: TensorType) -> bool:
    if declared.shape is None or inferred.shape is None:
        return False
    return len(declared.shape) != len(inferred.shape) or any(
        isinstance(ours, int) and isinstance(theirs, int) and ours != theirs
        for ours, theirs in zip(inferred.shape, declared.shape, strict=True)
    )
