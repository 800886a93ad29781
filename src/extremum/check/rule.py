"""What a rule is: a code, its explanation, and the question it puts to a node.

Decides nothing about any node; the rules are in :mod:`extremum.check.promises` and :mod:`extremum.check.targets`.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from extremum import validate
from extremum.check.finding import Severity
from extremum.check.question import AskedRuntime
from extremum.directml.enumerations import FeatureLevel
from extremum.errors import ExtremumError
from extremum.graph.sites import Site
from extremum.runtimes import Runtime
from extremum.spec import OperatorVersion
from extremum.validate import Attributes

__all__ = ["Look", "Rule", "Targets", "accepted_values", "refusals", "rule", "states_axes"]


@dataclass(frozen=True, slots=True)
class Targets:
    """Where the model is to run.

    Attributes
    ----------
    runtime : Runtime or None
        The onnxruntime that is asked; None where none is installed.
    feature_level : FeatureLevel or None
        DirectML's; None if DirectML is no target.
    asked : AskedRuntime or None
        The runtime that was named, which is asked for answers too; None where none was.

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
"""Puts a rule's question to a node, given the version in force; each error is a finding."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is looked for.

    Attributes
    ----------
    code : str
        Never given to another rule: ``EX001`` to ``EX099`` for promises of a version, from ``EX101`` on for targets.
    title : str
        A few words.
    severity : Severity
        Of every finding of the rule.
    what : str
        What is looked for.
    why : str
        Why it matters.
    example : str
        A model, in ONNX's textual form, in which it is found.
    instead : str
        A model in which it is not.
    look : callable
        The question.

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


def rule(code: str, title: str, severity: Severity) -> Callable[[Look], Rule]:
    """Make a question a rule; its docstring says what is looked for, why, an example, and what to write instead."""

    def made(look: Look) -> Rule:
        # What is looked for, why, "Example::", a model, "Instead::", a model. Python -OO leaves nothing of it.
        parts = [*(inspect.getdoc(look) or "").split("\n\n"), *[""] * 6]
        what, why = (" ".join(part.split()) for part in parts[:2])
        example, instead = (f"{textwrap.dedent(parts[index])}\n" for index in (3, 5))
        return Rule(code, title, severity, what, why, example, instead, look)

    return made


def refusals(question: Callable[..., object], *arguments: object) -> Iterator[ExtremumError]:
    """Yield the error that a question of :mod:`extremum.validate` or :mod:`extremum.infer` is answered with, if any."""
    try:
        question(*arguments)
    except ExtremumError as error:
        yield error


def states_axes(site: Site, schema: OperatorVersion) -> bool:
    """Return whether a node says along which axes it looks, and the model which ones these are."""
    values = (site.values.get(each.name, validate.UNKNOWN) for each in schema.attributes if each.range.is_axis)
    return any(value is not validate.UNKNOWN for value in values)


def accepted_values(site: Site, schema: OperatorVersion) -> Attributes:
    """Return the values of the attributes; the default where the one that is given is refused."""
    values = {}
    stated = site.values
    for attribute in schema.attributes:
        refused = any(refusals(validate.attribute_value, schema, attribute, stated))
        values[attribute.name] = validate.attribute_value(schema, attribute, {} if refused else stated)
    return values
