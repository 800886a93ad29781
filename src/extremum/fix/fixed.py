"""What a fix did to a model: one change per node, how the changes read, and the result in one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import onnx

from extremum.errors import ExtremumError
from extremum.printable import printable

__all__ = ["Change", "Fixed"]


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


@dataclass(frozen=True, slots=True)
class Fixed:
    """What became of a model.

    Attributes
    ----------
    model : onnx.ModelProto
        The fixed model; the original where nothing changed.
    target : str
        The runtime it is for.
    changes : tuple of Change
        One per rewritten node.
    refusals : tuple of ExtremumError
        One per node that the target refuses and that cannot be rewritten. The model does not run there then.
    differences : tuple of ExtremumError
        One per node that the target takes but answers otherwise, and that cannot be rewritten exactly: it stays.
    notes : tuple of str
        What was not compared, and why; what is answered otherwise where there is NaN.

    Examples
    --------
    >>> import onnx
    >>> from extremum.fix import fix
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (int16[9] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> fixed = fix(onnx.parser.parse_model(text))
    >>> len(fixed.changes), fixed.refusals, fixed.notes
    (1, (), ())
    """

    model: onnx.ModelProto
    target: str
    changes: tuple[Change, ...]
    refusals: tuple[ExtremumError, ...]
    differences: tuple[ExtremumError, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line that says whether the model was modified."""
        if self.refusals:
            return f"not modified: {_nodes(len(self.refusals))} cannot be rewritten for {self.target}"
        otherwise = f"answers {_nodes(len(self.differences))} otherwise"
        if self.changes:
            rewritten = f"{_nodes(len(self.changes))} rewritten for {self.target}"
            return f"{rewritten}, which {otherwise}" if self.differences else rewritten
        taken = f"not modified: {self.target} takes every node"
        return f"{taken}, but {otherwise}" if self.differences else taken


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"
