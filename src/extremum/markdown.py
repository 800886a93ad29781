"""Tables in Markdown, one way for every page that is written from the code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["table"]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, figures: bool = False) -> str:
    """Return a table that ends in a line break; figures are aligned to the right in every column but the first."""
    rule = ["---", *["---:" if figures else "---"] * (len(headings) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (headings, rule, *rows))
