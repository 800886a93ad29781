"""The suite: every topic's questions to every ONNX version and element type, or a selection of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from extremum import dtypes, spec
from extremum.conformance.question import Case, spelt
from extremum.conformance.topics import TOPICS
from extremum.errors import ArgumentError
from extremum.spec import OperatorVersion

__all__ = ["Selection", "cases"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cases are wanted; what is empty selects everything.

    Attributes
    ----------
    operators : collection of str
        Names such as ``ArgMax``.
    versions : collection of int
        Versions such as 11: the opset that brought them.
    elements : collection of str
        Element types such as ``float32``.
    topics : collection of str
        Names of :data:`extremum.conformance.topics.TOPICS`.
    names : collection of str
        Names of cases such as ``argmax_13_float32_nan_first_row``, with ``test_`` before it or without.
    specified_only : bool
        Leave out the cases whose answer no document decides.

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
        schemas = list(_schemas())
        for noun, given, known in (
            ("operator", self.operators, {schema.name for schema in schemas}),
            ("version", self.versions, {schema.since for schema in schemas}),
            ("element type", self.elements, {element.name for element in dtypes.ELEMENT_TYPES}),
            ("topic", self.topics, set(TOPICS)),
        ):
            for name in given:
                if name not in known:
                    choices = ", ".join(map(str, sorted(known)))
                    raise ArgumentError(f"the suite has no {noun} {name!r}", remedy=f"it has {choices}")
        if self.names:
            object.__setattr__(self, "names", frozenset(name.removeprefix("test_") for name in self.names))
            if missing := set(self.names) - {case.name for case in _every(self._may_have, 0)}:
                near = get_close_matches(min(missing), [case.name for case in cases()], 3)
                remedy = f"did you mean {' or '.join(near)}?" if near else "extremum conformance export lists them"
                raise ArgumentError(f"the suite has no case {min(missing)!r}", remedy=remedy)

    def takes(self, schema: OperatorVersion, element: str, topic: str) -> bool:
        """Return whether the questions of a topic are wanted."""
        return (
            (not self.operators or schema.name in self.operators)
            and (not self.versions or schema.since in self.versions)
            and (not self.elements or element in self.elements)
            and (not self.topics or topic in self.topics)
            and (not self.names or self._may_have(schema, element, topic))
        )

    def _may_have(self, schema: OperatorVersion, element: str, topic: str) -> bool:
        """Return whether one of the names may be of a topic."""
        parts = (schema.name.lower(), str(schema.since), element, topic)
        start = "_".join(part for part in parts if part)
        return any(name.startswith(start) for name in self.names)


def cases(selection: Selection | None = None, seed: int = 0) -> Iterator[Case]:
    """Yield the cases of the suite, always in the same order.

    Parameters
    ----------
    selection : Selection, optional
        Which ones; all by default.
    seed : int
        Of the ordinary elements. A case has the same elements whatever else is selected.

    Yields
    ------
    Case
        One question to one version on one element type.

    Raises
    ------
    ArgumentError
        If the selection names what the suite does not have.

    Examples
    --------
    >>> from extremum.conformance import Selection, cases
    >>> ties = list(cases(Selection(operators=["Hardmax"], elements=["float16"], topics=["ties"])))
    >>> len(ties), all(case.specified for case in ties)
    (10, True)
    """
    selection = selection or Selection()
    for case in _every(selection.takes, seed):
        if (case.specified or not selection.specified_only) and (not selection.names or case.name in selection.names):
            yield case


def _every(takes: Callable[[OperatorVersion, str, str], bool], seed: int) -> Iterator[Case]:
    """Yield every case of the topics that are wanted."""
    for schema in _schemas():
        for element in dtypes.ELEMENT_TYPES:
            for topic, ask in TOPICS.items():
                if not takes(schema, element.name, topic):
                    continue
                if element.name not in schema.types and topic != "refusals":
                    continue
                identity = zlib.crc32(f"{schema} {element.name} {topic}".encode())
                for question in ask(schema, element.dtype, np.random.default_rng([seed, identity])):
                    yield Case(schema, element.name, topic, spelt(schema, question))


def _schemas() -> Iterator[OperatorVersion]:
    for (domain, _), versions in spec.OPERATORS.items():
        if domain == spec.ONNX:
            yield from versions
