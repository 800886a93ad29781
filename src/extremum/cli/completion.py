"""What a shell proposes where a command line wants an operation, a runtime, a rule or an error.

Decides nothing about files: click leaves those to the shell. ``_EXTREMUM_COMPLETE=bash_source extremum`` prints what a
shell reads to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

__all__ = ["VARIABLE", "codes", "explained", "names", "runtimes", "targets"]

VARIABLE = "_EXTREMUM_COMPLETE"
"""The environment variable by which a shell asks."""

_Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def names(known: Iterable[str], *, files: bool = False) -> _Complete:
    """Return what completes one of several names, or else the name of a file."""
    words = tuple(known)

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(word) for word in words if word.startswith(incomplete)]
        return found or ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


def runtimes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a runtime."""
    from extremum.runtimes import known

    return names(known())(context, parameter, incomplete)


def targets(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a target of ``extremum fix``: a runtime or a feature level."""
    from extremum.directml import FeatureLevel
    from extremum.runtimes import known

    return names((*known(), *(f"directml-{level}" for level in FeatureLevel)))(context, parameter, incomplete)


def codes(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the last of several codes of rules with commas between them."""
    from extremum.check import RULES

    before, comma, last = incomplete.rpartition(",")
    return [
        CompletionItem(f"{before}{comma}{rule.code}", help=rule.title)
        for rule in RULES
        if rule.code.startswith(last.upper())
    ]


def explained(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the code of a rule or the name of an error."""
    from extremum.cli.raised import CLASSES

    classes = [each.__name__ for each in CLASSES.values()]
    return [*codes(context, parameter, incomplete), *names(classes)(context, parameter, incomplete)]
