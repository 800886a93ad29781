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
    """Return one block for each node: its operators and their members."""
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
