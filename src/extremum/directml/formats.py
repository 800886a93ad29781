"""The forms in which a lowered model can be written: text, JSON, C++ and DxDispatch's.

Decides their names, what a field is called in C, and which members are counts that a description leaves to its tuples.
All are read in pieces of text: one of them holds the elements of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.directml.descriptions import OperatorDesc
from extremum.directml.lowering import LoweredModel, Step
from extremum.directml.operator import create_operator
from extremum.directml.tensor import TensorDesc
from extremum.printable import json_text, printable
from extremum.tensors import require_memory

__all__ = [
    "FORMATS",
    "bindings",
    "cpp",
    "document",
    "dxdispatch",
    "members",
    "operator_type",
    "record",
    "structure_name",
    "text",
]


def structure_name(desc: OperatorDesc) -> str:
    """Return the name of a description's structure, such as ``DML_ARGMAX_OPERATOR_DESC``."""
    return f"{desc.operator}_OPERATOR_DESC"


def operator_type(desc: OperatorDesc) -> str:
    """Return the enumerator of DML_OPERATOR_TYPE, such as ``DML_OPERATOR_ARGMAX``."""
    return desc.operator.replace("DML_", "DML_OPERATOR_", 1)


def members(desc: OperatorDesc | TensorDesc) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each member of a structure, in the order of directml.h."""
    if isinstance(desc, TensorDesc):
        yield "DataType", desc.data_type
        yield "Flags", desc.flags
        yield "DimensionCount", desc.dimension_count
        yield "Sizes", desc.sizes
        yield "Strides", desc.strides
        yield "TotalTensorSizeInBytes", desc.total_tensor_size_in_bytes
        yield "GuaranteedBaseOffsetAlignment", desc.guaranteed_base_offset_alignment
        return
    for field in fields(desc):
        value = getattr(desc, field.name)
        if field.name == "axes":
            yield "AxisCount", len(value)
        yield _member(field.name), value


def _member(field: str) -> str:
    return "".join(word.capitalize() for word in field.split("_"))


def bindings(step: Step) -> dict[str, str]:
    """Return the name of the model's tensor by the member it is bound to."""
    bound = dict(zip(map(_member, step.desc.inputs), step.inputs, strict=True))
    return {**bound, "OutputTensor": step.output}


def record(desc: OperatorDesc | TensorDesc) -> dict[str, Any]:
    """Return the members as JSON can hold them: enumerators by name, absent strides left out."""
    return {name: _record_value(value) for name, value in members(desc) if value is not None}


def _record_value(value: Any) -> Any:
    if isinstance(value, TensorDesc):
        return record(value)
    if isinstance(value, tuple):
        return list(value)
    return getattr(value, "c_name", value)


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


def document(model: LoweredModel) -> dict[str, Any]:
    """Return the operators of each node and the errors of those that cannot go, as JSON can hold them."""
    return {
        "feature_level": str(model.feature_level),
        "nodes": [
            {
                "place": node.place,
                "version": node.version,
                "steps": [
                    {
                        "type": operator_type(step.desc),
                        "feature_level": str(step.feature_level),
                        "desc": record(step.desc),
                        "bindings": bindings(step),
                    }
                    for step in node.steps
                ],
            }
            for node in model.nodes
        ],
        "refusals": [error.record() for error in model.refusals],
    }


# A lowered model as C++: initialisers of directml.h's structures, for a function or a file.


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


# A lowered model as DxDispatch runs it on Windows, with the expected answers. Constants have their values. Any other
# buffer that an operator reads before one writes it gets small integers of a fixed pattern: every element type holds
# them exactly, and they repeat, so that ties occur. DxDispatch reads ``resources``, ``dispatchables`` and ``commands``
# and ignores ``expected``, the elements of each buffer after the dispatches. The text is written in pieces while the
# operators run, so that it takes the memory of the tensors alone.


_PIECE = 4096
"""Elements whose text is made at a time."""


def dxdispatch(model: LoweredModel) -> Iterator[str]:
    """Yield the text of DxDispatch's model of the operators, in pieces."""
    _require_memory(model)
    buffers: dict[str, NDArray[Any]] = {}
    yield '{\n"resources": {'
    for step in _dispatches(model):
        for name, tensor in zip(step.inputs, step.desc.inputs.values(), strict=True):
            if name not in buffers:
                yield _separator(len(buffers))
                buffers[name] = _contents(name, tensor, model.constants)
                yield from _resource(name, tensor, _values(buffers[name]))
        if step.output not in buffers:
            yield _separator(len(buffers))
            output = step.desc.output
            buffers[step.output] = np.zeros(output.extent, output.data_type.element_type.dtype)
            yield from _resource(step.output, output, [json_text({"valueCount": output.extent, "value": 0})])
        create_operator(step.desc).dispatch([buffers[name] for name in step.inputs], [buffers[step.output]])
    dispatchables: dict[str, Any] = {}
    commands: list[dict[str, Any]] = []
    for node in model.nodes:
        for number, step in enumerate(node.steps):
            title = node.place if len(node.steps) == 1 else f"{node.place} step {number}"
            dispatchables[title] = {"type": operator_type(step.desc), "desc": record(step.desc)}
            commands.append({"type": "dispatch", "dispatchable": title, "bindings": bindings(step)})
    written = dict.fromkeys(step.output for step in _dispatches(model))
    commands += [{"type": "print", "resource": name} for name in written]
    yield f'\n}},\n"dispatchables": {json_text(dispatchables)},\n"commands": {json_text(commands)},\n"expected": {{'
    for position, name in enumerate(written):
        yield f"{_separator(position)}{json_text(name)}: "
        yield from _values(buffers[name])
    yield "\n}\n}\n"


def _dispatches(model: LoweredModel) -> Iterator[Step]:
    return (step for node in model.nodes for step in node.steps)


def _require_memory(model: LoweredModel) -> None:
    tensors = {step.output: step.desc.output for step in _dispatches(model)}
    for step in _dispatches(model):
        tensors |= zip(step.inputs, step.desc.inputs.values(), strict=True)
    needed = sum(tensor.extent * tensor.data_type.element_type.itemsize for tensor in tensors.values())
    require_memory((needed,), np.dtype(np.uint8), "what the operators read and write")


def _separator(position: int) -> str:
    return ",\n" if position else "\n"


def _contents(name: str, tensor: TensorDesc, constants: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if name in constants:
        return constants[name].ravel()
    # The pattern begins anew after 101 elements.
    return np.resize((np.arange(101) * 37 % 101).astype(tensor.data_type.element_type.dtype), tensor.extent)


def _resource(name: str, tensor: TensorDesc, values: Iterator[str] | list[str]) -> Iterator[str]:
    yield f'{json_text(name)}: {{"initialValuesDataType": "{tensor.data_type.name}", "initialValues": '
    yield from values
    yield "}"


def _values(elements: NDArray[Any]) -> Iterator[str]:
    """Yield the elements as DxDispatch reads them: text in the place of what JSON has no number for."""
    yield "["
    for start in range(0, elements.size, _PIECE):
        piece = elements[start : start + _PIECE]
        values = piece.tolist()
        if not np.isfinite(piece).all():
            values = [value if np.isfinite(value) else f'"{value}"' for value in values]
        yield (", " if start else "") + ", ".join(map(str, values))
    yield "]"


FORMATS: Mapping[str, Callable[[LoweredModel], Iterator[str]]] = MappingProxyType(
    {
        "text": lambda model: iter([text(model)]),
        "json": lambda model: iter([json_text(document(model)) + "\n"]),
        "cpp": lambda model: iter([cpp(model)]),
        "dxdispatch": dxdispatch,
    }
)
"""From the name of a format to the function that writes a lowered model in it, piece by piece."""
