"""The changes that a fix makes to a model.

Decides how they read, and that everything else in the model stays as it is. The conversion to a later opset is onnx's
own. It infers shapes, which operators of other domains end the process by (:mod:`extremum.graph.inference`): they are
hidden from it, and it runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import onnx

from extremum.errors import ExtremumError, ModelError
from extremum.graph import nodes
from extremum.printable import printable
from extremum.runtimes.processes import ended

__all__ = ["Change", "Fixed", "convert", "splice"]


@dataclass(frozen=True, slots=True)
class Change:
    """One node and the nodes that replace it.

    Attributes
    ----------
    place, path : str
        The path of the node, with its name if it has one, and without.
    operator, element : str
        The operator and its version, such as ``ArgMax-13``, and the element type of its inputs.
    title : str
        What the rewrite does.
    before, after : onnx.NodeProto, tuple of onnx.NodeProto
        The node, and its replacement.

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
        before, *after = (printable(_text(node)) for node in (self.before, *self.after))
        return "\n".join([f"@@ {self} @@", f"- {before}", *(f"+ {node}" for node in after)])

    def record(self) -> dict[str, Any]:
        """Return the change in a form that JSON can hold, nodes in ONNX's textual form."""
        words = {"place": self.place, "operator": self.operator, "element": self.element, "rewrite": self.title}
        return {**words, "before": _text(self.before), "after": [_text(node) for node in self.after]}


def _text(node: onnx.NodeProto) -> str:
    # In a graph, because onnx prints nodes alone from 1.22 on only.
    graph = onnx.helper.make_graph([node], "g", [], [])
    _, _, text = onnx.printer.to_text(graph).partition("{")
    return " ".join(text.rpartition("}")[0].split())


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed model.

    Attributes
    ----------
    model, target : onnx.ModelProto, str
        The fixed model, or the original if nothing changed, and the runtime that it is for.
    changes : tuple of Change
        One per rewritten node.
    refusals : tuple of ExtremumError
        One per node that the target refuses and that cannot be rewritten. The target does not run the model then.
    differences : tuple of ExtremumError
        One per node that the target answers differently and that has no exact rewrite: it stays.
    notes : tuple of str
        What was not compared, and why; the nodes whose answers differ for NaN.

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
            return f"not modified: {_count(self.refusals)} cannot be rewritten for {self.target}"
        differs = f"answers {_count(self.differences)} differently"
        if self.changes:
            text, joint = f"{_count(self.changes)} rewritten for {self.target}", "which"
        else:
            text, joint = f"not modified: {self.target} takes every node", "but"
        return f"{text}, {joint} {differs}" if self.differences else text


def _count(nodes: Sequence[object]) -> str:
    return f"{len(nodes)} node{'' if len(nodes) == 1 else 's'}"


def splice(model: onnx.ModelProto, replacements: Mapping[str, Sequence[onnx.NodeProto]]) -> onnx.ModelProto:
    """Return a copy of a model with other nodes at some paths."""
    copy = deepcopy(model)

    def rebuild(body: onnx.GraphProto | onnx.FunctionProto, prefix: str) -> None:
        result: list[onnx.NodeProto] = []
        for index, node in enumerate(body.node):
            for name, graph in nodes.subgraphs(node):
                rebuild(graph, nodes.path(prefix, index, name))
            result.extend(replacements.get(nodes.path(prefix, index), [node]))
        if any(path.rpartition(".")[0] == prefix for path in replacements):
            copies = list(map(deepcopy, result))
            del body.node[:]
            body.node.extend(copies)

    for _, prefix, body in nodes.bodies(copy):
        rebuild(body, prefix)
    return copy


# In seconds; a model of ten thousand nodes takes a few.
_LIMIT = 300.0
_HIDDEN = "hidden."
# The converter may print: its output is no part of the model.
_CONVERTER = """
import os, sys
result = os.dup(1)
os.dup2(2, 1)
import onnx.version_converter
model = onnx.ModelProto.FromString(sys.stdin.buffer.read())
try:
    answer, status = onnx.version_converter.convert_version(model, int(sys.argv[1])).SerializeToString(), 0
except Exception as error:
    # The converter raises RuntimeError, ValueError and its own ConvertError.
    answer, status = str(error).strip().partition("\\n")[0].encode(errors="backslashreplace"), 3
with os.fdopen(result, "wb") as out:
    out.write(answer)
sys.exit(status)
"""


def convert(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """Return a model at an opset, or the model itself if it has that or a later one."""
    if nodes.opsets(model.opset_import).get("", 0) >= opset:
        return model
    if model.functions:
        raise ModelError("the opset of a model with functions cannot be raised", remedy="inline them first")
    content = _with_domains(model, lambda domain: f"{_HIDDEN}{domain}").SerializeToString()
    command = [sys.executable, "-c", _CONVERTER, str(opset)]
    try:
        child = subprocess.run(command, input=content, capture_output=True, timeout=_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        given = f"onnx's converter did not end in {_LIMIT:g} s"
    else:
        if child.returncode == 0:
            return _with_domains(onnx.ModelProto.FromString(child.stdout), lambda domain: domain.removeprefix(_HIDDEN))
        is_refusal = child.returncode == 3
        given = child.stdout.decode() if is_refusal else f"onnx's converter ended with {ended(child.returncode)}"
    raise ModelError(f"the model cannot be raised to opset {opset}", given=given)


def _with_domains(model: onnx.ModelProto, rename: Callable[[str], str]) -> onnx.ModelProto:
    """Return a copy with other names of the domains, except ONNX's own."""
    copy = deepcopy(model)
    named: list[Any] = [*copy.opset_import, *(node for _, _, node in nodes.everywhere(copy))]
    for each in named:
        if nodes.canonical(each.domain):
            each.domain = rename(each.domain)
    return copy
