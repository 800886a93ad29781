"""DirectML's operators that select the largest or smallest element, exact and on any machine.

Descriptions mirror the structures of directml.h. ``create_operator`` checks one at a feature level, and the operator
runs on arrays or raw buffers. ``lower`` translates ONNX models to these operators.
"""

from extremum.directml.descriptions import (
    ActivationHardmax1OperatorDesc,
    ActivationHardmaxOperatorDesc,
    ArgMaxOperatorDesc,
    ArgMinOperatorDesc,
    AxisDirection,
    ElementWiseMaxOperatorDesc,
    ElementWiseMinOperatorDesc,
    FeatureLevel,
    OperatorDesc,
    ReduceFunction,
    ReduceOperatorDesc,
    TensorDataType,
    TensorDesc,
    TensorFlags,
    TopK1OperatorDesc,
    TopKOperatorDesc,
)
from extremum.directml.lowering import LoweredModel, LoweredNode, Step, lower
from extremum.directml.operator import Operator, create_operator, feature_level_required

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


def __dir__() -> list[str]:
    return sorted(__all__)
