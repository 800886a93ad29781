"""The rules EX001 to EX099: what a version of an operator refuses.

A new rule takes the next free code; a code is never used again.
"""

from __future__ import annotations

from collections.abc import Iterator

from extremum import infer, validate
from extremum.check.rule import Rule, Severity, Targets, refusals, rule
from extremum.errors import AxisError, ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import AttributeRange, Family, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["PROMISES"]

PROMISES: list[Rule] = []
"""In the order of their codes."""


@rule(PROMISES, "EX001", "unknown attribute", Severity.ERROR)
def unknown_attribute(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The node states an attribute that its version of the operator does not have.

    Runtimes refuse it, drop it silently, or obey a later version than the model asks for.

    Example: 11 (float[1, 1000] scores) => (int64[1, 1] label) {
    label = ArgMax <axis = 1, select_last_index = 1> (scores) }
    Instead: 12 (float[1, 1000] scores) => (int64[1, 1] label) {
    label = ArgMax <axis = 1, select_last_index = 1> (scores) }
    """
    for attribute in site.node.attribute:
        yield from refusals(validate.known_attribute, schema, attribute.name)


@rule(PROMISES, "EX002", "attribute out of range", Severity.ERROR)
def attribute_value(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An attribute has a value of the wrong type, or `keepdims` or `select_last_index` is neither 0 nor 1.

    Runtimes disagree on it: onnxruntime (1.21 to 1.32) takes `keepdims=2` for 0, onnx's reference evaluator (1.19 to
    1.23) for 1.

    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1, keepdims = 2> (scores) }
    Instead: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1, keepdims = 1> (scores) }
    """
    for attribute in schema.attributes:
        yield from refusals(validate.attribute_value, schema, attribute, site.attributes)


@rule(PROMISES, "EX003", "axis out of range", Severity.ERROR)
def axis_range(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, lies outside the rank of the input or comes twice.

    The node fails when it runs, or when the model is loaded.

    Example: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 2> (scores) }
    Instead: 13 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    # EX011 finds a default that is out of range.
    yield from _axes_refused(site, schema, stated=True)


def _axes_refused(site: Site, schema: OperatorVersion, *, stated: bool) -> Iterator[ExtremumError]:
    """Yield why a node is refused for the axes that it states, or for their default."""
    values = [site.values.get(each.name, validate.UNKNOWN) for each in schema.attributes if each.range.is_axis]
    states = any(value is not validate.UNKNOWN for value in values)
    for tensor in site.inputs[:1] if states is stated else ():
        if tensor.rank is not None and tensor.rank >= schema.ranks[0]:
            yield from refusals(validate.axes, schema, site.accepted, tensor.rank)


@rule(PROMISES, "EX004", "element type not allowed", Severity.ERROR)
def element_type(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The input has an element type that the version of the operator does not take, or `axes` is no list of int64.

    The model is not valid, even if a runtime happens to run it. A later version may take the type.

    Example: 12 (bfloat16[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (bfloat16[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    for element in dict.fromkeys(tensor.element for tensor in site.operands):
        yield from refusals(validate.element_type, schema, element)
    for attribute, tensor in zip(schema.input_attributes, site.inputs[schema.input.maximum :], strict=False):
        yield from refusals(validate.input_attribute, schema, attribute, tensor)


@rule(PROMISES, "EX005", "number of inputs or outputs", Severity.ERROR)
def operand_count(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """A node has more or fewer inputs or outputs than its operator.

    Runtimes refuse the model. ArgMax has no output for the largest value: that is ReduceMax.

    Example: 13 (float[4] a, float[4] b) => (int64[1] index) { index = ArgMax (a, b) }
    Instead: 13 (float[4] a, float[4] b) => (int64[1] index) { larger = Max (a, b); index = ArgMax (larger) }
    """
    yield from refusals(validate.input_count, schema, len(site.names))
    yield from refusals(validate.output_count, schema, len(site.node.output))


@rule(PROMISES, "EX006", "inputs of different element types", Severity.ERROR)
def mixed_element_types(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min have different element types.

    The operators convert nothing; runtimes refuse the model.

    Example: 13 (float[4] a, double[4] b) => (c) { c = Max (a, b) }
    Instead: 13 (float[4] a, double[4] b) => (double[4] c) { wide = Cast <to = 11> (a); c = Max (wide, b) }
    """
    yield from refusals(validate.one_element_type, schema, site.inputs)


@rule(PROMISES, "EX007", "negative axis before opset 11", Severity.WARNING)
def negative_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, is negative in a version whose document says nothing about negative axes.

    extremum and onnxruntime (1.21 to 1.32) count from the end, as version 11 then said. Others may refuse it.

    Example: 10 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = -1> (scores) }
    Instead: 10 (float[4, 10] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    for attribute in schema.attributes:
        value = site.accepted[attribute.name]
        axes = [value] if isinstance(value, int) else list(value) if isinstance(value, tuple) else []
        if attribute.range is AttributeRange.AXIS_UNSTATED and any(axis < 0 for axis in axes):
            rank = site.inputs[0].rank if site.inputs else None
            plain = "count from the front"
            if rank and all(axis + rank >= 0 for axis in axes):
                positive = [axis % rank for axis in axes]
                plain = f"write {attribute.name}={positive[0] if isinstance(value, int) else positive}"
            yield SpecError(
                f"{schema} does not say what {attribute.name}={value if isinstance(value, int) else axes} means",
                remedy=f"{plain}, or use opset 11 or later",
            )


@rule(PROMISES, "EX008", "shapes that cannot be combined", Severity.ERROR)
def shapes(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min differ in shape before opset 8, or cannot be broadcast from then on.

    Before opset 8 there is no broadcasting. onnx's reference evaluator (1.19 to 1.23) does it, onnxruntime (1.21 to
    1.32) refuses.

    Example: 7 (float[2, 3] a, float[3] b) => (float[2, 3] c) { c = Max (a, b) }
    Instead: 8 (float[2, 3] a, float[3] b) => (float[2, 3] c) { c = Max (a, b) }
    """
    if schema.family in (Family.MAXIMUM, Family.MINIMUM):
        yield from refusals(infer.output, schema, site.accepted, site.inputs)


@rule(PROMISES, "EX009", "nothing to choose from", Severity.ERROR)
def empty_reduction(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax or ArgMin, or ReduceMax or ReduceMin of version 12, reduces an axis that has no element.

    There is no index to give, and only the other versions define the largest of no elements: the node fails.

    Example: 13 (float[4, 0] scores) => (int64[4, 1] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (float[0, 10] scores) => (int64[0, 1] label) { label = ArgMax <axis = 1> (scores) }
    """
    if schema.family not in (Family.MAXIMUM, Family.MINIMUM) and site.inputs:
        for error in refusals(infer.output, schema, site.accepted, site.inputs):
            # EX003 finds an axis that is not there.
            if not isinstance(error, AxisError):
                yield error


@rule(PROMISES, "EX010", "rank 0", Severity.ERROR)
def rank_zero(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax, ArgMin or Hardmax has an input of rank 0.

    A scalar has no axis to look along. For ArgMax and ArgMin onnx's reference evaluator (1.19 to 1.23) answers 0;
    onnxruntime (1.21 to 1.32) refuses the model.

    Example: 13 (float score) => (label) { label = ArgMax (score) }
    Instead: 13 (float[1] score) => (int64[1] label) { label = ArgMax (score) }
    """
    for tensor in site.operands:
        yield from refusals(validate.shape, schema, tensor)


@rule(PROMISES, "EX011", "default axis of Hardmax at rank 1", Severity.ERROR)
def default_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has an input of rank 1 and states no `axis`: the default, 1, does not exist there.

    onnxruntime (1.21 to 1.32) refuses the model. onnx's reference evaluator (1.19 to 1.23) takes the default of version
    13, -1.

    Example: 11 (float[10] scores) => (float[10] hot) { hot = Hardmax (scores) }
    Instead: 11 (float[10] scores) => (float[10] hot) { hot = Hardmax <axis = 0> (scores) }
    """
    if schema.family is Family.HARDMAX:
        yield from _axes_refused(site, schema, stated=False)


@rule(PROMISES, "EX012", "impossible declared output", Severity.ERROR)
def declared_output(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The model declares an element type, rank or size for an output that the operator cannot give.

    Code that trusts the declaration reserves the wrong memory. Some runtimes refuse the model, some correct it.

    Example: 13 (float[4, 10] scores) => (int64[4] label) { label = ArgMax <axis = 1> (scores) }
    Instead: 13 (float[4, 10] scores) => (int64[4] label) { label = ArgMax <axis = 1, keepdims = 0> (scores) }
    """
    if any(refusals(site.output)):
        return
    name, inferred = site.node.output[0], site.output()
    declared = site.declared_types.get(name, TensorType())
    yield from refusals(validate.output, schema, name, declared, inferred)
    ours, theirs = inferred.shape, declared.shape
    if ours is None or theirs is None:
        return
    sizes = zip(ours, theirs, strict=False)
    if len(ours) != len(theirs) or any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes):
        yield SpecError(f"{schema} gives {inferred}, but its output {name!r} is declared {declared}")


@rule(PROMISES, "EX013", "consumed_inputs", Severity.INFO)
def consumed_inputs(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Max or Min of version 1 states `consumed_inputs`.

    It let early runtimes overwrite the inputs it names. Today it has no effect; version 6 dropped it.

    Example: 1 (float[3] a, float[3] b) => (float[3] c) { c = Max <consumed_inputs = [0, 0]> (a, b) }
    Instead: 1 (float[3] a, float[3] b) => (float[3] c) { c = Max (a, b) }
    """
    if schema.attribute("consumed_inputs") is not None and "consumed_inputs" in site.attributes:
        yield SpecError(f"{schema} does nothing with 'consumed_inputs'", remedy="drop it")
