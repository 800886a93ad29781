"""A model in terms of DirectML's operators: what :func:`extremum.directml.lower` returns.

Decides nothing; the formats read these values and the lowering builds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from extremum.directml.descriptions import OperatorDesc
from extremum.directml.enumerations import FeatureLevel
from extremum.errors import ExtremumError

__all__ = ["LoweredModel", "LoweredNode", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One operator, and the names of the model's tensors it is dispatched on.

    Attributes
    ----------
    desc : OperatorDesc
        The operator.
    inputs : tuple of str
        One name for each input tensor, in the order of the structure.
    output : str
        The tensor that is written; in place where it is among the inputs.
    feature_level : FeatureLevel
        The lowest one that takes the operator.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }'
    >>> (node,) = dml.lower(onnx.parser.parse_model(text)).nodes
    >>> node.steps[0].desc.operator, node.steps[0].inputs, node.steps[0].output, str(node.steps[0].feature_level)
    ('DML_ARGMAX', ('x',), 'y', '3_0')
    """

    desc: OperatorDesc
    inputs: tuple[str, ...]
    output: str
    feature_level: FeatureLevel


@dataclass(frozen=True, slots=True)
class LoweredNode:
    """A node of the model and the operators that compute it, one after the other.

    Attributes
    ----------
    place : str
        Where the node is, such as ``graph.node[0] 'argmax_0'``.
    version : str
        What it was, such as ``ArgMax-13``.
    steps : tuple of Step
        At least one; all write the same tensor.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[2, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }'
    >>> (node,) = dml.lower(onnx.parser.parse_model(text)).nodes
    >>> node.place, node.version, len(node.steps)
    ('graph.node[0]', 'ArgMax-13', 1)
    """

    place: str
    version: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class LoweredModel:
    """The nodes of a model that pick the largest or smallest, as DirectML's operators.

    Attributes
    ----------
    feature_level : FeatureLevel
        What the operators were to get by with.
    nodes : tuple of LoweredNode
        The nodes that went, in the model's order.
    refusals : tuple of ExtremumError
        One error for each node that cannot go: what stands in the way, where, and what would help.
    constants : mapping of str to numpy.ndarray
        The tensors with a fixed value among those the operators read.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (double[3] x) => (int64[1] y) { y = ArgMax(x) }'
    >>> (refusal,) = dml.lower(onnx.parser.parse_model(text)).refusals
    >>> print(refusal.reason)
    DML_ARGMAX-4_1 does not take FLOAT64 as input_tensor
    """

    feature_level: FeatureLevel
    nodes: tuple[LoweredNode, ...]
    refusals: tuple[ExtremumError, ...]
    constants: Mapping[str, NDArray[Any]]
