"""The rules from EX101 on: what a runtime or a DirectML feature level refuses or answers differently.

A new rule takes the next free code; a code is never used again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from extremum import infer, validate
from extremum.check.question import AskedRuntime, Difference, Kind
from extremum.check.rule import Rule, Severity, Targets, refusals, rule
from extremum.directml.lowering import steps
from extremum.errors import ExecutionError, ExtremumError, SpecError, UnknownOperatorError
from extremum.graph.sites import Site
from extremum.runtimes import Runtime, shown
from extremum.runtimes.processes import InProcess
from extremum.runtimes.runtime import Outcome, refusal
from extremum.spec import Family, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["TARGETS"]

TARGETS: list[Rule] = []
"""In the order of their codes."""


@rule(TARGETS, "EX101", "refused by the installed onnxruntime", Severity.WARNING)
def onnxruntime(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The installed onnxruntime, tried with a model of this one node, does not run it on its element type.

    A model with one such node cannot be loaded at all. `extremum fix` rewrites it into nodes that can.

    Example: 13 (int16[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (int16[4, 10] scores) => (int64[4, 1] label) {
    wide = Cast <to = 6> (scores); label = ArgMax <axis = 1> (wide) }
    """
    element = site.element
    if targets.runtime is None or element not in schema.types:
        return
    answer = refusal(targets.runtime, schema, site.opsets[""], element)
    if answer is not None:
        yield UnknownOperatorError(
            f"{shown(targets.runtime)} does not run {schema} on {element} at opset {site.opsets['']}",
            given=answer,
            remedy="extremum fix rewrites it",
        )


@rule(TARGETS, "EX102", "refused by the DirectML feature level", Severity.WARNING)
def directml(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """DirectML does not take the operators that replace the node at the given feature level.

    The node falls back to the CPU, with a copy in each direction, or the model is refused.

    Example: 13 (int64[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (int32[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    unknown = any(tensor.element is None for tensor in site.operands)
    if targets.feature_level is None or unknown or not site.node.output or any(refusals(site.output)):
        return
    types = [_sized(tensor) for tensor in site.operands]
    if any(refusals(infer.output, schema, site.accepted, types)):
        # The sizes assumed do not fit each other, which says nothing about the model.
        return
    inputs = list(zip(site.names, types, strict=False))
    output = (site.node.output[0], infer.output(schema, site.accepted, types))
    for error in refusals(steps, schema, site.accepted, inputs, output, targets.feature_level):
        yield type(error)(error.reason, remedy=error.remedy)


def _sized(tensor: TensorType) -> TensorType:
    """Return the type with a size for every dimension; a feature level does not depend on it."""
    shape = (None,) * 4 if tensor.shape is None else tensor.shape
    return TensorType(tensor.element, tuple(size if isinstance(size, int) else 1 for size in shape))


@rule(TARGETS, "EX103", "NaN", Severity.INFO)
def nan(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An operator that looks along axes reads floating-point elements.

    No document defines what a NaN does. For extremum, as for NumPy, it is the extremum. onnxruntime (1.21 to 1.32)
    skips it in a matrix unless it comes first, skips it in most places for ReduceMax and ReduceMin, and gives a row of
    Hardmax that begins with it no 1. In a vector ArgMax and ArgMin find it up to 1.31, and skip it in 1.32.

    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (int32[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    if schema.family not in (Family.MAXIMUM, Family.MINIMUM) and "float" in (site.element or ""):
        yield SpecError(
            f"runtimes answer {schema} differently where its input holds a NaN",
            remedy="make sure that there is none, or run the node with extremum",
        )


@rule(TARGETS, "EX104", "Hardmax over several axes", Severity.WARNING)
def hardmax_coercion(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has more than one axis from `axis` on: each block of them gets a single 1.

    onnx's reference evaluator (1.19 to 1.23), and runtimes that follow version 13, put a 1 along one axis only: other
    answers.

    Example: 11 (float[2, 3, 4] scores) => (float[2, 3, 4] hot) { hot = Hardmax <axis = 1> (scores) }
    Instead: 11 (float[2, 3, 4] scores) => (float[2, 3, 4] hot) { hot = Hardmax <axis = 2> (scores) }
    """
    rank = site.inputs[0].rank if site.inputs else None
    if not schema.coerced or rank is None or any(refusals(validate.axes, schema, site.accepted, rank)):
        return
    axes = validate.axes(schema, site.accepted, rank)
    if len(axes) > 1:
        yield SpecError(
            f"{schema} puts a single 1 into each block of axes {axes[0]} to {axes[-1]}; some runtimes put one per row",
            remedy="reshape those axes into one and use opset 13 or later",
        )


@rule(TARGETS, "EX105", "select_last_index on CUDA", Severity.INFO)
def cuda_select_last_index(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax or ArgMin states `select_last_index=1`.

    onnxruntime has no CUDA kernel for it: the node runs on the CPU, with a copy in each direction.

    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) {
    label = ArgMax <axis = 1, select_last_index = 1> (scores) }
    Instead: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    if site.accepted.get("select_last_index"):
        yield SpecError(
            f"onnxruntime runs {schema} with select_last_index=1 on the CPU, even where a GPU is used",
            remedy="drop it if ties do not matter",
        )


def _differences(site: Site, targets: Targets) -> Iterator[tuple[AskedRuntime, Difference]]:
    if targets.asked is not None:
        yield from ((targets.asked, each) for each in targets.asked.differences(site))


_FAILURES = {
    Outcome.REFUSED: "does not run",
    Outcome.CRASHED: "crashes on",
    Outcome.TIMED_OUT: "does not finish",
}


@rule(TARGETS, "EX106", "refused by the runtime", Severity.WARNING)
def refused(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that `--for` names, tried with a model of this one node, gives no answer.

    It runs in a process of its own, so a crash is a finding too. `extremum fix --for` rewrites a node into others that
    the runtime takes, if standard ONNX can express it.

    Example: 13 (uint16[4] left, uint16[4] right) => (uint16[4] louder) { louder = Max (left, right) }
    Instead: 13 (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
    wide_left = Cast <to = 6> (left); wide_right = Cast <to = 6> (right);
    wide = Max (wide_left, wide_right); louder = Cast <to = 4> (wide) }
    """
    for asked, each in _differences(site, targets):
        if each.outcome in _FAILURES:
            yield UnknownOperatorError(
                f"{asked.name} {_FAILURES[each.outcome]} {schema} on {site.element} at opset {site.opsets['']}",
                given=f"{each.reproducer}: {each.why}",
                remedy=f"extremum fix --for {asked.watched.name} rewrites it, if standard ONNX can express it",
            )


_REMEDIES = {
    Outcome.NAN: "no document says what NaN compares to: keep it away from the node",
    Outcome.ZERO: "no document says which of the two zeros is the larger one: do not rely on its sign",
}


@rule(TARGETS, "EX107", "answered differently by the runtime", Severity.WARNING)
def answered_differently(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that `--for` names, tried with a model of this one node, gives another answer.

    The samples are ordinary values, ties, the limits of the type, infinities, both zeros and NaN; the finding has the
    smallest input that shows the difference.

    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (int32[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    for asked, each in _differences(site, targets):
        if not each.why:
            yield ExecutionError(
                f"{asked.name} answers {schema} on {site.element} differently: {each.outcome.value}",
                given=each.reproducer,
                remedy=_REMEDIES.get(
                    each.outcome, "the document of the version defines this: report it to the maker of the runtime"
                ),
            )


@rule(TARGETS, "EX108", "int64 in onnxruntime", Severity.WARNING)
def halves(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The installed onnxruntime, tried with a model of this one node, takes the smaller of two int64 for the larger.

    Versions 1.21 to 1.31 compare two numbers with the same upper 32 bits by the lower 32 as if these had a sign (seen
    on x86-64): 0 counts as larger than 2147483648. 1.32 compares them correctly. Milliseconds since 1970 meet that
    every 50 days. Max and Min are right only in an odd last element, ReduceMax and ReduceMin over fewer than four;
    ArgMax, ArgMin, Greater and Less are right. The finding has the smallest input that shows the difference.

    Example: 13 (int64[4] before, int64[4] now) => (int64[4] latest) { latest = Max (before, now) }
    Instead: 13 (int64[4] before, int64[4] now) => (int64[4] latest) {
    later = Greater (now, before); latest = Where (later, now, before) }
    """
    compares = schema.family in (Family.MAXIMUM, Family.MINIMUM, Family.LARGEST, Family.SMALLEST)
    if targets.runtime is None or not compares or site.element != "int64":
        return
    asked = _in_process(targets.runtime)
    for each in asked.differences(site, (Kind.HALVES,)):
        if each.outcome is Outcome.WRONG:
            yield ExecutionError(
                f"{asked.name} compares int64 wrongly in {schema} where the upper 32 bits are equal",
                given=each.reproducer,
                remedy="run the node with extremum.onnxruntime, or write Max and Min as Greater or Less and Where",
            )


@functools.cache
def _in_process(runtime: Runtime) -> AskedRuntime:
    return AskedRuntime(InProcess(runtime))


@rule(TARGETS, "EX109", "float16 between nodes", Severity.INFO)
def float16(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax, ArgMin or Hardmax reads float16 elements that another node gives.

    On the CPU onnxruntime (1.21 to 1.32) computes such nodes in float32, and does not round what one hands to the next.
    Elements that are equal in float16 may differ there, so that it chooses another one. extremum, also in its sessions,
    and onnx's reference evaluator (1.19 to 1.23) read the float16 elements.

    Example: 13 (float16[4, 10] left, float16[4, 10] right) => (int64[4, 1] label) {
    scores = Add (left, right); label = ArgMax <axis = 1> (scores) }
    Instead: 13 (float16[4, 10] left, float16[4, 10] right) => (int64[4, 1] label) {
    wide_left = Cast <to = 1> (left); wide_right = Cast <to = 1> (right);
    scores = Add (wide_left, wide_right); label = ArgMax <axis = 1> (scores) }
    """
    chooses = schema.family in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX)
    if chooses and site.element == "float16" and site.names[0] in site.results:
        yield SpecError(
            f"onnxruntime may give {schema} float32 elements where the model has float16, and choose another one",
            remedy="compute in float32, or run the node with extremum.onnxruntime",
        )
