"""The installed onnxruntime, asked whether it runs a node.

Decides how it is asked: a session is made of a one-node model. There is no table of what it supports here, so the
answer is right for whatever version and build is installed.
"""

from __future__ import annotations

import functools
from importlib import import_module
from typing import Any

import onnx

from extremum import dtypes
from extremum.errors import ArgumentError, first_line
from extremum.spec import Family, OperatorVersion

__all__ = ["Runtime"]

_ELEMENTWISE = (Family.MAXIMUM, Family.MINIMUM)


class Runtime:
    """onnxruntime on the CPU.

    Attributes
    ----------
    name : str
        The package and its version.

    Raises
    ------
    ArgumentError
        If onnxruntime is not installed.

    Examples
    --------
    >>> from extremum.check.runtime import Runtime
    >>> from extremum import spec
    >>> Runtime().refusal(spec.find(spec.ONNX, "ArgMax", 13), opset=13, element="float32") is None
    True
    """

    def __init__(self) -> None:
        try:
            self._module: Any = import_module("onnxruntime")
        except ImportError:
            raise ArgumentError("onnxruntime is not installed", remedy="pip install 'extremum[onnxruntime]'") from None
        self.name = f"onnxruntime {self._module.__version__}"
        self._options = self._module.SessionOptions()
        # Fatal only: a refusal is an answer here, not a line on the terminal.
        self._options.log_severity_level = 4
        self.refusal = functools.cache(self._refusal)

    def session(self, model: bytes | str) -> Any:
        """Return an ``InferenceSession`` of a model, its bytes or its file."""
        return self._module.InferenceSession(model, self._options, providers=["CPUExecutionProvider"])

    def _refusal(self, row: OperatorVersion, opset: int, element: str) -> str | None:
        """Return what onnxruntime says when it refuses a node of rank 2, or None if it takes it."""
        number = dtypes.from_name(element).onnx_number
        names = ["a", "b"] if row.family in _ELEMENTWISE else ["a"]
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node(row.name, names, ["y"])],
            "question",
            [onnx.helper.make_tensor_value_info(name, number, ("m", "n")) for name in names],
            [onnx.helper.make_empty_tensor_value_info("y")],
        )
        imports = [onnx.helper.make_opsetid("", opset)]
        # Any opset goes with it; onnx itself pairs published opsets only.
        model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
        try:
            self.session(model.SerializeToString())
        except Exception as error:
            # onnxruntime's exceptions share no class of their own.
            return first_line(error)
        return None
