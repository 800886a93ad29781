"""The kinds of values, as the schemas of operators write them: ``tensor(float)``, ``seq(tensor(int64))``.

Decides which type declarations are sound enough to be shown to onnx's own code.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx

__all__ = ["declaration", "innermost", "kind", "sound", "tensor_kind", "tensor_type", "type_proto"]

_NAMES = {number: name.lower() for name, number in onnx.TensorProto.DataType.items() if number}
_NUMBERS = {name: number for number, name in _NAMES.items()}

# Deeper ones are no types of any operator.
_DEEPEST = 4
_LARGEST_RANK = 64
# onnx goes through some sizes in loops, and multiplies them without looking.
_LARGEST_SIZE = 2**31 - 1
# A list of axes, sizes or indices; onnx's data propagation makes one value of each element.
_LONGEST_LIST = 4096
_LISTS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)


def tensor_kind(number: int) -> str | None:
    """Return the kind of a tensor with the element type of a number, or None if there is no such element type."""
    return f"tensor({_NAMES[number]})" if number in _NAMES else None


def kind(value: onnx.TypeProto, depth: int = 0) -> str | None:
    """Return the kind of a declared type, or None if the declaration does not say it."""
    field = value.WhichOneof("value")
    if field is None or depth > _DEEPEST:
        return None
    if field in ("tensor_type", "sparse_tensor_type"):
        tensor = tensor_kind(getattr(value, field).elem_type)
        return f"sparse_{tensor}" if tensor and field == "sparse_tensor_type" else tensor
    if field == "map_type":
        key, held = _NAMES.get(value.map_type.key_type), kind(value.map_type.value_type, depth + 1)
        return f"map({key}, {held})" if key and held else None
    if field in ("sequence_type", "optional_type"):
        held = kind(getattr(value, field).elem_type, depth + 1)
        return f"{'seq' if field == 'sequence_type' else 'optional'}({held})" if held else None
    return None


def innermost(
    value: onnx.TypeProto,
) -> onnx.TypeProto.Tensor | onnx.TypeProto.SparseTensor | None:
    """Return the tensor type that a declared type is or holds, or None if there is none."""
    field = value.WhichOneof("value")
    while field in ("sequence_type", "optional_type", "map_type"):
        held = getattr(value, field)
        value = held.value_type if field == "map_type" else held.elem_type
        field = value.WhichOneof("value")
    return getattr(value, field) if field in ("tensor_type", "sparse_tensor_type") else None


def type_proto(text: str) -> onnx.TypeProto:
    """Return the declaration of a kind."""
    result = onnx.TypeProto()
    outer, _, rest = text.partition("(")
    held = rest[:-1]
    match outer:
        case "tensor":
            result.tensor_type.elem_type = _NUMBERS[held]
        case "sparse_tensor":
            result.sparse_tensor_type.elem_type = _NUMBERS[held]
        case "map":
            key, _, held = held.partition(", ")
            result.map_type.key_type = _NUMBERS[key]
            result.map_type.value_type.CopyFrom(type_proto(held))
        case "seq":
            result.sequence_type.elem_type.CopyFrom(type_proto(held))
        case _:
            result.optional_type.elem_type.CopyFrom(type_proto(held))
    return result


def declaration(given: str | None) -> onnx.TypeProto | None:
    """Return the declaration of a kind, if it is known."""
    return type_proto(given) if given else None


def tensor_type(number: int, sizes: Iterable[int]) -> onnx.TypeProto:
    """Return the declaration of a tensor of an element type, by its number, and of sizes."""
    result = onnx.TypeProto()
    result.tensor_type.elem_type = number if tensor_kind(number) else 0
    result.tensor_type.shape.SetInParent()
    for size in sizes:
        result.tensor_type.shape.dim.add(dim_value=size)
    return result


def sound(value: onnx.TypeProto) -> onnx.TypeProto | None:
    """Return a declaration without what cannot be meant, or None if not even its kind can be."""
    text = kind(value)
    if text is None:
        return None
    if not value.HasField("tensor_type"):
        return type_proto(text)
    tensor = value.tensor_type
    if not tensor.HasField("shape"):
        return value
    dimensions = tensor.shape.dim
    largest = _LONGEST_LIST if len(dimensions) == 1 and tensor.elem_type in _LISTS else _LARGEST_SIZE
    if len(dimensions) > _LARGEST_RANK:
        return type_proto(text)
    if all(0 <= each.dim_value <= largest for each in dimensions):
        return value
    copy = onnx.TypeProto()
    copy.CopyFrom(value)
    for each in copy.tensor_type.shape.dim:
        if not 0 <= each.dim_value <= largest:
            each.ClearField("value")
    return copy
