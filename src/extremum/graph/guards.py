"""Nodes that keep the promise of their schema and end the process in onnx's inference all the same.

Decides which values of attributes are kept from it; each of these was found by trying random values. What is kept out
is wrong by the operator's document too, so no right model loses anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import onnx

__all__ = ["guarded", "num_outputs", "splits_otherwise"]


def _integer(node: onnx.NodeProto, name: str) -> int:
    return next((each.i for each in node.attribute if each.name == name), 0)


def num_outputs(node: onnx.NodeProto) -> int:
    """Return the outputs that a Split says it has; 0 where it does not say."""
    return _integer(node, "num_outputs")


def splits_otherwise(node: onnx.NodeProto) -> bool:
    """Return whether a Split has another number of outputs than it says."""
    return num_outputs(node) not in (0, len(node.output))


# Letters with at most one ellipsis for each operand, and after the arrow.
_TERM = rb"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
_EQUATION = re.compile(_TERM + rb"(," + _TERM + rb")*(->" + _TERM + rb")?")


def _equation(node: onnx.NodeProto) -> bytes:
    return next((each.s.replace(b" ", b"") for each in node.attribute if each.name == "equation"), b"")


_GUARDS: Mapping[str, Callable[[onnx.NodeProto], bool]] = {
    # Looks without end for what comes after a sign it does not know.
    "Einsum": lambda node: _EQUATION.fullmatch(_equation(node)) is None,
    # Counts dimensions from before the first.
    "GatherND": lambda node: _integer(node, "batch_dims") < 0,
    # Writes one size for each of num_outputs, however many outputs there are.
    "Split": splits_otherwise,
}


# Look at the third dimension of whatever they are given, in onnx 1.19.
_VERSIONS = {("RNN", 1), ("GRU", 3), ("LSTM", 1)}


def guarded(node: onnx.NodeProto, since: int) -> bool:
    """Return whether a node of ONNX's own domain, of the version of ``since``, has to be kept from onnx's inference."""
    guard = _GUARDS.get(node.op_type)
    return (node.op_type, since) in _VERSIONS or (guard is not None and guard(node))
