"""Tensors that are part of a model: which of them inference may be shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.errors import ModelError, first_line
from extremum.memory import require_memory

__all__ = ["array", "attribute_tensors", "dense", "is_external", "is_small", "list_of_integers", "sparse_tensors"]

# In elements. Inference reads small constants (a shape, an axis) and needs no others.
_LARGEST = 256


def is_external(tensor: onnx.TensorProto) -> bool:
    """Return whether a tensor says that its content is in another file."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def is_small(tensor: onnx.TensorProto) -> bool:
    """Return whether a tensor is small and holds as many elements as its shape says."""
    if is_external(tensor) or any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) > _LARGEST:
        return False
    try:
        array(tensor)
    except ModelError:
        return False
    return True


def array(tensor: onnx.TensorProto) -> NDArray[Any]:
    """Return a tensor as an array."""
    if is_external(tensor):
        raise _wrong(tensor.name, "content in another file, which was not read")
    if any(size < 0 for size in tensor.dims):
        raise _wrong(tensor.name, f"sizes {list(tensor.dims)}")
    try:
        return onnx.numpy_helper.to_array(tensor)
    except Exception as error:
        # Whatever NumPy, ml_dtypes and onnx raise where the bytes do not fit.
        raise _wrong(tensor.name, first_line(error)) from None


def list_of_integers(tensor: onnx.TensorProto) -> tuple[int, ...] | None:
    """Return what is in a small list of int64, or None for any other tensor."""
    if tensor.data_type != onnx.TensorProto.INT64 or len(tensor.dims) != 1 or not is_small(tensor):
        return None
    return tuple(array(tensor).tolist())


def attribute_tensors(attribute: onnx.AttributeProto) -> Iterator[onnx.TensorProto]:
    """Yield the tensors that an attribute holds, those of sparse ones included."""
    if attribute.HasField("t"):
        yield attribute.t
    yield from attribute.tensors
    if attribute.HasField("sparse_tensor"):
        yield from sparse_tensors([attribute.sparse_tensor])
    yield from sparse_tensors(attribute.sparse_tensors)


def sparse_tensors(tensors: Iterable[onnx.SparseTensorProto]) -> Iterator[onnx.TensorProto]:
    """Yield the tensors of which sparse ones are made."""
    for sparse in tensors:
        yield sparse.values
        yield sparse.indices


def dense(sparse: onnx.SparseTensorProto) -> onnx.TensorProto:
    """Return a sparse tensor with all its elements."""
    name = sparse.values.name
    values, indices, sizes = array(sparse.values), array(sparse.indices), tuple(sparse.dims)
    if any(size < 0 for size in sizes):
        raise _wrong(name, f"sizes {list(sizes)}")
    require_memory(sizes, values.dtype, repr(name))
    if values.ndim != 1 or indices.shape not in ((len(values),), (len(values), len(sizes))):
        raise _wrong(name, f"indices {list(indices.shape)} for values {list(values.shape)}")
    if not np.can_cast(indices.dtype, np.int64):
        raise _wrong(name, f"indices of {indices.dtype.name}")
    limits = np.array(sizes if indices.ndim == 2 else [math.prod(sizes)])
    if ((indices < 0) | (indices >= limits)).any():
        raise _wrong(name, "indices out of range")
    result = np.zeros(sizes, values.dtype)
    places = tuple(indices.T) if indices.ndim == 2 else np.unravel_index(indices, sizes)
    result[places] = values
    return onnx.numpy_helper.from_array(result, name)


def _wrong(name: str, given: str) -> ModelError:
    return ModelError(f"tensor {name!r} does not hold what its type and shape say", given=given)
