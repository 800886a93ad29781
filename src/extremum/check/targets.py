"""The rules from EX101 on: what a runtime or a DirectML feature level refuses or answers otherwise.

A new rule is a function and a line in ``TARGETS``. It takes the next free code; a code is never used again.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from extremum import infer, validate
from extremum.check.finding import Severity
from extremum.check.question import AskedRuntime
from extremum.check.rule import Rule, Targets, accepted_values, refusals, rule
from extremum.check.sample import Kind
from extremum.directml.lowering import steps
from extremum.errors import ExecutionError, ExtremumError, SpecError, UnknownOperatorError
from extremum.graph.sites import Site
from extremum.runtimes import Runtime, shown
from extremum.runtimes.outcome import Outcome
from extremum.runtimes.processes import InProcess
from extremum.runtimes.runtime import refusal
from extremum.spec import Family, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["TARGETS"]


@rule("EX101", "refused by the installed onnxruntime", Severity.WARNING)
def onnxruntime(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
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


@rule("EX102", "refused by the DirectML feature level", Severity.WARNING)
def directml(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """DirectML does not take the operators that would stand for the node at the feature level asked about.

    The node falls back to the CPU, with a copy in each direction, or the model is refused.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int64[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (int32[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    if not site.node.output:
        # There is nothing to lower, and another rule says so.
        return
    unknown = any(tensor.element is None for tensor in site.operands)
    if targets.feature_level is None or unknown or any(refusals(site.output)):
        return
    values = accepted_values(site, schema)
    types = [_sized(tensor) for tensor in site.operands]
    if any(refusals(infer.output, schema, values, types)):
        # The sizes assumed do not go together, which says nothing about the model.
        return
    inputs = list(zip(site.names, types, strict=False))
    output = (site.node.output[0], infer.output(schema, values, types))
    for error in refusals(steps, schema, values, inputs, output, targets.feature_level):
        yield type(error)(error.reason, remedy=error.remedy)


def _sized(tensor: TensorType) -> TensorType:
    """Return the type with a size for every dimension: which one does not matter to a feature level."""
    shape = (None,) * 4 if tensor.shape is None else tensor.shape
    return TensorType(tensor.element, tuple(size if isinstance(size, int) else 1 for size in shape))


@rule("EX103", "NaN", Severity.INFO)
def nan(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An operator that looks along axes looks at floating-point elements.

    No document says what a NaN does. For extremum, as for NumPy, it is the extremum. onnxruntime (1.21 to 1.32) skips
    it in a matrix unless it comes first, skips it in most places for ReduceMax and ReduceMin, and leaves a row of
    Hardmax that begins with it without a 1. In a vector ArgMax and ArgMin find it up to 1.31, and skip it in 1.32.

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


@rule("EX104", "Hardmax over several axes", Severity.WARNING)
def hardmax_coercion(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has more than one axis from `axis` on: each block of them gets a single 1.

    onnx's reference evaluator (1.19 to 1.23), and runtimes that follow version 13, put a 1 along one axis only: other
    answers.

    Example::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 2> (scores)
        }
    """
    for tensor in site.inputs[:1]:
        values = accepted_values(site, schema)
        if not schema.coerced or tensor.rank is None or any(refusals(validate.axes, schema, values, tensor.rank)):
            return
        axes = validate.axes(schema, values, tensor.rank)
        if len(axes) > 1:
            yield SpecError(
                f"{schema} puts a single 1 into each block of axes {axes[0]} to {axes[-1]}; "
                "some runtimes put one per row",
                remedy="reshape those axes into one and use opset 13 or later",
            )


@rule("EX105", "select_last_index on CUDA", Severity.INFO)
def cuda_select_last_index(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
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


_FAILS = {
    Outcome.REFUSED: "does not run",
    Outcome.CRASHED: "crashes on",
    Outcome.TIMED_OUT: "does not come to an end with",
}


@rule("EX106", "refused by the runtime", Severity.WARNING)
def refused(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that was named with `--for`, asked with a model of this one node, gives no answer.

    It runs in a process of its own, so a crash is a finding too. `extremum fix --for` rewrites a node into others that
    the runtime takes, where standard ONNX can say the same.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
           louder = Max (left, right)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
           wide_left = Cast <to = 6> (left)
           wide_right = Cast <to = 6> (right)
           wide = Max (wide_left, wide_right)
           louder = Cast <to = 4> (wide)
        }
    """
    asked = targets.asked
    if asked is None:
        return
    for each in asked.differences(site):
        if each.outcome in _FAILS:
            yield UnknownOperatorError(
                f"{asked.name} {_FAILS[each.outcome]} {schema} on {site.inputs[0].element} at opset {site.opsets['']}",
                given=f"{each.reproducer}: {each.why}",
                remedy=f"extremum fix --for {asked.watched.name} rewrites it, where standard ONNX can say the same",
            )


_REMEDIES = {
    Outcome.NAN: "no document says what NaN compares to: keep it away from the node",
    Outcome.ZERO: "no document says which of the two zeros is the larger one: do not rely on its sign",
}


_OTHERS = "the document of the version decides this: tell whoever makes the runtime"


@rule("EX107", "answered otherwise by the runtime", Severity.WARNING)
def answered_otherwise(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that was named with `--for`, asked with a model of this one node, answers it otherwise.

    It is asked on ordinary values, ties, the limits of the type, infinities, both zeros and NaN; the finding has the
    smallest input that repeats it.

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
    asked = targets.asked
    if asked is None:
        return
    for each in asked.differences(site):
        if not each.why:
            yield ExecutionError(
                f"{asked.name} answers {schema} on {site.inputs[0].element} otherwise: {each.outcome.value}",
                given=each.reproducer,
                remedy=_REMEDIES.get(each.outcome, _OTHERS),
            )


_COMPARED_BY_HALVES = (Family.MAXIMUM, Family.MINIMUM, Family.LARGEST, Family.SMALLEST)


@rule("EX108", "int64 in onnxruntime", Severity.WARNING)
def halves(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The installed onnxruntime, asked with a model of this one node, takes the smaller of two int64 for the larger.

    Versions 1.21 to 1.31 compare two numbers with the same upper 32 bits by the lower 32 as if these had a sign (seen
    on x86-64): 0 counts as larger than 2147483648. 1.32 compares them rightly. Milliseconds since 1970 meet that every
    50 days. Max and Min are right in an odd last element alone, ReduceMax and ReduceMin over fewer than four; ArgMax,
    ArgMin, Greater and Less are right. The finding has the smallest input that repeats it.

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
    if targets.runtime is None or schema.family not in _COMPARED_BY_HALVES or element != "int64":
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
    return AskedRuntime(InProcess(runtime))


@rule("EX109", "float16 between nodes", Severity.INFO)
def float16(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax, ArgMin or Hardmax looks at float16 elements that another node gives.

    On the CPU onnxruntime (1.21 to 1.32) computes such nodes in float32, and does not round what one hands to the next.
    Elements that are equal in float16 may differ there, and another one is chosen. extremum, in its sessions too, and
    onnx's reference evaluator (1.19 to 1.23) look at the float16 elements.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float16[4, 10] left, float16[4, 10] right) => (int64[4, 1] label) {
           scores = Add (left, right)
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float16[4, 10] left, float16[4, 10] right) => (int64[4, 1] label) {
           wide_left = Cast <to = 1> (left)
           wide_right = Cast <to = 1> (right)
           scores = Add (wide_left, wide_right)
           label = ArgMax <axis = 1> (scores)
        }
    """
    if schema.family not in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX):
        return
    for name, tensor in zip(site.names[:1], site.inputs, strict=False):
        if tensor.element == "float16" and name in site.results:
            yield SpecError(
                f"onnxruntime may give {schema} float32 elements where the model has float16, and choose another one",
                remedy="compute in float32, or run the node with extremum.onnxruntime",
            )


TARGETS: tuple[Rule, ...] = (
    onnxruntime,
    directml,
    nan,
    hardmax_coercion,
    cuda_select_last_index,
    refused,
    answered_otherwise,
    halves,
    float16,
)
"""In the order of their codes."""
