"""A lowered model as JSON for a program."""

from __future__ import annotations

from typing import Any

from extremum.directml.formats.structure import bindings, operator_type, record
from extremum.directml.lowered import LoweredModel

__all__ = ["document"]


def document(model: LoweredModel) -> dict[str, Any]:
    """Return the operators of each node and the errors of those that cannot go, as JSON can hold them."""
    return {
        "feature_level": str(model.feature_level),
        "nodes": [
            {
                "place": node.place,
                "version": node.version,
                "steps": [
                    {
                        "type": operator_type(step.desc),
                        "feature_level": str(step.feature_level),
                        "desc": record(step.desc),
                        "bindings": bindings(step),
                    }
                    for step in node.steps
                ],
            }
            for node in model.nodes
        ],
        "refusals": [error.record() for error in model.refusals],
    }
