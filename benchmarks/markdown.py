"""Runs as Markdown: the promised figures, speed and shares by kind, cost over size, memory, and every single case.

Decides wording and layout of the tables only. Each section is also a part of a document between two markers, which
`refresh` replaces, so that the text around the figures stays a person's. Runs differ in their number of threads; what
is not about threads is the first one's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from benchmarks.matrix import ELEMENT_TYPES, KINDS
from benchmarks.record import OURS, CaseRecord, Run
from benchmarks.summary import GROUPS, NOISE, Speed, fastest_peer, group, lost, promises, ratio, share, shares, speed
from extremum.printable import markdown_table as table

__all__ = ["SECTIONS", "fill", "refresh", "render"]


def render(run: Run) -> str:
    """Return a run as one Markdown document."""
    parts = [f"## {name.capitalize()}\n\n{section([run])}" for name, section in SECTIONS.items()]
    return "# extremum beside its peers\n\n" + "\n\n".join(parts) + "\n"


def refresh(document: str, runs: Sequence[Run]) -> str:
    """Return a document with the text between its markers replaced by what the runs say."""
    return fill(document, lambda name: SECTIONS[name](runs))


def fill(document: str, section: Callable[[str], str]) -> str:
    """Return a document with what stands between its markers replaced."""

    def replace(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- bench: {name} -->\n{section(name)}\n<!-- /bench: {name} -->"

    return re.sub(r"<!-- bench: ([a-z ]+) -->.*?<!-- /bench: \1 -->", replace, document, flags=re.DOTALL)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return table(head, rows, figures=True).rstrip("\n")


def _conditions(runs: Sequence[Run]) -> str:
    facts = [*runs[0].machine.items(), ("cases", f"{len(runs[0].cases)} ({runs[0].matrix})")]
    libraries = ", ".join(f"{name} {version}" for name, version in runs[0].versions.items() if name != "method")
    measured = ", ".join(f"{_threads(run)} {run.started}, {run.duration / 60:.0f} min" for run in runs)
    facts += [("versions", libraries), ("measured", measured)]
    return "\n".join(f"- {name}: {value}" for name, value in facts)


def _threads(run: Run) -> str:
    return "1 thread" if run.threads == 1 else f"{run.threads} threads"


def _promised(runs: Sequence[Run]) -> str:
    verdicts = {True: "yes", False: "**no**", None: "not measured"}
    rows = []
    for each in zip(*map(promises, runs), strict=True):
        cells = (f"{one.value:.2f}" if one.kept is not None else "-" for one in each)
        bound = f"{'at most' if each[0].upper else 'at least'} {each[0].bound:g}"
        rows.append([each[0].what, bound, *cells, ", ".join(dict.fromkeys(verdicts[one.kept] for one in each))])
    return _table(["figure", "promised", *map(_threads, runs), "kept"], rows)


def _speed(runs: Sequence[Run]) -> str:
    rows = []
    for name in (*GROUPS, "all"):
        summed = [speed(case for case in run.cases if name in (group(case), "all")) for run in runs]
        if any(each.judged for each in summed):
            cells = (cell for each in summed for cell in _sums(each))
            rows.append([name, str(summed[0].judged), *cells])
    head = (f"{_threads(run)}: {what}" for run in runs for what in ("mean", "worst", f"below {NOISE}"))
    return _table(["kind of case", "cases", *head], rows)


def _sums(summed: Speed) -> tuple[str, ...]:
    return (f"{summed.mean:.1f}", f"{summed.worst:.2f}", str(summed.lost)) if summed.judged else ("-", "-", "-")


def _lost(runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        for times, case in lost(run.cases):
            peer = fastest_peer(case)
            assert peer is not None
            cells = (_time(case.seconds[OURS]), f"{peer} {_time(case.seconds[peer])}", f"{times:.2f}")
            rows.append([case.name, str(run.threads), *cells])
    return _table(["case", "threads", OURS, "fastest peer", "speed over it"], rows) if rows else "None."


def _limit(runs: Sequence[Run]) -> str:
    run, rows = runs[0], []
    for kind, bound in KINDS.items():
        worst = shares(run.cases, kind)
        if worst:
            cells = (f"{share(worst[element]):.2f}" if element in worst else "-" for element in ELEMENT_TYPES)
            rows.append([kind, "-" if bound is None else f"{bound:g}", *cells])
    return _table(["kind of case", "promised", *ELEMENT_TYPES], rows)


def _layouts(runs: Sequence[Run]) -> str:
    rows: dict[str, dict[str, str]] = {}
    for case in runs[0].cases:
        if (reached := share(case)) is not None:
            name = case.name.replace(f"/{case.element_type}/", "/")
            rows.setdefault(name, {})[case.element_type] = f"{reached:.2f}"
    cells = ([name, *(shown.get(element, "-") for element in ELEMENT_TYPES)] for name, shown in rows.items())
    return _table(["case", *ELEMENT_TYPES], cells)


def _sizes(runs: Sequence[Run]) -> str:
    run = runs[0]
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


def _memory(runs: Sequence[Run]) -> str:
    run = runs[0]
    mib = 2**20
    rows = (
        [held.line, f"{held.read / mib:.1f}", f"{held.written / mib:.1f}", f"{held.extra / mib:.2f}"]
        for held in run.footprints
    )
    return _table(["layout and work", "input MiB", "output MiB", "beyond both MiB"], rows)


def _cases(runs: Sequence[Run]) -> str:
    run = runs[0]
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
SECTIONS: dict[str, Callable[[Sequence[Run]], str]] = {
    "conditions": _conditions,
    "promised figures": _promised,
    "speed over the fastest peer": _speed,
    "lost cases": _lost,
    "worst share of the read limit": _limit,
    "share of the read limit": _layouts,
    "cost over size": _sizes,
    "peak memory": _memory,
    "every case": _cases,
}
