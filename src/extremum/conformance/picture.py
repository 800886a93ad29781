"""The report card as a picture: a square for each version and element type, coloured by the worst answer."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

from extremum import dtypes, spec
from extremum.conformance.record import REFUSALS, Recorded
from extremum.runtimes.outcome import Outcome

__all__ = ["column_names", "draw", "worst"]

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
