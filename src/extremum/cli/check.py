"""``extremum check``: findings about models, and its settings in ``[tool.extremum.check]`` of pyproject.toml."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

import click

from extremum.check import AskedRuntime, Report, matching
from extremum.check import check as look
from extremum.cli import findings, user_errors
from extremum.cli.options import (
    PATH,
    Command,
    adapter_option,
    complete,
    complete_codes,
    known_runtimes,
    models_of,
    sole_runtime,
)
from extremum.cli.terminal import write
from extremum.cli.user_errors import Failure
from extremum.directml import FeatureLevel
from extremum.errors import ArgumentError
from extremum.printable import json_text, printable
from extremum.runtimes.processes import Subprocess

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["check"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_LEVELS = {str(level): level for level in FeatureLevel}

# Setting: the parameter of the command, and the type of the value.
_SETTINGS: dict[str, tuple[str, type]] = {
    "select": ("selected", list),
    "ignore": ("ignored", list),
    "feature-level": ("feature_level", str),
    "for": ("name", str),
    "infos": ("infos", bool),
    "strict": ("strict", bool),
}
_TYPES = {list: "a list of strings", str: "a string", bool: "true or false"}


def _read_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a file by the names of the command's parameters."""
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArgumentError(f"'{path}' is not valid TOML: {error}") from None
    for name in ("tool", "extremum", "check"):
        if name == "check" and (others := sorted(table.keys() - {name})):
            reason = f"there is no {others[0]!r} under [tool.extremum]"
            raise ArgumentError(reason, where=str(path), remedy="settings are under [tool.extremum.check]")
        table = table.get(name, {})
        if not isinstance(table, dict):
            raise ArgumentError(f"'{name}' must be a table", where=str(path))
    where = f"{path}, [tool.extremum.check]"
    for name, value in table.items():
        if name not in _SETTINGS:
            remedy = f"the settings are {', '.join(_SETTINGS)}"
            raise ArgumentError(f"there is no setting {name!r}", where=where, remedy=remedy)
        type_ = _SETTINGS[name][1]
        texts = value if isinstance(value, list) else []
        if not isinstance(value, type_) or not all(isinstance(each, str) for each in texts):
            raise ArgumentError(f"the setting {name!r} must be {_TYPES[type_]}", where=where, given=repr(value))
    return {_SETTINGS[name][0]: value for name, value in table.items()}


def _use_settings(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    here = Path.cwd()
    nearest = (place for folder in (here, *here.parents) if (place := folder / "pyproject.toml").is_file())
    if (found := path or next(nearest, None)) is not None:
        context.default_map = _read_settings(found)


def _split_codes(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(code.strip() for codes in given for code in codes.split(","))


def _code_option(name: str, parameter: str, text: str) -> Callable[[_Function], _Function]:
    return click.option(
        name,
        parameter,
        multiple=True,
        metavar="CODES",
        callback=_split_codes,
        shell_complete=complete_codes,
        help=f"{text} rules that start so, such as EX0,EX101; may be repeated.",
    )


@click.command(cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="MODEL|FOLDER...", type=PATH)
@click.option(
    "--feature-level",
    type=click.Choice(list(_LEVELS)),
    metavar="LEVEL",
    help="Check for DirectML too, at a feature level such as 4_1.",
)
@click.option(
    "--for",
    "name",
    metavar="RUNTIME",
    shell_complete=complete(known_runtimes),
    help="Run each node on this runtime, such as tract.",
)
@adapter_option
@_code_option("--select", "selected", "Use only")
@_code_option("--ignore", "ignored", "Leave out")
@click.option("--infos/--no-infos", help="Show findings of severity info too.")
@click.option("--strict/--no-strict", help="Show and count findings of severity info.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "github", "sarif"]), help="Output format [default: text]."
)
# Eager: the other options take their defaults from the file.
@click.option(
    "--config",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_use_settings,
    help="Read settings from this file instead of pyproject.toml.",
)
def check(
    paths: tuple[Path, ...],
    feature_level: str | None,
    name: str | None,
    adapted: list[str],
    selected: tuple[str, ...],
    ignored: tuple[str, ...],
    infos: bool,
    strict: bool,
    form: str | None,
) -> int:
    """Find nodes that break their specification, or that a target refuses or answers differently.

    Checks this package's operators, in subgraphs and functions too. A FOLDER means every .onnx file below it.
    Exits with 1 if there are findings, and with 2 if a model cannot be checked; the other models are still
    checked.

    Defaults come from [tool.extremum.check] in the nearest pyproject.toml, in this folder or above it: select,
    ignore, feature-level, for, infos and strict.
    """
    level = None if feature_level is None else _LEVELS[feature_level]
    for code in (*selected, *ignored):
        matching(code)
    name = sole_runtime(name, adapted)
    models = models_of(paths)
    several = len(models) > 1 or any(path.is_dir() for path in paths)

    def result(model: str, runtime: AskedRuntime | None) -> Report | Failure:
        try:
            return look(model, feature_level=level, runtime=runtime, select=selected, ignore=ignored)
        except Exception as error:
            # The next model may still be readable.
            return user_errors.show(error, about=model if several else "")

    # One process for all models.
    with Subprocess(name) if name is not None else nullcontext() as process:
        runtime = None if process is None else AskedRuntime(process)
        results = {model: result(model, runtime) for model in map(str, models)}
    _print(results, form or "text", infos=infos or strict, several=several)
    if any(isinstance(each, Failure) for each in results.values()):
        return 2
    return int(any(isinstance(each, Report) and each.counted(strict=strict) for each in results.values()))


def _print(results: dict[str, Report | Failure], form: str, *, infos: bool, several: bool) -> None:
    if form == "json":
        errors = [each.record() for each in results.values() if isinstance(each, Failure)][:1]
        models = [findings.record(*each) for each in results.items()]
        # Like every command that ends with status 2, this one has an error: that of the first model.
        write(json_text({"models": models, **({"error": errors[0]} if errors else {})}))
        return
    if form == "sarif":
        counted = {
            model: result.counted(strict=infos) if isinstance(result, Report) else result
            for model, result in results.items()
        }
        write(json_text(findings.sarif(counted)))
        return
    for model, result in results.items():
        if form == "github":
            if text := findings.github(model, result, infos=infos):
                write(text)
        elif isinstance(result, Report):
            write(f"{printable(model)}:\n" * several + findings.text(result, infos=infos))
