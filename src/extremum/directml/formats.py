"""The formats of a lowered model: text, JSON, C++ and DxDispatch's.

Each is an iterator of pieces of text: DxDispatch's format holds the elements of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.directml.descriptions import OperatorDesc, TensorDesc
from extremum.directml.lowering import LoweredModel, LoweredNode, Step
from extremum.directml.operator import create_operator
from extremum.printable import json_text, printable
from extremum.tensors import require_memory

__all__ = ["FORMATS", "bindings", "cpp", "document", "dxdispatch", "members", "operator_type", "record", "text"]


_TENSOR = (
    *("data_type", "flags", "dimension_count", "sizes", "strides"),
    *("total_tensor_size_in_bytes", "guaranteed_base_offset_alignment"),
)


def operator_type(desc: OperatorDesc) -> str:
    """Return the enumerator of DML_OPERATOR_TYPE, such as ``DML_OPERATOR_ARGMAX``."""
    return desc.operator.replace("DML_", "DML_OPERATOR_", 1)


def members(desc: OperatorDesc | TensorDesc) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each member of a structure, in the order of directml.h."""
    for name in _TENSOR if isinstance(desc, TensorDesc) else vars(desc):
        value = getattr(desc, name)
        if name == "axes":
            yield "AxisCount", len(value)
        yield _member(name), value


def _member(field: str) -> str:
    return "".join(word.capitalize() for word in field.split("_"))


def bindings(step: Step) -> dict[str, str]:
    """Return the name of the model's tensor for each member of the structure."""
    bound = dict(zip(map(_member, step.desc.inputs), step.inputs, strict=True))
    return {**bound, **dict(zip(map(_member, step.desc.outputs), step.outputs, strict=True))}


def record(desc: OperatorDesc | TensorDesc) -> dict[str, Any]:
    """Return the members for JSON: enumerators by name, without absent strides."""

    def value_of(value: Any) -> Any:
        if isinstance(value, TensorDesc):
            return record(value)
        return list(value) if isinstance(value, tuple) else getattr(value, "c_name", value)

    return {name: value_of(value) for name, value in members(desc) if value is not None}


def _all_steps(model: LoweredModel) -> Iterator[tuple[LoweredNode, Step]]:
    return ((node, step) for node in model.nodes for step in node.steps)


def text(model: LoweredModel) -> str:
    """Return one block for each node: its operators and their members."""
    return "".join(f"{line}\n" for line in _lines(model))


def _lines(model: LoweredModel) -> Iterator[str]:
    for node in model.nodes:
        yield f"{printable(node.place)}: {node.version}"
        for step in node.steps:
            yield f"  {step.desc.operator}, feature level {step.feature_level}"
            rows, bound = dict(members(step.desc)), bindings(step)
            width = max(map(len, rows))
            for name, value in rows.items():
                tensor = f"{printable(bound[name])}  " if name in bound else ""
                value = f"{{{', '.join(map(str, value))}}}" if isinstance(value, tuple) else value
                yield f"    {name:<{width}}  {tensor}{getattr(value, 'c_name', value)!s}"
    if not model.nodes and not model.refusals:
        yield "no node of the model picks the largest or smallest"


def document(model: LoweredModel) -> dict[str, Any]:
    """Return the operators of each node, and the errors of nodes without operators, for JSON."""
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


def cpp(model: LoweredModel) -> str:
    """Return the initialisers of each operator's structures, for a C++ function or file; DML_OPERATOR_DESC is last."""
    blocks = []
    for number, (node, step) in enumerate(_all_steps(model)):
        names = ", ".join(f"{member} = {tensor!r}" for member, tensor in bindings(step).items())
        # Each ends with a word of this package or a quotation mark: a backslash would join the next line to it.
        comments = [f"// {printable(node.place)}: {node.version}, feature level {step.feature_level}"]
        comments.append(f"// {printable(names)}")
        prefix, operator = f"op{number}", step.desc.operator
        lines = [*comments, *_structure(prefix, f"{operator}_OPERATOR_DESC", f"{prefix}_desc", step.desc)]
        lines.append(f"const DML_OPERATOR_DESC {prefix}_operator = {{{operator_type(step.desc)}, &{prefix}_desc}};")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _structure(prefix: str, kind: str, variable: str, desc: OperatorDesc | TensorDesc) -> Iterator[str]:
    """Yield the lines that define a variable of a structure, after those of the arrays and tensors it points to."""
    rows = []
    for member, value in members(desc):
        name = f"{prefix}_{member}"
        if isinstance(value, TensorDesc):
            yield from _structure(name, "DML_BUFFER_TENSOR_DESC", f"{name}_buffer", value)
            yield f"const DML_TENSOR_DESC {name} = {{DML_TENSOR_TYPE_BUFFER, &{name}_buffer}};"
            rows.append((member, f"&{name}"))
        elif isinstance(value, tuple):
            yield f"const UINT {name}[] = {{{', '.join(f'{number}u' for number in value)}}};"
            rows.append((member, name))
        else:
            rows.append((member, "nullptr" if value is None else getattr(value, "c_name", f"{value}u")))
    yield f"const {kind} {variable} = {{"
    width = max(len(value) for _, value in rows) + 1
    for member, value in rows:
        yield f"    {value + ',':<{width}}  // {member}"
    yield "};"


# DxDispatch runs its model on Windows. It reads `resources`, `dispatchables` and `commands`, and ignores `expected`,
# the elements of each buffer after the dispatches. Constants have their values. Other inputs hold a fixed pattern of
# small integers, which every element type represents exactly and which has ties. The operators run while the text is
# written, so that it takes no more memory than the tensors.


_PIECE = 4096
"""The number of elements in a piece of text."""


def dxdispatch(model: LoweredModel) -> Iterator[str]:
    """Yield the text of DxDispatch's model of the operators, in pieces."""
    steps = [step for _, step in _all_steps(model)]
    tensors: dict[str, TensorDesc] = {}
    for step in steps:
        tensors |= zip(step.outputs, step.desc.outputs.values(), strict=True)
    for step in steps:
        tensors |= zip(step.inputs, step.desc.inputs.values(), strict=True)
    needed = sum(tensor.extent * tensor.data_type.element_type.itemsize for tensor in tensors.values())
    require_memory((needed,), np.dtype(np.uint8), "what the operators read and write")

    buffers: dict[str, NDArray[Any]] = {}
    yield '{\n"resources": {'
    for step in steps:
        for name, tensor in zip(step.inputs, step.desc.inputs.values(), strict=True):
            if name not in buffers:
                yield _separator(len(buffers))
                buffers[name] = _contents(name, tensor, model.constants)
                yield from _resource(name, tensor, _values(buffers[name]))
        for name, output in zip(step.outputs, step.desc.outputs.values(), strict=True):
            if name not in buffers:
                yield _separator(len(buffers))
                buffers[name] = np.zeros(output.extent, output.data_type.element_type.dtype)
                yield from _resource(name, output, [json_text({"valueCount": output.extent, "value": 0})])
        # Another operator may have described the same bits as signed.
        read, written = (
            [
                buffers[name].view(each.data_type.element_type.dtype)
                for name, each in zip(names, descs.values(), strict=True)
            ]
            for names, descs in ((step.inputs, step.desc.inputs), (step.outputs, step.desc.outputs))
        )
        create_operator(step.desc).dispatch(read, written)
    dispatchables: dict[str, Any] = {}
    commands: list[dict[str, Any]] = []
    for node in model.nodes:
        for number, step in enumerate(node.steps):
            title = node.place if len(node.steps) == 1 else f"{node.place} step {number}"
            dispatchables[title] = {"type": operator_type(step.desc), "desc": record(step.desc)}
            commands.append({"type": "dispatch", "dispatchable": title, "bindings": bindings(step)})
    results = dict.fromkeys(name for step in steps for name in step.outputs)
    commands += [{"type": "print", "resource": name} for name in results]
    yield f'\n}},\n"dispatchables": {json_text(dispatchables)},\n"commands": {json_text(commands)},\n"expected": {{'
    for position, name in enumerate(results):
        yield f"{_separator(position)}{json_text(name)}: "
        yield from _values(buffers[name])
    yield "\n}\n}\n"


def _separator(position: int) -> str:
    return ",\n" if position else "\n"


def _contents(name: str, tensor: TensorDesc, constants: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if name in constants:
        return constants[name].ravel()
    return np.resize((np.arange(101) * 37 % 101).astype(tensor.data_type.element_type.dtype), tensor.extent)


def _resource(name: str, tensor: TensorDesc, values: Iterator[str] | list[str]) -> Iterator[str]:
    yield f'{json_text(name)}: {{"initialValuesDataType": "{tensor.data_type.name}", "initialValues": '
    yield from values
    yield "}"


def _values(elements: NDArray[Any]) -> Iterator[str]:
    """Yield the elements for DxDispatch: NaN and infinities are text, as JSON has no such numbers."""
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
"""The function that writes a lowered model, by the name of the format."""
