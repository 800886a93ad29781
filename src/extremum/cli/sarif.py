"""Findings as SARIF 2.1.0, which code scanning services read.

Decides how a finding at a node of a binary file is placed: the file is the place, the path of the node its logical one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from extremum import __version__
from extremum.check import RULES, Finding, Rule, Severity
from extremum.cli.failure import Failure
from extremum.printable import printable

__all__ = ["log"]

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PLACES = {rule.code: place for place, rule in enumerate(RULES)}


def log(results: Mapping[str, Sequence[Finding] | Failure]) -> dict[str, Any]:
    """Return one run with the findings about all models, and a notification for each that could not be checked."""
    found = [_result(model, each) for model, all_ in results.items() if not isinstance(all_, Failure) for each in all_]
    failed = [_notification(model, each) for model, each in results.items() if isinstance(each, Failure)]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "extremum", "version": __version__, "rules": list(map(_rule, RULES))}},
                "invocations": [{"executionSuccessful": not failed, "toolExecutionNotifications": failed}],
                "results": found,
            }
        ],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    models = f"For example:\n\n```\n{rule.example}```\n\nInstead:\n\n```\n{rule.instead}```"
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.what},
        "help": {"text": rule.why, "markdown": f"{rule.why}\n\n{models}"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(model: str, finding: Finding) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": _PLACES[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": str(finding).partition(": ")[2]},
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(model, finding)},
        "locations": [{**_file(model), "logicalLocations": [{"fullyQualifiedName": printable(finding.place)}]}],
    }


def _fingerprint(model: str, finding: Finding) -> str:
    """Say which finding this is, run after run: by their lines, which a model has not, two in one file would be one."""
    named = f"{PurePath(model).as_posix()}\n{finding.code}\n{finding.place}"
    return f"{hashlib.sha256(named.encode(errors='surrogateescape')).hexdigest()[:16]}:1"


def _notification(model: str, failure: Failure) -> dict[str, Any]:
    return {"level": "error", "message": {"text": str(failure.message)}, "locations": [_file(model)]}


def _file(model: str) -> dict[str, Any]:
    path = PurePath(model)
    address = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    # A model has no lines; services want one.
    return {"physicalLocation": {"artifactLocation": {"uri": address}, "region": {"startLine": 1}}}
