"""The inputs a model declares, and what their dimensions are called.

Decides the name of a dimension that has none: that of its input and its axis, such as ``X.0``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

__all__ = ["DeclaredInput", "declared_inputs", "name_dimensions"]


@dataclass(frozen=True, slots=True)
class DeclaredInput:
    """One input as the model declares it.

    Attributes
    ----------
    name : str
        The name of the input.
    dtype : numpy.dtype or None
        Its element type; None where that is none, and for what is no tensor (a sequence, a map, an optional).
    shape : tuple of int or str, or None
        The sizes; a symbolic dimension is its name, an unnamed one is called ``input.axis``. None if the rank is open.
    optional : bool
        Whether the model has a default for it.

    Examples
    --------
    >>> import numpy as np
    >>> from extremum.graph.inputs import DeclaredInput
    >>> DeclaredInput("scores", np.dtype("float32"), ("batch", 10), optional=False).symbols()
    {'batch'}
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int | str, ...] | None
    optional: bool

    def symbols(self) -> set[str]:
        """Return the names of the dimensions whose size the model leaves open."""
        return {size for size in self.shape or () if isinstance(size, str)}


def declared_inputs(model: onnx.ModelProto) -> tuple[DeclaredInput, ...]:
    """Return the inputs a model declares, in its order.

    Parameters
    ----------
    model : onnx.ModelProto
        The model.

    Returns
    -------
    tuple of DeclaredInput
        Inputs that have an initializer are marked optional.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.inputs import declared_inputs
    >>> text = '<ir_version: 8, opset_import: ["" : 13]> g (float[n, 3] x) => (int64[1, 3] y) { y = ArgMax(x) }'
    >>> [(each.name, each.shape) for each in declared_inputs(onnx.parser.parse_model(text))]
    [('x', ('n', 3))]
    """
    defaults = {tensor.name for tensor in model.graph.initializer}
    defaults.update(tensor.values.name for tensor in model.graph.sparse_initializer)
    return tuple(_declared(value, value.name in defaults) for value in model.graph.input)


def _declared(value: onnx.ValueInfoProto, optional: bool) -> DeclaredInput:
    if not value.type.HasField("tensor_type"):
        return DeclaredInput(value.name, None, None, optional)
    tensor = value.type.tensor_type
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(
            dim.dim_value if dim.HasField("dim_value") else dim.dim_param or _unnamed(value, axis)
            for axis, dim in enumerate(tensor.shape.dim)
        )
    known = tensor.elem_type in onnx.helper.get_all_tensor_dtypes()
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type) if known else None
    return DeclaredInput(value.name, dtype, shape, optional)


def _unnamed(value: onnx.ValueInfoProto, axis: int) -> str:
    return f"{value.name}.{axis}"


def name_dimensions(graph: onnx.GraphProto) -> None:
    """Write their names into the dimensions of a graph's inputs that have neither a size nor a name.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.inputs import name_dimensions
    >>> graph = onnx.parser.parse_graph("g (float[?, 3] X) => (float[?, 3] y) { y = Abs(X) }")
    >>> name_dimensions(graph)
    >>> graph.input[0].type.tensor_type.shape.dim[0].dim_param
    'X.0'
    """
    for value in graph.input:
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            if not dimension.HasField("dim_value") and not dimension.dim_param:
                dimension.dim_param = _unnamed(value, axis)
