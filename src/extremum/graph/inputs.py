"""The inputs a model declares, and what their dimensions are called.

Decides the name of a dimension that has none: that of its input and its axis, such as ``X.0``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from extremum.errors import InputError, first_line

__all__ = ["DeclaredInput", "declared_inputs", "name_dimensions", "require_array"]


@dataclass(frozen=True, slots=True)
class DeclaredInput:
    """One input as the model declares it."""

    name: str
    # Its element type; None where that is none, and for what is no tensor (a sequence, a map, an optional).
    dtype: np.dtype[Any] | None
    # The sizes; a symbolic dimension is its name, an unnamed one is called ``input.axis``. None if the rank is
    # open.
    shape: tuple[int | str, ...] | None
    # Whether the model has a default for it.
    optional: bool

    def symbols(self) -> set[str]:
        """Return the names of the dimensions whose size the model leaves open."""
        return {size for size in self.shape or () if isinstance(size, str)}


def declared_inputs(model: onnx.ModelProto) -> tuple[DeclaredInput, ...]:
    """Return the inputs a model declares, in its order."""
    defaults = {tensor.name for tensor in model.graph.initializer}
    defaults.update(tensor.values.name for tensor in model.graph.sparse_initializer)
    return tuple(_declared(value, value.name in defaults) for value in model.graph.input)


def require_array(sizes: Sequence[int], name: str) -> None:
    """Refuse to draw an input of sizes that NumPy has no array for: a negative one, a hundred of them."""
    try:
        # Takes no memory.
        np.broadcast_to(np.int8(0), sizes)
    except ValueError as error:
        raise InputError(f"input {name!r} cannot be drawn at random", given=first_line(error)) from None


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
    """Write their names into the dimensions of a graph's inputs that have neither a size nor a name."""
    for value in graph.input:
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            if not dimension.HasField("dim_value") and not dimension.dim_param:
                dimension.dim_param = _unnamed(value, axis)
