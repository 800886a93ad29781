"""Whether the installed onnxruntime runs an operator by itself: asked, not looked up.

Decides how the question is put: a model of one node on the CPU, made for the purpose. Releases and builds differ, so no
table could tell.
"""

from __future__ import annotations

import functools

import onnx

from extremum import dtypes
from extremum.errors import first_line
from extremum.onnxruntime.installed import onnxruntime

__all__ = ["refusal"]

_SILENT = 4


@functools.cache
def refusal(name: str, opset: int, element: str) -> str | None:
    """Return why the installed onnxruntime does not run an operator, or None if it does.

    Parameters
    ----------
    name : str
        One of ONNX's operators, such as ``ArgMax``.
    opset : int
        The version of ONNX's domain that the model imports.
    element : str
        Element type of the inputs, such as ``float32``.

    Returns
    -------
    str or None
        The first line of onnxruntime's error.

    Examples
    --------
    >>> from extremum.onnxruntime.support import refusal
    >>> refusal("ArgMax", 13, "float32") is None
    True
    """
    # Rank 2: before opset 13 the default axis of Hardmax is 1.
    tensor = onnx.helper.make_tensor_type_proto(dtypes.from_name(element).onnx_number, (1, 1))
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(name, ["x"], ["y"])],
        "question",
        [onnx.helper.make_value_info("x", tensor)],
        [onnx.ValueInfoProto(name="y")],
    )
    model = onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", opset)])
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SILENT
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return first_line(error)
    return None
