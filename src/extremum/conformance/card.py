"""The report card: a recorded run as JSON, Markdown and a picture, and two runtimes compared.

Decides what is kept of a run, which cases differ alike (the same outcome, topic and operators, and whether a document
decides the answer), the tables and the reproducers. Facts only: who answers what, in which version. Where a runtime
refuses most cases of a version and element type, the others tell nothing.
"""

from __future__ import annotations

import datetime
import os
import platform
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from extremum import __version__, dtypes, spec
from extremum.conformance.run import Answers, Result
from extremum.conformance.suite import Case, cases
from extremum.conformance.topics import Array, Placement
from extremum.errors import InputError
from extremum.printable import markdown_table
from extremum.runtimes.outcome import Outcome

__all__ = [
    "REFUSALS",
    "Kind",
    "Recorded",
    "caption",
    "column_names",
    "compared",
    "draw",
    "kinds",
    "markdown",
    "record",
    "recorded",
    "summarised",
    "summary",
    "worst",
]


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
        raise InputError("the file does not hold a recorded run of the suite", given=str(error)) from None


# Worst first.
_RANKING = (
    Outcome.CRASHED,
    Outcome.TIMED_OUT,
    Outcome.WRONG,
    Outcome.ACCEPTED,
    Outcome.SHAPE,
    Outcome.TYPE,
    Outcome.TIE,
    Outcome.NAN,
    Outcome.ZERO,
    Outcome.REFUSED,
    Outcome.EXACT,
)
# Darker is worse, so that the order is seen without colours too.
_COLOURS = {
    Outcome.EXACT: "#a8dcc0",
    Outcome.ZERO: "#f4e08a",
    Outcome.NAN: "#f0b13c",
    Outcome.TIE: "#e58a2e",
    Outcome.TYPE: "#d9722a",
    Outcome.SHAPE: "#d9722a",
    Outcome.WRONG: "#c1272d",
    Outcome.ACCEPTED: "#a0522d",
    Outcome.REFUSED: "#c3c7cd",
    Outcome.TIMED_OUT: "#6b3fa0",
    Outcome.CRASHED: "#1d1d1f",
}
# Inches of a square, and of what is beside and above those of a runtime: its names.
_SQUARE = 0.14
_BESIDE, _ABOVE = 0.35, 0.85
# Of a square; what is left is the gap to the next.
_EDGE = 0.92
# Characters in a line of the legend.
_LINE = 44
_TWO_COLOURS = "Two colours: the worst of the answers below, the best above."
# Runtimes beside each other: as many as fit into the width of a page.
_ACROSS = 3


def worst(counts: Counter[Outcome]) -> Outcome:
    """Return the outcome by which a square is coloured."""
    return next(outcome for outcome in _RANKING if counts[outcome])


def draw(runtimes: Sequence[Recorded], path: str | os.PathLike[str], caption: str) -> None:
    """Write the picture; the ending of the path says in which format."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    down = -(-len(runtimes) // _ACROSS)
    across = min(len(runtimes), _ACROSS)
    width = 0.8 + (len(column_names()) * _SQUARE + _BESIDE) * across
    height = 1.4 + (len(_rows()) * _SQUARE + _ABOVE) * down
    # White, so that it can be read on a dark page too.
    figure = Figure(figsize=(max(width, 8), height), facecolor="white", layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    seen = set[Outcome]()
    for at, axes in enumerate(grid.flat):
        axes.set_axis_off()
        if at < len(runtimes):
            seen |= _panel(axes, runtimes[at], first=at % across == 0)
    handles = [Patch(color=_COLOURS[outcome], label=outcome.value) for outcome in Outcome if outcome in seen]
    title = f"{textwrap.fill(caption, _LINE)}.\n{textwrap.fill(_TWO_COLOURS, _LINE)}"
    # On the left, and two abreast: there a phone shows it beside the first column of runtimes.
    legend = figure.legend(handles=handles, ncols=2, loc="outside lower left", frameon=False, title=title)
    legend.set_alignment("left")
    figure.savefig(path, dpi=130)


def column_names() -> list[str]:
    """Return the columns of a panel: the element types that any version takes, and the refusals."""
    taken = {name for row in _rows() for name in row.types}
    return [*(element.name for element in dtypes.ELEMENT_TYPES if element.name in taken), REFUSALS]


def _rows() -> list[spec.OperatorVersion]:
    return [row for (domain, _), rows in spec.OPERATORS.items() if domain == spec.ONNX for row in rows]


def _panel(axes: Any, runtime: Recorded, *, first: bool) -> set[Outcome]:
    """Draw the squares of one runtime, the names of the versions beside the first in its line."""
    rows, columns = _rows(), column_names()
    seen = set[Outcome]()
    for line, row in enumerate(rows):
        for place, column in enumerate(columns):
            counts = runtime.counts(str(row), column)
            if counts:
                seen |= _square(axes, place, line, counts)
    axes.set_axis_on()
    axes.set_title(f"{runtime.runtime} {runtime.version}", fontsize=10)
    axes.set_xticks([place + _EDGE / 2 for place in range(len(columns))], columns, rotation=90, fontsize=7)
    axes.set_yticks([line + _EDGE / 2 for line in range(len(rows))], map(str, rows) if first else [""] * len(rows))
    axes.tick_params(axis="y", labelsize=8)
    axes.tick_params(length=0, pad=2)
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_aspect("equal")
    axes.set_frame_on(False)
    return seen


def _square(axes: Any, x: float, y: float, counts: Counter[Outcome]) -> set[Outcome]:
    """Draw a square, its lower half in the colour of the worst answer, its upper half in that of the best."""
    from matplotlib.patches import Polygon

    corners = [(x, y), (x + _EDGE, y), (x, y + _EDGE), (x + _EDGE, y + _EDGE)]
    low, high = worst(counts), next(outcome for outcome in reversed(_RANKING) if counts[outcome])
    for outcome, half in ((low, corners[1:]), (high, corners[:3])):
        # With a line of its own colour, or the halves of a square would show where they meet.
        axes.add_patch(Polygon(half, color=_COLOURS[outcome], linewidth=0.2))
    return {low, high}


_HEAD = """\
# Which runtime answers what

Each runtime ran the cases of `extremum conformance`: models of one node, for every version and element type of the
operators. `extremum conformance run --json` runs them again, or on your runtime. `extremum conformance card` writes
this page, with an example of each difference.

- **exact**: every bit as the version says; any NaN equals another. Or a refusal where the version wants one.
- **sign of zero**, **NaN**, **tie**, **type**, **shape**: another answer, and what differs. Where no document decides,
  as for NaN and the zeros, such an answer is no mistake.
- **wrong**: another answer without such a reason. **not refused**: an answer where the version wants a refusal.
- **refused**: the runtime does not do this. **crashed**, **timed out**: its process ended so."""

_PICTURE = """\
![A square for each version and element type]({})

A square of one colour: all cases have that outcome. A square of two colours: the worst outcome below, the best above.
The column `refusals` has the cases that must be refused."""

_SECTIONS: tuple[tuple[str, Callable[[Kind], bool]], ...] = (
    ("Where a document decides", lambda kind: kind.specified and kind.outcome is not Outcome.REFUSED),
    ("Where documents leave it open", lambda kind: not kind.specified and kind.outcome is not Outcome.REFUSED),
    ("What it refuses", lambda kind: kind.outcome is Outcome.REFUSED),
)
# Characters of a line, and questions by name.
_WIDE = 110
_TITLES = 8


def caption(run: Mapping[str, Any]) -> str:
    """Return when and where a run was recorded."""
    return f"Asked on {run['date']}, {run['machine']}; suite {run['suite']}, seed {run['seed']}"


def summary(runtimes: Sequence[Recorded]) -> tuple[list[str], list[list[str]]]:
    """Return a table of outcomes: the headings, and a row for each that occurs."""
    counts = [each.counts() for each in runtimes]
    headings = ["", *(f"{each.runtime} {each.version}" for each in runtimes)]
    return headings, [
        [outcome.value, *(str(count[outcome]) for count in counts)]
        for outcome in Outcome
        if any(count[outcome] for count in counts)
    ]


def _versions(runtimes: Sequence[Recorded]) -> tuple[list[str], list[list[str]]]:
    """Return a table of operator versions: the headings, and how many cases each runtime answers exactly."""
    asked = dict.fromkeys(version for each in runtimes for version, _ in each.cells)
    headings = ["", "cases", *(each.runtime for each in runtimes)]
    rows = []
    for version in asked:
        counts = [each.counts(version) for each in runtimes]
        total = max(count.total() for count in counts)
        rows.append([version, str(total), *(str(count[Outcome.EXACT]) for count in counts)])
    return headings, rows


def compared(first: Answers, second: Answers) -> Iterator[tuple[str, str, str]]:
    """Yield the cases with different outcomes or details: the name, and what each of the two made of it."""
    for one, other in zip(first.results, second.results, strict=True):
        if (one.outcome, one.detail) != (other.outcome, other.detail):
            words = (each.outcome.value + (f": {each.detail}" if each.detail else "") for each in (one, other))
            yield (one.case.name, *words)  # type: ignore[misc]


def markdown(run: Mapping[str, Any], picture: str | None = None, *, differences: bool = True) -> str:
    """Return a recorded run as a page of Markdown, with its picture if there is one beside it.

    Without differences it is the tables alone.
    """
    runtimes = recorded(run)
    links = (f"[{each.runtime}](#{_anchor(_title(each))})" for each in runtimes if each.kinds)
    parts = [
        _HEAD,
        f"{caption(run)}. `extremum conformance export` writes the cases as files."
        + (f" How each runtime differs: {', '.join(links)}." if differences else ""),
        *([] if picture is None else [_PICTURE.format(quote(picture))]),
        "## Outcomes",
        markdown_table(*summary(runtimes), figures=True).rstrip(),
        "## Exact answers by version",
        markdown_table(*_versions(runtimes), figures=True).rstrip(),
    ]
    if not differences:
        return "\n\n".join(parts) + "\n"
    by_name = {case.name: case for case in cases(seed=run["seed"])}
    for runtime in runtimes:
        if runtime.kinds:
            parts += [f"## {_title(runtime)}", *_differences(runtime, by_name)]
    return "\n\n".join(parts) + "\n"


def _title(runtime: Recorded) -> str:
    return f"{runtime.runtime} {runtime.version}"


def _anchor(title: str) -> str:
    return "".join(each for each in title.lower().replace(" ", "-") if each.isalnum() or each in "-_")


def _differences(runtime: Recorded, by_name: Mapping[str, Case]) -> Iterator[str]:
    for heading, takes in _SECTIONS:
        of_section = [kind for kind in runtime.kinds if takes(kind)]
        if of_section:
            yield f"### {heading}"
            yield from (_shown(kind, by_name[kind.example]) for kind in of_section if kind.example in by_name)


def _shown(kind: Kind, case: Case) -> str:
    number = f"{kind.cases} case{'' if kind.cases == 1 else 's'}"
    topic = kind.topic.replace("_", " ") if kind.topic else "all or most of what was asked"
    about = _where(kind)
    if kind.titles:
        more = f" and {len(kind.titles) - _TITLES} more" if len(kind.titles) > _TITLES else ""
        about += f"; questions {', '.join(f'`{title}`' for title in kind.titles[:_TITLES])}{more}"
    return f"**{kind.outcome.value}: {topic}**, {number}: {about}.\n\n```text\n{_reproducer(kind, case)}\n```"


def _where(kind: Kind) -> str:
    """Return versions and element types; versions of the same types together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for version, elements in kind.where.items():
        alike.setdefault(elements, []).append(version)
    return "; ".join(f"{', '.join(versions)} on {', '.join(elements)}" for elements, versions in alike.items())


def _reproducer(kind: Kind, case: Case) -> str:
    expected = case.expected()
    question = case.question
    attributes = ", ".join(f"{name} = {value}" for name, value in question.attributes.items())
    names = [f"x{at}" for at in range(len(question.inputs))]
    where = "" if question.placement is Placement.GRAPH else f", {question.placement.value}"
    lines = [
        f"test_{case.name}",
        *(f"{name} = {_array(x)}" for name, x in zip(names, question.inputs, strict=True)),
        f"{case.version.name}{f' <{attributes}>' if attributes else ''} ({', '.join(names)}), "
        f"opset {case.version.since}{where}",
        f"expected: {'a refusal' if expected is None else _array(expected)}",
        f"{kind.outcome.value}: {kind.detail}",
    ]
    if question.leaves_open:
        lines.append(f"no document says {question.leaves_open}")
    elif question.says:
        lines.append(f"the document says: {question.says}")
    return "\n".join(line if len(line) < _WIDE else f"{line[:_WIDE]} ..." for line in lines)


def _array(x: Array) -> str:
    return f"{x.dtype}{list(x.shape)} {x.tolist()}"
