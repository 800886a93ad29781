"""A run of the suite as JSON, and back.

Decides what is kept: how many cases of each version and element type have which outcome, the kinds of difference with
an example of each, and every case that is not exact. :func:`summarised` leaves out the last: what is left is small.
"""

from __future__ import annotations

import datetime
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from extremum import __version__
from extremum.conformance.kind import Kind, kinds
from extremum.conformance.run import Answers, Result
from extremum.errors import InputError
from extremum.runtimes.outcome import Outcome

__all__ = ["REFUSALS", "Recorded", "record", "recorded", "summarised"]

REFUSALS = "refusals"
"""Stands beside the element types for the cases that have to be refused, which say nothing of a type."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one runtime made of a recorded run."""

    runtime: str
    version: str
    # By the version of an operator, such as ArgMax-13, and the element type or REFUSALS.
    cells: Mapping[tuple[str, str], Counter[Outcome]]
    kinds: tuple[Kind, ...]

    def counts(self, version: str | None = None, element: str | None = None) -> Counter[Outcome]:
        """Return how many cases have each outcome, of all or of those that are meant."""
        total: Counter[Outcome] = Counter()
        for cell, counts in self.cells.items():
            if version in (None, cell[0]) and element in (None, cell[1]):
                total += counts
        return total


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
    return {
        "name": answers.runtime,
        "version": answers.version,
        "conforms": all(result.conforms for result in answers.results),
        "counts": _named(answers.counts()),
        "cells": _cells(answers),
        "kinds": [kind.record() for kind in kinds(answers.results)],
        "differences": {
            result.case.name: {"outcome": result.outcome.value, "detail": result.detail}
            for result in answers.results
            if result.outcome is not Outcome.EXACT
        },
    }


def _cells(answers: Answers) -> dict[str, dict[str, str]]:
    """Return the counts by version and element type; types that fare alike share an entry."""
    counts: dict[str, dict[str, Counter[Outcome]]] = {}
    for result in answers.results:
        cells = counts.setdefault(str(result.case.version), {})
        cells.setdefault(_column(result), Counter())[result.outcome] += 1
    return {
        version: {
            " ".join(element for element in cells if cells[element] == alike): _text(alike) for alike in cells.values()
        }
        for version, cells in counts.items()
    }


def _column(result: Result) -> str:
    return REFUSALS if result.case.question.refused else result.case.element


def _named(counts: Counter[Outcome]) -> dict[str, int]:
    return {outcome.value: counts[outcome] for outcome in Outcome if counts[outcome]}


def _text(counts: Counter[Outcome]) -> str:
    # A line for each cell, so that a recorded run can be read.
    return ", ".join(f"{n} {outcome}" for outcome, n in _named(counts).items())


def _counts(text: str) -> Counter[Outcome]:
    parts = (part.partition(" ") for part in text.split(", "))
    return Counter({Outcome(outcome): int(n) for n, _, outcome in parts})


def summarised(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded run without the single cases."""
    keep = [{key: value for key, value in each.items() if key != "differences"} for each in run["runtimes"]]
    return {**run, "runtimes": keep}


def recorded(run: Mapping[str, Any]) -> list[Recorded]:
    """Return what :func:`record` or :func:`summarised` has written."""
    try:
        return [
            Recorded(
                runtime=each["name"],
                version=each["version"],
                cells={
                    (version, element): _counts(counts)
                    for version, cells in each["cells"].items()
                    for elements, counts in cells.items()
                    for element in elements.split()
                },
                kinds=tuple(Kind.read(entry) for entry in each["kinds"]),
            )
            for each in run["runtimes"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError("this is no recorded run of the suite", given=str(error)) from None
