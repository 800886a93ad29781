"""A run of the suite as JSON, and back.

Decides what is kept: every outcome that is not exact, and how many cases were asked of each version and element type.
"""

from __future__ import annotations

import datetime
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from extremum import __version__
from extremum.conformance.outcome import Outcome
from extremum.conformance.run import Answers
from extremum.errors import InputError

__all__ = ["Group", "Recorded", "record", "recorded"]

Group = tuple[str, int, str]
"""Operator, version and element type."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one runtime made of a recorded run."""

    runtime: str
    version: str
    # How many cases.
    asked: Mapping[Group, int]
    # Outcome and detail of each case that is not exact, by the name of the case.
    differences: Mapping[str, tuple[Outcome, str]]
    # Operator, version and element type of each of these cases.
    groups: Mapping[str, Group]

    def counts(
        self, operator: str | None = None, since: int | None = None, element: str | None = None
    ) -> Counter[Outcome]:
        """Return how many cases have each outcome, of all or of those that are meant."""

        def meant(group: Group) -> bool:
            return all(wanted in (None, part) for wanted, part in zip((operator, since, element), group, strict=True))

        counts = Counter(outcome for name, (outcome, _) in self.differences.items() if meant(self.groups[name]))
        counts[Outcome.EXACT] = sum(n for group, n in self.asked.items() if meant(group)) - counts.total()
        return +counts


def record(answers: Sequence[Answers], seed: int) -> dict[str, Any]:
    """Return a run as JSON can hold it."""
    return {
        "suite": __version__,
        "seed": seed,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}",
        "runtimes": [_runtime(each) for each in answers],
    }


def _runtime(answers: Answers) -> dict[str, Any]:
    asked: Counter[Group] = Counter()
    differences = {}
    for result in answers.results:
        group = result.case.version.name, result.case.version.since, result.case.element
        asked[group] += 1
        if result.outcome is not Outcome.EXACT:
            differences[result.case.name] = {
                "group": list(group),
                "topic": result.case.topic,
                "specified": result.case.specified,
                "outcome": result.outcome.value,
                "detail": result.detail,
            }
    return {
        "name": answers.runtime,
        "version": answers.version,
        "counts": {outcome.value: n for outcome, n in answers.counts().items()},
        "conforms": all(result.conforms for result in answers.results),
        "asked": [[*group, n] for group, n in asked.items()],
        "differences": differences,
    }


def recorded(run: Mapping[str, Any]) -> list[Recorded]:
    """Return what :func:`record` has written."""
    try:
        return [
            Recorded(
                runtime=each["name"],
                version=each["version"],
                asked={(operator, since, element): n for operator, since, element, n in each["asked"]},
                differences={
                    name: (Outcome(found["outcome"]), found["detail"]) for name, found in each["differences"].items()
                },
                groups={name: tuple(found["group"]) for name, found in each["differences"].items()},
            )
            for each in run["runtimes"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("this is no recorded run of the suite", given=str(error)) from None
