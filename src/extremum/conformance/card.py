"""The report card: a recorded run as Markdown, and two runtimes compared.

Decides the tables and the reproducers. Facts only: who answers what, in which version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from extremum.conformance.case import Case
from extremum.conformance.kind import Kind
from extremum.conformance.question import Array, Placement
from extremum.conformance.record import Recorded, recorded
from extremum.conformance.run import Answers
from extremum.conformance.suite import cases
from extremum.markdown import table
from extremum.runtimes.outcome import Outcome

__all__ = ["caption", "compared", "markdown", "summary"]


_HEAD = """\
# Which runtime answers what

Each runtime was asked the cases of `extremum conformance`: one node each of an operator of the ArgMax family, in
every version and on every element type. `extremum conformance run --json` asks again, and asks yours, and
`extremum conformance card` writes this page.

- **exact**: bit for bit what the version means, any NaN as good as another; or a refusal where the version wants one.
- **sign of zero**, **NaN**, **tie**, **type**, **shape**: another answer, and what it is about. Where documents say
  nothing, as about NaN and the two zeros, such an answer is no mistake; this page says what one gets.
- **wrong**: another answer, and nothing of the kind explains it. **not refused**: an answer where there is none.
- **refused**: the runtime says that it does not do this. **crashed**, **timed out**: what became of its process."""

_PICTURE = """\
![A square for each version and element type]({})

A square of one colour: every case ended so. A square of two colours: the worst of the answers is below, the best above.
The column `refusals` has the cases that have to be refused."""

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


def markdown(run: Mapping[str, Any], picture: str | None = None) -> str:
    """Return a recorded run as a page of Markdown, with its picture if there is one beside it."""
    runtimes = recorded(run)
    parts = [
        _HEAD,
        f"{caption(run)}. `extremum conformance export` writes the cases as files. How each runtime differs: "
        + ", ".join(f"[{each.runtime}](#{_anchor(_title(each))})" for each in runtimes if each.kinds)
        + ".",
        *([] if picture is None else [_PICTURE.format(quote(picture))]),
        "## Outcomes",
        table(*summary(runtimes), figures=True).rstrip(),
        "## Exact answers by version",
        table(*_versions(runtimes), figures=True).rstrip(),
    ]
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
