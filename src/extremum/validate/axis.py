"""The axes that the attributes of a node mean.

Decides which axes lie outside a tensor of some rank.
"""

from __future__ import annotations

from extremum.errors import AxisError, SpecError
from extremum.spec import Attribute, AttributeRange, OperatorVersion
from extremum.validate.attribute import Attributes

__all__ = ["axes"]

_AXIS_RANGES = (AttributeRange.AXIS, AttributeRange.AXIS_UNSTATED, AttributeRange.AXIS_UNSIGNED)


def axes(row: OperatorVersion, values: Attributes, rank: int) -> tuple[int, ...]:
    """Return the axes that the attributes mean in a tensor of some rank: non-negative, distinct and ascending."""
    chosen: tuple[int, ...] = ()
    for attribute in row.attributes:
        if attribute.range in _AXIS_RANGES:
            value = values[attribute.name]
            listed = value if isinstance(value, tuple) else (value or 0,)
            if not listed:
                raise SpecError(f"{row} needs at least one axis")
            chosen = tuple(sorted(_axis(row, attribute, axis, rank) for axis in listed))
    if len(set(chosen)) < len(chosen):
        raise AxisError(f"{row} takes each axis once")
    return tuple(range(chosen[0], rank)) if row.coerced else chosen


def _axis(row: OperatorVersion, attribute: Attribute, axis: int, rank: int) -> int:
    least = 0 if attribute.range is AttributeRange.AXIS_UNSIGNED else -rank
    if least <= axis < rank:
        return axis % rank
    raise AxisError(
        f"{row} has {attribute.name}={axis}, but its input has rank {rank}",
        remedy=f"use a value in [{least}, {rank - 1}]",
    )
