"""``extremum ops``: what there is."""

from __future__ import annotations

import json

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from extremum import catalogue

__all__ = ["ops"]


@click.command()
@click.option("--json", "layout", flag_value="json", help="Print one JSON list, a record per version.")
@click.option("--markdown", "layout", flag_value="markdown", help="Print the tables of the README.")
def ops(layout: str | None) -> None:
    """List the operators, their versions and element types.

    A cell of a table says from which version on an operator takes the element types of its column.
    """
    if layout == "json":
        click.echo(json.dumps(catalogue.records(), indent=2))
    elif layout == "markdown":
        click.echo(catalogue.markdown(), nl=False)
    else:
        console = Console(markup=False, emoji=False, highlight=False)
        for headings, *rows in catalogue.tables():
            table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
            for heading in headings:
                table.add_column(heading.replace(", ", "\n"), no_wrap=True)
            for row in rows:
                table.add_row(*row)
            console.print(table)
