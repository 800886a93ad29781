"""``extremum check``: findings about models, as text, JSON, GitHub annotations or SARIF 2.1.0.

Settings come from ``[tool.extremum.check]`` of pyproject.toml. In SARIF the location of a finding is the file of
the model, and its logical location is the path of the node.
"""

from __future__ import annotations

import hashlib
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

import click

from extremum import __version__, runtimes
from extremum.check import RULES, AskedRuntime, Finding, Report, Severity, find, matching
from extremum.check import check as look
from extremum.cli import options
from extremum.cli.terminal import document, show_error, write
from extremum.directml import FeatureLevel
from extremum.errors import ArgumentError, ExtremumError
from extremum.printable import json_text, printable
from extremum.runtimes.process import Subprocess

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# The level in SARIF, and the command in a GitHub workflow.
_WORDS = {
    Severity.ERROR: ("error", "error"),
    Severity.WARNING: ("warning", "warning"),
    Severity.INFO: ("note", "notice"),
}

_SETTINGS = {"select": list, "ignore": list, "feature-level": str, "for": str, "infos": bool, "strict": bool}
_TYPES = {list: "a list of strings", str: "a string", bool: "true or false"}


def _use_settings(context: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Take the defaults of the options from a file, or else from the nearest pyproject.toml."""
    here = Path.cwd()
    places = (folder / "pyproject.toml" for folder in (here, *here.parents))
    if (path := path or next(filter(Path.is_file, places), None)) is None:
        return
    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ArgumentError(f"'{path}' is not valid TOML: {error}") from None
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
    where = f"{path}, [tool.extremum.check]"
    for name, value in table.items():
        if name not in _SETTINGS:
            raise ArgumentError(
                f"there is no setting {name!r}",
                where=where,
                remedy=f"the settings are {', '.join(_SETTINGS)}",
            )
        kind = _SETTINGS[name]
        texts = value if isinstance(value, list) else []
        if not isinstance(value, kind) or not all(isinstance(each, str) for each in texts):
            raise ArgumentError(
                f"the setting {name!r} must be {_TYPES[kind]}", where=where, given=repr(value)
            )
    names = {name: "name" if name == "for" else name.replace("-", "_") for name in table}
    context.default_map = {names[name]: value for name, value in table.items()}


_codes_option = partial(
    options.repeatable,
    metavar="CODES",
    callback=lambda _context, _parameter, values: [
        code.strip() for codes in values for code in codes.split(",")
    ],
    shell_complete=options.complete_codes,
)
_LEVELS = click.Choice(list(map(str, FeatureLevel)))


@click.command(cls=options.Command)
@options.models_argument
@click.option(
    "--feature-level",
    type=_LEVELS,
    metavar="LEVEL",
    help="Check for DirectML too, at a feature level such as 4_1.",
)
@click.option(
    "--for",
    "name",
    metavar="RUNTIME",
    shell_complete=options.complete(runtimes.known),
    help="Run each node on this runtime, such as tract.",
)
@options.adapter_option
@_codes_option("--select", help="Use only rules that start so, such as EX0,EX101; may be repeated.")
@_codes_option("--ignore", help="Leave out rules that start so, such as EX0,EX101; may be repeated.")
@click.option("--infos/--no-infos", help="Show findings of severity info too.")
@click.option("--strict/--no-strict", help="Show and count findings of severity info.")
@click.option("--json", "form", flag_value="json", help="Print one JSON object.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github", "sarif"]),
    help="Output format [default: text].",
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
    adapters: list[str],
    select: list[str],
    ignore: list[str],
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
    for code in (*select, *ignore):
        matching(code)
    name = options.sole_runtime(name, adapters)
    models, several = options.models_of(paths)

    results: dict[str, Report | ExtremumError] = {}
    pairs: list[tuple[str, Finding | ExtremumError]] = []
    # One process for all models.
    with Subprocess(name) if name is not None else nullcontext() as process:
        runtime = None if process is None else AskedRuntime(process)
        for model in map(str, models):
            result: Report | ExtremumError
            try:
                result = look(
                    model, feature_level=feature_level, runtime=runtime, select=select, ignore=ignore
                )
            except Exception as error:
                # The next model may still be readable.
                result = show_error(error, about=model if several else "")
            results[model] = result
            if isinstance(result, Report):
                pairs += ((model, each) for each in result.counted(strict=infos or strict))
            else:
                pairs.append((model, result))
    reports = {model: result for model, result in results.items() if isinstance(result, Report)}
    if form == "json":
        write(json_text(document([_record(*each) for each in results.items()])))
    elif form == "sarif":
        write(json_text(_sarif(pairs)))
    elif form == "github":
        for model, each in pairs:
            write(_annotation(model, each))
    else:
        for model, report in reports.items():
            write(f"{printable(model)}:\n" * several + _text(report, infos=infos or strict))
    if len(reports) < len(results):
        return 2
    return int(any(each.counted(strict=strict) for each in reports.values()))


def _text(report: Report, *, infos: bool) -> str:
    """Return the findings (infos only if `infos`), and a line that counts all."""
    findings = report.counted(strict=infos)
    rest = len(report.findings) - len(findings)
    notes = (f"note: {printable(note)}" for note in report.notes)
    how = f" (--infos shows {'it' if rest == 1 else 'them'})" if rest else ""
    return "\n".join((*map(str, findings), *notes, report.summary() + how))


def _record(model: str, result: Report | ExtremumError) -> dict[str, Any]:
    """Return all findings about a model, or its error, as JSON can hold them."""
    if isinstance(result, ExtremumError):
        return {"model": model, "error": result.record()}
    findings = [each.record() for each in result.findings]
    return {"model": model, "nodes": result.nodes, "findings": findings, "notes": list(result.notes)}


def _message(finding: Finding) -> str:
    return str(finding).partition(": ")[2]


def _annotation(model: str, finding: Finding | ExtremumError) -> str:
    """Return a workflow command of GitHub; no name in it can begin another command."""
    if isinstance(finding, ExtremumError):
        command = "error"
        title = "could not be checked"
        message = str(finding)
    else:
        title = f"{finding.code} {find(finding.code).title}"
        message = _message(finding)
        command = _WORDS[finding.severity][1]
    # Encoded, not escaped: GitHub has to find the file.
    file, title = (_encode(text).replace(":", "%3A").replace(",", "%2C") for text in (model, title))
    return f"::{command} file={file},title={title}::{_encode(message)}"


def _encode(text: str) -> str:
    # A message is already truncated; a path is not.
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"), 5000)


def _sarif(pairs: list[tuple[str, Finding | ExtremumError]]) -> dict[str, Any]:
    """Return one run with the findings about all models, and a notification for each model without a report."""
    rules = list[dict[str, Any]]()
    for rule in RULES:
        models = f"For example:\n\n```\n{rule.example}```\n\nInstead:\n\n```\n{rule.instead}```"
        texts = {"shortDescription": {"text": rule.title}, "fullDescription": {"text": rule.what}}
        help_ = {"text": rule.why, "markdown": f"{rule.why}\n\n{models}"}
        level = {"level": _WORDS[rule.severity][0]}
        rules.append({"id": rule.code, **texts, "help": help_, "defaultConfiguration": level})
    failures = [
        {"level": "error", "message": {"text": str(each)}, "locations": [_location(model)]}
        for model, each in pairs
        if isinstance(each, ExtremumError)
    ]
    run = {
        "tool": {"driver": {"name": "extremum", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": failures}],
        "results": [_result(model, each) for model, each in pairs if isinstance(each, Finding)],
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _result(model: str, finding: Finding) -> dict[str, Any]:
    # Services tell findings apart by their lines; a model has none, so the node stands for it.
    identity = f"{PurePath(model).as_posix()}\n{finding.code}\n{finding.place}"
    fingerprint = f"{hashlib.sha256(identity.encode(errors='surrogateescape')).hexdigest()[:16]}:1"
    return {
        "ruleId": finding.code,
        "ruleIndex": RULES.index(find(finding.code)),
        "level": _WORDS[finding.severity][0],
        "message": {"text": _message(finding)},
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "locations": [
            {**_location(model), "logicalLocations": [{"fullyQualifiedName": printable(finding.place)}]}
        ],
    }


def _location(model: str) -> dict[str, Any]:
    path = PurePath(model)
    address = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    # A model has no lines; services want one.
    return {"physicalLocation": {"artifactLocation": {"uri": address}, "region": {"startLine": 1}}}
