"""Types and tensors in a model: what is declared, and which of it onnx's own code may see.

Decides which type declarations are sound, and which tensors are small enough for shape inference. Names each unnamed
dimension of an input after the input and the axis, such as ``X.0``. :mod:`extremum.graph.sites` finds the types of
other values.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from extremum.errors import InputError, ModelError, first_line
from extremum.printable import printable
from extremum.tensors import Dimension, TensorType, require_memory

# Kinds: types without shapes, as onnx's schemas write them.
_OUTER = {
    "tensor_type": "tensor",
    "sparse_tensor_type": "sparse_tensor",
    "optional_type": "optional",
    "map_type": "map",
    "sequence_type": "seq",
}
_NAMES = {number: name.lower() for name, number in onnx.TensorProto.DataType.items() if number}
_NUMBERS = {name: number for number, name in _NAMES.items()}
_DEEPEST = 4  # no operator has deeper types
_LARGEST_RANK = 64
_LARGEST_SIZE = 2**31 - 1  # onnx loops over some sizes, and multiplies them without a check
_LONGEST_LIST = 4096  # of axes, sizes or indices; onnx's data propagation makes one value per element
_MOST_ELEMENTS = 256  # inference reads small constants (a shape, an axis) and needs no others
_LISTS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)


def tensor_kind(number: int) -> str | None:
    """Return the kind of a tensor of the element type with this number, or None if no type has it."""
    return f"tensor({_NAMES[number]})" if number in _NAMES else None


def kind(value: onnx.TypeProto, depth: int = 0) -> str | None:
    """Return the kind of a declared type, or None if the declaration does not say it."""
    field = value.WhichOneof("value")
    if field not in _OUTER or depth > _DEEPEST:
        return None
    content = getattr(value, field)
    if field == "map_type":
        key = _NAMES.get(content.key_type)
        inner = kind(content.value_type, depth + 1)
        inner = key and inner and f"{key},{inner}"
    else:
        if "tensor" in field:
            inner = _NAMES.get(content.elem_type)
        else:
            inner = kind(content.elem_type, depth + 1)
    return f"{_OUTER[field]}({inner})" if inner else None


def type_proto(text: str) -> onnx.TypeProto:
    """Return the declaration of a kind."""
    outer, _, inner = text[:-1].partition("(")
    field = "sequence" if outer == "seq" else outer
    make: Callable[..., onnx.TypeProto] = getattr(onnx.helper, f"make_{field}_type_proto")
    if "tensor" in outer:
        return make(_NUMBERS[inner], None)
    if outer == "map":
        key, _, inner = inner.partition(",")
        return make(_NUMBERS[key], type_proto(inner))
    return make(type_proto(inner))


def tensor_type(number: int, sizes: Iterable[Dimension]) -> onnx.TypeProto:
    """Return the declaration of a tensor with these sizes, of the element type with this number."""
    return onnx.helper.make_tensor_type_proto(number if tensor_kind(number) else 0, list(sizes))


def sound(value: onnx.TypeProto) -> onnx.TypeProto | None:
    """Return a declaration without its impossible sizes, or None if no value has its kind."""
    text = kind(value)
    number = value.tensor_type.elem_type
    rank = len(value.tensor_type.shape.dim)
    if text is None or not value.HasField("tensor_type") or rank > _LARGEST_RANK:
        return None if text is None else type_proto(text)
    largest = _LONGEST_LIST if rank == 1 and number in _LISTS else _LARGEST_SIZE
    copy = deepcopy(value)
    for each in copy.tensor_type.shape.dim:
        if not 0 <= each.dim_value <= largest:
            each.ClearField("value")
    return copy


def is_external(tensor: onnx.TensorProto) -> bool:
    """Return whether a tensor says that its content is in another file."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def is_small(tensor: onnx.TensorProto) -> bool:
    """Return whether a tensor is small and its number of elements matches its shape."""
    with contextlib.suppress(ModelError):
        return math.prod(tensor.dims) <= _MOST_ELEMENTS and array(tensor) is not None
    return False


def array(tensor: onnx.TensorProto) -> NDArray[Any]:
    """Return a tensor as an array."""
    if is_external(tensor):
        raise wrong_tensor(tensor.name, "content in another file, which was not read")
    if any(size < 0 for size in tensor.dims):
        raise wrong_tensor(tensor.name, f"sizes {list(tensor.dims)}")
    try:
        return onnx.numpy_helper.to_array(tensor)
    except Exception as error:
        # NumPy, ml_dtypes and onnx raise various errors if the bytes do not fit.
        raise wrong_tensor(tensor.name, first_line(error)) from None


def list_of_integers(tensor: onnx.TensorProto) -> tuple[int, ...] | None:
    """Return the elements of a small list of int64, or None for any other tensor."""
    is_list = tensor.data_type == onnx.TensorProto.INT64 and len(tensor.dims) == 1 and is_small(tensor)
    return tuple(array(tensor).tolist()) if is_list else None


def attribute_tensors(attribute: onnx.AttributeProto) -> Iterator[onnx.TensorProto]:
    """Yield the tensors that an attribute holds, including those of sparse tensors."""
    if attribute.HasField("t"):
        yield attribute.t
    yield from attribute.tensors
    if attribute.HasField("sparse_tensor"):
        yield from sparse_tensors([attribute.sparse_tensor])
    yield from sparse_tensors(attribute.sparse_tensors)


def sparse_tensors(tensors: Iterable[onnx.SparseTensorProto]) -> Iterator[onnx.TensorProto]:
    """Yield the values and the indices of sparse tensors."""
    for sparse in tensors:
        yield sparse.values
        yield sparse.indices


def dense(sparse: onnx.SparseTensorProto) -> onnx.TensorProto:
    """Return a sparse tensor as a dense one."""
    name = sparse.values.name
    values = array(sparse.values)
    indices = array(sparse.indices)
    sizes = tuple(sparse.dims)
    if any(size < 0 for size in sizes):
        raise wrong_tensor(name, f"sizes {list(sizes)}")
    require_memory(sizes, values.dtype, repr(name))
    if values.ndim != 1 or indices.shape not in ((len(values),), (len(values), len(sizes))):
        raise wrong_tensor(name, f"indices {list(indices.shape)} for values {list(values.shape)}")
    if not np.can_cast(indices.dtype, np.int64):
        raise wrong_tensor(name, f"indices of {indices.dtype.name}")
    limits = np.array(sizes if indices.ndim == 2 else [math.prod(sizes)])
    if ((indices < 0) | (indices >= limits)).any():
        raise wrong_tensor(name, "indices out of range")
    result = np.zeros(sizes, values.dtype)
    result[tuple(indices.T) if indices.ndim == 2 else np.unravel_index(indices, sizes)] = values
    return onnx.numpy_helper.from_array(result, name)


def wrong_tensor(name: str, given: str) -> ModelError:
    """Return the error of a tensor whose content does not fit its type and shape."""
    return ModelError(f"tensor {name!r} does not hold what its type and shape say", given=given)


def skeleton(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of a model in which large initializers, and those that are not loaded, are inputs of their type."""
    # The checker and shape inference serialise the model, which protobuf limits to 2 GB, and they need no weights.
    copy = onnx.ModelProto()
    copy_fields(model, copy, but="graph")
    copy_fields(model.graph, copy.graph, but="initializer")
    inputs = {each.name for each in model.graph.input}
    for tensor in model.graph.initializer:
        if is_small(tensor):
            copy.graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            copy.graph.input.append(
                onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            )
    return copy


def copy_fields(source: Any, target: Any, *, but: str) -> None:
    """Copy all fields of a protobuf message except `but` and texts that are not UTF-8, which cannot be set."""
    for field, content in source.ListFields():
        if field.name == but or (field.type == field.TYPE_STRING and isinstance(content, bytes)):
            continue
        if field.is_repeated:
            getattr(target, field.name).extend(content)
        elif field.message_type:
            getattr(target, field.name).CopyFrom(content)
        else:
            setattr(target, field.name, content)


def types_in(graph: onnx.GraphProto) -> dict[str, TensorType]:
    """Return what a graph says about its tensors, by name."""
    types = {each.name: declared_type(each.type) for each in (*graph.value_info, *graph.output)}
    for tensor in graph.initializer:
        types[tensor.name] = TensorType(
            _element(tensor.data_type), tuple(tensor.dims), list_of_integers(tensor)
        )
    types.update((each.name, declared_type(each.type)) for each in graph.input)
    return types


def declared_type(value: onnx.TypeProto) -> TensorType:
    """Return what a declaration says about a tensor; an unknown type for any other value."""
    tensor = value.tensor_type
    shape = None
    if tensor.HasField("shape"):
        dims = tensor.shape.dim
        shape = tuple(
            each.dim_value if each.HasField("dim_value") else each.dim_param or None for each in dims
        )
    return TensorType(_element(tensor.elem_type), shape)


def one_line(values: Sequence[onnx.ValueInfoProto]) -> str:
    """Return the names and types of the inputs or outputs of a graph on one line, at most the first four."""
    words = [f"{printable(each.name)}: {declared_type(each.type)}" for each in values[:4]]
    return ", ".join(words + (["..."] if values[4:] else []))


def _element(number: int) -> str | None:
    if number not in _NAMES:
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(number)
    return "string" if dtype.kind == "O" else str(dtype.name)


@dataclass(frozen=True, slots=True)
class DeclaredInput:
    """One input as the model declares it."""

    name: str
    dtype: np.dtype[Any] | None  # None without an element type, or for a sequence, a map or an optional
    shape: tuple[int | str, ...] | None  # with the names of open dimensions; None if the rank is open
    optional: bool  # whether the model has a default for it


def defaults(graph: onnx.GraphProto) -> set[str]:
    """Return the names of the values that have an initializer."""
    return {each.name for each in graph.initializer} | {each.values.name for each in graph.sparse_initializer}


def declared_inputs(model: onnx.ModelProto) -> tuple[DeclaredInput, ...]:
    """Return the inputs a model declares, in its order."""
    optional = defaults(model.graph)
    inputs = []
    for value in model.graph.input:
        number = value.type.tensor_type.elem_type
        sizes = declared_type(value.type).shape
        dtype = onnx.helper.tensor_dtype_to_np_dtype(number) if number in _NAMES else None
        shape = (f"{value.name}.{axis}" if size is None else size for axis, size in enumerate(sizes or ()))
        inputs.append(
            DeclaredInput(value.name, dtype, None if sizes is None else tuple(shape), value.name in optional)
        )
    return tuple(inputs)


def name_dimensions(graph: onnx.GraphProto) -> None:
    """Name the dimensions of a graph's inputs that have neither a size nor a name."""
    for value in graph.input:
        for axis, dimension in enumerate(value.type.tensor_type.shape.dim):
            if not dimension.HasField("dim_value") and not dimension.dim_param:
                dimension.dim_param = f"{value.name}.{axis}"


def require_array(sizes: Sequence[int], dtype: np.dtype[Any], name: str) -> None:
    """Refuse to draw an input that memory cannot hold, or whose sizes NumPy does not take, such as -1."""
    require_memory(sizes, dtype, f"input {name!r}")
    try:
        # Takes no memory.
        np.broadcast_to(np.int8(0), sizes)
    except ValueError as error:
        raise InputError(f"input {name!r} cannot be drawn at random", given=first_line(error)) from None
