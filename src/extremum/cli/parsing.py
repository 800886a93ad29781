"""Commands and groups of commands: click's, and what this package expects of a command line beyond them.

Decides that an option that does nothing is refused, that a misspelt command is answered with the one that is near, and
that a group alone shows its help.
"""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

import click
from click.core import ParameterSource

from extremum.errors import ArgumentError

__all__ = ["Command", "Group", "named_options", "refuse_unused"]


class Command(click.Command):
    """A command that refuses two spellings of one setting, such as ``--json --markdown``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, and refuse what would take back another option."""
        rest = list(args)
        parsed = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            _, _, order = self.make_parser(ctx).parse_args(rest)
            chosen: dict[str | None, click.Parameter] = {}
            for each in order:
                first = chosen.setdefault(each.name, each)
                if first is not each:
                    raise ArgumentError(
                        f"{_spelling(first)} and {_spelling(each)} are both given", remedy="drop one of them"
                    )
        return parsed


class Group(click.Group):
    """A group of such commands."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; a group alone shows its help."""
        return super().parse_args(ctx, args or ([] if ctx.resilient_parsing else ["--help"]))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; for a misspelt one, name the one that is near."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not ctx.resilient_parsing and not args[0].startswith("-"):
            near = get_close_matches(args[0], known, 1)
            remedy = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(known)}"
            raise ArgumentError(f"there is no command {' '.join((*_path(ctx), args[0]))!r}", remedy=remedy)
        return super().resolve_command(ctx, args)


def named_options(context: click.Context) -> dict[str, str]:
    """Return the options that the command line names: by parameter, as they are spelt."""
    return {
        str(each.name): _spelling(each)
        for each in context.command.params
        if isinstance(each, click.Option)
        and context.get_parameter_source(str(each.name)) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    }


def refuse_unused(context: click.Context, what: str, used: Collection[str]) -> None:
    """Refuse options that the command line names and that something does not use."""
    unused = [spelling for name, spelling in named_options(context).items() if name not in used]
    if unused:
        options = [_spelling(each) for each in context.command.params if each.name in used]
        raise ArgumentError(
            f"{what} does not use {' or '.join(unused)}", remedy=f"drop it; {what} uses {', '.join(options)}"
        )


def _path(context: click.Context) -> list[str]:
    """Return the names of the groups below the program."""
    return [] if context.parent is None else [*_path(context.parent), str(context.info_name)]


def _spelling(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len)
