"""The report card: a recorded run as JSON, Markdown and a picture.

Facts only: which runtime answers what, in which version. Cases that differ in the same way (the same outcome, topic and
operators, and whether a document decides the answer) share an entry with one example. If a runtime refuses most cases
of a version and element type, the topics of its refusals say nothing and are left out.
"""

from __future__ import annotations

import datetime
import os
import platform
import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any
from urllib.parse import quote

from extremum import __version__
from extremum.conformance.answers import Answers, Result
from extremum.conformance.case import VERSIONS, Case
from extremum.conformance.selection import cases
from extremum.conformance.topics import Placement
from extremum.errors import InputError
from extremum.printable import counted, markdown_table
from extremum.runtimes.comparison import Outcome
from extremum.runtimes.runtime import Array
from extremum.tensors import ELEMENT_TYPES

REFUSALS = "refusals"
"""The column for cases that must be refused, next to those for element types, about which it says nothing."""

COLUMNS = [
    *(each.name for each in ELEMENT_TYPES if any(each.name in row.types for row in VERSIONS)),
    REFUSALS,
]
"""The element types that any version takes, and the refusals."""


@dataclass(frozen=True)
class CaseKind:
    """Cases that differ in the same way, as JSON holds them: lists are text, so that people can read a recorded run."""

    outcome: str
    topic: str  # empty if the runtime refuses most cases; so are the titles
    specified: bool
    cases: int
    where: Mapping[str, str]  # versions such as ArgMax-13, and the element types of each
    titles: str
    example: str  # name of the smallest case
    detail: str  # the answer of the runtime to the example

    @property
    def section(self) -> int:
        """The section of the page that shows the kind."""
        if self.outcome == Outcome.REFUSED.value:
            return 2
        if self.specified:
            return 0
        return 1


@dataclass(frozen=True, slots=True)
class Recorded:
    """What one runtime answered in a recorded run."""

    runtime: str
    version: str
    # By version, such as ArgMax-13, and element type or REFUSALS.
    cells: Mapping[tuple[str, str], Counter[Outcome]]
    kinds: tuple[CaseKind, ...]

    @property
    def title(self) -> str:
        """Name and version."""
        return f"{self.runtime} {self.version}"

    def counts(self, version: str | None = None, element: str | None = None) -> Counter[Outcome]:
        """Return how many cases have each outcome, of all versions and columns or of one."""
        cells = [
            self.cells[cell]
            for cell in self.cells
            if version in (None, cell[0]) and element in (None, cell[1])
        ]
        return sum(cells, Counter())


def record(answers: Sequence[Answers], seed: int) -> dict[str, Any]:
    """Return a run as JSON holds it."""
    return {
        "suite": __version__,
        "seed": seed,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "machine": f"{platform.system()} {platform.machine()}",
        "runtimes": [
            {
                "name": each.runtime,
                "version": each.version,
                "conforms": all(result.conforms for result in each.results),
                "counts": _by_name(each.counts()),
                "cells": _cells(each.results),
                "kinds": [asdict(kind) for kind in _kinds(each.results)],
                "differences": {
                    result.case.name: {"outcome": result.outcome.value, "detail": result.detail}
                    for result in each.results
                    if result.outcome is not Outcome.EXACT
                },
            }
            for each in answers
        ],
    }


def _by_name(counts: Counter[Outcome]) -> dict[str, int]:
    return {outcome.value: counts[outcome] for outcome in Outcome if counts[outcome]}


def _cells(results: Sequence[Result]) -> dict[str, dict[str, str]]:
    """Return the counts by version and element type; types with equal counts share an entry."""
    counts: dict[str, dict[str, Counter[Outcome]]] = {}
    for result in results:
        column = REFUSALS if result.case.question.refused else result.case.element
        counts.setdefault(str(result.case.version), {}).setdefault(column, Counter())[result.outcome] += 1
    entries: dict[str, dict[str, str]] = {version: {} for version in counts}
    for version, cells in counts.items():
        for alike in cells.values():
            elements = " ".join(element for element in cells if cells[element] == alike)
            entries[version][elements] = ", ".join(f"{n} {outcome}" for outcome, n in _by_name(alike).items())
    return entries


def _kinds(results: Sequence[Result]) -> list[CaseKind]:
    """Return the kinds: what a document decides, then what none decides, then refusals; the most cases first."""
    totals = Counter(
        (each.case.version, each.case.element) for each in results if not each.case.question.refused
    )
    refusals = Counter(
        (each.case.version, each.case.element) for each in results if each.outcome is Outcome.REFUSED
    )
    alike: dict[tuple[Any, ...], list[Result]] = {}
    for each in results:
        case = each.case
        topic = each.case.topic
        is_specified = each.case.specified
        operators = case.version.name.removesuffix("Max").removesuffix("Min")
        if each.outcome is Outcome.REFUSED:
            cell = case.version, case.element
            topic = "" if 2 * refusals[cell] > totals[cell] else topic
            is_specified = True
        if each.outcome is not Outcome.EXACT:
            alike.setdefault((each.outcome, topic, operators, is_specified), []).append(each)
    kinds = [_kind(topic, members) for (_, topic, _, _), members in alike.items()]
    return sorted(kinds, key=lambda kind: (kind.section, -kind.cases))


def _kind(topic: str, members: Sequence[Result]) -> CaseKind:
    # An empty tensor explains less than any other.
    sizes = [sum(x.size for x in each.case.question.inputs) or float("inf") for each in members]
    first = min(zip(sizes, members, strict=True), key=lambda pair: (pair[0], -pair[1].case.version.since))[1]
    elements: dict[str, dict[str, None]] = {}
    for each in members:
        elements.setdefault(str(each.case.version), {})[each.case.element] = None
    where = {version: " ".join(each) for version, each in elements.items()}
    if topic:
        titles = " ".join(dict.fromkeys(each.case.question.title for each in members))
    else:
        titles = ""
    case = first.case
    return CaseKind(
        first.outcome.value, topic, case.specified, len(members), where, titles, case.name, first.detail
    )


def summarised(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded run without the individual cases."""
    return {
        **run,
        "runtimes": [{key: each[key] for key in each if key != "differences"} for each in run["runtimes"]],
    }


def recorded(run: Mapping[str, Any]) -> list[Recorded]:
    """Return the runtimes of a run from :func:`record` or :func:`summarised`."""
    try:
        return [
            Recorded(
                each["name"],
                each["version"],
                {
                    (version, element): Counter({Outcome(name): int(n) for n, _, name in parts})
                    for version, cells in each["cells"].items()
                    for elements, counts in cells.items()
                    for parts in [[part.partition(" ") for part in counts.split(", ")]]
                    for element in elements.split()
                },
                tuple(CaseKind(**kind) for kind in each["kinds"]),
            )
            for each in run["runtimes"]
        ]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError("the file does not hold a recorded run of the suite", given=str(error)) from None


# Worst first, and darker is worse, so that the order is visible without colours too.
_COLOURS = {
    Outcome.CRASHED: "#1d1d1f",
    Outcome.TIMED_OUT: "#6b3fa0",
    Outcome.WRONG: "#c1272d",
    Outcome.ACCEPTED: "#a0522d",
    Outcome.SHAPE: "#d9722a",
    Outcome.TYPE: "#d9722a",
    Outcome.TIE: "#e58a2e",
    Outcome.NAN: "#f0b13c",
    Outcome.ZERO: "#f4e08a",
    Outcome.REFUSED: "#c3c7cd",
    Outcome.EXACT: "#a8dcc0",
}
# The edge of a square; the rest is the gap to the next one.
_EDGE = 0.92


def draw(runtimes: Sequence[Recorded], path: str | os.PathLike[str], caption: str) -> None:
    """Write the picture; the suffix of the path determines the format."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    # Three runtimes fit into the width of a page. Inches of a square, and of the names to the left and above.
    across = min(len(runtimes), 3)
    down = -(-len(runtimes) // 3)
    width = 0.8 + (len(COLUMNS) * 0.14 + 0.35) * across
    height = 1.4 + (len(VERSIONS) * 0.14 + 0.85) * down
    # A white background, so that the picture is readable on a dark page too.
    figure = Figure(figsize=(max(width, 8), height), facecolor="white", layout="constrained")
    # The first panel of a row has the names of the versions.
    grid = figure.subplots(down, across, squeeze=False, sharey="row")
    for axes, runtime in zip(grid.flat, runtimes, strict=False):
        _panel(axes, runtime)
    for axes in grid.flat[len(runtimes) :]:
        axes.set_axis_off()
    total = sum((each.counts() for each in runtimes), Counter[Outcome]())
    handles = [Patch(color=_COLOURS[outcome], label=outcome.value) for outcome in Outcome if total[outcome]]
    explanation = "Two colours: the worst of the answers below, the best above."
    title = f"{textwrap.fill(caption, 44)}.\n{textwrap.fill(explanation, 44)}"
    # On the left, in two columns: a phone shows the legend together with the first column of runtimes.
    figure.legend(
        handles=handles, ncols=2, loc="outside lower left", frameon=False, title=title
    ).set_alignment("left")
    figure.savefig(path, dpi=130)


def _panel(axes: Any, runtime: Recorded) -> None:
    from matplotlib.collections import PolyCollection

    halves: list[list[tuple[float, float]]] = []
    colours: list[str] = []
    for (y, row), (x, column) in product(enumerate(VERSIONS), enumerate(COLUMNS)):
        if counts := runtime.cells.get((str(row), column)):
            # The lower half has the colour of the worst answer, the upper half that of the best.
            shades = [colour for outcome, colour in _COLOURS.items() if counts[outcome]]
            corners = [(x, y), (x + _EDGE, y), (x, y + _EDGE), (x + _EDGE, y + _EDGE)]
            halves += [corners[1:], corners[:3]]
            colours += [shades[0], shades[-1]]
    # A line of its own colour hides where the halves of a square meet.
    axes.add_collection(PolyCollection(halves, color=colours, linewidth=0.2))
    axes.set_title(runtime.title, fontsize=10)
    axes.set_xticks([place + _EDGE / 2 for place in range(len(COLUMNS))], COLUMNS, rotation=90, fontsize=7)
    axes.set_yticks([line + _EDGE / 2 for line in range(len(VERSIONS))], map(str, VERSIONS), fontsize=8)
    axes.tick_params(length=0, pad=2)
    axes.set(xlim=(0, len(COLUMNS)), ylim=(len(VERSIONS), 0), aspect="equal", frame_on=False)


_HEAD = """\
# Which runtime answers what

Each runtime ran the cases of `extremum conformance`: models of one node, for every version and element type of the
operators. `extremum conformance run --json` runs them again, or on your runtime. `extremum conformance card` writes
this page, with an example of each difference.

- **exact**: every bit as the version says (all NaNs count as equal, and an unsorted TopK may have any order), or a
  refusal where the version requires one.
- **sign of zero**, **NaN**, **tie**, **type**, **shape**: another answer; the name says what differs. Where no
  document decides, as for NaN and the zeros, this is not an error.
- **wrong**: an answer that differs in another way. **not refused**: an answer where the version requires a refusal.
- **refused**: the runtime does not run the case. **crashed**, **timed out**: its process crashed or took too long."""

_PICTURE = """\
![A square for each version and element type]({})

A square of one colour: all cases have that outcome. A square of two colours: the worst outcome below, the best above.
The column `refusals` has the cases that must be refused."""

_SECTIONS = ("Where a document decides", "Where documents leave it open", "What it refuses")


def caption(run: Mapping[str, Any]) -> str:
    """Return when and where a run was recorded."""
    return f"Run on {run['date']}, {run['machine']}; suite {run['suite']}, seed {run['seed']}"


def markdown(run: Mapping[str, Any], picture: str | None = None, *, differences: bool = True) -> str:
    """Return a recorded run as a page of Markdown, with a link to its picture; without ``differences``, only tables."""
    runtimes = recorded(run)
    differing = [each for each in runtimes if each.kinds] if differences else []
    anchors = (re.sub(r"[^\w-]", "", each.title.lower().replace(" ", "-")) for each in differing)
    links = ", ".join(f"[{each.runtime}](#{anchor})" for each, anchor in zip(differing, anchors, strict=True))
    how = f" How each runtime differs: {links}." if differences else ""
    counts = [each.counts() for each in runtimes]
    present = [outcome for outcome in Outcome if any(count[outcome] for count in counts)]
    outcomes = [[outcome.value, *(str(count[outcome]) for count in counts)] for outcome in present]
    versions = []
    for version in dict.fromkeys(version for each in runtimes for version, _ in each.cells):
        counts = [each.counts(version) for each in runtimes]
        total = max(count.total() for count in counts)
        versions.append([version, str(total), *(str(count[Outcome.EXACT]) for count in counts)])
    parts = [
        _HEAD,
        f"{caption(run)}. `extremum conformance export` writes the cases as files.{how}",
        *([] if picture is None else [_PICTURE.format(quote(picture))]),
        "## Outcomes",
        markdown_table(["", *(each.title for each in runtimes)], outcomes, figures=True).rstrip(),
        "## Exact answers by version",
        markdown_table(["", "cases", *(each.runtime for each in runtimes)], versions, figures=True).rstrip(),
    ]
    examples = {case.name: case for case in cases(seed=run["seed"])} if differing else {}
    for runtime in differing:
        parts.append(f"## {runtime.title}")
        for section, heading in enumerate(_SECTIONS):
            if kinds := [kind for kind in runtime.kinds if kind.section == section]:
                parts.append(f"### {heading}")
                parts += [
                    _difference(kind, examples[kind.example]) for kind in kinds if kind.example in examples
                ]
    return "\n\n".join(parts) + "\n"


def _difference(kind: CaseKind, case: Case) -> str:
    """Return a paragraph on cases that differ in the same way, with one case to reproduce."""
    number = counted(kind.cases, "case")
    topic = kind.topic.replace("_", " ") or "all or most of what was asked"
    alike: dict[str, list[str]] = {}
    for version, elements in kind.where.items():
        alike.setdefault(elements, []).append(version)
    about = "; ".join(f"{', '.join(each)} on {types.replace(' ', ', ')}" for types, each in alike.items())
    if titles := kind.titles.split():
        more = f" and {len(titles) - 8} more" if len(titles) > 8 else ""
        about += f"; questions {', '.join(f'`{title}`' for title in titles[:8])}{more}"
    return f"**{kind.outcome}: {topic}**, {number}: {about}.\n\n```text\n{_reproducer(kind, case)}\n```"


def _reproducer(kind: CaseKind, case: Case) -> str:
    expected = case.expected()
    question = case.question
    attributes = ", ".join(f"{name} = {value}" for name, value in question.attributes.items())
    where = "" if question.placement is Placement.GRAPH else f", {question.placement.value}"
    operator = f"{case.version.name} <{attributes}>" if attributes else case.version.name
    node = f"{operator} ({', '.join(case.feeds)})"
    answer = "a refusal" if expected is None else "; ".join(map(_array, expected))
    lines = [
        f"test_{case.name}",
        *(f"{name} = {_array(x)}" for name, x in case.feeds.items()),
        f"{node}, opset {case.version.since}{where}",
        f"expected: {answer}",
        f"{kind.outcome}: {kind.detail}",
    ]
    if question.leaves_open:
        lines.append(f"no document says {question.leaves_open}")
    elif question.says:
        lines.append(f"the document says: {question.says}")
    return "\n".join(line if len(line) < 110 else f"{line[:110]} ..." for line in lines)


def _array(x: Array) -> str:
    return f"{x.dtype}{list(x.shape)} {x.tolist()}"
