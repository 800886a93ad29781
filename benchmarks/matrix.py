"""The cases of the benchmark: operator, element type, shape, axes and layout; the arrays of a case, and its answer.

The numbers come from a bell curve and are rounded, so that rows hold ties, as logits of a quantised model do. One
answer, which NumPy finds on int8, serves all twelve element types. There is no NaN, because peers disagree on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from extremum.tensors import element_of

Array = NDArray[Any]

FLOAT_TYPES = ("float32", "float16", "bfloat16", "float64")
ELEMENT_TYPES = (*FLOAT_TYPES, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


class Case(NamedTuple):
    """One line of the benchmark."""

    kind: str
    # argmax, argmin, max, min, hardmax or top_k.
    operator: str
    element_type: str
    # Shape of the input; for max and min, of the result.
    shape: tuple[int, ...]
    # Ascending; None reduces all.
    axes: tuple[int, ...] | None = None
    last: bool = False
    # A key of `LAYOUTS`; for max and min, the layout of every second operand.
    layout: str = "contiguous"
    operands: int = 1
    # Shape of the last operand of max and min: same, row, column or scalar.
    broadcast: str = "same"
    # Hardmax 11 reduces the axes from `axis` to the last together.
    opset: int = 13
    # For top_k.
    k: int = 0

    @property
    def name(self) -> str:
        """The case in one word, unique in the matrix."""
        parts = [self.operator, self.element_type, _tuple(self.shape)]
        if self.elementwise:
            parts += [f"operands={self.operands}", *[self.broadcast] * (self.broadcast != "same")]
        else:
            axes = "all"
            if self.axes is not None:
                axes = str(self.axes[0]) if len(self.axes) == 1 else _tuple(self.axes)
            end = "last" if self.last else "first"
            if self.operator == "hardmax":
                end = f"opset={self.opset}"
            parts += [f"axis={axes}", end]
        return "/".join([*parts, *[self.layout] * (self.layout != "contiguous")])

    @property
    def elementwise(self) -> bool:
        """Whether the operator is Max or Min."""
        return self.operator in ("max", "min")

    @property
    def reduced(self) -> tuple[int, ...]:
        """The reduced axes, with None spelt out."""
        return tuple(range(len(self.shape))) if self.axes is None else self.axes

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes that are not reduced."""
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.reduced)

    @property
    def kept_shape(self) -> tuple[int, ...]:
        """Sizes of the axes that are not reduced."""
        return tuple(self.shape[axis] for axis in self.kept)

    @property
    def operand_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shape of every operand."""
        shapes = {"row": self.shape[-1:], "column": (*self.shape[:-1], 1), "scalar": ()}
        return (*[self.shape] * (self.operands - 1), shapes.get(self.broadcast, self.shape))


def _tuple(sizes: tuple[int, ...]) -> str:
    return f"({','.join(map(str, sizes))})"


_TOTAL = 1 << 21

# kind, shape, reduced axes, layout
_REDUCTIONS: tuple[tuple[str, tuple[int, ...], tuple[int, ...] | None, str], ...] = (
    ("call", (8,), None, "contiguous"),
    *(("full", (1 << bits,), None, "contiguous") for bits in (10, 12, 16, 20, 25)),
    ("long rows", (4096, 1024), (1,), "contiguous"),
    ("non-last axis", (4096, 1024), (0,), "contiguous"),
    ("non-last axis", (64, 256, 256), (1,), "contiguous"),
    ("non-last axis", (8, 21, 512, 512), (1,), "contiguous"),
    ("non-last axis", (2000, 64, 8), (1,), "contiguous"),
    ("non-last axis", (5000, 10, 16), (1,), "contiguous"),
    *(("short rows", (_TOTAL // n, n), (1,), "contiguous") for n in (2, 3, 4, 5, 7, 8, 10, 16, 21, 32, 64)),
    *(("long rows", (_TOTAL // n, n), (1,), "contiguous") for n in (100, 1000)),
    ("long rows", (32, 50257), (1,), "contiguous"),
    ("short rows", (1024, 1024, 3), (2,), "contiguous"),
    ("several axes", (64, 256, 256), (0, 2), "contiguous"),
    ("several axes", (64, 256, 256), (1, 2), "contiguous"),
    ("full", (64, 256, 256), None, "contiguous"),
    ("views", (256, 64, 256), (2,), "transposed"),
    *(("views", (4096, 1024), (1,), layout) for layout in ("fortran", "strided", "reversed", "broadcast")),
)


# Arrays whose axes do not join in memory: shape, reduced axes, layout. An image with its channels in front, a table
# on its side, the inside of a plane and of a solid, batches of short rows, and an axis that is outermost in memory.
_APART: tuple[tuple[tuple[int, ...], tuple[int, ...] | None, str], ...] = (
    ((3, 240, 320), None, "channels-last"),
    ((10, 20000), None, "fortran"),
    ((300, 300), None, "window"),
    ((60, 60, 60), None, "window"),
    ((1500, 9, 5), (0, 2), "contiguous"),
    ((27, 170, 57), (2,), "fortran"),
)
_APART_TYPES = ("uint8", "float16", "float32", "int64")


def _each(case: Case, types: Iterable[str] = ELEMENT_TYPES) -> Iterator[Case]:
    return (case._replace(element_type=element) for element in types)


def full() -> Iterator[Case]:
    """Yield the whole matrix; cases that differ only in element type are adjacent and share one computed answer."""
    for kind, shape, axes, layout in _REDUCTIONS:
        for last in (False, True):
            yield from _each(Case(kind, "argmax", "", shape, axes, last, layout))
    for shape, axes, layout in _APART:
        yield from _each(Case("axes apart", "argmax", "", shape, axes, layout=layout), _APART_TYPES)
    yield from _each(Case("full", "argmin", "", (1 << 20,)))
    yield from _each(Case("non-last axis", "argmin", "", (4096, 1024), (0,)))
    yield from _each(Case("long rows", "argmin", "", (4096, 1024), (1,)))
    for broadcast in ("same", "row", "column", "scalar"):
        shape = (1 << 20,) if broadcast == "same" else (4096, 1024)
        for operands in (2, 3, 4, 8):
            yield from _each(Case("elementwise", "max", "", shape, operands=operands, broadcast=broadcast))
    yield from _each(Case("elementwise", "max", "", (20000, 3), operands=2, broadcast="row"), _APART_TYPES)
    yield from _each(Case("elementwise", "min", "", (1 << 20,), operands=2))
    views = [(512, 2, "fortran"), (2000, 2, "fortran"), (2000, 3, "fortran"), (2000, 2, "strided")]
    for size, operands, layout in (*views, (2000, 2, "reversed")):
        yield from _each(Case("views", "max", "", (size, size), layout=layout, operands=operands))
    for shape, axis in (((4096, 1024), 0), *((s, 1) for s in ((4096, 1024), (131072, 16), (524288, 4), (32, 50257)))):
        yield from _each(Case("hardmax", "hardmax", "", shape, (axis,)), FLOAT_TYPES)
    yield from _each(Case("hardmax", "hardmax", "", (64, 256, 256), (1, 2), opset=11), FLOAT_TYPES)


# Row lengths that users have: pairs, boxes, classes, heads, embeddings, vocabularies. 512 KB of each.
_WIDTHS = (2, 3, 5, 8, 10, 16, 29, 40, 64, 80, 100, 128, 200, 256, 500, 1000, 4096, 50257)
_QUICK_TYPES = ("float16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint64")
_QUICK: tuple[tuple[str, tuple[int, ...], tuple[int, ...] | None], ...] = (
    ("non-last axis", (512, 512), (0,)),
    ("non-last axis", (20, 6000), (0,)),
    ("non-last axis", (8, 21, 64, 64), (1,)),
    ("non-last axis", (40, 50, 64), (1,)),
    ("non-last axis", (100, 64, 8), (1,)),
    ("several axes", (64, 64, 64), (1, 2)),
    ("full", (250_000,), None),
)


def quick() -> Iterator[Case]:
    """Yield 222 cases that fit the second-level cache, where instruction sets differ most; they take two minutes."""
    for width in _WIDTHS:
        for element in _QUICK_TYPES:
            rows = max(1, (1 << 19) // (width * np.dtype(element).itemsize))
            yield Case("short rows" if width < 100 else "long rows", "argmax", element, (rows, width), (1,))
    for kind, shape, axes in _QUICK:
        yield from _each(Case(kind, "argmax", "", shape, axes), _QUICK_TYPES)
    plain = Case("elementwise", "max", "", (300, 500), operands=2)
    fortran = plain._replace(kind="views", layout="fortran")
    for case in (plain, plain._replace(broadcast="row"), plain._replace(broadcast="column"), fortran):
        yield from _each(case, ("uint8", "int32", "float32", "float64"))
    for shape in ((1000, 100), (100, 1000)):
        yield from _each(Case("hardmax", "hardmax", "", shape, (1,)), ("float16", "float32", "float64"))


# From a shape and a type to an empty array whose memory layout has the name.
LAYOUTS: dict[str, Callable[[tuple[int, ...], np.dtype[Any]], Array]] = {
    "contiguous": lambda shape, dtype: np.empty(shape, dtype),
    "transposed": lambda shape, dtype: np.empty((shape[1], shape[0], *shape[2:]), dtype).swapaxes(0, 1),
    "fortran": lambda shape, dtype: np.empty(shape, dtype, order="F"),
    "channels-last": lambda shape, dtype: np.moveaxis(np.empty((*shape[1:], shape[0]), dtype), -1, 0),
    "window": lambda shape, dtype: np.empty([n + 2 for n in shape], dtype)[(slice(1, -1),) * len(shape)],
    "strided": lambda shape, dtype: np.empty((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2],
    "reversed": lambda shape, dtype: np.flip(np.empty(shape, dtype)),
    "broadcast": lambda shape, dtype: np.lib.stride_tricks.as_strided(
        np.empty(shape[1:], dtype), shape, (0, *np.empty(shape[1:], dtype).strides)
    ),
}


@lru_cache(maxsize=1)
def drawn(case: Case) -> tuple[list[NDArray[np.int8]], Array]:
    """Return the int8 numbers of every operand of a case, the same in every call, and the right answer."""
    generator = np.random.default_rng(20)
    numbers = []
    for shape in case.operand_shapes:
        own = (1, *shape[1:]) if case.layout == "broadcast" else shape
        normal = np.rint(generator.standard_normal(own, dtype=np.float32) * 16)
        numbers.append(np.broadcast_to(np.asarray(np.clip(normal, -127, 127), dtype=np.int8), shape))
    return numbers, _answer(case, numbers)


def arrays(case: Case, numbers: Sequence[NDArray[np.int8]]) -> list[Array]:
    """Return the operands of a case; if it has several, every second one has its layout, the others are contiguous."""
    layouts = [case.layout] if len(numbers) == 1 else ["contiguous", case.layout] * len(numbers)
    placed = []
    for operand, layout in zip(numbers, layouts, strict=False):
        values = typed(operand, case.element_type)
        placed.append(LAYOUTS[layout](values.shape, values.dtype))
        placed[-1][...] = values
    return placed


def typed(numbers: NDArray[np.int8], element_type: str) -> Array:
    """Return the numbers in an element type, in the same order: floats divided by 16, unsigned shifted by 128."""
    dtype = element_of(element_type).dtype
    if dtype.kind == "i":
        return numbers.astype(dtype)
    if dtype.kind == "u":
        return (numbers.view(np.uint8) ^ np.uint8(128)).astype(dtype)
    return (numbers.astype(np.float32) / 16).astype(dtype)


def _answer(case: Case, numbers: Sequence[NDArray[np.int8]]) -> Array:
    """Return what a case must give: an index array, or the numbers behind an elementwise result, or ones and zeros."""
    if case.elementwise:
        return reduce(np.maximum if case.operator == "max" else np.minimum, numbers)
    rows = numbers[0].transpose(case.kept + case.reduced).reshape(int(np.prod(case.kept_shape)), -1)
    ordered = -rows if case.operator == "argmin" else rows
    index = rows.shape[1] - 1 - ordered[:, ::-1].argmax(axis=1) if case.last else ordered.argmax(axis=1)
    if case.operator != "hardmax":
        return np.asarray(index.reshape(case.kept_shape))
    ones = np.zeros(rows.shape, np.int8)
    ones[np.arange(index.size), index] = 1
    moved = ones.reshape(case.kept_shape + tuple(case.shape[axis] for axis in case.reduced))
    return np.ascontiguousarray(moved.transpose(np.argsort(case.kept + case.reduced)))
