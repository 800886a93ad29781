"""A lowered model as text for a reader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from extremum.directml.formats.structure import bindings, members
from extremum.directml.lowered import LoweredModel, Step
from extremum.directml.tensor import TensorDesc
from extremum.printable import printable

__all__ = ["text"]


def text(model: LoweredModel) -> str:
    """Return one block for each node: its operators and their members.

    Parameters
    ----------
    model : LoweredModel
        What :func:`extremum.directml.lower` returned.

    Returns
    -------
    str
        Lines, the last one with a line break.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> from extremum.directml.formats.text import text
    >>> source = '<ir_version: 8, opset_import: ["" : 12]> g (float[2, 3] x) => (float[2, 3] y) { y = Hardmax(x) }'
    >>> print(text(dml.lower(onnx.parser.parse_model(source))), end="")
    graph.node[0]: Hardmax-11
      DML_ACTIVATION_HARDMAX1, feature level 5_1
        InputTensor   x  FLOAT32[2, 3]
        OutputTensor  y  FLOAT32[2, 3]
        AxisCount     1
        Axes          {1}
    """
    return "".join(f"{line}\n" for line in _lines(model))


def _lines(model: LoweredModel) -> Iterator[str]:
    for node in model.nodes:
        yield f"{printable(node.place)}: {node.version}"
        for step in node.steps:
            yield f"  {step.desc.operator}, feature level {step.feature_level}"
            yield from _members(step)
    if not model.nodes and not model.refusals:
        yield "no node of the model picks the largest or smallest"


def _members(step: Step) -> Iterator[str]:
    rows = list(members(step.desc))
    width = max(len(name) for name, _ in rows)
    bound = bindings(step)
    for name, value in rows:
        tensor = f"{printable(bound[name])}  " if name in bound else ""
        yield f"    {name:<{width}}  {tensor}{_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, TensorDesc):
        return str(value)
    if isinstance(value, tuple):
        return f"{{{', '.join(map(str, value))}}}"
    return str(getattr(value, "c_name", value))
