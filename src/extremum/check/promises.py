"""The rules of a version of an operator: what its document promises, and what a node breaks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from extremum import infer, validate
from extremum.check.findings import Severity
from extremum.check.question import refusals
from extremum.check.rule import Rule, Targets, rule
from extremum.errors import AxisError, ExtremumError, SpecError
from extremum.graph.limits import size_along_axis
from extremum.graph.sites import Site
from extremum.spec import AttributeRange, Family, OperatorVersion
from extremum.tensors import TensorType, differ

_ELEMENTWISE = (Family.MAXIMUM, Family.MINIMUM)


@rule(
    "EX001",
    "unknown attribute",
    Severity.ERROR,
    what="The node states an attribute that its version of the operator does not have.",
    why="Runtimes refuse it, drop it silently, or obey a later version than the model asks for.",
    example="""
        <ir_version: 8, opset_import: ["" : 11]>
        g (float[1000] scores) => (int64[1] label) {
           label = ArgMax <select_last_index = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 12]>
        g (float[1000] scores) => (int64[1] label) {
           label = ArgMax <select_last_index = 1> (scores)
        }
        """,
)
def _unknown_attribute(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for attribute in site.node.attribute:
        yield from refusals(validate.known_attribute, schema, attribute.name)


@rule(
    "EX002",
    "attribute out of range",
    Severity.ERROR,
    what="""
        An attribute has a value of the wrong type; a flag such as `keepdims` is neither 0 nor 1; `k` is
        negative.
        """,
    why="""
        Runtimes disagree: `keepdims=2` is 0 to onnxruntime (1.21 to 1.32), 1 to onnx's reference evaluator
        (1.19 to 1.23).
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1, keepdims = 2> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1, keepdims = 1> (scores)
        }
        """,
)
def _attribute_value(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for attribute in schema.attributes:
        # EX005 finds a missing input.
        if attribute.input is None or attribute.name in site.values:
            yield from refusals(validate.attribute_value, schema, attribute, site.values)


@rule(
    "EX003",
    "axis out of range",
    Severity.ERROR,
    what="`axis`, or one of `axes`, lies outside the rank of the input or comes twice.",
    why="The node fails when it runs, or when the model is loaded.",
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 2> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
)
def _axis_range(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    # EX011 finds a default that is out of range.
    yield from _axes_errors(site, schema, explicit=True)


def _axes_errors(site: Site, schema: OperatorVersion, *, explicit: bool) -> Iterator[ExtremumError]:
    """Yield the errors in the axes that a node states, or in their default."""
    values = [
        site.values.get(each.name, validate.UNKNOWN) for each in schema.attributes if each.range.is_axis
    ]
    states = any(value is not validate.UNKNOWN for value in values)
    rank = site.inputs[0].rank if site.inputs else None
    if states is explicit and rank is not None and rank >= schema.ranks[0]:
        yield from refusals(validate.axes, schema, site.accepted, rank)


@rule(
    "EX004",
    "element type not allowed",
    Severity.ERROR,
    what="""
        The input has an element type that the version does not take, or `axes` or `K` is not a list of int64.
        """,
    why="""
        The model is not valid, even if a runtime happens to run it. A later version may take the type. Where a
        wider type holds every value, `extremum fix` adds a Cast to it and back; a session of extremum runs the
        node as it is.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 12]>
        g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
)
def _element_type(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for element in dict.fromkeys(tensor.element for tensor in site.operands):
        yield from refusals(validate.element_type, schema, element)
    for attribute, tensor in zip(schema.input_attributes, site.inputs[schema.input.maximum :], strict=False):
        yield from refusals(validate.input_attribute, schema, attribute, tensor)


@rule(
    "EX005",
    "number of inputs or outputs",
    Severity.ERROR,
    what="A node has more or fewer inputs or outputs than its operator.",
    why="Runtimes refuse the model. ArgMax has no output for the largest value: that is ReduceMax.",
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, float[4] b) => (int64[1] index) {
           index = ArgMax (a, b)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, float[4] b) => (int64[1] index) {
           larger = Max (a, b)
           index = ArgMax (larger)
        }
        """,
)
def _operand_count(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    yield from refusals(validate.input_count, schema, len(site.names))
    yield from refusals(validate.output_count, schema, len(site.node.output))


@rule(
    "EX006",
    "inputs of different element types",
    Severity.ERROR,
    what="The inputs of Max or Min have different element types.",
    why="The operators convert nothing; runtimes refuse the model.",
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, double[4] b) => (c) {
           c = Max (a, b)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, double[4] b) => (double[4] c) {
           wide = Cast <to = 11> (a)
           c = Max (wide, b)
        }
        """,
)
def _mixed_element_types(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    yield from refusals(validate.one_element_type, schema, site.inputs)


@rule(
    "EX007",
    "negative axis before opset 11",
    Severity.WARNING,
    what="""
        `axis`, or one of `axes`, is negative in a version whose document says nothing about negative axes.
        """,
    why="""
        extremum and onnxruntime (1.21 to 1.32) count from the end, as version 11 then said. Others may refuse
        it.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 10]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = -1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 10]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
)
def _negative_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for attribute in schema.attributes:
        value = site.accepted[attribute.name] if attribute.name in site.values else ()
        axes: list[int] = []
        if isinstance(value, int):
            axes = [value]
        elif isinstance(value, tuple):
            axes = list(value)
        if attribute.range is AttributeRange.AXIS_UNSTATED and any(axis < 0 for axis in axes):
            rank = site.inputs[0].rank if site.inputs else None
            plain = "count from the front"
            setting = axes if attribute.is_list else axes[0]
            if rank and all(axis + rank >= 0 for axis in axes):
                positive = [axis % rank for axis in axes]
                better = positive if attribute.is_list else positive[0]
                plain = f"write {attribute.name}={better}"
            yield SpecError(
                f"{schema} does not say what {attribute.name}={setting} means",
                remedy=f"{plain}, or use opset 11 or later",
            )


@rule(
    "EX008",
    "shapes that cannot be combined",
    Severity.ERROR,
    what="The inputs of Max or Min differ in shape before opset 8, or cannot be broadcast from then on.",
    why="""
        Before opset 8, onnxruntime (1.21 to 1.32) refuses them, and onnx's reference evaluator (1.19 to 1.23)
        broadcasts.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 7]>
        g (float[2, 3] a, float[3] b) => (float[2, 3] c) {
           c = Max (a, b)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 8]>
        g (float[2, 3] a, float[3] b) => (float[2, 3] c) {
           c = Max (a, b)
        }
        """,
)
def _shapes(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if schema.family in _ELEMENTWISE:
        yield from _shape_errors(site, schema)


def _shape_errors(site: Site, schema: OperatorVersion) -> Iterator[ExtremumError]:
    """Yield the error in the shapes of the inputs; EX003 finds an axis out of range."""
    if not site.inputs:
        return
    errors = refusals(infer.outputs, schema, site.accepted, site.inputs)
    yield from (error for error in errors if not isinstance(error, AxisError))


@rule(
    "EX009",
    "nothing to choose from",
    Severity.ERROR,
    what="ArgMax or ArgMin, or ReduceMax or ReduceMin of version 12, reduces an axis that has no element.",
    why="""
        There is no index to give, and only the other versions define the largest of no elements: the node
        fails.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 0] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[0, 10] scores) => (int64[0, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
)
def _empty_reduction(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if schema.family not in (*_ELEMENTWISE, Family.TOP):
        yield from _shape_errors(site, schema)


@rule(
    "EX010",
    "rank 0",
    Severity.ERROR,
    what="ArgMax, ArgMin, Hardmax or TopK has an input of rank 0.",
    why="""
        A scalar has no axis to look along. For ArgMax and ArgMin onnx's reference evaluator (1.19 to 1.23)
        answers 0; onnxruntime (1.21 to 1.32) refuses the model.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float score) => (label) {
           label = ArgMax (score)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[1] score) => (int64[1] label) {
           label = ArgMax (score)
        }
        """,
)
def _rank_zero(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for tensor in site.operands:
        yield from refusals(validate.shape, schema, tensor)


@rule(
    "EX011",
    "default axis of Hardmax at rank 1",
    Severity.ERROR,
    what="""
        Hardmax before version 13 has an input of rank 1 and states no `axis`: the default, 1, does not exist
        there.
        """,
    why="""
        onnxruntime (1.21 to 1.32) refuses it. onnx's reference evaluator (1.19 to 1.23) takes version 13's
        default, -1.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 11]>
        g (float[10] scores) => (float[10] hot) {
           hot = Hardmax (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 11]>
        g (float[10] scores) => (float[10] hot) {
           hot = Hardmax <axis = 0> (scores)
        }
        """,
)
def _default_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if schema.family is Family.HARDMAX:
        yield from _axes_errors(site, schema, explicit=False)


@rule(
    "EX012",
    "impossible declared output",
    Severity.ERROR,
    what="The model declares an element type, rank or size for an output that the operator cannot give.",
    why="""
        Code that trusts the declaration reserves the wrong memory. Some runtimes refuse the model, some correct
        it.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4] label) {
           label = ArgMax <axis = 1> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4] label) {
           label = ArgMax <axis = 1, keepdims = 0> (scores)
        }
        """,
)
def _declared_output(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if any(refusals(site.outputs)):
        return
    for name, inferred in zip(site.node.output, site.outputs(), strict=True):
        declared = site.declared_types.get(name, TensorType())
        yield from refusals(validate.output, schema, name, declared, inferred)
        are_known = inferred.shape is not None and declared.shape is not None
        if are_known and differ(inferred.shape or (), declared.shape or ()):
            yield SpecError(f"{schema} gives {inferred}, but its output {name!r} is declared {declared}")


@rule(
    "EX013",
    "consumed_inputs",
    Severity.INFO,
    what="Max or Min of version 1 states `consumed_inputs`.",
    why="It let early runtimes overwrite the inputs it names. Today it has no effect; version 6 dropped it.",
    example="""
        <ir_version: 8, opset_import: ["" : 1]>
        g (float[3] a, float[3] b) => (float[3] c) {
           c = Max <consumed_inputs = [0, 0]> (a, b)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 1]>
        g (float[3] a, float[3] b) => (float[3] c) {
           c = Max (a, b)
        }
        """,
)
def _consumed_inputs(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if schema.attribute("consumed_inputs") is not None and "consumed_inputs" in site.attributes:
        yield SpecError(f"{schema} does nothing with 'consumed_inputs'", remedy="drop it")


@rule(
    "EX014",
    "more elements than the axis has",
    Severity.ERROR,
    what="TopK takes more elements than its axis has.",
    why="""
        Runtimes refuse it when the node runs. Exporters write a fixed `K` for an axis that is shorter in some
        model.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 12]>
        g (float[5] x) => (best, index) {
           k = Constant <value_ints = [9]> ()
           best, index = TopK (x, k)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 12]>
        g (float[5] x) => (best, index) {
           k = Constant <value_ints = [5]> ()
           best, index = TopK (x, k)
        }
        """,
)
def _too_many(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if schema.family is Family.TOP:
        yield from _shape_errors(site, schema)


@rule(
    "EX015",
    "k of 0",
    Severity.WARNING,
    what="TopK takes no element.",
    why="""
        From version 10 on, the document requires a positive `K`. The document of version 1 does not, but onnx's
        shape inference refuses 0 there. extremum gives outputs without elements.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 1]>
        g (float[4, 10] scores) => (best, index) {
           best, index = TopK <k = 0> (scores)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 1]>
        g (float[4, 10] scores) => (best, index) {
           best, index = TopK <k = 1> (scores)
        }
        """,
)
def _no_element(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if schema.family is Family.TOP and site.accepted["k"] == 0:
        yield SpecError(f"{schema} takes no element: its k is 0", remedy="use a k of at least 1")


@rule(
    "EX016",
    "output without a name",
    Severity.ERROR,
    what="An output has an empty name, as if it were optional. Every output of these operators is required.",
    why="""
        onnxruntime (1.21 to 1.32) refuses a model with a TopK whose first output has no name. Exporters drop the
        name of a result that is not read. `extremum fix` gives it one.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[5] x) => (int64[2] index) {
           k = Constant <value_ints = [2]> ()
           "", index = TopK (x, k)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[5] x) => (int64[2] index) {
           k = Constant <value_ints = [2]> ()
           best, index = TopK (x, k)
        }
        """,
)
def _unnamed_output(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    for output, name in zip(schema.outputs, site.node.output, strict=False):
        if not name:
            yield SpecError(
                f"{schema} must have a name for its output {output.name!r}",
                remedy="give it one, even if nothing reads it; extremum fix does",
            )


@rule(
    "EX017",
    "k on an axis of unknown size",
    Severity.INFO,
    what="TopK takes a constant number of elements along an axis whose size the model leaves open.",
    why="""
        The node fails when the axis is shorter than `K`, as where a detector finds few boxes.
        `extremum fix --limit-k` takes the smaller of both, and a session does so with `limit_k=True`.
        """,
    example="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[boxes] scores) => (best, index) {
           k = Constant <value_ints = [100]> ()
           best, index = TopK (scores, k)
        }
        """,
    instead="""
        <ir_version: 8, opset_import: ["" : 13]>
        g (float[boxes] scores) => (best, index) {
           k = Constant <value_ints = [100]> ()
           boxes = Shape (scores)
           least = Min (k, boxes)
           best, index = TopK (scores, least)
        }
        """,
)
def _open_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    if schema.family is not Family.TOP or any(refusals(partial(site.outputs, any_element=True))):
        return
    k = site.accepted["k"]
    if isinstance(k, int) and k > 0 and size_along_axis(site) is None:
        yield SpecError(
            f"{schema} takes {k} elements along an axis whose size is not known: it fails if there are fewer",
            remedy="extremum fix --limit-k takes as many as there are",
        )


RULES = tuple(each for each in list(globals().values()) if isinstance(each, Rule))
"""The rules EX001 to EX099."""
