"""Tensors that are part of a model: which of them inference may be shown."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import onnx
from numpy.typing import NDArray

from extremum.errors import ModelError

__all__ = ["array", "attribute_tensors", "is_external", "is_small"]

# In elements. Inference reads small constants (a shape, an axis) and needs no others.
_LARGEST = 256


def is_external(tensor: onnx.TensorProto) -> bool:
    """Return whether a tensor says that its content is in another file.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.tensors import is_external
    >>> is_external(onnx.TensorProto(data_location=onnx.TensorProto.EXTERNAL))
    True
    """
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def is_small(tensor: onnx.TensorProto) -> bool:
    """Return whether a tensor is small and holds as many elements as its shape says.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.tensors import is_small
    >>> is_small(onnx.helper.make_tensor("t", 7, [2], [3, 4])), is_small(onnx.TensorProto(data_type=7, dims=[2]))
    (True, False)
    """
    if is_external(tensor) or any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) > _LARGEST:
        return False
    try:
        # Whatever NumPy, ml_dtypes and onnx raise where the bytes do not fit.
        onnx.numpy_helper.to_array(tensor)
    except Exception:
        return False
    return True


def array(tensor: onnx.TensorProto) -> NDArray[Any]:
    """Return a tensor as an array.

    Raises
    ------
    ModelError
        If it does not hold what its type and shape say.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.tensors import array
    >>> array(onnx.helper.make_tensor("t", 7, [2], [3, 4]))
    array([3, 4])
    """
    reason = f"tensor {tensor.name!r} does not hold what its type and shape say"
    if is_external(tensor):
        raise ModelError(reason, given="its content is in another file, which was not read")
    try:
        return onnx.numpy_helper.to_array(tensor)
    except Exception as error:
        raise ModelError(reason, given=str(error).strip().partition("\n")[0]) from None


def attribute_tensors(attribute: onnx.AttributeProto) -> Iterator[onnx.TensorProto]:
    """Yield the tensors that an attribute holds, those of sparse ones included.

    Examples
    --------
    >>> import onnx
    >>> from extremum.graph.tensors import attribute_tensors
    >>> tensor = onnx.helper.make_tensor("t", 7, [1], [3])
    >>> [each.name for each in attribute_tensors(onnx.helper.make_attribute("value", tensor))]
    ['t']
    """
    if attribute.HasField("t"):
        yield attribute.t
    yield from attribute.tensors
    for sparse in (
        *((attribute.sparse_tensor,) if attribute.HasField("sparse_tensor") else ()),
        *attribute.sparse_tensors,
    ):
        yield sparse.values
        yield sparse.indices
