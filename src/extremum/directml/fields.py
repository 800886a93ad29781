"""How the value of a field of a structure is read; an error names the field."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from extremum.directml.enumerations import Member, TensorDataType
from extremum.errors import ElementTypeError, SpecError

LARGEST = 2**32 - 1
"""The largest size or stride, and the largest number of elements of a tensor."""


def member(enumeration: type[Member], where: str, value: object) -> Member:
    """Return the member of an enumeration that equals a value."""
    try:
        # Calling IntFlag would make a member of any integer.
        return next(member for member in enumeration.__members__.values() if member == value)
    except (StopIteration, ValueError):
        error = ElementTypeError if enumeration is TensorDataType else SpecError
        raise error(
            f"{name_of(where)} has no value {value!r}",
            where=where,
            remedy=f"use {enumeration.__name__}: {', '.join(enumeration.__members__)}",
        ) from None


def read(kind: str, read: Callable[[Any], Any], where: str, value: object) -> Any:
    """Return what `read` makes of a value; `kind` says what the value must be."""
    try:
        return read(value)
    except TypeError:
        raise error_at(where, f"{name_of(where)} is not {kind}", value) from None


integer = partial(read, "an integer", operator.index)
integers = partial(read, "a sequence of integers", lambda values: tuple(map(operator.index, values)))


def unsigned(where: str, values: Iterable[int]) -> tuple[int, ...]:
    """Return sizes or strides, each of 32 bits."""
    numbers: tuple[int, ...] = integers(where, values)
    for number in numbers:
        if not 0 <= number <= LARGEST:
            raise error_at(where, f"{name_of(where)} are numbers from 0 to {LARGEST}, not {number}", numbers)
    return numbers


def name_of(where: str) -> str:
    """Return the name of a field, without that of its structure."""
    return where.rpartition(".")[2]


def error_at(where: str, reason: str, value: object, remedy: str | None = None) -> SpecError:
    """Return the error about the value of a field."""
    return SpecError(reason, where=where, given=f"{name_of(where)}={value!r}", remedy=remedy)
