"""The rules of ``extremum check``, what they ask, and how a finding reads.

A new rule takes the next free code; a code is never reused.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from extremum import infer, validate
from extremum.check.question import AskedRuntime, Kind, refusals
from extremum.directml import FeatureLevel, steps
from extremum.errors import AxisError, ExecutionError, ExtremumError, SpecError, UnknownOperatorError
from extremum.graph.sites import Site
from extremum.runtimes import Runtime, shown
from extremum.runtimes.comparison import Outcome
from extremum.runtimes.process import InProcess
from extremum.runtimes.runtime import refusal
from extremum.spec import AttributeRange, Family, OperatorVersion
from extremum.tensors import TensorType, differ


class Severity(enum.Enum):
    """How much a finding matters.

    An error breaks a rule of the operator's version. A warning marks a model that some target refuses or answers
    differently. An info is worth knowing about a correct model.

    >>> from extremum.check import Severity
    >>> [each.value for each in Severity]
    ['error', 'warning', 'info']
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule finds at one node.

    The code names the rule, such as ``EX001``; the operator has its version, such as ``ArgMax-13``. The place is the
    path of the node, with its name if it has one. The opset is the version that the model imports there. The reason
    says in one sentence, without a full stop, what is wrong; given is what the node states; the remedy says what helps.

    >>> import onnx
    >>> from extremum.check import check
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (y) { y = ArgMax <axis=1> (x) }'
    >>> finding = check(onnx.parser.parse_model(text)).findings[0]
    >>> finding.code, finding.severity.value, finding.operator, finding.place
    ('EX003', 'error', 'ArgMax-13', 'graph.node[0]')
    """

    code: str
    severity: Severity
    operator: str
    place: str
    opset: int
    reason: str
    given: str | None
    remedy: str | None

    def __str__(self) -> str:
        reason, where = f"{self.code} {self.severity.value}: {self.reason}", f"{self.place}, opset {self.opset}"
        return str(ExtremumError(reason, where=where, given=self.given, remedy=self.remedy))

    def record(self) -> dict[str, Any]:
        """Return the finding in a form that JSON can hold."""
        return {**asdict(self), "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about a model.

    The findings are in the order of the nodes, and at each node in the order of the rules. ``nodes`` is the number of
    checked nodes. The notes say what could not be checked, and why.

    >>> import onnx
    >>> from extremum.check import check
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (y) { y = ArgMax <axis=1> (x) }'
    >>> report = check(onnx.parser.parse_model(text))
    >>> report.nodes, len(report.counted())
    (1, 1)
    """

    findings: tuple[Finding, ...]
    nodes: int
    notes: tuple[str, ...]

    def counted(self, *, strict: bool = False) -> tuple[Finding, ...]:
        """Return the errors and warnings, with ``strict`` the infos too: a model without any is clean."""
        return tuple(each for each in self.findings if strict or each.severity is not Severity.INFO)

    def summary(self) -> str:
        """Return the counts in one line.

        >>> from extremum.check import Report
        >>> Report(findings=(), nodes=3, notes=()).summary()
        '3 nodes checked: no errors, no warnings, no info'
        """
        counts = []
        for severity in Severity:
            count = sum(each.severity is severity for each in self.findings)
            plural = "s" if count != 1 and severity is not Severity.INFO else ""
            counts.append(f"{count or 'no'} {severity.value}{plural}")
        return f"{self.nodes} node{'' if self.nodes == 1 else 's'} checked: {', '.join(counts)}"


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets that the rules ask.

    ``runtime`` is the installed onnxruntime, which is asked what it refuses, or None. ``feature_level`` is None if
    DirectML is not a target. ``asked`` is the runtime that the caller names; its answers are compared.

    >>> from extremum.check import Targets
    >>> Targets().runtime is None
    True
    """

    runtime: Runtime | None = None
    feature_level: FeatureLevel | None = None
    asked: AskedRuntime | None = None


Look = Callable[[Site, OperatorVersion, Targets], Iterable[ExtremumError]]
"""Checks a node against the version in force; each error is a finding."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One check of a node.

    The code is never reused: ``EX001`` to ``EX099`` for rules of a version, ``EX101`` and above for targets. Each
    finding has the severity of its rule. ``what`` says what the rule looks for, and ``why`` why it matters. ``example``
    and ``instead`` are models in ONNX's textual form: the rule finds something in the first, nothing in the second.

    >>> from extremum.check import find
    >>> find("EX003").title, find("EX003").severity.value
    ('axis out of range', 'error')
    """

    code: str
    title: str
    severity: Severity
    what: str
    why: str
    example: str
    instead: str
    look: Look


_rules: list[Rule] = []


def rule(code: str, title: str, severity: Severity) -> Callable[[Look], None]:
    """Append a rule; the docstring of its function says what, then why, and ends with two models."""

    def append(look: Look) -> None:
        # Python -OO removes docstrings.
        what, _, more = (look.__doc__ or "").partition("\n\n")
        why, _, models = " ".join(more.split()).partition(" Example: ")
        example, _, instead = models.partition(" Instead: ")
        _rules.append(Rule(code, title, severity, what, why, _model(example), _model(instead), look))

    return append


def _model(text: str) -> str:
    """Return a model in ONNX's textual form, made from ``OPSET (inputs) => (outputs) { node; node }``."""
    opset, _, graph = text.partition(" ")
    signature, _, body = graph.removesuffix(" }").partition(" { ")
    nodes = "".join(f"   {node}\n" for node in body.split("; "))
    return f'<ir_version: 8, opset_import: ["" : {opset}]>\ng {signature} {{\n{nodes}}}\n'


_ELEMENTWISE = (Family.MAXIMUM, Family.MINIMUM)
_FAILURES = {Outcome.REFUSED: "does not run", Outcome.CRASHED: "crashes on", Outcome.TIMED_OUT: "does not finish"}
_REMEDIES = {
    Outcome.NAN: "no document says what NaN compares to: keep it away from the node",
    Outcome.ZERO: "no document says which of the two zeros is the larger one: do not rely on its sign",
}
_in_process = functools.cache(lambda runtime: AskedRuntime(InProcess(runtime)))


@rule("EX001", "unknown attribute", Severity.ERROR)
def unknown_attribute(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The node states an attribute that its version of the operator does not have.

    Runtimes refuse it, drop it silently, or obey a later version than the model asks for.
    Example: 11 (float[1000] scores) => (int64[1] label) { label = ArgMax <select_last_index = 1> (scores) }
    Instead: 12 (float[1000] scores) => (int64[1] label) { label = ArgMax <select_last_index = 1> (scores) }
    """
    for attribute in site.node.attribute:
        yield from refusals(validate.known_attribute, schema, attribute.name)


@rule("EX002", "attribute out of range", Severity.ERROR)
def attribute_value(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An attribute has a value of the wrong type; a flag such as `keepdims` is neither 0 nor 1; `k` is negative.

    Runtimes disagree: `keepdims=2` is 0 to onnxruntime (1.21 to 1.32), 1 to onnx's reference evaluator (1.19 to 1.23).
    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1, keepdims = 2> (scores) }
    Instead: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1, keepdims = 1> (scores) }
    """
    for attribute in schema.attributes:
        # EX005 finds a missing input.
        if attribute.input is None or attribute.name in site.values:
            yield from refusals(validate.attribute_value, schema, attribute, site.values)


@rule("EX003", "axis out of range", Severity.ERROR)
def axis_range(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, lies outside the rank of the input or comes twice.

    The node fails when it runs, or when the model is loaded.
    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 2> (scores) }
    Instead: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    # EX011 finds a default that is out of range.
    yield from _axes_errors(site, schema, explicit=True)


def _axes_errors(site: Site, schema: OperatorVersion, *, explicit: bool) -> Iterator[ExtremumError]:
    """Yield the errors in the axes that a node states, or in their default."""
    values = [site.values.get(each.name, validate.UNKNOWN) for each in schema.attributes if each.range.is_axis]
    states = any(value is not validate.UNKNOWN for value in values)
    for tensor in site.inputs[:1] if states is explicit else ():
        if tensor.rank is not None and tensor.rank >= schema.ranks[0]:
            yield from refusals(validate.axes, schema, site.accepted, tensor.rank)


@rule("EX004", "element type not allowed", Severity.ERROR)
def element_type(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The input has an element type that the version does not take, or `axes` or `K` is not a list of int64.

    The model is not valid, even if a runtime happens to run it. A later version may take the type.
    Example: 12 (bfloat16[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (bfloat16[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    for element in dict.fromkeys(tensor.element for tensor in site.operands):
        yield from refusals(validate.element_type, schema, element)
    for attribute, tensor in zip(schema.input_attributes, site.inputs[schema.input.maximum :], strict=False):
        yield from refusals(validate.input_attribute, schema, attribute, tensor)


@rule("EX005", "number of inputs or outputs", Severity.ERROR)
def operand_count(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """A node has more or fewer inputs or outputs than its operator.

    Runtimes refuse the model. ArgMax has no output for the largest value: that is ReduceMax.
    Example: 13 (float[4] a, float[4] b) => (int64[1] index) { index = ArgMax (a, b) }
    Instead: 13 (float[4] a, float[4] b) => (int64[1] index) { larger = Max (a, b); index = ArgMax (larger) }
    """
    yield from refusals(validate.input_count, schema, len(site.names))
    yield from refusals(validate.output_count, schema, len(site.node.output))


@rule("EX006", "inputs of different element types", Severity.ERROR)
def mixed_element_types(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min have different element types.

    The operators convert nothing; runtimes refuse the model.
    Example: 13 (float[4] a, double[4] b) => (c) { c = Max (a, b) }
    Instead: 13 (float[4] a, double[4] b) => (double[4] c) { wide = Cast <to = 11> (a); c = Max (wide, b) }
    """
    yield from refusals(validate.one_element_type, schema, site.inputs)


@rule("EX007", "negative axis before opset 11", Severity.WARNING)
def negative_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, is negative in a version whose document says nothing about negative axes.

    extremum and onnxruntime (1.21 to 1.32) count from the end, as version 11 then said. Others may refuse it.
    Example: 10 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = -1> (scores) }
    Instead: 10 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    for attribute in schema.attributes:
        value = site.accepted[attribute.name] if attribute.name in site.values else None
        axes = [value] if isinstance(value, int) else list(value) if isinstance(value, tuple) else []
        if attribute.range is AttributeRange.AXIS_UNSTATED and any(axis < 0 for axis in axes):
            rank = site.inputs[0].rank if site.inputs else None
            plain, setting = "count from the front", axes if attribute.is_list else axes[0]
            if rank and all(axis + rank >= 0 for axis in axes):
                positive = [axis % rank for axis in axes]
                plain = f"write {attribute.name}={positive if attribute.is_list else positive[0]}"
            reason = f"{schema} does not say what {attribute.name}={setting} means"
            yield SpecError(reason, remedy=f"{plain}, or use opset 11 or later")


@rule("EX008", "shapes that cannot be combined", Severity.ERROR)
def shapes(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min differ in shape before opset 8, or cannot be broadcast from then on.

    Before opset 8, onnxruntime (1.21 to 1.32) refuses them, and onnx's reference evaluator (1.19 to 1.23) broadcasts.
    Example: 7 (float[2, 3] a, float[3] b) => (float[2, 3] c) { c = Max (a, b) }
    Instead: 8 (float[2, 3] a, float[3] b) => (float[2, 3] c) { c = Max (a, b) }
    """
    if schema.family in _ELEMENTWISE:
        yield from _shape_errors(site, schema)


def _shape_errors(site: Site, schema: OperatorVersion) -> Iterator[ExtremumError]:
    """Yield the error in the shapes of the inputs; EX003 finds an axis out of range."""
    errors = refusals(infer.outputs, schema, site.accepted, site.inputs) if site.inputs else ()
    yield from (error for error in errors if not isinstance(error, AxisError))


@rule("EX009", "nothing to choose from", Severity.ERROR)
def empty_reduction(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax or ArgMin, or ReduceMax or ReduceMin of version 12, reduces an axis that has no element.

    There is no index to give, and only the other versions define the largest of no elements: the node fails.
    Example: 13 (float[4, 0] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (float[0, 10] scores) => (int64[0, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    if schema.family not in (*_ELEMENTWISE, Family.TOP):
        yield from _shape_errors(site, schema)


@rule("EX010", "rank 0", Severity.ERROR)
def rank_zero(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax, ArgMin, Hardmax or TopK has an input of rank 0.

    A scalar has no axis to look along. For ArgMax and ArgMin onnx's reference evaluator (1.19 to 1.23) answers 0;
    onnxruntime (1.21 to 1.32) refuses the model.
    Example: 13 (float score) => (label) { label = ArgMax (score) }
    Instead: 13 (float[1] score) => (int64[1] label) { label = ArgMax (score) }
    """
    for tensor in site.operands:
        yield from refusals(validate.shape, schema, tensor)


@rule("EX011", "default axis of Hardmax at rank 1", Severity.ERROR)
def default_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has an input of rank 1 and states no `axis`: the default, 1, does not exist there.

    onnxruntime (1.21 to 1.32) refuses it. onnx's reference evaluator (1.19 to 1.23) takes version 13's default, -1.
    Example: 11 (float[10] scores) => (float[10] hot) { hot = Hardmax (scores) }
    Instead: 11 (float[10] scores) => (float[10] hot) { hot = Hardmax <axis = 0> (scores) }
    """
    if schema.family is Family.HARDMAX:
        yield from _axes_errors(site, schema, explicit=False)


@rule("EX012", "impossible declared output", Severity.ERROR)
def declared_output(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The model declares an element type, rank or size for an output that the operator cannot give.

    Code that trusts the declaration reserves the wrong memory. Some runtimes refuse the model, some correct it.
    Example: 13 (float[4, 10] scores) => (int64[4] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (float[4, 10] scores) => (int64[4] label) { label = ArgMax <axis = 1, keepdims = 0> (scores) }
    """
    if any(refusals(site.outputs)):
        return
    for name, inferred in zip(site.node.output, site.outputs(), strict=True):
        declared = site.declared_types.get(name, TensorType())
        yield from refusals(validate.output, schema, name, declared, inferred)
        if inferred.shape is not None and declared.shape is not None and differ(inferred.shape, declared.shape):
            yield SpecError(f"{schema} gives {inferred}, but its output {name!r} is declared {declared}")


@rule("EX013", "consumed_inputs", Severity.INFO)
def consumed_inputs(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Max or Min of version 1 states `consumed_inputs`.

    It let early runtimes overwrite the inputs it names. Today it has no effect; version 6 dropped it.
    Example: 1 (float[3] a, float[3] b) => (float[3] c) { c = Max <consumed_inputs = [0, 0]> (a, b) }
    Instead: 1 (float[3] a, float[3] b) => (float[3] c) { c = Max (a, b) }
    """
    if schema.attribute("consumed_inputs") is not None and "consumed_inputs" in site.attributes:
        yield SpecError(f"{schema} does nothing with 'consumed_inputs'", remedy="drop it")


@rule("EX014", "more elements than the axis has", Severity.ERROR)
def too_many(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """TopK takes more elements than its axis has.

    Runtimes refuse it when the node runs. Exporters write a fixed `K` for an axis that is shorter in some model.
    Example: 12 (float[5] x) => (best, index) { k = Constant <value_ints = [9]> (); best, index = TopK (x, k) }
    Instead: 12 (float[5] x) => (best, index) { k = Constant <value_ints = [5]> (); best, index = TopK (x, k) }
    """
    if schema.family is Family.TOP:
        yield from _shape_errors(site, schema)


@rule("EX015", "k of 0", Severity.WARNING)
def no_element(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """TopK takes no element.

    From version 10 on, the document requires a positive `K`. The document of version 1 does not, but onnx's shape
    inference refuses 0 there. extremum gives outputs without elements.
    Example: 1 (float[4, 10] scores) => (best, index) { best, index = TopK <k = 0> (scores) }
    Instead: 1 (float[4, 10] scores) => (best, index) { best, index = TopK <k = 1> (scores) }
    """
    if schema.family is Family.TOP and site.accepted["k"] == 0:
        yield SpecError(f"{schema} takes no element: its k is 0", remedy="use a k of at least 1")


@rule("EX101", "refused by the installed onnxruntime", Severity.WARNING)
def onnxruntime(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The installed onnxruntime, tried with a model of this one node, does not run it on its element type.

    A model with one such node cannot be loaded at all. `extremum fix` rewrites it into nodes that can.
    Example: 13 (int16[10] scores) => (int64[1] label) { label = ArgMax (scores) }
    Instead: 13 (int16[10] scores) => (int64[1] label) { wide = Cast <to = 6> (scores); label = ArgMax (wide) }
    """
    element = site.element
    if targets.runtime is None or element not in schema.types:
        return
    if (answer := refusal(targets.runtime, schema, site.opsets[""], element)) is not None:
        rewritten = schema.family is not Family.TOP or "int" in element
        reason = f"{shown(targets.runtime)} does not run {schema} on {element} at opset {site.opsets['']}"
        remedy = "extremum fix rewrites it" if rewritten else "run the node with extremum.onnxruntime"
        yield UnknownOperatorError(reason, given=answer, remedy=remedy)


@rule("EX102", "refused by the DirectML feature level", Severity.WARNING)
def directml(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """DirectML does not take the operators that replace the node at the given feature level.

    The node falls back to the CPU, with a copy in each direction, or the model is refused.
    Example: 13 (int64[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (int32[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    unknown = any(tensor.element is None for tensor in site.operands)
    if targets.feature_level is None or unknown or any(refusals(site.outputs)):
        return
    # A feature level does not depend on sizes: an open size counts as 1 (for TopK as k), an open rank as 4.
    k = site.accepted.get("k")
    least = k if isinstance(k, int) else 1
    shapes = ((None,) * 4 if each.shape is None else each.shape for each in site.operands)
    sizes = (tuple(size if isinstance(size, int) else least for size in shape) for shape in shapes)
    types = [TensorType(each.element, each_sizes) for each, each_sizes in zip(site.operands, sizes, strict=True)]
    # If these sizes do not fit each other, they say nothing about the model.
    if not any(refusals(infer.outputs, schema, site.accepted, types)):
        inputs = list(zip(site.names, types, strict=False))
        outputs = list(zip(site.node.output, infer.outputs(schema, site.accepted, types), strict=True))
        for error in refusals(steps, schema, site.accepted, inputs, outputs, targets.feature_level):
            yield type(error)(error.reason, remedy=error.remedy)


@rule("EX103", "NaN", Severity.INFO)
def nan(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An operator that looks along axes reads floating-point elements.

    No document defines what a NaN does. For extremum, as for NumPy, it is the extremum; in TopK it is greater than
    every number, as for onnxruntime. Elsewhere onnxruntime (1.21 to 1.32) skips it in a matrix unless it comes first,
    skips it in most places for ReduceMax and ReduceMin, and puts no 1 into a row of Hardmax that begins with it. In a
    vector ArgMax and ArgMin find it up to 1.31, and skip it in 1.32.
    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (int32[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    if schema.family not in _ELEMENTWISE and "float" in (site.element or ""):
        reason = f"runtimes answer {schema} differently where its input holds a NaN"
        yield SpecError(reason, remedy="make sure that there is none, or run the node with extremum")


@rule("EX104", "Hardmax over several axes", Severity.WARNING)
def hardmax_coercion(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has more than one axis from `axis` on: each block of them gets a single 1.

    onnx's reference evaluator (1.19 to 1.23) and runtimes that follow version 13 answer otherwise: a 1 along one axis.
    Example: 11 (float[2, 3, 4] scores) => (float[2, 3, 4] hot) { hot = Hardmax <axis = 1> (scores) }
    Instead: 11 (float[2, 3, 4] scores) => (float[2, 3, 4] hot) { hot = Hardmax <axis = 2> (scores) }
    """
    rank = site.inputs[0].rank if site.inputs else None
    if not schema.coerced or rank is None or any(refusals(validate.axes, schema, site.accepted, rank)):
        return
    axes = validate.axes(schema, site.accepted, rank)
    if len(axes) > 1:
        reason = f"{schema} puts a single 1 into each block of axes {axes[0]} to {axes[-1]}"
        remedy = "reshape those axes into one and use opset 13 or later"
        yield SpecError(f"{reason}; some runtimes put one per row", remedy=remedy)


@rule("EX105", "select_last_index on CUDA", Severity.INFO)
def cuda_select_last_index(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax or ArgMin states `select_last_index=1`.

    onnxruntime has no CUDA kernel for it: the node runs on the CPU, with a copy in each direction.
    Example: 13 (float[10] scores) => (int64[1] label) { label = ArgMax <select_last_index = 1> (scores) }
    Instead: 13 (float[10] scores) => (int64[1] label) { label = ArgMax (scores) }
    """
    if site.accepted.get("select_last_index"):
        reason = f"onnxruntime runs {schema} with select_last_index=1 on the CPU, even where a GPU is used"
        yield SpecError(reason, remedy="drop it if ties do not matter")


@rule("EX106", "refused by the runtime", Severity.WARNING)
def no_answer(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that `--for` names, tried with a model of this one node, gives no answer.

    It runs in a process of its own, so a crash is a finding too. `extremum fix --for` rewrites a node into others that
    the runtime takes, if standard ONNX can express it.
    Example: 13 (uint16[4] left, uint16[4] right) => (uint16[4] louder) { louder = Max (left, right) }
    Instead: 13 (uint16[4] left, uint16[4] right) => (uint16[4] louder) {
    wide_left = Cast <to = 6> (left); wide_right = Cast <to = 6> (right);
    wide = Max (wide_left, wide_right); louder = Cast <to = 4> (wide) }
    """
    if (runtime := targets.asked) is None:
        return
    for outcome, why, reproducer in runtime.differences(site):
        if outcome in _FAILURES:
            failure = f"{runtime.name} {_FAILURES[outcome]} {schema} on {site.element} at opset {site.opsets['']}"
            remedy = f"extremum fix --for {runtime.watched.name} rewrites it, if standard ONNX can express it"
            yield UnknownOperatorError(failure, given=f"{reproducer}: {why}", remedy=remedy)


@rule("EX107", "answered differently by the runtime", Severity.WARNING)
def answered_differently(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The runtime that `--for` names, tried with a model of this one node, gives another answer.

    The samples are ordinary values, ties, the limits of the type, infinities, both zeros and NaN; the finding has the
    smallest input that shows the difference.
    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (int32[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    if (runtime := targets.asked) is None:
        return
    for outcome, why, reproducer in runtime.differences(site):
        if not why:
            remedy = "the document of the version defines this: report it to the maker of the runtime"
            reason = f"{runtime.name} answers {schema} on {site.element} differently: {outcome.value}"
            yield ExecutionError(reason, given=reproducer, remedy=_REMEDIES.get(outcome, remedy))


@rule("EX108", "int64 in onnxruntime", Severity.WARNING)
def halves(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The installed onnxruntime, tried with a model of this one node, takes the smaller of two int64 for the larger.

    Versions 1.21 to 1.31 compare two numbers with the same upper 32 bits by the lower 32 bits as signed numbers (seen
    on x86-64): 0 counts as larger than 2147483648. 1.32 compares them correctly. Timestamps in milliseconds since 1970
    meet this case every 50 days. Max and Min are right only in an odd last element, ReduceMax and ReduceMin over fewer
    than four; ArgMax, ArgMin, Greater and Less are right. The finding has the smallest input that shows the difference.
    Example: 13 (int64[4] before, int64[4] now) => (int64[4] latest) { latest = Max (before, now) }
    Instead: 13 (int64[4] before, int64[4] now) => (int64[4] latest) {
    later = Greater (now, before); latest = Where (later, now, before) }
    """
    compares = schema.family in (*_ELEMENTWISE, Family.LARGEST, Family.SMALLEST)
    if targets.runtime is None or not compares or site.element != "int64":
        return
    runtime = _in_process(targets.runtime)
    for outcome, _, reproducer in runtime.differences(site, (Kind.HALVES,)):
        if outcome is Outcome.WRONG:
            reason = f"{runtime.name} compares int64 wrongly in {schema} where the upper 32 bits are equal"
            remedy = "run the node with extremum.onnxruntime, or write Max and Min as Greater or Less and Where"
            yield ExecutionError(reason, given=reproducer, remedy=remedy)


@rule("EX109", "float16 between nodes", Severity.INFO)
def float16(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax, ArgMin, Hardmax or TopK reads float16 elements that another node gives.

    On the CPU onnxruntime (1.21 to 1.32) computes such nodes in float32, and does not round values between two nodes.
    Elements that are equal in float16 may differ in float32, so it may choose another one. extremum, also in sessions,
    and onnx's reference evaluator (1.19 to 1.23) read the float16 elements.
    Example: 13 (float16[10] a, float16[10] b) => (int64[1] label) { scores = Add (a, b); label = ArgMax (scores) }
    Instead: 13 (float16[10] a, float16[10] b) => (int64[1] label) {
    x = Cast <to = 1> (a); y = Cast <to = 1> (b); scores = Add (x, y); label = ArgMax (scores) }
    """
    chooses = schema.family in (Family.ARGMAX, Family.ARGMIN, Family.HARDMAX, Family.TOP)
    if chooses and site.element == "float16" and site.names[0] in site.results:
        reason = f"onnxruntime may give {schema} float32 elements where the model has float16, and choose another one"
        yield SpecError(reason, remedy="compute in float32, or run the node with extremum.onnxruntime")


RULES = tuple(_rules)
"""All rules in the order of their codes."""
