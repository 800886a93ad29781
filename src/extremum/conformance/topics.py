"""The topics: what the suite asks of every operator, version and element type.

A new topic is a function and a line in ``TOPICS``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from extremum.conformance.question import (
    Ask,
    Placement,
    Question,
    array,
    bits,
    denormal,
    distinct,
    is_arg,
    is_elementwise,
    is_float,
    is_hardmax,
    is_reduction,
    limits,
    looks_for_smallest,
    text,
)
from extremum.spec import AttributeRange, Broadcasting, OperatorVersion

__all__ = ["TOPICS"]


# Ordinary elements, no two equal, along every axis.


def _plain(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the extremum along each axis, and of two operands."""
    if is_elementwise(version):
        x = distinct(rng, dtype, (2, 3, 4))
        yield Question("two", (x, np.array(np.flip(x))), says="the elementwise extremum of all inputs")
        yield Question("one", (x,), says="the elementwise extremum of all inputs, which is the only one")
        return
    says = "the index of the extremum along axis" if is_arg(version) else "1 at the first maximum, 0 elsewhere"
    if is_reduction(version):
        says = "the extremum along axis"
    for axis in range(3):
        yield Question(f"axis_{axis}", (distinct(rng, dtype, (3, 4, 5)),), {"axis": axis}, says)


# Attributes that are left out have the default of their version.


def _defaults(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask without attributes."""
    if is_arg(version):
        yield Question("none", (distinct(rng, dtype, (3, 4)),), says="axis is 0 and keepdims 1")
    if is_reduction(version):
        yield Question("none", (distinct(rng, dtype, (3, 4)),), says="all axes are reduced and keepdims is 1")
    if is_hardmax(version):
        default = version.attributes[0].default
        yield Question("rank_3", (distinct(rng, dtype, (3, 4, 5)),), says=f"axis is {default}")
        yield Question("rank_2", (distinct(rng, dtype, (3, 4)),), says=f"axis is {default}")


# Rows and columns of many lengths, the extremum at every place: where blocks and vectors end.

_SQUARES = (2, 17, 33)


_LONG = 1000


def _lengths(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for squares with the extremum on the diagonal, and for a long row with it near the end."""
    peak = 1 if looks_for_smallest(version) else 3
    if is_elementwise(version):
        for length in (*_SQUARES, _LONG):
            x = array(dtype, np.full(length, 2))
            y = x.copy()
            y[-1] = array(dtype, peak)
            yield Question(f"length_{length}", (x, y), says="the elementwise extremum of all inputs")
        return
    says = "1 at the first maximum, 0 elsewhere" if is_hardmax(version) else "the index of the extremum"
    if is_reduction(version):
        says = "the extremum along the axis"
    for length in _SQUARES:
        square = np.full((length, length), 2)
        np.fill_diagonal(square, peak)
        for axis in (0, 1):
            if axis == 0 and version.coerced:
                continue
            yield Question(f"square_{length}_axis_{axis}", (array(dtype, square),), {"axis": axis}, says)
    row = np.full((1, _LONG), 2)
    row[0, _LONG - 2] = peak
    yield Question(f"row_{_LONG}", (array(dtype, row),), {"axis": 1}, says)
    yield Question(f"column_{_LONG}", (array(dtype, np.tile(row.T, (1, 3))),), {"axis": 0}, says)


# Tensors of rank 0 to 8.

_LARGEST = 8


# Where elements lie depends on how wide they are, not on what they mean.
_ELEMENTS_RANK = ("int8", "float16", "float32", "int64", "float64")


def _rank(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask at every rank, along an axis in the middle."""
    if dtype.name not in _ELEMENTS_RANK:
        return
    for rank in range(_LARGEST + 1):
        shape = (2, 3, 1, 2, 2, 1, 2, 2)[:rank]
        if is_elementwise(version):
            x = distinct(rng, dtype, shape)
            yield Question(str(rank), (x, np.array(np.flip(x))), says="the elementwise extremum of all inputs")
        elif rank:
            yield Question(str(rank), (distinct(rng, dtype, shape),), {"axis": rank // 2}, "the place of the extremum")


# Axes that are counted from the last one.


def _negative_axis(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for every negative axis of a tensor of rank 3."""
    if is_elementwise(version):
        return
    leaves_open = "" if version.since >= 11 else "what a negative axis means"
    for axis in (-1, -2, -3):
        x = distinct(rng, dtype, (3, 4, 5))
        yield Question(text(axis), (x,), {"axis": axis}, "the axis lies in [-r, r-1]", leaves_open)


# Several axes, all of them, and none.

# Which axes are meant has nothing to do with the elements.
_ELEMENTS_AXES = ("float32", "int64")


def _axes(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with lists of axes, in sequence and not, and with what a version says of an empty one."""
    if not is_reduction(version) or dtype.name not in _ELEMENTS_AXES:
        return
    says = "reduced along the axes that are listed"
    lists = {"first_two": (0, 1), "outer": (0, 2), "not_in_sequence": (2, 0), "all": (0, 1, 2)}
    for title, axes in lists.items():
        for keepdims in (0, 1):
            x = distinct(rng, dtype, (3, 2, 4))
            yield Question(f"{title}_keepdims_{keepdims}", (x,), {"axes": axes, "keepdims": keepdims}, says)
    leaves_open = "" if version.since >= 11 else "what a negative axis means"
    yield Question("negative", (distinct(rng, dtype, (3, 2, 4)),), {"axes": (-1, 0)}, says, leaves_open)
    scalar = distinct(rng, dtype, ())
    leaves_open = "what becomes of a tensor of rank 0" if version.since == 12 else ""
    yield Question("rank_0", (scalar,), says="tensors of rank zero are valid", leaves_open=leaves_open)
    if version.attribute("noop_with_empty_axes") is not None:
        x = distinct(rng, dtype, (3, 4))
        for noop, says in ((0, "no axis means all of them"), (1, "no axis means none")):
            yield Question(f"left_out_{noop}", (x,), {"noop_with_empty_axes": noop}, says)
            yield Question(f"empty_{noop}", (x,), {"axes": (), "noop_with_empty_axes": noop}, says)


# Reduced dimensions that stay with size 1, or go.


def _keepdims(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with each value of keepdims, down to a result of rank 0."""
    if version.attribute("keepdims") is None:
        return
    for keepdims in (0, 1):
        says = "the reduced dimension stays with size 1" if keepdims else "the reduced dimension goes"
        for shape in ((3, 4), (5,)):
            x = distinct(rng, dtype, shape)
            yield Question(f"{keepdims}_rank_{x.ndim}", (x,), {"axis": 0, "keepdims": keepdims}, says)


# Equal elements.


def _ties(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the place of an extremum that occurs more than once."""
    if is_elementwise(version):
        return
    says, leaves_open = "the first of equal elements", ""
    if is_reduction(version):
        says = "the extremum along the axis"
    elif not is_hardmax(version) and version.attribute("select_last_index") is None:
        says, leaves_open = "the index of the extremum", "which index, where elements are equal"
    peak = 1 if looks_for_smallest(version) else 7
    rows = array(dtype, [[2, peak, peak, 2], [peak, 2, 2, peak], [5, 5, 5, 5]])
    long = np.full((2, 70), 4)
    long[0, [40, 69]] = peak
    for title, x, axis in (
        ("rows", rows, 1),
        ("columns", rows.T.copy(), 0),
        ("long_rows", array(dtype, long), 1),
        ("rank_1", rows[0], 0),
    ):
        if version.coerced and title == "columns":
            continue
        yield Question(title, (x,), {"axis": axis}, says, leaves_open)


# The last of equal elements, on request.


def _last_index(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with each value of select_last_index, where the version has it."""
    if version.attribute("select_last_index") is None:
        return
    peak = 1 if looks_for_smallest(version) else 7
    rows = array(dtype, [[2, peak, peak, 2], [peak, 2, 2, peak], [5, 5, 5, 5]])
    for last in (0, 1):
        says = f"the {'last' if last else 'first'} of equal elements"
        for title, x, axis in (("rows", rows, 1), ("columns", rows.T.copy(), 0), ("rank_1", rows[0], 0)):
            yield Question(f"{last}_{title}", (x,), {"axis": axis, "select_last_index": last}, says)
    if is_float(dtype):
        x = array(dtype, [[2, np.nan, 7, np.nan, 4]])
        yield Question(
            "nan", (x,), {"axis": 1, "select_last_index": 1}, "the last of equal elements", "what NaN compares to"
        )


# Hardmax before version 13: the input is seen as a matrix, split at the axis.


def _coercion(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask at ranks above 2, where one 1 for each row of the matrix is fewer than one along an axis."""
    if not version.coerced:
        return
    says = "coerced to a matrix at axis, one 1 for each of its rows"
    for axis in (0, 1, 2):
        yield Question(f"rank_3_axis_{axis}", (distinct(rng, dtype, (2, 3, 4)),), {"axis": axis}, says)
    for axis in (0, 1, 2, 3):
        yield Question(f"rank_4_axis_{axis}", (distinct(rng, dtype, (2, 3, 2, 3)),), {"axis": axis}, says)
    ties = array(dtype, [[[1, 2], [2, 0]], [[0, 0], [0, 0]]])
    yield Question("ties", (ties,), {"axis": 1}, f"{says}; the first of equals")
    if version.since >= 11:
        x = distinct(rng, dtype, (2, 3, 4))
        yield Question(f"rank_3_axis_{text(-2)}", (x,), {"axis": -2}, says)


# Operands of different shapes, from version 8 on.

_SHAPES = {
    "row": ((3, 4), (4,)),
    "column": ((3, 4), (3, 1)),
    "scalar": ((3, 4), ()),
    "both": ((3, 1), (1, 4)),
    "first_is_smaller": ((4,), (2, 3, 4)),
    "three": ((2, 1, 4), (3, 1), (4,)),
    "size_1_and_none": ((1, 3), (3,)),
}


def _broadcasting(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for rows, columns and scalars beside a tensor, in both orders."""
    if not is_elementwise(version) or version.broadcasting is Broadcasting.NONE:
        return
    for title, shapes in _SHAPES.items():
        operands = tuple(distinct(rng, dtype, shape) for shape in shapes)
        yield Question(title, operands, says="multidirectional broadcasting")


# Many operands.


def _operands(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with three to seventeen operands, one or several of them the same tensor."""
    if not is_elementwise(version):
        return
    for count in (3, 8, 17):
        operands = tuple(distinct(rng, dtype, (2, 5)) for _ in range(count))
        yield Question(str(count), operands, says="1 to 2147483647 inputs")


# The same node with symbolic dimensions, in a subgraph and in a model-local function.


def _placement(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask on float32 alone: where a node stands has nothing to do with its element type."""
    if dtype.name != "float32":
        return
    x = distinct(rng, dtype, (3, 4))
    question = Question("", (x,), {"axis": 1}, "a node means the same wherever it stands")
    if is_elementwise(version):
        question = replace(question, inputs=(x, np.array(np.flip(x))), attributes={})
    if version.attribute("keepdims") is not None:
        question = replace(question, attributes={"axis": 1, "keepdims": 0})
    for title, placement in (
        ("symbolic", Placement.SYMBOLIC),
        ("subgraph", Placement.SUBGRAPH),
        ("function", Placement.FUNCTION),
    ):
        yield replace(question, title=title, placement=placement)


# Infinities are larger and smaller than every number.


def _infinities(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for rows with one infinity, with both, and with nothing else."""
    if not is_float(dtype):
        return
    lowest, highest = (float(limit) for limit in limits(dtype))
    rows = {
        "both": [lowest, np.inf, highest, -np.inf],
        # One who starts from the largest finite number, or is content with it, does not find it.
        "lowest": [-np.inf, lowest],
        "highest": [np.inf, highest],
    }
    for title, elements in rows.items():
        row = array(dtype, elements)
        if is_elementwise(version):
            yield Question(title, (row, row[::-1].copy()), says="the elementwise extremum of all inputs")
        else:
            yield Question(title, (row[None],), {"axis": 1}, says="the place of the extremum")
    if is_elementwise(version):
        return
    for title, value in (("all_minus", -np.inf), ("all_plus", np.inf)):
        first = (
            is_reduction(version)
            or version.attribute("select_last_index") is not None
            or version.coerced
            or version.since >= 13
        )
        leaves_open = "" if first else "which index, where elements are equal"
        yield Question(title, (array(dtype, [[value] * 4]),), {"axis": 1}, "the first of equals", leaves_open)


# The largest and the smallest number of each type, and neighbours that wider arithmetic would confuse.


def _limits(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for rows of the type's own limits and their neighbours."""
    low, high = limits(dtype)
    for title, elements in _rows(dtype, low, high):
        row = np.array(elements, dtype)
        if is_elementwise(version):
            yield Question(title, (row, row[::-1].copy()), says="the elementwise extremum of all inputs")
        else:
            yield Question(title, (row[None],), {"axis": 1}, "the place of the extremum")


def _rows(dtype: np.dtype[Any], low: Any, high: Any) -> Iterator[tuple[str, list[Any]]]:
    if is_float(dtype):
        ones = {"float16": 0x3C00, "bfloat16": 0x3F80, "float32": 0x3F800000, "float64": 0x3FF0000000000000}
        one = ones[dtype.name]
        yield "finite", [0, low, high, 1]
        # One unit in the last place apart.
        yield "neighbours", list(bits(dtype, one + 1, one, one + 2, one - 1))
        return
    yield "range", [1, low, high, 0]
    if dtype.kind == "b":
        return
    yield "neighbours", [high - 2, high - 1, high, low, low + 1, low + 2]
    if dtype.itemsize == 8:
        # Doubles cannot tell these apart, nor can 32 bits.
        yield "beyond_double", [2**53 + 1, 2**53, 2**53 + 2, 2**40, 2**40 + 1, 2**32]
        yield "beyond_32_bits", [0, 1, 2**53, 2**32 + 1, 5]
        # The upper halves are equal, and the lower ones compare as unsigned; whoever takes two or four at a time meets
        # both halves of that range in each place.
        yield "lower_32_bits", [2**31 - 1, 2**32 - 1, 2**31, 0, 2**31 + 1, 1, 2, 2**31 + 2]
    if dtype.kind == "u":
        yield "sign_bit", [1, high // 2, high // 2 + 1, high // 2 - 1]


# Numbers below the smallest normal one: they are not zero.


def _denormals(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for the extremum of zero and the numbers nearest to it."""
    if not is_float(dtype):
        return
    tiny = denormal(dtype)
    row = np.array([0, -tiny, tiny, tiny + tiny], dtype)
    if is_elementwise(version):
        zeros = np.zeros(3, dtype)
        yield Question("beside_zero", (row[1:], zeros), says="the elementwise extremum of all inputs")
    else:
        yield Question("beside_zero", (row[None],), {"axis": 1}, "the place of the extremum")


# NaN: first, in the middle, last, everywhere, with different payloads.

_QUIET = {
    "float16": (0x7E00, 0xFE01),
    "bfloat16": (0x7FC0, 0xFFC1),
    "float32": (0x7FC00000, 0xFFC00001),
    "float64": (0x7FF8000000000000, 0xFFF8000000000001),
}


_ROWS = {
    "first": [np.nan, 7, 2, 5, 1],
    "middle": [2, 7, np.nan, 5, 1],
    "last": [2, 7, 1, 5, np.nan],
    "all": [np.nan] * 5,
    "with_infinities": [np.inf, 2, np.nan, -np.inf, np.inf],
}


def _nan(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask at rank 1 and 2, along the rows and along the columns."""
    if not is_float(dtype):
        return
    leaves_open = "what NaN compares to"
    numbers = array(dtype, [1, 2, 3, 4, 5])
    payloads = numbers.copy()
    payloads[[1, 3]] = bits(dtype, *_QUIET[dtype.name])
    rows = {title: array(dtype, row) for title, row in _ROWS.items()} | {"payload": payloads}
    for title, row in rows.items():
        if is_elementwise(version):
            yield Question(title, (row, numbers), leaves_open=leaves_open)
            yield Question(f"{title}_second", (numbers, row), leaves_open=leaves_open)
            continue
        for place, x, axis in (("row", row[None], 1), ("column", row[:, None], 0), ("rank_1", row, 0)):
            if version.coerced and axis == 0 and x.ndim == 2:
                continue
            yield Question(f"{title}_{place}", (x,), {"axis": axis}, leaves_open=leaves_open)


# The two zeros.


def _zeros(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask which zero is the extremum, in both orders."""
    if not is_float(dtype):
        return
    if is_elementwise(version):
        plus, minus = array(dtype, np.zeros(3)), array(dtype, -np.zeros(3))
        leaves_open = "which of the two zeros is the larger one"
        yield Question("minus_plus", (minus, plus), leaves_open=leaves_open)
        yield Question("plus_minus", (plus, minus), leaves_open=leaves_open)
        return
    other = 1.0 if looks_for_smallest(version) else -1.0
    leaves_open = "whether the two zeros are equal"
    for title, row in (("minus_plus", [other, -0.0, 0.0]), ("plus_minus", [other, 0.0, -0.0])):
        yield Question(title, (array(dtype, [row]),), {"axis": 1}, leaves_open=leaves_open)


# Tensors without elements whose answer is empty too.


def _empty(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask for results of which only the shape can be wrong."""
    leaves_open = "what becomes of a tensor without elements"
    none = np.zeros((0, 3), dtype)
    if is_elementwise(version):
        yield Question("two", (none, none), leaves_open=leaves_open)
        if version.since >= 8:
            row = np.zeros((1, 3), dtype)
            yield Question("broadcast", (none, row), leaves_open=leaves_open)
        return
    says = "the input must not be empty" if is_arg(version) and version.since == 11 else ""
    for keepdims in (None,) if version.attribute("keepdims") is None else (0, 1):
        attributes = {"axis": 1} if keepdims is None else {"axis": 1, "keepdims": keepdims}
        title = "rows" if keepdims is None else f"keepdims_{keepdims}"
        yield Question(title, (none,), attributes, says, leaves_open)
    if version.identity:
        says = "the largest of no element is minus infinity or the least of the type, the smallest the other end"
        yield Question("columns", (np.zeros((3, 0), dtype),), {"axis": 1}, says)
        yield Question("all", (np.zeros((0, 3), dtype),), says=says)
    elif is_hardmax(version):
        yield Question("columns", (np.zeros((3, 0), dtype),), {"axis": 1}, leaves_open=leaves_open)


# What a version does not allow: there is no answer, and a runtime says so.


def _refusals(version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> Iterator[Question]:
    """Ask with an element type that the version does not take, and on float32 with everything else."""
    if dtype.name not in version.types:
        x = array(dtype, [[1, 0], [0, 1]])
        inputs = (x, x) if is_elementwise(version) else (x,)
        yield Question("element_type", inputs, says="the type constraint does not list it", refused=True)
    elif dtype.name == "float32":
        yield from _of_operands(version) if is_elementwise(version) else _of_axes(version)


def _of_operands(version: OperatorVersion) -> Iterator[Question]:
    x = np.zeros((2, 3), np.float32)
    says = "all inputs have one element type"
    yield Question("mixed_types", (x, x.astype(np.float64)), says=says, refused=True)
    if version.broadcasting is Broadcasting.NONE:
        says = "all inputs have the same shape"
        yield Question("row", (x, x[0]), says=says, refused=True)
        yield Question("size_1", (x, x[:, :1].copy()), says=says, refused=True)
    else:
        says = "multidirectional broadcasting"
    yield Question("shapes", (x, np.zeros((2, 4), np.float32)), says=says, refused=True)
    yield Question("unknown_attribute", (x, x), {"axis": 0}, "it has no such attribute", refused=True)


def _of_axes(version: OperatorVersion) -> Iterator[Question]:
    x = np.zeros((2, 3), np.float32)
    stated = version.attributes[0].range is not AttributeRange.AXIS_UNSTATED
    for axis in (2, -3, 2**40):
        leaves_open = "" if stated else "which values an axis may have"
        title = f"axis_{text(axis)}"
        yield Question(title, (x,), {"axis": axis}, "the axis lies in [-r, r-1]", leaves_open, refused=True)
    scalar = np.zeros((), np.float32)
    leaves_open = "" if stated else "which values an axis may have"
    yield Question("rank_0", (scalar,), {"axis": 0}, "the axis lies in [-r, r-1]", leaves_open, refused=True)
    if version.coerced:
        says = "the default axis is 1, and the axis lies in [-r, r-1]"
        yield Question("rank_1_default_axis", (x[0],), {}, says, leaves_open, refused=True)
    if is_hardmax(version):
        yield Question("unknown_attribute", (x,), {"axis": 1, "keepdims": 0}, "it has no such attribute", refused=True)
        return
    if version.attribute("select_last_index") is None:
        attributes = {"axis": 1, "select_last_index": 1}
        says = "it came with version 12" if is_arg(version) else "it has no such attribute"
        yield Question("select_last_index", (x,), attributes, says, refused=True)
    else:
        leaves_open = "what values other than 0 and 1 mean"
        attributes = {"axis": 1, "select_last_index": 2}
        yield Question("select_last_index_2", (x,), attributes, leaves_open=leaves_open, refused=True)
    leaves_open = "what values other than 0 and 1 mean"
    yield Question("keepdims_2", (x,), {"axis": 1, "keepdims": 2}, leaves_open=leaves_open, refused=True)
    if version.identity:
        return
    none = np.zeros((2, 0), np.float32)
    leaves_open = "" if version.since == 11 else "what the extremum of no element is"
    says = "the input must not be empty" if version.since == 11 else ""
    yield Question("nothing_to_reduce", (none,), {"axis": 1}, says, leaves_open, refused=True)


TOPICS: Mapping[str, Ask] = MappingProxyType(
    {
        "plain": _plain,
        "defaults": _defaults,
        "lengths": _lengths,
        "rank": _rank,
        "negative_axis": _negative_axis,
        "axes": _axes,
        "keepdims": _keepdims,
        "ties": _ties,
        "last_index": _last_index,
        "coercion": _coercion,
        "broadcasting": _broadcasting,
        "operands": _operands,
        "placement": _placement,
        "infinities": _infinities,
        "limits": _limits,
        "denormals": _denormals,
        "nan": _nan,
        "zeros": _zeros,
        "empty": _empty,
        "refusals": _refusals,
    }
)
"""What each topic asks, by its name."""
