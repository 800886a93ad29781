"""The commands by name, each imported when it is called and not before.

A command lives in the module of its name, as the click command of its name. Adding one is adding its module and its
line here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from extremum import __version__
from extremum.cli.parsing import Group
from extremum.cli.streams import write
from extremum.printable import json_text

__all__ = ["COMMANDS", "program"]

COMMANDS = {
    "run": "Run a model on arrays from files, or on random arrays.",
    "apply": "Apply a reduction, hardmax, maximum, minimum or a MODEL to files larger than memory.",
    "lower": "Translate a model into DirectML operators: as text, JSON, C++ or for DxDispatch.",
    "check": "Find nodes that break their specification, or that a target refuses or answers differently.",
    "explain": "Explain a rule or an error; without a name, list all.",
    "fix": "Rewrite nodes that a target refuses or answers differently, into standard ONNX with exact answers.",
    "conformance": "Test runtimes with the conformance suite, or write its cases as files.",
    "ops": "List the operators, their versions and element types.",
}


class LazyGroup(Group):
    """A group that knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"extremum.cli.{cmd_name}"), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an interruption leaves as what click does not write an empty line about."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands for the help without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    # Versions of click differ in whether it is in brackets.
    subcommand_metavar="[COMMAND] [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--version", "asked", is_flag=True, help="Show the version and exit.")
@click.option("--json", "form", flag_value="json", help="With --version: print one JSON object for a bug report.")
@click.pass_context
def program(context: click.Context, asked: bool, form: str | None) -> None:
    """Run operators that pick the largest or smallest elements, exactly as each version specifies.

    Exit status: 0 success, 1 findings, 2 error, 130 interrupted.
    """
    if asked:
        write(json_text(import_module("extremum.cli.installation").record()) if form else f"extremum {__version__}")
        context.exit()
    if form:
        raise click.UsageError("--json goes after the command, as in: extremum ops --json")
    if context.invoked_subcommand is None:
        raise click.UsageError("Missing command.")
