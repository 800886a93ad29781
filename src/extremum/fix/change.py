"""What a fix did to a model: one change per node, and how the changes read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import onnx

from extremum.printable import printable

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

    Examples
    --------
    >>> import onnx
    >>> from extremum.fix import fix
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int16[9] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> print(fix(onnx.parser.parse_model(text)).changes[0])
    graph.node[0]: ArgMax-13 of int16 on wider integers
    """

    place: str
    path: str
    operator: str
    element: str
    title: str
    before: onnx.NodeProto
    after: tuple[onnx.NodeProto, ...]

    def __str__(self) -> str:
        return printable(f"{self.place}: {self.operator} of {self.element} {self.title}")

    def diff(self) -> str:
        """Return the node and its replacement, a line per node, marked as in a unified diff."""
        before, *after = map(printable, self._nodes())
        return "\n".join([f"@@ {self} @@", f"- {before}", *(f"+ {node}" for node in after)])

    def record(self) -> dict[str, Any]:
        """Return the change as JSON can hold it, nodes in ONNX's textual form."""
        before, *after = self._nodes()
        words = {"place": self.place, "operator": self.operator, "element": self.element, "rewrite": self.title}
        return {**words, "before": before, "after": after}

    def _nodes(self) -> list[str]:
        return [_text(node) for node in (self.before, *self.after)]


def _text(node: onnx.NodeProto) -> str:
    # In a graph, because onnx prints nodes alone from 1.22 on only.
    graph = onnx.helper.make_graph([node], "g", [], [])
    _, _, text = onnx.printer.to_text(graph).partition("{")
    return " ".join(text.rpartition("}")[0].split())
