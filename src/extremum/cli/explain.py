"""``extremum explain``: what a rule of ``extremum check`` means."""

from __future__ import annotations

import click

from extremum.check import RULES, find
from extremum.cli import explanation
from extremum.cli.streams import write
from extremum.printable import json_text

__all__ = ["explain"]


@click.command()
@click.argument("code", required=False)
@click.option("--json", "form", flag_value="json", help="Print one JSON list, a record per rule.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the page about all rules and rewrites.")
def explain(code: str | None, form: str | None) -> None:
    """Say what a rule looks for, why, and what to write instead; without a code, list the rules."""
    rules = RULES if code is None else (find(code),)
    if form == "json":
        write(json_text([explanation.record(rule) for rule in rules]))
    elif form == "markdown":
        write(explanation.markdown().rstrip("\n"))
    else:
        write(explanation.listing() if code is None else explanation.text(*rules))
