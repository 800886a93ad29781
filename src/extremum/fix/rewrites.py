"""The rewrites: nodes of standard ONNX that say the same as one that a target refuses.

A new rewrite is a ``Rewrite`` and a line in ``REWRITES``. For each rule, kind of operator and element type there is at
most one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from extremum import dtypes, validate
from extremum.errors import SpecError
from extremum.fix.fragment import Fragment
from extremum.graph.sites import Site
from extremum.spec import Family, OperatorVersion

__all__ = ["REWRITES", "Rewrite", "find"]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One way to say the same with other operators."""

    # What it does, in a few words.
    title: str
    # The codes of the rules whose findings it answers.
    answers: tuple[str, ...]
    # What the node may compute.
    families: frozenset[Family]
    # The element types it is for.
    elements: frozenset[str]
    # The first opset that has the operators it needs.
    since: int
    # Appends the nodes to a fragment; the last one gives the result. An error says why it cannot.
    build: Callable[[Fragment, Site], None]


# Ranks: small floats, none of them NaN, whose largest stand where the extremum of other floats is. NaN wins with
# operators that do not know it: an element that equals the extremum has rank 1, any other number 0, and NaN 2. So it
# does not matter how a reduction treats NaN.

CARRIERS = {"bfloat16": "float32", "float16": "float32", "float32": "float32", "float64": "float64"}
"""For each floating type one that holds its values and that onnxruntime and DirectML compare and reduce."""


def carried(fragment: Fragment, x: str, element: str) -> str:
    """Append what makes a tensor one of its carrier, if anything, and return the name."""
    return x if CARRIERS[element] == element else fragment.cast(x, CARRIERS[element])


def ranks(fragment: Fragment, x: str, axes: Sequence[int], *, element: str, largest: bool) -> str:
    """Append the ranks of a tensor of an element type, as it is carried, and return their name."""
    if CARRIERS[element] == "float64" and len(axes) == 1:
        # DirectML reduces no doubles.
        extremum = fragment.largest(x if largest else fragment.add("Neg", x), axes[0])
        extremum = extremum if largest else fragment.add("Neg", extremum)
    else:
        extremum = fragment.reduce("ReduceMax" if largest else "ReduceMin", x, axes)
    beaten = fragment.add("Less" if largest else "Greater", x, extremum)
    unbeaten = fragment.cast(fragment.add("Not", beaten), "float32")
    return fragment.add("Add", unbeaten, fragment.cast(fragment.add("IsNaN", x), "float32"))


def _axes(schema: OperatorVersion, site: Site) -> tuple[int, ...]:
    """Return the axes along which a node looks, or refuse a node of which the rank is not known."""
    rank = site.inputs[0].rank
    if rank is None:
        raise SpecError(f"the rank of the input of {schema} is not known", remedy="state the shape in the model")
    return validate.axes(schema, validate.attributes(schema, site.attributes, site.inputs), rank)


# Integers of 16 bits as int32 and uint32 as int64: both hold every value, in the same order.

_WIDER = {"int16": "int32", "uint16": "int32", "uint32": "int64"}


def _build_wider_integers(fragment: Fragment, site: Site) -> None:
    element = str(site.inputs[0].element)
    wide = [fragment.cast(name, _WIDER[element]) for name in site.node.input]
    result = fragment.like(site.node, *wide)
    if site.schema is not None and site.schema.family in (Family.MAXIMUM, Family.MINIMUM):
        fragment.cast(result, element)


WIDER_INTEGERS = Rewrite(
    title="on wider integers",
    answers=("EX101", "EX102", "EX106", "EX107"),
    families=frozenset({Family.ARGMAX, Family.ARGMIN, Family.MAXIMUM, Family.MINIMUM}),
    elements=frozenset(_WIDER),
    since=6,
    build=_build_wider_integers,
)


# Indices of uint64 through int64 in the same order: both halves of the range change places.


def _flipped(fragment: Fragment, x: str) -> str:
    """Append what makes uint64 int64 in the same order, and return the name."""
    # A Cast keeps the 64 bits. Flipping the top one adds 2**63 to what is negative now and takes it from the rest.
    # 2**63 is no int64, so the negative get 2**63 - 1 and 1; no sum leaves the range.
    limits = np.iinfo(np.int64)
    bits = fragment.cast(x, "int64")
    upper = fragment.add("Less", bits, fragment.constant(np.array(0, np.int64)))
    most, least = (fragment.constant(np.array(limit, np.int64)) for limit in (limits.max, limits.min))
    shifted = fragment.add("Add", bits, fragment.add("Where", upper, most, least))
    return fragment.add("Add", shifted, fragment.cast(upper, "int64"))


def _build_flipped_integers(fragment: Fragment, site: Site) -> None:
    fragment.like(site.node, _flipped(fragment, site.node.input[0]))


FLIPPED_INTEGERS = Rewrite(
    title="on int64 in the same order",
    answers=("EX101", "EX106", "EX107"),
    families=frozenset({Family.ARGMAX, Family.ARGMIN}),
    elements=frozenset({"uint64"}),
    since=9,
    build=_build_flipped_integers,
)


# Indices of floats through their ranks, so that NaN is the extremum whatever the runtime makes of it.


def _build_ranked_index(fragment: Fragment, site: Site) -> None:
    schema = site.schema
    assert schema is not None
    if len(site.attributes) < len(site.node.attribute):
        raise SpecError(f"{schema} gets its axis from the call of its function", remedy="inline the function first")
    axis = validate.attributes(schema, site.attributes)["axis"]
    assert isinstance(axis, int)
    element = str(site.inputs[0].element)
    x = carried(fragment, site.node.input[0], element)
    # The rank of what the operator looks for is the largest one, whether that is the largest element or the smallest.
    ranked = ranks(fragment, x, [axis], element=element, largest=schema.family is Family.ARGMAX)
    fragment.like(site.node, ranked, operator="ArgMax")


RANKED_INDEX = Rewrite(
    title="on ranks of its elements",
    answers=("EX101", "EX102", "EX106", "EX107"),
    families=frozenset({Family.ARGMAX, Family.ARGMIN}),
    elements=frozenset(CARRIERS),
    since=9,
    build=_build_ranked_index,
)


# The largest or smallest as the element at an index, so that NaN is the extremum and zeros keep their sign.
#
# One axis after another, the last one first: of equal elements this gives the first in row-major order, as one
# reduction over all axes does. Integers go this way too: where the upper halves of int64 are equal, onnxruntime
# 1.21 to 1.31 compares them wrongly in ReduceMax and ReduceMin (EX108), but not in ArgMax.

_CASTS = {"int8": "int32", "uint8": "int32", "uint32": "int64"}


_INTEGERS = (*_CASTS, "int32", "int64", "uint64")


def _build_indexed_element(fragment: Fragment, site: Site) -> None:
    schema, tensor = site.schema, site.inputs[0]
    assert schema is not None
    axes = _axes(schema, site)
    result = site.node.input[0]
    for axis in reversed(axes):
        index = _index(fragment, result, str(tensor.element), axis, largest=schema.family is Family.LARGEST)
        result = fragment.add("GatherElements", result, index, axis=axis)
    if not axes:
        fragment.add("Identity", result)
    elif not validate.attributes(schema, site.attributes, site.inputs)["keepdims"]:
        fragment.reduce("Squeeze", result, axes)


def _index(fragment: Fragment, x: str, element: str, axis: int, *, largest: bool) -> str:
    """Append what finds the extremum along one axis, which stays, and return the name of the index."""
    if element in CARRIERS:
        ranked = ranks(fragment, carried(fragment, x, element), [axis], element=element, largest=largest)
        return fragment.add("ArgMax", ranked, axis=axis)
    if element in _CASTS:
        x = fragment.cast(x, _CASTS[element])
    elif element == "uint64":
        x = _flipped(fragment, x)
    return fragment.add("ArgMax" if largest else "ArgMin", x, axis=axis)


INDEXED_ELEMENT = Rewrite(
    title="as the elements at an index",
    answers=("EX101", "EX102", "EX106", "EX107", "EX108"),
    families=frozenset({Family.LARGEST, Family.SMALLEST}),
    elements=frozenset({*CARRIERS, *_INTEGERS}),
    since=11,
    build=_build_indexed_element,
)


# Hardmax through the ranks of its elements, which are float32: the type that every onnxruntime takes.


def _build_ranked_hardmax(fragment: Fragment, site: Site) -> None:
    schema, tensor = site.schema, site.inputs[0]
    assert schema is not None
    axes = _axes(schema, site)
    element = str(tensor.element)
    x = carried(fragment, site.node.input[0], element)
    ranked = ranks(fragment, x, axes, element=element, largest=True)
    hot = fragment.like(site.node, ranked)
    if element != "float32":
        fragment.cast(hot, element)


RANKED_HARDMAX = Rewrite(
    title="on ranks of its elements",
    answers=("EX101", "EX106"),
    families=frozenset({Family.HARDMAX}),
    elements=frozenset(CARRIERS),
    since=9,
    build=_build_ranked_hardmax,
)


# Hardmax as the places that equal an index, for feature levels of DirectML that have ArgMax and no Hardmax, and for
# runtimes whose Hardmax answers otherwise.


def _build_indexed_hardmax(fragment: Fragment, site: Site) -> None:
    schema, tensor, name = site.schema, site.inputs[0], site.node.input[0]
    assert schema is not None
    axis, *others = _axes(schema, site)
    element, rank = str(tensor.element), tensor.rank
    assert rank is not None
    x = carried(fragment, name, element)
    if others:
        x, axis, rank = fragment.add("Flatten", x, axis=axis), 1, 2
    index = fragment.add("ArgMax", ranks(fragment, x, [axis], element=element, largest=True), axis=axis)
    zero, one, chosen = (fragment.constant(np.array(value, np.int64)) for value in (0, 1, axis))
    count = fragment.add("Gather", fragment.add("Shape", x), chosen)
    trailing = fragment.constant(np.array([-1] + [1] * (rank - 1 - axis), np.int64))
    places = fragment.add("Reshape", fragment.add("Range", zero, count, one), trailing)
    hot = fragment.cast(fragment.add("Equal", index, places), element)
    if others:
        fragment.add("Reshape", hot, fragment.add("Shape", name))


INDEXED_HARDMAX = Rewrite(
    title="as the places of an index",
    answers=("EX102", "EX107"),
    families=frozenset({Family.HARDMAX}),
    elements=frozenset(CARRIERS),
    since=11,
    build=_build_indexed_hardmax,
)


# Max and Min of floats through Max alone, with the sign of a zero made certain.
#
# Runtimes return either of two zeros. So a zero with the sign of each operand is added to the largest: it changes no
# other number, and where the largest is zero, the sum is +0 if any operand is +0. Min is Max of the negated operands,
# negated.


def _build_signed_zeros(fragment: Fragment, site: Site) -> None:
    assert site.schema is not None
    element = str(site.inputs[0].element)
    operands = [carried(fragment, name, element) for name in site.node.input]
    negated = site.schema.family is Family.MINIMUM
    if negated:
        operands = [fragment.add("Neg", name) for name in operands]
    dtype = dtypes.from_name(CARRIERS[element]).dtype
    low, zero, high = (fragment.constant(np.array(value, dtype)) for value in (-1, 0, 1))
    result = fragment.add("Max", *operands)
    for name in operands:
        # Zero times an infinity would be NaN.
        finite = fragment.add("Min", fragment.add("Max", name, low), high)
        result = fragment.add("Add", result, fragment.add("Mul", finite, zero))
    if negated:
        result = fragment.add("Neg", result)
    if CARRIERS[element] != element:
        fragment.cast(result, element)


SIGNED_ZEROS = Rewrite(
    title="on floats that are taken, zeros in order",
    answers=("EX101", "EX102", "EX106"),
    families=frozenset({Family.MAXIMUM, Family.MINIMUM}),
    elements=frozenset(CARRIERS),
    since=8,
    build=_build_signed_zeros,
)


# Max and Min as choices between two operands at a time, for runtimes that compare wrongly in Max and Min alone.


def _build_chosen(fragment: Fragment, site: Site) -> None:
    assert site.schema is not None
    element = str(site.inputs[0].element)
    is_float = element in CARRIERS
    result, *others = (carried(fragment, name, element) if is_float else name for name in site.node.input)
    largest = site.schema.family is Family.MAXIMUM
    for other in others:
        better = fragment.add("Greater" if largest else "Less", other, result)
        if is_float:
            # A NaN in the result stays, as no number is greater. Of zeros, which are equal, the sum has the right sign.
            zero = fragment.constant(np.array(0, dtypes.from_name(CARRIERS[element]).dtype))
            zeros = fragment.add("And", *(fragment.add("Equal", each, zero) for each in (result, other)))
            terms = [each if largest else fragment.add("Neg", each) for each in (result, other)]
            total = fragment.add("Add", *terms)
            joint = fragment.add("Where", zeros, total if largest else fragment.add("Neg", total), result)
            better = fragment.add("Or", better, fragment.add("IsNaN", other))
            result = fragment.add("Where", better, other, joint)
        else:
            result = fragment.add("Where", better, other, result)
    if CARRIERS.get(element, element) != element:
        fragment.cast(result, element)
    elif not others:
        fragment.add("Identity", result)


CHOSEN = Rewrite(
    title="as choices between two",
    answers=("EX107", "EX108"),
    families=frozenset({Family.MAXIMUM, Family.MINIMUM}),
    elements=frozenset({*CARRIERS, "int8", "uint8", "int32", "int64", "uint64"}),
    since=11,
    build=_build_chosen,
)


REWRITES: tuple[Rewrite, ...] = (
    WIDER_INTEGERS,
    FLIPPED_INTEGERS,
    RANKED_INDEX,
    INDEXED_ELEMENT,
    RANKED_HARDMAX,
    INDEXED_HARDMAX,
    SIGNED_ZEROS,
    CHOSEN,
)
"""All rewrites; of those that fit a node the first is taken."""


def find(family: Family, element: str | None, code: str) -> Rewrite | None:
    """Return the rewrite for an operator and an element type that answers a rule, or None if there is none."""
    return next(
        (each for each in REWRITES if family in each.families and element in each.elements and code in each.answers),
        None,
    )
