"""``extremum explain``: what a rule of ``extremum check`` means."""

from __future__ import annotations

import click

from extremum import explanation
from extremum.check import find

__all__ = ["explain"]


@click.command()
@click.argument("code", required=False)
@click.option("--markdown", is_flag=True, help="Print the page about all rules and rewrites.")
def explain(code: str | None, markdown: bool) -> None:
    """Say what a rule looks for, why, and what to write instead; without a code, list the rules."""
    if markdown:
        click.echo(explanation.markdown(), nl=False)
    else:
        click.echo(explanation.listing() if code is None else explanation.text(find(code)))
