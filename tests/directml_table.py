"""The tensor support tables of DirectML's operators in Markdown, for docs/directml.md.

Decides how the rows of :mod:`extremum.spec` are laid out; a test compares the copy in the docs.
"""

from __future__ import annotations

from collections.abc import Iterator

from extremum import dtypes, spec
from extremum.printable import markdown_table
from extremum.spec import OperatorVersion


def support() -> str:
    """Return one row for each operator and each feature level that changed what it takes."""
    return markdown_table(["operator", "from level", "dimensions", "element types", "output types"], _rows())


def _rows() -> Iterator[list[str]]:
    for (domain, _), versions in spec.OPERATORS.items():
        if domain == spec.DIRECTML:
            for row in versions:
                yield [row.name, row.version, _dimensions(row), _names(row.types), _output(row)]


def _dimensions(row: OperatorVersion) -> str:
    least, most = row.ranks
    return str(least) if least == most else f"{least} to {most}"


def _names(types: tuple[str, ...]) -> str:
    return ", ".join(str(dtypes.from_name(name).directml) for name in types)


def _output(row: OperatorVersion) -> str:
    return "the input's" if row.output.types == row.types else _names(row.output.types)
