"""A lowered model as DxDispatch runs it on Windows, with the answers it has to give.

Decides the initial contents of the buffers: constants have their values; whatever else an operator reads, and no
operator before it has written, is filled with small integers of a fixed pattern, which every element type holds exactly
and which repeat, so that ties occur. DxDispatch reads ``resources``, ``dispatchables`` and ``commands`` and ignores
``expected``, the elements that the dispatches have to leave in each buffer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from extremum.directml.formats.structure import bindings, operator_type, record
from extremum.directml.lowered import LoweredModel
from extremum.directml.operator import create_operator
from extremum.directml.tensor import TensorDesc

__all__ = ["document"]


def document(model: LoweredModel) -> dict[str, Any]:
    """Return DxDispatch's model of the operators.

    Parameters
    ----------
    model : LoweredModel
        What :func:`extremum.directml.lower` returned.

    Returns
    -------
    dict
        As JSON can hold it.

    Notes
    -----
    Source: the guide and the schema of DxDispatch.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> from extremum.directml.formats.dxdispatch import document
    >>> source = '<ir_version: 8, opset_import: ["" : 13]> g (float[4] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> run = document(dml.lower(onnx.parser.parse_model(source)))
    >>> run["resources"]["x"]["initialValues"], run["expected"]
    ([0.0, 37.0, 74.0, 10.0], {'y': [2]})
    """
    resources: dict[str, Any] = {}
    dispatchables: dict[str, Any] = {}
    commands: list[dict[str, Any]] = []
    buffers: dict[str, NDArray[Any]] = {}
    written: dict[str, None] = {}
    for node in model.nodes:
        for number, step in enumerate(node.steps):
            for name, tensor in zip(step.inputs, step.desc.inputs.values(), strict=True):
                if name not in buffers:
                    buffers[name] = _contents(name, tensor, model.constants)
                    resources[name] = _resource(tensor, _values(buffers[name]))
            if step.output not in buffers:
                output = step.desc.output
                buffers[step.output] = np.zeros(output.extent, output.data_type.element_type.dtype)
                resources[step.output] = _resource(output, {"valueCount": output.extent, "value": 0})
            written[step.output] = None
            create_operator(step.desc).dispatch([buffers[name] for name in step.inputs], [buffers[step.output]])
            title = node.place if len(node.steps) == 1 else f"{node.place} step {number}"
            dispatchables[title] = {"type": operator_type(step.desc), "desc": record(step.desc)}
            commands.append({"type": "dispatch", "dispatchable": title, "bindings": bindings(step)})
    commands += [{"type": "print", "resource": name} for name in written]
    return {
        "resources": resources,
        "dispatchables": dispatchables,
        "commands": commands,
        "expected": {name: _values(buffers[name]) for name in written},
    }


def _contents(name: str, tensor: TensorDesc, constants: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    if name in constants:
        return constants[name].ravel()
    return (np.arange(tensor.extent) * 37 % 101).astype(tensor.data_type.element_type.dtype)


def _resource(tensor: TensorDesc, values: Any) -> dict[str, Any]:
    return {"initialValuesDataType": tensor.data_type.name, "initialValues": values}


def _values(elements: NDArray[Any]) -> list[int | float | str]:
    """Return the elements as DxDispatch reads them: text in the place of what JSON has no number for."""
    return [value if math.isfinite(value) else str(value) for value in elements.tolist()]
