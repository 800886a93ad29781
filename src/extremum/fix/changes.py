"""What a fix gives: the model, what was changed in it, and what was not, with the texts about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import onnx

from extremum.errors import ExtremumError
from extremum.printable import counted, printable


@dataclass(frozen=True, slots=True)
class Change:
    """One node and the nodes that replace it.

    The place is the path of the node with its name, if it has one. The operator has its version, such as ``ArgMax-13``;
    the element type is that of its inputs. The title says what the rewrite does.

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
        before, *after = (printable(_text(node)) for node in (self.before, *self.after))
        return "\n".join([f"@@ {self} @@", f"- {before}", *(f"+ {node}" for node in after)])

    def record(self) -> dict[str, Any]:
        """Return the change in a form that JSON can hold, nodes in ONNX's textual form."""
        words = {
            "place": self.place,
            "operator": self.operator,
            "element": self.element,
            "rewrite": self.title,
        }
        return {**words, "before": _text(self.before), "after": [_text(node) for node in self.after]}


def _text(node: onnx.NodeProto) -> str:
    # In a graph, because only onnx 1.22 and later print single nodes.
    _, _, text = onnx.printer.to_text(onnx.helper.make_graph([node], "g", [], [])).partition("{")
    return " ".join(text.rpartition("}")[0].split())


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed model.

    The model is the original if nothing changed. Each rewritten node has a change. Each node that the target refuses
    and that cannot be rewritten has a refusal: then the target does not run the model. Each node that it answers
    differently and that has no exact rewrite has a difference and stays. ``kept`` is what else
    :func:`extremum.check.check` still finds. The notes say what was not compared, and why.

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
    kept: tuple[ExtremumError, ...] = ()
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """Return one line that says whether the model was modified."""
        if self.refusals:
            return f"not modified: {_count(self.refusals)} cannot be rewritten for {self.target}"
        text = f"not modified: {self.target} takes every node"
        joint = "but"
        if self.changes:
            text = f"{_count(self.changes)} rewritten for {self.target}"
            joint = "which"
        if self.differences:
            text += f", {joint} answers {_count(self.differences)} differently"
        if self.kept:
            text += f"; {counted(len(self.kept), 'finding')} of extremum check left"
        return text


def _count(nodes: Sequence[object]) -> str:
    return counted(len(nodes), "node")
