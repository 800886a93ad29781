"""Put runs into the documentation: the figures of docs/performance.md, and the charts that a page shows.

    python -m benchmarks.publish one/bench.json two/bench.json

The runs are of one machine and differ in their number of threads; the one with the fewest is the one that the tables
show. It overwrites earlier figures and keeps the text between them. The tables of every case stay in the reports.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import charts, markdown, record
from extremum.printable import markdown_table

__all__ = ["publish", "publish_rows"]

ROOT = Path(__file__).resolve().parent.parent


def publish(sources: Sequence[Path], root: Path = ROOT) -> list[Path]:
    """Write everything that is made from the ``bench.json`` of some reports, and return the files written."""
    runs = sorted((record.loads(source.read_text(encoding="utf-8")) for source in sources), key=lambda run: run.threads)
    docs = root / "docs"
    document = docs / "performance.md"
    contents = {document: markdown.refresh(document.read_text(encoding="utf-8"), runs).encode()}
    pages = "".join(page.read_text(encoding="utf-8") for page in docs.glob("*.md"))
    contents |= {
        docs / "charts" / name: chart for name, chart in charts.draw(runs).items() if f"charts/{name}" in pages
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(contents)


def publish_rows(table: str, head: Sequence[str], rows: Sequence[Sequence[str]], root: Path = ROOT) -> None:
    """Put rows into a table of docs/performance.md, in the place of those of the same processor: their first column."""
    document = root / "docs" / "performance.md"
    text = document.read_text(encoding="utf-8")
    opening, closing = f"<!-- {table} -->\n", f"<!-- /{table} -->"
    start = text.index(opening) + len(opening)
    end = text.index(closing, start)
    before = [line.strip("| ").split(" | ") for line in text[start:end].splitlines()[2:]]
    kept = [row for row in before if row[0] != rows[0][0]]
    content = markdown_table(head, sorted([*kept, *rows], key=lambda row: row[0]), figures=True).rstrip("\n")
    document.write_text(f"{text[:start]}{content}\n{text[end:]}", encoding="utf-8")


if __name__ == "__main__":
    for written in publish([Path(source) for source in sys.argv[1:]]):
        sys.stdout.write(f"wrote {written.relative_to(ROOT)}\n")
