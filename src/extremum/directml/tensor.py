"""The description of a tensor in memory: DML_BUFFER_TENSOR_DESC."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from extremum.directml.enumerations import TensorDataType, TensorFlags
from extremum.directml.fields import LARGEST, error_at, integer, member, unsigned
from extremum.errors import SpecError


def packed_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major tensor without gaps."""
    return tuple(accumulate(reversed(sizes[1:]), operator.mul, initial=1))[::-1]


@dataclass(frozen=True, init=False)
class TensorDesc:
    """DML_BUFFER_TENSOR_DESC: element type, sizes and strides of a tensor in a buffer.

    Parameters
    ----------
    data_type : TensorDataType
        The element type.
    sizes : sequence of int
        The sizes of 1 to 8 dimensions. No size is 0; a tensor has at most 2**32 - 1 elements.
    strides : sequence of int, optional
        The step in elements along each dimension. 0 broadcasts; a larger stride leaves padding; any order of
        dimensions is possible. The default is a packed tensor.
    total_tensor_size_in_bytes : int, optional
        The size that a buffer must have at least. The default, which is also the minimum, is the number of bytes from
        the first element to the last, rounded up to a multiple of 4.
    guaranteed_base_offset_alignment : int, optional
        0, or a power of two not smaller than an element. It does not affect results.
    flags : TensorFlags, optional
        NONE by default.

    Raises
    ------
    SpecError
        If a value breaks one of these rules.
    ElementTypeError
        If DirectML has no such element type.

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
        data_type = member(TensorDataType, "TensorDesc.data_type", data_type)
        # A tensor has one to eight dimensions, each with elements.
        sizes = unsigned("TensorDesc.sizes", sizes)
        if not 1 <= len(sizes) <= 8:
            raise error_at("TensorDesc.sizes", f"a tensor has 1 to 8 dimensions, not {len(sizes)}", sizes)
        if 0 in sizes:
            raise error_at(
                "TensorDesc.sizes",
                f"dimension {sizes.index(0)} has size 0, and DirectML has no tensors without elements",
                sizes,
                "leave the operator out: its result is empty too",
            )
        if strides is not None:
            strides = unsigned("TensorDesc.strides", strides)
            if len(strides) != len(sizes):
                raise SpecError(
                    f"{len(sizes)} dimensions have {len(strides)} strides",
                    where="TensorDesc.strides",
                    given=f"{strides=}, {sizes=}",
                )
        vars(self).update(data_type=data_type, sizes=sizes, strides=strides)
        if max(math.prod(sizes), self.extent) > LARGEST:
            raise SpecError(
                f"a tensor has at most {LARGEST} elements", where="TensorDesc.sizes", given=str(self)
            )
        # Its buffer holds all elements, in a multiple of four bytes.
        field = "TensorDesc.total_tensor_size_in_bytes"
        itemsize = data_type.element_type.itemsize
        least = -(-self.extent * itemsize // 4) * 4
        if total_tensor_size_in_bytes is None:
            total = least
        else:
            total = integer(field, total_tensor_size_in_bytes)
        if not least <= total < 2**64:
            if total < least:
                rule = f"{self} takes {least} bytes"
            else:
                rule = "a size is below 2**64"
            raise error_at(
                field,
                f"{rule}, not {total}",
                total,
                "leave it out for the smallest size that holds the tensor",
            )
        field = "TensorDesc.guaranteed_base_offset_alignment"
        alignment = integer(field, guaranteed_base_offset_alignment)
        if alignment and (alignment < itemsize or alignment & (alignment - 1)):
            rule = f"an alignment is 0 or a power of two that is at least the size of an element, {itemsize}"
            raise error_at(field, rule, alignment)
        if alignment > LARGEST:
            raise error_at(field, "an alignment is below 2**32", alignment)
        flags = member(TensorFlags, "TensorDesc.flags", flags)
        vars(self).update(
            total_tensor_size_in_bytes=total, guaranteed_base_offset_alignment=alignment, flags=flags
        )

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The element type in NumPy."""
        return self.data_type.element_type.dtype

    @property
    def dimension_count(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    @property
    def element_strides(self) -> tuple[int, ...]:
        """The strides in elements, also for a packed tensor."""
        if self.strides is None:
            return packed_strides(self.sizes)
        return self.strides

    @cached_property
    def byte_strides(self) -> tuple[int, ...]:
        """The strides in bytes."""
        return tuple(stride * self.data_type.element_type.itemsize for stride in self.element_strides)

    @cached_property
    def extent(self) -> int:
        """The number of elements in memory from the first of the tensor to the last, including padding."""
        return 1 + sum(
            (size - 1) * stride for size, stride in zip(self.sizes, self.element_strides, strict=True)
        )

    @property
    def overlapping(self) -> bool:
        """Whether two elements may share memory."""
        # They do not if each stride exceeds the span of all dimensions with smaller strides.
        span = 0
        for stride, size in sorted(zip(self.element_strides, self.sizes, strict=True)):
            if size > 1:
                if stride <= span:
                    return True
                span += (size - 1) * stride
        return False

    def __str__(self) -> str:
        if self.strides is None:
            strides = ""
        else:
            strides = f" strides [{', '.join(map(str, self.strides))}]"
        return f"{self.data_type.name}[{', '.join(map(str, self.sizes))}]{strides}"
