"""A report in the form that its reader wants: people, programs, GitHub.

Decides the words around the findings and nothing about them.
"""

from __future__ import annotations

from typing import Any

from extremum.check import find
from extremum.check.rule import Finding, Report, Severity
from extremum.printable import printable

__all__ = ["annotation", "github", "record", "text"]

# Of a message, whose parts are cut already, and of a path.
_LONGEST = 5000

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def text(report: Report, *, infos: bool) -> str:
    """Return the findings, those of severity info if they are wanted, and a line that counts all."""
    shown = report.counted(strict=infos)
    hidden = len(report.findings) - len(shown)
    notes = (f"note: {printable(note)}" for note in report.notes)
    how = f" (--infos shows {'it' if hidden == 1 else 'them'})" if hidden else ""
    return "\n".join((*map(str, shown), *notes, report.summary() + how))


def record(model: str, report: Report) -> dict[str, Any]:
    """Return the model, all findings, the number of nodes and the notes, as JSON can hold them."""
    findings = [each.record() for each in report.findings]
    return {"model": model, "nodes": report.nodes, "findings": findings, "notes": list(report.notes)}


def github(model: str, report: Report, *, infos: bool) -> str:
    """Return a workflow command of GitHub for each finding, those of severity info if they are wanted, one per line."""
    return "\n".join(_finding(model, each) for each in report.counted(strict=infos))


def _finding(model: str, finding: Finding) -> str:
    title = f"{finding.code} {find(finding.code).title}"
    return annotation(_COMMANDS[finding.severity], model, title, str(finding).partition(": ")[2])


def annotation(command: str, model: str, title: str, message: str) -> str:
    """Return a workflow command of GitHub about a file, in which no name can begin another one."""
    return f"::{command} file={_property(model)},title={_property(title)}::{_data(message)}"


def _data(value: str) -> str:
    encoded = value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(encoded, _LONGEST)


def _property(value: str) -> str:
    # Encoded first: the name of a file is to be found again.
    return _data(value).replace(":", "%3A").replace(",", "%2C")
