"""The report card as a picture: a square for each version and element type, coloured by the worst answer."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from extremum import dtypes, spec
from extremum.conformance.outcome import Outcome
from extremum.conformance.record import Recorded

__all__ = ["draw", "worst"]

# Worst first. To answer what should be refused says nothing of a type.
_RANKING = (
    Outcome.CRASHED,
    Outcome.TIMED_OUT,
    Outcome.WRONG,
    Outcome.SHAPE,
    Outcome.TYPE,
    Outcome.TIE,
    Outcome.NAN,
    Outcome.ZERO,
    Outcome.REFUSED,
    Outcome.EXACT,
)

_COLOURS = {
    Outcome.EXACT: "#2a9d5c",
    Outcome.ZERO: "#bfd96c",
    Outcome.NAN: "#f2d43d",
    Outcome.TIE: "#f2b03d",
    Outcome.TYPE: "#ef8a3c",
    Outcome.SHAPE: "#ef8a3c",
    Outcome.WRONG: "#d03b3b",
    Outcome.REFUSED: "#b4b9c0",
    Outcome.TIMED_OUT: "#6b3fa0",
    Outcome.CRASHED: "#1d1d1f",
}


def worst(counts: Counter[Outcome]) -> Outcome:
    """Return the outcome by which a square is coloured."""
    return next(outcome for outcome in _RANKING if counts[outcome])


def draw(runtimes: Sequence[Recorded], path: str | os.PathLike[str], caption: str) -> None:
    """Write the picture; the ending of the path says in which format."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Patch, Rectangle

    rows = [row for (domain, _), versions in spec.OPERATORS.items() if domain == spec.ONNX for row in versions]
    elements = [element.name for element in dtypes.ELEMENT_TYPES if element.name != "bool"]
    figure, axes = plt.subplots(figsize=(2.2 + 2.1 * len(runtimes), 0.6 + 0.3 * len(rows)))
    seen = set()
    for column, runtime in enumerate(runtimes):
        for line, row in enumerate(rows):
            for place, element in enumerate(elements):
                counts = runtime.counts(row.name, row.since, element) if element in row.types else Counter()
                counts.pop(Outcome.ACCEPTED, None)
                if counts:
                    outcome = worst(counts)
                    seen.add(outcome)
                    at = column * (len(elements) + 1.5) + place, line
                    axes.add_patch(Rectangle(at, 0.9, 0.9, color=_COLOURS[outcome], linewidth=0))
    middles = [column * (len(elements) + 1.5) + len(elements) / 2 for column in range(len(runtimes))]
    axes.set_xticks(middles, [f"{each.runtime}\n{each.version}" for each in runtimes])
    axes.set_yticks([line + 0.5 for line in range(len(rows))], [str(row) for row in rows])
    axes.set_xlim(-0.5, len(runtimes) * (len(elements) + 1.5) - 1)
    axes.set_ylim(len(rows), 0)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    handles = [Patch(color=_COLOURS[outcome], label=outcome.value) for outcome in Outcome if outcome in seen]
    axes.legend(handles=handles, ncols=len(handles), loc="upper center", bbox_to_anchor=(0.5, 0), frameon=False)
    figure.text(0.5, 0, f"{caption}. Squares: {', '.join(elements)}.", ha="center", va="top", fontsize="small")
    figure.savefig(path, bbox_inches="tight", dpi=110)
    plt.close(figure)
