"""Whether a node keeps the promise of its operator's version.

Decides what is refused, and with which words, from the row alone: attributes, number of inputs, element types, ranks,
axes. What shape comes out is :mod:`extremum.infer`'s; the place and the values that were given are added by the caller,
who knows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from extremum import spec
from extremum.errors import AxisError, ElementTypeError, SpecError
from extremum.spec import Attribute, AttributeRange, AttributeType, OperatorVersion
from extremum.tensors import TensorType

__all__ = ["Attributes", "attributes", "axes", "inputs"]

Attributes = Mapping[str, int | tuple[int, ...] | None]
"""The value of every attribute a version has; None for one that has no default and was not given."""

_AXIS_RANGES = (AttributeRange.AXIS, AttributeRange.AXIS_UNSTATED, AttributeRange.AXIS_UNSIGNED)


def attributes(row: OperatorVersion, given: Mapping[str, object]) -> Attributes:
    """Check the attributes that are given and fill in the defaults of the others.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    given : mapping of str to object
        The attributes a node states.

    Returns
    -------
    mapping of str to (int, tuple of int or None)
        A value for every attribute of the version.

    Raises
    ------
    SpecError
        If the version has no such attribute, a value is of the wrong type or out of range, or one is missing.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> validate.attributes(spec.find(spec.ONNX, "ArgMax", 11), {"axis": -1})
    {'axis': -1, 'keepdims': 1}
    """
    for name in given:
        if row.attribute(name) is None:
            raise _unknown_attribute(row, name)
    return {attribute.name: _value(row, attribute, given) for attribute in row.attributes}


def _unknown_attribute(row: OperatorVersion, name: str) -> SpecError:
    having = [version for version in spec.OPERATORS[row.domain, row.name] if version.attribute(name)]
    reason = f"{row} has no attribute {name!r}"
    if not having:
        known = ", ".join(attribute.name for attribute in row.attributes) or "none"
        return SpecError(reason, remedy=f"drop it; the attributes of {row} are: {known}")
    if having[0].since > row.since:
        return SpecError(
            f"{reason} (it came with {having[0]})",
            remedy=f"use {having[0].requirement} or later, or drop the attribute if its value is 0",
        )
    return SpecError(f"{reason} (the last to have it was {having[-1]})", remedy="drop it, it has no effect")


def _value(row: OperatorVersion, attribute: Attribute, given: Mapping[str, object]) -> int | tuple[int, ...] | None:
    if attribute.name not in given:
        if attribute.required:
            raise SpecError(f"{row} needs the attribute {attribute.name!r}")
        return attribute.default
    value = given[attribute.name]
    if attribute.type is AttributeType.INTS:
        if isinstance(value, Sequence) and all(isinstance(item, int) for item in value):
            return tuple(int(item) for item in value)
    elif isinstance(value, int):
        if attribute.range is AttributeRange.FLAG and value not in (0, 1):
            raise SpecError(
                f"{row} takes {attribute.range.value} for {attribute.name!r}, not {value}",
                remedy="runtimes disagree on what any other value means",
            )
        return int(value)
    raise SpecError(f"{row} takes {attribute.type.value} for {attribute.name!r}, not {value!r}")


def inputs(row: OperatorVersion, types: Sequence[TensorType]) -> None:
    """Check number, element types and ranks of the inputs, as far as they are known.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    types : sequence of TensorType
        What is known of each input.

    Raises
    ------
    SpecError
        If there are too few or too many inputs, or a rank or size is not accepted.
    ElementTypeError
        If the version does not take an element type, or the inputs differ in theirs.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> from extremum.tensors import TensorType
    >>> validate.inputs(spec.find(spec.ONNX, "Max", 13), [TensorType("float32"), TensorType("float32", (2,))])
    """
    if not 1 <= len(types) <= row.input.maximum:
        count = "1 input" if row.input.maximum == 1 else f"1 to {row.input.maximum} inputs"
        raise SpecError(f"{row} takes {count}, not {len(types)}")
    for tensor in types:
        _element(row, tensor.element)
        _shape(row, tensor)
    elements = sorted({tensor.element for tensor in types if tensor.element is not None})
    if len(elements) > 1:
        raise ElementTypeError(
            f"{row} takes inputs of one element type, not of {' and '.join(elements)}", remedy="put a Cast before it"
        )


def _element(row: OperatorVersion, element: str | None) -> None:
    if element is None or element in row.types:
        return
    later = [
        version
        for version in spec.OPERATORS[row.domain, row.name]
        if version.since > row.since and element in version.types
    ]
    note = f" (it came with {later[0]})" if later else ""
    raise ElementTypeError(
        f"{row} does not take {element}{note}", remedy=f"the element types of {row} are: {', '.join(row.types)}"
    )


def _shape(row: OperatorVersion, tensor: TensorType) -> None:
    if tensor.shape is None:
        return
    least, most = row.ranks
    rank = len(tensor.shape)
    if rank < least:
        raise SpecError(f"{row} has no axis to look along in a tensor of rank {rank}", remedy="give it at least one")
    if most is not None and rank > most:
        raise SpecError(f"{row} takes tensors of rank {least} to {most}, not {rank}")
    if not row.empty and 0 in tensor.shape:
        raise SpecError(f"{row} takes no tensor without elements")


def axes(row: OperatorVersion, values: Attributes, rank: int) -> tuple[int, ...]:
    """Return the axes that the attributes mean in a tensor of some rank.

    Parameters
    ----------
    row : OperatorVersion
        The version in force.
    values : mapping of str to (int, tuple of int or None)
        What :func:`attributes` returned.
    rank : int
        The rank of the input.

    Returns
    -------
    tuple of int
        Non-negative, distinct axes in ascending order: all from the axis on where the version sees its input as 2-D,
        none for an elementwise operator.

    Raises
    ------
    AxisError
        If an axis lies outside the rank, or is listed twice.
    SpecError
        If a list of axes is empty.

    Examples
    --------
    >>> from extremum import spec, validate
    >>> row = spec.find(spec.ONNX, "Hardmax", 11)
    >>> validate.axes(row, validate.attributes(row, {}), rank=4)
    (1, 2, 3)
    """
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
