"""The report: the readings of a run as Markdown tables, as a chart, and in the documentation.

Each table is also a part of a page between two markers. `publish` replaces only that part, so that people can write the
text around it. Runs differ in their number of threads; tables that are not about threads show the first run.
"""

from __future__ import annotations

import json
import re
import statistics
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path

from benchmarks.peers import OURS
from benchmarks.run import Record
from extremum.printable import markdown_table

DOCS = Path(__file__).resolve().parent.parent / "docs"

# Two equal calls differ by this much on a quiet machine: a ratio of at least this is not a loss.
NOISE = 0.95
# Calls shorter than this are all overhead; the calls on 8 elements measure that.
_SHORT = 1e-6


def _group(case: Record) -> str:
    """Return the kind of a case, and which of equals it finds: many peers find only the first."""
    if case["operator"].startswith("arg"):
        return f"{case['kind']}, {'last' if '/last' in case['name'] else 'first'} index"
    return "views, elementwise" if case["kind"] == "views" else str(case["kind"])


def fastest_peer(seconds: Mapping[str, float]) -> str:
    """Return the library, other than this package, that needs the least time; empty if none has the function."""
    return min((name for name in seconds if name != OURS), key=seconds.__getitem__, default="")


def _ratio(case: Record, least: float = _SHORT) -> float | None:
    """Return how many times as fast this package is as the fastest peer; None without one, or if both are too short."""
    ours = case["seconds"][OURS]
    peer = case["seconds"].get(fastest_peer(case["seconds"]))
    return None if peer is None or max(ours, peer) < least else peer / ours


def speed(cases: Iterable[Record]) -> tuple[str, ...]:
    """Return how many cases count, the geometric mean and the least of their ratios, and how many are lost."""
    ratios = [times for case in cases if (times := _ratio(case)) is not None]
    if not ratios:
        return "0", "-", "-", "-"
    lost = sum(times < NOISE for times in ratios)
    return str(len(ratios)), f"{statistics.geometric_mean(ratios):.1f}", f"{min(ratios):.2f}", str(lost)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of figures, without the line break at its end."""
    text: str = markdown_table(head, rows, figures=True)
    return text.rstrip("\n")


def _threads(run: Record) -> str:
    return f"{run['threads']} thread{'s'[: run['threads'] > 1]}"


def _time(seconds: float) -> str:
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _libraries(run: Record) -> str:
    return ", ".join(f"{name} {version}" for name, version in run["versions"].items() if name not in (OURS, "method"))


def _conditions(runs: Sequence[Record]) -> str:
    run = runs[0]
    facts = run["machine"] | {"cases": f"{len(run['cases'])} ({run['matrix']})", "versions": _libraries(run)}
    facts["measured"] = ", ".join(
        f"{_threads(each)} {each['started']}, {each['duration'] / 60:.0f} min" for each in runs
    )
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _speed(runs: Sequence[Record]) -> str:
    rows = []
    for name in (*dict.fromkeys(map(_group, runs[0]["cases"])), "all"):
        sums = [speed(case for case in run["cases"] if name in (_group(case), "all")) for run in runs]
        if any(count != "0" for count, *_ in sums):
            rows.append([name, sums[0][0], *(cell for _, *cells in sums for cell in cells)])
    head = (f"{_threads(run)}: {what}" for run in runs for what in ("mean", "worst", f"below {NOISE}"))
    return table(["kind of case", "cases", *head], rows)


def _lost(runs: Sequence[Record]) -> str:
    rows = []
    for run in runs:
        judged = ((times, case) for case in run["cases"] if (times := _ratio(case)) is not None and times < NOISE)
        for times, case in sorted(judged, key=lambda pair: pair[0]):
            peer = fastest_peer(case["seconds"])
            cells = (_time(case["seconds"][OURS]), f"{peer} {_time(case['seconds'][peer])}", f"{times:.2f}")
            rows.append([case["name"], str(run["threads"]), *cells])
    return table(["case", "threads", OURS, "fastest peer", "speed over it"], rows) if rows else "None."


def _memory(runs: Sequence[Record]) -> str:
    sizes = {(held["layout"], held["work"]): f"{held['extra'] / 2**20:.2f}" for held in runs[0]["footprints"]}
    layouts, works = (dict.fromkeys(key[at] for key in sizes) for at in (0, 1))
    return table(["MiB", *works], ([layout, *(sizes[layout, work] for work in works)] for layout in layouts))


def _cases(runs: Sequence[Record]) -> str:
    run = runs[0]
    others = {name for case in run["cases"] for name in (*case["seconds"], *case["wrong"])} - {OURS}
    peers = [name for name in run["versions"] if name in others]
    rows = []
    for case in run["cases"]:
        best = fastest_peer(case["seconds"])
        times = _ratio(case, 0)
        cells = dict.fromkeys(case["wrong"], "wrong")
        for name, seconds in case["seconds"].items():
            cells[name] = f"*{_time(seconds)}*" if name == best else _time(seconds)
        over = ""
        if times is not None:
            over = f"{times:.2f}" if times >= NOISE else f"**{times:.2f}**"
        rows.append([case["name"], *(cells.get(name, "") for name in (OURS, *peers)), over])
    return table(["case", OURS, *peers, "over the fastest"], rows)


# Every table by the name in its heading and its markers.
SECTIONS: dict[str, Callable[[Sequence[Record]], str]] = {
    "conditions": _conditions,
    "speed over the fastest peer": _speed,
    "lost cases": _lost,
    "peak memory": _memory,
    "every case": _cases,
}


def publish(sources: Iterable[Path], docs: Path = DOCS) -> list[Path]:
    """Put runs of one machine, from their JSON, into docs/performance.md and the charts of the pages."""
    runs = sorted((json.loads(source.read_bytes()) for source in sources), key=lambda run: run["threads"])
    fill({name: section(runs) for name, section in SECTIONS.items()}, docs / "performance.md")
    written = [docs / "performance.md"]
    (docs / "charts").mkdir(exist_ok=True)
    # The README has a PNG, which every viewer shows.
    for run, name in ((runs[0], "speed.png"), *((run, f"speed-threads-{run['threads']}.svg") for run in runs)):
        written.append(docs / "charts" / name)
        written[-1].write_bytes(_chart(run, written[-1].suffix[1:]))
    return written


def fill(tables: Mapping[str, str], page: Path) -> None:
    """Put tables between their markers on a page; the text around them stays unchanged."""
    text = page.read_text(encoding="utf-8")
    for name, content in tables.items():
        between = rf"(?s)(?<=<!-- bench: {name} -->\n).*?(?=\n<!-- /bench: {name} -->)"
        text = re.sub(between, content.replace("\\", r"\\"), text)
    page.write_text(text, encoding="utf-8")


def publish_rows(name: str, head: Sequence[str], rows: Sequence[Sequence[str]], docs: Path = DOCS) -> None:
    """Put rows into a table of docs/performance.md; they replace rows with the same first column, the processor."""
    page = docs / "performance.md"
    text = page.read_text(encoding="utf-8").partition(f"<!-- bench: {name} -->\n")[2].partition("\n<!-- /bench")[0]
    before = (line.strip("| ").split(" | ") for line in text.splitlines()[2:])
    kept = [row for row in before if row[0] != rows[0][0]]
    fill({name: table(head, sorted([*kept, *rows], key=lambda row: row[0]))}, page)


# Okabe and Ito's colours, which differ for every kind of colour vision; markers differ without colour too.
_MARKS: tuple[tuple[Callable[[list[float]], float], str, str, str], ...] = (
    (min, "worst", "#D55E00", "<"),
    (statistics.geometric_mean, "mean", "#0072B2", "o"),
    (max, "best", "#009E73", ">"),
)
# Fixed ids make the same run give the same SVG.
_STYLE = {"font.size": 9, "legend.frameon": False, "svg.hashsalt": "extremum", "svg.fonttype": "none"}


def _chart(run: Record, kind: str) -> bytes:
    """Draw a line with three marks for each kind of case, from its least ratio to the largest."""
    readings: dict[str, list[float]] = {}
    for case in run["cases"]:
        if (times := _ratio(case)) is not None and case["kind"] != "call":
            readings.setdefault(_group(case), []).append(times)
    rows = range(len(readings))
    with import_module("matplotlib").rc_context(_STYLE):
        figure = import_module("matplotlib.figure").Figure(figsize=(8, 1.3 + 0.3 * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.hlines(rows, *([pick(r) for r in readings.values()] for pick in (min, max)), color="#bbbbbb", zorder=1)
        for pick, label, colour, marker in _MARKS:
            axes.scatter([*map(pick, readings.values())], rows, s=26, c=colour, marker=marker, label=label, zorder=2)
        # Figures are next to the names: a phone shows the left of a chart first.
        axes.set_yticks(rows, [f"{name}  {statistics.geometric_mean(r):.1f}x" for name, r in readings.items()])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
        axes.axvline(1, color="black", linewidth=0.8)
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title("\N{LEFTWARDS ARROW} slower | faster \N{RIGHTWARDS ARROW}", loc="right", fontsize=8)
        # At the left of the picture: axes with long names leave no room.
        title = "Speed over the fastest peer of each case: worst, geometric mean, best"
        figure.suptitle(title, x=0.01, horizontalalignment="left", weight="bold")
        words = ", ".join((*(run["machine"][key] for key in ("processor", "instruction set")), _threads(run)))
        axes.set_xlabel(textwrap.fill(f"{words}, {run['started'][:10]}; against {_libraries(run)}", 110), fontsize=7)
        figure.legend(loc="outside lower left", ncols=3, handletextpad=0.2, columnspacing=1.2)
        stream = BytesIO()
        figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
        return stream.getvalue()
