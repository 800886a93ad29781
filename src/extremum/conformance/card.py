"""The report card: a recorded run as Markdown, and two runtimes compared.

Decides the tables and the reproducers. Facts only: who answers what, in which version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import onnx

from extremum.conformance.case import Case
from extremum.conformance.model import model_of
from extremum.conformance.outcome import Outcome
from extremum.conformance.record import Recorded, recorded
from extremum.conformance.suite import cases
from extremum.markdown import table

__all__ = ["caption", "compared", "markdown", "summary"]


_HEAD = """\
# Which runtime answers what

Runtimes were asked the cases of `extremum conformance`: one node each of ArgMax, ArgMin, Max, Min or Hardmax, in every
version and on every element type. [runtimes.md](runtimes.md) says how to ask others, and what the words mean.
`make conformance` makes this page anew.

- **exact**: bit for bit what the version means; any NaN is as good as another. A refusal where the version asks for it.
- **sign of zero**, **NaN**, **tie**, **type**, **shape**: another answer, and the one thing in which it differs. Where
  documents say nothing, as of NaN and of the two zeros, such an answer is no mistake; the tables say what others get.
- **wrong**: an answer that nothing explains. **not refused**: an answer where the version allows none.
- **refused**: the runtime says that it does not do this. **crashed**, **timed out**: its process did.
"""


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


def versions(runtimes: Sequence[Recorded]) -> tuple[list[str], list[list[str]]]:
    """Return a table of operator versions: the headings, and how many cases are exact and what the others are."""
    asked = dict.fromkeys((operator, since) for each in runtimes for operator, since, _ in each.asked)
    headings = ["", *(each.runtime for each in runtimes)]
    return headings, [
        [f"{operator}-{since}", *(_cell(each, operator, since) for each in runtimes)] for operator, since in asked
    ]


def _cell(runtime: Recorded, operator: str, since: int) -> str:
    counts = runtime.counts(operator, since)
    total = counts.total()
    exact = counts.pop(Outcome.EXACT, 0)
    others = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome])
    return f"{exact} of {total}" + (f": {others}" if others else "")


def compared(first: Recorded, second: Recorded) -> Iterator[tuple[str, str, str]]:
    """Yield the cases with different outcomes or details: the name, and what each of the two made of it."""
    exact = (Outcome.EXACT, "")
    for name in sorted(first.differences.keys() | second.differences.keys()):
        pair = [each.differences.get(name, exact) for each in (first, second)]
        if pair[0] != pair[1]:
            one, other = (outcome.value + (f": {detail}" if detail else "") for outcome, detail in pair)
            yield name, one, other


def markdown(run: Mapping[str, Any]) -> str:
    """Return a recorded run as a page of Markdown."""
    runtimes = recorded(run)
    parts = [
        _HEAD.rstrip(),
        f"{caption(run)}.",
        "![Squares for each version and element type](charts/conformance.png)",
        "## Outcomes",
        table(*summary(runtimes)).rstrip(),
        "## By operator and version",
        table(*versions(runtimes)).rstrip(),
    ]
    by_name = {case.name: case for case in cases(seed=run["seed"])}
    for runtime in runtimes:
        examples = _examples(runtime, by_name)
        if examples:
            parts += [f"## How {runtime.runtime} {runtime.version} differs", *examples]
    return "\n\n".join(parts) + "\n"


def _examples(runtime: Recorded, by_name: Mapping[str, Case]) -> list[str]:
    first: dict[tuple[str, Outcome, str], str] = {}
    number: dict[tuple[str, Outcome, str], int] = {}
    for name, (outcome, _) in runtime.differences.items():
        if name in by_name:
            kind = by_name[name].version.name, outcome, by_name[name].topic
            first.setdefault(kind, name)
            number[kind] = number.get(kind, 0) + 1
    return [
        _example(runtime, by_name[name], f"{operator}, {topic}: {outcome.value} ({number[operator, outcome, topic]})")
        for (operator, outcome, topic), name in first.items()
    ]


def _example(runtime: Recorded, case: Case, title: str) -> str:
    expected = case.expected()
    answer = runtime.differences[case.name][1]
    inputs = [f"x{at} = {x.dtype}{list(x.shape)} {x.tolist()}" for at, x in enumerate(case.question.inputs)]
    wanted = "a refusal" if expected is None else f"{expected.dtype}{list(expected.shape)} {expected.tolist()}"
    lines = [
        onnx.printer.to_text(model_of(case, expected)).strip(),
        *inputs,
        f"expected {wanted}",
        f"answered {answer}",
    ]
    says = "; ".join(
        part
        for part in (
            case.question.says and f"The document says: {case.question.says}",
            case.question.leaves_open and f"no document says {case.question.leaves_open}",
        )
        if part
    )
    text = "\n".join(line if len(line) < _WIDE else f"{line[:_WIDE]} ..." for line in lines)
    return f"### {title}\n\n{says[:1].upper()}{says[1:]}. Case `{case.name}`.\n\n```text\n{text}\n```"


_WIDE = 160
