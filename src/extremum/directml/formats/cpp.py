"""A lowered model as C++: initialisers of directml.h's structures, to be pasted into a function or a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from extremum.directml.descriptions import OperatorDesc
from extremum.directml.formats.structure import bindings, members, operator_type, structure_name
from extremum.directml.lowered import LoweredModel
from extremum.directml.tensor import TensorDesc
from extremum.printable import printable

__all__ = ["cpp"]


def cpp(model: LoweredModel) -> str:
    """Return the initialisers of each operator, the last of which is a DML_OPERATOR_DESC."""
    steps = ((node, step) for node in model.nodes for step in node.steps)
    blocks = []
    for number, (node, step) in enumerate(steps):
        names = ", ".join(f"{member} = {tensor!r}" for member, tensor in bindings(step).items())
        # Each ends with a word of this package or a quotation mark: a backslash would join the next line to it.
        comments = [f"// {printable(node.place)}: {node.version}, feature level {step.feature_level}"]
        comments.append(f"// {printable(names)}")
        blocks.append("\n".join([*comments, *_operator(f"op{number}", step.desc)]))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _operator(prefix: str, desc: OperatorDesc) -> Iterator[str]:
    rows = []
    for member, value in members(desc):
        name = f"{prefix}_{member}"
        if isinstance(value, TensorDesc):
            yield from _tensor(name, value)
            rows.append((member, f"&{name}"))
        elif isinstance(value, tuple):
            yield _array(name, value)
            rows.append((member, name))
        else:
            rows.append((member, _scalar(value)))
    yield from _structure(structure_name(desc), f"{prefix}_desc", rows)
    yield f"const DML_OPERATOR_DESC {prefix}_operator = {{{operator_type(desc)}, &{prefix}_desc}};"


def _tensor(name: str, desc: TensorDesc) -> Iterator[str]:
    rows = []
    for member, value in members(desc):
        if isinstance(value, tuple):
            yield _array(f"{name}_{member}", value)
            rows.append((member, f"{name}_{member}"))
        else:
            rows.append((member, _scalar(value)))
    yield from _structure("DML_BUFFER_TENSOR_DESC", f"{name}_buffer", rows)
    yield f"const DML_TENSOR_DESC {name} = {{DML_TENSOR_TYPE_BUFFER, &{name}_buffer}};"


def _array(name: str, values: tuple[int, ...]) -> str:
    return f"const UINT {name}[] = {{{', '.join(f'{value}u' for value in values)}}};"


def _scalar(value: Any) -> str:
    return "nullptr" if value is None else str(getattr(value, "c_name", f"{value}u"))


def _structure(kind: str, name: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield f"const {kind} {name} = {{"
    width = max(len(value) for _, value in rows) + 1
    for member, value in rows:
        yield f"    {value + ',':<{width}}  // {member}"
    yield "};"
