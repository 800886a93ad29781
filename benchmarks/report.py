"""The report: what the readings of a run say, as Markdown tables, as charts, and in the documentation.

Each table is also a part of a page between two markers, which `publish` replaces, so that the text around the figures
stays a person's. Runs differ in their number of threads; what is not about threads is the first one's. A chart shows
the worst, the mean and the best of a kind of case; the tables have every case.
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from benchmarks.matrix import CALL, ELEMENT_TYPES, KINDS
from benchmarks.peers import OURS
from benchmarks.run import CaseRecord, Run, loads
from extremum.printable import markdown_table

__all__ = ["FILES", "NOISE", "SECTIONS", "fill", "publish", "publish_rows", "speed", "table", "write"]

FILES = ("bench.json", "bench.md")
DOCS = Path(__file__).resolve().parent.parent / "docs"

# Two equal calls differ by this much on a quiet machine: a ratio from here on is not a loss.
NOISE = 0.95
# Shares are judged from this many bytes of input on: below, a call's fixed cost is seen and not the memory.
_LARGE = 1_000_000
# Calls shorter than this are all overhead, which the calls on 8 elements judge.
_SHORT = 1e-6

# Kinds of cases, those that find an index apart by which of equals they find: many peers know the first one alone.
_ENDS = (", first index", ", last index")
GROUPS = [
    kind + words
    for kind in KINDS
    for words in {"elementwise": [""], "hardmax": [""], "views": [*_ENDS, ", elementwise"]}.get(kind, _ENDS)
]


def _group(case: CaseRecord) -> str:
    if case.operator.startswith("arg"):
        return case.kind + _ENDS["/last" in case.name]
    return f"{case.kind}, elementwise" if case.kind == "views" else case.kind


def _fastest_peer(case: CaseRecord) -> str | None:
    peers = {name: seconds for name, seconds in case.seconds.items() if name != OURS}
    return min(peers, key=peers.__getitem__) if peers else None


def _ratio(case: CaseRecord, peer: str | None = None) -> float | None:
    """Return how many times faster this package is than a peer, by default the fastest one."""
    name = peer or _fastest_peer(case)
    return case.seconds[name] / case.seconds[OURS] if name in case.seconds else None


def _judged(case: CaseRecord) -> float | None:
    """Return the ratio over the fastest peer of a case that is more than overhead."""
    peer = _fastest_peer(case)
    return _ratio(case) if peer and max(case.seconds[OURS], case.seconds[peer]) >= _SHORT else None


def _share(case: CaseRecord) -> float | None:
    """Return the share of the read limit that a case reaches, its output counted as traffic."""
    return None if case.limit is None or case.read < _LARGE else case.limit / case.seconds[OURS]


def _worst_share(run: Run, kind: str, element: str | None = None) -> float | None:
    cases = (case for case in run.cases if case.kind == kind and element in (None, case.element_type))
    return min((reached for case in cases if (reached := _share(case)) is not None), default=None)


def speed(cases: Iterable[CaseRecord]) -> tuple[str, ...]:
    """Return how many cases count, the geometric mean and the least of their ratios, and how many are lost."""
    ratios = [times for case in cases if (times := _judged(case)) is not None]
    if not ratios:
        return "0", "-", "-", "-"
    lost = sum(times < NOISE for times in ratios)
    return str(len(ratios)), f"{statistics.geometric_mean(ratios):.1f}", f"{min(ratios):.2f}", str(lost)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of figures, without the line break at its end."""
    text: str = markdown_table(head, rows, figures=True)
    return text.rstrip("\n")


def _threads(run: Run) -> str:
    return f"{run.threads} thread{'s'[: run.threads > 1]}"


def _time(seconds: float) -> str:
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _conditions(runs: Sequence[Run]) -> str:
    run = runs[0]
    libraries = ", ".join(f"{name} {version}" for name, version in run.versions.items() if name != "method")
    measured = ", ".join(f"{_threads(each)} {each.started}, {each.duration / 60:.0f} min" for each in runs)
    facts = {**run.machine, "cases": f"{len(run.cases)} ({run.matrix})", "versions": libraries, "measured": measured}
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _promises(run: Run) -> dict[str, tuple[float | None, float]]:
    """Return every promised figure, in this run and as it has to be at least (memory: at most)."""
    by_name = {case.name: case for case in run.cases}

    def over(name: str, peer: str | None = None) -> float | None:
        return _ratio(by_name[name], peer) if name in by_name else None

    ratios = [times for case in run.cases if (times := _judged(case)) is not None]
    segmentation, eight = "argmax/float32/(8,21,512,512)/axis=1/first", "argmax/float32/(8)/axis=all/first"
    hardmax = "hardmax/float32/(4096,1024)/axis="
    extra = max((held.extra / 2**20 for held in run.footprints), default=None)
    return {
        "worst speed over the fastest peer": (min(ratios, default=None), NOISE),
        "geometric mean over the fastest peer": (statistics.geometric_mean(ratios) if ratios else None, 5),
        f"{segmentation} over onnxruntime": (over(segmentation, "onnxruntime"), 3),
        f"{segmentation} over numpy": (over(segmentation, "numpy"), 12),
        "max of 4 float32 operands of 1M over the fastest peer": (over("max/float32/(1048576)/operands=4"), 1.3),
        **{f"{hardmax}{n} over onnxruntime": (over(f"{hardmax}{n}/opset=13", "onnxruntime"), 3) for n in (0, 1)},
        "8 elements, over np.argmax": (over(eight, "numpy"), 2),
        "8 elements, over the method a.argmax": (over(eight, "method"), 0.5),
        **{
            f"share of the read limit, {kind}, worst": (_worst_share(run, kind), bound)
            for kind, bound in KINDS.items()
            if bound is not None
        },
        _MEMORY: (extra, 1),
    }


_MEMORY = "peak memory beyond the output, MiB"


def _promised(runs: Sequence[Run]) -> str:
    rows = []
    found = [_promises(run) for run in runs]
    for what, (_, bound) in found[0].items():
        values = [each[what][0] for each in found]
        kept = [
            "not measured"
            if value is None
            else "yes"
            if (value <= bound if what == _MEMORY else value >= bound)
            else "**no**"
            for value in values
        ]
        cells = ("-" if value is None else f"{value:.2f}" for value in values)
        rows.append(
            [what, f"at {'most' if what == _MEMORY else 'least'} {bound:g}", *cells, ", ".join(dict.fromkeys(kept))]
        )
    return table(["figure", "promised", *map(_threads, runs), "kept"], rows)


def _speed(runs: Sequence[Run]) -> str:
    rows = []
    for name in (*GROUPS, "all"):
        sums = [speed(case for case in run.cases if name in (_group(case), "all")) for run in runs]
        if any(count != "0" for count, *_ in sums):
            rows.append([name, sums[0][0], *(cell for _, *cells in sums for cell in cells)])
    head = (f"{_threads(run)}: {what}" for run in runs for what in ("mean", "worst", f"below {NOISE}"))
    return table(["kind of case", "cases", *head], rows)


def _lost(runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        judged = ((times, case) for case in run.cases if (times := _judged(case)) is not None and times < NOISE)
        for times, case in sorted(judged, key=lambda pair: pair[0]):
            peer = _fastest_peer(case) or ""
            cells = (_time(case.seconds[OURS]), f"{peer} {_time(case.seconds[peer])}", f"{times:.2f}")
            rows.append([case.name, str(run.threads), *cells])
    return table(["case", "threads", OURS, "fastest peer", "speed over it"], rows) if rows else "None."


def _limits(runs: Sequence[Run]) -> str:
    rows = []
    for kind, bound in KINDS.items():
        worst = [_worst_share(runs[0], kind, element) for element in ELEMENT_TYPES]
        if any(worst):
            cells = ("-" if reached is None else f"{reached:.2f}" for reached in worst)
            rows.append([kind, "-" if bound is None else f"{bound:g}", *cells])
    return table(["kind of case", "promised", *ELEMENT_TYPES], rows)


def _sizes(runs: Sequence[Run]) -> str:
    seconds = {(point.read, point.line): point.seconds for point in runs[0].sizes}
    lines = list(dict.fromkeys(line for _, line in seconds))

    def cell(read: int, line: str) -> str:
        before = seconds.get((read // 2, line))
        return _time(seconds[read, line]) + (f" (x{seconds[read, line] / before:.2f})" if before else "")

    sizes = dict.fromkeys(read for read, _ in seconds)
    return table(["input", *lines], ([f"{read >> 20} MB", *(cell(read, line) for line in lines)] for read in sizes))


def _memory(runs: Sequence[Run]) -> str:
    head = ["layout and work", "input MiB", "output MiB", "beyond both MiB"]
    rows = (
        [held.line, f"{held.read / 2**20:.1f}", f"{held.written / 2**20:.1f}", f"{held.extra / 2**20:.2f}"]
        for held in runs[0].footprints
    )
    return table(head, rows)


def _cases(runs: Sequence[Run]) -> str:
    run = runs[0]
    found = {name for case in run.cases for name in (*case.seconds, *case.wrong)} - {OURS}
    peers = [name for name in run.versions if name in found]
    rows = []
    for case in run.cases:
        best, times, reached = _fastest_peer(case), _ratio(case), _share(case)
        cells = {name: _time(seconds) for name, seconds in case.seconds.items()} | dict.fromkeys(case.wrong, "wrong")
        if best is not None:
            cells[best] = f"*{cells[best]}*"
        over = "" if times is None else f"{times:.2f}" if times >= NOISE else f"**{times:.2f}**"
        row = (cells.get(name, "") for name in (OURS, *peers))
        rows.append([case.name, *row, over, "" if reached is None else f"{reached:.2f}"])
    return table(["case", OURS, *peers, "over the fastest", "share of limit"], rows)


# Every table by the name that its heading and its markers carry.
SECTIONS: dict[str, Callable[[Sequence[Run]], str]] = {
    "conditions": _conditions,
    "promised figures": _promised,
    "speed over the fastest peer": _speed,
    "lost cases": _lost,
    "worst share of the read limit": _limits,
    "cost over size": _sizes,
    "peak memory": _memory,
    "every case": _cases,
}


def write(run: Run, folder: Path) -> list[Path]:
    """Write a run as JSON and as Markdown; files that are there are never replaced."""
    sections = "\n\n".join(f"## {name.capitalize()}\n\n{section([run])}" for name, section in SECTIONS.items())
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in zip(FILES, (run.dumps(), f"# extremum beside its peers\n\n{sections}\n"), strict=True):
        with (folder / name).open("x", encoding="utf-8") as stream:
            stream.write(content)
    return [folder / name for name in FILES]


def publish(sources: Iterable[Path], docs: Path = DOCS) -> list[Path]:
    """Put runs of one machine, from their ``bench.json``, into docs/performance.md and the charts that a page shows."""
    runs = sorted((loads(source.read_text(encoding="utf-8")) for source in sources), key=lambda run: run.threads)
    fill({name: section(runs) for name, section in SECTIONS.items()}, docs / "performance.md")
    written = [docs / "performance.md"]
    pages = "".join(page.read_text(encoding="utf-8") for page in docs.glob("*.md"))
    for name, chart in _charts(runs).items():
        if f"charts/{name}" in pages:
            written.append(docs / "charts" / name)
            written[-1].parent.mkdir(exist_ok=True)
            written[-1].write_bytes(chart)
    return written


def fill(tables: Mapping[str, str], page: Path) -> None:
    """Put tables between their markers on a page; the text around them stays as it is."""
    text = page.read_text(encoding="utf-8")
    for name, content in tables.items():
        opening, closing = f"<!-- bench: {name} -->\n", f"\n<!-- /bench: {name} -->"
        if opening in text:
            before, rest = text.split(opening)
            text = f"{before}{opening}{content}{closing}{rest.split(closing)[1]}"
    page.write_text(text, encoding="utf-8")


def publish_rows(name: str, head: Sequence[str], rows: Sequence[Sequence[str]], docs: Path = DOCS) -> None:
    """Put rows into a table of docs/performance.md, in place of those of the same processor: their first column."""
    page = docs / "performance.md"
    found = page.read_text(encoding="utf-8").partition(f"<!-- bench: {name} -->\n")[2].partition("\n<!-- /bench")[0]
    before = (line.strip("| ").split(" | ") for line in found.splitlines()[2:])
    kept = [row for row in before if row[0] != rows[0][0]]
    fill({name: table(head, sorted([*kept, *rows], key=lambda row: row[0]))}, page)


# Okabe and Ito's colours, which stay apart for every kind of colour vision; markers tell them apart without colour.
_BLUE, _ORANGE, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "figure.titlesize": "medium",
    "figure.titleweight": "bold",
    "legend.frameon": False,
    # Fixed ids make the same run give the same SVG.
    "svg.hashsalt": "extremum",
    "svg.fonttype": "none",
}


def _charts(runs: Sequence[Run]) -> dict[str, bytes]:
    """Return every chart that the runs have readings for, as PNG and SVG; of later runs the speed alone."""
    drawn = {"speed": (_speed_chart, runs[0]), "limit": (_limit_chart, runs[0]), "size": (_size_chart, runs[0])}
    drawn |= {f"speed-threads-{run.threads}": (_speed_chart, run) for run in runs[1:]}
    files = {}
    with import_module("matplotlib").rc_context(_STYLE):
        for name, (draw, run) in drawn.items():
            figure = import_module("matplotlib.figure").Figure(layout="constrained")
            title = draw(figure, run)
            if not figure.axes:
                continue
            # From the left of the picture: axes of long names leave no room beside them.
            figure.suptitle(title, x=0.01, horizontalalignment="left")
            words = f"{run.machine.get('processor', '')}, {_threads(run)}, {run.started[:10]}"
            if draw is _speed_chart:
                versions = (f"{peer} {version}" for peer, version in run.versions.items())
                words += f"; beside {', '.join(each for each in versions if each.split()[0] not in (OURS, 'method'))}"
            figure.supxlabel(textwrap.fill(words, 110), fontsize=7)
            for kind in ("png", "svg"):
                stream = BytesIO()
                figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
                files[f"{name}.{kind}"] = stream.getvalue()
    return files


def _speed_chart(figure: Any, run: Run) -> str:
    readings = {name: list[float]() for name in GROUPS if not name.startswith(CALL)}
    for case in run.cases:
        if (times := _judged(case)) is not None and _group(case) in readings:
            readings[_group(case)].append(times)
    if axes := _ranges(figure, readings, statistics.geometric_mean, "{:.1f}x"):
        axes.set_xscale("log")
        axes.axvline(1, color="black", linewidth=0.8)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
        # The direction stands where the ratio is 1, above the first row.
        place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "fontsize": 8}
        axes.annotate("\N{LEFTWARDS ARROW} slower ", (1, 1.01), ha="right", **place)
        axes.annotate(" faster \N{RIGHTWARDS ARROW}", (1, 1.01), ha="left", **place)
    return "Speed over the fastest peer of each case: worst, geometric mean, best"


def _limit_chart(figure: Any, run: Run) -> str:
    readings = {kind: list[float]() for kind in KINDS if kind != CALL}
    for case in run.cases:
        if (reached := _share(case)) is not None:
            readings[case.kind].append(reached)
    if axes := _ranges(figure, readings, statistics.fmean, "{:.0%}"):
        for row, label in enumerate(axes.get_yticklabels()):
            if bound := KINDS[label.get_text().partition("  ")[0]]:
                axes.vlines(bound, row - 0.35, row + 0.35, color="black", linewidth=1.2)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.annotate("faster \N{RIGHTWARDS ARROW}", (1, 1.01), xycoords="axes fraction", ha="right", fontsize=8)
    return "Share of the read limit, 1 MB and more: worst, mean, best (bars: promised)"


def _ranges(figure: Any, readings: dict[str, list[float]], middle: Callable[[list[float]], float], words: str) -> Any:
    """Draw a line with three marks for each name that has readings, from the least value to the largest."""
    kinds = {name: values for name, values in readings.items() if values}
    if not kinds:
        return None
    figure.set_size_inches(8, 1.3 + 0.3 * len(kinds))
    axes = figure.subplots()
    marks = ((min, "worst", _ORANGE, "<"), (middle, "mean", _BLUE, "o"), (max, "best", _GREEN, ">"))
    for row, values in enumerate(kinds.values()):
        axes.hlines(row, min(values), max(values), color="#bbbbbb", linewidth=1.5, zorder=1)
    for pick, label, colour, marker in marks:
        xs = [pick(values) for values in kinds.values()]
        axes.scatter(xs, range(len(xs)), s=26, color=colour, marker=marker, linewidths=0, label=label, zorder=2)
    # Figures stand with the names: a phone shows the left of a chart first.
    labels = [f"{name}  {words.format(middle(values))}" for name, values in kinds.items()]
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(axis="x")
    figure.legend(loc="outside lower left", ncols=3, handletextpad=0.2, columnspacing=1.2)
    return axes


def _size_chart(figure: Any, run: Run) -> str:
    if run.sizes:
        figure.set_size_inches(8, 4.2)
        axes = figure.subplots()
        lines = list(dict.fromkeys(point.line for point in run.sizes))
        looks = zip((_BLUE, _ORANGE, _GREEN, _PURPLE), "o^Ds", strict=True)
        for line, (colour, marker) in zip(lines, looks, strict=False):
            points = [(point.read / 2**20, 1e3 * point.seconds) for point in run.sizes if point.line == line]
            axes.plot(*zip(*points, strict=True), color=colour, marker=marker, ms=4, label=line)
        limits = [(point.read / 2**20, 1e3 * point.limit) for point in run.sizes if point.line == lines[0]]
        axes.plot(*zip(*limits, strict=True), color="black", linestyle="--", linewidth=1, label="read limit")
        axes.set(xlabel="input, MB", ylabel="time of a call, ms (\N{DOWNWARDS ARROW} faster)")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for each in (axes.xaxis, axes.yaxis):
            each.set_major_formatter(lambda value, _: f"{value:g}")
        axes.grid()
        axes.legend()
    return "Cost over size, float32"
