"""``extremum ops``: the operators."""

from __future__ import annotations

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table

from extremum import catalogue
from extremum.cli.options import Command
from extremum.cli.terminal import console, write
from extremum.printable import json_text

__all__ = ["ops"]


@click.command(cls=Command)
@click.option("--json", "form", flag_value="json", help="Print one JSON list: a record per version.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the tables of the README.")
def ops(form: str | None) -> None:
    """List the operators, their versions and element types.

    A table cell holds the first version of the operator that takes the element types of the column.
    """
    if form == "json":
        write(json_text(catalogue.records()))
    elif form == "markdown":
        write(catalogue.markdown().rstrip("\n"))
    else:
        for headings, *rows in catalogue.tables():
            table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
            for heading in headings:
                table.add_column(heading.replace(", ", "\n"), no_wrap=True)
            for row in rows:
                table.add_row(*row)
            console().print(table)
