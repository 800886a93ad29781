"""The types and shapes of an operator's outputs, from what is known of its inputs.

The same rules apply to a model before it runs (sizes, symbols and unknowns) and to arrays. Refuses inputs that no
choice of unknown sizes could make valid. The attributes have passed :func:`extremum.validate.attributes`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from extremum import validate
from extremum.errors import SpecError
from extremum.spec import DIRECTML, OPERATORS, Family, OperatorVersion
from extremum.tensors import Dimension, Shape, TensorType, differ, shape_text
from extremum.validate import Attributes


def outputs(
    schema: OperatorVersion, values: Attributes, types: Sequence[TensorType]
) -> tuple[TensorType, ...]:
    """Return what is known of each output; its element type is None where the version leaves it to the caller."""
    of_index = schema.outputs[-1].types
    index = of_index[0] if len(of_index) == 1 else None
    match schema.family:
        case Family.ARGMAX | Family.ARGMIN:
            return (TensorType(index, _reduced(schema, values, types[0].shape)),)
        case Family.LARGEST | Family.SMALLEST:
            return (TensorType(types[0].element, _reduced(schema, values, types[0].shape)),)
        case Family.TOP:
            shape = _selection(schema, values, types[0].shape)
            return TensorType(types[0].element, shape), TensorType(index, shape)
        case Family.HARDMAX:
            if types[0].shape is not None:
                validate.axes(schema, values, len(types[0].shape))
            return (types[0],)
        case Family.MAXIMUM | Family.MINIMUM:
            element = next((tensor.element for tensor in types if tensor.element is not None), None)
            return (TensorType(element, _joint(schema, [tensor.shape for tensor in types])),)


def _reduced(schema: OperatorVersion, values: Attributes, shape: Shape | None) -> Shape | None:
    if shape is None:
        return None
    keepdims = values.get("keepdims", 1)
    if validate.UNKNOWN in values.values():
        if keepdims:
            return tuple(1 if size == 1 else None for size in shape)
        return None
    axes = validate.axes(schema, values, len(shape))
    for axis in axes:
        if shape[axis] == 0 and not schema.identity:
            raise SpecError(f"{schema} has nothing to choose from: axis {axis} of its input has no element")
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _selection(schema: OperatorVersion, values: Attributes, shape: Shape | None) -> Shape | None:
    if shape is None:
        return None
    (axis,) = validate.axes(schema, values, len(shape))
    size = shape[axis]
    k = values["k"] if isinstance(values["k"], int) else None
    # No tensor of DirectML is empty.
    least = 1 if schema.domain == DIRECTML else 0
    if k is not None and isinstance(size, int) and not least <= k <= size:
        raise SpecError(
            f"{schema} takes {k} elements along axis {axis} of its input, which has {size}",
            remedy=f"use a k in [{least}, {size}]",
        )
    return (*shape[:axis], k, *shape[axis + 1 :])


def _joint(schema: OperatorVersion, operands: Sequence[Shape | None]) -> Shape | None:
    shapes = [shape for shape in operands if shape is not None]
    if not schema.broadcasts:
        if shapes:
            return functools.reduce(functools.partial(_same, schema), shapes)
        return None
    rank = max(map(len, shapes), default=0)
    rows = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    joint = tuple(_broadcast(schema, sizes) for sizes in zip(*rows, strict=True))
    return joint if len(shapes) == len(operands) else None


def _same(schema: OperatorVersion, first: Shape, second: Shape) -> Shape:
    if differ(first, second):
        version = next((each for each in OPERATORS[schema.domain, schema.name] if each.broadcasts), None)
        raise SpecError(
            f"{schema} takes inputs of one shape, not {shape_text(first)} and {shape_text(second)}",
            remedy=f"use {version.requirement} or later, which broadcasts" if version else None,
        )
    # A size is more precise than a name, and a name more precise than None.
    pairs = zip(first, second, strict=True)
    return tuple(max(pair, key=lambda size: (isinstance(size, int), size is not None)) for pair in pairs)


def _broadcast(schema: OperatorVersion, sizes: Sequence[Dimension]) -> Dimension:
    wide = [size for size in dict.fromkeys(sizes) if size != 1]
    numbers = [size for size in wide if isinstance(size, int)]
    if len(numbers) > 1:
        raise SpecError(
            f"{schema} cannot broadcast sizes {numbers[0]} and {numbers[1]} against each other",
            remedy="sizes of one dimension have to be equal, or 1",
        )
    if numbers:
        return numbers[0]
    # A single symbol stays. If two symbols differ, either of them may turn out to be 1.
    if len(wide) == 1:
        return wide[0]
    if wide:
        return None
    return 1
