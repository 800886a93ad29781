"""EX103: where a NaN is answered differently."""

from __future__ import annotations

from collections.abc import Iterator

from extremum.check.finding import Severity
from extremum.check.rule import Targets, rule
from extremum.errors import ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import Family, OperatorVersion

__all__ = ["look"]


@rule("EX103", "NaN", Severity.INFO)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An operator that looks along axes looks at floating-point elements.

    No document says what a NaN does. For extremum, as for NumPy, it is the extremum. onnxruntime finds it in a vector,
    skips it in a matrix unless it comes first, skips it in most places for ReduceMax and ReduceMin, and may leave a row
    of Hardmax without a 1.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int32[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    element = next((tensor.element for tensor in site.inputs), None)
    if schema.family not in (Family.MAXIMUM, Family.MINIMUM) and element is not None and "float" in element:
        yield SpecError(
            f"runtimes answer {schema} differently where its input holds a NaN",
            remedy="make sure that there is none, or run the node with extremum",
        )
