"""A lowered model as DxDispatch runs it on Windows, with the answers it has to give.

Decides the initial contents of the buffers: constants have their values; whatever else an operator reads, and no
operator before it has written, is filled with small integers of a fixed pattern, which every element type holds exactly
and which repeat, so that ties occur. DxDispatch reads ``resources``, ``dispatchables`` and ``commands`` and ignores
``expected``, the elements that the dispatches have to leave in each buffer.

The text is written in pieces, while the operators run: the memory it takes is that of the tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.directml.formats.structure import bindings, operator_type, record
from extremum.directml.lowered import LoweredModel, Step
from extremum.directml.operator import create_operator
from extremum.directml.tensor import TensorDesc
from extremum.memory import require_memory
from extremum.printable import json_text

__all__ = ["dxdispatch"]

_PIECE = 4096
"""Elements whose text is made at a time."""


def dxdispatch(model: LoweredModel) -> Iterator[str]:
    """Yield the text of DxDispatch's model of the operators, in pieces."""
    _require_memory(model)
    buffers: dict[str, NDArray[Any]] = {}
    yield '{\n"resources": {'
    for step in _steps(model):
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
    written = dict.fromkeys(step.output for step in _steps(model))
    commands += [{"type": "print", "resource": name} for name in written]
    yield f'\n}},\n"dispatchables": {json_text(dispatchables)},\n"commands": {json_text(commands)},\n"expected": {{'
    for position, name in enumerate(written):
        yield f"{_separator(position)}{json_text(name)}: "
        yield from _values(buffers[name])
    yield "\n}\n}\n"


def _steps(model: LoweredModel) -> Iterator[Step]:
    return (step for node in model.nodes for step in node.steps)


def _require_memory(model: LoweredModel) -> None:
    tensors = {step.output: step.desc.output for step in _steps(model)}
    for step in _steps(model):
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
