"""Findings about a model: nodes that break a rule, and nodes that a target refuses or answers differently.

The rules of a version are in :mod:`extremum.check.promises`, those of targets in :mod:`extremum.check.targets`.
"""

from __future__ import annotations

from extremum.errors import required_by

with required_by("extremum.check"):
    from extremum.check.apply import check
    from extremum.check.findings import Finding, Report, Severity
    from extremum.check.question import AskedRuntime
    from extremum.check.rule import Rule, Targets
    from extremum.check.rules import RULES, find, matching
    from extremum.runtimes import Runtime

__all__ = ["RULES", "AskedRuntime", "Finding", "Report", "Rule", "Runtime", "Severity", "Targets"]
__all__ += ["check", "find", "matching"]
__dir__ = __all__.copy
