"""DML_BUFFER_TENSOR_DESC: how a tensor lies in a buffer.

Decides which descriptions exist at all, whatever the operator. Which operator takes them is
:mod:`extremum.directml.acceptance`'s; what a description looks like over real memory is
:mod:`extremum.directml.operator`'s.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from extremum.directml.enumerations import TensorDataType, TensorFlags
from extremum.errors import ElementTypeError, SpecError

__all__ = ["LARGEST", "TensorDesc", "packed_strides"]

LARGEST = 2**32 - 1
"""The largest size or stride, and the most elements that a tensor has."""


def packed_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a tensor without gaps whose last dimension is the innermost."""
    return tuple(accumulate(reversed(sizes[1:]), operator.mul, initial=1))[::-1]


@dataclass(frozen=True, slots=True, init=False)
class TensorDesc:
    """DML_BUFFER_TENSOR_DESC: element type, sizes and strides of a tensor in a buffer.

    Parameters
    ----------
    data_type : TensorDataType
        The type of the elements.
    sizes : sequence of int
        One size for each of 1 to 8 dimensions, none of them 0; at most 2**32 - 1 elements in all.
    strides : sequence of int, optional
        Elements from one index to the next in each dimension: 0 repeats an element, a larger one leaves padding, any
        order permutes the dimensions. A packed tensor by default.
    total_tensor_size_in_bytes : int, optional
        What a buffer has to hold at least. By default, and at least, the bytes from the first element to the last,
        rounded up to a multiple of 4.
    guaranteed_base_offset_alignment : int, optional
        0, or a power of two that is at least as large as an element. It has no effect on the result.
    flags : TensorFlags, optional
        NONE by default.

    Raises
    ------
    SpecError
        If a rule above is broken.
    ElementTypeError
        If the element type is none of DirectML's.

    Notes
    -----
    Source: DML_BUFFER_TENSOR_DESC.

    Examples
    --------
    >>> from extremum import directml as dml
    >>> padded = dml.TensorDesc(dml.TensorDataType.FLOAT16, sizes=(2, 3), strides=(4, 1))
    >>> padded.extent, padded.total_tensor_size_in_bytes
    (7, 16)
    """

    data_type: TensorDataType
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    total_tensor_size_in_bytes: int
    guaranteed_base_offset_alignment: int
    flags: TensorFlags

    def __init__(
        self,
        data_type: TensorDataType,
        sizes: Sequence[int],
        strides: Sequence[int] | None = None,
        total_tensor_size_in_bytes: int | None = None,
        guaranteed_base_offset_alignment: int = 0,
        flags: TensorFlags = TensorFlags.NONE,
    ) -> None:
        def settle(field: str, value: object) -> None:
            object.__setattr__(self, field, value)

        settle("data_type", _data_type(data_type))
        settle("sizes", _sizes(sizes))
        settle("strides", None if strides is None else _strides(strides, self.sizes))
        if max(math.prod(self.sizes), self.extent) > LARGEST:
            raise _broken("sizes", f"a tensor has at most {LARGEST} elements", str(self))
        settle("total_tensor_size_in_bytes", self._total(total_tensor_size_in_bytes))
        settle("guaranteed_base_offset_alignment", self._alignment(guaranteed_base_offset_alignment))
        settle("flags", _flags(flags))

    def _total(self, given: int | None) -> int:
        least = -(-self.extent * self.data_type.element_type.itemsize // 4) * 4
        if given is None:
            return least
        field = "total_tensor_size_in_bytes"
        total = _integer(field, given)
        if not least <= total < 2**64:
            takes = f"{self} takes {least} bytes" if total < least else "a size is below 2**64"
            remedy = "leave it out for the smallest size that holds the tensor"
            raise _broken(field, f"{takes}, not {total}", f"{field}={total}", remedy)
        return total

    def _alignment(self, given: int) -> int:
        itemsize = self.data_type.element_type.itemsize
        field = "guaranteed_base_offset_alignment"
        alignment = _integer(field, given)
        if alignment and (alignment < itemsize or alignment & (alignment - 1)):
            reason = f"an alignment is 0 or a power of two that is at least the size of an element, {itemsize}"
            raise _broken(field, reason, f"{field}={alignment}")
        if alignment > LARGEST:
            raise _broken(field, "an alignment is below 2**32", f"{field}={alignment}")
        return alignment

    @property
    def dimension_count(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The strides in elements, those of a packed tensor included."""
        return packed_strides(self.sizes) if self.strides is None else self.strides

    @property
    def byte_strides(self) -> tuple[int, ...]:
        """The strides in bytes."""
        return tuple(stride * self.data_type.element_type.itemsize for stride in self.element_strides)

    @property
    def extent(self) -> int:
        """Elements of memory from the first element of the tensor to the last, padding included."""
        return 1 + sum((size - 1) * stride for size, stride in zip(self.sizes, self.element_strides, strict=True))

    @property
    def overlapping(self) -> bool:
        """Whether two elements may share memory.

        They do not where each dimension steps over everything that the dimensions of smaller stride span, as it does
        in every permuted or padded tensor.
        """
        span = 0
        for stride, size in sorted(zip(self.element_strides, self.sizes, strict=True)):
            if size > 1:
                if stride <= span:
                    return True
                span += (size - 1) * stride
        return False

    def __str__(self) -> str:
        strides = "" if self.strides is None else f" strides [{', '.join(map(str, self.strides))}]"
        return f"{self.data_type.name}[{', '.join(map(str, self.sizes))}]{strides}"


def _broken(field: str, reason: str, given: str, remedy: str | None = None) -> SpecError:
    return SpecError(reason, where=f"TensorDesc.{field}", given=given, remedy=remedy)


def _integer(field: str, given: object) -> int:
    try:
        return operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        raise _broken(field, f"{field} is not an integer", f"{field}={given!r}") from None


def _data_type(given: object) -> TensorDataType:
    try:
        return TensorDataType(given)  # type: ignore[arg-type]
    except ValueError:
        raise ElementTypeError(
            f"{given!r} is none of the element types of DirectML's tensors",
            where="TensorDesc.data_type",
            remedy=f"use TensorDataType: {', '.join(each.name for each in TensorDataType)}",
        ) from None


def _flags(given: object) -> TensorFlags:
    for flags in TensorFlags.NONE, TensorFlags.OWNED_BY_DML:
        if isinstance(given, int) and given == flags:
            return flags
    raise _broken("flags", f"flags has no value {given!r}", f"flags={given!r}", "use NONE or OWNED_BY_DML")


def _unsigned(field: str, values: Iterable[int]) -> tuple[int, ...]:
    try:
        numbers = tuple(operator.index(value) for value in values)
    except TypeError:
        raise _broken(field, f"{field} is not a sequence of integers", f"{field}={values!r}") from None
    for number in numbers:
        if not 0 <= number <= LARGEST:
            raise _broken(field, f"{field} are numbers from 0 to {LARGEST}, not {number}", f"{field}={numbers}")
    return numbers


def _sizes(given: Iterable[int]) -> tuple[int, ...]:
    sizes = _unsigned("sizes", given)
    if not 1 <= len(sizes) <= 8:
        raise _broken("sizes", f"a tensor has 1 to 8 dimensions, not {len(sizes)}", f"sizes={sizes}")
    if 0 in sizes:
        raise _broken(
            "sizes",
            f"dimension {sizes.index(0)} has size 0, and DirectML has no tensors without elements",
            f"sizes={sizes}",
            "leave the operator out: its result is empty too",
        )
    return sizes


def _strides(given: Iterable[int], sizes: tuple[int, ...]) -> tuple[int, ...]:
    strides = _unsigned("strides", given)
    if len(strides) != len(sizes):
        raise _broken("strides", f"{len(sizes)} dimensions have {len(strides)} strides", f"{strides=}, {sizes=}")
    return strides
