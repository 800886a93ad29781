"""The files of a report: the record, the Markdown tables and the charts, side by side in one folder.

A report never overwrites: if one of its files is there already, none is written.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import charts, markdown
from benchmarks.record import Run, dumps

__all__ = ["require_free", "write"]

RECORD, TABLES = "bench.json", "bench.md"


def require_free(folder: Path) -> None:
    """Raise FileExistsError if a folder already holds a file of a report; asked before the time is spent."""
    for name in [RECORD, TABLES, *(f"{chart}.{kind}" for chart in charts.CHARTS for kind in charts.FORMATS)]:
        if (folder / name).exists():
            raise FileExistsError(f"{folder / name} exists and is not overwritten; name another folder")


def write(run: Run, folder: Path) -> list[Path]:
    """Write the report of a run and return its files."""
    require_free(folder)
    contents = {RECORD: dumps(run).encode(), TABLES: markdown.render(run).encode(), **charts.draw([run])}
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in contents.items():
        path = folder / name
        with path.open("xb") as stream:
            stream.write(content)
        paths.append(path)
    return paths
