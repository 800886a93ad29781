"""What a model declares of the shape of a value, beside what was inferred of it.

Decides what is believed: a declaration that says more than was inferred, and nothing else. Models are written by many
programs, and some declare what cannot be.
"""

from __future__ import annotations

import onnx

__all__ = ["believed", "is_made_up"]

# What onnx's inference calls a size that it does not know.
_MADE_UP = "unk__"


def believed(inferred: onnx.TypeProto | None, stated: onnx.TypeProto) -> onnx.TypeProto | None:
    """Return an inferred type with what a declaration adds to it, or None if that is nothing or contradicts it."""
    if inferred is None or inferred.WhichOneof("value") is None:
        return stated
    if not (inferred.HasField("tensor_type") and stated.HasField("tensor_type")):
        return None
    ours, theirs = inferred.tensor_type, stated.tensor_type
    if ours.elem_type != theirs.elem_type or not theirs.HasField("shape"):
        return None
    if not ours.HasField("shape"):
        return stated
    if len(ours.shape.dim) != len(theirs.shape.dim):
        return None
    result = onnx.TypeProto()
    result.CopyFrom(inferred)
    more = False
    for known, declared in zip(result.tensor_type.shape.dim, theirs.shape.dim, strict=True):
        if declared.HasField("dim_value"):
            if known.HasField("dim_value"):
                if known.dim_value != declared.dim_value:
                    return None
                continue
        elif not declared.dim_param or known.HasField("dim_value") or not _is_open(known):
            continue
        known.CopyFrom(declared)
        more = True
    return result if more else None


def _is_open(dimension: onnx.TensorShapeProto.Dimension) -> bool:
    return not dimension.dim_param or is_made_up(dimension.dim_param)


def is_made_up(name: str) -> bool:
    """Return whether a dimension has its name from onnx's inference and not from its model."""
    return name.startswith(_MADE_UP)
