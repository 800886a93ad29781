"""The option that names adapters: files that give more runtimes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from extremum import runtimes
from extremum.errors import ArgumentError

__all__ = ["option", "sole"]


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
        help="Python file whose function runtimes() returns more runtimes; may be repeated.",
    )(command)


def sole(named: str | None, adapted: list[str]) -> str | None:
    """Return the runtime that is named, or else the one of the adapters."""
    if not adapted:
        return named
    if named is None and len(adapted) == 1:
        return adapted[0]
    if named not in adapted:
        raise ArgumentError(f"--adapter gives {', '.join(adapted)}", remedy="name one of them with --for")
    return named
