"""Tables of the docs are whole: a line that slipped from one into another has another number of cells."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def cells(row: str) -> int:
    # A bar in code or behind a backslash is no border.
    return re.sub(r"`[^`]*`|\\\|", "", row.strip()).strip("|").count("|") + 1


def broken(text: str) -> list[str]:
    """The rows that have another number of cells than the header of their table."""
    rows: list[str] = []
    header = 0
    for line in re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE).splitlines():
        if not line.startswith("|"):
            header = 0
        elif not header:
            header = cells(line)
        elif cells(line) != header:
            rows.append(line)
    return rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_row_has_as_many_cells_as_its_header(page):
    assert not broken(page.read_text(encoding="utf-8"))


def test_a_row_of_another_table_is_seen():
    assert broken("| a | b |\n|---|---|\n| 1 | 2 |\n| `1 | 2` | 3 | 4 |") == ["| `1 | 2` | 3 | 4 |"]
