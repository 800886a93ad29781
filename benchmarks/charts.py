"""A run as three charts: speed over the fastest peer, share of the read limit, cost over size; each as PNG and SVG.

matplotlib draws into memory-only figures, without a display and without touching its global state.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import Any

from benchmarks.matrix import CALL, KINDS
from benchmarks.record import CaseRecord, Run
from benchmarks.summary import judged_ratio, share, speed

__all__ = ["CHARTS", "FORMATS", "draw"]

# Imported by name, as the type checker runs where matplotlib need not be installed.
_matplotlib: Any = import_module("matplotlib")
_Figure: Any = import_module("matplotlib.figure").Figure

FORMATS = ("png", "svg")

# Okabe and Ito's colours, which stay apart for every kind of colour vision; markers tell them apart without colour.
_FAMILIES: dict[str, tuple[str, str]] = {
    "float32": ("#0072B2", "o"),
    "float64": ("#56B4E9", "s"),
    "float16": ("#D55E00", "^"),
    "bfloat16": ("#E69F00", "v"),
    "signed integers": ("#009E73", "D"),
    "unsigned integers": ("#CC79A7", "P"),
}
_STYLE: dict[str, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "legend.frameon": False,
    # Fixed ids make the same run give the same SVG.
    "svg.hashsalt": "extremum",
    "svg.fonttype": "none",
}


def draw(run: Run) -> dict[str, bytes]:
    """Return every chart that a run has readings for, in every format."""
    files = {}
    with _matplotlib.rc_context(_STYLE):
        for name, chart in CHARTS.items():
            figure = chart(run)
            for kind in FORMATS if figure is not None else ():
                stream = BytesIO()
                figure.savefig(stream, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
                files[f"{name}.{kind}"] = stream.getvalue()
    return files


def _speed(run: Run) -> Any:
    figure = _strips(run, judged_ratio)
    if figure is None:
        return None
    axes = figure.axes[0]
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    kinds = [label.get_text() for label in axes.get_yticklabels()]
    means = [speed(case for case in run.cases if case.kind == kind).mean for kind in kinds]
    for row, mean in enumerate(means):
        axes.vlines(mean, row - 0.4, row + 0.4, color="black", linewidth=1.2)
    # Figures stand with the names: a phone shows the left of a chart first.
    axes.set_yticks(range(len(kinds)), [f"{kind}  {mean:.1f}x" for kind, mean in zip(kinds, means, strict=True)])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    axes.set_title("Speed over the fastest peer of each case (bar: geometric mean)")
    return figure


def _limit(run: Run) -> Any:
    figure = _strips(run, share)
    if figure is None:
        return None
    axes = figure.axes[0]
    for row, label in enumerate(axes.get_yticklabels()):
        bound = KINDS[label.get_text()]
        if bound is not None:
            axes.vlines(bound, row - 0.4, row + 0.4, color="black", linewidth=1.2)
    axes.set_xlim(left=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.set_title("Share of the read limit, inputs of 1 MB and more (bars: what is promised)")
    return figure


def _strips(run: Run, value: Callable[[CaseRecord], float | None]) -> Any:
    points: dict[str, dict[str, list[float]]] = {}
    for case in run.cases:
        found = value(case)
        if case.kind != CALL and found is not None:
            points.setdefault(case.kind, {}).setdefault(_family(case.element_type), []).append(found)
    if not points:
        return None
    shown = [kind for kind in KINDS if kind in points]
    figure = _Figure(figsize=(8, 0.9 + 0.62 * len(shown)), layout="constrained")
    axes = figure.subplots()
    for lane, (family, (colour, marker)) in enumerate(_FAMILIES.items()):
        offset = (lane - (len(_FAMILIES) - 1) / 2) * 0.12
        xs = [x for kind in shown for x in points[kind].get(family, ())]
        ys = [row + offset for row, kind in enumerate(shown) for _ in points[kind].get(family, ())]
        if xs:
            axes.scatter(xs, ys, s=14, color=colour, marker=marker, alpha=0.7, linewidths=0, label=family)
    axes.set_yticks(range(len(shown)), shown)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower left", ncols=3, handletextpad=0.2, columnspacing=1.2)
    return figure


def _family(element_type: str) -> str:
    if element_type in _FAMILIES:
        return element_type
    return "unsigned integers" if element_type.startswith("u") else "signed integers"


def _sizes(run: Run) -> Any:
    if not run.sizes:
        return None
    figure = _Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    lines = list(dict.fromkeys(point.line for point in run.sizes))
    for line, (colour, marker) in zip(lines, _FAMILIES.values(), strict=False):
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
    axes.set_xlabel("input, MB")
    axes.set_ylabel("time of a call, ms")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.legend()
    axes.set_title("Cost over size, float32")
    return figure


# From a run to its chart, None without readings, by the name of the file.
CHARTS: dict[str, Callable[[Run], Any]] = {"speed": _speed, "limit": _limit, "size": _sizes}
