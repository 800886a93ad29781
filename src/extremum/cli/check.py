"""``extremum check``: findings about models."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click

from extremum.check import AskedRuntime, Report, matching
from extremum.check import check as look
from extremum.cli import adapters, completion, failure, findings, sarif, settings
from extremum.cli.failure import Failure
from extremum.cli.model_files import models_of
from extremum.cli.parsing import Command
from extremum.cli.streams import write
from extremum.directml import FeatureLevel
from extremum.printable import json_text, printable
from extremum.runtimes.processes import Subprocess

__all__ = ["check"]

_LEVELS = {str(level): level for level in FeatureLevel}


def _codes(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return codes one by one: they may stand beside each other, as other linters have them."""
    return tuple(code.strip() for codes in given for code in codes.split(","))


@click.command(cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="MODEL|FOLDER...", type=click.Path(path_type=Path))
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
    shell_complete=completion.runtimes,
    help="Ask this runtime how it answers, such as tract.",
)
@adapters.option
@click.option(
    "--select",
    "selected",
    multiple=True,
    metavar="CODES",
    callback=_codes,
    shell_complete=completion.codes,
    help="Use only rules that start so, such as EX0,EX101; may be repeated.",
)
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="CODES",
    callback=_codes,
    shell_complete=completion.codes,
    help="Leave out rules that start so; may be repeated.",
)
@click.option("--infos/--no-infos", help="Show findings of severity info too.")
@click.option("--strict/--no-strict", help="Show and count findings of severity info.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "github", "sarif"]), help="Output format [default: text]."
)
@settings.option
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
    name = adapters.sole(name, adapted)
    models = models_of(paths)
    several = len(models) > 1 or any(path.is_dir() for path in paths)

    def result(model: str, runtime: AskedRuntime | None) -> Report | Failure:
        try:
            return look(model, feature_level=level, runtime=runtime, select=selected, ignore=ignored)
        except Exception as error:
            # A model that cannot be read says nothing about the next.
            return failure.show(error, about=model if several else "")

    # One process for all models.
    with Subprocess(name) if name is not None else nullcontext() as watched:
        runtime = None if watched is None else AskedRuntime(watched)
        results = {model: result(model, runtime) for model in map(str, models)}
    _print(results, form or "text", infos=infos or strict, named=several)
    if any(isinstance(result, Failure) for result in results.values()):
        return 2
    return 1 if any(isinstance(result, Report) and result.counted(strict=strict) for result in results.values()) else 0


def _print(results: dict[str, Report | Failure], form: str, *, infos: bool, named: bool) -> None:
    if form == "json":
        document: dict[str, object] = {"models": [_record(*each) for each in results.items()]}
        for each in results.values():
            if isinstance(each, Failure):
                # As with every command: what ends with 2 has an error, here that of the first model.
                document.setdefault("error", each.record())
        write(json_text(document))
        return
    if form == "sarif":
        shown = {
            model: result.counted(strict=infos) if isinstance(result, Report) else result
            for model, result in results.items()
        }
        write(json_text(sarif.log(shown)))
        return
    for model, result in results.items():
        if form == "github":
            if text := _annotations(model, result, infos=infos):
                write(text)
        elif isinstance(result, Report):
            if named:
                write(f"{printable(model)}:")
            write(findings.text(result, infos=infos))


def _record(model: str, result: Report | Failure) -> dict[str, object]:
    return findings.record(model, result) if isinstance(result, Report) else {"model": model, "error": result.record()}


def _annotations(model: str, result: Report | Failure, *, infos: bool) -> str:
    if isinstance(result, Report):
        return findings.github(model, result, infos=infos)
    return findings.annotation("error", model, "could not be checked", str(result.message))
