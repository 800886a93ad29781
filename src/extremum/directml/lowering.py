"""From an ONNX model to DirectML's operators, node by node.

Decides what is reported of each node: its operators, or why it cannot go. Reading the model is
:mod:`extremum.directml.model`'s, what a node becomes is :mod:`extremum.directml.steps`'s.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from extremum.directml.enumerations import FeatureLevel, feature_level_of
from extremum.directml.lowered import LoweredModel, LoweredNode
from extremum.directml.steps import steps
from extremum.errors import ExtremumError
from extremum.extras import lacking

if TYPE_CHECKING:
    import onnx

    from extremum.directml.model import Node

__all__ = ["lower"]


def lower(
    model: onnx.ModelProto | bytes | str | os.PathLike[str],
    feature_level: FeatureLevel = FeatureLevel.FL_6_4,
    *,
    sizes: Mapping[str, int] | None = None,
) -> LoweredModel:
    """Write the nodes of a model that pick the largest or smallest in DirectML's operators.

    ArgMax and ArgMin become DML_ARGMAX and DML_ARGMIN, which keep the rank: without ``keepdims`` the output's buffer is
    the same, its description has the kept dimensions. Max and Min become a chain of DML_ELEMENT_WISE_MAX or MIN that
    gathers in the output, broadcasting through strides of 0. Hardmax becomes DML_ACTIVATION_HARDMAX1, before version 13
    over all axes from its axis on. ReduceMax and ReduceMin become DML_REDUCE, or an elementwise step where no
    axis is reduced.

    Parameters
    ----------
    model : onnx.ModelProto, bytes, str or path-like
        The model, its serialised form, or the file that holds it. Other operators than the family's are left alone.
    feature_level : FeatureLevel
        What the operators have to get by with; the newest by default.
    sizes : mapping of str to int, optional
        The size of each symbolic dimension: descriptions state every size.

    Returns
    -------
    LoweredModel
        The operators, and an error for each node that cannot go.

    Raises
    ------
    ModelError
        If it is no ONNX model.
    ArgumentError
        If the model has no dimension of a name in ``sizes``, a size is none, or there is no such feature level.
    OSError
        If the file cannot be read.

    Notes
    -----
    Source: the operators' documents of ONNX and DirectML, and onnxruntime's DirectML execution provider.

    Examples
    --------
    >>> import onnx
    >>> from extremum import directml as dml
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 3] x) => (int64[n, 1] y) { y = ArgMax<axis=1>(x) }'
    >>> (node,) = dml.lower(onnx.parser.parse_model(text), dml.FeatureLevel.FL_3_0, sizes={"n": 8}).nodes
    >>> step = node.steps[0]
    >>> step.desc.operator, str(step.desc.input_tensor), step.desc.axes
    ('DML_ARGMAX', 'FLOAT32[8, 3]', (1,))
    """
    # Everything else of DirectML works without the onnx package.
    try:
        from extremum.directml.model import SizedModel
    except ModuleNotFoundError as error:
        raise lacking("extremum.directml.lower", error) from None

    feature_level = feature_level_of(feature_level)
    source = SizedModel(model, sizes or {})
    results = [_result(node, feature_level) for node in source.nodes()]
    lowered = tuple(result for result in results if isinstance(result, LoweredNode))
    refusals = tuple(result for result in results if isinstance(result, ExtremumError))
    read = {name for node in lowered for step in node.steps for name in step.inputs}
    return LoweredModel(feature_level, lowered, refusals, source.constants(read))


def _result(node: Node | ExtremumError, feature_level: FeatureLevel) -> LoweredNode | ExtremumError:
    if isinstance(node, ExtremumError):
        return node
    try:
        return LoweredNode(
            node.place, str(node.schema), steps(node.schema, node.values, node.inputs, node.output, feature_level)
        )
    except ExtremumError as error:
        return type(error)(error.reason, where=node.place, given=error.given, remedy=error.remedy)
