"""A run as Markdown: the promised figures, speed and shares by kind, cost over size, memory, and every single case.

Decides wording and layout of the tables only. Each section is also a part of a document between two markers, which
`refresh` replaces, so that the text around the figures stays a person's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from benchmarks.matrix import ELEMENT_TYPES, KINDS
from benchmarks.record import OURS, CaseRecord, Run
from benchmarks.summary import NOISE, fastest_peer, promises, ratio, share, shares, speed
from extremum.markdown import table

__all__ = ["SECTIONS", "fill", "refresh", "render"]


def render(run: Run) -> str:
    """Return a run as one Markdown document."""
    parts = [f"## {name.capitalize()}\n\n{section(run)}" for name, section in SECTIONS.items()]
    return "# extremum beside its peers\n\n" + "\n\n".join(parts) + "\n"


def refresh(document: str, run: Run) -> str:
    """Return a document with the text between its markers replaced by what a run says."""
    return fill(document, lambda name: SECTIONS[name](run))


def fill(document: str, section: Callable[[str], str]) -> str:
    """Return a document with what stands between its markers replaced."""

    def replace(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- bench: {name} -->\n{section(name)}\n<!-- /bench: {name} -->"

    return re.sub(r"<!-- bench: ([a-z ]+) -->.*?<!-- /bench: \1 -->", replace, document, flags=re.DOTALL)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return table(head, rows, figures=True).rstrip("\n")


def _conditions(run: Run) -> str:
    facts = [*run.machine.items(), ("threads", str(run.threads)), ("cases", f"{len(run.cases)} ({run.matrix})")]
    libraries = ", ".join(f"{name} {version}" for name, version in run.versions.items() if name != "method")
    facts += [("versions", libraries), ("measured", f"{run.started}, {run.duration / 60:.0f} min")]
    return "\n".join(f"- {name}: {value}" for name, value in facts)


def _promised(run: Run) -> str:
    verdicts = {True: "yes", False: "**no**", None: "not measured"}
    rows = (
        [
            promise.what,
            "-" if promise.kept is None else f"{promise.value:.2f}",
            f"{'at most' if promise.upper else 'at least'} {promise.bound:g}",
            verdicts[promise.kept],
        ]
        for promise in promises(run)
    )
    return _table(["figure", "this run", "promised", "kept"], rows)


def _speed(run: Run) -> str:
    rows = []
    for kind in (*KINDS, "all"):
        summed = speed(case for case in run.cases if kind in (case.kind, "all"))
        if summed.judged:
            worst = f"{summed.worst:.2f} ({summed.worst_name})"
            means = (f"{summed.mean:.1f}", f"{summed.ceiling:.1f}")
            rows.append([kind, str(summed.judged), *means, worst, str(summed.lost)])
    head = ["kind of case", "cases", "geometric mean", "at the read limit", "worst", f"below {NOISE}"]
    return _table(head, rows)


def _limit(run: Run) -> str:
    rows = []
    for kind, bound in KINDS.items():
        worst = shares(run.cases, kind)
        if worst:
            cells = (f"{share(worst[element]):.2f}" if element in worst else "-" for element in ELEMENT_TYPES)
            rows.append([kind, "-" if bound is None else f"{bound:g}", *cells])
    return _table(["kind of case", "promised", *ELEMENT_TYPES], rows)


def _sizes(run: Run) -> str:
    lines = list(dict.fromkeys(point.line for point in run.sizes))
    by_size: dict[int, dict[str, float]] = {}
    for point in run.sizes:
        by_size.setdefault(point.read, {})[point.line] = point.seconds
    rows = []
    for read, seconds in by_size.items():
        before = by_size.get(read // 2, {})
        cells = []
        for line in lines:
            growth = f" (x{seconds[line] / before[line]:.2f})" if line in before else ""
            cells.append(f"{_time(seconds[line])}{growth}")
        rows.append([f"{read >> 20} MB", *cells])
    return _table(["input", *lines], rows)


def _memory(run: Run) -> str:
    mib = 2**20
    rows = (
        [held.line, f"{held.read / mib:.1f}", f"{held.written / mib:.1f}", f"{held.extra / mib:.2f}"]
        for held in run.footprints
    )
    return _table(["layout and work", "input MiB", "output MiB", "beyond both MiB"], rows)


def _cases(run: Run) -> str:
    seen = {name for case in run.cases for name in (*case.seconds, *case.wrong)}
    peers = [name for name in run.versions if name in seen - {OURS}]
    rows = (_case(case, peers) for case in run.cases)
    return _table(["case", OURS, *peers, "over the fastest", "share of limit"], rows)


def _case(case: CaseRecord, peers: Sequence[str]) -> list[str]:
    best, times, reached = fastest_peer(case), ratio(case), share(case)
    cells = []
    for name in peers:
        text = _time(case.seconds[name]) if name in case.seconds else "wrong" if name in case.wrong else ""
        cells.append(f"*{text}*" if name == best else text)
    over = "" if times is None else f"{times:.2f}" if times >= NOISE else f"**{times:.2f}**"
    return [case.name, _time(case.seconds[OURS]), *cells, over, "" if reached is None else f"{reached:.2f}"]


def _time(seconds: float) -> str:
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


# Every section by the name that its heading and its markers carry.
SECTIONS: dict[str, Callable[[Run], str]] = {
    "conditions": _conditions,
    "promised figures": _promised,
    "speed over the fastest peer": _speed,
    "worst share of the read limit": _limit,
    "cost over size": _sizes,
    "peak memory": _memory,
    "every case": _cases,
}
