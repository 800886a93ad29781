"""What a rule is: what it says, what it asks, and two models that show it."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from extremum.check.findings import Severity
from extremum.check.question import AskedRuntime
from extremum.directml import FeatureLevel
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.runtimes import Runtime
from extremum.spec import OperatorVersion


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets that the rules ask.

    ``runtime`` is the installed onnxruntime, which is asked what it refuses, or None. ``feature_level`` is None if
    DirectML is not a target. ``asked`` is the runtime that the caller names; its answers are compared.

    >>> from extremum.check import Targets
    >>> Targets().runtime is None
    True
    """

    runtime: Runtime | None = None
    feature_level: FeatureLevel | None = None
    asked: AskedRuntime | None = None


Check = Callable[[Site, OperatorVersion, Targets], Iterable[ExtremumError]]
"""Checks a node against the version in force; each error is a finding."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One check of a node.

    The code is never reused: ``EX001`` to ``EX099`` for rules of a version, ``EX101`` and above for targets. Each
    finding has the severity of its rule. ``what`` says what the rule looks for, and ``why`` why it matters. ``example``
    and ``instead`` are models in ONNX's textual form: the rule finds something in the first, nothing in the second.
    ``follows`` says that the rule is about answers: where ``extremum fix`` wrote several nodes in the place of one, it
    looks at all of them as that one.

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
    look: Check
    follows: bool = False


def rule(
    code: str,
    title: str,
    severity: Severity,
    *,
    what: str,
    why: str,
    example: str,
    instead: str,
    follows: bool = False,
) -> Callable[[Check], Rule]:
    """Make a rule of the function that looks at a node; the texts may be indented."""

    def make(look: Check) -> Rule:
        return Rule(
            code,
            title,
            severity,
            what=_paragraph(what),
            why=_paragraph(why),
            example=_model(example),
            instead=_model(instead),
            look=look,
            follows=follows,
        )

    return make


def _paragraph(text: str) -> str:
    return " ".join(text.split())


def _model(text: str) -> str:
    return textwrap.dedent(text).strip() + "\n"
