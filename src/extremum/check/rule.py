"""A rule of ``extremum check``, and what it finds.

Decides how a finding reads and which findings count. The rules are in :mod:`extremum.check.promises` and
:mod:`extremum.check.targets`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from extremum.check.question import AskedRuntime
from extremum.directml import FeatureLevel
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.runtimes import Runtime
from extremum.spec import OperatorVersion

__all__ = ["Finding", "Report", "Rule", "Severity", "Targets", "refusals", "rule"]


class Severity(enum.Enum):
    """How much a finding matters.

    An error breaks a rule of the operator's version. A warning marks a model that some target refuses or answers
    differently. An info is worth knowing about a correct model.

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
    """What one rule finds at one node.

    Attributes
    ----------
    code, severity : str, Severity
        The rule, such as ``EX001``, and how much it matters.
    operator : str
        The operator and its version, such as ``ArgMax-13``.
    place, opset : str, int
        The path of the node, with its name if it has one, and the version that the model imports there.
    reason : str
        What is wrong, in one sentence without a full stop.
    given, remedy : str or None
        What the node states, and what would be right.

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
        reason, where = f"{self.code} {self.severity.value}: {self.reason}", f"{self.place}, opset {self.opset}"
        return str(ExtremumError(reason, where=where, given=self.given, remedy=self.remedy))

    def record(self) -> dict[str, Any]:
        """Return the finding in a form that JSON can hold."""
        return {**asdict(self), "severity": self.severity.value}


@dataclass(frozen=True, slots=True)
class Report:
    """All findings about a model.

    Attributes
    ----------
    findings : tuple of Finding
        In the order of the walk; at each node in the order of the rules.
    nodes : int
        The number of nodes that were checked.
    notes : tuple of str
        What could not be checked, and why.

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
        """Return the errors and warnings, with ``strict`` the infos too: a model without any is clean."""
        return tuple(each for each in self.findings if strict or each.severity is not Severity.INFO)

    def summary(self) -> str:
        """Return the counts in one line.

        Examples
        --------
        >>> from extremum.check import Report
        >>> Report(findings=(), nodes=3, notes=()).summary()
        '3 nodes checked: no errors, no warnings, no info'
        """
        counts = []
        for severity in Severity:
            count = sum(each.severity is severity for each in self.findings)
            plural = "s" if count != 1 and severity is not Severity.INFO else ""
            counts.append(f"{count or 'no'} {severity.value}{plural}")
        return f"{self.nodes} node{'' if self.nodes == 1 else 's'} checked: {', '.join(counts)}"


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets that the rules ask.

    Attributes
    ----------
    runtime : Runtime or None
        The onnxruntime that says what it refuses; None if none is installed.
    feature_level : FeatureLevel or None
        The feature level of DirectML; None if DirectML is no target.
    asked : AskedRuntime or None
        The runtime that the caller names, whose answers are compared; None if there is none.

    Examples
    --------
    >>> from extremum.check import Targets
    >>> Targets().runtime is None
    True
    """

    runtime: Runtime | None = None
    feature_level: FeatureLevel | None = None
    asked: AskedRuntime | None = None


Look = Callable[[Site, OperatorVersion, Targets], Iterable[ExtremumError]]
"""Checks a node against the version in force; each error is a finding."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One check of a node.

    Attributes
    ----------
    code : str
        Unique for ever: ``EX001`` to ``EX099`` for promises of a version, ``EX101`` and above for targets.
    title : str
        A few words.
    severity : Severity
        Of every finding of the rule.
    what, why : str
        What the rule looks for, and why it matters.
    example, instead : str
        Models, in ONNX's textual form, in which the rule finds something and nothing.
    look : callable
        Checks a node.

    Examples
    --------
    >>> from extremum.check import find
    >>> find("EX003").title, find("EX003").severity.value
    ('axis out of range', 'error')
    """

    code: str
    title: str
    severity: Severity
    what: str
    why: str
    example: str
    instead: str
    look: Look


def rule(rules: list[Rule], code: str, title: str, severity: Severity) -> Callable[[Look], Rule]:
    """Append a rule; the docstring of its function has three paragraphs: what, why, and two models."""

    def made(look: Look) -> Rule:
        # Python -OO leaves no docstring.
        what, why, models = (" ".join(text.split()) for text in (look.__doc__ or "\n\n\n\n").split("\n\n"))
        example, _, instead = models.partition(" Instead: ")
        rules.append(Rule(code, title, severity, what, why, _model(example), _model(instead), look))
        return rules[-1]

    return made


def _model(text: str) -> str:
    """Return a model in ONNX's textual form, of ``OPSET (inputs) => (outputs) { node; node }``."""
    opset, _, graph = text.removeprefix("Example: ").partition(" ")
    signature, _, body = graph.removesuffix(" }").partition(" { ")
    nodes = "".join(f"   {node}\n" for node in body.split("; "))
    return f'<ir_version: 8, opset_import: ["" : {opset}]>\ng {signature} {{\n{nodes}}}\n'


def refusals(question: Callable[..., object], *arguments: object) -> Iterator[ExtremumError]:
    """Yield the error that a function of :mod:`extremum.validate` or :mod:`extremum.infer` raises, if any."""
    try:
        question(*arguments)
    except ExtremumError as error:
        yield error
