"""What a check gives: findings, how much each matters, and the report that counts them."""

from __future__ import annotations

import enum
from dataclasses import asdict, dataclass
from typing import Any

from extremum.errors import ExtremumError
from extremum.printable import counted


class Severity(enum.Enum):
    """How much a finding matters.

    An error breaks a rule of the operator's version. A warning marks a model that some target refuses or answers
    differently. An info is worth knowing about a correct model.

    >>> from extremum.check import Severity
    >>> [each.value for each in Severity]
    ['error', 'warning', 'info']
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule finds at one node.

    The code names the rule, such as ``EX001``; the operator has its version, such as ``ArgMax-13``. The place is the
    path of the node, with its name if it has one. The opset is the version that the model imports there. The reason
    says in one sentence, without a full stop, what is wrong; given is what the node states; the remedy says what helps.

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
        error = ExtremumError(
            f"{self.code} {self.severity.value}: {self.reason}",
            where=f"{self.place}, opset {self.opset}",
            given=self.given,
            remedy=self.remedy,
        )
        return str(error)

    def record(self) -> dict[str, Any]:
        """Return the finding in a form that JSON can hold."""
        return {**asdict(self), "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about a model.

    The findings are in the order of the nodes, and at each node in the order of the rules. ``nodes`` is the number of
    checked nodes, those of this package's operators, and ``all_nodes`` that of all nodes of the model. The notes say
    what could not be checked, and why.

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
    all_nodes: int = 0

    def counted(self, *, strict: bool = False) -> tuple[Finding, ...]:
        """Return the errors and warnings, with ``strict`` the infos too: a model without any is clean."""
        return tuple(each for each in self.findings if strict or each.severity is not Severity.INFO)

    def summary(self) -> str:
        """Return the counts in one line.

        >>> from extremum.check import Report
        >>> Report(findings=(), nodes=3, notes=()).summary()
        '3 nodes checked: no errors, no warnings, no info'
        """
        if not self.nodes and self.all_nodes:
            if self.all_nodes == 1:
                return "0 nodes checked: the only node is of another operator"
            return f"0 nodes checked: all {self.all_nodes} nodes are of other operators"
        counts = []
        for severity in Severity:
            count = sum(each.severity is severity for each in self.findings)
            # "info" has no plural.
            words = f"{count} info" if severity is Severity.INFO else counted(count, severity.value)
            counts.append(words if count else words.replace("0", "no", 1))
        return f"{counted(self.nodes, 'node')} checked: {', '.join(counts)}"
