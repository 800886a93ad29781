"""DirectML's operators that select the largest or smallest element, exact and on any machine.

Descriptions mirror the structures of directml.h: values, fields and order. ``create_operator`` checks one at a feature
level: each tensor against the version in force, and the tensors against each other. The operator runs on arrays or raw
buffers without a copy. It treats an array as memory: element type and length matter, the shape does not. ``lower``
translates ONNX models to the operators that onnxruntime's DirectML provider uses for them; only it needs onnx.
"""

from __future__ import annotations

from extremum.directml.acceptance import feature_level_required
from extremum.directml.dispatch import Operator, create_operator
from extremum.directml.enumerations import (
    AxisDirection,
    FeatureLevel,
    ReduceFunction,
    TensorDataType,
    TensorFlags,
)
from extremum.directml.lowering import LoweredModel, LoweredNode, Step, lower
from extremum.directml.operators import (
    ActivationHardmax1OperatorDesc,
    ActivationHardmaxOperatorDesc,
    ArgMaxOperatorDesc,
    ArgMinOperatorDesc,
    ElementWiseMaxOperatorDesc,
    ElementWiseMinOperatorDesc,
    OperatorDesc,
    ReduceOperatorDesc,
    TopK1OperatorDesc,
    TopKOperatorDesc,
)
from extremum.directml.tensor import TensorDesc

__all__ = [
    "ActivationHardmax1OperatorDesc",
    "ActivationHardmaxOperatorDesc",
    "ArgMaxOperatorDesc",
    "ArgMinOperatorDesc",
    "AxisDirection",
    "ElementWiseMaxOperatorDesc",
    "ElementWiseMinOperatorDesc",
    "FeatureLevel",
    "LoweredModel",
    "LoweredNode",
    "Operator",
    "OperatorDesc",
    "ReduceFunction",
    "ReduceOperatorDesc",
    "Step",
    "TensorDataType",
    "TensorDesc",
    "TensorFlags",
    "TopK1OperatorDesc",
    "TopKOperatorDesc",
    "create_operator",
    "feature_level_required",
    "lower",
]
__dir__ = __all__.copy
