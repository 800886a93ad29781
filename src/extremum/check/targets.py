"""The rules of targets: what a runtime, or a feature level of DirectML, refuses or answers differently."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from extremum import infer, validate
from extremum.check.findings import Severity
from extremum.check.question import AskedRuntime, SampleKind, open_rank, refusals
from extremum.check.rule import Rule, Targets, rule
from extremum.directml.lowering import steps
from extremum.errors import ExecutionError, ExtremumError, SpecError, UnknownOperatorError
from extremum.graph.sites import Site
from extremum.runtimes import shown
from extremum.runtimes.comparison import Outcome
from extremum.runtimes.process import InProcess
from extremum.runtimes.runtime import refusal, refusal_of_opset
from extremum.spec import ONNX, Family, OperatorVersion
from extremum.tensors import TensorType

_ELEMENTWISE = (Family.MAXIMUM, Family.MINIMUM)
_FAILURES = {
    Outcome.REFUSED: "does not run",
    Outcome.CRASHED: "crashes on",
    Outcome.TIMED_OUT: "does not finish",
}
_OPEN = {
    Outcome.NAN: "no document says what NaN compares to: keep it away from the node",
    Outcome.ZERO: "no document says which of the two zeros is the larger one: do not rely on its sign",
    Outcome.EXACT: "with sorted=0 a runtime may give any order: state sorted=1 if it matters",
}
_in_process = functools.cache(lambda runtime: AskedRuntime(InProcess(runtime)))


@rule(
    "EX101",
    "refused by the installed onnxruntime",
    Severity.WARNING,
    what="""
        The installed onnxruntime, tried with a model of this one node, does not run it on its element type.
        """,
    why="A model with one such node cannot be loaded at all. `extremum fix` rewrites it into nodes that can.",
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int16[10] scores) => (int64[1] label) {
           label = ArgMax (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int16[10] scores) => (int64[1] label) {
           wide = Cast <to = 6> (scores)
           label = ArgMax (wide)
        }
        """,
)
def _onnxruntime(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    element = site.element
    if targets.runtime is None or element not in schema.types:
        return
    opset = site.opsets[""]
    answer = refusal(targets.runtime, schema, opset, element)
    if answer is None:
        return
    if refusal_of_opset(targets.runtime.load, opset) is None:
        yield UnknownOperatorError(
            f"{shown(targets.runtime)} does not run {schema} on {element} at opset {opset}",
            given=answer,
            remedy="extremum fix rewrites it",
        )
    else:
        yield _unknown_opset(shown(targets.runtime), opset, answer)


def _unknown_opset(name: str, opset: int, answer: str) -> ExtremumError:
    """Return the error about an opset of which a runtime loads no model, so that no other nodes would help."""
    return UnknownOperatorError(
        f"{name} loads no model of opset {opset}",
        given=answer,
        remedy="export the model at an opset that it knows",
    )


@rule(
    "EX102",
    "refused by the DirectML feature level",
    Severity.WARNING,
    what="DirectML does not take the operators that replace the node at the given feature level.",
    why="The node falls back to the CPU, with a copy in each direction, or the model is refused.",
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int64[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int32[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
)
def _directml(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    unknown = any(tensor.element is None for tensor in site.operands)
    if targets.feature_level is None or unknown or any(refusals(site.outputs)):
        return
    # A feature level does not depend on sizes: an open size counts as 1 (for TopK as k), an open rank as 4 or more.
    k = site.accepted.get("k")
    least = k if isinstance(k, int) else 1
    unknown_shape = (None,) * open_rank(site, 4)
    shapes = (unknown_shape if each.shape is None else each.shape for each in site.operands)
    sizes = (tuple(size if isinstance(size, int) else least for size in shape) for shape in shapes)
    types = [
        TensorType(each.element, each_sizes) for each, each_sizes in zip(site.operands, sizes, strict=True)
    ]
    # If these sizes do not fit each other, they say nothing about the model.
    if not any(refusals(infer.outputs, schema, site.accepted, types)):
        inputs = list(zip(site.names, types, strict=False))
        outputs = list(zip(site.node.output, infer.outputs(schema, site.accepted, types), strict=True))
        for error in refusals(steps, schema, site.accepted, inputs, outputs, targets.feature_level):
            yield type(error)(error.reason, remedy=error.remedy)


@rule(
    "EX103",
    "NaN",
    Severity.INFO,
    what="An operator that looks along axes reads floating-point elements.",
    why="""
        No document defines what a NaN does. For extremum, as for NumPy, it is the extremum; in TopK it is
        greater than every number, as for onnxruntime. Elsewhere onnxruntime (1.21 to 1.32) skips it in a matrix
        unless it comes first, skips it in most places for ReduceMax and ReduceMin, and puts no 1 into a row of
        Hardmax that begins with it. In a vector ArgMax and ArgMin find it up to 1.31, and skip it in 1.32.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int32[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    follows=True,
)
def _nan(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    # Where a runtime is named, or nodes stand in the place of this one, EX110 has what differs.
    is_compared = targets.asked is not None or site.written is not None
    if not is_compared and schema.family not in _ELEMENTWISE and "float" in (site.element or ""):
        yield SpecError(
            f"runtimes answer {schema} differently where its input holds a NaN",
            remedy="make sure that there is none, or run the node with extremum",
        )


@rule(
    "EX104",
    "Hardmax over several axes",
    Severity.WARNING,
    what="""
        Hardmax before version 13 has more than one axis from `axis` on: each block of them gets a single 1.
        """,
    why="""
        onnx's reference evaluator (1.19 to 1.23) and runtimes that follow version 13 answer otherwise: a 1
        along one axis.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 2> (scores)
        }
        """,
    follows=True,
)
def _hardmax_coercion(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    rank = site.inputs[0].rank if site.inputs else None
    # Where a runtime is named, or nodes stand in the place of this one, EX107 has what differs.
    is_compared = targets.asked is not None or site.written is not None
    if is_compared or not schema.coerced or rank is None:
        return
    if any(refusals(validate.axes, schema, site.accepted, rank)):
        return
    axes = validate.axes(schema, site.accepted, rank)
    if len(axes) > 1:
        yield SpecError(
            f"{schema} puts a single 1 into each block of axes {axes[0]} to {axes[-1]}; "
            "some runtimes put one per row",
            remedy="reshape those axes into one and use opset 13 or later",
        )


@rule(
    "EX105",
    "select_last_index on CUDA",
    Severity.INFO,
    what="ArgMax or ArgMin states `select_last_index=1`.",
    why="onnxruntime has no CUDA kernel for it: the node runs on the CPU, with a copy in each direction.",
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[10] scores) => (int64[1] label) {
           label = ArgMax <select_last_index = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[10] scores) => (int64[1] label) {
           label = ArgMax (scores)
        }
        """,
)
def _cuda_select_last_index(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if _may_be_onnxruntime(targets) and site.accepted.get("select_last_index"):
        yield SpecError(
            f"onnxruntime runs {schema} with select_last_index=1 on the CPU, even where a GPU is used",
            remedy="drop it if ties do not matter",
        )


@rule(
    "EX106",
    "refused by the runtime",
    Severity.WARNING,
    what="The runtime that `--for` names, tried with a model of this one node, gives no answer.",
    why="""
        It runs in a process of its own, so a crash is a finding too. `extremum fix --for` rewrites a node into
        others that the runtime takes, if standard ONNX can express it.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
           louder = Max (left, right)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
           wide_left = Cast <to = 6> (left)
           wide_right = Cast <to = 6> (right)
           wide = Max (wide_left, wide_right)
           louder = Cast <to = 4> (wide)
        }
        """,
    follows=True,
)
def _no_answer(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if (runtime := targets.asked) is None:
        return
    for difference, reproducer in runtime.differences(site):
        opset = site.opsets[ONNX]
        if difference.outcome is Outcome.REFUSED and refusal_of_opset(runtime.watched.load, opset):
            yield _unknown_opset(runtime.name, opset, difference.why)
        elif difference.outcome in _FAILURES:
            what = _FAILURES[difference.outcome]
            yield UnknownOperatorError(
                f"{runtime.name} {what} {_called(site)} on {site.element} at opset {site.opsets['']}",
                given=f"{reproducer}: {difference.why}",
                remedy=f"extremum fix --for {runtime.watched.name} rewrites it, if standard ONNX can express it",
            )


@rule(
    "EX107",
    "answered wrongly by the runtime",
    Severity.WARNING,
    what="""
        The runtime that `--for` names, tried with a model of this one node, gives an answer that its document
        excludes.
        """,
    why="""
        The samples are ordinary values, ties, the limits of the type, infinities, both zeros and NaN; the
        finding has the smallest input that shows the difference. EX110 has what no document decides.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 11]>
        g (float[2, 3, 4] scores) => (float[2, 3, 4] hot) {
           hot = Hardmax <axis = 2> (scores)
        }
        """,
    follows=True,
)
def _answered_differently(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if (runtime := targets.asked) is None:
        return
    for difference, reproducer in runtime.differences(site):
        if not difference.why and not difference.is_open:
            yield ExecutionError(
                f"{runtime.name} answers {_called(site)} on {site.element} differently: {difference.aspect}",
                given=reproducer,
                remedy="the document of the version defines this: report it to the maker of the runtime",
            )


def _may_be_onnxruntime(targets: Targets) -> bool:
    """Return whether the model may be for onnxruntime: it is, or no runtime is named."""
    return targets.asked is None or targets.asked.name.startswith("onnxruntime")


def _called(site: Site) -> str:
    """Return the version of a node, and whether other nodes stand in its place."""
    if site.written is None:
        return str(site.version)
    return f"what replaces {site.version}"


@rule(
    "EX108",
    "int64 in onnxruntime",
    Severity.WARNING,
    what="""
        The installed onnxruntime, tried with a model of this one node, takes the smaller of two int64 for the
        larger.
        """,
    why="""
        Versions 1.21 to 1.31 compare two numbers with the same upper 32 bits by the lower 32 bits as signed
        numbers (seen on x86-64): 0 counts as larger than 2147483648. 1.32 compares them correctly. Timestamps
        in milliseconds since 1970 meet this case every 50 days. Max and Min are right only in an odd last
        element, ReduceMax and ReduceMin over fewer than four; ArgMax, ArgMin, Greater and Less are right. The
        finding has the smallest input that shows the difference.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int64[4] before, int64[4] now) => (int64[4] latest) {
           latest = Max (before, now)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int64[4] before, int64[4] now) => (int64[4] latest) {
           later = Greater (now, before)
           latest = Where (later, now, before)
        }
        """,
)
def _halves(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    compares = schema.family in (*_ELEMENTWISE, Family.LARGEST, Family.SMALLEST)
    if targets.runtime is None or not compares or site.element != "int64":
        return
    runtime = _in_process(targets.runtime)
    for difference, reproducer in runtime.differences(site, (SampleKind.HALVES,)):
        if difference.outcome is Outcome.WRONG:
            yield ExecutionError(
                f"{runtime.name} compares int64 wrongly in {schema} where the upper 32 bits are equal",
                given=reproducer,
                remedy="run the node with extremum.onnxruntime, or write Max and Min as Greater or Less and Where",
            )


@rule(
    "EX109",
    "float16 between nodes",
    Severity.INFO,
    what="ArgMax, ArgMin, Hardmax or TopK reads float16 elements that another node gives.",
    why="""
        On the CPU onnxruntime (1.21 to 1.32) computes such nodes in float32, and does not round values between
        two nodes. Elements that are equal in float16 may differ in float32, so it may choose another one.
        extremum, also in sessions, and onnx's reference evaluator (1.19 to 1.23) read the float16 elements.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float16[10] a, float16[10] b) => (int64[1] label) {
           scores = Add (a, b)
           label = ArgMax (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float16[10] a, float16[10] b) => (int64[1] label) {
           x = Cast <to = 1> (a)
           y = Cast <to = 1> (b)
           scores = Add (x, y)
           label = ArgMax (scores)
        }
        """,
)
def _float16(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    chooses = schema.family in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX, Family.TOP)
    is_between = site.element == "float16" and site.names[0] in site.results
    if chooses and is_between and _may_be_onnxruntime(targets):
        yield SpecError(
            f"onnxruntime may give {schema} float32 elements where the model has float16, and choose another one",
            remedy="compute in float32, or run the node with extremum.onnxruntime",
        )


@rule(
    "EX110",
    "answered as no specification decides",
    Severity.INFO,
    what="""
        The runtime that `--for` names, tried with a model of this one node, gives another answer than extremum
        where no document says which is right.
        """,
    why="""
        That is what NaN compares to, which of the two zeros is the larger one, and the order of results with
        `sorted=0`. `extremum fix --strict --for` rewrites the node so that the runtime gives extremum's answer.
        The finding has the smallest input that shows the difference.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (int32[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    follows=True,
)
def _answered_openly(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if (runtime := targets.asked) is None:
        return
    for difference, reproducer in runtime.differences(site):
        if difference.is_open:
            yield ExecutionError(
                f"{runtime.name} answers {_called(site)} on {site.element} differently: {difference.aspect}",
                given=reproducer,
                remedy=_OPEN[difference.outcome],
            )


RULES = tuple(each for each in list(globals().values()) if isinstance(each, Rule))
"""The rules from EX101 on."""
