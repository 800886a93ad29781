"""The axes that the attributes of a node mean.

Decides which axes lie outside a tensor of some rank.
"""

from __future__ import annotations

from extremum.errors import AxisError, SpecError
from extremum.spec import Attribute, AttributeRange, OperatorVersion
from extremum.validate.attribute import UNKNOWN, Attributes

__all__ = ["axes"]


def axes(schema: OperatorVersion, values: Attributes, rank: int) -> tuple[int, ...]:
    """Return the axes that the attributes mean in a tensor of some rank: non-negative, distinct and ascending."""
    chosen: tuple[int, ...] = ()
    for attribute in schema.attributes:
        if attribute.range.is_axis:
            value = values[attribute.name]
            if value is UNKNOWN:
                raise SpecError(
                    f"the {attribute.name} of {schema} are not known before the model runs",
                    remedy="give them as an initializer or a Constant",
                )
            listed = (value,) if isinstance(value, int) else value or ()
            if not listed and not schema.every_axis:
                raise SpecError(f"{schema} needs at least one axis")
            if not listed and not values.get("noop_with_empty_axes"):
                listed = tuple(range(rank))
            chosen = tuple(sorted(_axis(schema, attribute, axis, rank) for axis in listed))
    if len(set(chosen)) < len(chosen):
        raise AxisError(f"{schema} takes each axis once")
    return tuple(range(chosen[0], rank)) if schema.coerced else chosen


def _axis(schema: OperatorVersion, attribute: Attribute, axis: int, rank: int) -> int:
    least = 0 if attribute.range is AttributeRange.AXIS_UNSIGNED else -rank
    if least <= axis < rank:
        return axis % rank
    raise AxisError(
        f"{schema} has {_text(attribute, axis)}, but its input has rank {rank}",
        remedy=f"use a value in [{least}, {rank - 1}]" if rank else f"leave out the {attribute.name}",
    )


def _text(attribute: Attribute, axis: int) -> str:
    return f"{axis} among its {attribute.name}" if attribute.input else f"{attribute.name}={axis}"
