"""The files of a report: the record, the Markdown tables and the charts, side by side in one folder.

A report never overwrites: if one of its files is there already, none is written.
"""

from __future__ import annotations

from pathlib import Path

from extremum.bench import charts, markdown
from extremum.bench.record import Run, dumps
from extremum.errors import ArgumentError

__all__ = ["require_free", "write"]

RECORD, TABLES = "bench.json", "bench.md"


def require_free(folder: Path) -> None:
    """Refuse a folder that already holds a file of a report; asked before the time is spent.

    Parameters
    ----------
    folder : Path
        Need not exist.

    Raises
    ------
    ArgumentError
        Naming the file that is in the way.
    """
    names = [RECORD, TABLES, *(f"{chart}.{kind}" for chart in charts.CHARTS for kind in charts.FORMATS)]
    for name in names:
        if (folder / name).exists():
            raise ArgumentError(
                f"{folder / name} exists and is not overwritten", remedy="name another folder or move the file"
            )


def write(run: Run, folder: Path) -> list[Path]:
    """Write the report of a run.

    Parameters
    ----------
    run : Run
        Any run.
    folder : Path
        Made if it does not exist.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ArgumentError
        If one of them exists.
    """
    require_free(folder)
    contents = {RECORD: dumps(run).encode(), TABLES: markdown.render(run).encode(), **charts.draw(run)}
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in contents.items():
        path = folder / name
        with path.open("xb") as stream:
            stream.write(content)
        paths.append(path)
    return paths
