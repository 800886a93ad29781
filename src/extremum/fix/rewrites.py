"""The rewrites: nodes of standard ONNX that compute the same result as one node.

A new rewrite is a decorated function. Its nodes must not depend on a size that the model leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from extremum import validate
from extremum.errors import SpecError
from extremum.graph.sites import Site
from extremum.spec import Family
from extremum.tensors import element_of

CARRIERS = {"bfloat16": "float32", "float16": "float32", "float32": "float32", "float64": "float64"}
"""For each floating type, a type that holds its values and that onnxruntime and DirectML compare and reduce."""

# From these opsets on, the axes (for TopK: k) are an input.
_INPUTS_SINCE = {"ReduceMax": 18, "ReduceMin": 18, "Squeeze": 13, "TopK": 10}
_GATHER_TAKES_BFLOAT16_SINCE = 13


class Fragment:
    """The nodes that replace the node of a site, at an opset; the names of their outputs begin with a prefix."""

    def __init__(self, site: Site, opset: int, prefix: str) -> None:
        self.site = site
        self.schema = site.version
        self.opset = opset
        self.element = str(site.element)
        self.carrier = CARRIERS.get(self.element, self.element)
        self.inputs = list(site.node.input)
        self.nodes: list[onnx.NodeProto] = []
        self._prefix = prefix

    @property
    def axis(self) -> int:
        """The attribute ``axis`` of the node."""
        if len(self.site.attributes) < len(self.site.node.attribute):
            raise SpecError(
                f"{self.schema} gets its axis from the call of its function",
                remedy="inline the function first",
            )
        axis = self.site.accepted["axis"]
        assert isinstance(axis, int)
        return axis

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes along which the node selects."""
        rank = self.site.inputs[0].rank
        if rank is None:
            raise SpecError(
                f"the rank of the input of {self.schema} is not known",
                remedy="state the shape in the model",
            )
        return validate.axes(self.schema, self.site.accepted, rank)

    # Each method below appends nodes and returns the name of the last node's output.

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Append a node."""
        name = f"{self._prefix}{len(self.nodes)}"
        self.nodes.append(onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def constant(self, value: object, element: str = "int64") -> str:
        """Append a constant."""
        array = np.array(value, element_of(element).dtype)
        return self.add("Constant", value=onnx.numpy_helper.from_array(array))

    def cast(self, x: str, element: str) -> str:
        """Append a Cast."""
        return self.add("Cast", x, to=element_of(element).onnx_number)

    def carry(self, x: str) -> str:
        """Append a Cast of an input to its carrier, if that is another type."""
        if self.carrier == self.element:
            return x
        return self.cast(x, self.carrier)

    def reduce(self, operator: str, x: str, axes: Sequence[int]) -> str:
        """Append ReduceMax or ReduceMin, which keeps the rank, or Squeeze."""
        if self.opset >= _INPUTS_SINCE[operator]:
            return self.add(operator, x, self.constant(axes))
        return self.add(operator, x, axes=list(axes))

    def largest(self, x: str, axis: int) -> str:
        """Append TopK, which every runtime takes: the largest along one axis, with the axis kept."""
        if self.opset >= _INPUTS_SINCE["TopK"]:
            name = self.add("TopK", x, self.constant([1]), axis=axis)
        else:
            name = self.add("TopK", x, axis=axis, k=1)
        self.nodes[-1].output.append(f"{name}/index")
        return name

    def like(self, *inputs: str, operator: str | None = None) -> str:
        """Append a node with the attributes of the original, including those that a call of its function gives."""
        name = self.add(operator or self.site.node.op_type, *inputs)
        self.nodes[-1].attribute.extend(self.site.node.attribute)
        return name

    def ranks(self, x: str, axes: Sequence[int], *, largest: bool) -> str:
        """Append the ranks of a carrier: small floats, never NaN, with the largest rank at the extremum.

        NaN has rank 2, an element that equals the extremum rank 1, any other number rank 0. So NaN wins even in
        operators that cannot compare it, and it does not matter how a reduction treats NaN.
        """
        if self.carrier == "float64" and len(axes) == 1:
            # DirectML reduces no doubles.
            extremum = self.largest(x if largest else self.add("Neg", x), axes[0])
            extremum = extremum if largest else self.add("Neg", extremum)
        else:
            extremum = self.reduce("ReduceMax" if largest else "ReduceMin", x, axes)
        losers = self.add("Less" if largest else "Greater", x, extremum)
        winners = self.cast(self.add("Not", losers), "float32")
        return self.add("Add", winners, self.cast(self.add("IsNaN", x), "float32"))

    def flip(self, x: str) -> str:
        """Append nodes that convert uint64 to int64 in the same order."""
        # A Cast keeps the 64 bits. Flipping the top bit adds 2**63 to what is negative now and subtracts it from the
        # rest. int64 cannot hold 2**63, so negative values get 2**63 - 1 and then 1; no sum leaves the range.
        limits = np.iinfo(np.int64)
        bits = self.cast(x, "int64")
        upper = self.add("Less", bits, self.constant(0))
        shift = self.add("Where", upper, self.constant(limits.max), self.constant(limits.min))
        return self.add("Add", self.add("Add", bits, shift), self.cast(upper, "int64"))

    def finish(self) -> list[onnx.NodeProto]:
        """Give the last node the name and the output of the original, and return all nodes."""
        self.nodes[-1].output[0] = self.site.node.output[0]
        if self.site.node.name:
            self.nodes[-1].name = self.site.node.name
        return self.nodes


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A way to compute the same result with other operators."""

    title: str
    # The first opset that has the operators it needs.
    since: int
    # The codes of the rules whose findings it answers.
    answers: tuple[str, ...]
    families: frozenset[Family]
    elements: frozenset[str]
    # Appends the nodes to a fragment; the last one gives the result. An error says why it cannot.
    build: Callable[[Fragment], object]


_rewrites: list[Rewrite] = []
_INDEX = frozenset({Family.ARGMAX, Family.ARGMIN})
_ELEMENTWISE = frozenset({Family.MAXIMUM, Family.MINIMUM})
_REDUCTION = frozenset({Family.LARGEST, Family.SMALLEST})
_HARDMAX = frozenset({Family.HARDMAX})
_TOP = frozenset({Family.TOP})


def _rewrite(
    title: str, since: int, answers: str, families: frozenset[Family], elements: Iterable[str]
) -> Callable[[Callable[[Fragment], object]], None]:
    row = title, since, tuple(answers.split()), families, frozenset(elements)
    return lambda build: _rewrites.append(Rewrite(*row, build))


# Each wider type holds every value, in the same order.
_WIDER = {"int16": "int32", "uint16": "int32", "uint32": "int64"}


@_rewrite("on wider integers", 6, "EX101 EX102 EX106 EX107", _INDEX | _ELEMENTWISE, _WIDER)
def _wider_integers(fragment: Fragment) -> None:
    result = fragment.like(*(fragment.cast(name, _WIDER[fragment.element]) for name in fragment.inputs))
    if fragment.schema.family in _ELEMENTWISE:
        fragment.cast(result, fragment.element)


@_rewrite("on int64 in the same order", 9, "EX101 EX106 EX107", _INDEX, ["uint64"])
def _flipped_integers(fragment: Fragment) -> None:
    fragment.like(fragment.flip(fragment.inputs[0]))


@_rewrite("on ranks of its elements", 9, "EX101 EX102 EX106 EX107", _INDEX, CARRIERS)
def _ranked_index(fragment: Fragment) -> None:
    axis = fragment.axis
    largest = fragment.schema.family is Family.ARGMAX
    # The element that the operator looks for, largest or smallest, has the largest rank.
    fragment.like(
        fragment.ranks(fragment.carry(fragment.inputs[0]), [axis], largest=largest), operator="ArgMax"
    )


_CASTS = {"int8": "int32", "uint8": "int32", "uint32": "int64"}
_TYPES = {*CARRIERS, "int8", "uint8", "int32", "int64", "uint64"}


@_rewrite(
    "as the elements at an index", 11, "EX101 EX102 EX106 EX107 EX108", _REDUCTION, _TYPES | _CASTS.keys()
)
def _indexed_element(fragment: Fragment) -> None:
    # This makes NaN the extremum and keeps the sign of zeros. The axes are reduced one by one, the last axis first, so
    # the first of equal elements in row-major order wins, as in one reduction over all axes. Integers take this path
    # too: if the upper halves of int64 are equal, onnxruntime 1.21 to 1.31 compares them wrongly in ReduceMax and
    # ReduceMin (EX108), but not in ArgMax.
    axes = fragment.axes
    largest = fragment.schema.family is Family.LARGEST
    result = fragment.inputs[0]
    for axis in reversed(axes):
        x = result
        operator = "ArgMax" if largest else "ArgMin"
        if fragment.element in CARRIERS:
            x = fragment.ranks(fragment.carry(x), [axis], largest=largest)
            operator = "ArgMax"
        elif fragment.element in _CASTS:
            x = fragment.cast(x, _CASTS[fragment.element])
        elif fragment.element == "uint64":
            x = fragment.flip(x)
        result = fragment.add("GatherElements", result, fragment.add(operator, x, axis=axis), axis=axis)
    if not axes:
        fragment.add("Identity", result)
    elif not fragment.site.accepted["keepdims"]:
        fragment.reduce("Squeeze", result, axes)


_SELECTED = {**_WIDER, **_CASTS, "float16": "float32", "bfloat16": "float32"}


@_rewrite("as the elements at the indices of wider ones", 11, "EX101 EX106", _TOP, [*_SELECTED, "uint64"])
def _indexed_selection(fragment: Fragment) -> None:
    x, *k = fragment.inputs
    if fragment.element == "bfloat16" and fragment.opset < _GATHER_TAKES_BFLOAT16_SINCE:
        raise SpecError(f"GatherElements takes bfloat16 from opset {_GATHER_TAKES_BFLOAT16_SINCE} on")
    carrier = _SELECTED.get(fragment.element)
    fragment.like(fragment.cast(x, carrier) if carrier else fragment.flip(x), *k)
    indices = fragment.site.node.output[1]
    fragment.nodes[-1].output.append(indices)
    # With sorted=0 both outputs have the order that the runtime gives the indices.
    fragment.add("GatherElements", x, indices, axis=fragment.axis)


@_rewrite("as rows of a matrix", 5, "EX104", _HARDMAX, CARRIERS)
def _matrix_hardmax(fragment: Fragment) -> None:
    # A runtime that puts a 1 into each row along one axis is right where there is only one axis in a row.
    first, *_ = fragment.axes
    x = fragment.inputs[0]
    hot = fragment.add("Hardmax", fragment.add("Flatten", x, axis=first), axis=1)
    fragment.add("Reshape", hot, fragment.add("Shape", x))


@_rewrite("on ranks of its elements", 9, "EX101 EX106", _HARDMAX, CARRIERS)
def _ranked_hardmax(fragment: Fragment) -> None:
    axes = fragment.axes
    # Every onnxruntime takes float32, the type of the ranks.
    hot = fragment.like(fragment.ranks(fragment.carry(fragment.inputs[0]), axes, largest=True))
    if fragment.element != "float32":
        fragment.cast(hot, fragment.element)


@_rewrite("as the places of an index", 11, "EX102 EX107", _HARDMAX, CARRIERS)
def _indexed_hardmax(fragment: Fragment) -> None:
    # For feature levels of DirectML that have ArgMax but no Hardmax, and runtimes whose Hardmax answers differently.
    axis, *others = fragment.axes
    rank = fragment.site.inputs[0].rank
    assert rank is not None
    x = fragment.carry(fragment.inputs[0])
    if others:
        x = fragment.add("Flatten", x, axis=axis)
        axis = 1
        rank = 2
    index = fragment.add("ArgMax", fragment.ranks(x, [axis], largest=True), axis=axis)
    zero, one, position = (fragment.constant(value) for value in (0, 1, axis))
    count = fragment.add("Gather", fragment.add("Shape", x), position)
    shape = fragment.constant([-1] + [1] * (rank - 1 - axis))
    places = fragment.add("Reshape", fragment.add("Range", zero, count, one), shape)
    hot = fragment.cast(fragment.add("Equal", index, places), fragment.element)
    if others:
        fragment.add("Reshape", hot, fragment.add("Shape", fragment.inputs[0]))


@_rewrite("as choices between two", 11, "EX107 EX108", _ELEMENTWISE, _TYPES)
def _choices(fragment: Fragment) -> None:
    # For runtimes that compare wrongly only in Max and Min.
    result, *others = (fragment.carry(name) for name in fragment.inputs)
    largest = fragment.schema.family is Family.MAXIMUM
    for other in others:
        better = fragment.add("Greater" if largest else "Less", other, result)
        rest = result
        if fragment.element in CARRIERS:
            # A NaN in the result stays, as no number is greater. The sum of two (equal) zeros has the right sign.
            zero = fragment.constant(0, fragment.carrier)
            zeros = fragment.add("And", *(fragment.add("Equal", each, zero) for each in (result, other)))
            total = fragment.add(
                "Add", *(each if largest else fragment.add("Neg", each) for each in (result, other))
            )
            rest = fragment.add("Where", zeros, total if largest else fragment.add("Neg", total), result)
            better = fragment.add("Or", better, fragment.add("IsNaN", other))
        result = fragment.add("Where", better, other, rest)
    if fragment.carrier != fragment.element:
        fragment.cast(result, fragment.element)
    elif not others:
        fragment.add("Identity", result)


@_rewrite(
    "on floats that the target takes, zeros in order", 8, "EX101 EX102 EX106 EX107", _ELEMENTWISE, CARRIERS
)
def _signed_zeros(fragment: Fragment) -> None:
    # Runtimes return either of two zeros. So a zero with the sign of each operand is added to the largest: it changes
    # no other number, and if the largest is zero, the sum is +0 if any operand is +0. Min is Max of the negated
    # operands, negated.
    operands = [fragment.carry(name) for name in fragment.inputs]
    is_minimum = fragment.schema.family is Family.MINIMUM
    if is_minimum:
        operands = [fragment.add("Neg", name) for name in operands]
    low, zero, high = (fragment.constant(value, fragment.carrier) for value in (-1, 0, 1))
    result = fragment.add("Max", *operands)
    for name in operands:
        # Zero times an infinity would be NaN.
        finite = fragment.add("Min", fragment.add("Max", name, low), high)
        result = fragment.add("Add", result, fragment.add("Mul", finite, zero))
    if is_minimum:
        result = fragment.add("Neg", result)
    if fragment.carrier != fragment.element:
        fragment.cast(result, fragment.element)


REWRITES = tuple(_rewrites)
"""All rewrites; the first that fits a node, and is right in the target, is used."""


def find(family: Family, element: str | None, code: str) -> list[Rewrite]:
    """Return the rewrites for an operator and an element type that answer a rule, the best first."""
    # What no specification decides is mended as a wrong answer is.
    answered = "EX107" if code == "EX110" else code
    candidates = [each for each in REWRITES if family in each.families and element in each.elements]
    return [each for each in candidates if answered in each.answers]
