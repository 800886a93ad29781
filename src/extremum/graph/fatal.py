"""Nodes that end the process in onnxruntime, which looks at every node of a model and not only at those it is shown.

Decides what is refused before a model is given to onnxruntime. Trying every version of every operator, in right and in
wrong nodes, found these.
"""

from __future__ import annotations

from collections.abc import Iterable

from extremum.errors import SpecError
from extremum.graph import nodes
from extremum.graph.guards import num_outputs, splits_otherwise
from extremum.graph.sites import Site
from extremum.spec import ONNX

__all__ = ["require_harmless"]


def require_harmless(sites: Iterable[Site]) -> None:
    """Refuse a Split that says another number of outputs than it has: inference writes one size for each it says."""
    for site in sites:
        node = site.node
        is_split = not site.is_call and nodes.canonical(node.domain) == ONNX and node.op_type == "Split"
        if is_split and splits_otherwise(node):
            raise SpecError(
                f"Split has num_outputs={num_outputs(node)}, but {len(node.output)} outputs",
                where=site.where,
                remedy=f"use num_outputs={len(node.output)}",
            )
