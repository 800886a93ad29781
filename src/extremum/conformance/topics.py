"""The topics: what the suite asks of every operator, version and element type.

A new topic is a function with the decorator ``@_topic`` and the name of the topic. A topic draws its elements in order
from one seed, so a new question must come last.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from extremum.runtimes.comparison import NodeQuestion
from extremum.runtimes.runtime import Array
from extremum.spec import AttributeRange, Family, OperatorVersion

_KINDS = ("arg", "arg", "hardmax", "elementwise", "elementwise", "reduction", "reduction", "top")
_OF_FAMILY = dict(zip(Family, _KINDS, strict=True))
# What the documents of a kind say.
_SAYS = {
    "arg": "the index of the extremum along axis",
    "hardmax": "1 at the first maximum, 0 elsewhere",
    "elementwise": "the elementwise extremum of all inputs",
    "reduction": "the extremum along axis",
    "top": "the k largest along axis and their indices, the largest first",
}
_PLACE = "the place of the extremum"
_FIRST = "of equivalent values the one with the lower index comes first"
_AXIS_RANGE = "the axis lies in [-r, r-1]"
_MATRIX = "coerced to a matrix at axis, one 1 for each of its rows"
_BROADCASTING = "multidirectional broadcasting"
_NO_ATTRIBUTE = "it has no such attribute"
# What the documents leave open.
_WHICH_INDEX = "which index, where elements are equal"
_OF_NAN = "what NaN compares to"
_OF_FLAGS = "what values other than 0 and 1 mean"


class Placement(enum.Enum):
    """Where the node stands in its model, and how the shapes of the model's inputs are declared."""

    GRAPH = "graph"
    SYMBOLIC = "graph with symbolic dimensions"
    SUBGRAPH = "subgraph of If"
    FUNCTION = "model-local function"


@dataclass(frozen=True, slots=True)
class Question(NodeQuestion):
    """One node with its inputs, before it has a model and an expected answer.

    The attributes are those of the node, or inputs where its version takes them as inputs.
    """

    title: str  # a few words with underscores, unique within the topic, version and element type
    says: str = ""  # what the specification says, in a few words
    # What it leaves open, so that runtimes may rightly differ; empty where it says everything.
    leaves_open: str = ""
    refused: bool = False  # whether the node breaks a rule of its version, so that there is no answer
    placement: Placement = Placement.GRAPH


class Subject:
    """What a topic asks about: one version on one element type, with a generator of random elements."""

    def __init__(self, version: OperatorVersion, dtype: np.dtype[Any], rng: np.random.Generator) -> None:
        self.version = version
        self.dtype = dtype
        self.rng = rng
        self.kind = _OF_FAMILY[version.family]
        self.says = _SAYS[self.kind]
        self.elementwise = self.kind == "elementwise"
        self.smallest = version.family in (Family.ARGMIN, Family.MINIMUM, Family.SMALLEST)
        # Whether the type has NaN, infinities and two zeros.
        self.floating = dtype.name in ("float16", "bfloat16", "float32", "float64")
        self.unsigned = np.dtype(f"u{dtype.itemsize}")

    def has(self, attribute: str) -> bool:
        """Return whether the version has an attribute."""
        return self.version.attribute(attribute) is not None

    @property
    def open_axis(self) -> str:
        """What the document of a version leaves open about axes: before opset 11, whether one may be negative."""
        if self.version.since >= 11:
            return ""
        return "what a negative axis means"

    def peak(self, high: int) -> int:
        """Return the extremum of a tensor of the numbers around 2: 1, or a high number where the largest is wanted."""
        if self.smallest:
            return 1
        return high

    def array(self, values: object) -> Array:
        """Return small exact numbers in the element type."""
        return np.asarray(values, np.float64 if self.floating else None).astype(self.dtype)

    @property
    def limits(self) -> tuple[Any, Any]:
        """The smallest and the largest finite number of the element type."""
        if self.dtype.kind == "b":
            return False, True
        info = ml_dtypes.finfo(self.dtype) if self.floating else np.iinfo(self.dtype)  # type: ignore[no-untyped-call]
        return info.min, info.max

    def distinct(self, *shape: int) -> Array:
        """Return up to 250 elements in random order, all different except truth values, exact in every type."""
        count = int(np.prod(shape))
        low = 0 if self.dtype.kind in "ub" else -(count // 2)
        return self.array(self.rng.permutation(np.arange(low, low + count))).reshape(shape)

    def bits(self, *patterns: int) -> Array:
        """Return the elements with these bit patterns."""
        return np.array(patterns, self.unsigned).view(self.dtype)

    def ask(
        self, title: str, *inputs: Array, says: str = "", leaves_open: str = "", **attributes: object
    ) -> Question:
        """Return a question; one axis becomes a list where a version takes ``axes``, and k is TopK's whole axis."""
        if self.has("axes") and "axis" in attributes:
            attributes = {"axes": (attributes.pop("axis"),), **attributes}
        if self.kind == "top":
            axis = attributes.get("axis", -1)
            shape = inputs[0].shape
            assert isinstance(axis, int)
            attributes.setdefault("k", shape[axis] if -len(shape) <= axis < len(shape) else 1)
        return Question(self.version, attributes, inputs, title, says, leaves_open)

    def pair(self, title: str, *shape: int) -> Question:
        """Return the question for the extremum of two operands."""
        x = self.distinct(*shape)
        return self.ask(title, x, np.array(np.flip(x)), says=self.says)

    def row(self, title: str, row: Array) -> Question:
        """Return the question for the extremum of a row, elementwise with the row in reverse."""
        if self.elementwise:
            return self.ask(title, row, row[::-1].copy(), says=self.says)
        return self.ask(title, row[None], axis=1, says=_PLACE)


Topic = Callable[[Subject], Iterator[Question]]

TOPICS: dict[str, Topic] = {}
"""The questions of each topic about a version on an element type, by the topic's name."""


def _topic(applies: Callable[[Subject], bool] = lambda subject: True) -> Callable[[Topic], Topic]:
    """Add a topic; it has no questions about subjects to which it does not apply."""

    def add(topic: Topic) -> Topic:
        TOPICS[topic.__name__.strip("_")] = lambda subject: topic(subject) if applies(subject) else iter(())
        return topic

    return add


@_topic()
def _plain(s: Subject) -> Iterator[Question]:
    """Ask for the extremum along each axis, and of two operands: ordinary elements, no two equal."""
    if s.elementwise:
        two = s.pair("two", 2, 3, 4)
        yield from (two, s.ask("one", two.inputs[0], says=f"{s.says}, which is the only one"))
    else:
        yield from (s.ask(f"axis_{axis}", s.distinct(3, 4, 5), axis=axis, says=s.says) for axis in range(3))


@_topic(lambda s: not s.elementwise)
def _defaults(s: Subject) -> Iterator[Question]:
    if s.kind == "hardmax":
        for shape in ((3, 4, 5), (3, 4)):
            yield s.ask(
                f"rank_{len(shape)}", s.distinct(*shape), says=f"axis is {s.version.attributes[0].default}"
            )
    elif s.kind == "top":
        yield s.ask("none", s.distinct(3, 4), k=2, says=f"axis is -1; {s.says}")
    else:
        if s.kind == "arg":
            says = "axis is 0 and keepdims 1"
        else:
            says = "all axes are reduced and keepdims is 1"
        yield s.ask("none", s.distinct(3, 4), says=says)


@_topic()
def _lengths(s: Subject) -> Iterator[Question]:
    """Put the extremum on the diagonal of a square and near the end of a long row: where blocks and vectors end."""
    peak = s.peak(3)
    squares = (2, 17, 33)
    long = 1000
    if s.elementwise:
        for length in (*squares, long):
            yield s.ask(
                f"length_{length}", s.array([2] * length), s.array([2] * (length - 1) + [peak]), says=s.says
            )
        return
    axes = (1,) if s.version.coerced else (0, 1)
    for length in squares:
        square = np.full((length, length), 2)
        np.fill_diagonal(square, peak)
        for axis in axes:
            yield s.ask(f"square_{length}_axis_{axis}", s.array(square), axis=axis, says=s.says)
    row = np.array([[2] * (long - 2) + [peak, 2]])
    yield s.ask(f"row_{long}", s.array(row), axis=1, says=s.says)
    yield s.ask(f"column_{long}", s.array(np.tile(row.T, (1, 3))), axis=0, says=s.says)


# The layout of a tensor depends on how wide its elements are, not on what they mean.
@_topic(lambda s: s.dtype.name in ("int8", "float16", "float32", "int64", "float64"))
def _rank(s: Subject) -> Iterator[Question]:
    for rank in range(9):
        shape = (2, 3, 1, 2, 2, 1, 2, 2)[:rank]
        if s.elementwise:
            yield s.pair(str(rank), *shape)
        elif rank:
            yield s.ask(str(rank), s.distinct(*shape), axis=rank // 2, says=_PLACE)


@_topic(lambda s: not s.elementwise)
def _negative_axis(s: Subject) -> Iterator[Question]:
    for axis in (-1, -2, -3):
        title = f"minus_{-axis}"
        yield s.ask(title, s.distinct(3, 4, 5), axis=axis, says=_AXIS_RANGE, leaves_open=s.open_axis)


# Axes mean the same for all element types.
@_topic(lambda s: s.kind == "reduction" and s.dtype.name in ("float32", "int64"))
def _axes(s: Subject) -> Iterator[Question]:
    says = "reduced along the axes that are listed"
    several = {"first_two": (0, 1), "outer": (0, 2), "not_in_sequence": (2, 0), "all": (0, 1, 2)}
    for title, axes in several.items():
        for keepdims in (0, 1):
            yield s.ask(
                f"{title}_keepdims_{keepdims}", s.distinct(3, 2, 4), axes=axes, keepdims=keepdims, says=says
            )
    yield s.ask("negative", s.distinct(3, 2, 4), axes=(-1, 0), says=says, leaves_open=s.open_axis)
    leaves_open = "what becomes of a tensor of rank 0" if s.version.since == 12 else ""
    yield s.ask("rank_0", s.distinct(), says="tensors of rank zero are valid", leaves_open=leaves_open)
    if s.has("noop_with_empty_axes"):
        x = s.distinct(3, 4)
        for noop, says in ((0, "no axis means all of them"), (1, "no axis means none")):
            yield s.ask(f"left_out_{noop}", x, noop_with_empty_axes=noop, says=says)
            yield s.ask(f"empty_{noop}", x, axes=(), noop_with_empty_axes=noop, says=says)


@_topic(lambda s: s.has("keepdims"))
def _keepdims(s: Subject) -> Iterator[Question]:
    promises = ("the reduced dimension goes", "the reduced dimension stays with size 1")
    for keepdims, says in enumerate(promises):
        for shape in ((3, 4), (5,)):
            yield s.ask(
                f"{keepdims}_rank_{len(shape)}", s.distinct(*shape), axis=0, keepdims=keepdims, says=says
            )


def _tie_tensors(s: Subject, peak: int) -> list[tuple[str, Array, int]]:
    """Return titles, tensors and axes along which an extremum occurs more than once."""
    rows = s.array([[2, peak, peak, 2], [peak, 2, 2, peak], [5, 5, 5, 5]])
    return [("rows", rows, 1), ("columns", rows.T.copy(), 0), ("rank_1", rows[0], 0)]


@_topic(lambda s: not s.elementwise)
def _ties(s: Subject) -> Iterator[Question]:
    leaves_open = _WHICH_INDEX if s.kind == "arg" and not s.has("select_last_index") else ""
    says = {"top": _FIRST, "reduction": s.says}.get(
        s.kind, s.says if leaves_open else "the first of equal elements"
    )
    peak = s.peak(7)
    rows, columns, rank_1 = _tie_tensors(s, peak)
    long = np.full((2, 70), 4)
    long[0, [40, 69]] = peak
    for title, x, axis in (rows, columns, ("long_rows", s.array(long), 1), rank_1):
        if not (s.version.coerced and title == "columns"):
            yield s.ask(title, x, axis=axis, says=says, leaves_open=leaves_open)


@_topic(lambda s: s.has("select_last_index"))
def _last_index(s: Subject) -> Iterator[Question]:
    for last, which in enumerate(("first", "last")):
        for title, x, axis in _tie_tensors(s, s.peak(7)):
            yield s.ask(
                f"{last}_{title}", x, axis=axis, select_last_index=last, says=f"the {which} of equal elements"
            )
    if s.floating:
        x = s.array([[2, np.nan, 7, np.nan, 4]])
        says = "the last of equal elements"
        yield s.ask("nan", x, axis=1, select_last_index=1, says=says, leaves_open=_OF_NAN)


@_topic(lambda s: s.kind == "top")
def _count(s: Subject) -> Iterator[Question]:
    for axis, size in enumerate((3, 4, 5)):
        yield from (
            s.ask(f"{k}_axis_{axis}", s.distinct(3, 4, 5), axis=axis, k=k, says=s.says) for k in (1, 2, size)
        )
    yield s.ask("0", s.distinct(3, 4), k=0, leaves_open="whether k may be 0")
    if s.dtype.name in ("float16", "float32", "int64"):
        row = s.array(s.rng.integers(0, 100, (1, 3000)))
        yield from (s.ask(f"{k}_of_3000", row, k=k, says=_FIRST) for k in (1, 100, 2999))


@_topic(lambda s: s.has("largest"))
def _smallest(s: Subject) -> Iterator[Question]:
    says = "the k smallest, the smallest first, equivalent ones by index"
    for axis in (0, 1):
        yield s.ask(f"axis_{axis}", s.distinct(4, 5), axis=axis, k=3, largest=0, says=says)
    for title, x, axis in _tie_tensors(s, 1):
        yield s.ask(f"tied_{title}", x, axis=axis, k=2, largest=0, says=says)
    yield s.ask("limits", np.array([[*s.limits, *s.limits]], s.dtype), largest=0, says=says)
    if s.floating:
        for k in (1, 3):
            row = s.array([[np.nan, 2, np.inf, np.nan, -np.inf]])
            yield s.ask(f"{k}_nan", row, k=k, largest=0, leaves_open=_OF_NAN)


@_topic(lambda s: s.has("sorted"))
def _unsorted(s: Subject) -> Iterator[Question]:
    """Ask for elements in any order: the document still decides which elements and indices."""
    says = "the k largest or smallest in any sequence"
    for largest in (0, 1):
        yield s.ask(f"{largest}_distinct", s.distinct(3, 9), k=4, largest=largest, sorted=0, says=says)
        for title, x, axis in _tie_tensors(s, 1 if largest == 0 else 7):
            yield s.ask(f"{largest}_tied_{title}", x, axis=axis, k=2, largest=largest, sorted=0, says=says)


@_topic(lambda s: s.version.coerced)
def _coercion(s: Subject) -> Iterator[Question]:
    """Ask at ranks above 2, where Hardmax before 13 sees a matrix, split at the axis."""
    for shape in ((2, 3, 4), (2, 3, 2, 3)):
        for axis, _ in enumerate(shape):
            yield s.ask(f"rank_{len(shape)}_axis_{axis}", s.distinct(*shape), axis=axis, says=_MATRIX)
    ties = s.array([[[1, 2], [2, 0]], [[0, 0], [0, 0]]])
    yield s.ask("ties", ties, axis=1, says=f"{_MATRIX}; the first of equals")
    if s.version.since >= 11:
        yield s.ask("rank_3_axis_minus_2", s.distinct(2, 3, 4), axis=-2, says=_MATRIX)


@_topic(lambda s: s.elementwise and s.version.broadcasts)
def _broadcasting(s: Subject) -> Iterator[Question]:
    shapes: dict[str, tuple[tuple[int, ...], ...]] = {"row": ((3, 4), (4,)), "column": ((3, 4), (3, 1))}
    shapes |= {"scalar": ((3, 4), ()), "both": ((3, 1), (1, 4)), "first_is_smaller": ((4,), (2, 3, 4))}
    shapes |= {"three": ((2, 1, 4), (3, 1), (4,)), "size_1_and_none": ((1, 3), (3,))}
    for title, operands in shapes.items():
        yield s.ask(title, *(s.distinct(*shape) for shape in operands), says=_BROADCASTING)


@_topic(lambda s: s.elementwise)
def _operands(s: Subject) -> Iterator[Question]:
    for count in (3, 8, 17):
        yield s.ask(str(count), *(s.distinct(2, 5) for _ in range(count)), says="1 to 2147483647 inputs")


# The place of a node has nothing to do with its element type.
@_topic(lambda s: s.dtype.name == "float32")
def _placement(s: Subject) -> Iterator[Question]:
    inputs = s.pair("two", 3, 4).inputs if s.elementwise else [s.distinct(3, 4)]
    attributes: dict[str, Any] = {}
    if not s.elementwise:
        attributes["axis"] = 1
    if s.has("keepdims"):
        attributes["keepdims"] = 0
    for placement in (Placement.SYMBOLIC, Placement.SUBGRAPH, Placement.FUNCTION):
        says = "a node means the same wherever it stands"
        yield replace(s.ask(placement.name.lower(), *inputs, says=says, **attributes), placement=placement)


@_topic(lambda s: s.floating)
def _infinities(s: Subject) -> Iterator[Question]:
    """Give one infinity, both, and only infinities: they are larger or smaller than every number."""
    lowest, highest = map(float, s.limits)
    yield s.row("both", s.array([lowest, np.inf, highest, -np.inf]))
    # A search that starts from the smallest or largest finite number does not find the infinity.
    yield s.row("lowest", s.array([-np.inf, lowest]))
    yield s.row("highest", s.array([np.inf, highest]))
    if s.elementwise:
        return
    first = (
        s.kind in ("reduction", "top")
        or s.has("select_last_index")
        or s.version.coerced
        or s.version.since >= 13
    )
    for title, value in (("all_minus", -np.inf), ("all_plus", np.inf)):
        leaves_open = "" if first else _WHICH_INDEX
        yield s.ask(
            title, s.array([[value] * 4]), axis=1, says="the first of equals", leaves_open=leaves_open
        )


@_topic()
def _limits(s: Subject) -> Iterator[Question]:
    """Give the limits of each type, and neighbours that wider arithmetic would confuse."""
    low, high = s.limits
    rows: dict[str, list[Any]] = {"range": [1, low, high, 0]}
    if s.floating:
        # One unit in the last place apart.
        one = int(s.array(1).view(s.unsigned))
        rows = {"finite": [0, low, high, 1], "neighbours": list(s.bits(one + 1, one, one + 2, one - 1))}
    elif s.dtype.kind != "b":
        rows["neighbours"] = [high - 2, high - 1, high, low, low + 1, low + 2]
        if s.dtype.itemsize == 8:
            # Neither doubles nor 32 bits tell these apart.
            rows["beyond_double"] = [2**53 + 1, 2**53, 2**53 + 2, 2**40, 2**40 + 1, 2**32]
            rows["beyond_32_bits"] = [0, 1, 2**53, 2**32 + 1, 5]
            # Equal upper halves, and lower halves that compare as unsigned, in each lane of two or four.
            rows["lower_32_bits"] = [2**31 - 1, 2**32 - 1, 2**31, 0, 2**31 + 1, 1, 2, 2**31 + 2]
        if s.dtype.kind == "u":
            rows["sign_bit"] = [1, high // 2, high // 2 + 1, high // 2 - 1]
    yield from (s.row(title, np.array(row, s.dtype)) for title, row in rows.items())


@_topic(lambda s: s.floating)
def _denormals(s: Subject) -> Iterator[Question]:
    """Give numbers below the smallest normal one: they are not zero."""
    tiny = s.bits(1)[0]
    row = np.array([0, -tiny, tiny, tiny + tiny], s.dtype)
    if s.elementwise:
        yield s.ask("beside_zero", row[1:], np.zeros(3, s.dtype), says=s.says)
    else:
        yield s.row("beside_zero", row)


@_topic(lambda s: s.floating)
def _nan(s: Subject) -> Iterator[Question]:
    numbers = s.array([1, 2, 3, 4, 5])
    rows = {"first": [np.nan, 7, 2, 5, 1], "middle": [2, 7, np.nan, 5, 1], "last": [2, 7, 1, 5, np.nan]}
    rows |= {
        "all": [np.nan] * 5,
        "with_infinities": [np.inf, 2, np.nan, -np.inf, np.inf],
        "payload": [1, 2, 3, 4, 5],
    }
    # Two quiet NaNs: the highest bit of the mantissa is set.
    infinity, minus = s.array([np.inf, -0.0]).view(s.unsigned).tolist()
    quiet = infinity | (infinity & -infinity) >> 1
    for title, values in rows.items():
        row = s.array(values)
        if title == "payload":
            row[[1, 3]] = s.bits(quiet, minus | quiet | 1)
        if s.elementwise:
            yield s.ask(title, row, numbers, leaves_open=_OF_NAN)
            yield s.ask(f"{title}_second", numbers, row, leaves_open=_OF_NAN)
            continue
        yield s.ask(f"{title}_row", row[None], axis=1, leaves_open=_OF_NAN)
        if not s.version.coerced:
            yield s.ask(f"{title}_column", row[:, None], axis=0, leaves_open=_OF_NAN)
        yield s.ask(f"{title}_rank_1", row, axis=0, leaves_open=_OF_NAN)


@_topic(lambda s: s.floating)
def _zeros(s: Subject) -> Iterator[Question]:
    if s.elementwise:
        plus = s.array(np.zeros(3))
        minus = s.array(-np.zeros(3))
        for title, inputs in (("minus_plus", (minus, plus)), ("plus_minus", (plus, minus))):
            yield s.ask(title, *inputs, leaves_open="which of the two zeros is the larger one")
        return
    other = 1.0 if s.smallest else -1.0
    for title, row in (("minus_plus", [other, -0.0, 0.0]), ("plus_minus", [other, 0.0, -0.0])):
        yield s.ask(title, s.array([row]), axis=1, leaves_open="whether the two zeros are equal")


@_topic()
def _empty(s: Subject) -> Iterator[Question]:
    """Give no elements, so that the answer is empty too, or an identity."""
    leaves_open = "what becomes of a tensor without elements"
    none = np.zeros((0, 3), s.dtype)
    columns = np.zeros((3, 0), s.dtype)
    if s.elementwise:
        yield s.ask("two", none, none, leaves_open=leaves_open)
        if s.version.since >= 8:
            yield s.ask("broadcast", none, np.zeros((1, 3), s.dtype), leaves_open=leaves_open)
    elif s.kind in ("hardmax", "top"):
        yield s.ask("rows", none, axis=1, leaves_open=leaves_open)
        yield s.ask("columns", columns, axis=1, leaves_open=leaves_open)
    else:
        if s.kind == "arg" and s.version.since == 11:
            says = "the input must not be empty"
        else:
            says = ""
        for keepdims in (0, 1):
            yield s.ask(
                f"keepdims_{keepdims}", none, axis=1, keepdims=keepdims, says=says, leaves_open=leaves_open
            )
    if s.version.identity:
        says = (
            "the largest of no element is minus infinity or the least of the type, the smallest the other end"
        )
        yield s.ask("columns", columns, axis=1, says=says)
        yield s.ask("all", none, says=says)


@_topic()
def _refusals(s: Subject) -> Iterator[Question]:
    """Break a rule of the version: the element type, and on float32 every other rule."""
    if s.dtype.name not in s.version.types:
        inputs = [s.array([[1, 0], [0, 1]])] * (1 + s.elementwise)
        wrong = iter([s.ask("element_type", *inputs, says="the type constraint does not list it")])
    elif s.dtype.name == "float32":
        wrong = _wrong_operands(s) if s.elementwise else _wrong_attributes(s)
    else:
        return
    yield from (replace(question, refused=True) for question in wrong)


def _wrong_operands(s: Subject) -> Iterator[Question]:
    x = np.zeros((2, 3), np.float32)
    yield s.ask("mixed_types", x, x.astype(np.float64), says="all inputs have one element type")
    says = _BROADCASTING
    if not s.version.broadcasts:
        says = "all inputs have the same shape"
        yield s.ask("row", x, x[0], says=says)
        yield s.ask("size_1", x, x[:, :1].copy(), says=says)
    yield s.ask("shapes", x, np.zeros((2, 4), np.float32), says=says)
    yield s.ask("unknown_attribute", x, x, axis=0, says=_NO_ATTRIBUTE)


def _wrong_attributes(s: Subject) -> Iterator[Question]:
    x = np.zeros((2, 3), np.float32)
    is_open = s.version.attributes[0].range is AttributeRange.AXIS_UNSTATED
    leaves_open = "which values an axis may have" if is_open else ""
    for title, axis in {"2": 2, "minus_3": -3, f"{2**40}": 2**40}.items():
        yield s.ask(f"axis_{title}", x, axis=axis, says=_AXIS_RANGE, leaves_open=leaves_open)
    yield s.ask("rank_0", np.zeros((), np.float32), axis=0, says=_AXIS_RANGE, leaves_open=leaves_open)
    if s.version.coerced:
        says = f"the default axis is 1, and {_AXIS_RANGE}"
        yield s.ask("rank_1_default_axis", x[0], says=says, leaves_open=leaves_open)
    if s.kind == "hardmax":
        yield s.ask("unknown_attribute", x, axis=1, keepdims=0, says=_NO_ATTRIBUTE)
        return
    if s.kind == "top":
        yield s.ask("unknown_attribute", x, keepdims=0, says=_NO_ATTRIBUTE)
        yield s.ask("more_than_all", x, k=4, says="an axis has k elements")
        yield s.ask("negative", x, k=-1, says="the number of elements")
        if s.version.input_attributes:
            yield s.ask("two_numbers", x, k=(1, 2), says="a 1-D tensor containing a single value")
        yield from (_wrong_flag(s, x, flag, "it came with version 11") for flag in ("largest", "sorted"))
        return
    says = "it came with version 12" if s.kind == "arg" else _NO_ATTRIBUTE
    yield _wrong_flag(s, x, "select_last_index", says, axis=1)
    yield s.ask("keepdims_2", x, axis=1, keepdims=2, leaves_open=_OF_FLAGS)
    if not s.version.identity:
        says = "the input must not be empty" if s.version.since == 11 else ""
        leaves_open = "" if says else "what the extremum of no element is"
        yield s.ask(
            "nothing_to_reduce", np.zeros((2, 0), np.float32), axis=1, says=says, leaves_open=leaves_open
        )


def _wrong_flag(s: Subject, x: Array, flag: str, says: str, **attributes: Any) -> Question:
    attributes[flag] = 2 if s.has(flag) else 1
    if s.has(flag):
        return s.ask(f"{flag}_2", x, leaves_open=_OF_FLAGS, **attributes)
    return s.ask(flag, x, says=says, **attributes)
