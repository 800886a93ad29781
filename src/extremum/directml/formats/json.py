"""A lowered model as JSON for a program."""

from __future__ import annotations

from typing import Any

from extremum.directml.formats.structure import bindings, operator_type, record
from extremum.directml.lowered import LoweredModel

__all__ = ["document"]


def document(model: LoweredModel) -> dict[str, Any]:
    """Return the operators of each node and the errors of those that cannot go, as JSON can hold them.

    Parameters
    ----------
    model : LoweredModel
        What :func:`extremum.directml.lower` returned.

    Returns
    -------
    dict
        With ``feature_level``, ``nodes`` and ``refusals``.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> from extremum.directml.formats.json import document
    >>> source = '<ir_version: 8, opset_import: ["" : 13]> g (float[3] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> (step,) = document(dml.lower(onnx.parser.parse_model(source)))["nodes"][0]["steps"]
    >>> step["type"], step["bindings"], step["desc"]["Axes"]
    ('DML_OPERATOR_ARGMAX', {'InputTensor': 'x', 'OutputTensor': 'y'}, [0])
    """
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
