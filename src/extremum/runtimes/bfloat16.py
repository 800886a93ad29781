"""bfloat16 for runtimes that take none from Python: float32 comes in and goes out, and is cast within the model.

That is exact in both directions, but for the payload of NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper

from extremum.dtypes import from_name
from extremum.runtimes.runtime import Feeds, Load, Run

__all__ = ["through_float32"]

_BFLOAT16, _FLOAT = onnx.TensorProto.BFLOAT16, onnx.TensorProto.FLOAT


def through_float32(model: onnx.ModelProto, load: Load) -> Run:
    """Return what runs a model whose bfloat16 inputs and outputs ``load`` sees as float32."""
    weights = {each.name for each in model.graph.initializer}
    wide_inputs = [each.name for each in model.graph.input if _is_bfloat16(each) and each.name not in weights]
    wide_outputs = {at for at, each in enumerate(model.graph.output) if _is_bfloat16(each)}
    if not wide_inputs and not wide_outputs:
        return load(model)
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    graph = wide.graph
    # What no name of the model, wherever it stands, ends in.
    mark, content = "/float32", model.SerializeToString()
    while mark.encode() in content:
        mark += "/"
    before, after = [], []
    for value in graph.input:
        if value.name in wide_inputs:
            before.append(helper.make_node("Cast", [value.name + mark], [value.name], to=_BFLOAT16))
            value.name = value.name + mark
            value.type.tensor_type.elem_type = _FLOAT
    for at in wide_outputs:
        value = graph.output[at]
        after.append(helper.make_node("Cast", [value.name], [value.name + mark], to=_FLOAT))
        value.name = value.name + mark
        value.type.tensor_type.elem_type = _FLOAT
    nodes = [*before, *graph.node, *after]
    del graph.node[:]
    graph.node.extend(nodes)
    inner = load(wide)
    bfloat16 = from_name("bfloat16").dtype

    def run_wide(feeds: Feeds) -> Sequence[Any]:
        given = {
            name + mark if name in wide_inputs else name: x.astype(np.float32) if name in wide_inputs else x
            for name, x in feeds.items()
        }
        return [np.asarray(x).astype(bfloat16) if at in wide_outputs else x for at, x in enumerate(inner(given))]

    return run_wide


def _is_bfloat16(value: onnx.ValueInfoProto) -> bool:
    return bool(value.type.tensor_type.elem_type == _BFLOAT16)
