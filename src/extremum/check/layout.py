"""A report in the form that its reader wants: people, programs, GitHub.

Decides the words around the findings and nothing about them.
"""

from __future__ import annotations

import json

from extremum.check.finding import Finding, Report, Severity
from extremum.check.rules import find

__all__ = ["github", "json_text", "text"]

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def text(report: Report, *, strict: bool) -> str:
    """Return the findings that count, and a line that counts all.

    Examples
    --------
    >>> from extremum.check import Report
    >>> from extremum.check.layout import text
    >>> text(Report((), 2, ("one thing was not asked",)), strict=False).splitlines()
    ['note: one thing was not asked', '2 nodes checked: no errors, no warnings, no info']
    """
    notes = (f"note: {note}" for note in report.notes)
    return "\n".join((*map(str, report.counted(strict=strict)), *notes, report.summary()))


def json_text(model: str, report: Report) -> str:
    """Return one JSON object: the model, all findings, the number of nodes and the notes.

    Examples
    --------
    >>> from extremum.check import Report
    >>> from extremum.check.layout import json_text
    >>> '"findings": []' in json_text("model.onnx", Report((), 2, ()))
    True
    """
    findings = [each.record() for each in report.findings]
    record = {"model": model, "nodes": report.nodes, "findings": findings, "notes": list(report.notes)}
    return json.dumps(record, indent=2)


def github(model: str, report: Report, *, strict: bool) -> str:
    """Return a workflow command of GitHub for each finding that counts, one per line.

    Examples
    --------
    >>> from extremum.check import Report
    >>> from extremum.check.layout import github
    >>> github("model.onnx", Report((), 2, ()), strict=False)
    ''
    """
    return "\n".join(_annotation(model, each) for each in report.counted(strict=strict))


def _annotation(model: str, finding: Finding) -> str:
    title = f"{finding.code} {find(finding.code).title}"
    properties = f"file={_escaped_property(model)},title={_escaped_property(title)}"
    message = str(finding).partition(": ")[2]
    return f"::{_COMMANDS[finding.severity]} {properties}::{_escaped(message)}"


def _escaped(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(value: str) -> str:
    return _escaped(value).replace(":", "%3A").replace(",", "%2C")
