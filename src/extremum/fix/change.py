"""What a fix did to a model: one change per node, and how the changes read."""

from __future__ import annotations

from dataclasses import dataclass

import onnx

__all__ = ["Change"]


@dataclass(frozen=True, slots=True)
class Change:
    """One node and what stands in its place.

    Attributes
    ----------
    place : str
        Where the node was, with its name if it had one.
    path : str
        The same without the name.
    operator : str
        The operator and its version, such as ``ArgMax-13``.
    element : str
        The element type of its inputs.
    title : str
        What the rewrite does.
    before : onnx.NodeProto
        The node.
    after : tuple of onnx.NodeProto
        The nodes in its place.
    """

    place: str
    path: str
    operator: str
    element: str
    title: str
    before: onnx.NodeProto
    after: tuple[onnx.NodeProto, ...]

    def __str__(self) -> str:
        return f"{self.place}: {self.operator} of {self.element} {self.title}"

    def diff(self) -> str:
        """Return the node and its replacement, a line per node, marked as in a unified diff."""
        lines = [f"@@ {self} @@", f"- {_text(self.before)}", *(f"+ {_text(node)}" for node in self.after)]
        return "\n".join(lines)


def _text(node: onnx.NodeProto) -> str:
    return " ".join(onnx.printer.to_text(node).split())
