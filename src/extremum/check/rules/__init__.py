"""The rules, one per file: EX001 to EX099 are promises of a version, EX101 and on are targets.

A new rule is a new file and a line here; its code is the next free one, and codes are never used again.
"""

from __future__ import annotations

from extremum.check.rule import Rule
from extremum.check.rules import (
    answered_otherwise,
    attribute_value,
    axis_range,
    consumed_inputs,
    cuda_select_last_index,
    declared_output,
    default_axis,
    directml,
    element_type,
    empty_reduction,
    halves,
    hardmax_coercion,
    mixed_element_types,
    nan,
    negative_axis,
    onnxruntime,
    operand_count,
    rank_zero,
    refused,
    shapes,
    unknown_attribute,
)
from extremum.errors import ArgumentError

__all__ = ["RULES", "find", "matching"]

RULES: tuple[Rule, ...] = (
    unknown_attribute.look,
    attribute_value.look,
    axis_range.look,
    element_type.look,
    operand_count.look,
    mixed_element_types.look,
    negative_axis.look,
    shapes.look,
    empty_reduction.look,
    rank_zero.look,
    default_axis.look,
    declared_output.look,
    consumed_inputs.look,
    onnxruntime.look,
    directml.look,
    nan.look,
    hardmax_coercion.look,
    cuda_select_last_index.look,
    refused.look,
    answered_otherwise.look,
    halves.look,
)
"""All rules in the order of their codes."""


def find(code: str) -> Rule:
    """Return the rule of a code.

    Parameters
    ----------
    code : str
        Such as ``EX001``, in either case.

    Returns
    -------
    Rule
        With its explanation.

    Raises
    ------
    ArgumentError
        If there is none.

    Examples
    --------
    >>> from extremum.check import find
    >>> find("EX009").title
    'nothing to choose from'
    """
    for rule in RULES:
        if rule.code == code.upper():
            return rule
    raise _unknown(code)


def matching(prefix: str) -> tuple[Rule, ...]:
    """Return the rules whose code begins so, in either case; none of them is an error."""
    found = tuple(rule for rule in RULES if prefix and rule.code.startswith(prefix.upper()))
    if not found:
        raise _unknown(prefix)
    return found


def _unknown(code: str) -> ArgumentError:
    codes = ", ".join(rule.code for rule in RULES)
    return ArgumentError(f"there is no rule {code!r}", remedy=f"the codes are {codes}")
