"""The rules EX001 to EX099: what a version of an operator refuses.

A new rule is a function and a line in ``PROMISES``. It takes the next free code; a code is never used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from extremum import infer, validate
from extremum.check.finding import Severity
from extremum.check.rule import Rule, Targets, accepted_values, refusals, rule, states_axes
from extremum.errors import AxisError, ExtremumError, SpecError
from extremum.graph.sites import Site
from extremum.spec import AttributeRange, Family, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["PROMISES"]


@rule("EX001", "unknown attribute", Severity.ERROR)
def unknown_attribute(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An attribute is stated that the version of the operator does not have.

    Runtimes refuse it, drop it silently, or obey a later version than the model asks for.

    Example::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[1, 1000] scores) => (int64[1, 1] label) {
           label = ArgMax <axis = 1, select_last_index = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 12]>
        g (float[1, 1000] scores) => (int64[1, 1] label) {
           label = ArgMax <axis = 1, select_last_index = 1> (scores)
        }
    """
    for attribute in site.node.attribute:
        yield from refusals(validate.known_attribute, schema, attribute.name)


@rule("EX002", "attribute out of range", Severity.ERROR)
def attribute_value(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """An attribute has a value of the wrong type, or `keepdims` or `select_last_index` one other than 0 and 1.

    Runtimes disagree on it: onnxruntime (1.21 to 1.32) takes `keepdims=2` for 0, onnx's reference evaluator (1.19 to
    1.23) for 1.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1, keepdims = 2> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1, keepdims = 1> (scores)
        }
    """
    for attribute in schema.attributes:
        yield from refusals(validate.attribute_value, schema, attribute, site.attributes)


@rule("EX003", "axis out of range", Severity.ERROR)
def axis_range(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, lies outside the rank of the input or comes twice.

    The node fails when it runs, or when the model is loaded.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 2> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    # A default that is out of range has a rule of its own.
    for tensor in site.inputs[:1]:
        if states_axes(site, schema) and tensor.rank is not None and tensor.rank >= schema.ranks[0]:
            yield from refusals(validate.axes, schema, accepted_values(site, schema), tensor.rank)


@rule("EX004", "element type not allowed", Severity.ERROR)
def element_type(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The input has an element type that the version of the operator does not take, or `axes` is no list of int64.

    The model is not valid, even where a runtime happens to run it. A later version may take the type.

    Example::

        <ir_version: 8, opset_import: ["" : 12]>
        g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (bfloat16[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    for element in dict.fromkeys(tensor.element for tensor in site.operands):
        yield from refusals(validate.element_type, schema, element)
    for attribute, tensor in zip(schema.input_attributes, site.inputs[schema.input.maximum :], strict=False):
        yield from refusals(validate.input_attribute, schema, attribute, tensor)


@rule("EX005", "number of inputs or outputs", Severity.ERROR)
def operand_count(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """A node has more or fewer inputs or outputs than its operator takes and gives.

    Runtimes refuse the model. ArgMax has no output for the largest value: that is ReduceMax.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, float[4] b) => (int64[1] index) {
           index = ArgMax (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, float[4] b) => (int64[1] index) {
           larger = Max (a, b)
           index = ArgMax (larger)
        }
    """
    yield from refusals(validate.input_count, schema, len(site.names))
    yield from refusals(validate.output_count, schema, len(site.node.output))


@rule("EX006", "inputs of different element types", Severity.ERROR)
def mixed_element_types(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min do not have one element type.

    The operators convert nothing; runtimes refuse the model.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, double[4] b) => (c) {
           c = Max (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4] a, double[4] b) => (double[4] c) {
           wide = Cast <to = 11> (a)
           c = Max (wide, b)
        }
    """
    yield from refusals(validate.one_element_type, schema, site.inputs)


@rule("EX007", "negative axis before opset 11", Severity.WARNING)
def negative_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """`axis`, or one of `axes`, is negative in a version whose document says nothing of negative axes.

    extremum and onnxruntime (1.21 to 1.32) count from the end, as version 11 then said. Others may refuse it.

    Example::

        <ir_version: 8, opset_import: ["" : 10]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = -1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 10]>
        g (float[4, 10] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    values = accepted_values(site, schema)
    for attribute in schema.attributes:
        value = values[attribute.name]
        axes = (value,) if isinstance(value, int) else value if isinstance(value, tuple) else ()
        if attribute.range is AttributeRange.AXIS_UNSTATED and any(axis < 0 for axis in axes):
            rank = site.inputs[0].rank if site.inputs else None
            plain = "count from the front"
            if rank and all(axis + rank >= 0 for axis in axes):
                plain = f"write {attribute.name}={_positive(value, [axis % rank for axis in axes])}"
            yield SpecError(
                f"{schema} does not say what {attribute.name}={_positive(value, axes)} means",
                remedy=f"{plain}, or use opset 11 or later",
            )


def _positive(value: object, axes: Sequence[int]) -> str:
    return str(axes[0] if isinstance(value, int) else list(axes))


@rule("EX008", "shapes that do not go together", Severity.ERROR)
def shapes(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The inputs of Max or Min differ in shape before opset 8, or cannot be broadcast from then on.

    Before opset 8 there is no broadcasting. onnx's reference evaluator (1.19 to 1.23) does it, onnxruntime (1.21 to
    1.32) refuses.

    Example::

        <ir_version: 8, opset_import: ["" : 7]>
        g (float[2, 3] a, float[3] b) => (float[2, 3] c) {
           c = Max (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 8]>
        g (float[2, 3] a, float[3] b) => (float[2, 3] c) {
           c = Max (a, b)
        }
    """
    if schema.family in (Family.MAXIMUM, Family.MINIMUM):
        yield from refusals(infer.output, schema, accepted_values(site, schema), site.inputs)


@rule("EX009", "nothing to choose from", Severity.ERROR)
def empty_reduction(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """The axis that ArgMax or ArgMin reduces has no element, or one of ReduceMax's or ReduceMin's of version 12.

    There is no index to give, and only the other versions say what the largest of no element is: the node fails.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[4, 0] scores) => (int64[4, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[0, 10] scores) => (int64[0, 1] label) {
           label = ArgMax <axis = 1> (scores)
        }
    """
    if schema.family not in (Family.MAXIMUM, Family.MINIMUM) and site.inputs:
        for error in refusals(infer.output, schema, accepted_values(site, schema), site.inputs):
            # An axis that is not there is another rule's.
            if not isinstance(error, AxisError):
                yield error


@rule("EX010", "rank 0", Severity.ERROR)
def rank_zero(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """ArgMax, ArgMin or Hardmax has an input of rank 0.

    A scalar has no axis to look along. For ArgMax and ArgMin onnx's reference evaluator (1.19 to 1.23) answers 0;
    onnxruntime (1.21 to 1.32) refuses the model.

    Example::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float score) => (label) {
           label = ArgMax (score)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 13]>
        g (float[1] score) => (int64[1] label) {
           label = ArgMax (score)
        }
    """
    for tensor in site.operands:
        yield from refusals(validate.shape, schema, tensor)


@rule("EX011", "default axis of Hardmax at rank 1", Severity.ERROR)
def default_axis(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Hardmax before version 13 has an input of rank 1 and no `axis`: the default, 1, is not there.

    onnxruntime (1.21 to 1.32) refuses the model. onnx's reference evaluator (1.19 to 1.23) takes the default of version
    13, -1.

    Example::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[10] scores) => (float[10] hot) {
           hot = Hardmax (scores)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 11]>
        g (float[10] scores) => (float[10] hot) {
           hot = Hardmax <axis = 0> (scores)
        }
    """
    for tensor in site.inputs[:1]:
        if schema.family is not Family.HARDMAX or states_axes(site, schema):
            continue
        if tensor.rank is not None and tensor.rank >= schema.ranks[0]:
            yield from refusals(validate.axes, schema, accepted_values(site, schema), tensor.rank)


@rule("EX012", "declared output that cannot be", Severity.ERROR)
def declared_output(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
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


@rule("EX013", "consumed_inputs", Severity.INFO)
def consumed_inputs(site: Site, schema: OperatorVersion, targets: Targets) -> Iterator[ExtremumError]:
    """Max or Min of version 1 states `consumed_inputs`.

    It let early runtimes overwrite the inputs it names. Today it has no effect; version 6 dropped it.

    Example::

        <ir_version: 8, opset_import: ["" : 1]>
        g (float[3] a, float[3] b) => (float[3] c) {
           c = Max <consumed_inputs = [0, 0]> (a, b)
        }

    Instead::

        <ir_version: 8, opset_import: ["" : 1]>
        g (float[3] a, float[3] b) => (float[3] c) {
           c = Max (a, b)
        }
    """
    for attribute in schema.attributes:
        if attribute.name == "consumed_inputs" and attribute.name in site.attributes:
            yield SpecError(f"{schema} does nothing with 'consumed_inputs'", remedy="drop it")


PROMISES: tuple[Rule, ...] = (
    unknown_attribute,
    attribute_value,
    axis_range,
    element_type,
    operand_count,
    mixed_element_types,
    negative_axis,
    shapes,
    empty_reduction,
    rank_zero,
    default_axis,
    declared_output,
    consumed_inputs,
)
"""In the order of their codes."""
