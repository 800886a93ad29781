"""What a check finds: one thing at one node, and all of it together.

Decides how a finding reads and which ones count. What is looked for is in :mod:`extremum.check.promises` and
:mod:`extremum.check.targets`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from extremum.errors import ExtremumError

__all__ = ["Finding", "Report", "Severity"]


class Severity(enum.Enum):
    """How much a finding matters.

    An error breaks the promise of an operator's version. A warning is a model that some target refuses or answers
    differently. Info is worth knowing about a model that is right.

    Examples
    --------
    >>> from extremum.check import Severity
    >>> [each.value for each in Severity]
    ['error', 'warning', 'info']
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found at one node.

    Attributes
    ----------
    code : str
        The rule, such as ``EX001``.
    severity : Severity
        How much it matters.
    operator : str
        The operator and its version, such as ``ArgMax-13``.
    place : str
        The path of the node, with its name if it has one.
    opset : int
        The version that is imported there.
    reason : str
        What is wrong, in one sentence without a full stop.
    given : str or None
        What the node states.
    remedy : str or None
        What would be right.

    Examples
    --------
    >>> import onnx
    >>> from extremum.check import check
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (y) { y = ArgMax <axis=1> (x) }'
    >>> finding = check(onnx.parser.parse_model(text)).findings[0]
    >>> finding.code, finding.severity.value, finding.operator, finding.place
    ('EX003', 'error', 'ArgMax-13', 'graph.node[0]')
    """

    code: str
    severity: Severity
    operator: str
    place: str
    opset: int
    reason: str
    given: str | None
    remedy: str | None

    def __str__(self) -> str:
        where = f"{self.place}, opset {self.opset}"
        return str(
            ExtremumError(
                f"{self.code} {self.severity.value}: {self.reason}", where=where, given=self.given, remedy=self.remedy
            )
        )

    def record(self) -> dict[str, Any]:
        """Return the finding as JSON can hold it."""
        return {**asdict(self), "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about a model.

    Attributes
    ----------
    findings : tuple of Finding
        In the order of the walk, and of the rules at each node.
    nodes : int
        How many nodes of the family were looked at.
    notes : tuple of str
        What could not be asked, and why.

    Examples
    --------
    >>> import onnx
    >>> from extremum.check import check
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (y) { y = ArgMax <axis=1> (x) }'
    >>> report = check(onnx.parser.parse_model(text))
    >>> report.nodes, len(report.counted())
    (1, 1)
    """

    findings: tuple[Finding, ...]
    nodes: int
    notes: tuple[str, ...]

    def counted(self, *, strict: bool = False) -> tuple[Finding, ...]:
        """Return the findings that make a model not clean.

        Parameters
        ----------
        strict : bool
            Whether those of severity info count too.

        Returns
        -------
        tuple of Finding
            All of them, or errors and warnings.
        """
        return tuple(each for each in self.findings if strict or each.severity is not Severity.INFO)

    def summary(self) -> str:
        """Return one line that counts.

        Examples
        --------
        >>> from extremum.check import Report
        >>> Report(findings=(), nodes=3, notes=()).summary()
        '3 nodes checked: no errors, no warnings, no info'
        """
        counts = ", ".join(_count(self.findings, severity) for severity in Severity)
        return f"{self.nodes} node{'' if self.nodes == 1 else 's'} checked: {counts}"


def _count(findings: Iterable[Finding], severity: Severity) -> str:
    count = sum(each.severity is severity for each in findings)
    plural = "s" if count != 1 and severity is not Severity.INFO else ""
    return f"{count or 'no'} {severity.value}{plural}"
