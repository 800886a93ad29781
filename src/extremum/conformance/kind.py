"""The kinds of difference in what a runtime answered: cases that differ alike, and one of them to show.

Decides which cases are alike: the same outcome, topic and operators, and whether a document decides the answer. Where a
runtime refuses most of what it is asked of a version and element type, what was asked tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from extremum.conformance.run import Result
from extremum.runtimes.outcome import Outcome

__all__ = ["Kind", "kinds"]

# More than any case has: an empty tensor shows less than any other.
_EMPTY = 1 << 20


@dataclass(frozen=True, slots=True)
class Kind:
    """Cases that differ alike."""

    outcome: Outcome
    # Empty where most of what is asked is refused; the same holds for the titles.
    topic: str
    specified: bool
    cases: int
    # Versions such as ArgMax-13, and the element types of each.
    where: Mapping[str, tuple[str, ...]]
    titles: tuple[str, ...]
    # Name of the smallest case, and what the runtime made of it.
    example: str
    detail: str

    def record(self) -> dict[str, Any]:
        """Return the kind as JSON can hold it; lists are texts there, so that a recorded run can be read."""
        where = {version: " ".join(elements) for version, elements in self.where.items()}
        return {**asdict(self), "outcome": self.outcome.value, "where": where, "titles": " ".join(self.titles)}

    @classmethod
    def read(cls, entry: dict[str, Any]) -> Kind:
        """Return what :meth:`record` has written."""
        where = {version: tuple(elements.split()) for version, elements in entry["where"].items()}
        titles = tuple(entry["titles"].split())
        return cls(**{**entry, "outcome": Outcome(entry["outcome"]), "where": where, "titles": titles})


def kinds(results: Sequence[Result]) -> list[Kind]:
    """Return the kinds: where a document decides, then what is left open, then refusals; the most cases first."""
    asked = Counter(_cell(each) for each in results if not each.case.question.refused)
    refused = Counter(_cell(each) for each in results if _is_refusal(each))
    mostly = {cell for cell, n in refused.items() if 2 * n > asked[cell]}
    alike: dict[tuple[Any, ...], list[Result]] = {}
    for result in results:
        if result.outcome is not Outcome.EXACT:
            alike.setdefault(_alike(result, mostly), []).append(result)
    found = [_kind(key[1], members) for key, members in alike.items()]
    return sorted(found, key=lambda kind: (_rank(kind), -kind.cases))


def _alike(result: Result, mostly: Collection[object]) -> tuple[Any, ...]:
    case = result.case
    operators = case.version.name.removesuffix("Max").removesuffix("Min")
    if _is_refusal(result):
        return result.outcome, "" if _cell(result) in mostly else case.topic, operators, True
    return result.outcome, case.topic, operators, case.specified


def _is_refusal(result: Result) -> bool:
    return result.outcome is Outcome.REFUSED


def _cell(result: Result) -> object:
    return result.case.version, result.case.element


def _rank(kind: Kind) -> int:
    return 2 if kind.outcome is Outcome.REFUSED else 0 if kind.specified else 1


def _kind(topic: str, members: Sequence[Result]) -> Kind:
    shown = min(members, key=lambda each: (_size(each) or _EMPTY, -each.case.version.since))
    where: dict[str, dict[str, None]] = {}
    for each in members:
        where.setdefault(str(each.case.version), {})[each.case.element] = None
    return Kind(
        outcome=shown.outcome,
        topic=topic,
        specified=shown.case.specified,
        cases=len(members),
        where={version: tuple(elements) for version, elements in where.items()},
        titles=tuple(dict.fromkeys(each.case.question.title for each in members)) if topic else (),
        example=shown.case.name,
        detail=shown.detail,
    )


def _size(result: Result) -> int:
    return sum(x.size for x in result.case.question.inputs)
