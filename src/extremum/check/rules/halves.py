"""EX108: 64-bit integers that the installed onnxruntime compares by their lower halves."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from extremum.check.asked import AskedRuntime
from extremum.check.finding import Severity
from extremum.check.rule import Targets, rule
from extremum.check.sample import Kind
from extremum.errors import ExecutionError, ExtremumError
from extremum.graph.sites import Site
from extremum.runtimes import Runtime
from extremum.runtimes.outcome import Outcome
from extremum.runtimes.watched import Here
from extremum.spec import Family, OperatorVersion

__all__ = ["look"]

_FAMILIES = (Family.MAXIMUM, Family.MINIMUM, Family.LARGEST, Family.SMALLEST)


@rule("EX108", "int64 in onnxruntime", Severity.WARNING)
def look(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The installed onnxruntime, asked with a model of this one node, takes the smaller of two int64 for the larger.

    From 1.21 on it compares two numbers with the same upper 32 bits by the lower 32 as if these had a sign (seen on
    x86-64): 0 counts as larger than 2147483648. Milliseconds since 1970 meet that every 50 days. Max and Min are right
    in an odd last element alone, ReduceMax and ReduceMin over fewer than four; ArgMax, ArgMin, Greater and Less are
    right. The finding has the smallest input that repeats it.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int64[4] before, int64[4] now) => (int64[4] latest) {
           latest = Max (before, now)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int64[4] before, int64[4] now) => (int64[4] latest) {
           later = Greater (now, before)
           latest = Where (later, now, before)
        }
    """
    element = next((tensor.element for tensor in site.operands), None)
    if targets.runtime is None or schema.family not in _FAMILIES or element != "int64":
        return
    asked = _asked(targets.runtime)
    for each in asked.differences(site, (Kind.HALVES,)):
        if each.outcome is Outcome.WRONG:
            yield ExecutionError(
                f"{asked.name} compares int64 wrongly in {schema} where the upper 32 bits are equal",
                given=each.reproducer,
                remedy="run the node with extremum.onnxruntime, or write Max and Min as Greater or Less and Where",
            )


@functools.cache
def _asked(runtime: Runtime) -> AskedRuntime:
    return AskedRuntime(Here(runtime))
