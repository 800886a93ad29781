"""``extremum ops``: the operators, their versions and element types as tables, straight from the specification.

Each domain has a table; the README has a copy of the tables, which a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import click
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from extremum import spec
from extremum.cli.options import Command
from extremum.cli.terminal import write, write_table
from extremum.printable import json_text, markdown_table
from extremum.tensors import ELEMENT_TYPES


@click.command(cls=Command)
@click.option("--json", "form", flag_value="json", help="Print one JSON list: a record per version.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the tables of the README.")
def ops(form: str | None) -> None:
    """List the operators, their versions and element types.

    A table cell holds the first version of the operator that takes the element types of the column.
    """
    if form == "json":
        records = []
        for each in chain(*spec.OPERATORS.values()):
            domain = "DirectML" if each.domain == spec.DIRECTML else "ONNX"
            version = {"operator": each.name, "domain": domain, "version": each.version}
            records.append({**version, "types": list(each.types)})
        write(json_text(records))
    elif form == "markdown":
        write("\n".join(markdown_table(headings, rows) for headings, *rows in tables()).rstrip("\n"))
    else:
        for headings, *rows in tables():
            columns = (Column(heading.replace(", ", "\n"), no_wrap=True) for heading in headings)
            table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
            for row in rows:
                table.add_row(*row)
            write_table(table)


def tables() -> Iterator[list[list[str]]]:
    """Yield for each domain the headings and a row per operator: the first version that takes each element type."""
    for domain in (spec.ONNX, spec.DIRECTML):
        operators = [versions for (of, _), versions in spec.OPERATORS.items() if of == domain]
        columns: dict[tuple[str, ...], list[str]] = {}
        for row in ELEMENT_TYPES:
            since = (
                next((each.version for each in versions if row.name in each.types), "-")
                for versions in operators
            )
            columns.setdefault(tuple(since), []).append(row.name)
        columns.pop(("-",) * len(operators), None)
        firsts = ([versions[0].name, ", ".join(each.version for each in versions)] for versions in operators)
        cells = zip(*columns, strict=True)
        yield [
            ["operator", "versions", *map(", ".join, columns.values())],
            *([*first, *since] for first, since in zip(firsts, cells, strict=True)),
        ]
