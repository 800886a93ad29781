"""DirectML's operators that pick the largest or smallest, exact and on any machine: the public names.

Descriptions mirror the structures of directml.h. ``create_operator`` holds one against the tables of a feature level,
and the operator runs on arrays or raw buffers. ``lower`` writes ONNX models in these operators.
"""

from extremum.directml.acceptance import feature_level_required
from extremum.directml.descriptions import (
    ActivationHardmax1OperatorDesc,
    ActivationHardmaxOperatorDesc,
    ArgMaxOperatorDesc,
    ArgMinOperatorDesc,
    ElementWiseMaxOperatorDesc,
    ElementWiseMinOperatorDesc,
    OperatorDesc,
    ReduceOperatorDesc,
)
from extremum.directml.enumerations import AxisDirection, FeatureLevel, ReduceFunction, TensorDataType, TensorFlags
from extremum.directml.lowering import LoweredModel, LoweredNode, Step, lower
from extremum.directml.operator import Operator, create_operator
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
    "create_operator",
    "feature_level_required",
    "lower",
]


def __dir__() -> list[str]:
    return sorted(__all__)
