"""Whether a runtime takes an operator: asked with a model of one node, not looked up.

Releases and builds differ, so no table could tell.
"""

from __future__ import annotations

import functools

import onnx

from extremum import dtypes
from extremum.errors import said
from extremum.runtimes.runtime import Runtime
from extremum.spec import Family, OperatorVersion

__all__ = ["refusal"]

_ELEMENTWISE = (Family.MAXIMUM, Family.MINIMUM)


@functools.cache
def refusal(runtime: Runtime, schema: OperatorVersion, opset: int, element: str) -> str | None:
    """Return what a runtime says when it does not load a node of rank 2, or None if it does."""
    number = dtypes.from_name(element).onnx_number
    names = ["a", "b"] if schema.family in _ELEMENTWISE else ["a"]
    # Rank 2: before opset 13 the default axis of Hardmax is 1.
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(schema.name, names, ["y"])],
        "question",
        [onnx.helper.make_tensor_value_info(name, number, ("m", "n")) for name in names],
        [onnx.helper.make_empty_tensor_value_info("y")],
    )
    imports = [onnx.helper.make_opsetid("", opset)]
    # Any opset goes with it; onnx itself pairs published opsets only.
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
    try:
        runtime.load(model)
    except Exception as error:
        # The exceptions of runtimes share no class of their own.
        return said(error)
    return None
