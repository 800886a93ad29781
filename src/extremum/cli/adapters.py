"""The runtimes that a command line names: adapters from files, and the completion of names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from extremum import runtimes

__all__ = ["complete", "option"]


def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of runtimes that begin so."""
    return [name for name in runtimes.known() if name.startswith(incomplete)]


def _add(context: click.Context, parameter: click.Parameter, paths: tuple[Path, ...]) -> list[str]:
    if context.resilient_parsing:
        return []
    return [each.name for path in paths for each in runtimes.add_file(path)]


def option(command: Any) -> Any:
    """Add the option that names adapters, and gives the names of their runtimes."""
    return click.option(
        "--adapter",
        "adapted",
        multiple=True,
        type=click.Path(path_type=Path),
        metavar="FILE",
        is_eager=True,
        callback=_add,
        help="A Python file whose function runtimes() gives more runtimes; may be repeated.",
    )(command)
