"""What ``extremum check`` takes from ``[tool.extremum.check]`` where the command line does not say it.

Decides which file is read, pyproject.toml of the current folder or the nearest one above, and what may be set there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from extremum.errors import ArgumentError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["option", "read"]

# The parameter of the command, and what its value has to be.
_SETTINGS: dict[str, tuple[str, type]] = {
    "select": ("selected", list),
    "ignore": ("ignored", list),
    "feature-level": ("feature_level", str),
    "for": ("name", str),
    "infos": ("infos", bool),
    "strict": ("strict", bool),
}
_KINDS = {list: "a list of strings", str: "a string", bool: "true or false"}


def read(path: Path) -> dict[str, Any]:
    """Return the settings of a file by the names of the command's parameters."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArgumentError(f"'{path}' is not valid TOML: {error}") from None
    table = document
    for name in ("tool", "extremum", "check"):
        if name == "check" and (others := sorted(table.keys() - {name})):
            raise ArgumentError(
                f"there is no {others[0]!r} under [tool.extremum]",
                where=str(path),
                remedy="settings are under [tool.extremum.check]",
            )
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise ArgumentError(f"'{name}' must be a table", where=str(path))
    return dict(_setting(path, name, value) for name, value in table.items())


def _setting(path: Path, name: str, value: Any) -> tuple[str, Any]:
    where = f"{path}, [tool.extremum.check]"
    if name not in _SETTINGS:
        remedy = f"the settings are {', '.join(_SETTINGS)}"
        raise ArgumentError(f"there is no setting {name!r}", where=where, remedy=remedy)
    parameter, kind = _SETTINGS[name]
    if not _is_of(kind, value):
        raise ArgumentError(f"the setting {name!r} must be {_KINDS[kind]}", where=where, given=repr(value))
    return parameter, value


def _is_of(kind: type, value: Any) -> bool:
    if isinstance(value, list):
        return kind is list and all(isinstance(each, str) for each in value)
    return isinstance(value, kind)


def _nearest() -> Path | None:
    here = Path.cwd()
    return next((path for folder in (here, *here.parents) if (path := folder / "pyproject.toml").is_file()), None)


def _use(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    if (found := path or _nearest()) is not None:
        context.default_map = read(found)


# Eager: the others take their values from what it finds.
option = click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_use,
    help="Read settings from this file instead of pyproject.toml.",
)
