"""A report of ``extremum check`` in the form that its reader wants: text, JSON, GitHub annotations or SARIF 2.1.0.

In SARIF the place of a finding is the file of the model, and its logical place the path of the node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from extremum import __version__
from extremum.check import RULES, Finding, Report, Rule, Severity, find
from extremum.cli.user_errors import Failure
from extremum.printable import printable

__all__ = ["annotation", "github", "record", "sarif", "text"]

# A message is cut already; a path is not.
_LONGEST = 5000

_GITHUB = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_SARIF = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_INDEX = {rule.code: index for index, rule in enumerate(RULES)}


def text(report: Report, *, infos: bool) -> str:
    """Return the findings, those of severity info if `infos`, and a line that counts all."""
    findings = report.counted(strict=infos)
    hidden = len(report.findings) - len(findings)
    notes = (f"note: {printable(note)}" for note in report.notes)
    how = f" (--infos shows {'it' if hidden == 1 else 'them'})" if hidden else ""
    return "\n".join((*map(str, findings), *notes, report.summary() + how))


def record(model: str, result: Report | Failure) -> dict[str, Any]:
    """Return all findings about a model, or its error, as JSON can hold them."""
    if isinstance(result, Failure):
        return {"model": model, "error": result.record()}
    findings = [each.record() for each in result.findings]
    return {"model": model, "nodes": result.nodes, "findings": findings, "notes": list(result.notes)}


def github(model: str, result: Report | Failure, *, infos: bool) -> str:
    """Return a workflow command of GitHub for each finding, those of severity info if `infos`, or for the error."""
    if isinstance(result, Failure):
        return annotation("error", model, "could not be checked", str(result.message))
    return "\n".join(
        annotation(_GITHUB[each.severity], model, f"{each.code} {find(each.code).title}", _message(each))
        for each in result.counted(strict=infos)
    )


def annotation(command: str, model: str, title: str, message: str) -> str:
    """Return a workflow command of GitHub about a file; no name in it can begin another command."""
    return f"::{command} file={_property(model)},title={_property(title)}::{_data(message)}"


def _message(finding: Finding) -> str:
    return str(finding).partition(": ")[2]


def _data(value: str) -> str:
    return printable(value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"), _LONGEST)


def _property(value: str) -> str:
    # Encoded, not escaped: GitHub has to find the file.
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def sarif(results: Mapping[str, Sequence[Finding] | Failure]) -> dict[str, Any]:
    """Return one run with the findings about all models, and a notification for each model without a report."""
    found = [_result(model, each) for model, all_ in results.items() if not isinstance(all_, Failure) for each in all_]
    failed = [
        {"level": "error", "message": {"text": str(each.message)}, "locations": [_location(model)]}
        for model, each in results.items()
        if isinstance(each, Failure)
    ]
    run = {
        "tool": {"driver": {"name": "extremum", "version": __version__, "rules": list(map(_rule, RULES))}},
        "invocations": [{"executionSuccessful": not failed, "toolExecutionNotifications": failed}],
        "results": found,
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    models = f"For example:\n\n```\n{rule.example}```\n\nInstead:\n\n```\n{rule.instead}```"
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.what},
        "help": {"text": rule.why, "markdown": f"{rule.why}\n\n{models}"},
        "defaultConfiguration": {"level": _SARIF[rule.severity]},
    }


def _result(model: str, finding: Finding) -> dict[str, Any]:
    # Services tell findings apart by their lines; a model has none, so the node stands for it.
    identity = f"{PurePath(model).as_posix()}\n{finding.code}\n{finding.place}"
    fingerprint = f"{hashlib.sha256(identity.encode(errors='surrogateescape')).hexdigest()[:16]}:1"
    return {
        "ruleId": finding.code,
        "ruleIndex": _INDEX[finding.code],
        "level": _SARIF[finding.severity],
        "message": {"text": _message(finding)},
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "locations": [{**_location(model), "logicalLocations": [{"fullyQualifiedName": printable(finding.place)}]}],
    }


def _location(model: str) -> dict[str, Any]:
    path = PurePath(model)
    address = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    # A model has no lines; services want one.
    return {"physicalLocation": {"artifactLocation": {"uri": address}, "region": {"startLine": 1}}}
