"""The cases of the suite in their order, and the choice of some of them."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import product

import numpy as np

from extremum.conformance.case import VERSIONS, Case
from extremum.conformance.topics import TOPICS, Subject
from extremum.errors import ArgumentError
from extremum.spec import OperatorVersion
from extremum.tensors import ELEMENT_TYPES


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of cases; an empty collection selects everything.

    Attributes
    ----------
    operators : collection of str
        Names such as ``ArgMax``.
    versions : collection of int
        Versions such as 11: the opset that introduced them.
    elements : collection of str
        Element types such as ``float32``.
    topics : collection of str
        Names of :data:`extremum.conformance.topics.TOPICS`.
    names : collection of str
        Names of cases such as ``argmax_13_float32_nan_first_row``, with or without ``test_`` in front.
    specified_only : bool
        Leave out the cases whose answer no document decides.

    Raises
    ------
    ArgumentError
        If the suite does not have a given name or version.

    Examples
    --------
    >>> from extremum.conformance import Selection, cases
    >>> nan = Selection(operators=["ArgMax"], versions=[13], elements=["float32"], topics=["nan"])
    >>> next(cases(nan)).name
    'argmax_13_float32_nan_first_row'
    """

    operators: Collection[str] = ()
    versions: Collection[int] = ()
    elements: Collection[str] = ()
    topics: Collection[str] = ()
    names: Collection[str] = ()
    specified_only: bool = False

    def __post_init__(self) -> None:
        for noun, values, choices in (
            ("operator", self.operators, {schema.name for schema in VERSIONS}),
            ("version", self.versions, {schema.since for schema in VERSIONS}),
            ("element type", self.elements, {element.name for element in ELEMENT_TYPES}),
            ("topic", self.topics, set(TOPICS)),
        ):
            for name in values:
                if name not in choices:
                    text = ", ".join(map(str, sorted(choices)))
                    raise ArgumentError(f"the suite has no {noun} {name!r}", remedy=f"it has {text}")
        if self.names:
            names = frozenset(name.removeprefix("test_") for name in self.names)
            object.__setattr__(self, "names", names)
            _require_cases(names)

    def takes(self, schema: OperatorVersion, element: str, topic: str) -> bool:
        """Return whether the cases of a topic are selected."""
        values = (schema.name, schema.since, element, topic)
        filters = (self.operators, self.versions, self.elements, self.topics)
        return all(not choices or value in choices for choices, value in zip(filters, values, strict=True))


@functools.cache
def _names() -> list[str]:
    """Return the name of every case."""
    return [case.name for case in cases()]


def _require_cases(names: Collection[str]) -> None:
    """Raise an ArgumentError about the first name that no case has."""
    missing = set(names).difference(_names())
    if missing:
        name = min(missing)
        raise ArgumentError(f"the suite has no case {name!r}", remedy=_suggestion(name))


def _suggestion(name: str) -> str:
    """Return which cases may be meant: those that begin so, or those with a similar name."""
    beginning = [each for each in _names() if name and each.startswith(name)]
    if len(beginning) > 3:
        return f"{len(beginning)} names begin so: {', '.join(beginning[:3])} and {len(beginning) - 3} more"
    near = beginning or get_close_matches(name, _names(), 3)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return "extremum conformance export lists them"


def cases(selection: Selection | None = None, seed: int = 0) -> Iterator[Case]:
    """Yield each :class:`Case` of the suite, always in the same order.

    Parameters
    ----------
    selection : Selection, optional
        The cases; all by default.
    seed : int
        Seed of the ordinary elements. A case has the same elements whatever else is selected.

    Examples
    --------
    >>> from extremum.conformance import Selection, cases
    >>> ties = list(cases(Selection(operators=["Hardmax"], elements=["float16"], topics=["ties"])))
    >>> len(ties), all(case.specified for case in ties)
    (10, True)
    """
    subset = selection or Selection()
    starts = {tuple(name.split("_")[:3]) for name in subset.names}
    for schema, element, topic in product(VERSIONS, ELEMENT_TYPES, TOPICS):
        start = (schema.name.lower(), str(schema.since), element.name)
        if starts and start not in starts:
            continue
        if not subset.takes(schema, element.name, topic):
            continue
        # A version is asked about a type that it does not take only whether it refuses it.
        if element.name not in schema.types and topic != "refusals":
            continue
        identity = zlib.crc32(f"{schema} {element.name} {topic}".encode())
        subject = Subject(schema, element.dtype, np.random.default_rng([seed, identity]))
        for question in TOPICS[topic](subject):
            case = Case(schema, element.name, topic, question)
            if _is_selected(case, subset):
                yield case


def _is_selected(case: Case, selection: Selection) -> bool:
    """Return whether a case of a topic that is selected is selected too."""
    if selection.specified_only and not case.specified:
        return False
    return not selection.names or case.name in selection.names
