"""Runs as charts: speed over the fastest peer, share of the read limit, cost over size; each as PNG and SVG.

Each says on which machine and when it was measured, and beside whom. A chart has 60 marks at most: a kind of case has
its worst, its mean and its best, and the tables have every case. matplotlib draws into memory-only figures, without a
display and without touching its global state.
"""

from __future__ import annotations

import statistics
import textwrap
from collections.abc import Callable, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any

from benchmarks.matrix import CALL, KINDS
from benchmarks.record import OURS, CaseRecord, Run
from benchmarks.summary import GROUPS, group, judged_ratio, share

__all__ = ["CHARTS", "FORMATS", "draw"]

# Imported by name, as the type checker runs where matplotlib need not be installed.
_matplotlib: Any = import_module("matplotlib")
_Figure: Any = import_module("matplotlib.figure").Figure

FORMATS = ("png", "svg")

# Okabe and Ito's colours, which stay apart for every kind of colour vision; markers tell them apart without colour.
_BLUE, _ORANGE, _GREEN, _PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
_LINES = ((_BLUE, "o"), (_ORANGE, "^"), (_GREEN, "D"), (_PURPLE, "s"))
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.titlesize": "medium",
    "figure.titleweight": "bold",
    "legend.frameon": False,
    # Fixed ids make the same run give the same SVG.
    "svg.hashsalt": "extremum",
    "svg.fonttype": "none",
}


def draw(runs: Sequence[Run]) -> dict[str, bytes]:
    """Return every chart that the runs have readings for, in every format; of later runs the speed alone."""
    files = {}
    with _matplotlib.rc_context(_STYLE):
        figures = {name: chart(runs[0]) for name, chart in CHARTS.items()}
        figures |= {f"speed-threads-{run.threads}": _speed(run) for run in runs[1:]}
        for name, figure in figures.items():
            for kind in FORMATS if figure is not None else ():
                stream = BytesIO()
                figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
                files[f"{name}.{kind}"] = stream.getvalue()
    return files


def _measured(run: Run, peers: bool) -> str:
    """Say on which machine a run was made, with how many threads, when, and beside whom."""
    words = f"{run.machine.get('processor', '')}, {run.threads} thread{'s'[: run.threads > 1]}, {run.started[:10]}"
    if peers:
        others = (f"{name} {version}" for name, version in run.versions.items() if name not in (OURS, "method"))
        words += f"; beside {', '.join(others)}"
    return textwrap.fill(words, 110)


def _title(figure: Any, words: str) -> None:
    # From the left of the picture: an axes of long names leaves no room beside them.
    figure.suptitle(words, x=0.01, horizontalalignment="left")


def _speed(run: Run) -> Any:
    names = {name: f"{name}  {{mean:.1f}}x" for name in GROUPS if not name.startswith(CALL)}
    figure = _ranges(run, judged_ratio, group, names, statistics.geometric_mean)
    if figure is None:
        return None
    axes = figure.axes[0]
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    # The direction stands where the ratio is 1, above the first row.
    axes.annotate("\N{LEFTWARDS ARROW} slower ", (1, 1.01), xycoords=("data", "axes fraction"), ha="right", fontsize=8)
    axes.annotate(" faster \N{RIGHTWARDS ARROW}", (1, 1.01), xycoords=("data", "axes fraction"), ha="left", fontsize=8)
    _title(figure, "Speed over the fastest peer of each case: worst, geometric mean, best")
    axes.set_xlabel(_measured(run, peers=True), fontsize=7)
    return figure


def _limit(run: Run) -> Any:
    names = {name: f"{name}  {{mean:.0%}}" for name in KINDS if name != CALL}
    figure = _ranges(run, share, lambda case: case.kind, names, statistics.fmean)
    if figure is None:
        return None
    axes = figure.axes[0]
    for row, label in enumerate(axes.get_yticklabels()):
        bound = KINDS[label.get_text().partition("  ")[0]]
        if bound is not None:
            axes.vlines(bound, row - 0.35, row + 0.35, color="black", linewidth=1.2)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.annotate("faster \N{RIGHTWARDS ARROW}", (1, 1.01), xycoords="axes fraction", ha="right", fontsize=8)
    _title(figure, "Share of the read limit, 1 MB and more: worst, mean, best (bars: promised)")
    axes.set_xlabel(_measured(run, peers=False), fontsize=7)
    return figure


def _ranges(
    run: Run,
    value: Callable[[CaseRecord], float | None],
    key: Callable[[CaseRecord], str],
    names: dict[str, str],
    middle: Callable[[list[float]], float],
) -> Any:
    """Draw a line with three marks for each name that has readings, from the least value to the largest."""
    readings: dict[str, list[float]] = {}
    for case in run.cases:
        if (found := value(case)) is not None and (name := key(case)) in names:
            readings.setdefault(name, []).append(found)
    shown = [name for name in names if name in readings]
    if not shown:
        return None
    figure = _Figure(figsize=(8, 1.3 + 0.3 * len(shown)), layout="constrained")
    axes = figure.subplots()
    means = [middle(readings[name]) for name in shown]
    for row, name in enumerate(shown):
        axes.hlines(row, min(readings[name]), max(readings[name]), color="#bbbbbb", linewidth=1.5, zorder=1)
    marks = ((min, "worst", _ORANGE, "<"), (middle, "mean", _BLUE, "o"), (max, "best", _GREEN, ">"))
    for pick, words, colour, marker in marks:
        xs = [pick(readings[name]) for name in shown]
        axes.scatter(xs, range(len(shown)), s=26, color=colour, marker=marker, linewidths=0, label=words, zorder=2)
    # Figures stand with the names: a phone shows the left of a chart first.
    labels = [names[name].format(mean=mean) for name, mean in zip(shown, means, strict=True)]
    axes.set_yticks(range(len(shown)), labels)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower left", ncols=3, handletextpad=0.2, columnspacing=1.2)
    return figure


def _sizes(run: Run) -> Any:
    if not run.sizes:
        return None
    figure = _Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    lines = list(dict.fromkeys(point.line for point in run.sizes))
    for line, (colour, marker) in zip(lines, _LINES, strict=False):
        points = [point for point in run.sizes if point.line == line]
        sizes = [point.read / 2**20 for point in points]
        axes.plot(sizes, [1e3 * point.seconds for point in points], color=colour, marker=marker, ms=4, label=line)
    limits = [point for point in run.sizes if point.line == lines[0]]
    axes.plot(
        [point.read / 2**20 for point in limits],
        [1e3 * point.limit for point in limits],
        color="black",
        linestyle="--",
        linewidth=1,
        label="read limit",
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_xlabel(f"input, MB\n{_measured(run, peers=False)}")
    axes.set_ylabel("time of a call, ms (\N{DOWNWARDS ARROW} faster)")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.legend()
    _title(figure, "Cost over size, float32")
    return figure


# From a run to its chart, None without readings, by the name of the file.
CHARTS: dict[str, Callable[[Run], Any]] = {"speed": _speed, "limit": _limit, "size": _sizes}
