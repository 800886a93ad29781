"""All rules of ``extremum check``, by their codes.

A new rule takes the next free code; a code is never reused.
"""

from __future__ import annotations

from extremum.check import promises, targets
from extremum.check.rule import Rule
from extremum.errors import ArgumentError

RULES = (*promises.RULES, *targets.RULES)
"""All rules in the order of their codes."""


def find(code: str) -> Rule:
    """Return the rule of a code, such as ``EX001`` or ``ex001``; raise ArgumentError if there is none.

    >>> from extremum.check import find
    >>> find("EX009").title
    'nothing to choose from'
    """
    return _require_rules(code, [rule for rule in RULES if rule.code == code.upper()])[0]


def matching(prefix: str) -> tuple[Rule, ...]:
    """Return the rules whose code starts with a prefix, ``EX1`` or ``ex1``; raise ArgumentError if there is none.

    >>> from extremum.check import matching
    >>> [rule.code for rule in matching("EX00")][:2]
    ['EX001', 'EX002']
    """
    return _require_rules(prefix, [rule for rule in RULES if prefix and rule.code.startswith(prefix.upper())])


def _require_rules(code: str, rules: list[Rule]) -> tuple[Rule, ...]:
    if not rules:
        raise ArgumentError(
            f"there is no rule {code!r}",
            remedy=f"the codes are {', '.join(rule.code for rule in RULES)}",
        )
    return tuple(rules)
