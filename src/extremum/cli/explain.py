"""``extremum explain``: what a rule of ``extremum check`` means, and what an error does."""

from __future__ import annotations

import click

from extremum.check import RULES, find
from extremum.cli import completion, explanation, raised
from extremum.cli.parsing import Command
from extremum.cli.streams import write
from extremum.errors import ArgumentError
from extremum.printable import json_text

__all__ = ["explain"]


@click.command(cls=Command)
@click.argument("code", metavar="[CODE|ERROR]", required=False, shell_complete=completion.explained)
@click.option("--json", "form", flag_value="json", help="Print one JSON list: a record per rule, or of the error.")
@click.option("--markdown", "form", flag_value="markdown", help="Print the page about all rules and rewrites.")
def explain(code: str | None, form: str | None) -> None:
    """Explain a rule or an error; without a name, list all.

    A rule has a code, such as EX001. An error has a class name, such as AxisError.
    """
    if code is not None and form == "markdown":
        raise ArgumentError(
            f"--markdown prints the page about all rules, not about {code!r}", remedy="drop one of them"
        )
    error = None if code is None else raised.find(code)
    if error is not None:
        write(json_text([raised.record(error)]) if form == "json" else raised.text(error))
        return
    if code is not None and not code.upper().startswith("EX"):
        raise ArgumentError(f"there is no rule and no error {code!r}", remedy="run extremum explain for a list")
    rules = RULES if code is None else (find(code),)
    if form == "json":
        write(json_text([explanation.record(rule) for rule in rules]))
    elif form == "markdown":
        write(explanation.markdown().rstrip("\n"))
    else:
        write(f"{explanation.listing()}\n\n{raised.listing()}" if code is None else explanation.text(*rules))
